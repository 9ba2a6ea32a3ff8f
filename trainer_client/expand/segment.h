/* segment.h - the device's work for one batch, as a list in its arena.
 *
 * arena     the bytes of one batch, contiguous: all that is read, then the list
 * segment   a unit of work: what to read, what to do, where to write. It is
 *           made from a piece (segments.h), which is a chunk or a whole field.
 * block     the share of one block of threads. The blocks of a segment are
 *           alike and independent; the list says which block is of which
 *           segment.
 * group     256 rows of a ragged field (FBY_BLOCK_ROWS)
 * part      one of the blocks that share a group or a picture
 *
 * So one launch does a whole batch, whatever fields it has. Ops that work on
 * levels take a second pass, and a third if contrast needs a mean first.
 * Compiled as C and as CUDA: plain numbers only. */
#ifndef FBY_CLIENT_EXPAND_SEGMENT_H
#define FBY_CLIENT_EXPAND_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

enum fby_segment_kind {
    FBY_SEGMENT_COPY      = 0,  /* bytes unchanged */
    FBY_SEGMENT_PIXELS    = 1,  /* u8, interleaved: scaled, cast, laid out */
    FBY_SEGMENT_TILES     = 2,  /* the same from a payload of photo format 1 */
    FBY_SEGMENT_VALUES    = 3,  /* any type to any other, scaled or not */
    FBY_SEGMENT_ONE_HOT   = 4,  /* ids to rows of `classes` values */
    FBY_SEGMENT_BITS      = 5,  /* eight to a byte, to `classes` maps */
    FBY_SEGMENT_PLANES    = 6,  /* raw yuv420 pictures, tile by tile */
    FBY_SEGMENT_PADDED    = 7,  /* ragged rows to padded values, and lengths */
    FBY_SEGMENT_OFFSETS   = 8,  /* ragged or sparse rows to offsets */
    FBY_SEGMENT_MIX       = 9,  /* ids to rows, mixed with their partners' */
    FBY_SEGMENT_GREYS     = 10, /* pictures to sums of grey, for contrast */
    FBY_SEGMENT_OPS       = 11, /* pictures through the ops of the device */
    FBY_SEGMENT_DENSE     = 12, /* sparse rows with all their zeros */
    FBY_SEGMENT_COO       = 13, /* sparse rows to coordinates */
    FBY_SEGMENT_POSITIONS = 14, /* documents to positions of tokens */
    FBY_SEGMENT_MASK      = 15  /* documents to the tokens that count */
};

/* Each pass is one launch if it has blocks. Later passes read what earlier ones
 * wrote to the arena. */
enum fby_pass {
    FBY_PASS_EXPAND = 0, /* all kinds except the next two */
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
    FBY_SEGMENT_ALIGN  = 16,                     /* of all that is read */
    FBY_TILE_STRIDE    = 264, /* bytes of an unpacked row: 256 + 8 */
    FBY_TILE_ROWS      = 32,
    FBY_TILE_PACKED    = 3 * (256 + 8192), /* bytes of the largest tile */
    FBY_TILE_READ_OVER = 16                /* zero bytes after a staged tile */
};

enum { FBY_MIRROR_X = 1, FBY_MIRROR_Y = 2 };

/* In a table of documents: marks the padding of a row. */
#define FBY_DOCUMENT_PADDING (UINT32_C(1) << 31)

/* The most channels whose scale and offset fit into a segment. */
enum { FBY_SEGMENT_FACTORS = 4 };

/* The largest `n` of a segment. */
#define FBY_SEGMENT_MAX (UINT32_C(1) << 30)

/* Members named in capitals are used by these kinds only. "arena" marks an
 * offset in the arena, "out" one in the memory of the tensors. */
