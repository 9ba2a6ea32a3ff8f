/* SPDX-License-Identifier: Apache-2.0 */
/* guess_pairs.c - class folders with the same file names, which are probably
 * pairs: HR/1.png and LR/1.png.
 *
 * The names decide. Those that no counter gives, as 00891_00.jpg, are the same
 * in two folders only if the files belong together. But many people number the
 * files of each class from 0 or 1, and take as many of each: then only the names
 * of the folders tell pairs from classes, and pictures in one of them that have
 * fewer colours than the others, as masks do. Without these there is only a note.
 * More than four folders are rather classes, too. A few files of pairs may be
 * missing: three of four names must be the same. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "cli/init/guess_pairs.h"
#include "cli/init/programs.h"
#include "cli/init/split_names.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "worker/source/shard.h"

enum {
    MAX_FOLDERS = 16,  /* that are looked at */
    MANY_FILES  = 10,  /* that have the same names not by chance */
    MAX_HASHES  = 4096 /* names of a folder that are compared */
};

struct paired_folder {
    char     name[32]; /* as it is; "": it cannot be that of a column */
    uint64_t n_files;
    uint64_t hashes[MAX_HASHES]; /* of the keys; sorted */
    uint32_t n_hashes;
    uint64_t limit;  /* only hashes up to it are kept; a part of all files */
    uint64_t prefix; /* the hash of the first key before its number */
    uint64_t least, most;           /* of the numbers at the end of the keys */
    bool     is_counted;            /* all keys are one prefix and a number */
    char     suffix[16];            /* of the first file */
    struct fby_paired_files firsts; /* as the folder is read */
    bool has_others; /* folders, or files with other suffixes, which may
                             be more members of the samples */
};

struct folder_set {
    struct paired_folder folders[MAX_FOLDERS];
    uint32_t             n;         /* 0: they have not the same file names */
    bool                 is_nearly; /* some names are not in all folders */
    bool                 has_plain; /* one has pictures of fewer colours */
    const char          *where; /* the folder of the first ones; "": `path` */
    const char          *lists; /* to be written, in Python; NULL: pairs.csv */
};

/* Note the number at the end of a key. */
static void add_number(struct paired_folder *out, const char *key, size_t size)
{
    enum { MAX_DIGITS = 9 };
    size_t n = size;
    while (n > 0 && isdigit((unsigned char)key[n - 1])) {
        n--;
    }
    uint64_t prefix = fby_xxh3_64(key, n);
    uint64_t number = strtoull(key + n, NULL, 10);
    if (out->n_files == 0) {
        out->prefix     = prefix;
        out->least      = number;
        out->is_counted = true;
    }
    out->is_counted = out->is_counted && prefix == out->prefix && n < size &&
                      size - n <= MAX_DIGITS;
    out->least = number < out->least ? number : out->least;
    out->most  = number > out->most ? number : out->most;
}

/* Keep the hash, if it is not above the limit. Where there are too many, the limit
 * is halved: two folders keep the same ones, whatever their order is. */
static void add_hash(struct paired_folder *out, uint64_t hash)
{
    while (out->n_hashes == MAX_HASHES) {
        uint32_t kept = 0;
        out->limit /= 2;
        for (uint32_t i = 0; i < MAX_HASHES; i++) {
            if (out->hashes[i] <= out->limit) {
                out->hashes[kept++] = out->hashes[i];
            }
        }
        out->n_hashes = kept;
    }
    if (hash <= out->limit) {
        out->hashes[out->n_hashes++] = hash;
    }
}

/* Keep the path of one of the first files. */
static void keep_first(struct paired_folder *out, const char *name)
{
    struct fby_paired_files *firsts = &out->firsts;
    size_t                   n      = strlen(out->name);
    size_t                   size   = strlen(name) + 1;
    if (firsts->n < FBY_PAIRED_FILES && n + 1 + size <= FBY_PAIRED_PATH) {
        char *path = firsts->paths[firsts->n];
        memcpy(path, out->name, n);
        path[n] = '/';
        memcpy(path + n + 1, name, size);
        firsts->n++;
    }
}

