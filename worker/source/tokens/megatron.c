/* megatron.c - the .idx of Megatron's indexed datasets.
 *
 *     0   9  "MMIDIDX\0\0"
 *     9   8  version: 1
 *    17   1  code of the type
 *    18   8  n, sequences
 *    26   8  m, ends of documents (documents + 1)
 *    34  4n  tokens of each sequence, i32
 *        8n  byte in the .bin of each, i64
 *        8m  first sequence of each document, i64
 *         n  modes, only of multimodal ones
 *
 * The sequences are the runs, in their order; where documents begin matters
 * only where those are packed. */
#include <inttypes.h>
#include <string.h>

#include "common/bytes.h"
#include "worker/source/tokens/token_file.h"

enum {
    HEADER    = 34,
    PIECE     = 4096, /* sequences looked at in one go */
    SIZE_SIZE = 4,    /* bytes of a sequence's length, */
    AT_SIZE   = 8,    /* and of its place */
    END_SIZE  = 8
};

static const char magic[9] = "MMIDIDX\0"; /* and the NUL of the literal */

struct head {
    uint64_t sequences;
    uint64_t ends;
    uint8_t  code;
};

static enum fby_type type_of(uint8_t code)
{
    static const enum fby_type types[] = {
        [1] = FBY_U8, [4] = FBY_I32, [5] = FBY_I64, [8] = FBY_U16};
    return code < sizeof(types) / sizeof(types[0]) ? types[code]
                                                   : (enum fby_type)0;
}

/* The numbers may be anything: no product is made before they are checked. */
static bool has_right_size(const struct head *head, uint64_t size)
{
    uint64_t room = size - HEADER;
    uint64_t each = SIZE_SIZE + AT_SIZE;
    if (head->sequences > room / each ||
        head->ends > (room - head->sequences * each) / END_SIZE) {
        return false;
    }
    uint64_t rest = room - head->sequences * each - head->ends * END_SIZE;
    return rest == 0 || rest == head->sequences;
}

static fby_err read_head(
    const struct fby_token_file *file, struct head *out, struct fby_why *why)
{
    uint8_t bytes[HEADER];
    fby_err err = fby_token_file_bytes(file, 0, bytes, sizeof(bytes), why);
    if (err != FBY_OK) {
        return err;
    }
    struct fby_reader r       = fby_reader(bytes, sizeof(bytes));
    const uint8_t    *mark    = fby_read_bytes(&r, sizeof(magic));
    uint64_t          version = fby_read_u64(&r);
    out->code                 = fby_read_u8(&r);
    out->sequences            = fby_read_u64(&r);
    out->ends                 = fby_read_u64(&r);
    if (memcmp(mark, magic, sizeof(magic)) != 0 || version != 1) {
        return fby_because(why, FBY_CONFIG,
            "it does not begin with MMIDIDX, version 1: no index of Megatron's "
            "indexed datasets");
    }
    return has_right_size(out, file->size)
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "%" PRIu64 " bytes are not what %" PRIu64
                     " sequences and %" PRIu64
                     " ends of documents take: cut short?",
                     file->size, out->sequences, out->ends);
}

struct reading {
    const struct fby_token_file *file;
    struct head                  head;
    uint64_t                     bin_size;
    struct fby_sequences        *out;
    uint64_t                     begins; /* entries of the ends read so far */
    uint64_t                     begin;  /* the last one: a document begins
                                            before this sequence */
    uint8_t                      ends[PIECE * END_SIZE];
};

