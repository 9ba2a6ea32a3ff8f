/* shard.h - the index of one shard: where each member of each sample lies.
 *
 * Columns, not objects: a sample costs its key + 1 byte and 8 bytes (12 in a
 * folder), a member 17 bytes (in a folder 49, with its file's stamp), so that
 * millions of samples fit. A shard is built sample by sample, finished, and
 * constant from then on. Tar shards have one file, which `stamps[0]` tells
 * apart from a later one of its name; those of other sources have one file a
 * member. A list's members have a text as well: the file's path, or the value
 * itself, which is then no file.
 * A shard of a token file has sequences instead: samples without keys and
 * members (its stamps: of the file, and of the index beside it). One of columns
 * has no entry for a sample either: sample i is row i of every column, or
 * those of its rows that another column says (columns/ragged.h, columns/csr.h), and its files
 * are its columns', or one .npz. */
#ifndef FBY_WORKER_SOURCE_SHARD_H
#define FBY_WORKER_SOURCE_SHARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "common/bytes.h"
#include "common/err.h"
#include "common/hash.h"
#include "pipeline/types.h"
#include "worker/npy/npy.h"
#include "worker/source/tokens/sequences.h"

enum {
    FBY_SHARD_MAX_COLUMNS  = 4096,
    FBY_SHARD_MAX_SAMPLES  = 1 << 24, /* with an entry each: not of columns */
    FBY_SHARD_MAX_MEMBERS  = 1 << 26,
    FBY_SHARD_MAX_SUFFIXES = 256,
    FBY_SHARD_MAX_KEYS     = 1 << 30, /* bytes of all keys */
    FBY_SHARD_MAX_TEXTS    = 1 << 30, /* bytes of all texts of a list */
    FBY_SHARD_NO_CLASS     = -1
};

/* What tells a file from another one, or from itself after a change. */
struct fby_stamp {
    uint64_t device;
    uint64_t inode;
    uint64_t size;     /* bytes */
    int64_t  mtime_ns; /* since 1970 */
    int64_t  ctime_ns; /* since 1970 */
};

struct fby_stamp fby_stamp_of(const struct stat *st);
bool fby_stamp_equal(const struct fby_stamp *a, const struct fby_stamp *b);

/* What happened to the file in between: "was appended to", ... Static text. */
const char *fby_stamp_change(
    const struct fby_stamp *indexed, const struct fby_stamp *now);

enum fby_column_part {      /* written into manifests: add, never renumber */
    FBY_COLUMN_WHOLE   = 0, /* row i is of sample i */
    FBY_COLUMN_OFFSETS = 1, /* row i: where the entries of sample i begin */
    FBY_COLUMN_VALUES  = 2, /* a row is an entry */
    FBY_COLUMN_CSR     = 3  /* a file of SciPy: a row is an entry, a value */
};

struct fby_numbers { /* whole ones, one after another in a file */
    enum fby_npy_type type;
    bool              big_endian;
    uint32_t          width;  /* bytes of one */
    uint64_t          offset; /* of the first one, in its file */
};

struct fby_column { /* of a shard of columns: NAME.npy, or NAME.npz (CSR) */
    char                 name[FBY_NAME_SIZE];
    enum fby_npy_type    type;
    bool                 big_endian;
    enum fby_column_part part;
    uint16_t             partner; /* of a part: the other one's place */
    uint32_t             n_dims;
    uint64_t             dims[FBY_NPY_MAX_DIMS]; /* of a row */
    uint64_t             row_bytes;
    uint64_t             rows;    /* of its file */
    int64_t              first;   /* of offsets: the first one, */
    int64_t              last;    /* and the last one, when it was scanned */
    uint64_t             offset;  /* of row 0, in its file */
    struct fby_numbers   indices; /* CSR: of each entry its place in its row, */
    struct fby_numbers   indptr;  /* and where the entries of sample i begin */
    uint64_t             width;   /* likewise: values of a dense row */
};

struct fby_shard {
    char                *name; /* relative to the pattern's base */
    uint64_t             size; /* bytes: of the tar, or of all the files */
    enum fby_source_kind kind;
    bool                 folder; /* a file a member */
    bool                 hashed;
    struct fby_sum       sum; /* XXH3-128 of the bytes, when hashed */
    uint32_t             samples;
    uint32_t             members;
    uint32_t             n_suffixes;
    struct fby_buffer    keys;       /* each ends with NUL */
    uint32_t            *key_at;     /* a sample: its key in `keys` */
    uint32_t            *first;      /* a sample, and one more: first member */
    uint32_t            *class_ids;  /* a sample; folder only */
    uint8_t             *suffix;     /* a member: its place in `suffixes` */
    uint64_t            *offset;     /* a member; tar only */
    uint64_t            *bytes;      /* a member: its size */
    struct fby_buffer    texts;      /* list only, without ends */
    uint64_t            *text_at;    /* a member: where in `texts` */
    uint32_t            *text_size;  /* a member: bytes */
    uint8_t             *is_value;   /* a member: no file */
    char (*suffixes)[FBY_NAME_SIZE]; /* as spelled, in order of first use */
    struct fby_stamp     *stamps;    /* tar, .npz: one; else one a file: a
                                     member's, or a column's */
    struct fby_sequences *sequences; /* of a token file; else NULL */
    uint32_t             *lengths;   /* a sample: entries of its row or member
                                        that is bucketed by; else NULL */
    struct fby_column    *columns;   /* in byte order of names; NULL: none */
    uint32_t              n_columns; /* then there are no keys and no members */
};

