/* SPDX-License-Identifier: Apache-2.0 */
/* guess_pairs.c - two class folders with the same file names, which are probably
 * pairs if one has a usual name, as HR/1.png and LR/1.png. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "common/hash.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "worker/source/shard.h"

struct paired_folder {
    char     name[32];   /* as it is */
    char     column[32]; /* in lower case, as in a brace */
    char     suffix[16]; /* of a file */
    uint64_t n_files;
    uint64_t sum; /* of the hashes of their keys: the order does not matter */
    bool     has_dirs;
};

static fby_err add_name(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct paired_folder *out = arg;
    struct fby_name_parts parts;
    (void)why;
    if (entry->is_dir) {
        out->has_dirs = true;
    } else if (fby_name_split(entry->name, &parts) &&
               strlen(parts.suffix) < sizeof(out->suffix)) {
        out->n_files++;
        out->sum += fby_xxh3_64(entry->name, parts.key_size);
        snprintf(out->suffix, sizeof(out->suffix), "%s", parts.suffix);
    }
    return FBY_OK;
}

/* Read the names of the files in a folder. Returns false for a folder that
 * cannot be one of parallel folders, not even with a name in lower case. */
static bool read_folder(const struct fby_search *search, const char *path,
    const char *name, struct paired_folder *out)
{
    uint32_t n_dangling = 0;
    char     below[FBY_PATH_SIZE];
    *out = (struct paired_folder){.n_files = 0};
    if (strlen(name) >= sizeof(out->name) ||
        fby_path_join(path, name, below, NULL) != FBY_OK ||
        fby_listing_visit(search->root, below, NULL, add_name, out, &n_dangling,
            NULL) != FBY_OK) {
        return false;
    }
    for (size_t i = 0; name[i] != '\0'; i++) {
        out->name[i]   = name[i];
        out->column[i] = (char)tolower((unsigned char)name[i]);
    }
    return !out->has_dirs && strchr(name, '.') == NULL &&
           fby_text_is_extension(out->column);
}

/* Is a word of the name, in lower case, usual for one picture of a pair? */
static bool has_pair_word(const char *column)
{
    static const char *const words[] = {"hr", "lr", "gt", "input", "inputs",
        "target", "targets", "clean", "clear", "noisy", "noise", "blur",
        "sharp", "rain", "haze", "hazy", "high", "low", "source", "before",
        "after", "left", "right"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const char *at     = strstr(column, words[i]);
        size_t      length = strlen(words[i]);
        if (at != NULL && (at == column || at[-1] == '_') &&
            (at[length] == '\0' || at[length] == '_')) {
            return true;
        }
    }
    return false;
}

/* Read the two folders in the listing. Returns true if their files have the
 * same names. */
static bool find_pair(const struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct paired_folder out[2])
{
    const char *first;
    uint32_t    n = 0;
    if (fby_guess_count_dirs(listing, &first) != 2) {
        return false;
    }
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (entry->is_dir &&
            !read_folder(search, path, entry->name, &out[n++])) {
            return false;
        }
    }
    return out[0].n_files > 0 && out[0].n_files == out[1].n_files &&
           out[0].sum == out[1].sum &&
           (has_pair_word(out[0].column) || has_pair_word(out[1].column));
}

void fby_guess_note_pairs(struct fby_search *search, const char *path,
    const struct fby_listing *listing)
{
    struct paired_folder pair[2] = {{.n_files = 0}, {.n_files = 0}};
    char                 dir[FBY_OPERAND_SIZE];
    if (search->out->n_splits > 1 || !find_pair(search, path, listing, pair)) {
        return;
    }
    fby_guess_write_operand(search, path, dir);
    const struct paired_folder *a = &pair[0];
    const struct paired_folder *b = &pair[1];
    if (!fby_shell_is_plain(a->name) || !fby_shell_is_plain(b->name)) {
        return;
    }
    fby_guess_note(search,
        "note: %s and %s have the same file names; if they are pairs, not "
        "classes, write a list, and run init again: (set -C; cd %s && (echo "
        "%s,%s; ls %s | sed 's|\\(.*\\)\\.%s$|%s/\\1.%s,%s/\\1.%s|') > "
        "pairs.csv)",
        a->name, b->name, dir, a->column, b->column, a->name, a->suffix,
        a->name, a->suffix, b->name, b->suffix);
}
