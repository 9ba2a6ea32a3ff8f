/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - write labels, bytes and texts from a member (one file of a sample),
 * and decide the length of rows.
 *
 * Parsing is strict: a label with other characters after its digits, or one
 * that does not fit, is a bad sample. */
#include <stdio.h>
#include <string.h>

#include "common/bytes.h"
#include "common/utf8.h"
#include "pipeline/class_names.h"
#include "pipeline/derived.h"
#include "worker/transform/decoders.h"
#include "worker/transform/json.h"

/* ---- labels ---- */

/* Returns false if the text is not a decimal number below 2^64. */
static bool parse_decimal(const char *text, size_t size, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned digit = (unsigned char)text[i] - (unsigned)'0';
        if (digit > 9 || value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out = value;
    return size > 0;
}

enum { SHOWN_BYTES = 24, SHOWN_SIZE = SHOWN_BYTES + 4 /* "..." and NUL */ };

/* Copy up to SHOWN_BYTES of `text` as printable characters, then "..." if there
 * are more. Returns `out`. */
static const char *printable(
    const char *text, size_t size, char out[SHOWN_SIZE])
{
    size_t n_shown = size < SHOWN_BYTES ? size : SHOWN_BYTES;
    for (size_t i = 0; i < n_shown; i++) {
        if (text[i] >= 0x20 && text[i] < 0x7f) {
            out[i] = text[i];
        } else {
            out[i] = '?';
        }
    }
    const char *ellipsis = size > n_shown ? "..." : "";
    memcpy(out + n_shown, ellipsis, strlen(ellipsis) + 1);
    return out;
}

/* True if the text begins with a letter: it is a word, not a wrong number. */
static bool is_word(const char *text, size_t size)
{
    return size > 0 && ((text[0] >= 'a' && text[0] <= 'z') ||
                           (text[0] >= 'A' && text[0] <= 'Z') ||
                           (unsigned char)text[0] >= 0x80);
}

static bool has_names(const struct fby_field_job *job)
{
    return job->field->as.label.names.n > 0;
}

/* Find the class whose name is `text`, without the blanks around it and without
 * a byte order mark, unless the name has one. */
static fby_err find_class(const struct fby_field_job *job, const char *text,
    size_t size, uint64_t *out, struct fby_error_detail *why)
{
    struct fby_name_range names = job->field->as.label.names;
    uint32_t              id    = 0;
    fby_class_name_strip(&text, &size);
    bool found =
        fby_class_names_find(job->class_names, names, text, size, &id) ||
        (fby_class_name_skip_mark(&text, &size) &&
            fby_class_names_find(job->class_names, names, text, size, &id));
    if (!found) {
        return fby_class_names_refuse(
            job->class_names, job->field, text, size, FBY_BAD_SAMPLE, why);
    }
    *out = id;
    return FBY_OK;
}

/* The end of the error for a word, where a number is expected. */
static const char words_hint[] =
    "; if the classes have names, list them: names: [...]";

static fby_err read_json_name(const struct fby_field_job *job,
    const json_t *value, uint64_t *out, struct fby_error_detail *why)
{
    return json_is_string(value)
               ? find_class(job, json_string_value(value),
                     json_string_length(value), out, why)
               : fby_json_refuse(job, value, "the name of a class", why);
}

static fby_err read_json_number(const struct fby_field_job *job,
    const json_t *value, uint64_t *out, struct fby_error_detail *why)
{
    json_int_t label = json_integer_value(value);
    if (json_is_integer(value) && label >= 0) {
        *out = (uint64_t)label;
        return FBY_OK;
    }
    if (!json_is_string(value)) {
        return fby_json_refuse(
            job, value, "a label, a whole number from 0", why);
    }
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "JSON '%s' is not a label, a whole number from 0: it is %s%s",
        fby_field_json(job->field)->key, fby_json_describe(value).text,
        words_hint);
}

static fby_err read_json_label(struct fby_transform *transform,
    const struct fby_field_job *job, uint64_t *out,
    struct fby_error_detail *why)
{
    struct fby_json json;
    fby_err         err = fby_json_find(transform, job, &json, why);
    if (err != FBY_OK) {
        return err;
    }
    err = has_names(job) ? read_json_name(job, json.value, out, why)
                         : read_json_number(job, json.value, out, why);
    fby_json_free(transform, &json);
    return err;
}

static fby_err read_text_label(const struct fby_field_job *job, uint64_t *out,
    struct fby_error_detail *why)
{
    const char *text = (const char *)job->bytes;
    size_t      size = job->size;
    char        shown[SHOWN_SIZE];
    if (has_names(job)) {
        return find_class(job, text, size, out, why);
    }
    if (size > FBY_LABEL_MAX_BYTES) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "a label's text has %zu bytes; at most %d are read", size,
            FBY_LABEL_MAX_BYTES);
    }
    fby_class_name_strip(&text, &size);
    return parse_decimal(text, size, out)
               ? FBY_OK
               : fby_error_set(why, FBY_BAD_SAMPLE,
                     "a label is a whole number from 0 to 2^64 - 1, and not "
                     "'%s'%s",
                     printable(text, size, shown),
                     is_word(text, size) ? words_hint : "");
}

