/* SPDX-License-Identifier: Apache-2.0 */
/* segment.h - a list of segments: the work of a GPU for one batch.
 *
 * arena     contiguous memory for one batch: its input, then the list
 * segment   one operation on one contiguous input. It is made from a piece
 *           (segments.h), which is a chunk or a whole field.
 * block     the work of one CUDA block of threads. It belongs to one segment,
 *           and a table in the list says to which. Blocks are independent.
 * group     256 rows of a ragged field (FBY_BLOCK_ROWS)
 * part      one of the blocks that share a group or a picture
 *
 * One launch expands all fields of a batch. The ops of the device that change
 * levels (ops.h) need a later launch. If contrast needs the mean grey, another
 * launch between the two computes it. The file is compiled as C and as CUDA. */
#ifndef FBY_CLIENT_EXPAND_SEGMENT_H
#define FBY_CLIENT_EXPAND_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

enum fby_segment_kind {
    FBY_SEGMENT_COPY      = 0,  /* copy bytes */
    FBY_SEGMENT_PIXELS    = 1,  /* scale, cast and lay out interleaved u8 */
    FBY_SEGMENT_TILES     = 2,  /* the same from a payload of photo format 1 */
    FBY_SEGMENT_VALUES    = 3,  /* cast and scale values of any type */
    FBY_SEGMENT_ONE_HOT   = 4,  /* labels to rows of `classes` values */
    FBY_SEGMENT_BITS      = 5,  /* bits to `classes` maps of values */
    FBY_SEGMENT_PLANES    = 6,  /* PIXELS from raw yuv420 pictures, by tiles */
    FBY_SEGMENT_PADDED    = 7,  /* ragged rows to padded values and lengths */
    FBY_SEGMENT_OFFSETS   = 8,  /* ragged or sparse rows to offsets of rows */
    FBY_SEGMENT_MIX       = 9,  /* labels to one-hot rows, mixed in pairs */
    FBY_SEGMENT_GREYS     = 10, /* pictures to sums of grey, for contrast */
    FBY_SEGMENT_OPS       = 11, /* apply the ops of the device to pictures */
    FBY_SEGMENT_DENSE     = 12, /* sparse rows to dense rows */
    FBY_SEGMENT_COO       = 13, /* sparse rows to coordinates */
    FBY_SEGMENT_POSITIONS = 14, /* documents to positions of tokens */
    FBY_SEGMENT_MASK      = 15, /* documents to a mask of tokens in the loss */
    FBY_SEGMENT_KINDS     = 16
};

/* A pass is one launch, unless it has no blocks. Later passes read from the
 * arena what earlier passes wrote there. */
enum fby_pass {
    FBY_PASS_EXPAND = 0, /* all other kinds */
    FBY_PASS_GREYS  = 1, /* FBY_SEGMENT_GREYS */
    FBY_PASS_OPS    = 2, /* FBY_SEGMENT_OPS */
    FBY_PASSES      = 3
};

enum {
    FBY_BLOCK_THREADS = 256,
    /* The work of one block, for the segment kinds named on the right. */
    FBY_THREAD_QUADS  = 4,
    FBY_BLOCK_QUADS   = FBY_THREAD_QUADS * FBY_BLOCK_THREADS, /* PIXELS: four
                                                    pixels each */
    FBY_BLOCK_VALUES  = 8 * FBY_BLOCK_THREADS,  /* VALUES, ONE_HOT, BITS,
                                                    PADDED, MIX, DENSE, COO,
                                                    POSITIONS, MASK */
    FBY_BLOCK_PIXELS  = 8 * FBY_BLOCK_THREADS,  /* GREYS, OPS */
    FBY_BLOCK_BYTES   = 64 * FBY_BLOCK_THREADS, /* COPY */
    FBY_BLOCK_ROWS    = FBY_BLOCK_THREADS,      /* rows of a group */
    FBY_SEGMENT_ALIGN = 16, /* bytes: alignment of all input */
    FBY_TILE_ROWS     = 32,
    FBY_TILE_COLUMNS  = 256,
    FBY_TILE_STRIDE   = FBY_TILE_COLUMNS + 8, /* bytes of an unpacked row */
    /* Bytes of the largest packed tile. Each of 3 planes has 512 bit widths of
     * 4 bits and 32 x 256 residues of 8 bits. */
    FBY_TILE_PACKED = 3 * (256 + 8192),
    /* Bytes of the sums before runs, which replace the packed tile: for each of
     * 32 runs of a row, one for each row of three planes. The stride is odd in
     * words of 4 bytes, so that the words of 32 runs lie in 32 banks of shared
     * memory. */
    FBY_TILE_BEFORE_STRIDE = 3 * FBY_TILE_ROWS + 4,
    FBY_TILE_BEFORE        = FBY_TILE_COLUMNS / 8 * FBY_TILE_BEFORE_STRIDE,
    FBY_TILE_READ_OVER = 16 /* zero bytes after a tile, for reads beyond it */
};

enum { FBY_MIRROR_X = 1, FBY_MIRROR_Y = 2 }; /* bits */

/* The bit that marks the padding of a row in a table of documents. */
#define FBY_DOCUMENT_PADDING (UINT32_C(1) << 31)

/* The most channels whose scale and offset fit into a segment. */
enum { FBY_SEGMENT_FACTORS = 4 };

