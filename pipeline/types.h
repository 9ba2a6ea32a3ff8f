/* types.h - what a pipeline is, once parsed: content, location, delivery.
 *
 * One split of a pipeline file becomes three things that never mix:
 *   content   decides the values; its canonical bytes are hashed (canon.h)
 *   location  says where the data lies; two copies of a dataset are one
 *   delivery  says how values travel and in which dtype and layout they are
 *             handed out; it is free to differ between two ranks
 * Plain structs without pointers to files, sockets or threads. */
#ifndef FBY_PIPELINE_TYPES_H
#define FBY_PIPELINE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    FBY_MAX_FIELDS   = 32,
    FBY_MAX_OPS      = 16, /* a field, on the worker */
    FBY_MAX_DEVICE   = 8,  /* ops of a field, on the device */
    FBY_MAX_FROM     = 8,  /* member extensions tried in turn */
    FBY_MAX_MAPS     = 32, /* masks of one stack */
    FBY_MAX_PARAMS   = 8,  /* an op */
    FBY_MAX_NUMBERS  = 4,  /* in one parameter's list */
    FBY_MAX_DIMS     = 4,  /* of one sample's array */
    FBY_MAX_BOUNDS   = 63, /* between buckets of length */
    FBY_MAX_CHANNELS = 4,
    FBY_MAX_FACTORS  = 256, /* of an array's scale and offset */
    FBY_MAX_FILES    = 16,  /* columns of a list that name files */
    FBY_MAX_SIDES    = 16,  /* parallel folders */
    FBY_NAME_SIZE    = 64,  /* fields, splits, groups, extensions; with NUL */
    FBY_PATH_SIZE    = 4096 /* with NUL */
};

/* Largest values of what a file may say; all minima are 1. */
enum {
    FBY_MAX_BATCH   = 1 << 16, /* rows of a global batch */
    FBY_MAX_BLOCK   = 1 << 20, /* shards in a block */
    FBY_MAX_LANES   = 1 << 16,
    FBY_MAX_CLASSES = INT32_MAX,
    FBY_MAX_ONE_HOT = 1 << 16, /* classes */
    FBY_MAX_LENGTH  = 1 << 30, /* bytes, of a bytes field or an array */
    FBY_MAX_PIXELS  = 1 << 26, /* of a picture: in a file, and after each op */
    FBY_MAX_CONTENT = 1 << 20, /* bytes, of a content's canonical form */
    FBY_MAX_TOKENS  = 1 << 24, /* of a sequence */
    FBY_MAX_TOKEN   = INT32_MAX,      /* the largest one; the least is 0 */
    FBY_MAX_VARYING = (32 << 20) - 64 /* bytes of a row, where they vary */
};
#define FBY_MAX_DENSE     (UINT64_C(1) << 31) /* values of a sparse row */
#define FBY_MAX_BOUND     (INT64_C(1) << 40)  /* bytes, between two buckets */
#define FBY_NORMALIZE_MAX 1e6  /* of |mean| and std; std is at least 1/this */
#define FBY_SCALE_MAX     1e30 /* of |scale| and |offset| */

/* The numbers below are written into canonical content and onto the wire:
 * add, never renumber. */
enum fby_source_kind {
    FBY_SOURCE_FOLDER   = 1,
    FBY_SOURCE_SHARDS   = 2,
    FBY_SOURCE_COLUMNS  = 3, /* NumPy files: a row of each is a sample */
    FBY_SOURCE_LIST     = 4, /* rows of a .csv or .jsonl file */
    FBY_SOURCE_PARALLEL = 5, /* folders paired by file names */
    FBY_SOURCE_TOKENS   = 6
};
enum { FBY_N_SOURCES = FBY_SOURCE_TOKENS + 1 }; /* number 0 is none */
enum fby_tokens_format {
    FBY_TOKENS_FLAT     = 1, /* numbers, and nothing else */
    FBY_TOKENS_MDS      = 2, /* a column of MosaicML's shards */
    FBY_TOKENS_MEGATRON = 3  /* a .bin, beside it its .idx */
};
enum fby_shuffle {
    FBY_SHUFFLE_NONE  = 1,
    FBY_SHUFFLE_FULL  = 2,
    FBY_SHUFFLE_BLOCK = 3
};
enum fby_last { FBY_LAST_DROP = 1, FBY_LAST_PAD = 2, FBY_LAST_SHORT = 3 };
enum fby_bad_sample { FBY_BAD_FAIL = 1, FBY_BAD_SUBSTITUTE = 2 };
/* Whether a picture may be decoded smaller than it is: while it is at least
 * twice as large as its result, or at least as large. */
