/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_dots.c - refuse pictures whose names have a dot before the extension,
 * such as cat.0.jpg.
 *
 * The key of a sample ends at the first dot of a name, so that 7.jpg and
 * 7.mask.png are one sample. By this rule cat.0.jpg and cat.1.jpg are one, too,
 * and 4.copy.jpg has no file with the extension jpg. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/count_folders.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/refuse_shards.h"
#include "cli/init/split_names.h"
#include "common/plural.h"
#include "pipeline/text.h"

/* With more such extensions they are parts of names, not kinds of files. */
enum { MAX_EXTENSIONS = 8 };

enum { MAX_WORDS = 16, MAX_WORD = 16 /* bytes, with NUL */ };

struct dotted { /* extensions of pictures that have a dot */
    uint32_t n;
    bool     has_digit; /* one begins with a digit */
    bool     has_blank; /* one has a character that no extension has */
};

/* Is the part after the last dot that of a picture, whatever is before it? The name
 * "No. 1 a.jpg" has the extension " 1 a.jpg". */
static bool is_picture(const char *extension)
{
    const char *dot = strrchr(extension, '.');
    return fby_init_is_picture_suffix(dot != NULL ? dot + 1 : extension);
}

/* Count the extension of a picture if it has a dot. Returns true if so. */
static bool add_dotted(struct dotted *self, const char *extension)
{
    bool has_digit = extension[0] >= '0' && extension[0] <= '9';
    char lower[FBY_NAME_SIZE];
    (void)fby_init_to_field_name(extension, lower);
    if (strchr(extension, '.') == NULL) {
        return false;
    }
    self->n++;
    self->has_digit = self->has_digit || has_digit;
    self->has_blank = self->has_blank || !fby_text_is_extension(lower);
    return true;
}

/* True if the extensions are parts of names. */
static bool are_names(const struct dotted *self)
{
    return self->has_digit || self->has_blank || self->n > MAX_EXTENSIONS;
}

/* ---- class folders ---- */

struct dots { /* the types of pictures with a dot in their extension */
    const struct fby_file_type *first; /* NULL: none */
    struct dotted               all;
    uint64_t n_plain; /* files that are pictures without such a dot */
};

static struct dots find_dots(const struct fby_folder_counts *counts)
{
    struct dots found = {0};
    for (uint32_t i = 0; i < counts->n_types; i++) {
        const struct fby_file_type *type = &counts->types[i];
        if (!is_picture(type->extension)) {
            continue;
        }
        if (!add_dotted(&found.all, type->extension)) {
            found.n_plain += type->n_files;
        } else if (found.first == NULL) {
            found.first = type;
        }
    }
    return found;
}

/* Renames the files below the folders %s. */
#define RENAME                                                             \
    "find%s -name '[!.]*.*.*' ! -type d -exec sh -c 'for f; do b=${f##*/}" \
    "; mv -n \"$f\" \"${f%%/*}/$(printf %%s \"${b%%.*}\" | tr . _)"        \
    ".${b##*.}\"; done' sh {} +"

/* If `path` is in the folder of a split, write the folders of all splits in the
 * root: " train valid". Returns false if it is in none. */
static bool list_split_folders(
    const struct fby_search *search, const char *path, char out[80])
{
    char               first[FBY_NAME_SIZE];
    struct fby_listing root = {0};
    size_t             used = 0;
    snprintf(first, sizeof(first), "%.*s", (int)strcspn(path, "/"), path);
    if (fby_split_of_folder(first) == NULL ||
        fby_listing_read(search->root, "", NULL, &root, NULL) != FBY_OK) {
        return false;
    }
    for (uint32_t i = 0; i < root.count; i++) {
        const struct fby_entry *entry = &root.entries[i];
        if (entry->is_dir && fby_split_of_folder(entry->name) != NULL &&
            used + strlen(entry->name) + 2 < 80) {
            used += (size_t)snprintf(out + used, 80 - used, " %s", entry->name);
        }
    }
    fby_listing_fini(&root);
    return used > 0;
}