/* The next entry of the list of documents; the last one is where they end. */
static fby_err next_begin(struct reading *r, struct fby_why *why)
{
    uint64_t before = r->begin;
    uint64_t n      = r->head.ends - r->begins;
    size_t   place  = r->begins % PIECE;
    fby_err  err    = FBY_OK;
    if (place == 0) {
        uint64_t at = HEADER + r->head.sequences * (SIZE_SIZE + AT_SIZE) +
                      r->begins * END_SIZE;
        size_t more = n < PIECE ? (size_t)n : PIECE;
        err = fby_token_file_bytes(r->file, at, r->ends, more * END_SIZE, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    struct fby_reader number = fby_reader(r->ends + place * END_SIZE, END_SIZE);
    r->begin                 = fby_read_u64(&number);
    return r->begin >= before && r->begin <= r->head.sequences &&
                   (r->begins++ > 0 || r->begin == 0)
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "its documents begin with sequence %" PRId64
                     " behind %" PRIu64 ", of %" PRIu64,
                     (int64_t)r->begin, before, r->head.sequences);
}

/* All documents that end before sequence `i`. */
static fby_err end_documents(struct reading *r, uint64_t i, struct fby_why *why)
{
    fby_err err = FBY_OK;
    while (err == FBY_OK && r->out->packed != NULL &&
           r->begins < r->head.ends && (r->begins == 0 || r->begin == i)) {
        err = fby_sequences_end_document(r->out, why);
        if (err == FBY_OK) {
            err = next_begin(r, why);
        }
    }
    return err;
}

static fby_err add_sequence(
    const struct reading *r, int32_t tokens, int64_t at, struct fby_why *why)
{
    uint64_t bytes = (uint64_t)tokens * fby_type_bytes(r->out->type);
    if (tokens < 0 || at < 0 || (uint64_t)at > r->bin_size ||
        bytes > r->bin_size - (uint64_t)at) {
        return fby_because(why, FBY_CONFIG,
            "a sequence of %" PRId32 " tokens at byte %" PRId64
            " does not lie within the %" PRIu64 " bytes of the .bin",
            tokens, at, r->bin_size);
    }
    return fby_sequences_add(r->out, (uint64_t)at, (uint64_t)tokens, why);
}

/* PIECE sequences from number `first` on, or as many as are left. */
static fby_err read_piece(
    struct reading *r, uint64_t first, struct fby_why *why)
{
    uint8_t  sizes[PIECE * SIZE_SIZE];
    uint8_t  places[PIECE * AT_SIZE];
    uint64_t all = r->head.sequences;
    size_t   n   = all - first < PIECE ? (size_t)(all - first) : PIECE;
    uint64_t at  = HEADER + first * SIZE_SIZE;
    fby_err  err = fby_token_file_bytes(r->file, at, sizes, n * SIZE_SIZE, why);
    at           = HEADER + all * SIZE_SIZE + first * AT_SIZE;
    if (err == FBY_OK) {
        err = fby_token_file_bytes(r->file, at, places, n * AT_SIZE, why);
    }
    struct fby_reader lengths = fby_reader(sizes, sizeof(sizes));
    struct fby_reader begins  = fby_reader(places, sizeof(places));
    for (size_t i = 0; err == FBY_OK && i < n; i++) {
        int32_t tokens = (int32_t)fby_read_u32(&lengths);
        int64_t begin  = (int64_t)fby_read_u64(&begins);
        err            = end_documents(r, first + i, why);
        if (err == FBY_OK) {
            err = add_sequence(r, tokens, begin, why);
        }
    }
    return err;
}

fby_err fby_megatron_read(const struct fby_token_file *file, uint64_t bin_size,
    struct fby_sequences *out, struct fby_why *why)
{
    struct reading r   = {.file = file, .bin_size = bin_size, .out = out};
    fby_err        err = read_head(file, &r.head, why);
    if (err == FBY_OK && type_of(r.head.code) == 0) {
        err = fby_because(why, FBY_CONFIG,
            "its tokens are of code %u; read are 1 (uint8), 4 (int32), 5 "
            "(int64) and 8 (uint16)",
            r.head.code);
    }
    if (err == FBY_OK) {
        err = fby_token_file_type(type_of(r.head.code), out, why);
    }
    for (uint64_t i = 0; err == FBY_OK && i < r.head.sequences; i += PIECE) {
        err = read_piece(&r, i, why);
    }
    if (err == FBY_OK) {
        err = end_documents(&r, r.head.sequences, why);
    }
    return err == FBY_OK ? fby_sequences_end_document(out, why) : err;
}
