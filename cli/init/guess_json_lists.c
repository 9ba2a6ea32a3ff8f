/* SPDX-License-Identifier: Apache-2.0 */
/* guess_json_lists.c - write the program of jq that makes JSON lines of a .json
 * file: an array of objects, which may be a member, an object of labels by file,
 * objects one after the other, StyleGAN's labels, an object of columns (objects, as
 * pandas writes a table, or arrays), SQuAD, or COCO's images and annotations. */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/names.h"
#include "cli/init/refuse_lists.h"
#include "cli/init/split_names.h"
#include "cli/init/words.h"
#include "common/mem.h"
#include "pipeline/text.h"

enum { MAX_READ = 1 << 26 /* bytes: larger files are not looked at */ };

/* The parsed file; NULL: it cannot be read, or is too large, or has several
 * objects one after the other, which sets *are_lines. */
static json_t *read_json(
    const struct fby_search *search, const char *path, bool *are_lines)
{
    *are_lines = false;
    struct fby_object object;
    size_t            size = MAX_READ;
    json_t           *json = NULL;
    if (fby_object_open(search->root, path, &object, NULL) != FBY_OK) {
        return NULL;
    }
    char *text = fby_zalloc(MAX_READ);
    if (fby_object_read_some(&object, 0, text, &size, NULL) == FBY_OK) {
        json          = json_loadb(text, size, 0, NULL);
        json_t *first = json_loadb(text, size, JSON_DISABLE_EOF_CHECK, NULL);
        *are_lines    = json == NULL && json_is_object(first);
        json_decref(first);
    }
    free(text);
    fby_object_close(&object);
    return json;
}

static bool are_objects(json_t *json)
{
    const char *key   = NULL;
    json_t     *value = NULL;
    bool        found = json_object_size(json) > 0;
    json_object_foreach(json, key, value)
    {
        found = found && json_is_object(value);
    }
    return found;
}

/* The first value of an object that is not []. */
static json_t *first_value(json_t *json)
{
    void *at = json_object_iter(json);
    while (at != NULL && json_is_array(json_object_iter_value(at)) &&
           json_array_size(json_object_iter_value(at)) == 0) {
        at = json_object_iter_next(json, at);
    }
    return json_object_iter_value(at);
}

/* Are the texts of the object those of classes, as a column of the name of the
 * file would have them? */
static bool are_classes(json_t *json, const char *path)
{
    struct fby_init_member member = {.value = FBY_INIT_TEXT};
    const char            *slash  = strrchr(path, '/');
    const char            *key    = NULL;
    json_t                *value  = NULL;
    snprintf(member.extension, sizeof(member.extension), "%s",
        slash != NULL ? slash + 1 : path);
    member.extension[strcspn(member.extension, ".")] = '\0';
    json_object_foreach(json, key, value)
    {
        if (json_is_string(value)) {
            fby_init_add_word(
                &member, json_string_value(value), json_string_length(value));
        }
    }
    bool found = fby_init_are_classes(&member);
    fby_init_free_words(&member);
    return found;
}

/* The program for an object by file, or by id; NULL: none. */
static const char *find_entries(json_t *json, const char *path)
{
    const char   *key   = json_object_iter_key(json_object_iter(json));
    json_t       *value = first_value(json);
    const json_t *first = json_array_get(value, 0);
    if (key == NULL || !fby_init_is_any_picture(key)) {
        return are_objects(json) ? "to_entries[] | {id: .key} + .value" : NULL;
    }
    return json_is_string(value) && !are_classes(json, path)
               ? "to_entries[] | {image: ($p + .key), caption: .value}"
           : json_is_number(value) || json_is_string(value)
               ? "to_entries[] | {image: ($p + .key), label: .value}"
           : json_is_string(first)
               ? "to_entries[] | {image: ($p + .key), captions: .value}"
           : are_objects(json) ? "to_entries[] | {image: ($p + .key)} + .value"
                               : NULL;
}

/* The file of the first of StyleGAN's labels; NULL: the file has none. */
static const char *first_pair(const json_t *json)
{
    const json_t *pair = json_array_get(json_object_get(json, "labels"), 0);
    const char   *file = json_string_value(json_array_get(pair, 0));
    return file != NULL && fby_init_is_any_picture(file) ? file : NULL;
}

/* True for {"COLUMN": {"0": VALUE, ...}, ...}. */
static bool has_columns(json_t *json)
{
    json_t *first = json_object_iter_value(json_object_iter(json));
    return json_object_get(first, "0") != NULL;
}

/* Is it an object of columns: arrays of as many values that are no objects, under
 * names of fields? More arrays of texts than these have texts are those of samples. */
static bool has_arrays(json_t *json)
{
    const char *key   = NULL;
    json_t     *value = NULL;
    json_t     *first = json_object_iter_value(json_object_iter(json));
    size_t      n     = json_array_size(first);
    bool        found = n > 0 && json_object_size(json) > 1 &&
                 (json_object_size(json) <= n ||
                     !json_is_string(json_array_get(first, 0)));
    json_object_foreach(json, key, value)
    {
        found = found && json_array_size(value) == n && fby_text_is_name(key) &&
                !isdigit((unsigned char)key[0]) &&
                fby_split_of_folder(key) == NULL &&
                !json_is_object(json_array_get(value, 0));
    }
    return found;
}

