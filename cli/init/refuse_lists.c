/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_lists.c - refuse lists that fby_guess_lists() has not used, beside
 * a folder of their pictures.
 *
 * Without this check the folder would be taken for the only class. Each error
 * says why the list is not used, and names a command that writes one that is. */
#include "cli/init/refuse_lists.h"

#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/guess_values.h"
#include "cli/init/names.h"
#include "cli/init/split_names.h"
#include "cli/init/words.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { MAX_SHOWN = 60 /* bytes of a name in a command */ };

struct list_dir { /* a directory with lists and folders */
    struct fby_search        *search;
    const char               *path; /* below the root */
    const struct fby_listing *listing;
    const char *only_dir;    /* the only folder of pictures; NULL: any */
    bool        whole_names; /* values have the extensions: 1 is not 1.jpg */
    const char *split;       /* whose folders are the first; NULL: none is */
};

/* ---- a list without paths ---- */

/* True for the usual names of a folder of pictures without classes: images,
 * train_images, val2017. */
static bool is_picture_folder(const struct fby_entry *entry)
{
    return entry->is_dir && (fby_init_is_picture_name(entry->name) ||
                                fby_split_word(entry->name) != NULL);
}

static bool has_only_picture_folders(const struct fby_listing *listing)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        bool is_dir = listing->entries[i].is_dir;
        if (is_dir && !is_picture_folder(&listing->entries[i])) {
            return false;
        }
        n += is_dir ? 1 : 0;
    }
    return n > 0;
}

/* Look for the file FOLDER/VALUE, also with an extension of pictures. */
static bool find_named_file(
    const struct list_dir *dir, const char *folder, struct fby_named_file *out)
{
    const struct fby_root *root = dir->search->root;
    char                   within[FBY_PATH_SIZE];
    char                   path[FBY_PATH_SIZE];
    if (fby_path_join(dir->path, folder, within, NULL) != FBY_OK ||
        fby_path_join(within, out->name, path, NULL) != FBY_OK) {
        return false;
    }
    snprintf(out->folder, sizeof(out->folder), "%s", folder);
    out->ending[0] = '\0';
    return fby_object_exists(root, path) ||
           (!dir->whole_names && fby_guess_find_picture(root, within, out->name,
                                     strlen(out->name), out->ending));
}

/* True for a text that means itself in quotes of Python within those of a shell. */
static bool is_quotable(const char *text)
{
    char plain[FBY_PATH_SIZE];
    snprintf(plain, sizeof(plain), "%s", text);
    for (char *c = plain; *c != '\0'; c++) {
        *c = (char)(*c == ' ' ? '_' : *c);
    }
    return fby_shell_is_plain(plain);
}

/* Copy a value of a list to out->name. Returns false for one that is no name. */
static bool copy_name(const char *text, size_t size, struct fby_named_file *out)
{
    if (size == 0 || size >= sizeof(out->name)) {
        return false;
    }
    memcpy(out->name, text, size);
    out->name[size] = '\0';
    return strlen(out->name) == size && is_quotable(out->name);
}

/* Look for the file of the value in the folder, or in the only one in it. */
static bool find_in_folder(
    const struct list_dir *dir, const char *folder, struct fby_named_file *out)
{
    struct fby_listing inner = {0};
    char               path[FBY_PATH_SIZE];
    char               below[FBY_PATH_SIZE];
    bool               found = find_named_file(dir, folder, out);
    if (found || fby_path_join(dir->path, folder, path, NULL) != FBY_OK) {
        return found;
    }
    fby_err     err = fby_guess_list_dir(dir->search, path, NULL, &inner, NULL);
    const char *only = err == FBY_OK ? fby_guess_find_only_dir(&inner) : NULL;
    if (only != NULL && fby_path_join(folder, only, below, NULL) == FBY_OK) {
        struct list_dir whole = *dir;
        whole.whole_names     = true;
        found                 = find_named_file(&whole, below, out);
    }
    fby_listing_fini(&inner);
    return found;
}