static fby_err read_label(struct fby_transform *transform,
    const struct fby_field_job *job, uint64_t *out,
    struct fby_error_detail *why)
{
    if (fby_field_is_folder_id(job->field)) {
        *out = job->class_id;
        return FBY_OK;
    }
    return fby_field_json(job->field)->key[0] != '\0'
               ? read_json_label(transform, job, out, why)
               : read_text_label(job, out, why);
}

uint64_t fby_label_max(const struct fby_field_content *field)
{
    uint64_t max = (uint64_t)fby_type_largest(field->wire_type);
    return field->as.label.classes > 0 && field->as.label.classes - 1 < max
               ? field->as.label.classes - 1
               : max;
}

fby_err fby_label_refuse(const struct fby_field_content *field,
    const char *label, struct fby_error_detail *why)
{
    bool               is_negative = label[0] == '-';
    unsigned long long max         = fby_label_max(field);
    /* the number of classes is the limit, and not the wire type */
    bool classes_are_limit = !is_negative && max + 1 == field->as.label.classes;
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "label %s is too %s: it must be 0 to %llu%s", label,
        is_negative ? "small" : "large", max,
        classes_are_limit ? "; or raise classes" : "");
}

fby_err fby_label_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_error_detail *why)
{
    const struct fby_field_content *field = job->field;
    uint64_t                        label = 0;
    if (fby_type_largest(field->wire_type) == 0) {
        return fby_error_set(
            why, FBY_USAGE, "a label needs an integer wire type");
    }
    fby_err err = read_label(transform, job, &label, why);
    if (err != FBY_OK) {
        return err;
    }
    if (label > fby_label_max(field)) {
        char digits[24]; /* at most 20, and NUL */
        snprintf(digits, sizeof(digits), "%llu", (unsigned long long)label);
        return fby_label_refuse(field, digits, why);
    }
    fby_store_le(dst, label, fby_type_bytes(field->wire_type));
    return FBY_OK;
}

/* ---- the length of a row ---- */

fby_err fby_length_resolve(
    const struct fby_field_job *job, uint64_t n, struct fby_error_detail *why)
{
    uint32_t max = job->field->max_length;
    if (n > max && job->field->too_long != FBY_TOO_LONG_TRUNCATE) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "the row has %llu entries, max_length is %u; raise it, or say "
            "too_long: truncate",
            (unsigned long long)n, max);
    }
    *job->length = (uint32_t)(n < max ? n : max);
    return FBY_OK;
}

/* ---- bytes ---- */

fby_err fby_bytes_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_error_detail *why)
{
    (void)transform;
    size_t length = fby_field_bytes(job->field);
    if (fby_field_form(job->field) == FBY_FORM_RAGGED) {
        fby_err err = fby_length_resolve(job, job->size, why);
        if (err != FBY_OK) {
            return err;
        }
        length = *job->length;
    } else if (job->size != length) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "the member has %zu bytes; the field has %zu", job->size, length);
    }
    if (length > 0) { /* job->bytes may be NULL otherwise */
        memcpy(dst, job->bytes, length);
    }
    return FBY_OK;
}

/* ---- texts ---- */

/* Returns the number of bytes of the whole characters within `max` bytes. */
static uint32_t whole_character_bytes(
    const uint8_t *text, size_t size, size_t max)
{
    size_t end = 0;
    while (end < size) {
        size_t next = end + fby_utf8_length(text + end, size - end);
        if (next > max) {
            break;
        }
        end = next;
    }
    return (uint32_t)end;
}

/* Write UTF-8 text. A text that is too long is cut between two characters. */
static fby_err write_characters(const struct fby_field_job *job,
    const uint8_t *text, size_t size, uint8_t *dst,
    struct fby_error_detail *why)
{
    fby_err err = fby_length_resolve(job, size, why);
    if (err != FBY_OK) {
        return err;
    }
    *job->length = whole_character_bytes(text, size, *job->length);
    if (*job->length > 0) {
        memcpy(dst, text, *job->length);
    }
    return FBY_OK;
}

/* The JSON parser has checked that the text is UTF-8 without NUL. */
static fby_err write_json_text(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_error_detail *why)
{
    struct fby_json json;
    fby_err         err = fby_json_find(transform, job, &json, why);
    if (err != FBY_OK) {
        return err;
    }
    err = json_is_string(json.value)
              ? write_characters(job,
                    (const uint8_t *)json_string_value(json.value),
                    json_string_length(json.value), dst, why)
              : fby_json_refuse(job, json.value, "a text", why);
    fby_json_free(transform, &json);
    return err;
}

fby_err fby_text_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_error_detail *why)
{
    size_t size = job->size;
    if (fby_field_json(job->field)->key[0] != '\0') {
        return write_json_text(transform, job, dst, why);
    }
    if (size > 0 && job->bytes[size - 1] == '\n') {
        size--;
    }
    if (!fby_is_utf8(job->bytes, size)) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "the text is not UTF-8 without NUL; decode: bytes takes any bytes");
    }
    return write_characters(job, job->bytes, size, dst, why);
}
