/* guess_look.h - what the files of a guess share while they look. */
#ifndef FBY_CLI_INIT_GUESS_LOOK_H
#define FBY_CLI_INIT_GUESS_LOOK_H

#include "cli/init/guess.h"
#include "worker/source/index.h"
#include "worker/source/listing.h"
#include "worker/source/roots.h"

struct fby_look {
    struct fby_roots      *roots; /* one, around the directory */
    const struct fby_root *root;
    char                   only[FBY_PATH_SIZE]; /* the one file; "": all */
    enum fby_type          tokens;
    const char            *name; /* of the split, where files do not say it */
    struct fby_guess      *out;
};

/* The next split; NULL, and counted, when there are as many as can be. */
struct fby_guess_split *fby_look_begin(struct fby_look *look, const char *name);

/* How many splits were found so far, those that are only counted among them. */
static inline uint32_t fby_look_found(const struct fby_look *look)
{
    return look->out->n_splits + look->out->n_more;
}

/* A name that no split has, of what begins with `stem`: the word in it, else
 * look->name, else the stem itself ("in1k-a-" makes "in1k-a"). */
void fby_look_name(
    const struct fby_look *look, const char *stem, char out[FBY_NAME_SIZE]);

/* The word for a split that a name holds ("in1k-train-" makes "train"), or
 * NULL. */
const char *fby_look_word(const char *name);

/* Is there a split of that name? */
bool fby_look_has(const struct fby_look *look, const char *name);

/* Refuse letters that mean something in patterns. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_look_letters(const char *name, struct fby_why *why);

/* Set the pattern of a split: the root's directory and `below`. */
FBY_CHECKED fby_err fby_look_pattern(const struct fby_look *look,
    const char *below, struct fby_guess_split *split, struct fby_why *why);

/* Index a source whose kind, tokens and files `spec` says, at `below`. Release
 * `out` with fini, also after an error. Errors: as fby_index_build. */
FBY_CHECKED fby_err fby_look_index(const struct fby_look *look,
    struct fby_dataset_spec *spec, const char *below, struct fby_index *out,
    struct fby_why *why);

/* ---- members (guess_members.c) ---- */

/* Count the members of a shard. */
void fby_look_tally(
    struct fby_guess_split *split, const struct fby_shard *shard);

/* Open the file of a shard's member. */
struct fby_look_place {
    int      fd;
    uint64_t offset; /* where in it the member begins */
};
struct fby_look_files {
    fby_err (*open)(const void *arg, const struct fby_shard *shard,
        uint32_t member, struct fby_look_place *out, struct fby_why *why);
    const void *arg;
};

/* Look into the first PNG file of each extension that `shard` has, unless one
 * was looked at; all members are tallied. Errors: of opening; FBY_IO. */
FBY_CHECKED fby_err fby_look_into_pngs(struct fby_guess_split *split,
    const struct fby_shard *shard, const struct fby_look_files *files,
    struct fby_why *why);

/* All are counted: the most used first. */
void fby_look_finish(struct fby_guess_split *split);

/* Tally all shards of an index whose members are files, and look into PNGs. */
FBY_CHECKED fby_err fby_look_take(struct fby_guess_split *split,
    const struct fby_index *index, struct fby_why *why);

/* ---- values (guess_values.c) ---- */

/* Take one more value of a list's column into what is known of it. */
void fby_look_at_value(
    struct fby_init_member *member, const char *text, size_t size);

/* ---- kinds ----
 * Each looks for its kind among the entries of `path`, and adds a split for
 * each that it finds: of a list, of parallel folders, of token files.
 * Errors: of listing; FBY_CONFIG for what is of its kind, but wrong. */
FBY_CHECKED fby_err fby_look_at_lists(struct fby_look *look, const char *path,
    const struct fby_listing *listing, struct fby_why *why);
FBY_CHECKED fby_err fby_look_at_parallel(struct fby_look *look,
    const char *path, const struct fby_listing *listing, struct fby_why *why);
FBY_CHECKED fby_err fby_look_at_tokens(struct fby_look *look, const char *path,
    const struct fby_listing *listing, struct fby_why *why);

#endif
