/* SPDX-License-Identifier: Apache-2.0 */
/* Check conditions between the members of a message. Each member by itself was
 * checked before (schema.h), so lists have valid lengths and pointers. Here `m`
 * is the message, `f` a field of a HEADER, and `r` its recipe. */
#include "proto/rules.h"

#include <inttypes.h>
#include <string.h>

#include "codec/auto.h"
#include "common/utf8.h"
#include "proto/messages.h"

static fby_err check_versions(const char *message, uint32_t min, uint32_t max,
    struct fby_error_detail *why)
{
    if (min > max) {
        return fby_error_set(why, FBY_PROTO,
            "%s: version_min %" PRIu32 " is above version_max %" PRIu32,
            message, min, max);
    }
    return FBY_OK;
}

fby_err rule_hello(const void *record, struct fby_error_detail *why)
{
    const struct fby_hello *m = record;
    return check_versions("HELLO", m->version_min, m->version_max, why);
}

fby_err rule_sealed_hello(const void *record, struct fby_error_detail *why)
{
    const struct fby_sealed_hello *m = record;
    return m->nonce.known
               ? FBY_OK
               : fby_error_set(why, FBY_PROTO, "SEALED_HELLO: no nonce");
}

fby_err rule_refused(const void *record, struct fby_error_detail *why)
{
    const struct fby_refused *m = record;
    return check_versions("REFUSED", m->version_min, m->version_max, why);
}

fby_err rule_scanning(const void *record, struct fby_error_detail *why)
{
    const struct fby_scanning *m              = record;
    bool                       total_is_known = m->shards_total != 0;
    if (total_is_known && m->shards_done > m->shards_total) {
        return fby_error_set(why, FBY_PROTO,
            "SCANNING: %" PRIu32 " of %" PRIu32 " shards done", m->shards_done,
            m->shards_total);
    }
    return FBY_OK;
}

/* Check that each name of a class is valid, and that a NUL follows it. */
static fby_err check_classes(
    const struct fby_blob *classes, struct fby_error_detail *why)
{
    size_t at = 0;
    for (size_t id = 0; at < classes->size; id++) {
        const uint8_t *name   = classes->data + at;
        size_t         left   = classes->size - at;
        size_t         length = strnlen((const char *)name, left);
        if (length == 0 || length == left || length > FBY_CLASS_NAME_MAX ||
            !fby_is_utf8(name, length)) {
            return fby_error_set(why, FBY_PROTO,
                "OPENED: class %zu: expected a name in UTF-8, 1 to %d bytes, "
                "and a NUL",
                id, FBY_CLASS_NAME_MAX);
        }
        at += length + 1;
    }
    return FBY_OK;
}

fby_err rule_opened(const void *record, struct fby_error_detail *why)
{
    const struct fby_opened *m   = record;
    uint64_t                 sum = 0;
    for (size_t i = 0; i < m->n_shards; i++) {
        sum += m->shards[i].samples;
        if (i > 0 && strcmp(m->shards[i - 1].name, m->shards[i].name) >= 0) {
            return fby_error_set(why, FBY_PROTO,
                "OPENED: shard %zu: names must ascend in byte order", i);
        }
    }
    if (sum != m->samples) {
        return fby_error_set(why, FBY_PROTO,
            "OPENED: %" PRIu64 " samples, but the shards have %" PRIu64,
            m->samples, sum);
    }
    return check_classes(&m->classes, why);
}

static fby_err check_choices(
    const struct fby_request *m, struct fby_error_detail *why)
{
    /* Without choices, all are automatic. A `fields` of 0 means all fields. */
    uint32_t n_fields = (uint32_t)__builtin_popcountll(m->fields);
    if (m->n_choices != 0 && m->fields != 0 && m->n_choices != n_fields) {
        return fby_error_set(why, FBY_PROTO,
            "REQUEST: %" PRIu32 " fields, but %" PRIu32 " choices", n_fields,
            m->n_choices);
    }
    for (uint32_t i = 0; i < m->n_choices; i++) {
        struct fby_coding_choice choice = m->choices[i];
        if (!fby_auto_is_possible(choice.filter, choice.codec)) {
            return fby_error_set(why, FBY_PROTO,
                "REQUEST: filter %d and codec %d are unknown, or cannot be "
                "combined",
                choice.filter, choice.codec);
        }
    }
    return FBY_OK;
}

fby_err rule_request(const void *record, struct fby_error_detail *why)
{
    const struct fby_request *m = record;
    /* first_row was checked to be below FBY_ROWS_MAX. */
    if (m->rows > FBY_ROWS_MAX - m->first_row) {
        return fby_error_set(why, FBY_PROTO,
            "REQUEST: %" PRIu32 " rows from %" PRIu32 " on: more than %d",
            m->rows, m->first_row, FBY_ROWS_MAX);
    }
    return check_choices(m, why);
}

static bool is_u8_image(const struct fby_header_field *f)
{
    return f->shape.n_dims == 3 && f->type == FBY_U8;
}

/* The functions fault_of_... return the text of an error in a field; NULL if
 * there is no error. */
static const char *fault_of_device(const struct fby_header_field *f)
{
    const struct fby_recipe *r       = &f->recipe;
    bool                     has_ops = r->device.size > 0;
    bool lacks_behaviour_or_ops      = has_ops != r->behaviour.known;
    if (lacks_behaviour_or_ops || (has_ops && !is_u8_image(f))) {
        return "ops of the device and a behaviour need each other, and a u8 "
               "image";
    }
    if (r->mixed_by != NULL && r->mixed_by[0] != '\0' && !r->one_hot) {
        return "only one-hot labels are mixed";
    }
    return NULL;
}

