/* dataset.h - a dataset as a worker sees it: samples by number, bytes by pread.
 *
 * Opening makes the manifest (from the cache, or by a scan) and computes the
 * data digest. From then on the object is constant: a read delivers the bytes
 * that the manifest names, from a file that is still the one that was indexed,
 * or it fails. Sample numbers count through the shards in order. Of a source of
 * columns the samples are rows, which are read in runs (run.h). */
#ifndef FBY_WORKER_SOURCE_DATASET_H
#define FBY_WORKER_SOURCE_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hash.h"
#include "pipeline/types.h"
#include "worker/source/roots.h"

/* Called now and then by the thread that opens, with shards (of a folder:
 * class folders) done; return false to give up. */
struct fby_progress {
    bool (*fn)(void *arg, uint64_t done, uint64_t total); /* may be NULL */
    void *arg;
};

struct fby_dataset_spec {
    const struct fby_roots  *roots; /* borrowed until destroy */
    enum fby_source_kind     kind;
    const char              *pattern;   /* "NAME:path", borrowed for open */
    const struct fby_tokens *tokens;    /* of token files; likewise */
    const char              *cache_dir; /* NULL: the user's; "": no cache */
    bool                     hash;      /* XXH3-128 of every shard's bytes */
    uint32_t                 threads;   /* that scan; 0: one a core, up to 16 */
    uint32_t                 max_open;  /* files kept open; 0: 128 */
    const char (*files)[FBY_NAME_SIZE]; /* list: columns of paths, borrowed */
    uint32_t                        n_files;
    const struct fby_field_content *lengths; /* of whose rows (not of columns:
                                                NumPy members) the manifest has
                                                the lengths, for buckets;
                                                borrowed; NULL: none */
};

struct fby_dataset;

/* Make or load the manifest of the source.
 *
 * A shard of the cached manifest is taken while its file's device, inode,
 * size, mtime and ctime are what they were; others are scanned. A dataset that
 * was indexed with `hash` stays hashed. The user's cache directory is
 * $FOREBAY_CACHE_DIR, else $XDG_CACHE_HOME/forebay, else ~/.cache/forebay; one
 * that cannot be written is a warning.
 *
 * Blocks: for the scan.
 * Errors: FBY_USAGE      the pattern leads out of the roots
 *         FBY_NOT_FOUND  no shard, or one that the pattern names is missing
 *         FBY_CONFIG     the source is not one: empty, damaged, truncated
 *         FBY_IO, FBY_GONE (progress said false); `why` names the place. */
FBY_CHECKED fby_err fby_dataset_open(const struct fby_dataset_spec *spec,
    struct fby_progress progress, struct fby_dataset **out,
    struct fby_why *why);
void                fby_dataset_destroy(struct fby_dataset **self_p);

/* All below: any thread. Numbers given must be in range. */

uint64_t          fby_dataset_samples(const struct fby_dataset *self);
struct fby_digest fby_dataset_digest(const struct fby_dataset *self);
bool              fby_dataset_hashed(const struct fby_dataset *self);
/* Shards that the cached manifest spared a scan. */
uint32_t fby_dataset_reused(const struct fby_dataset *self);

/* Shards; of a folder, virtual ones of 1,024 samples. shard_samples() is an
 * array of fby_dataset_shards() numbers; it and the names live as long as
 * `self`. */
uint32_t        fby_dataset_shards(const struct fby_dataset *self);
const uint32_t *fby_dataset_shard_samples(const struct fby_dataset *self);
const char     *fby_dataset_shard_name(
        const struct fby_dataset *self, uint32_t shard);
struct fby_digest fby_dataset_shard_digest(
    const struct fby_dataset *self, uint32_t shard);

/* The shard that a sample lies in. */
uint32_t fby_dataset_shard_of(const struct fby_dataset *self, uint64_t sample);

/* The key of a sample, "c00/0001"; lives as long as `self`. Sequences of token
 * files have none: "". Rows of columns have none: theirs is "row 17", written
 * to `row`. */
struct fby_row_key {
    char text[24];
};
const char *fby_dataset_key(
    const struct fby_dataset *self, uint64_t sample, struct fby_row_key *row);

/* The id of a folder sample's class, which is the folder's place among them in
 * byte order; 0 in other datasets. */
uint32_t fby_dataset_class(const struct fby_dataset *self, uint64_t sample);

/* Class folders, each of which has samples; 0 in other datasets. */
uint32_t fby_dataset_classes(const struct fby_dataset *self);

/* Entries of a sample's row of the column, or of its member, that `lengths`
 * was, of a dataset that was opened with it. */
uint32_t fby_dataset_length(const struct fby_dataset *self, uint64_t sample);

/* Are its samples rows of columns? They have no members: see run.h. */
bool fby_dataset_has_rows(const struct fby_dataset *self);

/* Are its samples sequences of tokens that are cut? They are read in runs, too,
 * though each is a member as well; packed ones are members alone. */
bool fby_dataset_has_tokens(const struct fby_dataset *self);

/* Flat token files, longer than a sequence, with packed documents that hold
 * the token that ends them nowhere before their last one. */
uint32_t fby_dataset_undivided(const struct fby_dataset *self);

/* One member of one sample: where its bytes lie. */
struct fby_member {
    uint64_t sample;
    uint32_t shard;
    uint32_t index;     /* among the shard's members */
    uint64_t offset;    /* in its file; 0 where it is one, or a value */
    uint64_t size;      /* bytes */
    uint32_t width;     /* of a sequence: bytes of a token; else 0 */
    uint32_t documents; /* in a packed one; their lengths come first */
};

/* The member of `sample` with the first of `exts` (lower case, without the
 * dot) that it has; of token files the sequence, its last target included,
 * whatever they are; of packed ones the lengths of its documents (u32,
 * little-endian), then their tokens. FBY_NOT_FOUND: it has none of them. */
FBY_CHECKED fby_err fby_dataset_find(const struct fby_dataset *self,
    uint64_t sample, const char (*exts)[FBY_NAME_SIZE], uint32_t n_exts,
    struct fby_member *out);

/* Has any sample a member of that extension (lower case)? Rows of columns and
 * sequences have none. */
bool fby_dataset_has(const struct fby_dataset *self, const char *extension);

/* Read all of `member`, as found, into `buffer` of `size` bytes.
 *
 * Blocks: for the file system; no lock is held meanwhile.
 * Errors: FBY_FULL   size < member->size
 *         FBY_STALE  the file is no longer the one that was indexed; the
 *                    buffer's contents are then of no use
 *         FBY_IO
 *         `why` says what happened; fby_dataset_place says where. */
FBY_CHECKED fby_err fby_dataset_read(struct fby_dataset *self,
    const struct fby_member *member, void *buffer, size_t size,
    struct fby_why *why);

/* Refuse a content whose fields this data does not have, as far as is known
 * before samples are read: too few classes, columns that are not there.
 * Errors: FBY_CONFIG, with `why`. */
FBY_CHECKED fby_err fby_dataset_check_fields(const struct fby_dataset *self,
    const struct fby_content *content, struct fby_why *why);

/* Write "shard train-0003.tar, sample 17 (key 0001), offset 1536" (of a
 * folder "file c00/0001.jpg, sample 17"), for fby_because_in and the like.
 * `member` may be NULL; then the sample's members are listed instead. */
void fby_dataset_place(const struct fby_dataset *self, uint64_t sample,
    const struct fby_member *member, struct fby_why *text);

#endif
