/* SPDX-License-Identifier: Apache-2.0 */
/* megatron.c - the .idx file of Megatron's indexed datasets.
 *
 *  offset  bytes
 *       0      9  "MMIDIDX\0\0"
 *       9      8  version: 1
 *      17      1  code of the type of the tokens
 *      18      8  n, the number of sequences
 *      26      8  m, the number of bounds: one more than documents
 *      34     4n  number of tokens of each sequence, i32
 *             8n  offset of each sequence in the .bin, i64
 *             8m  bounds: first sequence of each document, then n, i64
 *              n  modes, only in multimodal datasets
 *
 * Here a sequence is one of Megatron's: a run of tokens in the .bin, which
 * sequences.h cuts or packs into the sequences of the dataset. The bounds are
 * read only with packing. */
#include <inttypes.h>
#include <string.h>

#include "common/bytes.h"
#include "worker/source/tokens/token_file.h"

enum {
    HEADER_SIZE   = 34,   /* bytes of the header */
    BLOCK_ENTRIES = 4096, /* sequences, or bounds, read at a time */
    LENGTH_SIZE   = 4,    /* bytes of a sequence's length */
    OFFSET_SIZE   = 8,    /* bytes of a sequence's offset */
    BOUND_SIZE    = 8     /* bytes of a bound */
};

static const char magic[9] = "MMIDIDX\0"; /* ends with two NULs */

struct megatron_header {
    uint64_t sequences; /* number of sequences */
    uint64_t bounds;    /* number of bounds */
    uint8_t  type_code;
};

/* The type with this code in Megatron; 0 if tokens cannot have it. */
static enum fby_type type_of(uint8_t code)
{
    static const enum fby_type types[] = {
        [1] = FBY_U8, [4] = FBY_I32, [5] = FBY_I64, [8] = FBY_U16};
    return code < sizeof(types) / sizeof(types[0]) ? types[code]
                                                   : (enum fby_type)0;
}

/* Does a file with this header have `size` >= HEADER_SIZE bytes? The numbers
 * are untrusted. The divisions make sure that no product overflows. */
static bool has_right_size(const struct megatron_header *header, uint64_t size)
{
    uint64_t left           = size - HEADER_SIZE; /* bytes not yet accounted */
    uint64_t sequence_bytes = LENGTH_SIZE + OFFSET_SIZE;
    if (header->sequences > left / sequence_bytes) {
        return false;
    }
    left -= header->sequences * sequence_bytes;
    if (header->bounds > left / BOUND_SIZE) {
        return false;
    }
    left -= header->bounds * BOUND_SIZE;
    bool has_modes = left == header->sequences;
    return left == 0 || has_modes;
}

static fby_err read_header(const struct fby_token_file *file,
    struct megatron_header *out, struct fby_error_detail *why)
{
    uint8_t bytes[HEADER_SIZE];
    FBY_TRY(fby_token_file_read(file, 0, bytes, sizeof(bytes), why));
    struct fby_reader r       = fby_reader(bytes, sizeof(bytes));
    const uint8_t    *begin   = fby_read_bytes(&r, sizeof(magic));
    uint64_t          version = fby_read_u64(&r);
    out->type_code            = fby_read_u8(&r);
    out->sequences            = fby_read_u64(&r);
    out->bounds               = fby_read_u64(&r);
    if (memcmp(begin, magic, sizeof(magic)) != 0 || version != 1) {
        return fby_error_set(why, FBY_CONFIG,
            "it does not begin with MMIDIDX, version 1: not an index of "
            "Megatron's indexed datasets");
    }
    return has_right_size(out, file->size)
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "%" PRIu64 " bytes are not what %" PRIu64
                     " sequences and %" PRIu64
                     " bounds of documents take: cut short?",
                     file->size, out->sequences, out->bounds);
}

struct megatron_reading { /* the state of reading one .idx file */
    const struct fby_token_file *file;
    struct megatron_header       header;
    uint64_t                     bin_size; /* bytes of the .bin */
    struct fby_sequences        *out;
    uint64_t                     bounds_read; /* number of bounds read so far */
    uint64_t bound; /* the last one read: first sequence of the next document */
    uint8_t  bounds[BLOCK_ENTRIES * BOUND_SIZE]; /* the current block */
};

