/* SPDX-License-Identifier: Apache-2.0 */
/* shard.h - the index of one shard: its samples, and where their bytes are.
 *
 * A shard is a part of a dataset: a tar or token file, a folder or .npz file of
 * columns, or up to 1,024 samples of other sources (shard_builder.h). It has
 * one of three forms:
 *   members    Samples have keys and members. A member is a range of the
 *              shard's one file (tar), a file of its own (folder, parallel,
 *              list), or a value in the list itself.
 *   sequences  Samples are sequences of tokens of one file, without keys.
 *   columns    Sample i is row i of each column. Each column has a file, or one
 *              .npz file has all columns. Rows of a ragged or sparse (CSR)
 *              column have different lengths (columns/ragged.h, csr.h).
 *
 * A shard is built sample by sample, finished, and constant from then on. The
 * index is one array for each property, so that it is small enough for millions
 * of samples: a sample takes its key and 9 bytes (13 in a folder), a member 17
 * bytes, or 49 with the stamp of its own file (identity, size and times). */
#ifndef FBY_WORKER_SOURCE_SHARD_H
#define FBY_WORKER_SOURCE_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/bytes.h"
#include "common/err.h"
#include "common/hash.h"
#include "pipeline/types.h"
#include "worker/npy/npy.h"
#include "worker/source/object.h"
#include "worker/source/tokens/sequences.h"

enum {
    FBY_SHARD_MAX_COLUMNS  = 4096,
    FBY_SHARD_MAX_SAMPLES  = 1 << 24, /* in a shard of members */
    FBY_SHARD_MAX_MEMBERS  = 1 << 26,
    FBY_SHARD_MAX_SUFFIXES = 256,
    FBY_SHARD_MAX_KEYS     = 1 << 30, /* bytes of all keys */
    FBY_SHARD_MAX_TEXTS    = 1 << 30, /* bytes of all texts of a list */
    FBY_SHARD_NO_CLASS     = -1
};

/* How samples consist of the rows of a column. In a ragged or sparse column a
 * sample is a list, and the elements of the list are called entries. */
enum fby_column_role {      /* written into manifests: add, never renumber */
    FBY_COLUMN_WHOLE   = 0, /* row i is sample i */
    FBY_COLUMN_OFFSETS = 1, /* row i: number of the first entry of sample i */
    FBY_COLUMN_VALUES  = 2, /* row i is entry i, counted over all samples */
    FBY_COLUMN_CSR     = 3  /* a SciPy file of entries and offsets (csr.h) */
};

struct fby_file_array { /* an array of numbers in a file */
    enum fby_npy_type type;
    bool              big_endian;
    uint32_t          item_size; /* bytes of one number */
    uint64_t          offset;    /* of the first number in the file, in bytes */
};

/* A column of a shard: NAME.npy, one array of an .npz file, or NAME.npz (CSR).
 * A ragged column is two of these: its offsets and its values. */
struct fby_column {
    char                 name[FBY_NAME_SIZE];
    enum fby_npy_type    type;
    bool                 big_endian;
    enum fby_column_role role;
    uint16_t             partner; /* index in columns[]: of the values, if these
                                     are offsets; of the offsets, if values */
    uint32_t             n_dims;  /* dimensions of a row */
    uint64_t             dims[FBY_NPY_MAX_DIMS]; /* size of each dimension */
    uint64_t             row_bytes;              /* bytes of one row */
    uint64_t             rows;     /* number of rows in the file */
    int64_t  first_offset;         /* offsets, CSR: the first, when indexed */
    int64_t  last_offset;          /* offsets, CSR: the last, when indexed */
    uint64_t offset;               /* of row 0 in the file, in bytes */
    struct fby_file_array indices; /* CSR: per entry: its index in the row */
    struct fby_file_array indptr;  /* CSR: per row: its first entry */
    uint64_t dense_width;          /* CSR: values of a row, with the zeros */
};

/* The index of a shard. Arrays have one element "per sample", "per member" or
 * "per file". They are NULL if the form or the kind of source needs none. */
struct fby_shard {
    char                *name; /* relative to the base of the location */
    uint64_t             size; /* bytes of all its files */
    enum fby_source_kind kind;
    bool                 has_files;    /* each member is a file of its own, or a
                                        value; false: all are in one file */
    bool                 has_checksum; /* `sum` is valid */
    struct fby_checksum  sum;          /* XXH3-128 of all bytes */
    uint32_t             n_samples;    /* number of samples */
    uint32_t             n_members;    /* number of members of all samples */
    uint32_t             n_suffixes;   /* number of `suffixes` */
    struct fby_buffer    keys;         /* of all samples; each ends with NUL */
    uint32_t *key_offset;    /* per sample: offset of its key in `keys` */
    uint32_t *first_member;  /* per sample: its first member; then n_members */
    uint32_t *class_ids;     /* per sample; NULL: no class folders */
    uint8_t  *suffix_index;  /* per member: index in `suffixes` */
    uint64_t *member_offset; /* per member: offset in the file; tar only */
    uint64_t *member_bytes;  /* per member: its size in bytes */
    struct fby_buffer texts; /* list only: the text of each member */
    uint64_t         *text_offset; /* per member: offset in `texts` */
    uint32_t         *text_size;   /* per member: size of its text, in bytes */
    uint8_t          *is_value;    /* per member: 1: its text is its content;
                                        0: its text is the path of its file */
    /* The different extensions of members, in order of their first use. */
    char (*suffixes)[FBY_NAME_SIZE];
    struct fby_stamp     *stamps; /* per file; see fby_shard_count_stamps() */
    struct fby_sequences *sequences; /* NULL: not a token file */
    uint32_t             *lengths;   /* per sample, for bucket_by; or NULL */
    struct fby_column *columns; /* in byte order of names; NULL: other forms */
    uint32_t           n_columns; /* number of columns */
};