/* Look for the file of the value in each folder, or only in those of the split. */
static bool find_in_folders_of(
    const struct list_dir *dir, const char *split, struct fby_named_file *out)
{
    for (uint32_t i = 0; i < dir->listing->count; i++) {
        const struct fby_entry *entry = &dir->listing->entries[i];
        const char             *its   = fby_split_word(entry->name);
        bool                    is_chosen =
            entry->is_dir &&
            (dir->only_dir == NULL ||
                strcmp(dir->only_dir, entry->name) == 0) &&
            (split == NULL || (its != NULL && strcmp(its, split) == 0));
        if (is_chosen && find_in_folder(dir, entry->name, out)) {
            return true;
        }
    }
    return false;
}

/* Look for the file of the value in each folder: train and test may have files
 * of one name. */
static bool find_in_folders(
    const struct list_dir *dir, struct fby_named_file *out)
{
    return (dir->split != NULL && find_in_folders_of(dir, dir->split, out)) ||
           find_in_folders_of(dir, NULL, out);
}

static const char *text_of(const struct fby_shard *shard, uint32_t m)
{
    return (const char *)shard->texts.data + shard->text_offset[m];
}

/* True for a number that is in another row, too: it is a label, no name. */
static bool is_repeated_number(const struct fby_shard *shard, uint32_t value)
{
    const char *text  = text_of(shard, value);
    size_t      size  = shard->text_size[value];
    uint32_t    m     = value + 1;
    bool        found = false;
    if (!fby_guess_is_digits(text, size)) {
        return false;
    }
    while (m < shard->n_members && !found) {
        found = shard->suffix_index[m] == shard->suffix_index[value] &&
                shard->text_size[m] == size &&
                memcmp(text_of(shard, m), text, size) == 0;
        m++;
    }
    return found;
}

/* The number of members of the first row. */
static uint32_t count_first_row(const struct fby_shard *shard)
{
    uint32_t n = 0;
    while (n < shard->n_members && fby_shard_sample_of(shard, n) == 0) {
        n++;
    }
    return n;
}

/* Has the first row the name of a picture, with its extension? */
static bool has_picture_name(const struct fby_shard *shard)
{
    struct fby_named_file file;
    uint32_t              n = count_first_row(shard);
    uint32_t              m = 0;
    while (
        m < n && !(copy_name(text_of(shard, m), shard->text_size[m], &file) &&
                     fby_init_is_any_picture(file.name))) {
        m++;
    }
    return m < n;
}

/* True for a number in a column that is called after labels: no name. */
static bool is_numeric_label(const struct fby_shard *shard, uint32_t value)
{
    return fby_init_is_class_name(fby_shard_suffix(shard, value)) &&
           fby_guess_is_digits(text_of(shard, value), shard->text_size[value]);
}

/* Find a file that a value of the first row names. */
static bool find_file_of_row(const struct list_dir *dir,
    const struct fby_shard *shard, struct fby_named_file *out)
{
    struct list_dir names = *dir;
    uint32_t        n     = count_first_row(shard);
    names.whole_names     = dir->whole_names || has_picture_name(shard);
    for (uint32_t m = 0; m < n; m++) {
        out->column = fby_shard_suffix(shard, m);
        if (copy_name(text_of(shard, m), shard->text_size[m], out) &&
            !is_repeated_number(shard, m) && !is_numeric_label(shard, m) &&
            find_in_folders(&names, out)) {
            return true;
        }
    }
    return false;
}

/* Write the command that adds the paths to a list. Returns false if it does not
 * fit, or would need quotes. */