/* Letters before the first dot of names such as cat.0.jpg. */
struct first_words {
    char     words[MAX_WORDS][MAX_WORD];
    uint32_t counts[MAX_WORDS]; /* of the names that begin so */
    uint32_t n;
    bool     has_others; /* names of another form, or too many words */
};

static fby_err add_first_word(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    static const char   letters[] = "abcdefghijklmnopqrstuvwxyz"
                                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct first_words *self      = arg;
    size_t              length    = strspn(entry->name, letters);
    uint32_t            i         = 0;
    (void)why;
    if (entry->is_dir || !fby_init_is_any_picture(entry->name)) {
        return FBY_OK;
    }
    bool is_word = length > 0 && length < MAX_WORD &&
                   entry->name[length] == '.' &&
                   entry->name[length + 1] != ' ' &&
                   strchr(entry->name + length + 1, '.') != NULL;
    while (is_word && i < self->n &&
           (strncmp(self->words[i], entry->name, length) != 0 ||
               self->words[i][length] != '\0')) {
        i++;
    }
    if (!is_word || i == MAX_WORDS) {
        self->has_others = true;
        return FBY_OK;
    }
    self->n += i == self->n ? 1 : 0;
    self->counts[i]++;
    memcpy(self->words[i], entry->name, length);
    return FBY_OK;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Write the words " cat dog" with which the names of the pictures in the folder
 * `path` begin. Returns false if they may be no classes. */
static bool list_first_words(struct fby_search *search, const char *path,
    char out[MAX_WORDS * (MAX_WORD + 1)])
{
    struct first_words words = {.n = 0};
    size_t             used  = 0;
    if (fby_guess_visit_dir(
            search, path, NULL, add_first_word, &words, NULL, NULL) != FBY_OK) {
        return false;
    }
    bool are_classes = words.n > 1 && !words.has_others;
    for (uint32_t i = 0; i < words.n; i++) {
        are_classes = are_classes && words.counts[i] > 1;
    }
    qsort(words.words, words.n, sizeof(words.words[0]), compare_words);
    for (uint32_t i = 0; are_classes && i < words.n; i++) {
        used +=
            (size_t)snprintf(out + used, MAX_WORD + 1, " %s", words.words[i]);
    }
    return are_classes && used < 120;
}

/* Set the command to the one that makes class folders of the first words of
 * names. Returns false if these are no classes. */
static bool advise_classes(struct fby_search *search, const char *path)
{
    char words[MAX_WORDS * (MAX_WORD + 1)];
    char splits[80];
    if (search->in_zip || !list_first_words(search, path, words)) {
        return false;
    }
    bool has_splits = list_split_folders(search, path, splits);
    fby_guess_set_renames(search, has_splits ? "" : path,
        "for c in%s; do for d in%s; do set -- $d/$c.*.*; [ -e \"$1\" ] || "
        "continue; mkdir -p $d/$c && for f; do mv -n \"$f\" "
        "\"$d/$c/${f#$d/$c.}\"; done; done; done",
        words, has_splits ? splits : " .");
    return true;
}

/* Set the command to the one that renames the files below `path`: all of them, so
 * that files of one sample, in whatever folder, keep one name. Returns what it
 * does. */
static const char *advise(struct fby_search *search, const char *path)
{
    char splits[80];
    if (advise_classes(search, path)) {
        return "move such files into class folders";
    }
    bool has_splits =
        !search->in_zip && list_split_folders(search, path, splits);
    fby_guess_set_renames(
        search, has_splits ? "" : path, RENAME, has_splits ? splits : " .");
    return "rename such files";
}

fby_err fby_refuse_dots(struct fby_search *search, const char *path,
    const struct fby_folder_counts *counts, struct fby_error_detail *why)
{
    struct dots dots          = find_dots(counts);
    bool        is_each_other = dots.all.n > 2 && dots.n_plain == 0 &&
                         dots.all.n >= counts->n_with_picture;
    bool is_names = are_names(&dots.all) || is_each_other;
    /* The least number of samples that have no plain picture but others. */
    uint64_t n_without =
        dots.n_plain > 0 && counts->n_with_picture > dots.n_plain
            ? counts->n_with_picture - dots.n_plain
            : 0;
    if (dots.first == NULL || (!is_names && n_without == 0)) {
        return FBY_OK;
    }
    struct fby_shown file      = fby_text_show(dots.first->first);
    struct fby_shown extension = fby_text_show_begin(dots.first->extension, 20);
    if (!is_names && (dots.all.n > 1 || dots.first->n_files != n_without)) {
        return fby_error_set(why, FBY_CONFIG,
            "pictures of %s have only an extension such as %s (%.60s), "
            "since the key of a sample ends at the first dot of a name: add "
            "the pictures that are missing, or rename the files",
            fby_plural(n_without, "sample").text, extension.text, file.text);
    }
    const char *quote  = dots.all.has_blank ? "'" : "";
    const char *remedy = advise(search, path);
    fby_err     err    = fby_error_set(why, FBY_CONFIG,
               "the key of a sample ends at the first dot of a name, so that %.60s "
                      "has the extension %s%s%s: %s:",
               file.text, quote, extension.text, quote, remedy);
    return fby_guess_unpack_first(search, err, why);
}

bool fby_explain_long_extension(
    struct fby_search *search, const char *path, struct fby_error_detail *why)
{
    const struct fby_error_detail said =
        why != NULL ? *why : (struct fby_error_detail){{0}};
    if (strstr(said.text, "(all after the first dot) is longer") == NULL) {
        return false;
    }
    fby_err err = fby_error_set(
        why, FBY_CONFIG, "%s: %s:", said.text, advise(search, path));
    (void)fby_guess_unpack_first(search, err, why);
    return true;
}

/* ---- tar shards ---- */

/* Are extensions such as 0.jpg parts of names? So they are, too, if no sample has
 * a picture without a dot, and none of them is in all samples. */
static bool are_names_in_tars(const struct fby_guess_split *split)
{
    struct dotted dotted     = {0};
    bool          has_common = false; /* no dot, or in all samples */
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_member *member = &split->members[i];
        if (member->value == FBY_INIT_NO_VALUE &&
            is_picture(member->extension)) {
            bool is_dotted = add_dotted(&dotted, member->extension);
            has_common     = has_common || !is_dotted || member->always;
        }
    }
    return dotted.n > 0 && (are_names(&dotted) || !has_common);
}

