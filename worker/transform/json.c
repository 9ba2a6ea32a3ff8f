/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - parse a member (one file of a sample), follow a key's path, and
 * report a missing value. */
#include "worker/transform/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "pipeline/nearest.h"
#include "pipeline/plan/draw.h"
#include "worker/transform/transform_private.h"

/* ---- parsing ---- */

/* The nesting of JSON text, counted without parsing it. */
struct nesting {
    unsigned depth;     /* open brackets and braces */
    unsigned deepest;   /* largest depth so far */
    bool     in_string; /* between quotes */
};

static void count_character(struct nesting *nesting, uint8_t c)
{
    if (c == '"') {
        nesting->in_string = !nesting->in_string;
    } else if (!nesting->in_string && (c == '{' || c == '[')) {
        nesting->depth++;
        if (nesting->depth > nesting->deepest) {
            nesting->deepest = nesting->depth;
        }
    } else if (!nesting->in_string && (c == '}' || c == ']')) {
        /* The parser reports a closing bracket without an opening one. */
        nesting->depth -= nesting->depth > 0 ? 1 : 0;
    }
}

/* True if brackets are nested too deep for the parser, which is recursive. */
static bool is_too_deep(const uint8_t *text, size_t size)
{
    struct nesting nesting = {0};
    for (size_t i = 0; i < size; i++) {
        if (nesting.in_string && text[i] == '\\') {
            i++; /* the escaped character */
        } else {
            count_character(&nesting, text[i]);
        }
    }
    return nesting.deepest > FBY_JSON_MAX_DEPTH;
}

static bool is_root_key(const char *key)
{
    return strcmp(key, ".") == 0;
}

/* Explain the parser's error. If the text is a single value, only the key "."
 * can read it, and the message suggests that key. */
static fby_err refuse_json(const struct fby_field_job *job,
    const json_error_t *error, struct fby_error_detail *why)
{
    json_t *value = json_loadb((const char *)job->bytes, job->size,
        JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    if (value == NULL) {
        bool is_nul = json_error_code(error) == json_error_null_character;
        return fby_error_set(why, FBY_BAD_SAMPLE, "JSON line %d: %s",
            error->line,
            is_nul ? "\\u0000, which no text may have" : error->text);
    }
    json_decref(value);
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "the JSON is a single value, not an object with a member '%s'; write "
        "key: \".\" to read it",
        fby_field_json(job->field)->key);
}

static fby_err parse_member(struct fby_transform *transform,
    const struct fby_field_job *job, json_t **out, struct fby_error_detail *why)
{
    const struct fby_need need = {
        .library_bytes = (uint64_t)job->size * FBY_JSON_BYTES_PER_BYTE};
    json_error_t error;
    size_t       flags = JSON_REJECT_DUPLICATES;
    if (job->size > FBY_JSON_MAX_BYTES) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "JSON of %zu bytes; at most %d are read", job->size,
            FBY_JSON_MAX_BYTES);
    }
    if (job->size == 0) {
        return fby_error_set(why, FBY_BAD_SAMPLE, "JSON of 0 bytes");
    }
    if (is_too_deep(job->bytes, job->size)) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "JSON is nested deeper than %d", FBY_JSON_MAX_DEPTH);
    }
    if (is_root_key(fby_field_json(job->field)->key)) {
        flags |= JSON_DECODE_ANY;
    }
    fby_err err = fby_transform_reserve(transform, &need, why);
    if (err != FBY_OK) {
        return err;
    }
    *out = json_loadb((const char *)job->bytes, job->size, flags, &error);
    return *out != NULL ? FBY_OK : refuse_json(job, &error, why);
}

/* ---- the path ---- */

/* Returns the entry whose index is `name` (decimal digits without a leading 0),
 * or NULL. A list of FBY_JSON_MAX_BYTES has no index of 8 digits. */
static json_t *list_entry(const json_t *list, const char *name)
{
    size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits > 7 || name[digits] != '\0' ||
        (name[0] == '0' && digits > 1)) {
        return NULL;
    }
    return json_array_get(list, strtoul(name, NULL, 10));
}

/* The result of follow_path. */
struct path_end {
    json_t     *value;   /* the last value found */
    const char *missing; /* the rest of the key, not found in `value`; NULL: the
                            whole key was found */
};

/* Find the value at `key`, names with dots between them, in the JSON `value`.
 * If `key` is NULL, the result is `value` itself. */
static struct path_end follow_path(json_t *value, const char *key)
{
    char name[FBY_NAME_SIZE];
    while (key != NULL) {
        size_t name_bytes = strcspn(key, ".");
        if (name_bytes >= sizeof(name)) {
            break; /* longer than any key of a pipeline */
        }
        memcpy(name, key, name_bytes);
        name[name_bytes] = '\0';
        json_t *child    = json_is_array(value) ? list_entry(value, name)
                                                : json_object_get(value, name);
        if (child == NULL) {
            break;
        }
        value = child;
        key   = key[name_bytes] == '.' ? key + name_bytes + 1 : NULL;
    }
    return (struct path_end){value, key};
}

/* ---- messages ---- */

/* Write 1.0 as "1.0" and not "1": in JSON it is no integer. */
static void write_real(double value, char *out, size_t size)
{
    bool small = value > -1e6 && value < 1e6; /* %g writes up to 6 digits */
    bool whole = small && value == (double)(int64_t)value;
    snprintf(out, size, whole ? "%.1f" : "%g", value);
}

