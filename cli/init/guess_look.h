/* guess_look.h - the state of one guess, shared by the guess_*.c files.
 *
 * Each kind of source has a file that adds the splits it finds to the guess. */
#ifndef FBY_CLI_INIT_GUESS_LOOK_H
#define FBY_CLI_INIT_GUESS_LOOK_H

#include "cli/init/guess.h"
#include "worker/source/index.h"
#include "worker/source/listing.h"
#include "worker/source/object.h"
#include "worker/source/roots.h"

struct fby_look {
    struct fby_roots      *roots; /* one root: the directory */
    const struct fby_root *root;
    char                   only[FBY_PATH_SIZE]; /* a single file; "": all */
    enum fby_type          tokens;              /* type of tokens; 0: unknown */
    const char            *name;                /* default name of a split */
    struct fby_guess      *out;
};

/* Add a split to the guess. At FBY_GUESS_SPLITS it only counts it (n_more) and
 * returns NULL. */
struct fby_guess_split *fby_look_add_split(
    struct fby_look *look, const char *name);

/* The number of splits found so far, with those that were only counted. */
static inline uint32_t fby_look_n_splits(const struct fby_look *look)
{
    return look->out->n_splits + look->out->n_more;
}

/* Choose an unused name for a split whose files begin with `stem`: the split
 * word in it, else look->name, else the stem ("in1k-a-" gives "in1k-a"). */
void fby_look_split_name(
    const struct fby_look *look, const char *stem, char out[FBY_NAME_SIZE]);

/* The split word in a name ("in1k-train-" gives "train"); NULL: none. */
const char *fby_look_split_word(const char *name);

/* True if the guess has a split of that name. */
bool fby_look_has_split(const struct fby_look *look, const char *name);

/* Refuse names with special characters of patterns. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_look_check_name(const char *name, struct fby_why *why);

/* Set the pattern of a split to `below` in the root's directory.
 * Errors: FBY_CONFIG when it is too long. */
FBY_CHECKED fby_err fby_look_pattern(const struct fby_look *look,
    const char *below, struct fby_guess_split *split, struct fby_why *why);

/* Index the source at `below`; `spec` gives its kind, tokens and files. Call
 * fini on `out` also after an error. Errors: those of fby_index_build. */
FBY_CHECKED fby_err fby_look_index(const struct fby_look *look,
    struct fby_dataset_spec *spec, const char *below, struct fby_index *out,
    struct fby_why *why);

/* ---- members (guess_members.c) ---- */

/* Add the samples and members of a shard to the counts of the split. */
void fby_look_count(
    struct fby_guess_split *split, const struct fby_shard *shard);

/* An open file that contains a member. */
struct fby_look_file {
    struct fby_object object;
    uint64_t          offset; /* where the member begins */
};

/* How to open the file of a shard's member. */
struct fby_look_opener {
    fby_err (*open)(const void *arg, const struct fby_shard *shard,
        uint32_t member, struct fby_look_file *out, struct fby_why *why);
    const void *arg;
};

/* Read the header of the first PNG file of each extension in `shard`, unless
 * one was read before. Call it after fby_look_count.
 * Errors: those of opening; FBY_IO. */
FBY_CHECKED fby_err fby_look_at_pngs(struct fby_guess_split *split,
    const struct fby_shard *shard, const struct fby_look_opener *opener,
    struct fby_why *why);

/* After the last count: sort the members, the most frequent first. */
void fby_look_sort(struct fby_guess_split *split);

/* Count the members of all shards of an index, read PNG headers, and sort.
 * Errors: those of fby_look_at_pngs. */
FBY_CHECKED fby_err fby_look_count_index(struct fby_guess_split *split,
    const struct fby_index *index, struct fby_why *why);

/* ---- values (guess_values.c) ---- */

/* Update the kind of a list's column with one more value. */
void fby_look_at_value(
    struct fby_init_member *member, const char *text, size_t size);

/* ---- kinds ---- */

/* Add a split for each list (.csv, .jsonl) in the listing of `path`.
 * Errors: those of reading; FBY_CONFIG for an invalid list. */
FBY_CHECKED fby_err fby_look_at_lists(struct fby_look *look, const char *path,
    const struct fby_listing *listing, struct fby_why *why);

/* The same for parallel folders, such as images and masks.
 * Errors: those of listing; FBY_CONFIG for an invalid folder name. */
FBY_CHECKED fby_err fby_look_at_parallel(struct fby_look *look,
    const char *path, const struct fby_listing *listing, struct fby_why *why);

/* The same for groups of token files.
 * Errors: those of reading; FBY_CONFIG for invalid files. */
FBY_CHECKED fby_err fby_look_at_tokens(struct fby_look *look, const char *path,
    const struct fby_listing *listing, struct fby_why *why);

#endif
