/* SPDX-License-Identifier: Apache-2.0 */
/* flat.c - the reader of flat files, and functions that all readers share. */
#include "worker/source/tokens/token_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/mem.h"
#include "common/plural.h"

/* Bytes read at a time: a multiple of the size of a token of any type. */
enum { READ_BYTES = 1 << 20 };

fby_err fby_token_file_read(const struct fby_token_file *file, uint64_t at,
    void *out, size_t bytes, struct fby_error_detail *why)
{
    if (at > file->size || bytes > file->size - at) {
        return fby_error_set(why, FBY_CONFIG,
            "it ends at byte %" PRIu64
            ", and its header goes on to byte %" PRIu64
            ": cut short, or not of this format",
            file->size, at + bytes);
    }
    FBY_TRY(fby_object_read(file->object, at, out, bytes, why));
    return atomic_load(file->stop) ? FBY_GONE : FBY_OK;
}

fby_err fby_token_file_set_type(enum fby_type found, struct fby_sequences *out,
    struct fby_error_detail *why)
{
    if (out->type != 0 && out->type != found) {
        return fby_error_set(why, FBY_CONFIG,
            "its tokens are %s, and the pipeline says type: %s",
            fby_type_word(found), fby_type_word(out->type));
    }
    out->type = found;
    return FBY_OK;
}

/* Is the token at `at` equal to `token`? The first bytes are compared before
 * memcmp is called. This is faster, because most tokens differ there. */
static bool is_token(const uint8_t *at, const uint8_t *token, uint32_t width)
{
    return at[0] == token[0] && memcmp(at, token, width) == 0;
}

struct token_range { /* consecutive tokens of a file */
    const uint8_t *bytes;
    size_t         size;   /* bytes */
    uint64_t       offset; /* of the first token in the file, in bytes */
};

/* Append the tokens to `out`, and end a document after each `end_token`. */
static fby_err add_tokens(const struct token_range *range,
    const uint8_t *end_token, struct fby_sequences *out,
    struct fby_error_detail *why)
{
    uint32_t width = fby_type_bytes(out->type);
    size_t   begin = 0; /* index in range->bytes of the open document */
    for (size_t i = 0; i < range->size; i += width) {
        if (is_token(range->bytes + i, end_token, width)) {
            size_t next           = i + width;
            out->has_no_end_token = false;
            FBY_TRY(fby_sequences_add_run(
                out, range->offset + begin, (next - begin) / width, why));
            FBY_TRY(fby_sequences_end_document(out, why));
            begin = next;
        }
    }
    return fby_sequences_add_run(
        out, range->offset + begin, (range->size - begin) / width, why);
}

/* Read the whole file to find its documents, each of which ends with the token
 * `end`. The last document may lack it. */
static fby_err read_documents(const struct fby_token_file *file, uint32_t end,
    struct fby_sequences *out, struct fby_error_detail *why)
{
    uint8_t  end_token[8]; /* little-endian; tokens have at most 8 bytes */
    uint8_t *bytes = fby_zalloc(READ_BYTES);
    fby_err  err   = FBY_OK;
    fby_store_le(end_token, end, sizeof(end_token));
    out->has_no_end_token = true;
    for (uint64_t at = 0; at < file->size && err == FBY_OK; at += READ_BYTES) {
        uint64_t left = file->size - at;
        size_t   size = left < READ_BYTES ? (size_t)left : READ_BYTES;
        err           = fby_token_file_read(file, at, bytes, size, why);
        if (err == FBY_OK) {
            const struct token_range range = {bytes, size, at};
            err = add_tokens(&range, end_token, out, why);
        }
    }
    free(bytes);
    return err == FBY_OK ? fby_sequences_end_document(out, why) : err;
}

fby_err fby_flat_read(const struct fby_token_file *file, uint32_t end,
    struct fby_sequences *out, struct fby_error_detail *why)
{
    uint32_t width = fby_type_bytes(out->type);
    FBY_TRY(fby_llmc_refuse(file->object, file->size, why));
    if (file->size % width != 0) {
        return fby_error_set(why, FBY_CONFIG,
            "the file has %s, not a whole number of tokens of %u bytes (type "
            "%s)",
            fby_plural(file->size, "byte").text, width,
            fby_type_word(out->type));
    }
    return out->packed != NULL
               ? read_documents(file, end, out, why)
               : fby_sequences_add_run(out, 0, file->size / width, why);
}
