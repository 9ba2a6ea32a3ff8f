/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_list_dots.c - refuse a list of pictures whose names have a dot before the
 * extension, as cat.0.jpg: that begins at the first dot, and no field can read
 * pictures of so many extensions. See refuse_dots.c for those of folders. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/list_command.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/text_state.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { VALUE_SIZE = 256 };

/* The extension of a path, from the first dot of its name. */
static const char *extension_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot   = strchr(slash != NULL ? slash : path, '.');
    return dot != NULL ? dot + 1 : "";
}

/* Find a picture of the column with a dot before its extension, if the extensions
 * differ. Returns false if there is none. */
static bool find_dots(
    const struct fby_shard *shard, uint32_t column, char out[VALUE_SIZE])
{
    char first[VALUE_SIZE] = "";
    bool has_others        = false;
    out[0]                 = '\0';
    for (uint32_t m = 0; m < shard->n_members; m++) {
        char value[VALUE_SIZE];
        if (shard->suffix_index[m] != column) {
            continue;
        }
        snprintf(value, sizeof(value), "%.*s", (int)shard->text_size[m],
            (const char *)shard->texts.data + shard->text_offset[m]);
        if (first[0] == '\0') {
            memcpy(first, value, sizeof(first));
        }
        const char *extension = extension_of(value);
        has_others = has_others || strcmp(extension, extension_of(first)) != 0;
        if (strchr(extension, '.') != NULL && fby_init_is_any_picture(value) &&
            out[0] == '\0') {
            memcpy(out, value, sizeof(value));
        }
    }
    return has_others && out[0] != '\0';
}

/* A function of fby_list_command_append(): "'NAME'". */
static bool append_name(
    const void *arg, const char *name, struct fby_buffer *out)
{
    (void)arg;
    fby_init_printf(out, "'%s'", name);
    return fby_shell_is_plain(name);
}

/* Set the command of the search. Returns false if there is none. */
static bool advise(
    const struct fby_list_command *lists, const struct fby_guess_split *split)
{
    struct fby_buffer settings = {0};
    struct fby_buffer names    = {0};
    bool is_plain = fby_list_command_append(lists, append_name, NULL, &names);
    fby_init_append(&settings, "S = [");
    fby_put_bytes(&settings, names.data, names.size);
    fby_init_append(&settings, "]; C = [");
    for (uint32_t i = 0; i < split->n_file_columns; i++) {
        is_plain =
            append_name(NULL, split->file_columns[i], &settings) && is_plain;
        fby_init_append(&settings, ", ");
    }
    fby_init_append(&settings, "]");
    bool has_command = is_plain && fby_list_command_set(
                                       lists, &settings, fby_program_list_dots);
    fby_buffer_fini(&names);
    fby_buffer_fini(&settings);
    return has_command;
}

fby_err fby_refuse_list_dots(struct fby_search *search, const char *list_path,
    const struct fby_shard *shard, const struct fby_guess_split *split,
    struct fby_error_detail *why)
{
    const char *slash = strrchr(list_path, '/');
    const char *list  = slash != NULL ? slash + 1 : list_path;
    char        dir[FBY_PATH_SIZE];
    char        file[VALUE_SIZE];
    uint32_t    i = 0;
    snprintf(dir, sizeof(dir), "%.*s",
        slash != NULL ? (int)(slash - list_path) : 0, list_path);
    while (i < shard->n_suffixes &&
           !(fby_guess_is_file_column(split, shard->suffixes[i]) &&
               find_dots(shard, i, file))) {
        i++;
    }
    if (i == shard->n_suffixes) {
        return FBY_OK;
    }
    const struct fby_list_command lists       = {search, dir, list, "dots"};
    bool                          has_command = advise(&lists, split);
    return fby_error_set(why, FBY_CONFIG,
        "%.40s: the extension begins at the first dot of a name, so that %.80s "
        "has the extension %.40s: %s",
        fby_text_show(list).text, fby_text_show(file).text,
        fby_text_show(extension_of(file)).text,
        has_command ? "give such files a second name, and write a list of "
                      "those:"
                    : "rename such files, and write their names into the "
                      "list");
}
