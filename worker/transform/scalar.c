/* scalar.c - decode labels, bytes and texts.
 *
 * Parsing is strict: a label with anything after its digits, or one that does
 * not fit, is a bad sample. */
#include "worker/transform/scalar.h"

#include <stdio.h>
#include <string.h>

#include "common/bytes.h"
#include "common/utf8.h"
#include "pipeline/derived.h"
#include "worker/transform/json.h"

struct fby_whole_type fby_whole_type_of(enum fby_type type)
{
    switch (type) {
    case FBY_U8:
        return (struct fby_whole_type){1, 0, UINT8_MAX};
    case FBY_U16:
        return (struct fby_whole_type){2, 0, UINT16_MAX};
    case FBY_U32:
        return (struct fby_whole_type){4, 0, UINT32_MAX};
    case FBY_I32:
        return (struct fby_whole_type){4, INT32_MIN, INT32_MAX};
    case FBY_I64:
        return (struct fby_whole_type){8, INT64_MIN, INT64_MAX};
    case FBY_F16:
    case FBY_BF16:
    case FBY_F32:
    case FBY_BOOL:
        break;
    }
    return (struct fby_whole_type){0};
}

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
static bool parse_digits(const uint8_t *text, size_t size, uint64_t *out)
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

static bool is_digits(const uint8_t *text, size_t size)
{
    size_t n = 0;
    while (n < size && text[n] >= '0' && text[n] <= '9') {
        n++;
    }
    return size > 0 && n == size;
}

/* Up to 24 bytes of `text` in printable characters. */
static const char *shown(const uint8_t *text, size_t size, char out[28])
{
    size_t n = size < 24 ? size : 24;
    for (size_t i = 0; i < n; i++) {
        out[i] = (char)(text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?');
    }
    memcpy(out + n, size > n ? "..." : "", size > n ? 4 : 1);
    return out;
}

static fby_err read_json_label(
    const struct fby_field_job *job, uint64_t *out, struct fby_why *why)
{
    struct fby_json json;
    fby_err         err = fby_json_find(job, &json, why);
    if (err != FBY_OK) {
        return err;
    }
    json_int_t label = json_integer_value(json.value);
    if (!json_is_integer(json.value) || label < 0) {
        err = fby_because(why, FBY_BAD_SAMPLE,
            "JSON '%s' is not a label, a whole number from 0: it is %s",
            fby_field_json(job->field)->key, fby_json_show(json.value).text);
    }
    *out = (uint64_t)label;
    json_decref(json.root);
    return err;
}

static fby_err read_label(
    const struct fby_field_job *job, uint64_t *out, struct fby_why *why)
{
    const uint8_t *text = job->bytes;
    size_t         size = job->size;
    char           seen[28];
    if (fby_field_is_of_folder(job->field)) {
        *out = job->class_id;
        return FBY_OK;
    }
    if (fby_field_json(job->field)->key[0] != '\0') {
        return read_json_label(job, out, why);
    }
    if (size > FBY_LABEL_MAX_BYTES) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "a label's text has %zu bytes; at most %d are read", size,
            FBY_LABEL_MAX_BYTES);
    }
    strip_blanks(&text, &size);
    if (!parse_digits(text, size, out)) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "a label is a whole number from 0%s, and not '%s'",
            is_digits(text, size) ? " of 64 bits" : "",
            shown(text, size, seen));
    }
    return FBY_OK;
}

uint64_t fby_label_most(const struct fby_field_content *field)
{
    uint64_t most = fby_whole_type_of(field->wire_type).most;
    return field->as.label.classes > 0 && field->as.label.classes - 1 < most
               ? field->as.label.classes - 1
               : most;
}

fby_err fby_label_refuse(const struct fby_field_content *field,
    const char *label, struct fby_why *why)
{
    bool               small = label[0] == '-';
    unsigned long long most  = fby_label_most(field);
    bool               raise = !small && most + 1 == field->as.label.classes;
    return fby_because(why, FBY_BAD_SAMPLE,
        "label %s is too %s; 0 to %llu are right%s", label,
        small ? "small" : "large", most, raise ? ": raise classes" : "");
}

