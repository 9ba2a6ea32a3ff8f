/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_list_paths.c - refuse a list whose paths of pictures lead to no file.
 *
 * Such paths are names alone, those of another machine or of another folder, or
 * have backslashes. If the file of one is anywhere below the list's folder, the
 * error has the command that writes lists of paths, paths-X.csv of each X.csv. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/list_command.h"
#include "cli/init/named_files.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_lists.h"
#include "cli/init/text_state.h"
#include "pipeline/text.h"

enum { LOOKED_AT = 100, VALUE_SIZE = 128, MAX_FOLDERS = 64 };

/* ---- a column without files ---- */

/* True for a path of a picture on some machine, not for an address. */
static bool is_picture_path(const char *text, size_t size)
{
    char value[VALUE_SIZE];
    if (size == 0 || size >= sizeof(value)) {
        return false;
    }
    snprintf(value, sizeof(value), "%.*s", (int)size, text);
    return fby_init_is_any_picture(value) && strstr(value, "://") == NULL;
}

/* The first value of the column if the first ones are paths of pictures that
 * lead to no file; n_members: they are not. */
static uint32_t find_unresolved_value(const struct fby_search *search,
    const char *base, const struct fby_shard *shard, uint32_t column)
{
    uint32_t first = shard->n_members;
    uint32_t n     = 0;
    for (uint32_t m = 0; m < shard->n_members && n < LOOKED_AT; m++) {
        const char *text =
            (const char *)shard->texts.data + shard->text_offset[m];
        size_t size = shard->text_size[m];
        if (shard->suffix_index[m] != column) {
            continue;
        }
        if (!is_picture_path(text, size) ||
            fby_guess_is_path_of_file(search, base, text, size)) {
            return shard->n_members;
        }
        first = n++ == 0 ? m : first;
    }
    return first;
}

/* Add a note of the first column whose first value is a picture's address. */
static void note_addresses(
    struct fby_search *search, const char *list, const struct fby_shard *shard)
{
    for (uint32_t m = 0; m < shard->n_members && m < shard->first_member[1];
         m++) {
        char value[VALUE_SIZE];
        snprintf(value, sizeof(value), "%.*s", (int)shard->text_size[m],
            (const char *)shard->texts.data + shard->text_offset[m]);
        if (strstr(value, "://") != NULL && fby_init_is_any_picture(value)) {
            fby_guess_note(search,
                "note: %s: the column %s has URLs of pictures, which are "
                "not read: it is text; download the pictures, and write their "
                "paths into the list",
                list, fby_shard_suffix(shard, m));
            return;
        }
    }
}

/* ---- the command ---- */

/* True for a text that means itself in quotes of Python within those of a shell. */
static bool is_quotable(const char *text)
{
    const char *c = text;
    while (*c >= ' ' && *c <= '~' && strchr("$`\"'\\!", *c) == NULL) {
        c++;
    }
    return *c == '\0';
}

/* Append the columns as an object of Python. Returns false if a text cannot be
 * quoted. */
static bool append_columns(
    struct fby_buffer *out, const struct fby_named_files *files)
{
    bool is_quoted = true;
    for (uint32_t i = 0; i < files->n; i++) {
        const struct fby_named_file *file = &files->files[i];
        is_quoted = is_quoted && is_quotable(file->column) &&
                    is_quotable(file->prefix) && is_quotable(file->path);
        fby_init_printf(out, "%s'%s': ('%s', '%s', '/%.*s', %u, %d)",
            i > 0 ? ", " : "", file->column, file->prefix, file->ending,
            (int)file->folder_size, file->path, file->n_parts,
            fby_init_is_partner_name(file->column) ? 1 : 0);
    }
    return is_quoted;
}

