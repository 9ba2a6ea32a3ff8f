/* guess_tokens.c - token files in a directory, for `forebay init`.
 *
 * Shards of MosaicML and indexed files of Megatron say what they are. Flat
 * files do not: they are looked for only where their type is said. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/init/guess_look.h"
#include "pipeline/text.h"

enum {
    ENOUGH     = 64, /* sequences: a batch */
    MAX_GROUPS = 24  /* more than formats times words */
};

/* NAME.idx beside NAME.bin. */
static bool has_index(
    const struct fby_look *look, const char *path, const char *name)
{
    char           below[FBY_PATH_SIZE];
    struct fby_why why = {{0}};
    int            fd  = -1;
    if (!fby_text_ends_with(name, ".bin") ||
        fby_path_join(path, name, below, &why) != FBY_OK) {
        return false;
    }
    snprintf(below + strlen(below) - 4, sizeof(".idx"), ".idx");
    if (fby_root_open(look->root, below, FBY_WANT_FILE, &fd, &why) != FBY_OK) {
        return false;
    }
    close(fd);
    return true;
}

/* What a file is; 0: none of them. */
static enum fby_tokens_format format_of(const struct fby_look *look,
    const char *path, const struct fby_entry *entry)
{
    if (entry->is_dir) {
        return (enum fby_tokens_format)0;
    }
    if (fby_text_ends_with(entry->name, ".mds")) {
        return FBY_TOKENS_MDS;
    }
    if (has_index(look, path, entry->name)) {
        return FBY_TOKENS_MEGATRON;
    }
    bool flat = fby_text_ends_with(entry->name, ".bin") ||
                strcmp(look->only, entry->name) == 0;
    return look->tokens != 0 && flat ? FBY_TOKENS_FLAT
                                     : (enum fby_tokens_format)0;
}

struct folder { /* that is looked at */
    struct fby_look          *look;
    const char               *path;
    const struct fby_listing *listing;
    struct { /* the groups found */
        enum fby_tokens_format format;
        const char            *word;
    } taken[MAX_GROUPS];
    uint32_t n;
};

struct group { /* files of one split, in one directory */
    enum fby_tokens_format format;
    const char            *word;  /* that names their split */
    const char            *first; /* borrowed, as the next */
    const char            *odd;   /* whose letters mean something, or NULL */
    uint32_t               n;
    size_t                 shared; /* letters that all begin with */
    char                   brace[FBY_PATH_SIZE]; /* not ended; cut when full */
};

/* The split that a file says it is of; without a word it is of the rest. */
static const char *word_of(const struct fby_look *look, const char *name)
{
    const char *word = fby_look_word(name);
    return word != NULL ? word : look->name;
}

static bool is_of(const struct group *group, const struct folder *folder,
    const struct fby_entry *entry)
{
    return strcmp(word_of(folder->look, entry->name), group->word) == 0 &&
           format_of(folder->look, folder->path, entry) == group->format;
}

static bool has_letters(const char *name, size_t n)
{
    return strcspn(name, "{}*?,") < n;
}

static void join(struct group *group, const char *name)
{
    size_t used = strlen(group->brace);
    size_t room = sizeof(group->brace) - used;
    if (group->n++ == 0) {
        group->shared = strlen(name);
    }
    if (group->odd == NULL && has_letters(name, strlen(name))) {
        group->odd = name;
    }
    size_t i = 0;
    while (i < group->shared && name[i] == group->first[i]) {
        i++;
    }
    group->shared = i;
    snprintf(group->brace + used, room, "%s%s", used > 0 ? "," : "{", name);
}

/* Does `pattern` match the group's files and no others? */
static bool is_exact(const struct fby_listing *listing, const char *pattern,
    const struct group *group)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        n += fby_glob_match(pattern, listing->entries[i].name) ? 1 : 0;
    }
    return n == group->n;
}

/* One file by its name, several by a wildcard, or else all in a brace. */
static fby_err name_files(const struct group *group,
    const struct fby_listing *listing, char out[FBY_PATH_SIZE],
    struct fby_why *why)
{
    const char *dot = strrchr(group->first, '.');
    snprintf(out, FBY_PATH_SIZE, "%.*s*%s", (int)group->shared, group->first,
        dot != NULL ? dot : "");
    if (group->n > 1 && !has_letters(group->first, group->shared) &&
        is_exact(listing, out, group)) {
        return FBY_OK;
    }
    if (group->odd != NULL) {
        return fby_look_letters(group->odd, why);
    }
    snprintf(out, FBY_PATH_SIZE, "%s", group->first);
    if (group->n == 1) {
        return FBY_OK;
    }
    int n = snprintf(out, FBY_PATH_SIZE, "%s}", group->brace);
    return n < FBY_PATH_SIZE
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "%u token files of split %s that no short pattern names; "
                     "give each split a folder",
                     group->n, group->word);
}

