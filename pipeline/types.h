/* SPDX-License-Identifier: Apache-2.0 */
/* types.h - the parts of a split of a pipeline file, after parsing.
 *
 * A split, such as train or val, has three separate parts:
 *   content   decides the values; its canonical bytes are hashed (canon.h)
 *   location  is the path of the data; it is not hashed, so that copies of a
 *             dataset have the same content
 *   delivery  is the form in which values are sent and handed to the
 *             application; it may differ between ranks */
#ifndef FBY_PIPELINE_TYPES_H
#define FBY_PIPELINE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    FBY_MAX_FIELDS   = 32,
    FBY_MAX_OPS      = 16, /* ops that the worker applies to a field */
    FBY_MAX_DEVICE   = 8,  /* ops that the device applies to a field */
    FBY_MAX_FROM     = 8,  /* extensions in `from` of a field */
    FBY_MAX_MAPS     = 32, /* the same for decode: maps; each is one mask */
    FBY_MAX_PARAMS   = 8,  /* parameters of an op */
    FBY_MAX_NUMBERS  = 4,  /* numbers in the value of a parameter */
    FBY_MAX_DIMS     = 4,  /* dimensions of a sample's array */
    FBY_MAX_BOUNDS   = 63, /* bounds between length buckets */
    FBY_MAX_CHANNELS = 4,
    FBY_MAX_FACTORS  = 256, /* numbers in `scale` or `offset` of an array */
    FBY_MAX_FILES    = 16,  /* columns of a list that hold paths of files */
    FBY_MAX_PARALLEL = 16,  /* parallel folders */
    FBY_NAME_SIZE    = 64,  /* bytes of any name, with NUL */
    FBY_PATH_SIZE    = 4096 /* bytes of a path, with NUL */
};

/* The most levels of folders down to the class folders. */
enum { FBY_MAX_CLASS_DEPTH = 8 };

/* The largest values of keys of a pipeline file; the smallest are 1. */
enum {
    FBY_MAX_BATCH    = 1 << 16, /* rows of a global batch */
    FBY_MAX_BLOCK    = 1 << 20, /* shards in a block */
    FBY_MAX_LANES    = 1 << 16, /* see `lanes` of struct fby_content */
    FBY_MAX_CLASSES  = INT32_MAX,
    FBY_MAX_ONE_HOT  = 1 << 16, /* classes */
    FBY_MAX_LENGTH   = 1 << 30, /* bytes of a row of one shape */
    FBY_MAX_PIXELS   = 1 << 26, /* pixels of a picture, before and after ops */
    FBY_MAX_CONTENT  = 1 << 20, /* canonical bytes of a content */
    FBY_MAX_EXCLUDED = 1 << 16, /* names that a split excludes */
    FBY_MAX_CLASS_NAMES = 4096, /* names of classes, of all fields */
    FBY_MAX_CLASS_NAME  = 255,  /* bytes of the name of a class */
    FBY_MAX_CLASS_TEXT  = 256 << 10, /* bytes of all names, a NUL after each */
    FBY_MAX_TOKENS      = 1 << 24,   /* tokens of a sequence */
    FBY_MAX_TOKEN       = INT32_MAX, /* largest token id; the smallest is 0 */
    FBY_MAX_RAGGED = (32 << 20) - 64 /* bytes of a ragged row; fits a chunk */
};
#define FBY_MAX_DENSE     (UINT64_C(1) << 31) /* values of a dense row */
#define FBY_MAX_BOUND     (INT64_C(1) << 40) /* largest bound between buckets */
#define FBY_NORMALIZE_MAX 1e6  /* limit of |mean| and std; std >= 1 / limit */
#define FBY_SCALE_MAX     1e30 /* limit of |scale| and |offset| */

/* The numbers of the enums below are in canonical bytes and on the wire. New
 * numbers may be added, but none may change. */
