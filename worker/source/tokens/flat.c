/* flat.c - what the three readers share, and flat files. */
#include "worker/source/tokens/token_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/mem.h"

enum { PIECE = 1 << 20 /* bytes of a flat file, looked at in one go */ };

fby_err fby_token_file_bytes(const struct fby_token_file *file, uint64_t at,
    void *out, size_t bytes, struct fby_why *why)
{
    if (at > file->size || bytes > file->size - at) {
        return fby_because(why, FBY_CONFIG,
            "it ends at byte %" PRIu64
            ", and its header goes on to byte %" PRIu64
            ": cut short, or not of this format",
            file->size, at + bytes);
    }
    fby_err err = fby_object_read(file->object, at, out, bytes, why);
    if (err != FBY_OK) {
        return err;
    }
    return atomic_load(file->stop) ? FBY_GONE : FBY_OK;
}

const char *fby_token_type_name(enum fby_type type)
{
    static const char *const names[] = {
        [FBY_U8]  = "u8",
        [FBY_U16] = "u16",
        [FBY_I32] = "i32",
        [FBY_I64] = "i64",
        [FBY_U32] = "u32",
    };
    const char *name = type <= FBY_U32 ? names[type] : NULL;
    return name != NULL ? name : "of no type";
}

fby_err fby_token_file_type(
    enum fby_type found, struct fby_sequences *out, struct fby_why *why)
{
    if (out->type != 0 && out->type != found) {
        return fby_because(why, FBY_CONFIG,
            "its tokens are %s, and the pipeline says type: %s",
            fby_token_type_name(found), fby_token_type_name(out->type));
    }
    out->type = found;
    return FBY_OK;
}

/* Does the token at `at` have these bytes? */
static bool is_token(const uint8_t *at, const uint8_t *token, uint32_t width)
{
    return at[0] == token[0] && memcmp(at, token, width) == 0;
}

struct tokens { /* some of a file */
    const uint8_t *bytes;
    size_t         size;
    uint64_t       at; /* byte in the file */
};

/* With the ends of documents among them. */
static fby_err add_tokens(const struct tokens *some, const uint8_t *end,
    struct fby_sequences *out, struct fby_why *why)
{
    uint32_t width = fby_type_bytes(out->type);
    size_t   begin = 0;
    fby_err  err   = FBY_OK;
    for (size_t i = 0; i < some->size && err == FBY_OK; i += width) {
        if (is_token(some->bytes + i, end, width)) {
            size_t next  = i + width;
            out->endless = false;
            err          = fby_sequences_add(
                         out, some->at + begin, (next - begin) / width, why);
            begin = next;
            if (err == FBY_OK) {
                err = fby_sequences_end_document(out, why);
            }
        }
    }
    uint64_t rest = (some->size - begin) / width;
    return err == FBY_OK ? fby_sequences_add(out, some->at + begin, rest, why)
                         : err;
}

static fby_err read_documents(const struct fby_token_file *file, uint32_t end,
    struct fby_sequences *out, struct fby_why *why)
{
    uint8_t  token[8];
    uint8_t *piece = fby_zalloc(PIECE);
    fby_err  err   = FBY_OK;
    fby_store_le(token, end, sizeof(token));
    out->endless = true;
    for (uint64_t at = 0; at < file->size && err == FBY_OK; at += PIECE) {
        uint64_t left = file->size - at;
        size_t   size = left < PIECE ? (size_t)left : PIECE;
        err           = fby_token_file_bytes(file, at, piece, size, why);
        if (err == FBY_OK) {
            const struct tokens some = {piece, size, at};
            err                      = add_tokens(&some, token, out, why);
        }
    }
    free(piece);
    return err == FBY_OK ? fby_sequences_end_document(out, why) : err;
}

fby_err fby_flat_read(const struct fby_token_file *file, uint32_t end,
    struct fby_sequences *out, struct fby_why *why)
{
    uint32_t width = fby_type_bytes(out->type);
    if (file->size % width != 0) {
        return fby_because(why, FBY_CONFIG,
            "%" PRIu64 " bytes are no whole number of tokens of %u bytes (type "
            "%s)",
            file->size, width, fby_token_type_name(out->type));
    }
    return out->packed != NULL
               ? read_documents(file, end, out, why)
               : fby_sequences_add(out, 0, file->size / width, why);
}
