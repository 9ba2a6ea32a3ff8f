/* SPDX-License-Identifier: Apache-2.0 */
/* token_file.h - readers of token files, one for each format.
 *
 * A reader finds the runs of tokens (sequences.h) in one file. The file is
 * untrusted: every offset and size is checked against the size of the file
 * before it is used. Only headers and tables are read, except that a packed
 * flat file is read whole, to find its end tokens.
 *   flat      numbers of one type, without a header
 *   mds       a shard of MosaicML's streaming, version 2, not compressed: each
 *             sample is a document, with its tokens in one of the columns
 *   megatron  a .bin file of tokens, and a .idx file beside it: the type of the
 *             tokens, and the length and offset of each run in the .bin */
#ifndef FBY_WORKER_SOURCE_TOKENS_TOKEN_FILE_H
#define FBY_WORKER_SOURCE_TOKENS_TOKEN_FILE_H

#include <stdatomic.h>

#include "worker/source/object.h"
#include "worker/source/tokens/sequences.h"

struct fby_token_file {              /* an open token file, or its .idx file */
    const struct fby_object *object; /* borrowed */
    uint64_t                 size;   /* bytes */
    const atomic_bool       *stop;   /* true: return FBY_GONE soon */
};

/* All readers append the runs of `file` to `out`, set out->type if it is 0, and
 * call fby_sequences_end_document() after each document.
 * Errors: FBY_CONFIG  a damaged file, or its type is not out->type
 *         FBY_IO, FBY_GONE (*stop became true) */

/* Read a flat file. With packing, each document ends with the token `end`. */
FBY_CHECKED fby_err fby_flat_read(const struct fby_token_file *file,
    uint32_t end, struct fby_sequences *out, struct fby_error_detail *why);

/* Set *out to the type of the tokens in a file of llm.c, or to 0: it is another file.
 * Errors: FBY_IO. */
FBY_CHECKED fby_err fby_llmc_find_type(const struct fby_object *object,
    uint64_t size, enum fby_type *out, struct fby_error_detail *why);

/* Refuse a file of llm.c, whose header would be taken for tokens.
 * Errors: FBY_CONFIG  such a file; `why` has a command;  FBY_IO. */
FBY_CHECKED fby_err fby_llmc_refuse(const struct fby_object *object,
    uint64_t size, struct fby_error_detail *why);

/* Read an MDS shard. The tokens are in its column named `column`. */
FBY_CHECKED fby_err fby_mds_read(const struct fby_token_file *file,
    const char *column, struct fby_sequences *out,
    struct fby_error_detail *why);

/* Read a Megatron index. `file` is the .idx; the .bin has `bin_size` bytes. */
FBY_CHECKED fby_err fby_megatron_read(const struct fby_token_file *file,
    uint64_t bin_size, struct fby_sequences *out, struct fby_error_detail *why);

/* Read exactly `bytes` bytes of the file, from byte `at` on.
 * Errors: FBY_CONFIG  the file has too few bytes;  FBY_IO, FBY_GONE. */
FBY_CHECKED fby_err fby_token_file_read(const struct fby_token_file *file,
    uint64_t at, void *out, size_t bytes, struct fby_error_detail *why);

/* Set out->type to `found`, the type that the file declares.
 * Errors: FBY_CONFIG  the pipeline has another type. */
FBY_CHECKED fby_err fby_token_file_set_type(enum fby_type found,
    struct fby_sequences *out, struct fby_error_detail *why);

#endif