/* Append the names of the folders that `is_one` is true for as a set of Python. */
static void append_folders(struct fby_buffer *out,
    const struct fby_folders_below *folders, bool (*is_one)(const char *name))
{
    uint32_t    n    = 0;
    const char *last = "";
    fby_init_append(out, "{*()");
    for (uint32_t i = 0; i < folders->n && n < MAX_FOLDERS; i++) {
        const char *slash = strrchr(folders->paths[i], '/');
        const char *name  = slash != NULL ? slash + 1 : folders->paths[i];
        if (is_one(name) && is_quotable(name) && strcmp(name, last) != 0) {
            fby_init_printf(out, ", '%s'", name);
            last = name;
            n++;
        }
    }
    fby_init_append(out, "}");
}

static bool is_no_folder(const char *name)
{
    (void)name;
    return false;
}

static bool has_column(
    const struct fby_named_files *files, const struct fby_named_files *first)
{
    bool found = false;
    for (uint32_t i = 0; i < files->n; i++) {
        for (uint32_t k = 0; k < first->n; k++) {
            found = found ||
                    strcmp(files->files[i].column, first->files[k].column) == 0;
        }
    }
    return found;
}

/* Append "'LIST': FOLDER" of the list's split. Returns false if one of them cannot
 * be quoted. */
static bool append_split(struct fby_buffer *out, const char *list,
    const struct fby_named_files *files)
{
    fby_init_printf(out, "'%s': '/%.*s'", list, (int)files->files[0].split_size,
        files->files[0].path);
    return is_quotable(list) && is_quotable(files->files[0].path);
}

/* A function of fby_list_command_append(), for lists that name files in the same
 * columns. */
static bool append_list(
    const void *arg, const char *list, struct fby_buffer *out)
{
    const struct fby_unresolved_list *self = arg;
    struct fby_named_files            other;
    if (strcmp(list, self->list) == 0) {
        return append_split(out, list, self->files);
    }
    return !fby_named_files_find(self->search, self->dir, list, self->folders,
               FBY_NUMBERS_ANY, &other) ||
           !has_column(&other, self->files) || append_split(out, list, &other);
}

/* Set the command of the search to the one that writes lists of paths. Returns
 * false if there is none. */
static bool advise(const struct fby_unresolved_list *self)
{
    const struct fby_list_command lists = {
        self->search, self->dir, self->list, "paths"};
    struct fby_buffer settings = {0};
    struct fby_buffer splits   = {0};
    bool              is_quoted =
        fby_list_command_append(&lists, append_list, self, &splits);
    fby_init_append(&settings, "S = {");
    fby_put_bytes(&settings, splits.data, splits.size);
    fby_init_append(&settings, "}; K = {");
    is_quoted = append_columns(&settings, self->files) && is_quoted;
    fby_init_append(&settings, "}; P = ");
    append_folders(&settings, self->folders, fby_init_is_partner_name);
    fby_init_append(&settings, "; N = ");
    append_folders(&settings, self->folders,
        fby_has_folder_of_train(self->folders) ? fby_is_evaluation_folder
                                               : is_no_folder);
    fby_init_append(&settings, "; I = ");
    append_folders(&settings, self->folders, fby_init_is_picture_name);
    bool has_command = is_quoted && fby_list_command_set(&lists, &settings,
                                        fby_program_list_paths);
    fby_buffer_fini(&splits);
    fby_buffer_fini(&settings);
    return has_command;
}

/* ---- what the user is told ---- */

/* Append what is to be done about wrong paths. */
static void append_remedy(
    const struct fby_unresolved_list *self, struct fby_error_detail *why)
{
    char   converted[FBY_PATH_SIZE];
    size_t used = strlen(why->text);
    char  *end  = why->text + used;
    size_t left = sizeof(why->text) - used;
    fby_guess_name_list(self->list, "paths", converted);
    if (fby_guess_has_file(self->search->root, self->dir, converted)) {
        snprintf(end, left, "read the list beside it that has others, %s",
            fby_text_show(converted).text);
    } else if (strncmp(self->list, "paths-", strlen("paths-")) == 0 ||
               !advise(self)) {
        snprintf(end, left, "write paths that begin at the folder of the list");
    } else {
        snprintf(end, left, "write a list of paths:");
    }
}

