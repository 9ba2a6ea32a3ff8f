/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c - decode sequences of a token file. A file says how wide a token is,
 * but not if its type is signed. That makes no difference for tokens that are
 * accepted, because they are all below 2^31. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/bytes.h"
#include "pipeline/fields/kind.h"
#include "worker/npy/convert.h"
#include "worker/transform/decoders.h"
#include "worker/transform/tokens.h"

/* The NumPy type of tokens of `width` bytes; FBY_NPY_TYPES if there is none. */
static enum fby_npy_type token_type(size_t width)
{
    return width == 1   ? FBY_NPY_U1
           : width == 2 ? FBY_NPY_U2
           : width == 4 ? FBY_NPY_I4
           : width == 8 ? FBY_NPY_I8
                        : FBY_NPY_TYPES;
}

struct fby_npy fby_tokens_as_npy(
    const uint8_t *tokens, uint32_t width, uint64_t n)
{
    return (struct fby_npy){
        .type = token_type(width), .n_values = n, .data = tokens};
}

/* Returns the number of wire tokens (u32) before the first of 2^31 or more. It
 * has bit 0x80 in its highest byte, which is byte 4 k + 3 for token k.
 * The first loop has no branch and is fast; few files need the second. */
static uint64_t count_below_2_31(const uint8_t *tokens, uint64_t n)
{
    uint64_t i          = 0;
    unsigned high_bytes = 0; /* ORed together */
    for (uint64_t k = 0; k < n; k++) {
        high_bytes |= tokens[4 * k + 3];
    }
    if ((high_bytes & 0x80) == 0) {
        return n;
    }
    while ((tokens[4 * i + 3] & 0x80) == 0) {
        i++;
    }
    return i;
}

uint64_t fby_tokens_convert(
    const struct fby_npy *in, enum fby_type to, uint8_t *dst)
{
    uint64_t n_good = fby_convert(in, to, dst);
    return to == FBY_U32 ? count_below_2_31(dst, n_good) : n_good;
}

/* True if token `i` has 32 bits and the highest is set. If the type of the file
 * is signed, the token is negative; otherwise it is too large. */
static bool may_be_negative(const struct fby_npy *in, uint64_t i)
{
    return in->type == FBY_NPY_I4 && (in->data[4 * i + 3] & 0x80) != 0;
}

fby_err fby_tokens_refuse(const struct fby_npy *in, uint64_t i, uint64_t number,
    enum fby_type to, struct fby_error_detail *why)
{
    char           text[FBY_CONVERT_TEXT];
    char           as_signed[FBY_CONVERT_TEXT + 16] = "";
    struct fby_npy tokens                           = *in;
    if (may_be_negative(in, i)) {
        tokens.type = FBY_NPY_U4;
        snprintf(as_signed, sizeof(as_signed), " (%s as i32)",
            fby_convert_text(in, i, text));
    }
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "token %" PRIu64 " is %s%s, which %s cannot hold", number,
        fby_convert_text(&tokens, i, text), as_signed,
        to == FBY_U16 ? "its wire type u16" : "a token (0 to 2147483647)");
}

/* True if the field holds targets: the tokens that a model must predict. */
static bool is_target(const struct fby_field_content *field)
{
    return strcmp(field->from[0], "target") == 0;
}

/* Find the tokens of the field in job->bytes. Without targets, the field has
 * all of them. With targets, job->bytes has one token more: the inputs are all
 * tokens except the last, the targets all except the first. Returns false if
 * sizes or types do not match. */
static bool find_tokens(const struct fby_field_job *job, struct fby_npy *out)
{
    const struct fby_field_content *field = job->field;
    size_t field_bytes   = (size_t)field->as.tokens.length * job->token_bytes;
    size_t skipped_bytes = is_target(field) ? job->token_bytes : 0;
    *out                 = fby_tokens_as_npy(
                        job->bytes, job->token_bytes, field->as.tokens.length);
    bool types_are_valid =
        out->type != FBY_NPY_TYPES &&
        (field->wire_type == FBY_U16 || field->wire_type == FBY_U32);
    /* job->bytes has the field's tokens, and at most one more */
    bool size_fits = skipped_bytes + field_bytes <= job->size &&
                     job->size <= field_bytes + job->token_bytes;
    if (!types_are_valid || !size_fits) {
        return false;
    }
    out->data = job->bytes + skipped_bytes;
    return true;
}

/* ---- packed documents ---------------------------------------------------- */

/* A packed sequence: whole documents one after the other. */
struct packed_documents {
    const uint8_t *lengths;    /* a u32 for each document, little-endian */
    struct fby_npy tokens;     /* the tokens of all documents */
    uint32_t       max_tokens; /* most tokens of a sequence */
};