static fby_err add_name(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct paired_folder *out = arg;
    struct fby_name_parts parts;
    (void)why;
    if (entry->is_dir) {
        out->has_others = true;
    } else if (fby_name_split(entry->name, &parts)) {
        if (out->n_files == 0) {
            snprintf(out->suffix, sizeof(out->suffix), "%s", parts.suffix);
        }
        out->has_others = out->has_others ||
                          !fby_equal_ignoring_case(out->suffix, parts.suffix);
        keep_first(out, entry->name);
        add_number(out, entry->name, parts.key_size);
        out->n_files++;
        add_hash(out, fby_xxh3_64(entry->name, parts.key_size));
    }
    return FBY_OK;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Read the names of the files in a folder. Returns false if it has none, or
 * others. */
static bool read_folder(const struct fby_search *search, const char *path,
    const char *name, struct paired_folder *out)
{
    uint32_t n_dangling = 0;
    char     below[FBY_PATH_SIZE];
    *out = (struct paired_folder){.limit = UINT64_MAX};
    if (strlen(name) < sizeof(out->name)) {
        snprintf(out->name, sizeof(out->name), "%s", name);
    }
    if (fby_path_join(path, name, below, NULL) != FBY_OK ||
        fby_listing_visit(search->root, below, NULL, add_name, out, &n_dangling,
            NULL) != FBY_OK) {
        return false;
    }
    qsort(out->hashes, out->n_hashes, sizeof(out->hashes[0]), compare_hashes);
    return !out->has_others && out->n_files > 0;
}

/* The number of hashes up to the limit. */
static uint32_t count_up_to(const struct paired_folder *folder, uint64_t limit)
{
    uint32_t n = 0;
    while (n < folder->n_hashes && folder->hashes[n] <= limit) {
        n++;
    }
    return n;
}

/* Compare a folder with the first one. Returns false if its names are others. */
static bool compare_with_first(
    struct folder_set *set, const struct paired_folder *folder)
{
    const struct paired_folder *one = &set->folders[0];
    uint64_t limit  = one->limit < folder->limit ? one->limit : folder->limit;
    uint32_t n_one  = count_up_to(one, limit);
    uint32_t n      = count_up_to(folder, limit);
    uint32_t most   = n_one > n ? n_one : n;
    uint32_t shared = 0;
    for (uint32_t i = 0; i < n_one; i++) {
        shared += bsearch(&one->hashes[i], folder->hashes, n,
                      sizeof(folder->hashes[0]), compare_hashes) != NULL
                      ? 1
                      : 0;
    }
    bool is_equal  = shared == most && one->n_files == folder->n_files;
    set->is_nearly = set->is_nearly || !is_equal;
    return is_equal || (most >= FBY_FEW_FILES && 4 * shared >= 3 * most);
}

/* Look at the pictures of few folders with the same names. */
static bool has_plain_folder(const struct fby_search *search, const char *path,
    const struct folder_set *set)
{
    struct fby_paired_files files[FBY_FEW_FOLDERS];
    if (set->n > FBY_FEW_FOLDERS || set->is_nearly ||
        set->folders[0].n_files < 2) {
        return false;
    }
    for (uint32_t i = 0; i < set->n; i++) {
        files[i] = set->folders[i].firsts;
    }
    return fby_guess_has_plain_folder(search, path, files, set->n);
}

/* Read the folders in the listing, as long as they have the same file names. */
static void read_folders(const struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct folder_set *out)
{
    const char *first;
    uint32_t    n_dirs  = fby_guess_count_dirs(listing, &first);
    bool        is_same = n_dirs >= 2 && n_dirs <= MAX_FOLDERS;
    out->n              = 0;
    out->is_nearly      = false;
    for (uint32_t i = 0; is_same && i < listing->count; i++) {
        struct paired_folder *folder = &out->folders[out->n];
        const char           *name   = listing->entries[i].name;
        if (listing->entries[i].is_dir) {
            is_same = read_folder(search, path, name, folder) &&
                      compare_with_first(out, folder);
            out->n++;
        }
    }
    out->n         = is_same ? out->n : 0;
    out->has_plain = has_plain_folder(search, path, out);
}

static bool is_word_end(char c)
{
    return c == '\0' || strchr("_- ", c) != NULL;
}

/* True for a part of the name, in any case, between '_', '-', blanks or its ends. */
static bool has_word(const char *name, const char *word)
{
    const char *at     = strcasestr(name, word);
    size_t      length = strlen(word);
    while (at != NULL &&
           !((at == name || is_word_end(at[-1])) && is_word_end(at[length]))) {
        at = strcasestr(at + 1, word);
    }
    return at != NULL;
}

/* Words that name one picture of a pair, and ones that may name a class. */
static const char *const roles[] = {"hr", "lr", "gt", "input", "inputs",
    "target", "targets", "label", "labels", "noisy", "hazy", "ground truth",
    "ground_truth", "ground-truth", "groundtruth", "mask", "masks", "seg",
    "segmentation", "segmentations", "annotated", "annotation", "annotations",
    "sketch", "sketches", "depth", NULL};
static const char *const words[] = {"clean", "clear", "noise", "blur", "sharp",
    "rain", "haze", "high", "low", "source", "before", "after", "left", "right",
    NULL};

/* Has one of the names a word of the list, which ends with NULL? All of them may
 * contain a word for another reason, as with_mask and without_mask. */
static bool have_word_of(
    const char *const *names, uint32_t n, const char *const *list)
{
    bool found = false;
    for (size_t k = 0; list[k] != NULL && !found; k++) {
        uint32_t n_with = 0;
        for (uint32_t i = 0; i < n; i++) {
            found = found || has_word(names[i], list[k]);
            n_with += strcasestr(names[i], list[k]) != NULL ? 1 : 0;
        }
        found = found && (n_with < n || n == 1);
    }
    return found;
}

static bool has_any(const struct folder_set *set, const char *const *list)
{
    const char *names[MAX_FOLDERS];
    for (uint32_t i = 0; i < set->n; i++) {
        names[i] = set->folders[i].name;
    }
    return have_word_of(names, set->n, list);
}

bool fby_guess_have_role(const char *const *names, uint32_t n)
{
    return have_word_of(names, n, roles);
}

uint32_t fby_guess_name_folders(
    const struct fby_listing *listing, const char *names[FBY_FEW_FOLDERS])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        if (listing->entries[i].is_dir && n++ < FBY_FEW_FOLDERS) {
            names[n - 1] = listing->entries[i].name;
        }
    }
    return n <= FBY_FEW_FOLDERS ? n : 0;
}