enum fby_source_kind {
    FBY_SOURCE_FOLDER   = 1,
    FBY_SOURCE_SHARDS   = 2,
    FBY_SOURCE_COLUMNS  = 3, /* NumPy files; sample i is row i of each file */
    FBY_SOURCE_LIST     = 4, /* rows of a .csv or .jsonl file */
    FBY_SOURCE_PARALLEL = 5, /* folders whose files are paired by name */
    FBY_SOURCE_TOKENS   = 6
};
enum { FBY_N_SOURCES = FBY_SOURCE_TOKENS + 1 }; /* 0 is unused */
enum fby_tokens_format {
    FBY_TOKENS_FLAT     = 1, /* numbers only */
    FBY_TOKENS_MDS      = 2, /* a column of MosaicML shards */
    FBY_TOKENS_MEGATRON = 3  /* a .bin and an .idx file */
};
enum fby_shuffle {
    FBY_SHUFFLE_NONE  = 1,
    FBY_SHUFFLE_FULL  = 2,
    FBY_SHUFFLE_BLOCK = 3
};
/* How the last batch of an epoch is made if too few samples are left. */
enum fby_last { FBY_LAST_DROP = 1, FBY_LAST_PAD = 2, FBY_LAST_SHORT = 3 };
enum fby_bad_sample { FBY_BAD_FAIL = 1, FBY_BAD_SUBSTITUTE = 2 };
/* A JPEG may be decoded at a reduced size before it is resized: never (off), or
 * at no less than twice (faithful) or once (fast) the size after the resize. */
enum fby_dct_scale { FBY_DCT_OFF = 1, FBY_DCT_FAITHFUL = 2, FBY_DCT_FAST = 3 };
enum fby_decode {
    FBY_DECODE_RGB8   = 1,  /* JPEG or PNG -> u8 [h, w, 3] */
    FBY_DECODE_LABEL  = 2,  /* decimal text or class folder -> integer [] */
    FBY_DECODE_NUMBER = 3,  /* number of a JSON object or a column -> [] */
    FBY_DECODE_BYTES  = 4,  /* raw bytes of a member -> u8 [length] */
    FBY_DECODE_MASK8  = 5,  /* PNG of ids -> u8 [h, w, 1] */
    FBY_DECODE_ARRAY  = 6,  /* NumPy file -> any type */
    FBY_DECODE_TEXT   = 7,  /* UTF-8 -> u8 [bytes], of any length */
    FBY_DECODE_SPARSE = 8,  /* SciPy file with one sparse row -> any type */
    FBY_DECODE_MAPS   = 9,  /* PNG masks of equal size -> bits [h, w, masks] */
    FBY_DECODE_TOKENS = 10, /* sequence of tokens -> u16 or u32 [length] */
    FBY_DECODE_DOCUMENTS = 11 /* lengths of the documents in a sequence */
};
enum { FBY_N_FIELD_KINDS = FBY_DECODE_DOCUMENTS + 1 }; /* 0 is unused */
/* How one value is chosen from a list of values in JSON. */
enum fby_pick { FBY_PICK_NONE = 0, FBY_PICK_RANDOM = 1 };
enum fby_type {
    FBY_U8   = 1,
    FBY_U16  = 2,
    FBY_I32  = 3,
    FBY_I64  = 4,
    FBY_F16  = 5,
    FBY_BF16 = 6,
    FBY_F32  = 7,
    FBY_U32  = 8,
    FBY_BOOL = 9 /* a byte, 0 or 1; only as dtype, never on the wire */
};

static inline bool fby_type_is_float(enum fby_type type)
{
    return type == FBY_F16 || type == FBY_BF16 || type == FBY_F32;
}

/* Bytes of one element of `type`; 0 for an invalid type. */
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

/* The name of `type`, such as "u16"; NULL for an invalid type. */
const char *fby_type_word(enum fby_type type);