static uint32_t document_length(
    const struct packed_documents *packed, uint32_t i)
{
    struct fby_reader in = fby_reader(packed->lengths + (size_t)i * 4, 4);
    return fby_read_u32(&in);
}

/* Find lengths and tokens. Returns false if these are no packed sequence. */
static bool find_documents(
    const struct fby_field_job *job, struct packed_documents *out)
{
    const struct fby_field_content *field = job->field;
    size_t lengths_bytes = (size_t)job->n_documents * sizeof(uint32_t);

    *out = (struct packed_documents){
        .lengths = job->bytes,
        .tokens  = {.type = token_type(job->token_bytes)},
        /* the field of the lengths is ragged, that of the tokens is not */
        .max_tokens = fby_field_kind(field)->is_ragged
                          ? field->max_length
                          : field->as.tokens.length,
    };
    if (out->tokens.type == FBY_NPY_TYPES || job->n_documents == 0 ||
        lengths_bytes > job->size) {
        return false;
    }
    for (uint32_t i = 0; i < job->n_documents; i++) {
        uint32_t length = document_length(out, i);
        if (length == 0 || length > out->max_tokens - out->tokens.n_values) {
            return false;
        }
        out->tokens.n_values += length;
    }
    out->tokens.data = job->bytes + lengths_bytes;
    return job->size - lengths_bytes == out->tokens.n_values * job->token_bytes;
}

static fby_err refuse_documents(
    const struct fby_field_job *job, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_USAGE,
        "%zu bytes are not a sequence of %u documents with tokens of %u bytes",
        job->size, job->n_documents, job->token_bytes);
}

/* Write the pad token from position `first` to the end of the sequence. */
static void pad_to_end(
    const struct fby_field_content *field, uint8_t *dst, uint64_t first)
{
    uint32_t width = fby_type_bytes(field->wire_type);
    for (uint64_t i = first; i < field->as.tokens.length; i++) {
        fby_store_le(dst + i * width, field->as.tokens.pad, width);
    }
}

/* The targets of a document are its tokens after the first, then a pad token.
 * So all values move to the left by one position, and the last value of each of
 * the `n` documents becomes the pad token. */
static void shift_targets(const struct fby_field_content *field,
    const struct packed_documents *packed, uint32_t n, uint8_t *dst)
{
    uint32_t width = fby_type_bytes(field->wire_type);
    uint64_t end   = 0;
    memmove(dst, dst + width, (packed->tokens.n_values - 1) * width);
    for (uint32_t i = 0; i < n; i++) {
        end += document_length(packed, i);
        fby_store_le(dst + (end - 1) * width, field->as.tokens.pad, width);
    }
}

static fby_err write_packed(
    const struct fby_field_job *job, uint8_t *dst, struct fby_error_detail *why)
{
    const struct fby_field_content *field = job->field;
    struct packed_documents         packed;
    if (!find_documents(job, &packed)) {
        return refuse_documents(job, why);
    }
    uint64_t n_good = fby_tokens_convert(&packed.tokens, field->wire_type, dst);
    if (n_good < packed.tokens.n_values) {
        return fby_tokens_refuse(
            &packed.tokens, n_good, n_good, field->wire_type, why);
    }
    if (is_target(field)) {
        shift_targets(field, &packed, job->n_documents, dst);
    }
    pad_to_end(field, dst, packed.tokens.n_values);
    return FBY_OK;
}

fby_err fby_documents_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_error_detail *why)
{
    (void)transform;
    struct packed_documents packed;
    uint32_t                width = fby_type_bytes(job->field->wire_type);
    if (!find_documents(job, &packed)) {
        return refuse_documents(job, why);
    }
    for (uint32_t i = 0; i < job->n_documents; i++) {
        fby_store_le(
            dst + (size_t)i * width, document_length(&packed, i), width);
    }
    *job->length = job->n_documents;
    return FBY_OK;
}

/* ---- sequences of a fixed length ----------------------------------------- */

fby_err fby_tokens_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_error_detail *why)
{
    (void)transform;
    const struct fby_field_content *field = job->field;
    struct fby_npy                  in;
    if (field->as.tokens.packed) {
        return write_packed(job, dst, why);
    }
    if (!find_tokens(job, &in)) {
        return fby_error_set(why, FBY_USAGE,
            "%zu bytes are not a sequence of %u tokens of %u bytes", job->size,
            field->as.tokens.length, job->token_bytes);
    }
    uint64_t n_good = fby_tokens_convert(&in, field->wire_type, dst);
    return n_good == in.n_values
               ? FBY_OK
               : fby_tokens_refuse(&in, n_good, n_good, field->wire_type, why);
}