enum fby_dct_scale { FBY_DCT_OFF = 1, FBY_DCT_FAITHFUL = 2, FBY_DCT_FAST = 3 };
enum fby_decode {
    FBY_DECODE_RGB8   = 1,  /* JPEG or PNG -> u8 [h, w, 3] */
    FBY_DECODE_LABEL  = 2,  /* decimal text, or the folder -> integer [] */
    FBY_DECODE_NUMBER = 3,  /* one number of a JSON object -> [] */
    FBY_DECODE_BYTES  = 4,  /* raw bytes of one fixed length -> u8 [length] */
    FBY_DECODE_MASK8  = 5,  /* PNG of ids -> u8 [h, w, 1] */
    FBY_DECODE_ARRAY  = 6,  /* NumPy file -> any type */
    FBY_DECODE_TEXT   = 7,  /* UTF-8 -> u8 [bytes], of any length */
    FBY_DECODE_SPARSE = 8,  /* SciPy's file of one row -> any type */
    FBY_DECODE_MAPS   = 9,  /* PNGs of one size -> bits [h, w, maps] */
    FBY_DECODE_TOKENS = 10, /* a sequence of token files -> u16, u32 [length] */
    FBY_DECODE_DOCUMENTS = 11 /* lengths of a sequence's documents */
};
enum { FBY_N_FIELD_KINDS = FBY_DECODE_DOCUMENTS + 1 }; /* number 0 is none */
/* What becomes of a list in JSON where one value is wanted. */
enum fby_pick { FBY_PICK_NONE = 0, FBY_PICK_RANDOM = 1 };
enum fby_type {
    FBY_U8   = 1,
    FBY_U16  = 2,
    FBY_I32  = 3,
    FBY_I64  = 4,
    FBY_F16  = 5,
    FBY_BF16 = 6,
    FBY_F32  = 7,
    FBY_U32  = 8, /* label: smallest of u8, u16, u32 that holds the ids */
    FBY_BOOL = 9  /* handed out only: a byte, 0 or 1 */
};

static inline bool fby_is_real(enum fby_type type)
{
    return type == FBY_F16 || type == FBY_BF16 || type == FBY_F32;
}

/* Bytes of one element of `type`; 0 for a number that is no type. */
static inline uint32_t fby_type_bytes(enum fby_type type)
{
    switch (type) {
    case FBY_U8:
    case FBY_BOOL:
        return 1;
    case FBY_U16:
    case FBY_F16:
    case FBY_BF16:
        return 2;
    case FBY_I32:
    case FBY_F32:
    case FBY_U32:
        return 4;
    case FBY_I64:
        return 8;
    }
    return 0;
}

/* "u16"; NULL for a number that is no type. */
const char *fby_type_word(enum fby_type type);

/* How many values a row has. */
enum fby_form {
    FBY_FORM_DENSE  = 0, /* as many as every other: its shape says */
    FBY_FORM_RAGGED = 1, /* a list of entries, up to max_length of them */
    FBY_FORM_SPARSE = 2  /* of its shape's values up to max_length, where they
                            belong; the others are 0 */
};
enum fby_too_long { FBY_TOO_LONG_REFUSE = 1, FBY_TOO_LONG_TRUNCATE = 2 };

/* As what a field whose length varies is handed out. */
enum fby_as {
    FBY_AS_PADDED = 1, /* [rows, longest, ...], and the lengths */
    FBY_AS_RAGGED = 2, /* values of all rows, and where each row begins */
    FBY_AS_DENSE  = 3, /* sparse: [rows, shape...] */
    FBY_AS_CSR    = 4, /* sparse: values, where each row begins, indices */
    FBY_AS_COO    = 5, /* sparse: values, and each one's place */
    /* Of lengths of documents, what follows from them: */
    FBY_AS_CU_SEQLENS = 6, /* where each begins among the batch's tokens */
    FBY_AS_POSITIONS  = 7, /* of each token in its document */
    FBY_AS_MASK       = 8  /* 1 for each token that counts in the loss */
};

