/* SPDX-License-Identifier: Apache-2.0 */
/* class_names.c - a list of names in the order of ids, with the ids in byte
 * order of the names beside it, for a binary search. */
#include "pipeline/class_names.h"

#include <string.h>

#include "common/utf8.h"
#include "pipeline/fields/kind.h"
#include "pipeline/nearest.h"
#include "pipeline/text.h"

/* ---- search ---- */

static const char *name_at(const struct fby_class_names *self, uint32_t i)
{
    return self->text + self->offset[i];
}

/* Compare as strcmp, with a `name` of `size` bytes that has no NUL in it. */
static int compare(const void *name, size_t size, const char *other)
{
    size_t other_size = strlen(other);
    size_t common     = size < other_size ? size : other_size;
    int    order      = memcmp(name, other, common);
    return order != 0 ? order : (size > other_size) - (size < other_size);
}

/* The number of names of the range that are before `name` in byte order. Sets
 * *found if the next one is equal to it. */
static uint32_t find_position(const struct fby_class_names *self,
    struct fby_name_range range, const void *name, size_t size, bool *found)
{
    uint32_t low  = 0;
    uint32_t high = range.n;
    *found        = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t id     = self->sorted[range.first + middle];
        int      order  = compare(name, size, name_at(self, range.first + id));
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order > 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const char *fby_class_name(const struct fby_class_names *self,
    struct fby_name_range range, uint32_t id)
{
    return id < range.n ? name_at(self, range.first + id) : NULL;
}

bool fby_class_names_find(const struct fby_class_names *self,
    struct fby_name_range range, const void *name, size_t size, uint32_t *out)
{
    bool     found    = false;
    uint32_t position = find_position(self, range, name, size, &found);
    if (found) {
        *out = self->sorted[range.first + position];
    }
    return found;
}

/* ---- adding ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void fby_class_name_strip(const char **text, size_t *size)
{
    while (*size > 0 && is_blank((*text)[0])) {
        (*text)++;
        (*size)--;
    }
    while (*size > 0 && is_blank((*text)[*size - 1])) {
        (*size)--;
    }
}

/* Skip a byte order mark in UTF-8. Returns true if there is one. */
static bool skip_mark(const char **text, size_t *size)
{
    static const char mark[]   = "\xef\xbb\xbf";
    size_t            n        = sizeof(mark) - 1;
    bool              has_mark = *size >= n && memcmp(*text, mark, n) == 0;
    *text += has_mark ? n : 0;
    *size -= has_mark ? n : 0;
    return has_mark;
}

bool fby_class_name_skip_mark(const char **text, size_t *size)
{
    bool has_mark = skip_mark(text, size);
    if (has_mark) {
        fby_class_name_strip(text, size);
    }
    return has_mark;
}

/* A copy of the start of `name` that is safe to print. */
static struct fby_shown show(const char *name, size_t size)
{
    char   start[FBY_SHOWN_SIZE + 1] = ""; /* one more, so that it is cut */
    size_t n = size < FBY_SHOWN_SIZE ? size : FBY_SHOWN_SIZE;
    if (n > 0) {
        memcpy(start, name, n);
    }
    return fby_text_show(start);
}

/* Describe the fault of a name, without regard to other names. Returns NULL if
 * the name is valid. */
static const char *find_fault(const char *name, size_t size)
{
    if (size == 0) {
        return "a class's name is empty";
    }
    if (size > FBY_MAX_CLASS_NAME) {
        return "is longer than 255 bytes, the limit for a class's name";
    }
    if (fby_utf8_has_control(name, size)) {
        return "has a control character; a class's name has none";
    }
    if (!fby_is_utf8(name, size)) {
        return "is not UTF-8, as the name of a class must be";
    }
    return is_blank(name[0]) || is_blank(name[size - 1])
               ? "has a blank at an end; blanks around a value are not part "
                 "of its class's name"
               : NULL;
}
_Static_assert(FBY_MAX_CLASS_NAME == 255, "find_fault names the limit");

static fby_err check_new_name(const struct fby_class_names *self,
    const char *name, size_t size, struct fby_error_detail *why)
{
    const char *fault = find_fault(name, size);
    if (fault != NULL && size == 0) {
        return fby_error_set(why, FBY_CONFIG, "%s", fault);
    }
    if (fault != NULL) {
        return fby_error_set(
            why, FBY_CONFIG, "'%s' %s", show(name, size).text, fault);
    }
    if (self->n == FBY_MAX_CLASS_NAMES) {
        return fby_error_set(why, FBY_CONFIG,
            "more than %d names; number the classes in the data instead",
            FBY_MAX_CLASS_NAMES);
    }
    if (self->size + size + 1 > sizeof(self->text)) {
        return fby_error_set(why, FBY_CONFIG,
            "the names have more than %d bytes; shorten them, or number the "
            "classes in the data instead",
            FBY_MAX_CLASS_TEXT);
    }
    return FBY_OK;
}

fby_err fby_class_names_add(struct fby_class_names *self,
    struct fby_name_range *range, const void *name, size_t size,
    struct fby_error_detail *why)
{
    bool found = false;
    FBY_TRY(check_new_name(self, name, size, why));
    uint32_t  position = find_position(self, *range, name, size, &found);
    uint16_t *sorted   = self->sorted + range->first + position;
    if (found) {
        return fby_error_set(why, FBY_CONFIG,
            "'%s' is given twice, as class %u and class %u",
            show(name, size).text, *sorted, range->n);
    }
    memmove(sorted + 1, sorted, (range->n - position) * sizeof(*sorted));
    *sorted               = (uint16_t)range->n;
    self->offset[self->n] = self->size;
    memcpy(self->text + self->size, name, size);
    self->text[self->size + size] = '\0';
    self->size += (uint32_t)size + 1;
    self->n++;
    range->n++;
    return FBY_OK;
}

/* Returns the end of the last line that is not empty. */
static const char *end_of_names(const char *text, const char *end)
{
    while (end > text && is_blank(end[-1])) {
        end--;
    }
    return end;
}

fby_err fby_class_names_parse(const char *text, size_t size, const char *path,
    struct fby_class_names *self, struct fby_name_range *range,
    struct fby_error_detail *why)
{
    size_t line = 0;
    (void)skip_mark(&text, &size);
    const char *end = end_of_names(text, text + size);
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop    = newline != NULL ? newline : end;
        const char *name    = text;
        size_t      n       = (size_t)(stop - text);
        fby_class_name_strip(&name, &n);
        line++;
        if (fby_class_names_add(self, range, name, n, why) != FBY_OK) {
            return fby_error_prefix(
                why, FBY_CONFIG, "%.200s, line %zu", path, line);
        }
        text = newline != NULL ? newline + 1 : end;
    }
    return range->n > 0
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "%.200s has no names; write one class a line", path);
}

