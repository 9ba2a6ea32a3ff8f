#include "worker/source/guess.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/pipeline/text.h"
#include "worker/source/folder.h"
#include "worker/source/guess_columns.h"
#include "worker/source/listing.h"
#include "worker/source/roots.h"
#include "worker/source/tar.h"
#include "worker/source/tar_names.h"

enum { ENOUGH_SAMPLES = 20000 };

struct look {
    struct fby_roots      *roots; /* one, around the directory */
    const struct fby_root *root;
    struct fby_guess      *out;
    uint32_t               counts[FBY_GUESS_EXTENSIONS]; /* of this split */
};

/* Split names that people give to folders and files; the first that a name
 * holds wins, and what pulls first stands first. */
static const char *const known_splits[] = {
    "train", "validation", "valid", "val", "test"};
enum { KNOWN_SPLITS = 5 };

static void tally_suffix(
    struct look *look, struct fby_guess_split *split, const char *suffix)
{
    uint32_t i = 0;
    while (i < split->n_extensions &&
           !fby_suffix_is(suffix, split->extensions[i])) {
        i++;
    }
    if (i == FBY_GUESS_EXTENSIONS) {
        return;
    }
    if (i == split->n_extensions) {
        split->n_extensions++;
        look->counts[i] = 0;
        for (size_t c = 0; suffix[c] != '\0'; c++) {
            bool upper              = suffix[c] >= 'A' && suffix[c] <= 'Z';
            split->extensions[i][c] = (char)(suffix[c] + (upper ? 32 : 0));
        }
    }
    look->counts[i]++;
}

static void swap_extensions(
    struct look *look, struct fby_guess_split *split, uint32_t i)
{
    char     name[FBY_NAME_SIZE];
    uint32_t count = look->counts[i];
    memcpy(name, split->extensions[i], sizeof(name));
    memcpy(split->extensions[i], split->extensions[i - 1], sizeof(name));
    memcpy(split->extensions[i - 1], name, sizeof(name));
    look->counts[i]     = look->counts[i - 1];
    look->counts[i - 1] = count;
}

static void sort_extensions(struct look *look, struct fby_guess_split *split)
{
    for (uint32_t i = 1; i < split->n_extensions; i++) {
        for (uint32_t k = i; k > 0 && look->counts[k - 1] < look->counts[k];
             k--) {
            swap_extensions(look, split, k);
        }
    }
}

static void tally(struct look *look, struct fby_guess_split *split,
    const struct fby_shard *shard)
{
    split->samples += shard->samples;
    for (uint32_t m = 0; m < shard->members; m++) {
        tally_suffix(look, split, fby_shard_suffix(shard, m));
    }
}

static struct fby_guess_split *begin_split(struct look *look, const char *name)
{
    if (look->out->n_splits == FBY_GUESS_SPLITS) {
        return NULL;
    }
    struct fby_guess_split *split = &look->out->splits[look->out->n_splits++];
    memset(split, 0, sizeof(*split));
    memset(look->counts, 0, sizeof(look->counts));
    snprintf(split->name, sizeof(split->name), "%s", name);
    return split;
}

static fby_err look_into_shard(struct look *look, const char *path,
    struct fby_guess_split *split, struct fby_why *why)
{
    struct fby_shard shard = {0};
    struct stat      st;
    int              fd = -1;
    fby_err err = fby_root_open(look->root, path, FBY_WANT_FILE, &fd, why);
    if (err != FBY_OK) {
        return err;
    }
    if (fstat(fd, &st) == 0) {
        struct fby_tar_file file = {.fd = fd, .size = (uint64_t)st.st_size};
        fby_shard_init(&shard, path, false);
        err = fby_tar_scan(&file, &shard, why);
    } else {
        err = fby_because(why, FBY_IO, "%s", strerror(errno));
    }
    close(fd);
    if (err == FBY_OK) {
        tally(look, split, &shard);
    }
    fby_shard_fini(&shard);
    return err == FBY_OK ? FBY_OK : fby_because_in(why, err, "shard %s", path);
}

