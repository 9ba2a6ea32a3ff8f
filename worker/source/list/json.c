/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - a reader of JSON lines: each line of the text is one JSON object. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "worker/source/list/json_line.h"
#include "worker/source/list/list.h"

struct json_row {
    struct fby_list_cell cells[FBY_LIST_MAX_COLUMNS];
    uint32_t             n_cells;
};

struct json_reading {
    const struct fby_list_sink *sink;
    char *scratch; /* FBY_LIST_MAX_ROW bytes: a copy of the line for the parser,
                      then the texts of the cells */
};

/* Set the text of a cell. `text` is the text of the value in the line. It is
 * used for numbers, objects and lists. */
static void set_text(struct fby_list_cell *cell, const json_t *value,
    const char *text, size_t size)
{
    cell->text = text;
    cell->size = size;
    if (json_is_string(value)) {
        cell->text = json_string_value(value);
        cell->size = json_string_length(value);
    } else if (json_is_boolean(value)) {
        cell->text = json_is_true(value) ? "1" : "0";
        cell->size = 1;
    }
}

/* Set the cells of a row, and write their texts to `scratch`. Jansson visits
 * the keys in the order of the line, so the next text of `texts` is that of the
 * key's value. Returns FBY_CONFIG if there are too many columns. */
static fby_err collect_cells(json_t *object, struct fby_json_values texts,
    char *scratch, struct json_row *out)
{
    const char *key   = NULL;
    json_t     *value = NULL;
    json_object_foreach(object, key, value)
    {
        size_t size = fby_json_copy_next_value(&texts, scratch);
        if (json_is_null(value)) {
            continue;
        }
        if (out->n_cells == FBY_LIST_MAX_COLUMNS) {
            return FBY_CONFIG;
        }
        struct fby_list_cell *cell = &out->cells[out->n_cells++];
        cell->column               = key;
        set_text(cell, value, scratch, size);
        scratch += size;
    }
    return FBY_OK;
}

static fby_err send_object(const struct json_reading *r, json_t *object,
    struct fby_json_values texts, uint64_t line, struct fby_error_detail *why)
{
    struct json_row row = {.n_cells = 0};
    if (!json_is_object(object)) {
        return fby_list_refuse(line, FBY_LIST_NO_OBJECT ": {...}", why);
    }
    if (collect_cells(object, texts, r->scratch, &row) != FBY_OK) {
        return fby_list_refuse(line, FBY_LIST_TOO_WIDE, why);
    }
    const struct fby_list_row received = {line, row.n_cells, row.cells};
    return r->sink->receive(r->sink->arg, &received, why);
}

/* Returns the message for a line that is not JSON. `error` is the parser's
 * error for the copy of the line in which all numbers are 0. The line itself is
 * parsed too, which sets *own, because its message quotes the user's text. This
 * message is not used if it is about another fault, such as a large number,
 * which a list allows. */
static const char *fault_message(
    const char *text, size_t size, const json_error_t *error, json_error_t *own)
{
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, own);
    bool    is_same_fault =
        json == NULL && json_error_code(own) == json_error_code(error);
    json_decref(json);
    return is_same_fault ? own->text : error->text;
}

static fby_err read_line(const struct json_reading *r,
    struct fby_json_values text, uint64_t line, struct fby_error_detail *why)
{
    json_error_t error;
    json_error_t own;
    size_t       size = (size_t)(text.end - text.at);
    if (size > FBY_LIST_MAX_ROW) {
        return fby_list_refuse(line, "a row of more than 1 MiB", why);
    }
    /* strspn() ends at the newline or, after the last line, at the NUL. */
    if (strspn(text.at, " \t\r") >= size) {
        return FBY_OK; /* an empty line */
    }
    memcpy(r->scratch, text.at, size);
    fby_json_zero_numbers(r->scratch, size);
    json_t *object =
        json_loadb(r->scratch, size, JSON_REJECT_DUPLICATES, &error);
    if (object == NULL) {
        enum json_error_code code = json_error_code(&error);
        return fby_error_set(why, FBY_CONFIG, "line %llu: JSON: %s%s",
            (unsigned long long)line,
            code == json_error_null_character
                ? "\\u0000, which no text may have"
                : fault_message(text.at, size, &error, &own),
            code == json_error_premature_end_of_input ? ": " FBY_LIST_CUT_JSON
            : code == json_error_invalid_utf8         ? ": " FBY_LIST_NOT_UTF8
                                                      : "");
    }
    fby_err err = send_object(r, object, text, line, why);
    json_decref(object);
    return err;
}

fby_err fby_list_json(const char *text, size_t size,
    const struct fby_list_sink *sink, struct fby_error_detail *why)
{
    const char         *at      = text;
    const char         *end     = text + size;
    fby_err             err     = FBY_OK;
    struct json_reading reading = {sink, fby_zalloc(FBY_LIST_MAX_ROW)};
    for (uint64_t line = 1; err == FBY_OK && at < end; line++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end             = line_end != NULL ? line_end : end;
        const struct fby_json_values line_text = {at, line_end};
        err = read_line(&reading, line_text, line, why);
        at  = line_end < end ? line_end + 1 : end;
    }
    free(reading.scratch);
    return err;
}