enum fby_layout {
    FBY_LAYOUT_HWC           = 1,
    FBY_LAYOUT_CHW           = 2,
    FBY_LAYOUT_CHANNELS_LAST = 3
};
enum fby_filter {
    FBY_FILTER_NONE         = 0,
    FBY_FILTER_DELTA        = 1,
    FBY_FILTER_BYTE_SHUFFLE = 2,
    FBY_FILTER_BIT_SHUFFLE  = 3,
    FBY_FILTER_PHOTO        = 4 /* with FBY_CODEC_PACK, and only so */
};
enum fby_codec {
    FBY_CODEC_STORE = 0,
    FBY_CODEC_LZ4   = 1,
    FBY_CODEC_PACK  = 2 /* 3 and 4 were reserved: take 5 next */
};
enum {
    FBY_AUTO = 255
}; /* in delivery only: filter or codec picked by the worker */

/* The shape of one sample's array; an image is {h, w, channels}. A dimension
 * of 0 is not known before the sample is decoded. */
struct fby_shape {
    uint32_t n_dims;
    uint32_t dims[FBY_MAX_DIMS];
};

/* One parameter's value: numbers as they stand in the file; a string or a
 * choice is its position in the schema's list. */
struct fby_value {
    uint32_t n; /* numbers in use; 0: not given and no default */
    bool     real;
    int64_t  i[FBY_MAX_NUMBERS]; /* when !real */
    double   r[FBY_MAX_NUMBERS]; /* when real */
};

struct fby_op;
struct fby_op_use { /* an op with its parameters, in schema order */
    const struct fby_op *op;
    struct fby_value     params[FBY_MAX_PARAMS];
    uint32_t             occurrence; /* how-manieth of its name in the field */
};

/* Where a value lies in a JSON member; key "": the member is not JSON. */
struct fby_from_json {
    char          key[FBY_NAME_SIZE];
    enum fby_pick pick; /* with a key */
};

/* ---- what one kind of field has alone ---- */

struct fby_rgb8_field {
    enum fby_dct_scale dct_scale;
    bool               yuv420;    /* travels in planes, lossy */
    bool               normalize; /* device op: (v/255 - mean) / std */
    double             mean[FBY_MAX_CHANNELS];
    double             std[FBY_MAX_CHANNELS];
};

struct fby_label_field {
    struct fby_from_json json;
    uint32_t             classes; /* ids are 0..classes-1; 0: not said */
    bool                 one_hot;
    double               smoothing; /* one-hot's, 0 without */
};

struct fby_bytes_field {
    uint32_t length; /* 0: max_length says */
};

struct fby_array_field {
    struct fby_shape shape; /* of every file, or, with max_length, of each entry
                               of its first dimension */
    uint32_t maps; /* travel as bits: in the last dimension; 0: they do not */
};

struct fby_sparse_field {
    struct fby_shape shape; /* of a dense row */
};

struct fby_maps_field {
    uint32_t n; /* of bits in the last dimension: as many as members */
};

struct fby_tokens_field {
    uint32_t length; /* of a sequence */
    bool     packed; /* the source's, as is pad; not encoded here */
    uint32_t pad;    /* packed: the token that fills sequences up */
};

struct fby_documents_field {
    uint32_t shift; /* the source's; 1: last tokens have no target */
};

struct fby_field_content {
    char              name[FBY_NAME_SIZE];
    char              group[FBY_NAME_SIZE]; /* default: name */
    char              from[FBY_MAX_MAPS][FBY_NAME_SIZE];
    uint32_t          n_from; /* from[0] is "folder": the class folder's id */
    enum fby_decode   decode;
    enum fby_type     wire_type;
    uint32_t          max_length; /* entries (sparse: values) a row has at most;
                                     0: all rows have one shape */
    enum fby_too_long too_long;   /* with max_length, else 0 */
    struct fby_op_use ops[FBY_MAX_OPS]; /* of pictures */
    uint32_t          n_ops;
    struct fby_op_use device[FBY_MAX_DEVICE]; /* in order; with normalize, whose
                                                 numbers are rgb8's */
    uint32_t          n_device; /* 0 also where normalize stands alone */
    union { /* by `decode`; derived.h asks fields of any kind */
        struct fby_rgb8_field      rgb8;
        struct fby_label_field     label;
        struct fby_from_json       number;
        struct fby_bytes_field     bytes;
        struct fby_array_field     array;
        struct fby_from_json       text;
        struct fby_sparse_field    sparse;
        struct fby_maps_field      maps;
        struct fby_tokens_field    tokens;
        struct fby_documents_field documents;
    } as;
    struct fby_shape shape; /* after the ops; every dimension known. Of a ragged
                               field that of its longest row */
};

