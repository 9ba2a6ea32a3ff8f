/* json.c - JSON lines: an object a line. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "worker/source/list/json_line.h"
#include "worker/source/list/list.h"

struct cells {
    struct fby_list_cell at[FBY_LIST_MAX_COLUMNS];
    uint32_t             n;
};

struct json_reading {
    const struct fby_list_sink *sink;
    char *scratch; /* FBY_LIST_MAX_ROW bytes: the line that is parsed, then the
                      texts of its cells */
};

/* Set the text of a cell to that of `value`, which the line spells as
 * `text`. */
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

/* jansson keeps the order of the keys in the line. */
static fby_err collect_cells(json_t *object, struct fby_json_values texts,
    char *scratch, struct cells *out)
{
    const char *key   = NULL;
    json_t     *value = NULL;
    json_object_foreach(object, key, value)
    {
        size_t size = fby_json_next(&texts, scratch);
        if (json_is_null(value)) {
            continue;
        }
        if (out->n == FBY_LIST_MAX_COLUMNS) {
            return FBY_CONFIG;
        }
        struct fby_list_cell *cell = &out->at[out->n];
        cell->column               = key;
        set_text(cell, value, scratch, size);
        scratch += size;
        out->n++;
    }
    return FBY_OK;
}

static fby_err send_object(const struct json_reading *r, json_t *object,
    struct fby_json_values texts, uint64_t line, struct fby_error_detail *why)
{
    struct cells cells = {.n = 0};
    if (!json_is_object(object)) {
        return fby_list_refuse(
            line, "a list where an object is needed: {...}", why);
    }
    if (collect_cells(object, texts, r->scratch, &cells) != FBY_OK) {
        return fby_list_refuse(line, "more than 256 columns", why);
    }
    const struct fby_list_row row = {line, cells.n, cells.at};
    return r->sink->row(r->sink->arg, &row, why);
}

/* The message for a line that is not JSON. The parser read a copy without
 * numbers, so parse the line itself: its message quotes the user's text. It is
 * used only if the fault is the same, not a large number, which a list
 * allows. */
static const char *wrong_text(
    const char *line, size_t size, const json_error_t *error, json_error_t *own)
{
    json_t *all = json_loadb(line, size, JSON_REJECT_DUPLICATES, own);
    bool same   = all == NULL && json_error_code(own) == json_error_code(error);
    json_decref(all);
    return same ? own->text : error->text;
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
    if (strspn(text.at, " \t\r") >= size) { /* blanks; a NUL ends the text */
        return FBY_OK;
    }
    memcpy(r->scratch, text.at, size);
    fby_json_zero_numbers(r->scratch, size);
    json_t *object =
        json_loadb(r->scratch, size, JSON_REJECT_DUPLICATES, &error);
    if (object == NULL) {
        bool null = json_error_code(&error) == json_error_null_character;
        return fby_error_set(why, FBY_CONFIG, "line %llu: JSON: %s",
            (unsigned long long)line,
            null ? "\\u0000, which no text may have"
                 : wrong_text(text.at, size, &error, &own));
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
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop             = stop != NULL ? stop : end;
        const struct fby_json_values text_of_line = {at, stop};
        err = read_line(&reading, text_of_line, line, why);
        at  = stop < end ? stop + 1 : end;
    }
    free(reading.scratch);
    return err;
}
