/* SPDX-License-Identifier: Apache-2.0 */
/* dataset.h - a dataset as a worker sees it: numbered samples, and their bytes.
 *
 * A dataset consists of shards (shard.h). Samples are numbered from 0, through
 * all shards in order. Opening a dataset makes its manifest (the list of its
 * shards and samples), from the cache or by a scan, and computes the data
 * digest (a hash of the manifest). After that the dataset is constant. A read
 * fails if the file changed since it was indexed. row_reader.h reads many rows
 * of columns, or sequences of tokens without packing, at a time. */
#ifndef FBY_WORKER_SOURCE_DATASET_H
#define FBY_WORKER_SOURCE_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hash.h"
#include "pipeline/types.h"
#include "worker/source/roots.h"
#include "worker/source/spec.h"

struct fby_dataset;

/* Open a dataset: make its manifest or load it from the cache.
 *
 * A shard is taken from the cache if its files have the same device, inode,
 * size, mtime and ctime as when it was indexed; other shards are scanned.
 * Checksums are computed if spec->hash is true or the cache has them. The
 * user's cache directory is $FOREBAY_CACHE_DIR, else $XDG_CACHE_HOME/forebay,
 * else ~/.cache/forebay. A cache that cannot be written causes a warning only.
 *
 * Blocks: for the scan.
 * Errors: FBY_USAGE      the location is not beneath a root
 *         FBY_NOT_FOUND  no shard, or a named shard is missing
 *         FBY_CONFIG     unusable data: empty, damaged, truncated
 *         FBY_IO, FBY_GONE (progress returned false). */
FBY_CHECKED fby_err fby_dataset_open(const struct fby_dataset_spec *spec,
    struct fby_progress progress, struct fby_dataset **out,
    struct fby_error_detail *why);
void                fby_dataset_destroy(struct fby_dataset **self_p);

/* All functions below: any thread. Sample and shard numbers must be in range;
 * strings and arrays are valid as long as `self`. */

uint64_t          fby_dataset_sample_count(const struct fby_dataset *self);
struct fby_digest fby_dataset_digest(const struct fby_dataset *self);
/* Do the shards have checksums? */
bool fby_dataset_has_checksums(const struct fby_dataset *self);
/* The number of shards that were taken from the cache and not read. */
uint32_t fby_dataset_reused_shard_count(const struct fby_dataset *self);

/* The number of shards. */
uint32_t fby_dataset_shard_count(const struct fby_dataset *self);
/* Per shard: the number of its samples. */
const uint32_t *fby_dataset_samples_per_shard(const struct fby_dataset *self);
const char     *fby_dataset_shard_name(
        const struct fby_dataset *self, uint32_t shard);
struct fby_digest fby_dataset_shard_digest(
    const struct fby_dataset *self, uint32_t shard);

/* The shard that a sample is in. */
uint32_t fby_dataset_shard_of(const struct fby_dataset *self, uint64_t sample);

/* The key of a sample, such as "c00/0001"; "" for a sequence of tokens. The key
 * of a row of columns is "row 17", written to `row`. */
struct fby_row_key {
    char text[24];
};
const char *fby_dataset_key(
    const struct fby_dataset *self, uint64_t sample, struct fby_row_key *row);

/* Write a name of the sample that a list of names to exclude may have
 * (exclude.h). False: it has none, as rows of columns. */
bool fby_dataset_write_name(
    const struct fby_dataset *self, uint64_t sample, char out[FBY_PATH_SIZE]);

/* The class id of a sample: the index of its class folder in byte order, among
 * the folders of the dataset or of spec->classes; 0 without class folders. */
uint32_t fby_dataset_class(const struct fby_dataset *self, uint64_t sample);

/* The value of a label from `folder`: the position of the sample's class folder
 * in `names` of the field, or without names fby_dataset_class(). Each folder
 * has a position if fby_dataset_check_fields() allowed the content. */
uint32_t fby_dataset_folder_label(const struct fby_dataset *self,
    uint64_t sample, const struct fby_content *content,
    const struct fby_field_content *field);

/* The number of classes, which are class folders; 0 in other datasets. */
uint32_t fby_dataset_class_count(const struct fby_dataset *self);

