/* segment.h - what a device does with a batch: pieces of memory, one by one.
 *
 * A batch comes to a device as one run of bytes, the arena: all that is read,
 * then a list of segments. A segment is a chunk, or the whole of a field, and
 * says where it lies, what becomes of it and where that goes; it is cut into
 * blocks of like work that know nothing of each other, and the list says which
 * block is of which segment. So one launch does a whole batch, whatever is in
 * it; ops that look at levels take a second, and a third where contrast needs
 * a mean first. Compiled as C and as CUDA: plain numbers only. */
#ifndef FBY_CLIENT_EXPAND_SEGMENT_H
#define FBY_CLIENT_EXPAND_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

enum fby_segment_kind {
    FBY_SEGMENT_COPY    = 0,  /* bytes as they are */
    FBY_SEGMENT_PIXELS  = 1,  /* u8, interleaved: scaled, cast, laid out */
    FBY_SEGMENT_TILES   = 2,  /* the same out of a payload of photo format 1 */
    FBY_SEGMENT_VALUES  = 3,  /* any type to any other, scaled or not */
    FBY_SEGMENT_ONE_HOT = 4,  /* ids to rows of `classes` values */
    FBY_SEGMENT_BITS    = 5,  /* eight to a byte, to `classes` maps */
    FBY_SEGMENT_PLANES  = 6,  /* pictures of yuv420, raw, tile by tile */
    FBY_SEGMENT_PADDED  = 7,  /* rows of several lengths, padded; and lengths */
    FBY_SEGMENT_OFFSETS = 8,  /* where each of them begins */
    FBY_SEGMENT_MIX     = 9,  /* ids to rows, mixed with their partners' */
    FBY_SEGMENT_GREYS   = 10, /* pictures: sums of grey, for contrast */
    FBY_SEGMENT_OPS     = 11, /* pictures through the ops of the device */
    FBY_SEGMENT_DENSE   = 12, /* sparse rows with all their zeros */
    FBY_SEGMENT_COO     = 13, /* the place of each of their values */
    FBY_SEGMENT_POSITIONS = 14, /* of tokens in their documents */
    FBY_SEGMENT_MASK      = 15  /* those of them that count */
};

/* A launch each, where there is anything to do; later ones read what earlier
 * ones put into the arena. */
enum fby_pass {
    FBY_PASS_EXPAND = 0, /* all but these: */
    FBY_PASS_GREYS  = 1,
    FBY_PASS_OPS    = 2,
    FBY_PASSES      = 3
};

enum {
    FBY_BLOCK_THREADS  = 256,
    FBY_BLOCK_QUADS    = 4 * FBY_BLOCK_THREADS,  /* PIXELS: of four pixels */
    FBY_BLOCK_VALUES   = 8 * FBY_BLOCK_THREADS,  /* VALUES, ONE_HOT, BITS,
                                                    PADDED, MIX, DENSE, COO,
                                                    POSITIONS, MASK */
    FBY_BLOCK_PIXELS   = 8 * FBY_BLOCK_THREADS,  /* GREYS, OPS */
    FBY_BLOCK_BYTES    = 64 * FBY_BLOCK_THREADS, /* COPY */
    FBY_BLOCK_ROWS     = FBY_BLOCK_THREADS,      /* PADDED, OFFSETS, DENSE,
                                                    COO: a group */
    FBY_SEGMENT_ALIGN  = 16,                     /* of what segments read */
    FBY_TILE_STRIDE    = 264, /* bytes of a row of a tile at work: 8 more */
    FBY_TILE_ROWS      = 32,
    FBY_TILE_PACKED    = 3 * (256 + 8192), /* bytes of the largest */
    FBY_TILE_READ_OVER = 16 /* bytes after a staged tile, zeros */
};

enum { FBY_MIRROR_X = 1, FBY_MIRROR_Y = 2 };

/* In a table of documents: this one is what fills a row up. */
#define FBY_DOCUMENT_PADDING (UINT32_C(1) << 31)

/* Scales and offsets that a segment has room for. */
enum { FBY_SEGMENT_FACTORS = 4 };

