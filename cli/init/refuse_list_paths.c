/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_list_paths.c - refuse a list whose paths of pictures lead to no file.
 *
 * Such paths are those of another machine, relative to another folder, or have
 * backslashes. If the end of one leads to a file, below the list's folder or in
 * one of the folders there, the error has the command that changes all paths. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/refuse_lists.h"
#include "cli/init/text_state.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { LOOKED_AT = 100, PREFIX_SIZE = 128, SCRIPT_SIZE = 240 };

struct lost_list { /* a list, and what changes its paths */
    struct fby_search        *search;
    const char               *dir;     /* of the list, below the root */
    const char               *list;    /* its name */
    const struct fby_listing *listing; /* of `dir` */
    const char               *column;
    char value[PREFIX_SIZE];    /* one path, as it is in the list */
    char path[PREFIX_SIZE];     /* the same with slashes */
    char prefix[PREFIX_SIZE];   /* of the path, to be removed */
    char folder[FBY_NAME_SIZE]; /* that has the file of a name; "" */
};

/* ---- a column without files ---- */

/* True for a path of a picture on some machine, not for an address. */
static bool is_picture_path(const char *text, size_t size)
{
    char value[PREFIX_SIZE];
    if (size == 0 || size >= sizeof(value)) {
        return false;
    }
    snprintf(value, sizeof(value), "%.*s", (int)size, text);
    return fby_init_is_any_picture(value) && strstr(value, "://") == NULL;
}

/* The first value of the column if the first ones are paths of pictures that
 * lead to no file; n_members: they are not. */
static uint32_t find_lost_value(const struct fby_search *search,
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
        char value[PREFIX_SIZE];
        snprintf(value, sizeof(value), "%.*s", (int)shard->text_size[m],
            (const char *)shard->texts.data + shard->text_offset[m]);
        if (strstr(value, "://") != NULL && fby_init_is_any_picture(value)) {
            fby_guess_note(search,
                "note: %s: the column %s has addresses of pictures, which are "
                "not read: it is text; download the pictures, and write their "
                "paths into the list",
                list, fby_shard_suffix(shard, m));
            return;
        }
    }
}

/* ---- where the files are ---- */

static bool is_file_in(
    const struct lost_list *self, const char *folder, const char *rest)
{
    char below[FBY_PATH_SIZE];
    char path[FBY_PATH_SIZE];
    return fby_path_join(self->dir, folder, below, NULL) == FBY_OK &&
           fby_path_join(below, rest, path, NULL) == FBY_OK &&
           fby_object_exists(self->search->root, path);
}

/* Extend the path of a folder by the only folder in it. Returns false if it has
 * none, or more. */
static bool enter_only_folder(
    const struct lost_list *self, char folder[FBY_PATH_SIZE])
{
    struct fby_listing inner = {0};
    char               path[FBY_PATH_SIZE];
    const char        *only;
    bool               entered = false;
    if (fby_path_join(self->dir, folder, path, NULL) == FBY_OK &&
        fby_guess_list_dir(self->search, path, NULL, &inner, NULL) == FBY_OK) {
        only = fby_guess_find_only_dir(&inner);
        entered =
            only != NULL && fby_path_join(folder, only, path, NULL) == FBY_OK;
    }
    if (entered) {
        memcpy(folder, path, sizeof(path));
    }
    fby_listing_fini(&inner);
    return entered;
}

/* Look for a file of that name in the folders beside the list, and in the only
 * folder of each. */
static bool find_name(struct lost_list *self, const char *name)
{
    for (uint32_t i = 0; i < self->listing->count; i++) {
        const struct fby_entry *entry = &self->listing->entries[i];
        char                    folder[FBY_PATH_SIZE];
        if (!entry->is_dir ||
            fby_path_join("", entry->name, folder, NULL) != FBY_OK) {
            continue;
        }
        bool found =
            is_file_in(self, folder, name) ||
            (enter_only_folder(self, folder) && is_file_in(self, folder, name));
        if (found && strlen(folder) < sizeof(self->folder)) {
            memcpy(self->folder, folder, strlen(folder) + 1);
            return true;
        }
    }
    return false;
}