fby_err fby_refuse_unresolved_list(
    const struct fby_unresolved_list *self, struct fby_error_detail *why)
{
    const struct fby_named_file *file = &self->files->files[0];
    bool    is_name = file->prefix[0] == '\0' && file->n_parts == 1;
    fby_err err =
        is_name ? fby_error_set(why, FBY_CONFIG,
                      "%s: the column %s names files without their path (%s): ",
                      fby_text_show_begin(self->list, 40).text,
                      fby_text_show_begin(file->column, 40).text,
                      fby_text_show_begin(file->path, 80).text)
                : fby_error_set(why, FBY_CONFIG,
                      "%s: the column %s has paths that lead to no file, such "
                      "as %s "
                      "(%s): ",
                      fby_text_show_begin(self->list, 40).text,
                      fby_text_show_begin(file->column, 40).text,
                      fby_text_show_begin(file->value, 80).text,
                      fby_text_show_begin(file->path, 80).text);
    append_remedy(self, why);
    return err;
}

/* The first zip archive of the listing; NULL: none. */
static const char *find_zip(const struct fby_listing *listing)
{
    uint32_t i = 0;
    while (i < listing->count &&
           !fby_text_ends_with(listing->entries[i].name, ".zip")) {
        i++;
    }
    return i < listing->count ? listing->entries[i].name : NULL;
}

static fby_err refuse_missing(const char *list, const char *column,
    const char *value, const struct fby_listing *listing,
    struct fby_error_detail *why)
{
    const char *zip = find_zip(listing);
    return fby_error_set(why, FBY_CONFIG,
        "%.40s: the column %.40s names pictures, but %.80s is not there: "
        "%s%.40s"
        "; paths are absolute, or begin at the folder of the list",
        fby_text_show(list).text, column, fby_text_show(value).text,
        zip != NULL ? "unpack " : "put the pictures beside the list",
        zip != NULL ? fby_text_show(zip).text : "");
}

/* Add a note that the pictures of the list are in folders, which are read
 * instead, with the command for a list of paths. */
static void note_folders(
    const struct fby_unresolved_list *self, const char *column)
{
    struct fby_guess *out = self->search->out;
    char              converted[FBY_PATH_SIZE];
    char              command[FBY_GUESS_COMMAND];
    memcpy(command, out->command, sizeof(command));
    out->command[0] = '\0';
    fby_guess_name_list(self->list, "paths", converted);
    bool is_done = strncmp(self->list, "paths-", strlen("paths-")) == 0 ||
                   fby_guess_has_file(self->search->root, self->dir, converted);
    bool has_command = !is_done && advise(self);
    fby_guess_note(self->search,
        "note: %s: the column %s names pictures that are in folders (%s), and "
        "these folders are read; to read the list instead, write %s%s",
        self->list, column, self->files->files[0].path,
        has_command ? "a list of paths: "
                    : "paths that begin at the folder of the list",
        has_command ? out->command : "");
    memcpy(out->command, command, sizeof(command));
}

/* Is the list's first picture in a folder called as pictures are, such as images?
 * That is no class. With a folder such as masks beside it, both are read. */
static bool is_in_images(
    const struct fby_unresolved_list *self, const struct fby_listing *listing)
{
    const char *file  = strrchr(self->files->files[0].path, '/');
    bool        found = false;
    for (uint32_t i = 0; file != NULL && i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        char                    dir[FBY_PATH_SIZE];
        if (entry->is_dir && fby_init_is_partner_name(entry->name)) {
            return false;
        }
        found =
            found ||
            (entry->is_dir && fby_init_is_picture_name(entry->name) &&
                fby_path_join(self->dir, entry->name, dir, NULL) == FBY_OK &&
                fby_guess_has_file(self->search->root, dir, file + 1));
    }
    return found;
}

