/* SPDX-License-Identifier: Apache-2.0 */
/* guess_tokens.c - recognise token files in a directory.
 *
 * Files of one format and one split word ("train") become a split. Shards of
 * MosaicML and indexed files of Megatron store the type of their tokens. Flat
 * files do not: they are recognised only if the user gives the type. */
#include "cli/init/guess_tokens.h"

#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/split_names.h"
#include "pipeline/text.h"

enum {
    ENOUGH_SEQUENCES = 64, /* samples of a batch in the written file */
    MAX_GROUPS       = 24  /* more than 3 formats x (5 split words, default) */
};

/* True if `name` is NAME.bin and NAME.idx exists beside it. */
static bool has_index(
    const struct fby_search *search, const char *path, const char *name)
{
    char below[FBY_PATH_SIZE];
    if (!fby_text_ends_with(name, ".bin") ||
        fby_path_join(path, name, below, NULL) != FBY_OK) {
        return false;
    }
    snprintf(below + strlen(below) - strlen(".bin"), sizeof(".idx"), ".idx");
    return fby_object_exists(search->root, below);
}

/* The format of an entry; 0: it is no token file. */
static enum fby_tokens_format format_of(const struct fby_search *search,
    const char *path, const struct fby_entry *entry)
{
    if (entry->is_dir) {
        return (enum fby_tokens_format)0;
    }
    if (fby_text_ends_with(entry->name, ".mds")) {
        return FBY_TOKENS_MDS;
    }
    if (has_index(search, path, entry->name)) {
        return FBY_TOKENS_MEGATRON;
    }
    bool may_be_flat = fby_text_ends_with(entry->name, ".bin") ||
                       (strcmp(search->only_file, entry->name) == 0 &&
                           !fby_text_ends_with(entry->name, ".npy"));
    return search->token_type != 0 && may_be_flat ? FBY_TOKENS_FLAT
                                                  : (enum fby_tokens_format)0;
}

struct token_folder { /* the state of the search in one directory */
    struct fby_search        *search;
    const char               *path;
    const struct fby_listing *listing;
    struct { /* groups that were added */
        enum fby_tokens_format format;
        const char            *word; /* the split word */
    } added[MAX_GROUPS];
    uint32_t n_added;
};

struct token_group { /* files of one split, in one directory */
    enum fby_tokens_format format;
    const char            *word;  /* the split word */
    const char            *first; /* name of the first file; borrowed */
    const char *special;          /* a name with special characters; or NULL */
    uint32_t    n_files;
    size_t      prefix;               /* bytes that all names begin with */
    char        brace[FBY_PATH_SIZE]; /* "{a.bin,b.bin"; cut if too long */
};

/* The split word of a file's name, else the default split. */
static const char *split_word(const struct fby_search *search, const char *name)
{
    const char *word = fby_split_word(name);
    return word != NULL ? word : search->default_name;
}

static bool is_in_group(const struct token_group *group,
    const struct token_folder *folder, const struct fby_entry *entry)
{
    return strcmp(split_word(folder->search, entry->name), group->word) == 0 &&
           format_of(folder->search, folder->path, entry) == group->format;
}

/* True if the first `length` bytes have a special character of patterns. */
static bool has_special(const char *name, size_t length)
{
    return strcspn(name, "{}*?,") < length;
}

static void add_file(struct token_group *group, const char *name)
{
    size_t used = strlen(group->brace);
    size_t left = sizeof(group->brace) - used;
    if (group->n_files++ == 0) {
        group->prefix = strlen(name);
    }
    if (group->special == NULL && has_special(name, strlen(name))) {
        group->special = name;
    }
    size_t i = 0;
    while (i < group->prefix && name[i] == group->first[i]) {
        i++;
    }
    group->prefix = i;
    snprintf(group->brace + used, left, "%s%s", used > 0 ? "," : "{", name);
}