bool fby_guess_is_role_name(const char *name)
{
    return have_word_of(&name, 1, roles);
}

static bool is_jpeg(const char *suffix)
{
    return fby_equal_ignoring_case(suffix, "jpg") ||
           fby_equal_ignoring_case(suffix, "jpeg");
}

/* True if a folder has files of another type than the first one, as PNG masks
 * beside JPEG pictures. */
static bool has_types(const struct folder_set *set)
{
    const char *first = set->folders[0].suffix;
    for (uint32_t i = 1; i < set->n; i++) {
        const char *suffix = set->folders[i].suffix;
        if (!fby_equal_ignoring_case(first, suffix) &&
            !(is_jpeg(first) && is_jpeg(suffix))) {
            return true;
        }
    }
    return false;
}

enum verdict { CLASSES, MAYBE_PAIRS, PAIRS };

static enum verdict judge(const struct folder_set *set)
{
    const struct paired_folder *one = &set->folders[0];
    if (set->n == 0) {
        return CLASSES;
    }
    bool is_counter =
        one->n_files == 1 ||
        (one->is_counted &&
            (set->is_nearly || one->most - one->least + 1 == one->n_files));
    if (set->n > FBY_FEW_FOLDERS) {
        return is_counter ? CLASSES : MAYBE_PAIRS;
    }
    bool is_of_types = has_types(set) && one->n_files >= FBY_FEW_FILES;
    if (!is_counter || is_of_types || set->has_plain || has_any(set, roles)) {
        return PAIRS;
    }
    bool is_many = one->n_files >= MANY_FILES && !set->is_nearly;
    return has_any(set, words) || is_many ? MAYBE_PAIRS : CLASSES;
}

/* Write "A, B and C". */
static void write_names(const struct folder_set *set, char *out, size_t size)
{
    size_t   used  = 0;
    uint32_t named = set->n <= FBY_FEW_FOLDERS ? set->n : FBY_FEW_FOLDERS;
    for (uint32_t i = 0; i < named && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s",
            i == 0                              ? ""
            : i + 1 == named && named == set->n ? " and "
                                                : ", ",
            fby_text_show(set->folders[i].name).text);
    }
    if (named < set->n && used < size) {
        snprintf(out + used, size - used, ", ...");
    }
}

/* Write the names as a list of Python. Returns false if one cannot be the name
 * of a column, or needs quotes. */
static bool write_columns(const struct folder_set *set, char *out, size_t size)
{
    size_t used = 0;
    bool   fits = true;
    for (uint32_t i = 0; i < set->n && fits; i++) {
        const char *name = set->folders[i].name;
        char        column[sizeof(set->folders[i].name)];
        size_t      n = 0;
        for (; name[n] != '\0'; n++) {
            column[n] = (char)tolower((unsigned char)name[n]);
        }
        column[n] = '\0';
        fits      = fby_shell_is_plain(name) && strchr(name, '.') == NULL &&
               fby_text_is_extension(column) && used < size;
        if (fits) {
            used += (size_t)snprintf(
                out + used, size - used, "%s'%s'", i > 0 ? ", " : "", name);
        }
    }
    return fits && used < size;
}

