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
#include "pipeline/derived.h"
#include "worker/transform/decoders.h"
#include "worker/transform/json.h"

/* ---- labels ---- */

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void strip_blanks(const uint8_t **text, size_t *size)
{
    while (*size > 0 && is_blank((*text)[0])) {
        (*text)++;
        (*size)--;
    }
    while (*size > 0 && is_blank((*text)[*size - 1])) {
        (*size)--;
    }
}

/* Returns false if the text is not a decimal number below 2^64. */
static bool parse_decimal(const uint8_t *text, size_t size, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned digit = (unsigned)text[i] - '0';
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
    const uint8_t *text, size_t size, char out[SHOWN_SIZE])
{
    size_t n_shown = size < SHOWN_BYTES ? size : SHOWN_BYTES;
    for (size_t i = 0; i < n_shown; i++) {
        bool is_printable = text[i] >= 0x20 && text[i] < 0x7f;
        out[i]            = (char)(is_printable ? text[i] : '?');
    }
    const char *ellipsis = size > n_shown ? "..." : "";
    memcpy(out + n_shown, ellipsis, strlen(ellipsis) + 1);
    return out;
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
    json_int_t label = json_integer_value(json.value);
    if (!json_is_integer(json.value) || label < 0) {
        err = fby_json_refuse(
            job, json.value, "a label, a whole number from 0", why);
    }
    *out = (uint64_t)label;
    fby_json_free(transform, &json);
    return err;
}

static fby_err read_text_label(const struct fby_field_job *job, uint64_t *out,
    struct fby_error_detail *why)
{
    const uint8_t *text = job->bytes;
    size_t         size = job->size;
    char           shown[SHOWN_SIZE];
    if (size > FBY_LABEL_MAX_BYTES) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "a label's text has %zu bytes; at most %d are read", size,
            FBY_LABEL_MAX_BYTES);
    }
    strip_blanks(&text, &size);
    return parse_decimal(text, size, out)
               ? FBY_OK
               : fby_error_set(why, FBY_BAD_SAMPLE,
                     "a label is a whole number from 0 to 2^64 - 1, and not "
                     "'%s'",
                     printable(text, size, shown));
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
        "label %s is too %s; 0 to %llu are right%s", label,
        is_negative ? "small" : "large", max,
        classes_are_limit ? ": raise classes" : "");
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