/* How token files are cut into sequences, which are the samples. */
struct fby_tokens {
    enum fby_tokens_format format;
    enum fby_type          type;   /* of one in the file; 0: the file says */
    uint32_t               length; /* tokens of a sequence */
    uint32_t               shift;  /* 1: the target is one token on; else 0 */
    char                   column[FBY_NAME_SIZE]; /* mds */
    bool     packed; /* documents, whole, are put into sequences */
    uint32_t end;    /* packed, flat: the token that ends a document */
    uint32_t pad;    /* packed: the token that fills a sequence up */
};

/* Batches are of samples of like length: bucket i has those above bounds[i-1]
 * and up to bounds[i]. */
struct fby_bucket_by {
    char     field[FBY_NAME_SIZE]; /* whose member or row is that long */
    uint32_t n_bounds;             /* 0: no buckets */
    int64_t  bounds[FBY_MAX_BOUNDS];
};

/* Is it the number of the class folder that a sample lies in? */
static inline bool fby_field_is_of_folder(const struct fby_field_content *field)
{
    return strcmp(field->from[0], "folder") == 0;
}

static inline enum fby_form fby_field_form(
    const struct fby_field_content *field)
{
    if (field->decode == FBY_DECODE_SPARSE) {
        return FBY_FORM_SPARSE;
    }
    return field->max_length > 0 ? FBY_FORM_RAGGED : FBY_FORM_DENSE;
}

/* Values of a sparse field's dense row; 0 when there are none, or more than
 * FBY_MAX_DENSE. */
static inline uint64_t fby_dense_values(const struct fby_shape *shape)
{
    uint64_t n = shape->n_dims > 0 ? 1 : 0;
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        n *= shape->dims[i]; /* below 2^31 x 2^32 */
        if (n > FBY_MAX_DENSE) {
            return 0;
        }
    }
    return n;
}

/* Bytes of the smallest of u8, u16 and u32 that holds `most`. */
static inline uint32_t fby_bytes_for(uint32_t most)
{
    return most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : 4;
}

/* Bytes of an index into a dense row of that shape, which has values. */
static inline uint32_t fby_index_bytes(const struct fby_shape *shape)
{
    return fby_bytes_for((uint32_t)(fby_dense_values(shape) - 1));
}

struct fby_content {
    enum fby_source_kind source;
    enum fby_shuffle     shuffle;
    uint32_t             block; /* K; this and the next two: 0 else */
    uint32_t             lanes;
    uint32_t             slices; /* divides global_batch */
    enum fby_last        last;
    uint32_t             global_batch;
    enum fby_bad_sample  on_bad_sample;
    struct fby_bucket_by bucket_by;
    struct fby_tokens    tokens; /* of token files, else zero */
    /* Of a list: the columns that hold paths, lower case, in byte order. */
    char     files[FBY_MAX_FILES][FBY_NAME_SIZE];
    uint32_t n_files;
    uint32_t n_fields;
    struct fby_field_content
        fields[FBY_MAX_FIELDS]; /* in byte order of names */
};

struct fby_location {
    char pattern
        [FBY_PATH_SIZE]; /* "NAME:path", or a plain path before rooting */
};

struct fby_field_delivery {   /* beside fields[i] of the content */
    enum fby_type   dtype;    /* of what is handed out */
    enum fby_layout layout;   /* images */
    uint8_t         filter;   /* enum fby_filter or FBY_AUTO */
    uint8_t         codec;    /* enum fby_codec or FBY_AUTO */
    bool            scaled;   /* arrays: value * scale + offset */
    uint32_t        channels; /* 1: the first stand for all; or the last
                                 dimension */
    double          scale[FBY_MAX_FACTORS];
    double          offset[FBY_MAX_FACTORS];
    enum fby_as     as;      /* of what varies in length; 0: does not */
    bool            longest; /* padded to the batch's longest row, not to
                                max_length */
    double          pad;     /* what it is padded with */
    enum fby_type   offsets; /* i32 or i64: of where rows begin */
};

struct fby_delivery {
    uint32_t                  bad_sample_limit;
    struct fby_field_delivery fields[FBY_MAX_FIELDS];
};

#endif