struct fby_segment {
    uint64_t in;           /* arena */
    uint64_t out;          /* out */
    uint64_t image_bytes;  /* PIXELS, TILES: from one image to the next, out */
    uint64_t values;       /* PADDED, DENSE: arena; GREYS, OPS: arena, sums of
                              grey, u64 per row, 0: none; VALUES with more
                              channels than `scale` holds: arena, all scales,
                              then all offsets */
    uint64_t indices;      /* DENSE, COO: arena */
    uint64_t total;        /* COO: values of the field */
    uint64_t groups;       /* PADDED, OFFSETS, DENSE, COO: arena; per group the
                              entries of the field before it, u64 */
    uint64_t lengths;      /* PADDED: out, of the lengths */
    uint64_t pad;          /* PADDED: bits of the padding value */
    uint64_t ops;          /* GREYS, OPS: arena, struct fby_ops_plan */
    uint64_t draws;        /* GREYS, OPS, MIX: arena, a struct fby_ops_row per
                              row; PIXELS, TILES, PLANES: arena, a u8 per row
                              with bits FBY_MIRROR_X and _Y; 0: none */
    uint32_t n;            /* COPY: bytes; VALUES, ONE_HOT, BITS, MIX,
                              POSITIONS, MASK: values out; PIXELS: quads; TILES,
                              PLANES: tiles; PADDED, OFFSETS, DENSE, COO, GREYS,
                              OPS: blocks */
    uint32_t kind;         /* enum fby_segment_kind */
    uint32_t first_block;  /* in the list, over all passes */
    uint32_t out_in_arena; /* `out` is in the arena, after the copied bytes */
    uint32_t bytes;        /* TILES: of the payload */
    uint32_t from, to;     /* enum fby_type */
    uint32_t channels;    /* PIXELS, TILES: of a pixel; VALUES, 0: not scaled */
    uint32_t planar;      /* PIXELS, TILES, VALUES: channel after channel */
    uint32_t yuv420;      /* TILES, PLANES: YUV planes */
    uint32_t width;       /* TILES, PLANES: of a picture */
    uint32_t lines;       /* TILES, PLANES: of a picture in this segment */
    uint32_t pixels;      /* PIXELS, TILES, BITS: of an image in this segment */
    uint32_t first_pixel; /* the first of these in the image; VALUES: channel
                              of the first value, planar: its number in the
                              sample */
    uint32_t plane;       /* pixels of a whole image; planar VALUES: the same,
                              with `classes` channels */
    uint32_t on, off;     /* ONE_HOT, BITS, MASK: bits of the two values; MIX:
                              the same in binary32 */
    uint32_t classes;
    uint32_t rows;         /* PADDED, OFFSETS, DENSE, COO: rows, whose lengths
                              are at `in` */
    uint32_t first_row;    /* OFFSETS, COO: in the field; MIX: in the batch */
    uint32_t length_bytes; /* of one length */
    uint32_t index_bytes;  /* DENSE, COO: of one index */
    uint32_t n_dims;       /* COO: of a dense row */
    uint32_t dims[4];
    uint32_t parts;      /* blocks per group or per picture; OFFSETS: 1 */
    uint32_t row_values; /* PADDED, DENSE: values of every row out */
    uint32_t entry;      /* PADDED: values of an entry */
    uint32_t documents;  /* POSITIONS, MASK: entries of the table at `in`, see
                              fby_documents_table; ends ascend */
    uint32_t shift;      /* MASK, 1: last tokens do not count */
    float    scale[FBY_SEGMENT_FACTORS];
    float    offset[FBY_SEGMENT_FACTORS];
};

/* The head of the list, at a multiple of 16 in the arena. */
struct fby_segment_list {
    uint32_t n_segments;
    uint32_t blocks[FBY_PASSES]; /* per pass; their sum is the table's length */
    uint32_t shared; /* most bytes of shared memory that a block needs */
    uint32_t zero;
    /* Then n_segments of struct fby_segment, then the table: for each block a
     * u32, the number of its segment. */
};

#endif