/* The most that one segment is told to do. */
#define FBY_SEGMENT_MAX (UINT32_C(1) << 30)

struct fby_segment {
    uint64_t in;           /* where in the arena */
    uint64_t out;          /* where in the tensors' memory */
    uint64_t image_bytes;  /* PIXELS, TILES: from one image to the next, out */
    uint64_t values;       /* PADDED, DENSE: in the arena; GREYS, OPS: sums,
                             u64 a row, in the arena, 0: there are none;
                             VALUES of more channels than `scale` has: all
                             scales, then all offsets, in the arena */
    uint64_t indices;      /* DENSE, COO: in the arena */
    uint64_t total;        /* COO: values of the field */
    uint64_t groups;       /* PADDED, OFFSETS, DENSE, COO: in the arena; of each
                             group the entries of the field before it, u64 */
    uint64_t lengths;      /* PADDED: like `out`, of the lengths */
    uint64_t pad;          /* PADDED: its bits */
    uint64_t ops;          /* GREYS, OPS: struct fby_ops_plan, in the arena */
    uint64_t draws;        /* GREYS, OPS, MIX: struct fby_ops_row a row, in the
                             arena; PIXELS, TILES, PLANES: mirrors, u8 a row, of
                             bits FBY_MIRROR_X and _Y; 0: none are drawn */
    uint32_t n;            /* COPY: bytes; VALUES, ONE_HOT, BITS: values out;
                             PIXELS: quads; TILES, PLANES: tiles; PADDED,
                             OFFSETS, DENSE, COO, GREYS, OPS: blocks; MIX,
                             POSITIONS, MASK: values out */
    uint32_t kind;         /* enum fby_segment_kind */
    uint32_t first_block;  /* of the launch */
    uint32_t out_in_arena; /* `out` is in the arena, behind what was copied */
    uint32_t bytes;        /* TILES: of the payload */
    uint32_t from, to;     /* enum fby_type */
    uint32_t channels;     /* PIXELS, TILES: of a pixel; VALUES: 0 not scaled */
    uint32_t planar;       /* PIXELS, TILES, VALUES: channel after channel */
    uint32_t yuv420;       /* TILES, PLANES: in planes */
    uint32_t width;        /* TILES, PLANES: of a picture */
    uint32_t lines;        /* TILES, PLANES: of a picture here */
    uint32_t pixels;       /* PIXELS, TILES, BITS: of an image here */
    uint32_t first_pixel;  /* that they begin with; VALUES: first value, planar
                             of its sample */
    uint32_t plane;        /* pixels of a whole image; planar VALUES: likewise,
                             of `classes` channels */
    uint32_t on, off;      /* ONE_HOT, BITS, MASK: bits of the two values; MIX:
                             of binary32 */
    uint32_t classes;
    uint32_t rows;         /* PADDED, OFFSETS, DENSE, COO: whose lengths are at
                              `in` */
    uint32_t first_row;    /* OFFSETS, COO: in the field; MIX: that it begins
                              with */
    uint32_t length_bytes; /* of one length */
    uint32_t index_bytes;  /* DENSE, COO: of one index */
    uint32_t n_dims;       /* COO: of a dense row */
    uint32_t dims[4];
    uint32_t parts;      /* blocks of a group, of a picture; OFFSETS: 1 */
    uint32_t row_values; /* PADDED, DENSE: of every row out */
    uint32_t entry;      /* PADDED: values of an entry */
    uint32_t documents;  /* POSITIONS, MASK: at `in`, u32 each: the number of
                              tokens before its end, ascending, with
                              FBY_DOCUMENT_PADDING */
    uint32_t shift;      /* MASK: 1: last tokens do not count */
    float    scale[FBY_SEGMENT_FACTORS];
    float    offset[FBY_SEGMENT_FACTORS];
};

/* At a multiple of 16 in the arena. */
struct fby_segment_list {
    uint32_t n_segments;
    uint32_t blocks[FBY_PASSES]; /* pass by pass; in all the owners' table */
    uint32_t shared; /* bytes of shared memory that a block needs at most */
    uint32_t zero;
    /* then n_segments of struct fby_segment, then a u32 a block: which one */
};

#endif