/* Are the samples rows of columns? */
static inline bool fby_shard_has_rows(const struct fby_shard *self)
{
    return self->columns != NULL;
}

/* Is `name` a file name NAME.npz? */
bool fby_is_npz(const char *name);

/* Begin a shard. Release it with fby_shard_fini(), which also accepts a shard
 * that is not finished, or all zeros. */
void fby_shard_init(
    struct fby_shard *self, const char *name, enum fby_source_kind kind);
void fby_shard_fini(struct fby_shard *self);

/* Add a sample, to which the next members belong. `class_id` is
 * FBY_SHARD_NO_CLASS unless the source has class folders.
 * Errors: FBY_CONFIG  a limit above. */
FBY_CHECKED fby_err fby_shard_add_sample(struct fby_shard *self,
    const char *key, size_t key_size, int64_t class_id,
    struct fby_error_detail *why);

/* Add a member to the last sample. For a file of its own, `offset` is 0, and
 * the caller then sets the stamp of the new member, stamps[n_members - 1].
 * Errors: FBY_CONFIG  a limit above, or a second member of that extension. */
FBY_CHECKED fby_err fby_shard_add_member(struct fby_shard *self,
    const char *suffix, uint64_t offset, uint64_t size,
    struct fby_error_detail *why);

/* Set the text of the last member of a list: the path of its file, or its
 * value, which has the `size` that was passed to fby_shard_add_member().
 * Errors: FBY_CONFIG  a limit above. */
FBY_CHECKED fby_err fby_shard_add_text(struct fby_shard *self, const char *text,
    size_t size, bool is_value, struct fby_error_detail *why);

/* Finish a shard of members: check that no key is repeated.
 * Errors: FBY_CONFIG; `why` has the key and both offsets. */
FBY_CHECKED fby_err fby_shard_finish(
    struct fby_shard *self, struct fby_error_detail *why);

/* Finish a shard of sequences: set its number of samples.
 * Errors: FBY_CONFIG  more than 2^32 - 1 sequences. */
FBY_CHECKED fby_err fby_shard_finish_sequences(
    struct fby_shard *self, struct fby_error_detail *why);

/* The number of stamps: 1 for a tar or .npz file, 1 for a token file or 2 with
 * its index file; in other shards one for each member or column. */
uint32_t fby_shard_count_stamps(const struct fby_shard *self);

/* The key of a sample; "" for a sequence. Not for columns. */
static inline const char *fby_shard_key(
    const struct fby_shard *self, uint32_t sample)
{
    if (self->sequences != NULL) {
        return "";
    }
    return (const char *)self->keys.data + self->key_offset[sample];
}

/* Is `key` the key of the last sample? False if there is no sample. */
bool fby_shard_last_key_is(
    const struct fby_shard *self, const char *key, size_t key_size);

/* The offset of a member in the file of the shard; 0 if it is a file itself. */
static inline uint64_t fby_shard_offset(
    const struct fby_shard *self, uint32_t member)
{
    return self->member_offset != NULL ? self->member_offset[member] : 0;
}

static inline const char *fby_shard_suffix(
    const struct fby_shard *self, uint32_t member)
{
    return self->suffixes[self->suffix_index[member]];
}

/* Is the member a value of a list, and not a file? */
static inline bool fby_shard_is_value(
    const struct fby_shard *self, uint32_t member)
{
    return self->is_value != NULL && self->is_value[member] != 0;
}

/* Find the member of `sample` that has the first of the extensions `exts` (in
 * lower case, without the dot), else the second, and so on. Returns false if
 * the sample has none of them. Only for shards of members. */
bool fby_shard_find_member(const struct fby_shard *self, uint32_t sample,
    const char (*exts)[FBY_NAME_SIZE], uint32_t n_exts, uint32_t *member);

/* Returns the sample that a member belongs to. */
uint32_t fby_shard_sample_of(const struct fby_shard *self, uint32_t member);

/* Are the two texts equal, except for the case of ASCII letters? */
bool fby_equal_ignoring_case(const char *a, const char *b);

/* Cut the name of a member, without a leading "./", into key and extension.
 * False for a hidden file or one without an extension: they are not members. */
struct fby_name_parts {
    size_t      key_size; /* bytes of `name` */
    const char *suffix;   /* within `name`, after the dot */
};
bool fby_name_split(const char *name, struct fby_name_parts *out);

/* Is the name UTF-8 without control characters? */
bool fby_name_is_plain(const char *name);

/* Refuse the name of a member if it is not plain or has a long extension.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_name_check(const char *name,
    const struct fby_name_parts *parts, struct fby_error_detail *why);

#endif