/* Are its samples rows of columns? */
static inline bool fby_shard_has_rows(const struct fby_shard *self)
{
    return self->columns != NULL;
}

/* "day-03.npz" is one file that holds all columns. */
bool fby_is_npz(const char *name);

/* Begin a shard of a source of that kind. Release it with fini, also when half
 * built; fini takes a zeroed shard, too. */
void fby_shard_init(
    struct fby_shard *self, const char *name, enum fby_source_kind kind);
void fby_shard_fini(struct fby_shard *self);

/* Add a sample; its members follow. A tar shard has FBY_SHARD_NO_CLASS.
 * Errors: FBY_CONFIG beyond the limits above. */
FBY_CHECKED fby_err fby_shard_add_sample(struct fby_shard *self,
    const char *key, size_t key_size, int64_t class_id, struct fby_why *why);

/* Add a member to the last sample; `offset` is 0 in a folder. In a folder the
 * caller sets stamps[members - 1] afterwards.
 * Errors: FBY_CONFIG  the limits, or a second member of that extension */
FBY_CHECKED fby_err fby_shard_add_member(struct fby_shard *self,
    const char *suffix, uint64_t offset, uint64_t size, struct fby_why *why);

/* What the member added last has in a list: a path, or the value, whose size
 * it was added with. Errors: FBY_CONFIG beyond the limit above. */
FBY_CHECKED fby_err fby_shard_add_text(struct fby_shard *self, const char *text,
    size_t size, bool is_value, struct fby_why *why);

/* All is there: refuse a key that is there twice, give back spare memory.
 * Errors: FBY_CONFIG, naming the key and both offsets. */
FBY_CHECKED fby_err fby_shard_finish(
    struct fby_shard *self, struct fby_why *why);

/* How many stamps it has: one a file. */
uint32_t fby_shard_stamps(const struct fby_shard *self);

/* Set the samples of a token file, whose sequences are all there.
 * Errors: FBY_CONFIG when they are more than 2^32 - 1. */
FBY_CHECKED fby_err fby_shard_finish_sequences(
    struct fby_shard *self, struct fby_why *why);

/* A sequence has none: "". */
static inline const char *fby_shard_key(
    const struct fby_shard *self, uint32_t sample)
{
    if (self->sequences != NULL) {
        return "";
    }
    return (const char *)self->keys.data + self->key_at[sample];
}

static inline uint64_t fby_shard_offset(
    const struct fby_shard *self, uint32_t member)
{
    return self->offset != NULL ? self->offset[member] : 0;
}

static inline const char *fby_shard_suffix(
    const struct fby_shard *self, uint32_t member)
{
    return self->suffixes[self->suffix[member]];
}

/* Is it no file, but in `texts`? */
static inline bool fby_shard_is_value(
    const struct fby_shard *self, uint32_t member)
{
    return self->is_value != NULL && self->is_value[member] != 0;
}

/* The member of `sample` with the first of `exts` (lower case, without the dot)
 * that it has; false when it has none of them. Not of sequences or columns. */
bool fby_shard_find(const struct fby_shard *self, uint32_t sample,
    const char (*exts)[FBY_NAME_SIZE], uint32_t n_exts, uint32_t *member);

/* The sample that a member belongs to. */
uint32_t fby_shard_sample_of(const struct fby_shard *self, uint32_t member);

/* True when `suffix` is spelled like `extension` but for ASCII case. */
bool fby_suffix_is(const char *suffix, const char *extension);

/* Where a member's name is cut into key and suffix. A name that is no member
 * of a sample (hidden, or without an extension) gives false. `name` has no
 * leading "./". */
struct fby_name_parts {
    size_t      key_size; /* bytes of `name` */
    const char *suffix;   /* within `name`, after the dot */
};
bool fby_name_split(const char *name, struct fby_name_parts *out);

/* Errors: FBY_CONFIG when a name cannot be a key: not UTF-8, control
 *         characters, too long an extension. */
FBY_CHECKED fby_err fby_name_check(
    const char *name, const struct fby_name_parts *parts, struct fby_why *why);

#endif