/* Look for the longest end of the path that leads to a file, or for the file of
 * a name alone. */
static bool find_file(struct lost_list *self)
{
    const char *rest = self->path;
    while (rest != NULL) {
        rest += strspn(rest, "/");
        if (is_file_in(self, "", rest)) {
            snprintf(self->prefix, sizeof(self->prefix), "%.*s",
                (int)(rest - self->path), self->path);
            return true;
        }
        rest = strchr(rest, '/');
    }
    return strchr(self->path, '/') == NULL && find_name(self, self->path);
}

/* Copy a value of the list, and the same with slashes. */
static void copy_value(
    struct lost_list *self, const struct fby_shard *shard, uint32_t m)
{
    snprintf(self->value, sizeof(self->value), "%.*s", (int)shard->text_size[m],
        (const char *)shard->texts.data + shard->text_offset[m]);
    memcpy(self->path, self->value, sizeof(self->path));
    for (char *c = self->path; *c != '\0'; c++) {
        if (*c == '\\') {
            *c = '/';
        }
    }
}

/* Look for the file of one of the first values of the column. */
static bool find_file_of_values(
    struct lost_list *self, const struct fby_shard *shard, uint32_t first)
{
    uint32_t n     = 0;
    bool     found = false;
    for (uint32_t m = first; m < shard->n_members && n < LOOKED_AT && !found;
         m++) {
        if (shard->suffix_index[m] == shard->suffix_index[first]) {
            copy_value(self, shard, m);
            found = find_file(self);
            n++;
        }
    }
    return found;
}

/* ---- what the user is told ---- */