/* ---- fields ---- */

struct fby_name_range fby_field_names(const struct fby_field_content *field)
{
    return fby_field_values(field) == FBY_VALUES_CLASSES
               ? field->as.label.names
               : (struct fby_name_range){0};
}

bool fby_field_is_numbered_by_folders(const struct fby_field_content *field)
{
    return fby_field_is_folder_id(field) && fby_field_names(field).n == 0;
}

bool fby_content_is_numbered_by_folders(const struct fby_content *content)
{
    for (uint32_t i = 0; i < content->n_fields; i++) {
        if (fby_field_is_numbered_by_folders(&content->fields[i])) {
            return true;
        }
    }
    return false;
}

const struct fby_field_content *fby_class_names_field(
    const struct fby_content *content)
{
    for (uint32_t i = 0; i < content->n_fields; i++) {
        if (fby_field_names(&content->fields[i]).n > 0) {
            return &content->fields[i];
        }
    }
    return NULL;
}

fby_err fby_class_names_refuse(const struct fby_class_names *self,
    const struct fby_field_content *field, const void *name, size_t size,
    fby_err err, struct fby_error_detail *why)
{
    struct fby_name_range range   = fby_field_names(field);
    struct fby_shown      shown   = show(name, size);
    struct fby_nearest    nearest = {.word = shown.text};
    if (size > 0 && memchr(name, 0, size) != NULL) {
        return fby_error_set(why, err,
            "class '%s' of field %s is followed by a NUL character: correct "
            "the "
            "data, which must be UTF-8 text",
            shown.text, field->name);
    }
    for (uint32_t id = 0; why != NULL && id < range.n; id++) {
        fby_nearest_offer(&nearest, fby_class_name(self, range, id));
    }
    return nearest.best != NULL
               ? fby_error_set(why, err,
                     "class '%s' is not in names of field %s (nearest: %s): "
                     "add it to names or correct the data",
                     shown.text, field->name, nearest.best)
               : fby_error_set(why, err,
                     "class '%s' is not in names of field %s: add it to names "
                     "or correct the data",
                     shown.text, field->name);
}
