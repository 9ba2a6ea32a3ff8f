/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_json_list.c - refuse lists in JSON, with the command that writes JSON
 * lines if their form is known (guess_json.c). */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/list_files.h"
#include "cli/init/named_files.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_lists.h"
#include "common/shell.h"
#include "pipeline/text.h"

struct json_file { /* one of the files */
    char program[FBY_JQ_SIZE];
    bool is_known;              /* else `program` is none */
    char folder[FBY_NAME_SIZE]; /* of its pictures: "images/", or "" */
};

/* Find the folder that has the picture of the list. */
static void find_folder(const struct fby_list_files *files, const char *list,
    const char *picture, char out[FBY_NAME_SIZE])
{
    struct fby_folders_below folders = {0};
    struct fby_named_file    file;
    fby_folders_below_find(files->search, files->path, &folders);
    if (fby_named_file_find(
            files->search, files->path, list, picture, &folders, &file) &&
        file.prefix[0] == '\0' && strlen(file.path) < 40 + strlen(picture) &&
        fby_shell_is_plain(file.path)) {
        snprintf(out, FBY_NAME_SIZE, "%.*s",
            (int)(strlen(file.path) - strlen(picture)), file.path);
    }
    fby_folders_below_fini(&folders);
}

static void read_json_file(
    const struct fby_list_files *files, const char *name, struct json_file *out)
{
    char path[FBY_PATH_SIZE];
    char picture[FBY_VALUE_SIZE] = "";
    *out                         = (struct json_file){.folder = ""};
    out->is_known =
        fby_path_join(files->path, name, path, NULL) == FBY_OK &&
        fby_guess_write_jq(files->search, path, out->program, picture);
    if (picture[0] != '\0') {
        find_folder(files, name, picture, out->folder);
    }
}

/* Has a picture of this program several labels, and one of the other program's
 * one? Then the one for several is right for both. */
static bool has_more_labels(const char *program, const char *other)
{
    return strstr(program, "labels: [") != NULL &&
           strstr(other, "label: $a[0]") != NULL;
}

/* Give json[0] the program for all files, the first that is known. That of test may
 * lack what the others have; one of another form is left for the next init. */
static void choose_program(
    struct fby_list_files *files, struct json_file json[FBY_LIST_FILES])
{
    struct json_file first = json[0];
    uint32_t         kept  = 0;
    for (uint32_t i = 1; i < files->n; i++) {
        if (json[i].is_known &&
            (!first.is_known ||
                has_more_labels(json[i].program, first.program))) {
            first = json[i];
        }
    }
    for (uint32_t i = 0; i < files->n; i++) {
        if (!json[i].is_known || strcmp(json[i].program, first.program) == 0 ||
            has_more_labels(first.program, json[i].program)) {
            memmove(files->names[kept], files->names[i], FBY_LIST_FILE_SIZE);
            json[kept++] = json[i];
        }
    }
    files->n = kept;
    memcpy(json[0].program, first.program, sizeof(first.program));
    json[0].is_known = first.is_known;
}

/* Append the choice of $p, the folder of the pictures of file $f. */
static void append_folders(const struct fby_list_files *files,
    const struct json_file *json, char out[FBY_LIST_BODY_SIZE])
{
    size_t used = strlen(out);
    used += (size_t)snprintf(
        out + used, FBY_LIST_BODY_SIZE - used, "case \"$f\" in");
    for (uint32_t i = 0; i < files->n && used < FBY_LIST_BODY_SIZE; i++) {
        char word[FBY_LIST_WORD_SIZE];
        fby_list_quote_name(files->names[i], word);
        used += (size_t)snprintf(out + used, FBY_LIST_BODY_SIZE - used,
            " %s) p=%s;;", word, json[i].folder);
    }
    used = used < FBY_LIST_BODY_SIZE ? used : FBY_LIST_BODY_SIZE - 1;
    snprintf(out + used, FBY_LIST_BODY_SIZE - used, " esac; ");
}

/* Write the word for the folder of the pictures: the one that all files have, or $p,
 * which is first chosen for each. */
static void append_folder(const struct fby_list_files *files,
    const struct json_file *json, char out[FBY_LIST_BODY_SIZE],
    char word[FBY_LIST_WORD_SIZE])
{
    const char *folder = json[0].folder[0] != '\0' ? json[0].folder : "''";
    for (uint32_t i = 1; i < files->n; i++) {
        folder = strcmp(json[i].folder, json[0].folder) == 0 ? folder : NULL;
    }
    if (folder == NULL) {
        append_folders(files, json, out);
    }
    snprintf(
        word, FBY_LIST_WORD_SIZE, "%s", folder != NULL ? folder : "\"$p\"");
}