/* The first member of the shard that is such a picture; n_members: none. */
static uint32_t find_dotted_picture(const struct fby_shard *shard)
{
    uint32_t m = 0;
    while (m < shard->n_members &&
           (strchr(fby_shard_suffix(shard, m), '.') == NULL ||
               !is_picture(fby_shard_suffix(shard, m)))) {
        m++;
    }
    return m;
}

fby_err fby_refuse_shard_names(const struct fby_search *search,
    const char *path, const struct fby_guess_split *split,
    const struct fby_shard *shards, uint32_t n, struct fby_error_detail *why)
{
    for (uint32_t i = 0; are_names_in_tars(split) && i < n; i++) {
        uint32_t m = find_dotted_picture(&shards[i]);
        if (m < shards[i].n_members) {
            struct fby_shown suffix =
                fby_text_show_begin(fby_shard_suffix(&shards[i], m), 20);
            const char *key =
                fby_shard_key(&shards[i], fby_shard_sample_of(&shards[i], m));
            fby_guess_set_command(search, path,
                "mkdir new && for t in ./*.tar; do d=$(mktemp -dp new) && tar "
                "-kxf \"$t\" -C $d "
                "--xform='s,^\\./,,;s/\\./_/g;s/_\\([^_]*\\)$/.\\1/' && tar "
                "-cf \"new/$t\" --sort=name -C $d . && rm -r $d || exit; done");
            return fby_error_set(why, FBY_CONFIG,
                "%s: the key of a sample ends at the first dot of a name, "
                "so that %s.%s has the extension %s: write tars with "
                "other names into new/, and give that to init:",
                fby_text_show_begin(shards[i].name, 60).text,
                fby_text_show_begin(key, 40).text, suffix.text, suffix.text);
        }
    }
    return FBY_OK;
}
