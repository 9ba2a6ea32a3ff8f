/* token_file.h - the readers of token files: what their headers say.
 *
 * Each finds the runs of tokens in one file and trusts it in nothing: every
 * offset and size is checked against the file before it is used. Tokens
 * themselves are not looked at, but where one ends documents.
 *   flat      numbers of one type, and nothing else
 *   mds       a shard of MosaicML's streaming, version 2, not compressed: a
 *             sample is a document, one of its columns the tokens
 *   megatron  the .idx beside a .bin: magic, type, and of each sequence in it
 *             its length and place */
#ifndef FBY_WORKER_SOURCE_TOKENS_TOKEN_FILE_H
#define FBY_WORKER_SOURCE_TOKENS_TOKEN_FILE_H

#include <stdatomic.h>

#include "worker/source/object.h"
#include "worker/source/tokens/sequences.h"

struct fby_token_file {
    const struct fby_object *object; /* borrowed */
    uint64_t                 size;   /* bytes */
    const atomic_bool       *stop;   /* give up soon after it turns true */
};

/* Add the runs of `file` to `out`, and its type where `out` has none; also its
 * documents, where those are packed: of a flat file each ends with its token
 * `end`. All:
 * Errors: FBY_CONFIG  what the file says is wrong, or another type than said
 *         FBY_IO      it cannot be read;  FBY_GONE  stopped. */
FBY_CHECKED fby_err fby_flat_read(const struct fby_token_file *file,
    uint32_t end, struct fby_sequences *out, struct fby_why *why);

FBY_CHECKED fby_err fby_mds_read(const struct fby_token_file *file,
    const char *column, struct fby_sequences *out, struct fby_why *why);

/* `file` is the .idx; the .bin has `bin_size` bytes. */
FBY_CHECKED fby_err fby_megatron_read(const struct fby_token_file *file,
    uint64_t bin_size, struct fby_sequences *out, struct fby_why *why);

/* `bytes` bytes from `at` on; what lies behind the end is FBY_CONFIG. */
FBY_CHECKED fby_err fby_token_file_bytes(const struct fby_token_file *file,
    uint64_t at, void *out, size_t bytes, struct fby_why *why);

/* Take the type that a file says, which must be `type`'s if that was said. */
FBY_CHECKED fby_err fby_token_file_type(
    enum fby_type found, struct fby_sequences *out, struct fby_why *why);

/* "u16". */
const char *fby_token_type_name(enum fby_type type);

#endif