/* The form of the rows of a field on the wire. */
enum fby_form {
    FBY_FORM_DENSE  = 0, /* all rows have one shape */
    FBY_FORM_RAGGED = 1, /* a list of up to max_length entries */
    FBY_FORM_SPARSE = 2  /* up to max_length values with their indices in a
                            dense row, whose other values are 0 */
};
enum fby_too_long { FBY_TOO_LONG_REFUSE = 1, FBY_TOO_LONG_TRUNCATE = 2 };

/* The rule for a mask whose size differs from that of its picture. */
enum fby_fit { FBY_FIT_REFUSE = 0, FBY_FIT_STRETCH = 1 };

/* The form in which the application gets a ragged or sparse field. */
enum fby_as {
    FBY_AS_PADDED = 1, /* rows padded to one length, and their lengths */
    FBY_AS_RAGGED = 2, /* the values of all rows, and the offset of each row */
    FBY_AS_DENSE  = 3, /* from sparse rows: all values, zeros too */
    FBY_AS_CSR    = 4, /* from sparse rows: values, row offsets, indices */
    FBY_AS_COO    = 5, /* from sparse rows: values and their coordinates */
    /* The next three are computed from the lengths of documents. */
    FBY_AS_CU_SEQLENS = 6, /* the offset of each document in the batch */
    FBY_AS_POSITIONS  = 7, /* the index of each token in its document */
    FBY_AS_MASK       = 8  /* 1 for each token that counts in the loss */
};

enum fby_layout {
    FBY_LAYOUT_HWC           = 1,
    FBY_LAYOUT_CHW           = 2,
    FBY_LAYOUT_CHANNELS_LAST = 3,
    FBY_LAYOUT_HW            = 4 /* of masks, without their one channel */
};
enum fby_filter {
    FBY_FILTER_NONE         = 0,
    FBY_FILTER_DELTA        = 1,
    FBY_FILTER_BYTE_SHUFFLE = 2,
    FBY_FILTER_BIT_SHUFFLE  = 3,
    FBY_FILTER_PHOTO        = 4, /* only with FBY_CODEC_PACK */
    FBY_N_FILTERS
};
enum fby_codec {
    FBY_CODEC_STORE = 0,
    FBY_CODEC_LZ4   = 1,
    FBY_CODEC_PACK  = 2, /* 3 and 4 must stay unused; a new codec is 5 */
    FBY_N_CODECS
};
enum { FBY_AUTO = 255 }; /* delivery: the worker chooses filter or codec */

/* The shape of a sample's array; the dims of an image are {h, w, channels}. A
 * dimension of 0 becomes known when the sample is decoded. */
struct fby_shape {
    uint32_t n_dims;
    uint32_t dims[FBY_MAX_DIMS];
};

/* The value of an op's parameter: one or more numbers. A word is stored as its
 * index in `words` of struct fby_param (op.h). */
struct fby_value {
    uint32_t n;    /* count of numbers; 0: no value and no default */
    bool     real; /* true: the numbers are in `r`; false: in `i` */
    int64_t  i[FBY_MAX_NUMBERS];
    double   r[FBY_MAX_NUMBERS];
};

struct fby_op;
struct fby_op_use { /* an op with its parameters, in schema order */
    const struct fby_op *op;
    struct fby_value     params[FBY_MAX_PARAMS];
    uint32_t             occurrence; /* ops of the same name before this one */
};

/* The value that a field takes from a member that is a JSON object. */
struct fby_json_selector {
    char          key[FBY_NAME_SIZE]; /* "": the member is not JSON */
    enum fby_pick pick;               /* for a key with a list of values */
};

/* ---- settings that only one kind of field has ---- */

struct fby_rgb8_field {
    enum fby_dct_scale dct_scale;
    bool               yuv420;    /* sent as yuv420 planes, lossy */
    bool               normalize; /* the device makes (v/255 - mean) / std */
    double             mean[FBY_MAX_CHANNELS];
    double             std[FBY_MAX_CHANNELS];
};

/* The names of the classes of a label: a part of struct fby_class_names. */
struct fby_name_range {
    uint32_t first; /* index of the name of class 0 */
    uint32_t n;     /* number of names; 0: the values of the data are ids */
};