static fby_err index_tokens(struct fby_look *look, const char *below,
    struct fby_guess_split *split, struct fby_why *why)
{
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {
         .kind = FBY_SOURCE_TOKENS, .tokens = &split->tokens};
    fby_err err    = fby_look_index(look, &spec, below, &index, why);
    split->shards  = index.n_shards;
    split->samples = 0;
    for (uint32_t i = 0; err == FBY_OK && i < index.n_shards; i++) {
        split->samples += index.shards[i].samples;
    }
    split->counted_all = true;
    fby_index_fini(&index);
    return err;
}

/* The column of an MDS shard that holds tokens: one of the usual names. */
static fby_err find_column(struct fby_look *look, const char *below,
    struct fby_guess_split *split, struct fby_why *why)
{
    struct fby_why other = {{0}};
    snprintf(split->tokens.column, FBY_NAME_SIZE, "tokens");
    fby_err err = index_tokens(look, below, split, why);
    if (err != FBY_CONFIG) {
        return err;
    }
    snprintf(split->tokens.column, FBY_NAME_SIZE, "input_ids");
    if (index_tokens(look, below, split, &other) == FBY_OK) {
        return FBY_OK;
    }
    fby_because_in(why, err,
        "token files (--tokens TYPE says the type of tokens that are bytes)");
    return err;
}

/* The greatest usual length that gives a batch of sequences. */
static fby_err find_length(struct fby_look *look, const char *below,
    struct fby_guess_split *split, struct fby_why *why)
{
    static const uint32_t lengths[] = {1024, 256, 64, 16};
    fby_err               err       = FBY_OK;
    split->samples                  = 0;
    for (size_t i = 0; err == FBY_OK && split->samples < ENOUGH &&
                       i < sizeof(lengths) / sizeof(lengths[0]);
         i++) {
        split->tokens.length = lengths[i];
        err                  = split->tokens.format == FBY_TOKENS_MDS
                                   ? find_column(look, below, split, why)
                                   : index_tokens(look, below, split, why);
    }
    return err == FBY_OK && split->samples == 0
               ? fby_because(why, FBY_CONFIG,
                     "%s: not one sequence of 16 tokens and a target", below)
               : err;
}

static fby_err look_at_group(
    const struct folder *folder, const struct group *group, struct fby_why *why)
{
    struct fby_look *look = folder->look;
    char             files[FBY_PATH_SIZE];
    char             below[FBY_PATH_SIZE];
    char             stem[FBY_PATH_SIZE];
    char             name[FBY_NAME_SIZE];
    snprintf(stem, sizeof(stem), "%s", group->first);
    stem[strcspn(stem, ".")] = '\0';
    fby_look_name(look, stem, name);
    struct fby_guess_split *split = fby_look_begin(look, name);
    if (split == NULL) {
        return FBY_OK;
    }
    look->out->kind = FBY_SOURCE_TOKENS;
    split->tokens   = (struct fby_tokens){
          .format = group->format, .type = look->tokens, .shift = 1};
    fby_err err = fby_look_letters(fby_root_dir(look->root), why);
    if (err == FBY_OK) {
        err = name_files(group, folder->listing, files, why);
    }
    if (err == FBY_OK) {
        err = fby_path_join(folder->path, files, below, why);
    }
    if (err == FBY_OK) {
        err = find_length(look, below, split, why);
    }
    return err == FBY_OK ? fby_look_pattern(look, below, split, why) : err;
}

/* Files of one word may be of several formats: each is a group. */
static bool is_taken(const struct folder *folder, const struct group *group)
{
    uint32_t i = 0;
    while (
        i < folder->n && (folder->taken[i].format != group->format ||
                             strcmp(folder->taken[i].word, group->word) != 0)) {
        i++;
    }
    return i < folder->n;
}

/* All files of the group that the entry number `i` is of, unless an earlier
 * one is. */
static fby_err look_from(struct folder *folder, uint32_t i, struct fby_why *why)
{
    const struct fby_entry *entries = folder->listing->entries;

    struct group group = {
        .format = format_of(folder->look, folder->path, &entries[i]),
        .word   = word_of(folder->look, entries[i].name),
        .first  = entries[i].name};
    if (group.format == 0 || is_taken(folder, &group)) {
        return FBY_OK;
    }
    folder->taken[folder->n].format = group.format;
    folder->taken[folder->n++].word = group.word;
    for (uint32_t k = i; k < folder->listing->count; k++) {
        if (is_of(&group, folder, &entries[k])) {
            join(&group, entries[k].name);
        }
    }
    return look_at_group(folder, &group, why);
}

fby_err fby_look_at_tokens(struct fby_look *look, const char *path,
    const struct fby_listing *listing, struct fby_why *why)
{
    struct folder folder = {.look = look, .path = path, .listing = listing};
    fby_err       err    = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < listing->count; i++) {
        err = look_from(&folder, i, why);
    }
    return err;
}