/* Read the next bound. The first is 0; the others must not decrease. */
static fby_err read_next_bound(
    struct megatron_reading *r, struct fby_error_detail *why)
{
    uint64_t previous = r->bound;
    uint64_t left     = r->header.bounds - r->bounds_read;
    bool     is_first = r->bounds_read == 0;
    size_t   i        = r->bounds_read % BLOCK_ENTRIES; /* index in r->bounds */
    if (i == 0) { /* read the next block */
        uint64_t at = HEADER_SIZE +
                      r->header.sequences * (LENGTH_SIZE + OFFSET_SIZE) +
                      r->bounds_read * BOUND_SIZE;
        size_t n = left < BLOCK_ENTRIES ? (size_t)left : BLOCK_ENTRIES;
        FBY_TRY(
            fby_token_file_read(r->file, at, r->bounds, n * BOUND_SIZE, why));
    }
    r->bound = fby_load_le(r->bounds + i * BOUND_SIZE, BOUND_SIZE);
    r->bounds_read++;
    bool in_order = r->bound >= previous && r->bound <= r->header.sequences;
    bool is_valid = is_first ? r->bound == 0 : in_order;
    return is_valid ? FBY_OK
                    : fby_error_set(why, FBY_CONFIG,
                          "a document begins with sequence %" PRId64
                          " after one with %" PRIu64 "; there are %" PRIu64,
                          (int64_t)r->bound, previous, r->header.sequences);
}

/* If a document begins with sequence `i`, end the document before it, and read
 * the bound where the new one ends. This is repeated for empty documents, which
 * end where they begin; fby_sequences_end_document() ignores them. */
static fby_err end_documents(
    struct megatron_reading *r, uint64_t i, struct fby_error_detail *why)
{
    while (r->out->packed != NULL && r->bounds_read < r->header.bounds &&
           r->bound == i) {
        FBY_TRY(fby_sequences_end_document(r->out, why));
        FBY_TRY(read_next_bound(r, why));
    }
    return FBY_OK;
}

static fby_err add_sequence(const struct megatron_reading *r, int32_t tokens,
    int64_t at, struct fby_error_detail *why)
{
    uint64_t bytes = (uint64_t)tokens * fby_type_bytes(r->out->type);
    if (tokens < 0 || at < 0 || (uint64_t)at > r->bin_size ||
        bytes > r->bin_size - (uint64_t)at) {
        return fby_error_set(why, FBY_CONFIG,
            "a sequence of %" PRId32 " tokens at byte %" PRId64
            " does not lie within the %" PRIu64 " bytes of the .bin",
            tokens, at, r->bin_size);
    }
    return fby_sequences_add_run(r->out, (uint64_t)at, (uint64_t)tokens, why);
}

/* Read BLOCK_ENTRIES sequences from number `first` on, or all that remain. */
static fby_err read_block(
    struct megatron_reading *r, uint64_t first, struct fby_error_detail *why)
{
    uint8_t  raw_lengths[BLOCK_ENTRIES * LENGTH_SIZE];
    uint8_t  raw_offsets[BLOCK_ENTRIES * OFFSET_SIZE];
    uint64_t left       = r->header.sequences - first;
    size_t   n          = left < BLOCK_ENTRIES ? (size_t)left : BLOCK_ENTRIES;
    uint64_t lengths_at = HEADER_SIZE + first * LENGTH_SIZE;
    uint64_t offsets_at =
        HEADER_SIZE + r->header.sequences * LENGTH_SIZE + first * OFFSET_SIZE;
    FBY_TRY(fby_token_file_read(
        r->file, lengths_at, raw_lengths, n * LENGTH_SIZE, why));
    FBY_TRY(fby_token_file_read(
        r->file, offsets_at, raw_offsets, n * OFFSET_SIZE, why));
    struct fby_reader lengths = fby_reader(raw_lengths, sizeof(raw_lengths));
    struct fby_reader offsets = fby_reader(raw_offsets, sizeof(raw_offsets));
    for (size_t i = 0; i < n; i++) {
        int32_t tokens = (int32_t)fby_read_u32(&lengths);
        int64_t at     = (int64_t)fby_read_u64(&offsets);
        FBY_TRY(end_documents(r, first + i, why));
        FBY_TRY(add_sequence(r, tokens, at, why));
    }
    return FBY_OK;
}

fby_err fby_megatron_read(const struct fby_token_file *file, uint64_t bin_size,
    struct fby_sequences *out, struct fby_error_detail *why)
{
    struct megatron_reading r = {
        .file = file, .bin_size = bin_size, .out = out};
    FBY_TRY(read_header(file, &r.header, why));
    enum fby_type type = type_of(r.header.type_code);
    if (type == 0) {
        return fby_error_set(why, FBY_CONFIG,
            "the type of its tokens has code %u; supported are 1 (uint8), 4 "
            "(int32), 5 (int64) and 8 (uint16)",
            r.header.type_code);
    }
    FBY_TRY(fby_token_file_set_type(type, out, why));
    if (out->packed != NULL && r.header.bounds > 0) {
        FBY_TRY(read_next_bound(&r, why)); /* the first document's begin */
    }
    for (uint64_t i = 0; i < r.header.sequences; i += BLOCK_ENTRIES) {
        FBY_TRY(read_block(&r, i, why));
    }
    FBY_TRY(end_documents(&r, r.header.sequences, why));
    /* The last document ends with the file. */
    return fby_sequences_end_document(out, why);
}
