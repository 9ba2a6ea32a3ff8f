/* SPDX-License-Identifier: Apache-2.0 */
/* guess_search.h - the state of one search for data, shared by guess_*.c.
 *
 * A search looks for data of each kind in a directory, and adds the splits that
 * it finds to the guess. Most kinds have a file of their own. */
#ifndef FBY_CLI_INIT_GUESS_SEARCH_H
#define FBY_CLI_INIT_GUESS_SEARCH_H

#include "cli/init/guess.h"
#include "worker/source/index.h"
#include "worker/source/listing.h"
#include "worker/source/object.h"
#include "worker/source/roots.h"

struct fby_search {
    struct fby_roots      *roots;  /* contains only `root` */
    const struct fby_root *root;   /* the directory that is searched */
    char only_file[FBY_PATH_SIZE]; /* name of the only file to look at, or "" */
    enum fby_type     token_type;  /* of flat files; 0: unknown */
    const char       *default_name; /* of a split without a split word */
    struct fby_guess *out;
};

/* Add a split to the guess. If the guess already has FBY_GUESS_SPLITS, only
 * count the split (n_left_out) and return NULL. */
struct fby_guess_split *fby_guess_add_split(
    struct fby_search *search, const char *name);

/* The number of splits found so far, with those that are only counted. */
static inline uint32_t fby_guess_n_splits(const struct fby_search *search)
{
    return search->out->n_splits + search->out->n_left_out;
}

/* Choose an unused name for a split whose files begin with `stem`: the split
 * word in `stem`, else search->default_name, else `stem` without its end
 * ("in1k-a-" gives "in1k-a"), else "split" and a number. */
void fby_guess_name_of_split(
    const struct fby_search *search, const char *stem, char out[FBY_NAME_SIZE]);

/* The split word in a name ("in1k-train-" gives "train"); NULL: none. */
const char *fby_guess_split_word(const char *name);

/* True if the guess has a split of that name. */
bool fby_guess_has_split(const struct fby_search *search, const char *name);

/* Errors: FBY_CONFIG if a name has special characters of patterns. */
FBY_CHECKED fby_err fby_guess_check_name(
    const char *name, struct fby_error_detail *why);

/* Set the pattern of a split to `below`, a path below the root's directory.
 * Errors: FBY_CONFIG if the pattern is too long. */
FBY_CHECKED fby_err fby_guess_set_pattern(const struct fby_search *search,
    const char *below, struct fby_guess_split *split,
    struct fby_error_detail *why);

/* Index the source at the path `below` in the root. The caller sets the kind,
 * tokens and files of `spec`; this function sets the rest.
 * Call fby_index_fini on `out` also after an error.
 * Errors: those of fby_index_build. */
FBY_CHECKED fby_err fby_guess_index(const struct fby_search *search,
    struct fby_dataset_spec *spec, const char *below, struct fby_index *out,
    struct fby_error_detail *why);

/* ---- members: the files or values of a sample (guess_members.c) ---- */

/* The entry of split->members for that suffix; NULL: none. */
struct fby_init_member *fby_guess_find_member(
    struct fby_guess_split *split, const char *suffix);

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

/* For each extension of PNG files without `header_read`: read the header of its
 * first file in `shard`. Call this after fby_guess_count_members.
 * Errors: those of opening; FBY_IO. */
FBY_CHECKED fby_err fby_guess_read_pngs(struct fby_guess_split *split,
    const struct fby_shard *shard, const struct fby_member_opener *opener,
    struct fby_error_detail *why);

/* Sort the members, the most frequent first, and set `always`. Call this after
 * the last fby_guess_count_members. */
void fby_guess_sort_members(struct fby_guess_split *split);

/* Count the members of all shards of an index, read PNG headers, and sort the
 * members. Sets split->counted_all.
 * Errors: those of fby_guess_read_pngs. */
FBY_CHECKED fby_err fby_guess_count_index(struct fby_guess_split *split,
    const struct fby_index *index, struct fby_error_detail *why);

/* ---- values (guess_values.c) ---- */

/* Update the kind and the lengths of a list's column with one more value. */
void fby_guess_add_value(
    struct fby_init_member *member, const char *text, size_t size);

/* ---- columns (guess_columns.c) ---- */

/* The tables (shards of columns) of a directory. A table is a folder of .npy
 * files or of sparse matrices of SciPy, or an .npz file of NumPy. */
struct fby_guess_tables {
    uint32_t shards;   /* number of tables */
    bool     is_table; /* the directory is a table: it has .npy files */
    char     first[FBY_PATH_SIZE];     /* path of the first, below the root */
    char     pattern[FBY_PATH_SIZE];   /* pattern of all, below the root */
    char     misplaced[FBY_PATH_SIZE]; /* a matrix beside tables; "": none */
};

/* Find the tables in the listing of `path`.
 * Errors: those of listing and reading them. */
FBY_CHECKED fby_err fby_guess_find_tables(const struct fby_root *root,
    const char *path, const struct fby_listing *listing,
    struct fby_guess_tables *out, struct fby_error_detail *why);

/* Read the headers of the first table into `split`.
 * Errors: those of fby_columns_scan, with the path; FBY_CONFIG if a matrix is
 *         misplaced. */
FBY_CHECKED fby_err fby_guess_scan_columns(const struct fby_root *root,
    const struct fby_guess_tables *found, struct fby_guess_split *split,
    struct fby_error_detail *why);

/* ---- other kinds ---- */

/* Add a split for each list (.csv, .jsonl) in the listing of `path`.
 * Errors: those of reading; FBY_CONFIG for an invalid list. */
FBY_CHECKED fby_err fby_guess_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why);

/* Add a split for each set of parallel folders, such as images and masks.
 * Errors: those of listing; FBY_CONFIG for an invalid folder name. */
FBY_CHECKED fby_err fby_guess_parallel(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Add a split for each group of token files.
 * Errors: those of reading; FBY_CONFIG for invalid files. */
FBY_CHECKED fby_err fby_guess_tokens(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

#endif