/* True if `pattern`, which matches the group's files, matches no others. */
static bool is_exact(const struct fby_listing *listing, const char *pattern,
    const struct token_group *group)
{
    uint32_t matches = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        matches += fby_glob_match(pattern, listing->entries[i].name) ? 1 : 0;
    }
    return matches == group->n_files;
}

/* Write a pattern for the files of the group: PREFIX*EXTENSION if it matches no
 * other file, else the only name or all names in a brace. */
static fby_err make_pattern(const struct token_group *group,
    const struct fby_listing *listing, char out[FBY_PATH_SIZE],
    struct fby_error_detail *why)
{
    const char *dot = strrchr(group->first, '.');
    snprintf(out, FBY_PATH_SIZE, "%.*s*%s", (int)group->prefix, group->first,
        dot != NULL ? dot : "");
    if (group->n_files > 1 && !has_special(group->first, group->prefix) &&
        is_exact(listing, out, group)) {
        return FBY_OK;
    }
    if (group->special != NULL) {
        return fby_refuse_name(group->special, why);
    }
    snprintf(out, FBY_PATH_SIZE, "%s", group->first);
    if (group->n_files == 1) {
        return FBY_OK;
    }
    int length = snprintf(out, FBY_PATH_SIZE, "%s}", group->brace);
    return length < FBY_PATH_SIZE
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "no short pattern matches the %u token files of split %s; "
                     "give each split a folder",
                     group->n_files, group->word);
}

/* Index the files of a split; sets its shards, samples and counted_all. */
static fby_err index_tokens(struct fby_search *search, const char *below,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {
         .kind = FBY_SOURCE_TOKENS, .tokens = &split->tokens};
    fby_err err    = fby_guess_index(search, &spec, below, &index, why);
    split->shards  = index.n_shards;
    split->samples = 0;
    for (uint32_t i = 0; err == FBY_OK && i < index.n_shards; i++) {
        split->samples += index.shards[i].n_samples;
    }
    split->counted_all = true;
    fby_index_fini(&index);
    return err;
}

/* Set the column of tokens in MDS shards, and index them with it. The column is
 * "tokens", else "input_ids". */
static fby_err choose_column(struct fby_search *search, const char *below,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    struct fby_error_detail unused = {{0}}; /* `why` keeps the first error */
    snprintf(split->tokens.column, FBY_NAME_SIZE, "tokens");
    fby_err err = index_tokens(search, below, split, why);
    if (err != FBY_CONFIG) {
        return err;
    }
    snprintf(split->tokens.column, FBY_NAME_SIZE, "input_ids");
    if (index_tokens(search, below, split, &unused) == FBY_OK) {
        return FBY_OK;
    }
    fby_error_prefix(why, err,
        "token files (--tokens TYPE says the type of tokens that are bytes; "
        "pictures in .mds files are not read yet: write tar shards)");
    return err;
}

/* Set the length of a sequence, and index the files with it: the largest usual
 * length that gives a full batch, else the smallest usual length. */
static fby_err choose_length(struct fby_search *search, const char *below,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    static const uint32_t lengths[] = {1024, 256, 64, 16};
    fby_err               err       = FBY_OK;
    split->samples                  = 0;
    for (size_t i = 0; err == FBY_OK && split->samples < ENOUGH_SEQUENCES &&
                       i < sizeof(lengths) / sizeof(lengths[0]);
         i++) {
        split->tokens.length = lengths[i];
        err                  = split->tokens.format == FBY_TOKENS_MDS
                                   ? choose_column(search, below, split, why)
                                   : index_tokens(search, below, split, why);
    }
    return err == FBY_OK && split->samples == 0
               ? fby_error_set(why, FBY_CONFIG,
                     "%s: too short for one sequence of 16 tokens and a target",
                     below)
               : err;
}