static const char *fault_of_recipe(const struct fby_header_field *f)
{
    const struct fby_recipe *r = &f->recipe;
    for (uint32_t i = 0; i < r->n_channels; i++) {
        if (!(r->std[i] > 0)) {
            return "std must be above 0";
        }
    }
    if (r->n_channels > 0 &&
        (!is_u8_image(f) || f->shape.dims[2] != r->n_channels)) {
        return "mean and std belong to the channels of a u8 image";
    }
    if (r->one_hot && (f->encoding != FBY_ENCODING_LABEL || r->classes == 0)) {
        return "one-hot needs a label and its number of classes";
    }
    if (!(r->smoothing >= 0 && r->smoothing < 1) ||
        (r->smoothing > 0 && !r->one_hot)) {
        return "smoothing must be 0 or more, below 1, and needs one-hot";
    }
    return fault_of_device(f);
}

/* True if the last dimension has the bytes that hold one bit for each map. */
static bool bits_fit(const struct fby_header_field *f)
{
    uint32_t maps = f->recipe.maps;
    return maps > 0 && f->type == FBY_U8 && f->shape.n_dims > 0 &&
           f->shape.dims[f->shape.n_dims - 1] == maps / 8 + (maps % 8 != 0);
}

static bool label_fits(const struct fby_header_field *f)
{
    return f->shape.n_dims == 0 &&
           (f->type == FBY_U8 || f->type == FBY_U16 || f->type == FBY_U32);
}

static bool is_rgb(const struct fby_header_field *f)
{
    return is_u8_image(f) && f->shape.dims[2] == 3;
}

static const char *fault_of_encoding(const struct fby_header_field *f)
{
    if (f->encoding != FBY_ENCODING_BITS && f->recipe.maps != 0) {
        return "only bits have a number of maps";
    }
    switch (f->encoding) {
    case FBY_ENCODING_DENSE:
        return NULL;
    case FBY_ENCODING_LABEL:
        return label_fits(f) ? NULL : "a label is a single u8, u16 or u32";
    case FBY_ENCODING_BITS:
        return bits_fit(f) ? NULL : "bits are u8, a byte for every 8 maps";
    case FBY_ENCODING_SPARSE:
    case FBY_ENCODING_RAGGED:
        return NULL; /* fault_of_length checks these */
    case FBY_ENCODING_YUV420:
        return is_rgb(f) ? NULL : "yuv420 is a picture, u8 [h, w, 3]";
    }
    return "the encoding is unknown";
}

static const char *fault_of_length(const struct fby_header_field *f)
{
    if (f->encoding == FBY_ENCODING_SPARSE) {
        return f->max_length > 0 && f->max_length <= fby_dense_values(&f->shape)
                   ? NULL
                   : "a sparse field needs a max_length, and a shape of as "
                     "many values or more";
    }
    bool valid = f->max_length == 0;
    if (f->encoding == FBY_ENCODING_RAGGED) { /* the shape of the longest row */
        valid = f->max_length > 0 && f->shape.n_dims > 0 &&
                f->shape.dims[0] == f->max_length;
    }
    if (!valid) {
        return "max_length is for ragged fields, and is their first dimension";
    }
    return NULL;
}

fby_err rule_header_field(const void *record, struct fby_error_detail *why)
{
    const struct fby_header_field *f     = record;
    const char                    *fault = fault_of_recipe(f);
    if (fault == NULL) {
        fault = fault_of_encoding(f);
    }
    if (fault == NULL) {
        fault = fault_of_length(f);
    }
    if (fault != NULL) {
        return fby_error_set(
            why, FBY_PROTO, "HEADER: field %s: %s", f->name, fault);
    }
    return FBY_OK;
}

fby_err rule_header(const void *record, struct fby_error_detail *why)
{
    const struct fby_header *m = record;
    /* first_row was checked to be below FBY_ROWS_MAX. */
    if (m->rows > FBY_ROWS_MAX - m->first_row) {
        return fby_error_set(why, FBY_PROTO,
            "HEADER: %" PRIu32 " rows from %" PRIu32 " on: more than %d",
            m->rows, m->first_row, FBY_ROWS_MAX);
    }
    for (size_t i = 1; i < m->n_fields; i++) {
        if (strcmp(m->fields[i - 1].name, m->fields[i].name) >= 0) {
            return fby_error_set(why, FBY_PROTO,
                "HEADER: field %s: names must ascend in byte order",
                m->fields[i].name);
        }
    }
    return FBY_OK;
}

fby_err rule_end(const void *record, struct fby_error_detail *why)
{
    const struct fby_end *m = record;
    for (size_t i = 1; i < m->n_substituted; i++) {
        if (m->substituted[i - 1].row >= m->substituted[i].row) {
            return fby_error_set(why, FBY_PROTO,
                "END: substituted row %" PRIu32 ": rows must ascend",
                m->substituted[i].row);
        }
    }
    return FBY_OK;
}

fby_err rule_join(const void *record, struct fby_error_detail *why)
{
    const struct fby_join *m = record;
    if (m->rank >= m->world) {
        return fby_error_set(why, FBY_PROTO,
            "JOIN: rank %" PRIu32 " of a world of %" PRIu32, m->rank, m->world);
    }
    return FBY_OK;
}