/* True for a text that means itself in a script of sed within quotes. */
static bool is_literal(const char *text)
{
    return strspn(text,
               "abcdefghijklmnopqrstuvwxyz"
               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-=./:@%") == strlen(text);
}

/* Copy the text; a point is [.], which a regular expression takes for itself. */
static void write_literal(const char *text, char out[SCRIPT_SIZE])
{
    size_t used = 0;
    for (; *text != '\0' && used + sizeof("[.]") < SCRIPT_SIZE; text++) {
        used += (size_t)snprintf(out + used, SCRIPT_SIZE - used,
            *text == '.' ? "[%c]" : "%c", *text);
    }
    out[used] = '\0';
}

/* Write the script of sed that changes the paths. Returns false if a text would
 * have another meaning in it. A path begins a line, a cell or a text. */
static bool write_script(const struct lost_list *self, char out[SCRIPT_SIZE])
{
    char        prefix[SCRIPT_SIZE];
    bool        is_json = fby_text_ends_with(self->list, ".jsonl");
    bool        is_back = strchr(self->value, '\\') != NULL;
    const char *slashes = !is_back  ? ""
                          : is_json ? "s#\\\\\\\\#/#g; "
                                    : "s#\\\\#/#g; ";
    write_literal(self->prefix, prefix);
    int n = self->prefix[0] != '\0'
                ? snprintf(out, SCRIPT_SIZE, "%ss#(^|[,\"])%s#\\1#g", slashes,
                      prefix)
                : snprintf(out, SCRIPT_SIZE, "%.*s", (int)strcspn(slashes, ";"),
                      slashes);
    return n < SCRIPT_SIZE && is_literal(self->prefix);
}

/* Write the command that writes `file`. Returns false if there is none. */
static bool write_command(
    const struct lost_list *self, const char *file, char *out, size_t size)
{
    char script[SCRIPT_SIZE];
    char operand[FBY_OPERAND_SIZE];
    fby_guess_write_operand(self->search, self->dir, operand);
    if (!write_script(self, script) || !fby_shell_is_plain(self->list)) {
        return false;
    }
    int n = snprintf(out, size, "(set -C; cd %s && sed -E '%s' %s > %s)",
        operand, script, self->list, file);
    return n >= 0 && (size_t)n < size;
}

/* Refuse paths that a command can change. */
static fby_err refuse_prefix(
    const struct lost_list *self, struct fby_error_detail *why)
{
    char        command[300];
    char        path[FBY_PATH_SIZE];
    char        name[FBY_NAME_SIZE];
    const char *file = fby_guess_name_list(self->list, "paths", name);
    bool has_command = write_command(self, file, command, sizeof(command));
    FBY_TRY(fby_path_join(self->dir, file, path, why));
    bool has_file = strcmp(file, self->list) != 0 &&
                    fby_object_exists(self->search->root, path);
    fby_err err = fby_error_set(why, FBY_CONFIG,
        "%.40s: the column %.40s has paths that lead to no file, such as "
        "%.60s: %s%s",
        fby_text_show(self->list).text, fby_text_show(self->column).text,
        fby_text_show(self->value).text,
        has_file      ? "use the list beside it, if it is right"
        : has_command ? "write a list with other paths: "
                      : "write paths that begin at the folder of the list",
        has_command && !has_file ? command : "");
    if (has_command || has_file) {
        fby_guess_append_then(self->search, self->dir, file, why);
    }
    return err;
}

/* Refuse names of files, without their path. */
static fby_err refuse_names(
    const struct lost_list *self, struct fby_error_detail *why)
{
    struct fby_named_file file = {.column = self->column, .ending = ""};
    snprintf(file.folder, sizeof(file.folder), "%s", self->folder);
    snprintf(file.name, sizeof(file.name), "%.60s", self->value);
    return fby_refuse_names(self->search, self->dir, self->list, &file, why);
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

static fby_err refuse_lost(
    const struct lost_list *self, struct fby_error_detail *why)
{
    const char *zip = find_zip(self->listing);
    return fby_error_set(why, FBY_CONFIG,
        "%.40s: the column %.40s names pictures, but %.80s is not there: "
        "%s%.40s"
        "; paths are absolute, or begin at the folder of the list",
        fby_text_show(self->list).text, self->column,
        fby_text_show(self->value).text,
        zip != NULL ? "unpack " : "put the pictures beside the list",
        zip != NULL ? fby_text_show(zip).text : "");
}

/* Refuse the column of the value `first`. Folders that may be classes are used
 * without a list, so it is no error that they have none of its pictures. */
static fby_err check_lost_column(struct lost_list *self,
    const struct fby_shard *shard, uint32_t first, struct fby_error_detail *why)
{
    const char *only     = NULL;
    uint32_t    n_dirs   = fby_guess_count_dirs(self->listing, &only);
    bool        is_first = fby_guess_n_splits(self->search) == 1;
    bool        is_found = find_file_of_values(self, shard, first);
    if (is_found && self->folder[0] == '\0') {
        return refuse_prefix(self, why);
    }
    if (is_found && n_dirs < 2) {
        return refuse_names(self, why);
    }
    if (!is_found && n_dirs < 2 && is_first) {
        return refuse_lost(self, why);
    }
    fby_guess_note(self->search,
        "note: %s: the column %s names pictures that are not there, such as %s",
        self->list, self->column, self->value);
    return FBY_OK;
}

fby_err fby_refuse_lost_paths(struct fby_search *search, const char *list_path,
    const char *base, const struct fby_shard *shard,
    struct fby_error_detail *why)
{
    struct fby_listing listing = {0};
    const char        *slash   = strrchr(list_path, '/');
    fby_err            err     = FBY_OK;
    uint32_t           first   = shard->n_members;
    uint32_t           column  = 0;
    while (column < shard->n_suffixes && first == shard->n_members) {
        first = find_lost_value(search, base, shard, column++);
    }
    if (first == shard->n_members) {
        note_addresses(search, slash != NULL ? slash + 1 : list_path, shard);
    }
    if (first == shard->n_members ||
        search->class_depth != FBY_GUESS_ANY_DEPTH) {
        return FBY_OK;
    }
    struct lost_list self = {.search = search,
        .dir                         = base,
        .list                        = slash != NULL ? slash + 1 : list_path,
        .listing                     = &listing,
        .column                      = fby_shard_suffix(shard, first)};
    err = fby_guess_list_dir(search, base, NULL, &listing, why);
    if (err == FBY_OK) {
        err = check_lost_column(&self, shard, first, why);
    }
    fby_listing_fini(&listing);
    return err;
}
