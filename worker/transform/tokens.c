/* tokens.c - a sequence of a token file to the values of a field. Whether its
 * type has a sign does not matter: no token is as large as 2^31. */
#include <inttypes.h>
#include <string.h>

#include "worker/transform/convert.h"
#include "worker/transform/scalar.h"

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

/* How many come before one that is refused. What is above 2^31 - 1 in 8 bytes
 * the wire type would hold. */
static uint64_t count_tokens(
    const struct fby_npy *in, enum fby_type to, uint8_t *dst)
{
    uint64_t good = fby_convert(in, to, dst);
    for (uint64_t i = 0; to == FBY_U32 && i < good; i++) {
        if ((dst[4 * i + 3] & 0x80) != 0) {
            return i;
        }
    }
    return good;
}

/* A sequence is read with its last target: the inputs are those before it, the
 * targets those behind its first token. */
static bool find_tokens(const struct fby_field_job *job, struct fby_npy *out)
{
    const struct fby_field_content *field = job->field;
    size_t                          bytes = (size_t)field->length * job->width;
    bool   targets = strcmp(field->from[0], "target") == 0;
    size_t first   = targets ? job->width : 0;
    *out           = (struct fby_npy){
                  .type   = type_of(job->width),
                  .values = field->length,
    };
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
    char                            text[FBY_CONVERT_TEXT];
    if (!find_tokens(job, &in)) {
        return fby_because(why, FBY_USAGE,
            "%zu bytes are no sequence of %u tokens of %u bytes", job->size,
            field->length, job->width);
    }
    uint64_t good = count_tokens(&in, field->wire_type, dst);
    return good == in.values
               ? FBY_OK
               : fby_because(why, FBY_BAD_SAMPLE,
                     "token %" PRIu64 " is %s, which %s cannot hold", good,
                     fby_convert_text(&in, good, text),
                     field->wire_type == FBY_U16 ? "its wire type u16"
                                                 : "a token (0 to 2147483647)");
}
