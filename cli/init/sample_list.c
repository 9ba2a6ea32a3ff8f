/* SPDX-License-Identifier: Apache-2.0 */
/* sample_list.c - the command that writes a list of folders that are samples: see
 * sample_list.h. */
#include "cli/init/sample_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"

const char *fby_sample_role(const struct fby_sample_file *file, size_t *size)
{
    const char *role = file->name + (file->name[0] == '*' ? 1 : 0);
    const char *dot  = strrchr(role, '.');
    size_t      n    = strspn(role, "_- .");
    *size            = dot != NULL && dot > role + n ? (size_t)(dot - role) - n
                       : dot == NULL                 ? strlen(role + n)
                                                     : 0;
    return role + n;
}

static bool has_column(
    const char (*columns)[FBY_NAME_SIZE], uint32_t n, const char *column)
{
    uint32_t i = 0;
    while (i < n && strcmp(columns[i], column) != 0) {
        i++;
    }
    return i < n;
}

/* Write the column of a file, which differs from the `n` ones before it. Returns
 * false if there is no such name. */
static bool write_column(const struct fby_sample_file *file,
    char (*columns)[FBY_NAME_SIZE], uint32_t n)
{
    char        name[FBY_NAME_SIZE];
    size_t      size;
    const char *role = fby_sample_role(file, &size);
    snprintf(name, sizeof(name), "%.*s", (int)size, role);
    fby_init_propose_name(size > 0 ? name : "image", columns[n]);
    if (has_column((const char(*)[FBY_NAME_SIZE])columns, n, columns[n])) {
        fby_init_propose_name(role, columns[n]); /* with the extension */
    }
    return strcmp(columns[n], "group") != 0 &&
           !has_column((const char(*)[FBY_NAME_SIZE])columns, n, columns[n]);
}

/* The files of pictures come first, and their masks after them. */
static int order_of(const struct fby_sample_file *file)
{
    size_t      size;
    char        name[FBY_NAME_SIZE];
    const char *role = fby_sample_role(file, &size);
    snprintf(name, sizeof(name), "%.*s", (int)size, role);
    return !fby_init_is_any_picture(file->name) ? 3
           : fby_init_is_partner_name(name)     ? 2
           : fby_init_is_picture_name(name)     ? 0
                                                : 1;
}

static int compare_order(const void *a, const void *b)
{
    const struct fby_sample_file *x     = a;
    const struct fby_sample_file *y     = b;
    int                           order = order_of(x) - order_of(y);
    return order != 0 ? order : strcmp(x->name, y->name);
}

/* Write the files by column as a dict of Python. Returns false if a name needs
 * quotes. */
static bool write_columns(
    const struct fby_sample_folder *folder, char *out, size_t size)
{
    struct fby_sample_folder sorted = *folder;
    char                     columns[FBY_SAMPLE_FILES][FBY_NAME_SIZE];
    size_t                   used = 0;
    qsort(sorted.files, sorted.n, sizeof(sorted.files[0]), compare_order);
    for (uint32_t i = 0; i < sorted.n && used < size; i++) {
        const struct fby_sample_file *file = &sorted.files[i];
        if (!fby_shell_is_quotable(file->name) ||
            !write_column(file, columns, i)) {
            return false;
        }
        used += (size_t)snprintf(out + used, size - used, "%s'%s': '%s'",
            i > 0 ? ", " : "", columns[i], file->name);
    }
    return used < size;
}

static bool is_split(const char *path)
{
    const char *slash = strrchr(path, '/');
    return fby_split_of_folder(slash != NULL ? slash + 1 : path) != NULL;
}

/* End the command with the next init: of what it was given, or of the list or table,
 * if that is in a folder below where none is looked for. */
static void end_command(
    const struct fby_search *search, const char *path, bool is_table)
{
    if (path[0] == '\0' || is_split(path)) {
        fby_guess_end_command(search, path, FBY_SAMPLE_LIST);
    } else {
        fby_guess_end_command_with(
            search, is_table ? "" : path, is_table ? path : FBY_SAMPLE_LIST);
    }
}

static struct fby_sample_folder keep_arrays(
    const struct fby_sample_folder *folder)
{
    struct fby_sample_folder out = *folder;
    out.n                        = 0;
    for (uint32_t i = 0; i < folder->n; i++) {
        if (fby_text_ends_with(folder->files[i].name, ".npy")) {
            out.files[out.n++] = folder->files[i];
        }
    }
    return out;
}

const char *fby_sample_list_advise(const struct fby_search *search,
    const char *path, const struct fby_sample_folder *folder,
    enum fby_samples_kind kind, bool are_grouped)
{
    char        parent[FBY_PATH_SIZE];
    char        columns[FBY_SAMPLE_FILES * (2 * FBY_NAME_SIZE + 8)];
    const char *slash              = strrchr(path, '/');
    bool        of_split           = is_split(path);
    bool        is_table           = kind != FBY_SAMPLES_FILES;
    struct fby_sample_folder files = is_table ? keep_arrays(folder) : *folder;
    snprintf(parent, sizeof(parent), "%.*s",
        slash != NULL ? (int)(slash - path) : 0, path);
    if (!write_columns(&files, columns, sizeof(columns))) {
        return "";
    }
    const char *colon = fby_guess_set_command(search, of_split ? parent : path,
        FBY_PYTHON "import glob; S = %s; P = '%s'; N = {%s}; %s%s%s%s\"",
        of_split ? "sorted(glob.glob('*/'))" : "['']",
        are_grouped ? "*/*/" : "*/", columns,
        !is_table  ? ""
        : of_split ? "D = ''; "
                   : "D = 'train/'; ",
        is_table ? fby_program_sample_arrays : fby_program_sample_folders,
        is_table ? "" : "; ", is_table ? "" : fby_program_write_lists);
    end_command(search, path, is_table);
    return colon;
}
