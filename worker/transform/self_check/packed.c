/* SPDX-License-Identifier: Apache-2.0 */
/* packed.c - self checks of sequences that are packed from documents. */
#include <stdio.h>

#include "common/bytes.h"
#include "worker/transform/self_check/self_check.h"

enum {
    LENGTH        = 5, /* tokens of a sequence */
    MAX_DOCUMENTS = 3,
    PAD           = 9,    /* the pad token */
    FIRST_TOKEN   = 65533 /* the fourth token does not fit u16 */
};

/* Lengths of the documents of each sequence; 0: no more documents. */
static const uint32_t packings[][MAX_DOCUMENTS] = {
    {5}, {1}, {3}, {1, 1}, {2, 3}, {1, 2, 1}, {3, 1, 1}};

/* Append the lengths, then the tokens, all in 4 bytes: FIRST_TOKEN and the
 * numbers after it. Returns the number of documents. */
static uint32_t append_sequence(const uint32_t *lengths, struct fby_buffer *out)
{
    uint32_t tokens = 0;
    uint32_t n      = 0;
    for (; n < MAX_DOCUMENTS && lengths[n] > 0; n++) {
        fby_put_u32(out, lengths[n]);
        tokens += lengths[n];
    }
    for (uint32_t i = 0; i < tokens; i++) {
        fby_put_u32(out, FIRST_TOKEN + i);
    }
    return n;
}

static void check_packings(struct fby_self_check *check)
{
    for (size_t i = 0; i < COUNT_OF(packings); i++) {
        struct fby_buffer sequence = {0};
        /* Decoding the lengths sets it. Decoding tokens does not, because
         * the row is always padded to LENGTH. */
        uint32_t             entries = LENGTH;
        struct fby_field_job job     = {
                .field = &check->field, .token_bytes = 4, .length = &entries};
        job.n_documents = append_sequence(packings[i], &sequence);
        job.bytes       = sequence.data;
        job.size        = sequence.size;
        fby_self_check_decode(check, &job);
        fby_buffer_fini(&sequence);
    }
}

static void check_tokens(
    struct fby_self_check *check, const char *from, enum fby_type type)
{
    check->field = (struct fby_field_content){.decode = FBY_DECODE_TOKENS,
        .wire_type                                    = type,
        .n_from                                       = 1,
        .shape                                        = {1, {LENGTH}},
        .as.tokens = {.length = LENGTH, .packed = true, .pad = PAD}};
    snprintf(check->field.from[0], FBY_NAME_SIZE, "%s", from);
    check_packings(check);
}

void fby_self_check_packed(struct fby_self_check *check)
{
    check_tokens(check, "input", FBY_U32);
    check_tokens(check, "target", FBY_U32);
    check_tokens(check, "input", FBY_U16);
    check->field = (struct fby_field_content){.decode = FBY_DECODE_DOCUMENTS,
        .wire_type                                    = FBY_U16,
        .from                                         = {"documents"},
        .n_from                                       = 1,
        .max_length                                   = LENGTH,
        .shape                                        = {1, {LENGTH}},
        /* As in a source with targets. The lengths do not depend on it. */
        .as.documents.shift = 1};
    check_packings(check);
}
