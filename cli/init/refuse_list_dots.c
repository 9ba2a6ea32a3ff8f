/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_list_dots.c - refuse a list of pictures whose names have a dot before the
 * extension, as cat.0.jpg: that begins at the first dot, and no field can read
 * pictures of so many extensions. See refuse_dots.c for those of folders. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/text_state.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { MAX_LISTS = 8, VALUE_SIZE = 256 };

/* The program: it renames the files of the columns C of the lists S, and writes
 * new lists. A file whose new name is taken keeps its own. */
#define RENAME                                                             \
    "b = os.path.basename; m = {}; r = lambda p: os.path.join("            \
    "os.path.dirname(p), b(p).replace('.', '_', max(b(p).count('.') - 1, " \
    "0))); O = [open('dots-' + L, 'x') for L in S]; "
#define MOVE                                                                 \
    "[m.__setitem__(p, t) for p in sorted(P) for t in [r(p)] if t != p and " \
    "os.path.isfile(p) and not os.path.exists(t) and not os.rename(p, t)]; "

static const char csv_program[] =
    "import csv, os; " RENAME
    "T = [list(csv.reader(open(L, newline='', encoding='utf-8-sig'))) for L in "
    "S]; K = [[i for i, h in enumerate(R[0]) if h.lower() in C] for R in T]; "
    "P = {x[i] for R, k in zip(T, K) for x in R[1:] if x for i in k}; " MOVE
    "[csv.writer(o).writerows(R[:1] + [[m.get(v, v) if i in k else v for i, v "
    "in enumerate(x)] for x in R[1:]]) for o, R, k in zip(O, T, K)]";

static const char json_program[] =
    "import json, os; " RENAME
    "T = [[json.loads(x) for x in open(L, encoding='utf-8-sig') if x.strip()] "
    "for L in S]; P = {v for R in T for x in R for h, v in x.items() if "
    "h.lower() in C and v}; " MOVE
    "[o.write(json.dumps({h: m.get(v, v) if h.lower() in C else v for h, v in "
    "x.items()}) + '\\n') for o, R in zip(O, T) for x in R]";

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

/* Append "'NAME'" to a list of Python. Returns false if it needs more quotes. */
static bool append_name(struct fby_buffer *out, const char *name)
{
    fby_init_printf(out, "%s'%s'", out->size > 0 ? ", " : "", name);
    return fby_shell_is_plain(name);
}

/* Append the names of the lists: those beside it may have the same files. */
static bool append_lists(struct fby_search *search, const char *dir,
    const char *list, struct fby_buffer *out)
{
    struct fby_listing listing  = {0};
    bool               is_plain = append_name(out, list);
    bool               is_file  = search->only_file[0] != '\0';
    uint32_t           n        = 1;
    if (is_file ||
        fby_guess_list_dir(search, dir, NULL, &listing, NULL) != FBY_OK) {
        fby_listing_fini(&listing);
        return is_plain;
    }
    for (uint32_t i = 0; i < listing.count && n < MAX_LISTS; i++) {
        const char *name = listing.entries[i].name;
        if (fby_list_is_read(&listing, &listing.entries[i]) &&
            strcmp(name, list) != 0 &&
            fby_text_ends_with(name, ".csv") ==
                fby_text_ends_with(list, ".csv")) {
            is_plain = append_name(out, name) && is_plain;
            n++;
        }
    }
    fby_listing_fini(&listing);
    return is_plain;
}

/* Set the command of the search. Returns false if there is none. */
static bool set_command(struct fby_search *search, const char *dir,
    const char *list, const struct fby_guess_split *split)
{
    struct fby_buffer lists   = {0};
    struct fby_buffer columns = {0};
    char              operand[FBY_OPERAND_SIZE];
    char             *out      = search->out->command;
    const size_t      size     = sizeof(search->out->command);
    bool              is_plain = append_lists(search, dir, list, &lists);
    for (uint32_t i = 0; i < split->n_file_columns; i++) {
        is_plain = append_name(&columns, split->file_columns[i]) && is_plain;
    }
    fby_guess_write_operand(search, dir, operand);
    int  n           = snprintf(out, size,
                   "(cd %s && python3 -c \"S = [%.*s]; C = [%.*s]; %s\")", operand,
                   (int)lists.size, (const char *)lists.data, (int)columns.size,
                   (const char *)columns.data,
        fby_text_ends_with(list, ".csv") ? csv_program : json_program);
    bool has_command = is_plain && n >= 0 && (size_t)n < size;
    if (!has_command) {
        out[0] = '\0';
    }
    fby_buffer_fini(&lists);
    fby_buffer_fini(&columns);
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
    char        made[FBY_PATH_SIZE];
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
    bool has_command = set_command(search, dir, list, split);
    if (has_command) {
        fby_guess_name_list(list, "dots", made);
        fby_guess_end_command(search, dir, made);
    }
    return fby_error_set(why, FBY_CONFIG,
        "%.40s: the extension begins at the first dot of a name, so that %.80s "
        "has the extension %.40s: rename such files%s",
        fby_text_show(list).text, fby_text_show(file).text,
        fby_text_show(extension_of(file)).text,
        has_command ? ", and write a list of them:"
                    : ", and write their names into the list");
}