struct fby_json_description fby_json_describe(const json_t *value)
{
    struct fby_json_description out  = {""};
    size_t                      size = sizeof(out.text);
    switch (value != NULL ? json_typeof(value) : JSON_NULL) {
    case JSON_STRING:
        snprintf(out.text, size, "the text \"%s\"",
            fby_text_show(json_string_value(value)).text);
        break;
    case JSON_ARRAY:
        snprintf(out.text, size, "a list of %zu", json_array_size(value));
        break;
    case JSON_OBJECT:
        snprintf(out.text, size, "an object");
        break;
    case JSON_INTEGER:
        snprintf(
            out.text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        write_real(json_real_value(value), out.text, size);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        snprintf(out.text, size, json_is_true(value) ? "true" : "false");
        break;
    case JSON_NULL:
        snprintf(out.text, size, "null");
        break;
    }
    return out;
}

fby_err fby_json_refuse(const struct fby_field_job *job, const json_t *value,
    const char *wanted, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_BAD_SAMPLE, "JSON '%s' is not %s: it is %s",
        fby_field_json(job->field)->key, wanted, fby_json_describe(value).text);
}

/* Append the names of an object to `list`, as far as they fit, then "...". All
 * names are offered to `nearest`, which keeps the one most like the key. */
static void list_members(
    json_t *object, struct fby_nearest *nearest, char *list, size_t capacity)
{
    enum { ELLIPSIS_BYTES = 8 }; /* kept free for a separator and "..." */
    const char *name   = NULL;
    json_t     *value  = NULL;
    bool        is_cut = false; /* "..." was appended */
    json_object_foreach(object, name, value)
    {
        struct fby_shown shown = fby_text_show(name);
        size_t           used  = strlen(list);
        fby_nearest_offer(nearest, name);
        if (used + strlen(shown.text) + ELLIPSIS_BYTES < capacity) {
            fby_text_append_name(list, capacity, shown.text);
        } else if (used + ELLIPSIS_BYTES < capacity && !is_cut) {
            fby_text_append_name(list, capacity, "...");
            is_cut = true;
        }
    }
}

static fby_err refuse_missing(
    const char *key, const struct path_end *end, struct fby_error_detail *why)
{
    char               word[FBY_NAME_SIZE]; /* the first missing name */
    char               names[200] = "";
    struct fby_nearest nearest    = {.word = word};
    int found_bytes = (int)(end->missing - key); /* with the dot after it */
    snprintf(word, sizeof(word), "%.*s", (int)strcspn(end->missing, "."),
        end->missing);
    if (!json_is_object(end->value)) {
        struct fby_json_description what = fby_json_describe(end->value);
        return found_bytes > 0
                   ? fby_error_set(why, FBY_BAD_SAMPLE,
                         "JSON has no member '%s': '%.*s' is %s", key,
                         found_bytes - 1, key, what.text)
                   : fby_error_set(why, FBY_BAD_SAMPLE,
                         "JSON has no member '%s': it is %s", key, what.text);
    }
    list_members(end->value, &nearest, names, sizeof(names));
    if (nearest.best != NULL) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "JSON has no member '%s'; did you mean '%.*s%s'?", key, found_bytes,
            key, fby_text_show(nearest.best).text);
    }
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "JSON has no member '%s'; there %s%s", key,
        names[0] != '\0' ? "are: " : "is none", names);
}

/* ---- picking from a list ---- */

/* Replace *value, a list, by one of its entries, drawn at random. */
static fby_err pick_entry(const struct fby_field_job *job, const json_t **value,
    struct fby_error_detail *why)
{
    const struct fby_field_content *field   = job->field;
    const char                     *key     = fby_field_json(field)->key;
    size_t                          entries = json_array_size(*value);
    if (fby_field_json(field)->pick != FBY_PICK_RANDOM) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "JSON '%s' is a list of %zu; say pick: random, or which one: "
            "'%s%s0'",
            key, entries, is_root_key(key) ? "" : key,
            is_root_key(key) ? "" : ".");
    }
    if (entries == 0) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "JSON '%s' is an empty list; there is nothing to pick", key);
    }
    struct fby_draw draw = fby_draw_begin(
        job->seed, job->epoch, job->sample, field->group, "pick", 0);
    *value = json_array_get(*value, (size_t)fby_draw_below(&draw, entries));
    return FBY_OK;
}

/* True if the field takes the whole list, and not one of its entries. */
static bool takes_list(const struct fby_field_content *field)
{
    return fby_field_json(field)->pick != FBY_PICK_RANDOM &&
           fby_field_values(field) == FBY_VALUES_NUMBERS &&
           fby_field_form(field) == FBY_FORM_RAGGED;
}

fby_err fby_json_find(struct fby_transform *transform,
    const struct fby_field_job *job, struct fby_json *out,
    struct fby_error_detail *why)
{
    const char *key = fby_field_json(job->field)->key;
    *out            = (struct fby_json){0};
    fby_err err     = parse_member(transform, job, &out->root, why);
    if (err == FBY_OK) {
        struct path_end end =
            follow_path(out->root, is_root_key(key) ? NULL : key);
        out->value = end.value;
        if (end.missing != NULL) {
            err = refuse_missing(key, &end, why);
        } else if (json_is_array(out->value) && !takes_list(job->field)) {
            err = pick_entry(job, &out->value, why);
        }
    }
    if (err != FBY_OK) {
        fby_json_free(transform, out);
    }
    return err;
}

void fby_json_free(struct fby_transform *transform, struct fby_json *json)
{
    json_decref(json->root);
    fby_transform_release(transform);
}
