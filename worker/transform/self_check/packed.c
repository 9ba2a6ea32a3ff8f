/* packed.c - self checks of packed documents: tokens and lengths. */
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "worker/transform/field.h"
#include "worker/transform/self_check/decoder_hash.h"
#include "worker/transform/self_check/self_check.h"

enum { LENGTH = 5, MOST = 3 /* documents */, PAD = 9, FIRST = 65533 };

static const uint32_t packings[][MOST] = {
    {5}, {1}, {3}, {1, 1}, {2, 3}, {1, 2, 1}, {3, 1, 1}};

static const struct packed_case {
    enum fby_decode decode;
    const char     *from;
    enum fby_type   type;
} cases[] = {
    {FBY_DECODE_TOKENS, "input", FBY_U32},
    {FBY_DECODE_TOKENS, "target", FBY_U32},
    {FBY_DECODE_TOKENS, "input", FBY_U16},
    {FBY_DECODE_DOCUMENTS, "documents", FBY_U16},
};

/* Write the lengths, then the tokens: 4 bytes each, counting up from FIRST. */
static size_t put_sequence(
    const uint32_t *lengths, uint8_t *out, uint32_t *documents)
{
    uint32_t tokens = 0;
    for (*documents = 0; *documents < MOST && lengths[*documents] > 0;
         ++*documents) {
        fby_store_le(out + (size_t)*documents * 4, lengths[*documents], 4);
        tokens += lengths[*documents];
    }
    for (uint32_t i = 0; i < tokens; i++) {
        fby_store_le(out + ((size_t)*documents + i) * 4, FIRST + i, 4);
    }
    return ((size_t)*documents + tokens) * 4;
}

static fby_err try_sequence(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct fby_field_content *field,
    const uint32_t *lengths)
{
    uint8_t              bytes[(MOST + LENGTH + 1) * 4];
    uint8_t              values[LENGTH * 4] = {0};
    uint32_t             entries            = LENGTH;
    struct fby_field_job job                = {
                       .field  = field,
                       .bytes  = bytes,
                       .width  = 4,
                       .length = &entries,
    };
    job.size       = put_sequence(lengths, bytes, &job.documents);
    fby_err err    = fby_field_write(transform, &job, values, NULL);
    fby_err broken = fby_self_check_outcome(hash, err);
    if (err == FBY_OK) {
        fby_decoder_hash_add(hash, entries, 4);
        fby_digest_add(
            hash, values, (size_t)entries * fby_type_bytes(field->wire_type));
    }
    return broken;
}

static void make_field(
    const struct packed_case *one, struct fby_field_content *field)
{
    bool tokens       = one->decode == FBY_DECODE_TOKENS;
    *field            = (struct fby_field_content){0};
    field->decode     = one->decode;
    field->wire_type  = one->type;
    field->n_from     = 1;
    field->max_length = tokens ? 0 : LENGTH;
    field->shape      = (struct fby_shape){.n_dims = 1, .dims = {LENGTH}};
    if (tokens) {
        field->as.tokens = (struct fby_tokens_field){
            .length = LENGTH, .packed = true, .pad = PAD};
    } else {
        field->as.documents.shift = 1;
    }
    memcpy(field->from[0], one->from, strlen(one->from) + 1);
}

fby_err fby_self_check_packed(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    struct fby_field_content *field = malloc(sizeof(*field));
    fby_err                   err   = field == NULL ? FBY_FULL : FBY_OK;
    size_t                    n     = sizeof(packings) / sizeof(packings[0]);
    size_t                    all   = n * sizeof(cases) / sizeof(cases[0]);
    for (size_t i = 0; i < all && err == FBY_OK; i++) {
        make_field(&cases[i / n], field);
        err = try_sequence(transform, hash, field, packings[i % n]);
    }
    free(field);
    return err;
}