fby_err fby_label_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    const struct fby_field_content *field = job->field;
    struct fby_whole_type           type  = fby_whole_type_of(field->wire_type);
    uint64_t                        label = 0;
    if (type.bytes == 0) {
        return fby_because(why, FBY_USAGE, "a label needs a whole wire type");
    }
    fby_err err = read_label(job, &label, why);
    if (err != FBY_OK) {
        return err;
    }
    if (label > fby_label_most(field)) {
        char digits[24];
        snprintf(digits, sizeof(digits), "%llu", (unsigned long long)label);
        return fby_label_refuse(field, digits, why);
    }
    fby_store_le(dst, label, type.bytes);
    return FBY_OK;
}

/* ---- bytes ---- */

fby_err fby_length_settle(const struct fby_field_job *job, uint64_t n,
    uint32_t *out, struct fby_why *why)
{
    uint32_t most = job->field->max_length;
    if (n > most && job->field->too_long != FBY_TOO_LONG_TRUNCATE) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "the row has %llu entries, max_length is %u; raise it, or say "
            "too_long: truncate",
            (unsigned long long)n, most);
    }
    *out         = (uint32_t)(n < most ? n : most);
    *job->length = *out;
    return FBY_OK;
}

static fby_err write_some_bytes(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    uint32_t length = 0;
    fby_err  err    = fby_length_settle(job, job->size, &length, why);
    if (err == FBY_OK && length > 0) {
        memcpy(dst, job->bytes, length);
    }
    return err;
}

fby_err fby_bytes_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    if (fby_field_form(job->field) == FBY_FORM_RAGGED) {
        return write_some_bytes(job, dst, why);
    }
    size_t length = fby_field_bytes(job->field);
    if (job->size != length) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "the member has %zu bytes; the field has %zu", job->size, length);
    }
    if (length > 0) {
        memcpy(dst, job->bytes, length);
    }
    return FBY_OK;
}

/* ---- texts ---- */

/* Bytes of the whole characters that end within `most` bytes. */
static size_t whole_characters(const uint8_t *text, size_t size, size_t most)
{
    size_t end = 0;
    while (end < size) {
        size_t next = end + fby_utf8_length(text + end, size - end);
        if (next > most) {
            break;
        }
        end = next;
    }
    return end;
}

static fby_err write_characters(const struct fby_field_job *job,
    const uint8_t *text, size_t size, uint8_t *dst, struct fby_why *why)
{
    uint32_t length = 0;
    fby_err  err    = fby_length_settle(job, size, &length, why);
    if (err != FBY_OK) {
        return err;
    }
    length       = (uint32_t)whole_characters(text, size, length);
    *job->length = length;
    if (length > 0) {
        memcpy(dst, text, length);
    }
    return FBY_OK;
}

/* The JSON parser ensures UTF-8 without NUL. */
static fby_err write_json_text(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    struct fby_json json;
    fby_err         err = fby_json_find(job, &json, why);
    if (err != FBY_OK) {
        return err;
    }
    if (json_is_string(json.value)) {
        err = write_characters(job,
            (const uint8_t *)json_string_value(json.value),
            json_string_length(json.value), dst, why);
    } else {
        err = fby_because(why, FBY_BAD_SAMPLE,
            "JSON '%s' is not a text: it is %s",
            fby_field_json(job->field)->key, fby_json_show(json.value).text);
    }
    json_decref(json.root);
    return err;
}

fby_err fby_text_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    size_t size = job->size;
    if (fby_field_json(job->field)->key[0] != '\0') {
        return write_json_text(job, dst, why);
    }
    if (size > 0 && job->bytes[size - 1] == '\n') {
        size--;
    }
    if (!fby_is_utf8(job->bytes, size)) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "the text is not UTF-8 without NUL; decode: bytes takes any bytes");
    }
    return write_characters(job, job->bytes, size, dst, why);
}
