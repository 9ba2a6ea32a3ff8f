/* tokens.c - a sequence of a token file to the values of a field. Whether its
 * type has a sign does not matter: no token is as large as 2^31. */
#include <inttypes.h>
#include <string.h>

#include "worker/transform/convert.h"
#include "worker/transform/scalar.h"
#include "worker/transform/tokens.h"

/* As a NumPy file of that width would have them. */
static enum fby_npy_type type_of(size_t width)
{
    switch (width) {
    case 1:
        return FBY_NPY_U1;
    case 2:
        return FBY_NPY_U2;
    case 4:
        return FBY_NPY_I4;
    case 8:
        return FBY_NPY_I8;
    default:
        return FBY_NPY_TYPES;
    }
}

struct fby_npy fby_tokens_npy(const uint8_t *tokens, uint32_t width, uint64_t n)
{
    return (struct fby_npy){
        .type = type_of(width), .values = n, .data = tokens};
}

/* Of 32 bits without sign, as they travel: how many are before one that is too
 * large. */
static uint64_t count_small(const uint8_t *tokens, uint64_t n)
{
    uint64_t i   = 0;
    unsigned any = 0;
    for (uint64_t k = 0; k < n; k++) {
        any |= tokens[4 * k + 3];
    }
    if ((any & 0x80) == 0) {
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
    uint64_t good = fby_convert(in, to, dst);
    return to == FBY_U32 ? count_small(dst, good) : good;
}

fby_err fby_tokens_refuse(const struct fby_npy *in, uint64_t i, uint64_t number,
    enum fby_type to, struct fby_why *why)
{
    char text[FBY_CONVERT_TEXT];
    return fby_because(why, FBY_BAD_SAMPLE,
        "token %" PRIu64 " is %s, which %s cannot hold", number,
        fby_convert_text(in, i, text),
        to == FBY_U16 ? "its wire type u16" : "a token (0 to 2147483647)");
}

/* A sequence is read with its last target: the inputs are those before it, the
 * targets those behind its first token. */
static bool find_tokens(const struct fby_field_job *job, struct fby_npy *out)
{
    const struct fby_field_content *field = job->field;
    size_t                          bytes = (size_t)field->length * job->width;
    bool   targets = strcmp(field->from[0], "target") == 0;
    size_t first   = targets ? job->width : 0;
    *out           = fby_tokens_npy(job->bytes, job->width, field->length);
    if (out->type == FBY_NPY_TYPES || first + bytes > job->size ||
        job->size - bytes > job->width ||
        (field->wire_type != FBY_U16 && field->wire_type != FBY_U32)) {
        return false;
    }
    out->data = job->bytes + first;
    return true;
}

fby_err fby_tokens_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    const struct fby_field_content *field = job->field;
    struct fby_npy                  in;
    if (!find_tokens(job, &in)) {
        return fby_because(why, FBY_USAGE,
            "%zu bytes are no sequence of %u tokens of %u bytes", job->size,
            field->length, job->width);
    }
    uint64_t good = fby_tokens_convert(&in, field->wire_type, dst);
    return good == in.values
               ? FBY_OK
               : fby_tokens_refuse(&in, good, good, field->wire_type, why);
}