/* The largest `n` of a segment. */
#define FBY_SEGMENT_MAX (UINT32_C(1) << 30)

/* Words in capitals name the kinds that use the member. Other kinds ignore the
 * member. "arena" marks an offset in the arena, and "tensors" an offset in the
 * memory of the tensors, both in bytes. */
struct fby_segment {
    uint64_t in;           /* arena: the input */
    uint64_t out;          /* tensors: the output (but see out_in_arena) */
    uint64_t image_bytes;  /* PIXELS, TILES, PLANES, BITS, OPS: bytes from one
                              image to the next in the output */
    uint64_t values;       /* arena. PADDED, DENSE: the values. GREYS, OPS: sum
                              of grey of each row, as u64; 0: no sums. VALUES
                              with more channels than scale[] holds: all scales,
                              then all offsets, as f32 */
    uint64_t indices;      /* arena. DENSE, COO: the indices */
    uint64_t total;        /* COO: values of all rows of the field */
    uint64_t groups;       /* arena. PADDED, OFFSETS, DENSE, COO: for each group
                              the entries of the field before it, as u64 */
    uint64_t lengths;      /* tensors. PADDED: the lengths */
    uint64_t pad;          /* PADDED: bits of the padding value */
    uint64_t ops;          /* arena. GREYS, OPS: struct fby_ops_plan */
    uint64_t params;       /* arena. GREYS, OPS, MIX: struct fby_ops_row of each
                              row. PIXELS, TILES, PLANES: FBY_MIRROR_X and _Y of
                              each row, as u8; 0: no flips */
    uint32_t n;            /* COPY: bytes. PIXELS: quads. TILES, PLANES: tiles.
                              VALUES, ONE_HOT, BITS, MIX, POSITIONS, MASK:
                              values written. Other kinds: blocks */
    uint32_t kind;         /* enum fby_segment_kind */
    uint32_t first_block;  /* number of the segment's first block, counted over
                              all passes */
    uint32_t out_in_arena; /* 1: `out` is an offset in the arena */
    uint32_t bytes;        /* TILES: bytes of the payload at `in` */
    uint32_t from, to;     /* type of input and output (enum fby_type) */
    uint32_t channels;     /* PIXELS, TILES: of a pixel. VALUES: number of
                              scales; 0: not scaled */
    uint32_t planar;       /* PIXELS, TILES, VALUES, BITS, OPS: 1: the output
                              has one channel after another */
    uint32_t yuv420;       /* TILES, PLANES: 1: the input is YUV planes */
    uint32_t width;        /* TILES, PLANES, PIXELS, OPS: pixels of a line */
    uint32_t lines;        /* TILES, PLANES: of each image in the segment */
    uint32_t pixels;       /* PIXELS, TILES, BITS: of each image in the segment.
                              GREYS, OPS: of a picture */
    uint32_t first_pixel;  /* PIXELS, TILES, BITS: the segment's first pixel,
                              counted within the image. VALUES: channel of the
                              first value. Planar VALUES: the first value,
                              counted within the sample */
    uint32_t plane;        /* pixels of a whole image. Planar VALUES: values of
                              one channel */
    uint32_t on, off;      /* ONE_HOT, BITS, MASK: bits of the two values in
                              `to`. MIX: their bits in binary32 */
    uint32_t classes;      /* ONE_HOT, MIX: classes of the labels. BITS: maps.
                              Planar VALUES: channels */
    uint32_t rows;         /* PADDED, OFFSETS, DENSE, COO: number of rows, whose
                              lengths are at `in`. Other kinds: 0 */
    uint32_t first_row;    /* number of the first row. OFFSETS, COO: in the
                              field. MIX: in the batch */
    uint32_t length_bytes; /* PADDED, OFFSETS, DENSE, COO: bytes of a length */
    uint32_t index_bytes;  /* DENSE, COO: bytes of an index */
    uint32_t n_dims;       /* COO: dimensions of a dense row */
    uint32_t dims[4];      /* COO: shape of a dense row */
    uint32_t parts;        /* PADDED, DENSE, COO: blocks of a group. OFFSETS: 1,
                              since one block writes a group. GREYS, OPS: blocks
                              of a picture */
    uint32_t row_values;   /* PADDED, DENSE: values of a row of the tensor */
    uint32_t entry;        /* PADDED: values of an entry */
    uint32_t documents;    /* POSITIONS, MASK: entries of the table at `in`
                              (fby_documents_write_table) */
    uint32_t shift;        /* MASK: 1: the last token of a document does not
                              count */
    float    scale[FBY_SEGMENT_FACTORS];
    float    offset[FBY_SEGMENT_FACTORS];
};

/* The head of the list, at a multiple of 16 bytes in the arena. After it come
 * the table, then n_segments of struct fby_segment at a multiple of 8 bytes.
 * Entry i of the table is the offset from the head to the segment of block i,
 * in units of 8 bytes, as u32: a block finds its segment with one load. */
struct fby_segment_list {
    uint32_t n_segments;
    uint32_t blocks[FBY_PASSES]; /* number of blocks of each pass */
    uint32_t shared; /* most bytes of shared memory that a block needs */
    uint32_t zero;   /* 0; makes the size of the head a multiple of 8 bytes */
};

#endif
