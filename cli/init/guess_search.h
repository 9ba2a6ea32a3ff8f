/* SPDX-License-Identifier: Apache-2.0 */
/* guess_search.h - the state of one search for data, shared by guess_*.c and
 * refuse_*.c.
 *
 * A search looks for data of each kind in a directory, and adds the splits that
 * it finds to the guess. Each kind has a header of its own.
 *
 * Functions fby_guess_*() look for data. Functions fby_refuse_*() return FBY_OK,
 * or the error of data that is not read as it is, which says what to do. */
#ifndef FBY_CLI_INIT_GUESS_SEARCH_H
#define FBY_CLI_INIT_GUESS_SEARCH_H

#include <pthread.h>

#include "cli/init/guess.h"
#include "worker/source/index.h"
#include "worker/source/listing.h"
#include "worker/source/roots.h"

struct fby_search {
    struct fby_roots      *roots;  /* contains only `root` */
    const struct fby_root *root;   /* the directory that is searched */
    char only_file[FBY_PATH_SIZE]; /* name of the only file to look at, or "" */
    enum fby_type token_type;      /* of flat files; 0: unknown */
    uint32_t      class_depth;     /* of fby_source_guess_at_depth() */
    const char   *default_name;    /* of a split without a split word */
    /* The split that comes first: train, or one for evaluation that is alone. */
    const char         *main_split;
    struct fby_progress progress; /* of fby_source_guess_at_depth() */
    struct fby_guess   *out;
    /* The class folders of main_split, without their files; NULL: none. */
    struct fby_folder *train;
    uint32_t           n_train;
    pthread_mutex_t    lock; /* of out->linked, while links are followed */
    bool               ignores_links; /* only listing: links may be unrelated */
    bool               in_zip;        /* `root` reads a zip archive */
    bool               must_unpack;   /* the error says to unpack it */
};

/* A function of fby_roots_follow_outside(), with a struct fby_search: note the
 * directory of a link's target, unless search->ignores_links. */
void fby_guess_note_link(void *arg, const char *target);

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
 * word in `stem`, else `stem` without its end ("in1k-a-" gives "in1k-a"), else
 * "split" and a number. */
void fby_guess_name_of_split(
    const struct fby_search *search, const char *stem, char out[FBY_NAME_SIZE]);

/* True if the guess has a split of that name. */
bool fby_guess_has_split(const struct fby_search *search, const char *name);

/* Refuse a name that has special characters of patterns.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_refuse_name(
    const char *name, struct fby_error_detail *why);

/* Set the pattern of a split to `below`, a path below the root's directory.
 * Errors: FBY_CONFIG if the pattern is too long. */
FBY_CHECKED fby_err fby_guess_set_pattern(const struct fby_search *search,
    const char *below, struct fby_guess_split *split,
    struct fby_error_detail *why);

/* Visit the entries of a directory, in which links may have nothing to do with
 * the data. n_dangling counts links that lead to no file; NULL: not needed.
 * Errors: those of fby_listing_visit(). */
FBY_CHECKED fby_err fby_guess_visit_dir(struct fby_search *search,
    const char *path, const char *glob, fby_listing_visit_fn *visit, void *arg,
    uint32_t *n_dangling, struct fby_error_detail *why);

/* List a directory, in which links may have nothing to do with the data. Of the
 * types of files that may be very many (jpg, txt, json and so on), the listing
 * has any one.
 * Errors: those of fby_listing_visit(). */
FBY_CHECKED fby_err fby_guess_list_dir(struct fby_search *search,
    const char *path, const char *glob, struct fby_listing *out,
    struct fby_error_detail *why);

/* The number of folders in a listing. *first is the name of the first. */
uint32_t fby_guess_count_dirs(
    const struct fby_listing *listing, const char **first);

/* The only folder in a listing; NULL: none, or several. */
const char *fby_guess_find_only_dir(const struct fby_listing *listing);

/* Is there the file `file`, a name or path, in the folder `dir`? */
bool fby_guess_has_file(
    const struct fby_root *root, const char *dir, const char *file);

/* Read the beginning of the file `file` in the folder `dir`: at most size - 1 bytes,
 * then a NUL. Returns false if it cannot be read. */
bool fby_guess_read_begin(const struct fby_root *root, const char *dir,
    const char *file, char *out, size_t size);

/* The first file in a listing whose name ends so; NULL: none. */
const char *fby_guess_find_file(
    const struct fby_listing *listing, const char *ending);

/* Look in the folder `dir` for a picture whose name before its last dot is the
 * `size` bytes of `stem`, with an ending in upper or lower case. `ending` gets
 * that: ".jpg". */
bool fby_guess_find_picture(const struct fby_root *root, const char *dir,
    const char *stem, size_t size, char ending[FBY_NAME_SIZE]);

/* Index the source at the path `below` in the root. The caller sets the kind,
 * tokens and files of `spec`; this function sets the rest.
 * Call fby_index_fini on `out` also after an error.
 * Errors: those of fby_index_build. */
FBY_CHECKED fby_err fby_guess_index(const struct fby_search *search,
    struct fby_dataset_spec *spec, const char *below, struct fby_index *out,
    struct fby_error_detail *why);

/* Add the data of the folders train, val and so on in the folder `path`; if
 * there is no folder train, the data of the folder itself (guess.c). */
FBY_CHECKED fby_err fby_guess_splits_below(struct fby_search *search,
    const char *path, const char *name, struct fby_error_detail *why);

#endif