static bool name_taken(const struct look *look, const char *name)
{
    for (uint32_t i = 0; i < look->out->n_splits; i++) {
        if (strcmp(look->out->splits[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool holds_known(const char *text, const char **known)
{
    for (size_t i = 0; i < KNOWN_SPLITS; i++) {
        if (strstr(text, known_splits[i]) != NULL) {
            *known = known_splits[i];
            return true;
        }
    }
    return false;
}

/* "in1k-train-" makes "train", else letters and digits of the prefix. */
static void name_run(const struct look *look, const struct fby_tar_run *run,
    char out[FBY_NAME_SIZE])
{
    char        prefix[FBY_NAME_SIZE];
    const char *known = "train";
    snprintf(prefix, sizeof(prefix), "%.*s", run->prefix, run->first);
    bool   found = holds_known(prefix, &known);
    size_t n     = strlen(prefix);
    while (n > 0 && strchr("-_.", prefix[n - 1]) != NULL) {
        prefix[--n] = '\0';
    }
    bool usable = fby_text_is_name(prefix) && !name_taken(look, prefix);
    bool first  = look->out->n_splits == 0;
    if (!name_taken(look, known) && (found || first)) {
        snprintf(out, FBY_NAME_SIZE, "%s", known);
    } else if (usable) {
        snprintf(out, FBY_NAME_SIZE, "%s", prefix);
    } else {
        snprintf(out, FBY_NAME_SIZE, "split%u", look->out->n_splits + 1);
    }
}

static fby_err look_at_run(struct look *look, const char *path,
    const struct fby_tar_run *run, struct fby_why *why)
{
    char shards[FBY_PATH_SIZE];
    char first[FBY_PATH_SIZE];
    char below[FBY_PATH_SIZE];
    char name[FBY_NAME_SIZE];
    name_run(look, run, name);
    struct fby_guess_split *split = begin_split(look, name);
    if (split == NULL) {
        return FBY_OK;
    }
    fby_tar_run_pattern(run, shards, sizeof(shards));
    fby_err err = fby_path_join(path, run->first, first, why);
    if (err == FBY_OK) {
        err = fby_path_join(path, shards, below, why);
    }
    if (err == FBY_OK) {
        err =
            fby_path_join(fby_root_dir(look->root), below, split->pattern, why);
    }
    split->shards      = run->count;
    split->counted_all = run->count == 1;
    look->out->kind    = FBY_SOURCE_SHARDS;
    if (err == FBY_OK) {
        err = look_into_shard(look, first, split, why);
    }
    sort_extensions(look, split);
    return err;
}

static fby_err check_letters(const char *name, struct fby_why *why)
{
    if (strpbrk(name, "{}*?,") == NULL) {
        return FBY_OK;
    }
    return fby_because(why, FBY_CONFIG,
        "the name of %s has a letter that means something in patterns; "
        "rename it",
        fby_text_show(name).text);
}

/* The tar files of a listing, moved to its front: groups are then runs. */
static uint32_t tars_first(struct fby_listing *listing)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (!entry->is_dir && fby_is_tar_name(entry->name)) {
            struct fby_entry other = listing->entries[n];
            listing->entries[n++]  = *entry;
            listing->entries[i]    = other;
        }
    }
    return n;
}

static fby_err look_at_tars(struct look *look, const char *path,
    const struct fby_entry *tars, uint32_t n, struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < n;) {
        struct fby_tar_run run = fby_tar_run_begin(tars[i].name);
        i++;
        while (i < n && fby_tar_run_join(&run, tars[i].name)) {
            i++;
        }
        err = check_letters(fby_root_dir(look->root), why);
        if (err == FBY_OK) {
            err = check_letters(run.first, why);
        }
        if (err == FBY_OK) {
            err = look_at_run(look, path, &run, why);
        }
    }
    return err;
}

static fby_err tally_folder(struct look *look, struct fby_guess_split *split,
    const struct fby_folder_class *classes, struct fby_why *why)
{
    struct fby_shard *shards = NULL;
    uint32_t          n      = 0;
    fby_err err = fby_folder_cut(classes, split->classes, &shards, &n, why);
    for (uint32_t i = 0; i < n; i++) {
        if (err == FBY_OK) {
            tally(look, split, &shards[i]);
        }
        fby_shard_fini(&shards[i]);
    }
    free(shards);
    sort_extensions(look, split);
    return err;
}

static fby_err look_at_classes(
    struct look *look, const char *path, const char *name, struct fby_why *why)
{
    struct fby_folder_class *classes = NULL;
    uint32_t                 n       = 0;
    atomic_bool              stop    = false;
    struct fby_guess_split  *split   = begin_split(look, name);
    if (split == NULL) {
        return FBY_OK;
    }
    fby_err  err   = fby_folder_classes(look->root, path, &classes, &n, why);
    uint64_t files = 0;
    uint32_t i     = 0;
    for (; err == FBY_OK && i < n && files < ENOUGH_SAMPLES; i++) {
        err = fby_folder_walk(look->root, path, &stop, &classes[i], why);
        files += classes[i].count;
    }
    split->classes     = n;
    split->counted_all = i == n;
    look->out->kind    = FBY_SOURCE_FOLDER;
    if (err == FBY_OK) {
        err = tally_folder(look, split, classes, why);
    }
    if (err == FBY_OK) {
        err =
            fby_path_join(fby_root_dir(look->root), path, split->pattern, why);
    }
    fby_folder_classes_free(classes, n);
    return err;
}

static bool has_dir(const struct fby_listing *listing, const char *name)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        if (listing->entries[i].is_dir &&
            strcmp(listing->entries[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static fby_err look_at_table(struct look *look, const char *name,
    const struct fby_guess_columns *found, struct fby_why *why)
{
    struct fby_guess_split *split = begin_split(look, name);
    if (split == NULL) {
        return FBY_OK;
    }
    look->out->kind = FBY_SOURCE_COLUMNS;
    fby_err err     = check_letters(fby_root_dir(look->root), why);
    if (err == FBY_OK) {
        err = fby_path_join(
            fby_root_dir(look->root), found->pattern, split->pattern, why);
    }
    return err == FBY_OK
               ? fby_guess_look_at_columns(look->root, found, split, why)
               : err;
}

/* Columns or class folders directly in `path`, which has no tar files. */
static fby_err look_at_folder(struct look *look, const char *path,
    const char *name, const struct fby_listing *listing, struct fby_why *why)
{
    struct fby_guess_columns found;
    fby_err err = fby_guess_columns(look->root, path, listing, &found, why);
    if (err != FBY_OK) {
        return err;
    }
    return found.shards > 0 ? look_at_table(look, name, &found, why)
                            : look_at_classes(look, path, name, why);
}

/* Tar files, columns or class folders directly in `path`. */
static fby_err look_at_split(
    struct look *look, const char *path, const char *name, struct fby_why *why)
{
    struct fby_listing listing = {0};
    uint32_t           before  = look->out->n_splits;
    fby_err  err  = fby_listing_read(look->root, path, NULL, &listing, why);
    uint32_t tars = tars_first(&listing);
    if (err == FBY_OK && tars > 0) {
        err = look_at_tars(look, path, listing.entries, tars, why);
    } else if (err == FBY_OK) {
        err = look_at_folder(look, path, name, &listing, why);
    }
    if (err == FBY_OK && look->out->n_splits == before + 1) {
        snprintf(look->out->splits[before].name, FBY_NAME_SIZE, "%s", name);
    }
    fby_listing_fini(&listing);
    return err;
}

static fby_err look_at_root(struct look *look, struct fby_why *why)
{
    struct fby_listing listing = {0};
    fby_err err      = fby_listing_read(look->root, "", NULL, &listing, why);
    bool    by_split = has_dir(&listing, "train");
    for (size_t i = 0; err == FBY_OK && by_split && i < KNOWN_SPLITS; i++) {
        if (has_dir(&listing, known_splits[i])) {
            err = look_at_split(look, known_splits[i], known_splits[i], why);
        }
    }
    if (err == FBY_OK && !by_split) {
        err = look_at_split(look, "", "train", why);
    }
    fby_listing_fini(&listing);
    return err;
}

static void train_first(struct fby_guess *out)
{
    for (uint32_t i = 1; i < out->n_splits; i++) {
        if (strcmp(out->splits[i].name, "train") == 0) {
            struct fby_guess_split train = out->splits[i];
            out->splits[i]               = out->splits[0];
            out->splits[0]               = train;
            return;
        }
    }
}

static fby_err open_look(
    struct look *look, const char *dir, struct fby_why *why)
{
    char  option[FBY_PATH_SIZE + 8];
    char *real = realpath(dir, NULL);
    if (real == NULL) {
        return fby_because(
            why, FBY_NOT_FOUND, "cannot look at %s: %s", dir, strerror(errno));
    }
    snprintf(option, sizeof(option), "data=%s", real);
    free(real);
    look->roots = fby_roots_create();
    fby_err err = fby_roots_add(look->roots, option, why);
    return err == FBY_OK
               ? fby_roots_named(look->roots, "data", &look->root, why)
               : err;
}

fby_err fby_source_guess(
    const char *dir, struct fby_guess *out, struct fby_why *why)
{
    struct look look = {.out = out};
    memset(out, 0, sizeof(*out));
    fby_err err = open_look(&look, dir, why);
    if (err == FBY_OK) {
        err = look_at_root(&look, why);
        if (err != FBY_OK) {
            fby_because_in(why, err, "looking at %s", dir);
        }
    }
    train_first(out);
    fby_roots_destroy(&look.roots);
    return err;
}
