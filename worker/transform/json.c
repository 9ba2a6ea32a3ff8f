#include "worker/transform/json.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "pipeline/nearest.h"
#include "pipeline/plan/draw.h"

/* ---- parsing ---- */

struct nesting {
    unsigned depth;
    unsigned deepest;
    bool     in_string;
};

static void pass(struct nesting *n, uint8_t c)
{
    if (c == '"') {
        n->in_string = !n->in_string;
    } else if (!n->in_string && (c == '{' || c == '[')) {
        n->depth++;
        n->deepest = n->depth > n->deepest ? n->depth : n->deepest;
    } else if (!n->in_string && (c == '}' || c == ']')) {
        n->depth -= n->depth > 0;
    }
}

/* The parser recurses, so depth is bounded before it sees the text. */
static bool is_too_deep(const uint8_t *text, size_t size)
{
    struct nesting n = {0};
    for (size_t i = 0; i < size; i++) {
        if (n.in_string && text[i] == '\\') {
            i++; /* the escaped character */
        } else {
            pass(&n, text[i]);
        }
    }
    return n.deepest > FBY_JSON_MAX_DEPTH;
}

static bool is_whole(const char *key)
{
    return strcmp(key, ".") == 0;
}

/* Explain the parser's error. A single value without an object needs the key
 * ".", which the message suggests. */
static fby_err refuse_text(const struct fby_field_job *job,
    const json_error_t *error, struct fby_why *why)
{
    json_t *value = json_loadb((const char *)job->bytes, job->size,
        JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    if (value == NULL) {
        bool null = json_error_code(error) == json_error_null_character;
        return fby_because(why, FBY_BAD_SAMPLE, "JSON line %d: %s", error->line,
            null ? "\\u0000, which no text may have" : error->text);
    }
    json_decref(value);
    return fby_because(why, FBY_BAD_SAMPLE,
        "the JSON is a single value, not an object with a member '%s'; write "
        "key: \".\" to read it",
        fby_field_json(job->field)->key);
}

static fby_err parse(
    const struct fby_field_job *job, json_t **out, struct fby_why *why)
{
    json_error_t error;
    size_t       flags = JSON_REJECT_DUPLICATES;
    if (job->size > FBY_JSON_MAX_BYTES) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "JSON of %zu bytes; at most %d are read", job->size,
            FBY_JSON_MAX_BYTES);
    }
    if (job->size == 0) {
        return fby_because(why, FBY_BAD_SAMPLE, "JSON of 0 bytes");
    }
    if (is_too_deep(job->bytes, job->size)) {
        return fby_because(why, FBY_BAD_SAMPLE, "JSON is nested deeper than %d",
            FBY_JSON_MAX_DEPTH);
    }
    if (is_whole(fby_field_json(job->field)->key)) {
        flags |= JSON_DECODE_ANY;
    }
    *out = json_loadb((const char *)job->bytes, job->size, flags, &error);
    if (*out == NULL) {
        return refuse_text(job, &error, why);
    }
    return FBY_OK;
}

/* ---- the path ---- */

/* The entry of a list by its index: decimal digits without a leading 0. */
static json_t *list_entry(const json_t *list, const char *name)
{
    size_t at = 0;
    size_t n  = strspn(name, "0123456789");
    if (n == 0 || n > 7 || name[n] != '\0' || (name[0] == '0' && n > 1)) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        at = at * 10 + (size_t)(name[i] - '0');
    }
    return json_array_get(list, at);
}

/* The result of follow_path. */
struct path_end {
    json_t     *at;   /* the last value found */
    const char *left; /* the rest of the key, not found in it; NULL: none */
};

/* The names of a key are separated by dots, and may be empty. */
static struct path_end follow_path(json_t *value, const char *key)
{
    char name[FBY_NAME_SIZE];
    while (key != NULL) {
        size_t n = strcspn(key, ".");
        if (n >= sizeof(name)) {
            break;
        }
        memcpy(name, key, n);
        name[n]      = '\0';
        json_t *next = json_is_array(value) ? list_entry(value, name)
                                            : json_object_get(value, name);
        if (next == NULL) {
            break;
        }
        value = next;
        key   = key[n] == '.' ? key + n + 1 : NULL;
    }
    return (struct path_end){value, key};
}

