/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tokens.c - any bytes as a token file's header: an error, or runs within
 * the file and documents that cover all their tokens. The first byte chooses
 * the format, and whether documents are packed. */
#include <stdlib.h>

#include "tests/worker/source/memory_object.h"
#include "worker/source/tokens/token_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BIN_SIZE = 1 << 20 }; /* of the .bin of an .idx */

static void check(const struct fby_sequences *all, uint64_t size)
{
    uint64_t width = fby_type_bytes(all->type);
    for (uint64_t token = 0; token < all->tokens;) {
        struct fby_token_extent piece =
            fby_sequences_find_extent(all, token, all->tokens - token);
        if (piece.tokens == 0 || piece.at > size ||
            piece.tokens > (size - piece.at) / width) {
            abort();
        }
        token += piece.tokens;
    }
}

/* Each token is in one piece. */
static void check_packed(const struct fby_packed *all, uint64_t tokens)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < all->sequences; i++) {
        uint32_t n = fby_packed_count_tokens(all, i);
        if (n == 0 || n > all->length) {
            abort();
        }
        sum += n;
    }
    if (sum != tokens || all->first_piece[all->sequences] != all->pieces) {
        abort();
    }
}

static fby_err read_one(const struct fby_token_file *file, unsigned format,
    struct fby_sequences *out)
{
    struct fby_error_detail why = {{0}};
    switch (format) {
    case 0:
        return fby_flat_read(file, 'e' << 8 | 'e', out, &why);
    case 1:
        return fby_megatron_read(file, BIN_SIZE, out, &why);
    default:
        return fby_mds_read(file, "tokens", out, &why);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static atomic_bool stop;
    if (size == 0) {
        return 0;
    }
    unsigned          format = data[0] % 4; /* mds with a type, or without */
    struct fby_tokens how    = {
           .type   = format % 2 == 0 ? FBY_U16 : (enum fby_type)0,
           .length = 16,
           .shift  = 1,
           .packed = data[0] / 4 % 2 == 1,
    };
    struct fby_sequences *all    = fby_sequences_create(&how);
    struct memory         memory = memory_of(data + 1, size - 1);
    struct fby_object     object = memory_object(&memory);
    struct fby_token_file file   = {&object, size - 1, &stop};
    if (read_one(&file, format, all) == FBY_OK) {
        check(all, format == 1 ? BIN_SIZE : size - 1);
        fby_sequences_finish(all);
        if (all->packed != NULL) {
            check_packed(all->packed, all->tokens);
        }
    }
    fby_sequences_free(&all);
    return 0;
}