/* The name of class `id`, below fby_dataset_class_count(). Keys of samples
 * begin with it, and the data digest has the names if those of other classes
 * come from elsewhere: data digests differ where names differ. */
const char *fby_dataset_class_name(const struct fby_dataset *self, uint32_t id);

/* The length of a sample, in a dataset that was opened with a length_field. */
uint32_t fby_dataset_sample_length(
    const struct fby_dataset *self, uint64_t sample);

/* Are the samples rows of columns? Then they have no members. */
bool fby_dataset_has_rows(const struct fby_dataset *self);

/* Are the samples sequences of tokens, without packing (packed.h)? Then one is
 * read as a member, or many at a time (row_reader.h). */
bool fby_dataset_has_unpacked_tokens(const struct fby_dataset *self);

/* The number of shards for which fby_sequences_is_one_document() is true: the
 * end token in the pipeline is probably wrong. */
uint32_t fby_dataset_count_undivided(const struct fby_dataset *self);

/* Is the file with this device and inode one of those that the samples are read
 * from? Not known: entries of zip archives, and the file of a list. */
bool fby_dataset_has_file(
    const struct fby_dataset *self, uint64_t device, uint64_t inode);

/* A member of a sample, and where its bytes are. */
struct fby_member {
    uint64_t sample; /* its number in the dataset */
    uint32_t shard;  /* number of its shard */
    uint32_t index;  /* number of the member or sequence in the shard */
    uint64_t offset; /* in the shard's file, in bytes; 0: a file of its own */
    uint64_t size;   /* bytes */
    uint32_t width;  /* bytes of a token; 0: not a sequence */
    uint32_t documents; /* packed sequence: number of its documents, or pieces
                           of documents; else 0 */
};

/* Find the member of `sample` with the first of the extensions `exts` (lower
 * case, without the dot) that the sample has. In token files the member is
 * always the sequence, with its last target if there are targets. The bytes of
 * a packed sequence are the lengths of its documents in tokens (u32,
 * little-endian), followed by all tokens.
 * Errors: FBY_NOT_FOUND  the sample has no member with such an extension. */
FBY_CHECKED fby_err fby_dataset_find_member(const struct fby_dataset *self,
    uint64_t sample, const char (*exts)[FBY_NAME_SIZE], uint32_t n_exts,
    struct fby_member *out);

/* Write the path of a member that is a file of its own. It is also a name of
 * the sample, as from fby_dataset_write_name(). False: it has no such path. */
bool fby_dataset_write_member_name(const struct fby_dataset *self,
    const struct fby_member *member, char out[FBY_PATH_SIZE]);

/* The extension of a member of a sample, as in the data: "jpg", "mask.png". */
const char *fby_dataset_extension(
    const struct fby_dataset *self, const struct fby_member *member);

/* Does any sample have a member with this extension (lower case, without the
 * dot)? False for rows and sequences. */
bool fby_dataset_has_extension(
    const struct fby_dataset *self, const char *extension);

/* Read all of a member into `buffer` of `size` bytes.
 *
 * Blocks: for the storage; holds no lock meanwhile.
 * Errors: FBY_FULL   size < member->size
 *         FBY_STALE  the file changed since it was indexed; `buffer` is
 *                    undefined
 *         FBY_BAD_SAMPLE  an entry of an archive is damaged
 *         FBY_IO
 *         `why` is only the cause; fby_dataset_describe() adds the position. */
FBY_CHECKED fby_err fby_dataset_read(struct fby_dataset *self,
    const struct fby_member *member, void *buffer, size_t size,
    struct fby_error_detail *why);

/* Refuse fields that do not match the index: a label with fewer classes than
 * class folders or without the name of one, or a field of a missing column.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_dataset_check_fields(const struct fby_dataset *self,
    const struct fby_content *content, struct fby_error_detail *why);

/* Write the position of a sample or member as text, as a prefix for errors:
 * "shard train-0003.tar, sample 17 (key 0001), offset 1536"; in a folder "file
 * c00/0001.jpg, sample 17". With `member` NULL the text lists all members. */
void fby_dataset_describe(const struct fby_dataset *self, uint64_t sample,
    const struct fby_member *member, struct fby_error_detail *text);

#endif