/* Write the command for one of the files, $f. */
static void write_body(const struct fby_list_files *files,
    const struct json_file *json, char out[FBY_LIST_BODY_SIZE])
{
    bool is_coco = strcmp(json[0].program, FBY_COCO_BOXES) == 0;
    bool has_p   = is_coco || strstr(json[0].program, "($p ") != NULL;
    char word[FBY_LIST_WORD_SIZE] = "";
    out[0]                        = '\0';
    if (has_p) {
        append_folder(files, json, out, word);
    }
    size_t used = strlen(out);
    if (is_coco) {
        snprintf(out + used, FBY_LIST_BODY_SIZE - used,
            FBY_PYTHON "r = str; L = [sys.argv[1:]]; %s; %s; %s\" \"$f\" "
                       "\"${f%%.*}.jsonl\" %s",
            fby_program_boxes_upright, fby_program_boxes_coco,
            fby_program_write_lists, word);
    } else {
        snprintf(out + used, FBY_LIST_BODY_SIZE - used,
            "jq -c %s%s%s'%s' \"$f\" " FBY_GUESS_INTO("${f%%.*}.jsonl"),
            has_p ? "--arg p " : "", word, has_p ? " " : "", json[0].program);
    }
}

/* Tools for annotations, and a key that their own JSON has. */
static const struct {
    const char *name, *key;
} tools[] = {
    {"Label Studio", "\"from_name\""}, {"VIA", "\"shape_attributes\""}};

/* The tool that has written the JSON file; NULL: another one. */
static const char *find_tool(
    const struct fby_list_files *files, const char *name)
{
    enum { HEAD_SIZE = 8192 };
    char        head[HEAD_SIZE];
    const char *found = NULL;
    if (fby_guess_read_begin(
            files->search->root, files->path, name, head, sizeof(head))) {
        for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
            found = strstr(head, tools[i].key) != NULL ? tools[i].name : found;
        }
    }
    return found;
}

fby_err fby_refuse_json_list(struct fby_list_files *files, const char *name,
    struct fby_error_detail *why)
{
    const char *tool = find_tool(files, name);
    if (tool != NULL) {
        return fby_error_set(why, FBY_CONFIG,
            "%s is in the format of %s, which is not read: export it there as "
            "COCO, and run init again",
            fby_text_show_begin(name, 60).text, tool);
    }
    struct json_file json[FBY_LIST_FILES] = {{.program = ""}};
    char             body[FBY_LIST_BODY_SIZE];
    struct json_file other = {.program = ""};
    read_json_file(files, files->other, &other);
    const char *left =
        other.is_known ? files->other : ""; /* also by the next init */
    read_json_file(files, files->n > 0 ? files->names[0] : name, &json[0]);
    for (uint32_t i = 1; i < files->n; i++) {
        read_json_file(files, files->names[i], &json[i]);
    }
    choose_program(files, json);
    if (json[0].program[0] == '\0') {
        return fby_error_set(why, FBY_CONFIG,
            json[0].is_known
                ? "%s has VQA's questions or answers, which are not joined: "
                  "write JSON lines with image (its path), question and answer"
                : "%s is not read as a list, and its form is not known: write "
                  "a .csv or .jsonl with a row for each sample",
            fby_text_show_begin(files->n > 0 ? files->names[0] : name, 60)
                .text);
    }
    write_body(files, json, body);
    fby_list_files_advise(files, body, ".jsonl");
    uint32_t named = 0; /* the file to name: `name`, if the command has it */
    while (named < files->n && strcmp(files->names[named], name) != 0) {
        named++;
    }
    return fby_error_set(why, FBY_CONFIG,
        "%s is not read as a list%s%s%s: %swrite JSON lines, an object in each "
        "line:",
        fby_text_show_begin(
            files->n > 0 && named == files->n ? files->names[0] : name, 60)
            .text,
        left[0] != '\0' ? " (nor " : "", fby_text_show_begin(left, 60).text,
        left[0] != '\0' ? ")" : "",
        json[0].is_known
            ? ""
            : "if it has such lines, rename it to train.jsonl; else ");
}