/* Lists in these folders, of those in them or a level below, in Python. */
#define PAIRS_IN                                          \
    "[(d, 'pairs.csv', ['', *sorted(e[len(d):] for e in " \
    "glob.glob(glob.escape(d) + '*/'))]) for d in "

/* Set the command to the one that makes the lists: as a rule in `path`, or, if that
 * is the folder of a split, in those of all splits. Returns false if there is
 * none. */
static bool advise(const struct fby_search *search, const char *path,
    const struct folder_set *set)
{
    char        parent[FBY_PATH_SIZE];
    char        columns[MAX_FOLDERS * 36];
    const char *slash    = strrchr(path, '/');
    const char *name     = slash != NULL ? slash + 1 : path;
    bool        is_split = fby_split_of_folder(name) != NULL;
    snprintf(parent, sizeof(parent), "%.*s",
        slash != NULL ? (int)(slash - path) : 0, path);
    if (search->in_zip || !write_columns(set, columns, sizeof(columns))) {
        return false;
    }
    const char *colon = fby_guess_set_command(search, is_split ? parent : path,
        FBY_PYTHON "import glob; N = [%s]; Q = %s; %s; %s\"", columns,
        set->lists != NULL ? set->lists
        : is_split         ? PAIRS_IN "glob.glob('*/')]"
                           : PAIRS_IN "['']]",
        fby_program_common_names, fby_program_write_lists);
    return colon[0] != '\0';
}

static fby_err refuse_set(struct fby_search *search, const char *path,
    const struct folder_set *set, struct fby_error_detail *why)
{
    char names[160];
    bool is_below    = set->where[0] != '\0';
    bool has_command = advise(search, path, set);
    write_names(set, names, sizeof(names));
    fby_err err = fby_error_set(why, FBY_CONFIG,
        "%s have %sthe same file names%s%s, so they look like pairs, not "
        "classes; if they are classes, add --class-depth %d; for pairs %s",
        names, set->is_nearly ? "nearly " : "", is_below ? " in " : "",
        fby_text_show_begin(set->where, 60).text, is_below ? 2 : 1,
        has_command      ? "write a list, and run init again:"
        : search->in_zip ? "write a list"
                         : "name the folders images, masks");
    return fby_guess_unpack_first(search, err, why);
}

/* Refuse the folders, or add a note. */
static fby_err refuse_pairs(struct fby_search *search, const char *path,
    const struct folder_set *set, struct fby_error_detail *why)
{
    char         names[160];
    enum verdict verdict = judge(set);
    if (verdict == CLASSES) {
        return FBY_OK;
    }
    if (verdict == PAIRS) {
        return refuse_set(search, path, set, why);
    }
    write_names(set, names, sizeof(names));
    if (advise(search, path, set)) {
        fby_guess_note(search,
            "note: %s have %sthe same file names; if they are pairs, not "
            "classes, write a list, and run init again: %s",
            names, set->is_nearly ? "nearly " : "", search->out->command);
        search->out->command[0] = '\0';
    }
    return FBY_OK;
}

fby_err fby_refuse_same_names(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    if (search->out->n_splits > 0) { /* train, which was looked at, decides */
        return FBY_OK;
    }
    struct folder_set *set = fby_zalloc(sizeof(*set));
    set->where             = "";
    read_folders(search, path, listing, set);
    fby_err err = refuse_pairs(search, path, set, why);
    free(set);
    return err == FBY_OK ? fby_refuse_pair_ends(search, path, listing, why)
                         : err;
}

fby_err fby_refuse_pairs_below(struct fby_search *search, const char *path,
    const char *folder, const char *lists, struct fby_error_detail *why)
{
    struct fby_listing listing = {0};
    char               below[FBY_PATH_SIZE];
    struct folder_set *set = fby_zalloc(sizeof(*set));
    fby_err            err = FBY_OK;
    set->where             = folder;
    set->lists             = lists;
    if (fby_path_join(path, folder, below, NULL) == FBY_OK &&
        fby_guess_list_dir(search, below, NULL, &listing, NULL) == FBY_OK) {
        read_folders(search, below, &listing, set);
    }
    if (judge(set) == PAIRS || (judge(set) != CLASSES && has_any(set, words))) {
        err = refuse_set(search, path, set, why);
    }
    fby_listing_fini(&listing);
    free(set);
    return err;
}