static bool write_command(const char *operand, const char *list,
    const struct fby_named_file *file, char *out, size_t size)
{
    static const char csv[] =
        "(cd %s && python3 -c \"import csv; r = list(csv.reader(open('%s', "
        "newline='', encoding='utf-8-sig'))); k = [c.lower() for c in r[0]]"
        ".index('%s'); csv.writer(open('paths.csv', 'x')).writerows(r[:1] + "
        "[x[:k] + ['%s/' + x[k]%s] + x[k + 1:] for x in r[1:] if x])\")";
    static const char json[] =
        "(cd %s && python3 -c \"import json; r = [json.loads(x) for x in "
        "open('%s', encoding='utf-8-sig') if x.strip()]; open('paths.jsonl', "
        "'x').writelines(json.dumps({k: v if k.lower() != '%s' else '%s/' + "
        "str(v)%s for k, v in x.items()}) + '\\n' for x in r)\")";
    char ending[16] = "";
    if (file->ending[0] != '\0') {
        snprintf(ending, sizeof(ending), " + '%.8s'", file->ending);
    }
    int n = snprintf(out, size, fby_text_ends_with(list, ".csv") ? csv : json,
        operand, list, file->column, file->folder, ending);
    return n >= 0 && (size_t)n < size && is_quotable(list) &&
           is_quotable(file->column) && is_quotable(file->folder);
}

/* Append what is to be done about names without their path. */
static void append_remedy(const struct fby_search *search, const char *dir,
    const char *list, const struct fby_named_file *file,
    struct fby_error_detail *why)
{
    char        command[384];
    char        paths[FBY_PATH_SIZE];
    char        name[FBY_NAME_SIZE];
    char        operand[FBY_OPERAND_SIZE];
    size_t      used = strlen(why->text);
    char       *end  = why->text + used;
    size_t      left = sizeof(why->text) - used;
    const char *made = fby_guess_name_list(list, "paths", name);
    fby_guess_write_operand(search, dir, operand);
    if (fby_path_join(dir, made, paths, NULL) == FBY_OK &&
        fby_object_exists(search->root, paths)) {
        fby_guess_write_operand(search, paths, operand);
        snprintf(end, left,
            "the list %s beside it may have them: forebay init %s", made,
            operand);
        return;
    }
    if (write_command(operand, list, file, command, sizeof(command)) &&
        strlen(command) + 48 < left) { /* 48: the texts beside it */
        snprintf(end, left, "write a list of paths: %s", command);
        fby_guess_append_then(search, dir, made, why);
        return;
    }
    snprintf(end, left, "write the paths into the list");
}

fby_err fby_refuse_names(const struct fby_search *search, const char *dir,
    const char *list, const struct fby_named_file *file,
    struct fby_error_detail *why)
{
    fby_err err = fby_error_set(why, FBY_CONFIG,
        "%s: the column %s names files without their path "
        "(%s/%s%s): ",
        fby_text_show_begin(list, 40).text,
        fby_text_show_begin(file->column, 40).text,
        fby_text_show_begin(file->folder, 40).text,
        fby_text_show_begin(file->name, 40).text, file->ending);
    append_remedy(search, dir, list, file, why);
    return err;
}

/* Refuse a list that fby_guess_lists() has not used. */
static fby_err check_list(
    const struct list_dir *dir, const char *list, struct fby_error_detail *why)
{
    struct list_dir         of_split = *dir;
    struct fby_index        index    = {0};
    struct fby_dataset_spec spec     = {.kind = FBY_SOURCE_LIST};
    struct fby_error_detail reason   = {{0}};
    struct fby_named_file   file;
    char                    path[FBY_PATH_SIZE];
    bool                    names_files = false;
    if (dir->search->in_zip) {
        return fby_error_set(why, FBY_CONFIG,
            "the list %.60s in the archive is not read: unpack the archive",
            fby_text_show(list).text);
    }
    FBY_TRY(fby_path_join(dir->path, list, path, why));
    FBY_TRY(fby_refuse_header(dir->search, path, &names_files, why));
    fby_err err    = fby_guess_index(dir->search, &spec, path, &index, &reason);
    of_split.split = fby_split_word(list);
    if (err == FBY_OK && find_file_of_row(&of_split, &index.shards[0], &file)) {
        err = fby_refuse_names(dir->search, dir->path, list, &file, why);
    } else if (err != FBY_OK &&
               (fby_guess_explain_invalid_list(dir->search, path, &reason) ||
                   dir->only_dir == NULL)) {
        err = fby_error_set(why, err, "%s", reason.text);
    } else {
        err = FBY_OK; /* it has other uses */
    }
    fby_index_fini(&index);
    return err;
}