/* ---- messages ---- */

/* Show 1.0 with its point, since it is not an integer of JSON. */
static void show_real(double value, char *out, size_t size)
{
    bool whole = value > -1e6 && value < 1e6 && value == (double)(int64_t)value;
    snprintf(out, size, whole ? "%.1f" : "%g", value);
}

struct fby_json_shown fby_json_show(const json_t *value)
{
    struct fby_json_shown out  = {""};
    size_t                size = sizeof(out.text);
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
        show_real(json_real_value(value), out.text, size);
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

/* List as many names of an object as fit `capacity`; offer all to `nearest`. */
static void list_members(
    json_t *object, struct fby_nearest *nearest, char *list, size_t capacity)
{
    const char *name  = NULL;
    json_t     *value = NULL;
    json_object_foreach(object, name, value)
    {
        struct fby_shown shown = fby_text_show(name);
        size_t           used  = strlen(list);
        fby_nearest_offer(nearest, name);
        if (used + strlen(shown.text) + 8 < capacity) {
            fby_text_list(list, capacity, shown.text);
        } else if (used + 8 < capacity && list[used - 1] != '.') {
            fby_text_list(list, capacity, "...");
        }
    }
}

static fby_err refuse_missing(
    const char *key, const struct path_end *end, struct fby_why *why)
{
    char               word[FBY_NAME_SIZE];
    char               list[200] = "";
    struct fby_nearest nearest   = {.word = word};
    int n = (int)(end->left - key); /* bytes of the key that were found */
    snprintf(
        word, sizeof(word), "%.*s", (int)strcspn(end->left, "."), end->left);
    if (!json_is_object(end->at)) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "JSON has no member '%s': %s%.*s%s %s", key, n > 0 ? "'" : "",
            n > 0 ? n - 1 : 2, n > 0 ? key : "it", n > 0 ? "' is" : " is",
            fby_json_show(end->at).text);
    }
    list_members(end->at, &nearest, list, sizeof(list));
    if (nearest.best != NULL) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "JSON has no member '%s'; did you mean '%.*s%s'?", key, n, key,
            fby_text_show(nearest.best).text);
    }
    return fby_because(why, FBY_BAD_SAMPLE,
        "JSON has no member '%s'; there %s%s", key,
        list[0] != '\0' ? "are: " : "is none", list);
}

/* ---- picking from a list ---- */

static fby_err pick(
    const struct fby_field_job *job, const json_t **value, struct fby_why *why)
{
    const struct fby_field_content *field = job->field;
    const char                     *key   = fby_field_json(field)->key;
    size_t                          n     = json_array_size(*value);
    if (fby_field_json(field)->pick != FBY_PICK_RANDOM) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "JSON '%s' is a list of %zu; say pick: random, or which one: "
            "'%s%s0'",
            key, n, is_whole(key) ? "" : key, is_whole(key) ? "" : ".");
    }
    if (n == 0) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "JSON '%s' is an empty list; there is nothing to pick", key);
    }
    struct fby_draw draw = fby_draw_begin(
        job->seed, job->epoch, job->sample, field->group, "pick", 0);
    *value = json_array_get(*value, (size_t)fby_draw_below(&draw, n));
    return FBY_OK;
}

static bool wants_list(const struct fby_field_content *field)
{
    return fby_field_json(field)->pick != FBY_PICK_RANDOM &&
           fby_field_values(field) == FBY_VALUES_NUMBERS &&
           fby_field_form(field) == FBY_FORM_RAGGED;
}

fby_err fby_json_find(
    const struct fby_field_job *job, struct fby_json *out, struct fby_why *why)
{
    const char *key = fby_field_json(job->field)->key;
    *out            = (struct fby_json){0};
    fby_err err     = parse(job, &out->root, why);
    if (err != FBY_OK) {
        return err;
    }
    struct path_end end = follow_path(out->root, is_whole(key) ? NULL : key);
    out->value          = end.at;
    if (end.left != NULL) {
        err = refuse_missing(key, &end, why);
    } else if (json_is_array(out->value) && !wants_list(job->field)) {
        err = pick(job, &out->value, why);
    }
    if (err != FBY_OK) {
        json_decref(out->root);
        out->root = NULL;
    }
    return err;
}