/* Refuse the column of the value `first`. Folders that may be classes are used
 * without a list, so it is no error that they have none of its pictures. */
static fby_err check_unresolved_column(const struct fby_unresolved_list *self,
    const struct fby_listing *listing, bool is_found,
    const struct fby_shard *shard, uint32_t first, struct fby_error_detail *why)
{
    const char *only     = NULL;
    const char *column   = fby_shard_suffix(shard, first);
    bool        is_first = fby_guess_n_splits(self->search) == 1;
    char        value[VALUE_SIZE];
    snprintf(value, sizeof(value), "%.*s", (int)shard->text_size[first],
        (const char *)shard->texts.data + shard->text_offset[first]);
    uint32_t n_dirs = fby_guess_count_dirs(listing, &only);
    bool     is_path =
        is_found && (self->files->files[0].n_parts > 1 ||
                        self->files->files[0].split_size > 0 ||
                        strchr(self->files->files[0].path, '/') == NULL ||
                        is_in_images(self, listing));
    if (is_found && (is_path || n_dirs < 2)) {
        return fby_refuse_unresolved_list(self, why);
    }
    if (!is_found && n_dirs < 2 && is_first) {
        return refuse_missing(self->list, column, value, listing, why);
    }
    if (is_found) {
        note_folders(self, column);
        return FBY_OK;
    }
    fby_guess_note(self->search,
        "note: %s: the column %s names pictures that are not there, such as %s",
        self->list, column, value);
    return FBY_OK;
}

/* The first value of a column of paths of pictures that lead to no file;
 * n_members: there is none. */
static uint32_t find_unresolved_column(const struct fby_search *search,
    const char *base, const struct fby_shard *shard)
{
    uint32_t first = shard->n_members;
    for (uint32_t i = 0; i < shard->n_suffixes && first == shard->n_members;
         i++) {
        first = find_unresolved_value(search, base, shard, i);
    }
    return first;
}

/* Check the list, in a folder with the listing. Names may lack their endings where
 * the list is surely one of pictures: these are beside it, or the user gives it. */
static fby_err check_list(struct fby_search *search, const char *list,
    const char *base, const struct fby_listing *listing,
    const struct fby_shard *shard, struct fby_error_detail *why)
{
    struct fby_folders_below folders = {0};
    struct fby_named_files   files;
    uint32_t first         = find_unresolved_column(search, base, shard);
    bool     is_unresolved = first < shard->n_members;
    bool     is_file       = search->only_file[0] != '\0';
    bool     is_flat       = fby_init_has_pictures(listing);
    fby_err  err           = FBY_OK;
    if (!is_unresolved) {
        note_addresses(search, list, shard);
    }
    if (!is_unresolved && !is_file && !is_flat) {
        return FBY_OK;
    }
    fby_folders_below_find(search, base, &folders);
    bool is_found = fby_named_files_find(search, base, list, &folders,
        is_flat ? FBY_NUMBERS_ANY : FBY_NUMBERS_NONE, &files);
    const struct fby_unresolved_list self = {
        search, base, list, &folders, &files};
    if (is_unresolved) {
        err = check_unresolved_column(
            &self, listing, is_found, shard, first, why);
    } else if (is_found) {
        err = fby_refuse_unresolved_list(&self, why);
    }
    fby_folders_below_fini(&folders);
    return err;
}

fby_err fby_refuse_unresolved_paths(struct fby_search *search,
    const char *list_path, const char *base, const struct fby_shard *shard,
    struct fby_error_detail *why)
{
    struct fby_listing listing = {0};
    const char        *slash   = strrchr(list_path, '/');
    if (search->class_depth != FBY_GUESS_ANY_DEPTH) {
        return FBY_OK;
    }
    fby_err err = fby_guess_list_dir(search, base, NULL, &listing, why);
    if (err == FBY_OK) {
        err = check_list(search, slash != NULL ? slash + 1 : list_path, base,
            &listing, shard, why);
    }
    fby_listing_fini(&listing);
    return err;
}
