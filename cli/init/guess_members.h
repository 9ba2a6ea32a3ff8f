/* SPDX-License-Identifier: Apache-2.0 */
/* guess_members.h - count the members (files or values) of samples, and look at
 * their pictures. An opener hides where the files are. */
#ifndef FBY_CLI_INIT_GUESS_MEMBERS_H
#define FBY_CLI_INIT_GUESS_MEMBERS_H

#include "cli/init/guess.h"
#include "worker/source/index.h"
#include "worker/source/object.h"

/* The entry of split->members for that suffix; NULL: none. */
struct fby_init_member *fby_guess_find_member(
    struct fby_guess_split *split, const char *suffix);

/* The index in split->members of the value with that key in the files with that
 * extension, and with "" that of the files; n_members: none. */
uint32_t fby_guess_find_key(const struct fby_guess_split *split,
    const char *extension, const char *key);

/* Add the samples and members of a shard to the counts of the split. */
void fby_guess_count_members(
    struct fby_guess_split *split, const struct fby_shard *shard);

/* An open file that contains a member. */
struct fby_member_file {
    struct fby_object object;
    uint64_t          offset; /* of the member in the file, in bytes */
};

/* A function that opens the file with a member of a shard, and its argument. It
 * sets out->offset only if this is not 0. */
struct fby_member_opener {
    fby_err (*open)(const void *arg, const struct fby_shard *shard,
        uint32_t member, struct fby_member_file *out,
        struct fby_error_detail *why);
    const void *arg;
};

/* Set what the header of the file of member `m` tells: is_png and what follows.
 * Errors: those of opening; FBY_IO. */
FBY_CHECKED fby_err fby_guess_read_png(struct fby_init_member *member,
    const struct fby_shard *shard, uint32_t m,
    const struct fby_member_opener *opener, struct fby_error_detail *why);

/* For each extension of PNG files without `header_read`: read the header of its
 * first file in `shard`. Call this after fby_guess_count_members.
 * Errors: those of opening; FBY_IO. */
FBY_CHECKED fby_err fby_guess_read_pngs(struct fby_guess_split *split,
    const struct fby_shard *shard, const struct fby_member_opener *opener,
    struct fby_error_detail *why);

/* True if the split has pictures that may be masks, and others. */
bool fby_guess_has_masks(const struct fby_guess_split *split);

/* Look at the headers of the masks of `shard`, until those of
 * FBY_GUESS_MASKS samples of the split are checked. If one has no ids, the
 * extension has none: may_be_ids becomes false, and no_ids says why
 * (guess_mask_files.c). A file that cannot be read is skipped. */
void fby_guess_check_masks(struct fby_guess_split *split,
    const struct fby_shard *shard, const struct fby_member_opener *opener);

/* Why the file has no ids, by its header: "has colours". */
const char *fby_guess_why_no_ids(const struct fby_init_member *header);

/* If the split has masks or arrays: check the masks of `shard`, and measure the
 * pictures of the first samples, once for a split (guess_sizes.c). A file that
 * cannot be read or decoded has no size. */
void fby_guess_read_sizes(struct fby_guess_split *split,
    const struct fby_shard *shard, const struct fby_member_opener *opener);

/* Sort the members, the most frequent first, and set `always`. Call this after
 * the last fby_guess_count_members. */
void fby_guess_sort_members(struct fby_guess_split *split);

/* Count the members of all shards of an index, read PNG headers, and sort the
 * members. Sets split->counted_all.
 * Errors: those of fby_guess_read_pngs. */
FBY_CHECKED fby_err fby_guess_count_index(struct fby_guess_split *split,
    const struct fby_index *index, struct fby_error_detail *why);

/* True if the PNG file at `path` is grey of 16 bits (guess_members.c). */
bool fby_guess_is_grey16(const struct fby_root *root, const char *path);

/* True if the file is a picture that is decoded, by its first bytes
 * (guess_sizes.c). */
bool fby_guess_is_picture_file(const struct fby_root *root, const char *path);

/* True if its pixels may be ids of a mask, by the header. */
bool fby_guess_may_be_ids(const struct fby_root *root, const char *path);

#endif