static bool is_list(const struct fby_entry *entry)
{
    return !entry->is_dir &&
           (fby_text_ends_with(entry->name, ".csv") ||
               fby_text_ends_with(entry->name, ".jsonl")) &&
           strstr(entry->name, "submission") == NULL; /* Kaggle's */
}

static fby_err check_lists(
    const struct list_dir *dir, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < dir->listing->count; i++) {
        const struct fby_entry *entry = &dir->listing->entries[i];
        if (is_list(entry)) {
            err = check_list(dir, entry->name, why);
        }
    }
    return err;
}

/* ---- lists in other formats ---- */

/* A function of fby_guess_write_jq(), with a struct list_dir. */
static void find_folder(
    const void *arg, const char *name, char out[FBY_NAME_SIZE])
{
    const struct list_dir *dir   = arg;
    struct list_dir        whole = *dir;
    struct fby_named_file  file;
    whole.whole_names = true;
    if (copy_name(name, strlen(name), &file) && strchr(name, '/') == NULL &&
        find_in_folders(&whole, &file) && strlen(file.folder) < 40 &&
        fby_shell_is_plain(file.folder)) {
        snprintf(out, FBY_NAME_SIZE, "%.40s/", file.folder);
    }
}

static fby_err refuse_json(const struct list_dir *dir, const char *name,
    const char *operand, const char *shown, struct fby_error_detail *why)
{
    char program[FBY_JQ_SIZE];
    char path[FBY_PATH_SIZE];
    FBY_TRY(fby_path_join(dir->path, name, path, why));
    bool is_known =
        fby_guess_write_jq(dir->search, path, find_folder, dir, program);
    return fby_error_set(why, FBY_CONFIG,
        "%s is not read as a list: write JSON lines, an object in each line: "
        "(set -C; cd %s && jq -c '%s' %s > train.jsonl)%s",
        shown, operand, program, shown,
        is_known ? "" : "; if it has such lines, rename it to train.jsonl");
}

/* The endings of lists that are read only under another name, in any case. */
static const struct {
    const char *ending, *what, *command;
    const char *made; /* the new ending; NULL: the command has no new name */
} endings[] = {{".csv.gz", "unpack it", "gunzip -k", NULL},
    {".jsonl.gz", "unpack it", "gunzip -k", NULL},
    {".ndjson", "rename it", "mv -n", ".jsonl"},
    {".jsonl", "rename it", "mv -n", ".jsonl"},
    {".csv", "rename it", "mv -n", ".csv"}};
enum { N_ENDINGS = sizeof(endings) / sizeof(endings[0]) };

/* The index of the name's ending; N_ENDINGS: none, or a list that is read. */
static size_t find_ending(const char *name)
{
    size_t n = strlen(name);
    bool   is_read =
        fby_text_ends_with(name, ".csv") || fby_text_ends_with(name, ".jsonl");
    size_t i = is_read ? N_ENDINGS : 0;
    while (i < N_ENDINGS &&
           (n <= strlen(endings[i].ending) ||
               !fby_equal_ignoring_case(
                   name + n - strlen(endings[i].ending), endings[i].ending))) {
        i++;
    }
    return i;
}

/* Refuse a list with the ending `i`; `shown` is its name, or FILE. */
static fby_err refuse_ending(const char *name, size_t i, const char *operand,
    const char *shown, struct fby_error_detail *why)
{
    char   made[MAX_SHOWN + 8] = "";
    bool   is_safe             = strcmp(name, shown) == 0;
    size_t stem =
        is_safe ? strlen(name) - strlen(endings[i].ending) : strlen(shown);
    if (endings[i].made != NULL) {
        snprintf(
            made, sizeof(made), " %.*s%s", (int)stem, shown, endings[i].made);
    }
    return fby_error_set(why, FBY_CONFIG,
        "%.60s is not read as a list: %s: (cd %s && %s %s%s)",
        fby_text_show(name).text, endings[i].what, operand, endings[i].command,
        shown, made);
}

