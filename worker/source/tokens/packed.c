/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/tokens/packed.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

/* A length is encoded as a LEB128 number: 7 bits a byte, the lowest first. */
enum {
    SEVEN_BITS       = 0x7f,
    MORE_FOLLOWS     = 0x80, /* bit of a byte: another byte follows */
    MAX_LENGTH_BYTES = 9     /* 9 bytes have 63 bits */
};

struct fby_packed *fby_packed_create(uint32_t length)
{
    struct fby_packed *self = fby_zalloc(sizeof(*self));
    self->length            = length;
    return self;
}

void fby_packed_free(struct fby_packed **self_p)
{
    struct fby_packed *self = *self_p;
    if (self != NULL) {
        *self_p = NULL;
        fby_buffer_fini(&self->lengths);
        free(self->first_piece);
        free(self->piece_begin);
        free(self->piece_size);
        free(self);
    }
}

/* ---- lengths ------------------------------------------------------------- */

static void put_length(struct fby_buffer *out, uint64_t tokens)
{
    while (tokens > SEVEN_BITS) {
        fby_put_u8(out, (uint8_t)((tokens & SEVEN_BITS) | MORE_FOLLOWS));
        tokens >>= 7;
    }
    fby_put_u8(out, (uint8_t)tokens);
}

/* Read a length, which is at least 1. Returns 0 if it is damaged, or not in the
 * shortest form: then its last byte is 0, but not its only one. */
static uint64_t read_length(struct fby_reader *r)
{
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < MAX_LENGTH_BYTES; i++) {
        uint8_t byte = fby_read_u8(r);
        tokens |= (uint64_t)(byte & SEVEN_BITS) << 7 * i;
        if ((byte & MORE_FOLLOWS) == 0) {
            bool is_shortest = byte != 0 || i == 0;
            return !r->bad && is_shortest ? tokens : 0;
        }
    }
    return 0;
}

fby_err fby_packed_add(
    struct fby_packed *self, uint64_t tokens, struct fby_error_detail *why)
{
    uint64_t pieces = tokens / self->length + (tokens % self->length != 0);
    if (pieces > (uint64_t)FBY_PACKED_MAX_PIECES - self->pieces) {
        return fby_error_set(why, FBY_CONFIG,
            "more than %d pieces of documents (a piece has at most the %u "
            "tokens of a sequence); cut it into smaller files",
            FBY_PACKED_MAX_PIECES, self->length);
    }
    if (tokens > 0) {
        put_length(&self->lengths, tokens);
        self->documents++;
        self->tokens += tokens;
        self->pieces += (uint32_t)pieces;
    }
    return FBY_OK;
}

fby_err fby_packed_read(struct fby_packed *self, const uint8_t *lengths,
    size_t size, uint64_t tokens, struct fby_error_detail *why)
{
    struct fby_reader r = fby_reader(lengths, size);
    while (r.left > 0) {
        uint64_t length = read_length(&r);
        if (length == 0 || length > tokens - self->tokens) {
            return fby_error_set(why, FBY_PROTO,
                "manifest of a shard: a damaged length of a document, or more "
                "tokens in documents than in runs");
        }
        if (fby_packed_add(self, length, why) != FBY_OK) {
            return FBY_PROTO;
        }
    }
    return self->tokens == tokens
               ? FBY_OK
               : fby_error_set(why, FBY_PROTO,
                     "manifest of a shard: fewer tokens in documents than in "
                     "runs");
}

/* ---- packing ------------------------------------------------------------- */

struct open_sequence { /* a sequence that more pieces fit into */
    uint32_t space;    /* number of tokens that still fit */
    uint32_t number;   /* of the sequence */
};

struct packing {
    struct fby_packed *packed;
    uint32_t          *sequence_of; /* per piece: number of its sequence */
    uint32_t           next_piece;  /* number of the next piece */
    uint32_t           n_open;      /* number of entries of open[] */
    /* Sorted by space and, among equal spaces, by number. */
    struct open_sequence open[FBY_PACKED_MAX_OPEN];
};

static bool is_before(struct open_sequence a, struct open_sequence b)
{
    return a.space != b.space ? a.space < b.space : a.number < b.number;
}

/* The index in open[] where `sequence` belongs: the number of open sequences
 * before it. */