struct fby_label_field {
    struct fby_json_selector json;
    struct fby_name_range    names;
    uint32_t                 classes; /* ids are 0..classes-1; 0: unknown */
    bool                     one_hot;
    double                   smoothing; /* label smoothing of one-hot values */
};

struct fby_bytes_field {
    uint32_t length; /* bytes of every row; 0: rows have a max_length */
};

struct fby_array_field {
    struct fby_shape shape; /* of a row, or of an entry if max_length > 0 */
    uint32_t n_bits; /* size of the last dimension if packed as bits; else 0 */
};

struct fby_sparse_field {
    struct fby_shape shape; /* shape of a row as a dense array */
};

struct fby_maps_field {
    uint32_t n; /* bits in the last dimension: one for each mask */
};

struct fby_tokens_field {
    uint32_t length; /* tokens of a sequence */
    bool     packed; /* this and `pad` are copied from struct fby_tokens and
                        not in the canonical bytes of the field */
    uint32_t pad;    /* if packed: the token that fills up a sequence */
};

struct fby_documents_field {
    uint32_t shift; /* 1: the last token of a document has no target */
};

struct fby_field_content {
    char              name[FBY_NAME_SIZE];
    char              group[FBY_NAME_SIZE]; /* fields of a group share draws */
    char              from[FBY_MAX_MAPS][FBY_NAME_SIZE]; /* extensions */
    uint32_t          n_from;
    enum fby_decode   decode;
    enum fby_type     wire_type;
    uint32_t          max_length; /* entries (sparse: values) that a row may
                                     have; 0: all rows have one shape */
    enum fby_too_long too_long;   /* 0 if max_length is 0 */
    enum fby_fit      fit;        /* masks; else 0 */
    struct fby_op_use ops[FBY_MAX_OPS]; /* on the worker; pictures only */
    uint32_t          n_ops;
    struct fby_op_use device[FBY_MAX_DEVICE]; /* in order; the parameters of
                                                 normalize are in as.rgb8 */
    uint32_t          n_device; /* 0 if normalize (as.rgb8) is the only op */
    union { /* `decode` selects the member; derived.h has functions for it */
        struct fby_rgb8_field      rgb8;
        struct fby_label_field     label;
        struct fby_json_selector   number;
        struct fby_bytes_field     bytes;
        struct fby_array_field     array;
        struct fby_json_selector   text;
        struct fby_sparse_field    sparse;
        struct fby_maps_field      maps;
        struct fby_tokens_field    tokens;
        struct fby_documents_field documents;
    } as;
    struct fby_shape shape; /* after the worker's ops, all dimensions known;
                               ragged: the shape of the longest row */
};

/* How token files are divided into sequences, which are the samples. */
struct fby_tokens {
    enum fby_tokens_format format;
    enum fby_type type;   /* of a token; 0: the header of each file has it */
    uint32_t      length; /* tokens of a sequence */
    uint32_t      shift;  /* 1: targets are one token later; else 0 */
    char          column[FBY_NAME_SIZE]; /* for mds, else "" */
    bool          packed; /* whole documents are packed into sequences */
    uint32_t      end; /* packed flat files: the token that ends a document */
    uint32_t      pad; /* packed: the token that fills up a sequence */
};

/* All samples of a batch are from one bucket. Bucket i has the lengths above
 * bounds[i-1], up to and including bounds[i]. */
struct fby_bucket_by {
    char     field[FBY_NAME_SIZE]; /* the field whose length selects a bucket */
    uint32_t n_bounds;             /* 0: no buckets */
    int64_t  bounds[FBY_MAX_BOUNDS];
};

/* True if the field is the number of the class folder of a sample. */
static inline bool fby_field_is_folder_id(const struct fby_field_content *field)
{
    return strcmp(field->from[0], "folder") == 0;
}

/* The number of values in a dense row; 0 if it is above FBY_MAX_DENSE, or if
 * the shape is not known (no dimensions). */
