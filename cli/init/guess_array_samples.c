/* SPDX-License-Identifier: Apache-2.0 */
/* guess_array_samples.c - a .npy file for each sample, in one folder, in folders of
 * splits, or in class folders. As they lie, the files would be columns of a table whose
 * rows are parts of all samples. The commands make tables. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_columns.h"
#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "cli/init/split_names.h"

enum { MANY_ROWS = 1024 };

/* Writes train/x.npy of the files, stacked or concatenated. */
#define JOIN_FILES                                          \
    FBY_PYTHON                                              \
    "O = 'train'; %s; import glob, numpy as n; n.save(W + " \
    "'/x.npy', n.%s([n.load(p) for p in sorted(glob.glob('*.npy'))])); %s\""

/* The same for each of the folders, in table/. */
#define STACK_SPLITS                                           \
    FBY_PYTHON                                                 \
    "O = 'table'; %s; import glob, numpy as n; "               \
    "f = sorted(glob.glob('*/*.npy')); d = os.path.dirname; "  \
    "[(os.mkdir(W + '/' + s), n.save(W + '/' + s + '/x.npy', " \
    "n.stack([n.load(p) for p in f if d(p) == s]))) "          \
    "for s in {d(p) for p in f}]; %s\""

/* Writes x.npy, and the number of the folder into label.npy, into train/ or, if
 * the folder is a split with class folders, into that. Prints the numbers. */
#define STACK_CLASSES                                            \
    FBY_PYTHON                                                   \
    "import glob, os, numpy as n; d = sorted(glob.glob('*/')); " \
    "f = [(p, i) for i, c in enumerate(d) "                      \
    "for p in sorted(glob.glob(c + '*.npy'))]; "                 \
    "a = n.stack([n.load(p) for p, i in f]); %s"                 \
    "n.save(open('%sx.npy', 'xb'), a); "                         \
    "n.save(open('%slabel.npy', 'xb'), [i for p, i in f]); "     \
    "print({i: c[:-1] for i, c in enumerate(d)})\""

static bool are_numbers(const struct fby_column *columns, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && isdigit((unsigned char)columns[i].name[0])) {
        i++;
    }
    return n > 1 && i == n;
}

/* Does `column` have the name of `first`, but for the number at its end, and the
 * same shape? */
static bool is_numbered_like(
    const struct fby_column *column, const struct fby_column *first)
{
    size_t n = strlen(first->name);
    while (n > 0 && isdigit((unsigned char)first->name[n - 1])) {
        n--;
    }
    const char *number = column->name + n;
    return strncmp(column->name, first->name, n) == 0 && number[0] != '\0' &&
           number[strspn(number, "0123456789")] == '\0' &&
           column->type == first->type && column->rows == first->rows &&
           column->n_dims == first->n_dims &&
           memcmp(column->dims, first->dims,
               first->n_dims * sizeof(first->dims[0])) == 0;
}

/* Are the columns s0, s1, s2 and so on, arrays of one shape with two dimensions
 * or more? Two alone, and arrays of many rows, may be fields. */
static bool are_alike(const struct fby_column *columns, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && is_numbered_like(&columns[i], &columns[0])) {
        i++;
    }
    return n > 2 && i == n && columns[0].n_dims > 0 &&
           columns[0].rows <= MANY_ROWS;
}

bool fby_guess_are_array_samples(const struct fby_column *columns, uint32_t n)
{
    return are_numbers(columns, n) || are_alike(columns, n);
}

/* The same for those of the folder `dir`, which is a split beside others. */
static fby_err refuse_samples_of_splits(
    struct fby_search *search, const char *dir, struct fby_error_detail *why)
{
    char        above[FBY_PATH_SIZE];
    const char *slash = strrchr(dir, '/');
    snprintf(above, sizeof(above), "%.*s",
        slash != NULL ? (int)(slash - dir) : 0, dir);
    fby_guess_set_command(search, above, STACK_SPLITS, fby_program_folder_begin,
        fby_program_folder_end);
    fby_guess_end_command_with(search, above, "table");
    return fby_error_set(why, FBY_CONFIG,
        "each .npy file seems to be a sample, and a table has them as rows "
        "(all of one shape): write one of each split:");
}

fby_err fby_refuse_array_samples(struct fby_search *search,
    const struct fby_guess_tables *found, const char *dir,
    struct fby_error_detail *why)
{
    const char *slash = strrchr(dir, '/');
    if (found->is_table &&
        fby_split_of_folder(slash != NULL ? slash + 1 : dir) != NULL) {
        return refuse_samples_of_splits(search, dir, why);
    }
    bool is_split  = !found->is_table && strchr(found->first, '/') != NULL;
    const char *to = is_split ? "" : "train/";
    if (found->is_table) {
        fby_guess_set_command(search, dir, JOIN_FILES, fby_program_folder_begin,
            "stack", fby_program_folder_end);
        fby_guess_add_command(search,
            "\nto have the rows of all as samples instead: ", dir, JOIN_FILES,
            fby_program_folder_begin, "concatenate", fby_program_folder_end);
    } else {
        fby_guess_set_command(search, dir, STACK_CLASSES,
            is_split ? "" : "os.mkdir('train'); ", to, to);
    }
    return fby_error_set(why, FBY_CONFIG,
        "each .npy file seems to be a sample, and a table has them as rows "
        "(all of one shape): write one, and run init again:");
}