/* Writes a line for each picture of COCO, with its annotations as $a. */
#define COCO_LINES                                                        \
    "(reduce .annotations[]? as $a ({}; .[$a.image_id | tostring] += "    \
    "[$a])) as $b | .images[] | . as $i | ($b[.id | tostring] // []) as " \
    "$a | {image: ($p + .file_name), %s}"

/* Write the program for COCO's boxes, or its classes of pictures. Returns
 * false if the file has neither. */
static bool write_coco(
    const json_t *json, char out[FBY_JQ_SIZE], char picture[FBY_VALUE_SIZE])
{
    const json_t *images      = json_object_get(json, "images");
    const json_t *annotations = json_object_get(json, "annotations");
    const json_t *first       = json_array_get(annotations, 0);
    const char   *file        = json_string_value(
                 json_object_get(json_array_get(images, 0), "file_name"));
    bool        has_boxes = json_object_get(first, "bbox") != NULL;
    const char *classes   = "label: $a[0].category_id";
    if (file != NULL) {
        snprintf(picture, FBY_VALUE_SIZE, "%s", file);
    }
    if (file == NULL || json_object_get(first, "category_id") == NULL) {
        return false;
    }
    if (json_array_size(annotations) > json_array_size(images)) {
        classes = "labels: [$a[].category_id]";
    }
    snprintf(
        out, FBY_JQ_SIZE, has_boxes ? FBY_COCO_BOXES : COCO_LINES, classes);
    return true;
}

/* The key of the only array of objects that is a member of the object; NULL: there
 * is none, or there are several. Pictures of COCO may lack their annotations, and
 * LabelMe's shapes are all of one picture. */
static const char *find_only_array(json_t *json)
{
    const char *key   = NULL;
    const char *found = NULL;
    json_t     *value = NULL;
    uint32_t    n     = 0;
    json_object_foreach(json, key, value)
    {
        const json_t *first      = json_array_get(value, 0);
        bool          is_labelme = strcmp(key, "shapes") == 0 &&
                          json_object_get(first, "points") != NULL;
        bool has_objects = json_is_object(first) && !is_labelme &&
                           json_object_get(first, "file_name") == NULL;
        found = has_objects ? key : found;
        n += has_objects ? 1 : 0;
    }
    return n == 1 && fby_text_is_name(found) ? found : NULL;
}

/* SQuAD: a line for each question, with its first answer. */
#define SQUAD                                                          \
    ".data[].paragraphs[] | .context as $c | .qas[] | {id, question, " \
    "context: "                                                        \
    "$c, answer: (.answers[0].text // \" \"), start: "                 \
    "(.answers[0].answer_start // -1)}"

static bool is_squad(const json_t *json)
{
    const json_t *text = json_array_get(json_object_get(json, "data"), 0);
    text               = json_array_get(json_object_get(text, "paragraphs"), 0);
    return json_is_array(json_object_get(text, "qas"));
}

/* Are the objects VQA's questions, or their answers? */
static bool is_vqa(const json_t *objects)
{
    const json_t *first = json_array_get(objects, 0);
    return json_object_get(first, "question_id") != NULL &&
           json_object_get(first, "image_id") != NULL;
}

bool fby_guess_write_jq(const struct fby_search *search, const char *path,
    char out[FBY_JQ_SIZE], char picture[FBY_VALUE_SIZE])
{
    bool        are_lines = false;
    json_t     *json      = read_json(search, path, &are_lines);
    const char *entries   = find_entries(json, path);
    const char *pair      = first_pair(json);
    bool        is_known = are_lines || json_is_object(json_array_get(json, 0));
    picture[0]           = '\0';
    snprintf(out, FBY_JQ_SIZE, are_lines ? "." : ".[]");
    if (entries != NULL) {
        is_known = true;
        snprintf(out, FBY_JQ_SIZE, "%s", entries);
    } else if (pair != NULL) {
        is_known = true;
        snprintf(
            out, FBY_JQ_SIZE, ".labels[] | {image: ($p + .[0]), label: .[1]}");
    }
    if (strstr(out, "($p ") != NULL) {
        snprintf(picture, FBY_VALUE_SIZE, "%s",
            entries != NULL ? json_object_iter_key(json_object_iter(json))
                            : pair);
    }
    if (has_columns(json)) {
        is_known = true;
        snprintf(out, FBY_JQ_SIZE,
            "(.[keys_unsorted[0]] | keys_unsorted[]) as $row | "
            "with_entries(.value |= .[$row])");
    }
    if (has_arrays(json)) {
        is_known = true;
        snprintf(out, FBY_JQ_SIZE,
            "range(.[keys_unsorted[0]] | length) as $i | map_values(.[$i])");
    }
    const char *only = find_only_array(json);
    if (pair == NULL && only != NULL) {
        is_known = true;
        snprintf(out, FBY_JQ_SIZE, "%s%s%s", is_squad(json) ? SQUAD : ".",
            is_squad(json) ? "" : only, is_squad(json) ? "" : "[]");
    }
    is_known = write_coco(json, out, picture) || is_known;
    if ((!is_known && json != NULL) ||
        (only != NULL && is_vqa(json_object_get(json, only)))) {
        out[0] = '\0'; /* what it has is no object of a sample */
    }
    json_decref(json);
    return is_known;
}
