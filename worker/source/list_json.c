/* list_json.c - JSON lines: an object a line. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "worker/source/list.h"

struct cells {
    struct fby_list_cell at[FBY_LIST_MAX_COLUMNS];
    char                *made[FBY_LIST_MAX_COLUMNS]; /* texts that are ours */
    uint32_t             n;
};

static fby_err wrong(uint64_t line, const char *what, struct fby_why *why)
{
    return fby_because(
        why, FBY_CONFIG, "line %llu: %s", (unsigned long long)line, what);
}

/* The text of a value; *made is to be freed. */
static const char *text_of(const json_t *value, size_t *size, char **made)
{
    const char *text = NULL;
    if (json_is_string(value)) {
        *size = json_string_length(value);
        return json_string_value(value);
    }
    if (json_is_boolean(value)) {
        text = json_is_true(value) ? "1" : "0";
    } else {
        *made = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        text  = *made;
    }
    *size = text != NULL ? strlen(text) : 0;
    return text;
}

static fby_err take_cells(
    json_t *object, uint64_t line, struct cells *out, struct fby_why *why)
{
    const char *key   = NULL;
    json_t     *value = NULL;
    json_object_foreach(object, key, value)
    {
        if (json_is_null(value)) {
            continue;
        }
        if (out->n == FBY_LIST_MAX_COLUMNS) {
            return wrong(line, "more than 256 columns", why);
        }
        struct fby_list_cell *cell = &out->at[out->n];
        cell->column               = key;
        cell->text = text_of(value, &cell->size, &out->made[out->n]);
        out->n++;
        if (cell->text == NULL) {
            return fby_because(why, FBY_FULL, "no memory for a row");
        }
    }
    return FBY_OK;
}

static fby_err take_object(json_t *object, uint64_t line,
    const struct fby_list_sink *sink, struct fby_why *why)
{
    struct cells cells = {.n = 0};
    if (!json_is_object(object)) {
        return wrong(line, "a list where an object is needed: {...}", why);
    }
    fby_err err = take_cells(object, line, &cells, why);
    if (err == FBY_OK) {
        struct fby_list_row row = {line, cells.n, cells.at};
        err                     = sink->row(sink->arg, &row, why);
    }
    for (uint32_t i = 0; i < cells.n; i++) {
        free(cells.made[i]);
    }
    return err;
}

static fby_err take_line(const char *text, size_t size, uint64_t line,
    const struct fby_list_sink *sink, struct fby_why *why)
{
    json_error_t error;
    if (size > FBY_LIST_MAX_ROW) {
        return wrong(line, "a row of more than 1 MiB", why);
    }
    if (strspn(text, " \t\r") >= size) { /* a NUL ends the text at last */
        return FBY_OK;
    }
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (object == NULL) {
        return fby_because(why, FBY_CONFIG, "line %llu: JSON: %s",
            (unsigned long long)line, error.text);
    }
    fby_err err = take_object(object, line, sink, why);
    json_decref(object);
    return err;
}

fby_err fby_list_json(const char *text, size_t size,
    const struct fby_list_sink *sink, struct fby_why *why)
{
    static const char mark[3] = {'\xef', '\xbb', '\xbf'};
    const char       *at      = text;
    const char       *end     = text + size;
    fby_err           err     = FBY_OK;
    if (size >= sizeof(mark) && memcmp(text, mark, sizeof(mark)) == 0) {
        at += sizeof(mark);
    }
    for (uint64_t line = 1; err == FBY_OK && at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop             = stop != NULL ? stop : end;
        err              = take_line(at, (size_t)(stop - at), line, sink, why);
        at               = stop < end ? stop + 1 : end;
    }
    return err;
}