static inline uint64_t fby_dense_values(const struct fby_shape *shape)
{
    uint64_t n = shape->n_dims > 0 ? 1 : 0;
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        n *= shape->dims[i]; /* no overflow: at most 2^31 times 2^32 */
        if (n > FBY_MAX_DENSE) {
            return 0;
        }
    }
    return n;
}

/* Bytes of the smallest of u8, u16 and u32 that can hold `largest`. */
static inline uint32_t fby_smallest_uint_bytes(uint32_t largest)
{
    return largest <= UINT8_MAX ? 1 : largest <= UINT16_MAX ? 2 : 4;
}

/* Bytes of an index into a dense row of `shape`, which is not empty. */
static inline uint32_t fby_bytes_per_index(const struct fby_shape *shape)
{
    return fby_smallest_uint_bytes((uint32_t)(fby_dense_values(shape) - 1));
}

/* Samples that are left out of the dataset (exclude.h). */
struct fby_excluded {
    uint32_t n;
    int64_t  hashes[FBY_MAX_EXCLUDED]; /* XXH3-64 of the names, ascending */
};

/* The names of the classes of all labels (class_names.h). */
struct fby_class_names {
    uint32_t n;                           /* names */
    uint32_t size;                        /* bytes of `text` in use */
    uint32_t offset[FBY_MAX_CLASS_NAMES]; /* in `text`, where a name begins */
    uint16_t sorted[FBY_MAX_CLASS_NAMES]; /* of each range: its ids in byte
                                             order of their names */
    char     text[FBY_MAX_CLASS_TEXT];    /* the names, a NUL after each */
};

struct fby_content {
    enum fby_source_kind source;
    enum fby_shuffle     shuffle;
    /* The next three are 0 unless `shuffle` is block; see plan/order.c. */
    uint32_t             block; /* shards in a block */
    uint32_t             lanes; /* places that consecutive steps read in turn */
    uint32_t             slices; /* parts of a batch; divides global_batch */
    enum fby_last        last;
    uint32_t             global_batch; /* rows of a batch on all ranks */
    enum fby_bad_sample  on_bad_sample;
    struct fby_bucket_by bucket_by;
    struct fby_tokens    tokens; /* zero unless the source has tokens */
    /* The columns of a source list that hold paths: lower case, sorted. */
    char     files[FBY_MAX_FILES][FBY_NAME_SIZE];
    uint32_t n_files;
    bool     flat;        /* folder: no classes; all files below are samples */
    uint32_t class_depth; /* folder: levels down to the class folders, at least
                             2; 0: the default of 1 */
    struct fby_excluded    excluded;
    struct fby_class_names class_names;
    uint32_t               n_fields;
    struct fby_field_content
        fields[FBY_MAX_FIELDS]; /* in byte order of names */
};

struct fby_location {
    char pattern[FBY_PATH_SIZE]; /* "NAME:path", or an absolute path */
};

/* How a field of the content is sent and handed to the application. */
struct fby_field_delivery {
    enum fby_type   dtype;    /* type of the values in the tensor */
    enum fby_layout layout;   /* images only */
    uint8_t         filter;   /* enum fby_filter or FBY_AUTO */
    uint8_t         codec;    /* enum fby_codec or FBY_AUTO */
    bool            scaled;   /* arrays: the tensor is value * scale + offset */
    uint32_t        channels; /* count of numbers in `scale` and `offset` */
    double          scale[FBY_MAX_FACTORS];
    double          offset[FBY_MAX_FACTORS];
    enum fby_as     as;      /* ragged and sparse fields, else 0 */
    bool            longest; /* pad to the longest row, not to max_length */
    double          pad;     /* the value that fills up padded rows */
    enum fby_type   offsets; /* i32 or i64: the type of row offsets */
};

struct fby_delivery {
    uint32_t                  bad_sample_limit;       /* allowed bad samples */
    struct fby_field_delivery fields[FBY_MAX_FIELDS]; /* order of the content */
};

#endif