static uint32_t find_index(
    const struct packing *p, struct open_sequence sequence)
{
    uint32_t low  = 0;
    uint32_t high = p->n_open;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_before(p->open[middle], sequence)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct open_sequence remove_open(struct packing *p, uint32_t i)
{
    struct open_sequence removed = p->open[i];
    p->n_open--;
    memmove(&p->open[i], &p->open[i + 1], (p->n_open - i) * sizeof(p->open[0]));
    return removed;
}

static void insert_open(struct packing *p, struct open_sequence sequence)
{
    uint32_t i = find_index(p, sequence);
    memmove(&p->open[i + 1], &p->open[i], (p->n_open - i) * sizeof(p->open[0]));
    p->open[i] = sequence;
    p->n_open++;
}

/* Begin a sequence for a piece of `size` tokens. If the piece will not fill it
 * and open[] is full, close the fullest open sequence, which is open[0]. */
static struct open_sequence begin_sequence(struct packing *p, uint32_t size)
{
    if (size < p->packed->length && p->n_open == FBY_PACKED_MAX_OPEN) {
        (void)remove_open(p, 0);
    }
    return (struct open_sequence){
        .space = p->packed->length, .number = p->packed->sequences++};
}

/* Put the next piece into the open sequence where it leaves the least space, or
 * into a new sequence. */
static void assign_piece(struct packing *p, uint32_t size)
{
    /* open[i] has the least space of those in which the piece fits. */
    uint32_t i = find_index(p, (struct open_sequence){.space = size});
    struct open_sequence sequence =
        i < p->n_open ? remove_open(p, i) : begin_sequence(p, size);
    p->sequence_of[p->next_piece++] = sequence.number;
    sequence.space -= size;
    if (sequence.space > 0) {
        insert_open(p, sequence);
    }
}

/* Call `visit` for each piece of each document, in order. */
static void for_each_piece(
    struct packing *p, void (*visit)(struct packing *p, uint32_t size))
{
    const struct fby_packed *packed = p->packed;
    struct fby_reader        r =
        fby_reader(packed->lengths.data, packed->lengths.size);
    while (r.left > 0) {
        uint64_t left = read_length(&r);
        while (left > 0) {
            uint32_t size =
                left < packed->length ? (uint32_t)left : packed->length;
            visit(p, size);
            left -= size;
        }
    }
}

/* Store the next piece in its sequence: the last step of a counting sort.
 * first_piece[s + 1] is the index of the next piece of sequence s. After the
 * last piece of s, it is the index of the first piece of s + 1. */
static void store_piece(struct packing *p, uint32_t size)
{
    struct fby_packed *packed = p->packed;
    uint32_t           s      = p->sequence_of[p->next_piece++];
    uint32_t           i      = packed->first_piece[s + 1]++;
    packed->piece_begin[i]    = packed->tokens;
    packed->piece_size[i]     = size;
    packed->tokens += size;
}

void fby_packed_finish(struct fby_packed *self)
{
    struct packing p = {.packed = self};
    p.sequence_of    = fby_zalloc(self->pieces * sizeof(*p.sequence_of));
    for_each_piece(&p, assign_piece);
    /* Count the pieces of sequence s in first_piece[s + 2]. Then the sums put
     * the first piece of s into first_piece[s + 1], as store_piece() needs. */
    self->first_piece =
        fby_zalloc(((size_t)self->sequences + 2) * sizeof(uint32_t));
    for (uint32_t i = 0; i < self->pieces; i++) {
        self->first_piece[p.sequence_of[i] + 2]++;
    }
    for (uint32_t s = 0; s < self->sequences; s++) {
        self->first_piece[s + 2] += self->first_piece[s + 1];
    }
    self->piece_begin = fby_zalloc(self->pieces * sizeof(*self->piece_begin));
    self->piece_size  = fby_zalloc(self->pieces * sizeof(*self->piece_size));
    self->tokens      = 0; /* store_piece() counts the tokens again */
    p.next_piece      = 0;
    for_each_piece(&p, store_piece);
    free(p.sequence_of);
}

uint32_t fby_packed_count_tokens(
    const struct fby_packed *self, uint32_t sequence)
{
    uint32_t tokens = 0;
    uint32_t end    = self->first_piece[sequence + 1];
    for (uint32_t i = self->first_piece[sequence]; i < end; i++) {
        tokens += self->piece_size[i];
    }
    return tokens;
}