static fby_err add_token_split(const struct token_folder *folder,
    const struct token_group *group, struct fby_error_detail *why)
{
    struct fby_search *search = folder->search;
    char               files[FBY_PATH_SIZE];
    char               below[FBY_PATH_SIZE];
    char               stem[FBY_PATH_SIZE];
    char               name[FBY_NAME_SIZE];
    snprintf(stem, sizeof(stem), "%s", group->first);
    if (strchr(stem, '.') != NULL) {
        *strrchr(stem, '.') = '\0';
    }
    fby_guess_name_of_split(search, stem, name);
    struct fby_guess_split *split = fby_guess_add_split(search, name);
    if (split == NULL) {
        return FBY_OK;
    }
    search->out->kind = FBY_SOURCE_TOKENS;
    /* With shift 1, the targets are the inputs one token later. */
    split->tokens = (struct fby_tokens){
        .format = group->format, .type = search->token_type, .shift = 1};
    fby_err err = fby_refuse_name(fby_root_dir(search->root), why);
    if (err == FBY_OK && group->format == FBY_TOKENS_FLAT) {
        err = fby_refuse_token_type(search, folder->path, group->first, why);
    }
    if (err == FBY_OK) {
        err = make_pattern(group, folder->listing, files, why);
    }
    if (err == FBY_OK) {
        err = fby_path_join(folder->path, files, below, why);
    }
    if (err == FBY_OK) {
        err = choose_length(search, below, split, why);
    }
    return err == FBY_OK ? fby_guess_set_pattern(search, below, split, why)
                         : err;
}

static bool is_added(
    const struct token_folder *folder, const struct token_group *group)
{
    for (uint32_t i = 0; i < folder->n_added; i++) {
        if (folder->added[i].format == group->format &&
            strcmp(folder->added[i].word, group->word) == 0) {
            return true;
        }
    }
    return false;
}

/* Add the group of entry `i`, with all its files, unless it was added. */
static fby_err add_group(
    struct token_folder *folder, uint32_t i, struct fby_error_detail *why)
{
    const struct fby_entry *entries = folder->listing->entries;

    struct token_group group = {
        .format = format_of(folder->search, folder->path, &entries[i]),
        .word   = split_word(folder->search, entries[i].name),
        .first  = entries[i].name};
    if (group.format == 0 || is_added(folder, &group)) {
        return FBY_OK;
    }
    folder->added[folder->n_added].format = group.format;
    folder->added[folder->n_added++].word = group.word;
    for (uint32_t k = i; k < folder->listing->count; k++) {
        if (is_in_group(&group, folder, &entries[k])) {
            add_file(&group, entries[k].name);
        }
    }
    return add_token_split(folder, &group, why);
}

fby_err fby_guess_tokens(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    struct token_folder folder = {
        .search = search, .path = path, .listing = listing};
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < listing->count; i++) {
        err = add_group(&folder, i, why);
    }
    return err == FBY_OK && folder.n_added == 0
               ? fby_refuse_token_arrays(search, path, listing, why)
               : err;
}

/* The path of a split below the root. */
static const char *below_root(
    const struct fby_search *search, const struct fby_guess_split *split)
{
    const char *below = split->pattern + strlen(fby_root_dir(search->root));
    return below + strspn(below, "/");
}

fby_err fby_guess_share_length(
    struct fby_search *search, struct fby_error_detail *why)
{
    const struct fby_guess_split *first = &search->out->splits[0];
    fby_err                       err   = FBY_OK;
    for (uint32_t i = 1; err == FBY_OK && i < search->out->n_splits; i++) {
        struct fby_guess_split *split = &search->out->splits[i];
        uint32_t                own   = split->tokens.length;
        if (first->kind != FBY_SOURCE_TOKENS || split->kind != first->kind ||
            own == first->tokens.length) {
            continue;
        }
        split->tokens.length = first->tokens.length;
        err = index_tokens(search, below_root(search, split), split, why);
        if (err == FBY_OK && split->samples == 0) {
            split->tokens.length = own;
            fby_guess_note(search,
                "note: length is %u for split %s, which is too short for the "
                "%u of %s: change it in the file to have one for all",
                own, split->name, first->tokens.length, first->name);
            err = index_tokens(search, below_root(search, split), split, why);
        }
    }
    return err;
}