static fby_err refuse_tabs(const struct list_dir *dir, const char *name,
    const char *operand, const char *shown, struct fby_error_detail *why)
{
    char path[FBY_PATH_SIZE];
    FBY_TRY(fby_path_join(dir->path, name, path, why));
    const char *encoding = fby_guess_find_utf16(dir->search, path);
    return fby_error_set(why, FBY_CONFIG,
        "%s has tabs: write a list with commas: (cd %s && python3 -c "
        "\"import csv; csv.writer(open('train.csv', 'x')).writerows(csv.reader("
        "open('%s', newline='', encoding='%s'), delimiter='\\t'))\")",
        shown, operand, shown, encoding != NULL ? encoding : "utf-8-sig");
}

static fby_err refuse_other_list(
    const struct list_dir *dir, const char *name, struct fby_error_detail *why)
{
    bool        is_safe = fby_shell_is_plain(name) && strlen(name) <= MAX_SHOWN;
    const char *shown   = is_safe ? name : "FILE";
    char        operand[FBY_OPERAND_SIZE];
    fby_guess_write_operand(dir->search, dir->path, operand);
    if (fby_text_ends_with(name, ".json")) {
        return refuse_json(dir, name, operand, shown, why);
    }
    if (find_ending(name) < N_ENDINGS) {
        return refuse_ending(name, find_ending(name), operand, shown, why);
    }
    if (fby_text_ends_with(name, ".tsv")) {
        return refuse_tabs(dir, name, operand, shown, why);
    }
    return fby_error_set(why, FBY_CONFIG,
        "%s is not read as a list: write one with commas and a header: "
        "(set -C; cd %s && (echo image,label; tr ' ' , < %s) > train.csv)",
        shown, operand, shown);
}

/* The listing has at least one file of each type. */
static fby_err check_other_lists(
    const struct list_dir *dir, struct fby_error_detail *why)
{
    char path[FBY_PATH_SIZE];
    for (uint32_t i = 0; i < dir->listing->count; i++) {
        const struct fby_entry *entry = &dir->listing->entries[i];
        if (!entry->is_dir && (fby_text_ends_with(entry->name, ".json") ||
                                  fby_text_ends_with(entry->name, ".tsv") ||
                                  find_ending(entry->name) < N_ENDINGS)) {
            return refuse_other_list(dir, entry->name, why);
        }
    }
    const char *only_file = dir->search->only_file;
    bool        is_looked_at =
        only_file[0] == '\0' || strcmp(only_file, "train.txt") == 0;
    FBY_TRY(fby_path_join(dir->path, "train.txt", path, why));
    return is_looked_at && fby_object_exists(dir->search->root, path)
               ? refuse_other_list(dir, "train.txt", why)
               : FBY_OK;
}

fby_err fby_refuse_unused_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    struct list_dir dir  = {.search = search, .path = path, .listing = listing};
    const char     *only = fby_guess_find_only_dir(listing);
    bool            has_folders = has_only_picture_folders(listing);
    bool            has_no_other =
        !fby_listing_has_dirs(listing) && !fby_init_has_pictures(listing);
    fby_err err = FBY_OK;
    if (has_folders) {
        err = check_lists(&dir, why);
    } else if (only != NULL && !search->in_zip) {
        dir.only_dir    = only;
        dir.whole_names = true;
        err             = check_lists(&dir, why);
    }
    return err == FBY_OK && (has_folders || has_no_other)
               ? check_other_lists(&dir, why)
               : err;
}

fby_err fby_refuse_lists_of_train(struct fby_search *search,
    const struct fby_listing *listing, const char *dir,
    struct fby_error_detail *why)
{
    const struct list_dir beside = {
        .search = search, .path = "", .listing = listing, .only_dir = dir};
    bool is_flat = search->out->n_splits > 0 &&
                   search->out->splits[0].kind == FBY_SOURCE_FOLDER &&
                   search->out->splits[0].class_depth == 0;
    return is_flat && search->class_depth == FBY_GUESS_ANY_DEPTH
               ? check_lists(&beside, why)
               : FBY_OK;
}
