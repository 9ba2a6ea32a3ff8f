/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_unread.c - refuse a file whose format is not read, with a command that can
 * be run from any folder.
 *
 * A format that has a program is converted into a new folder, which the command names.
 * The sentences of pipeline/unread.h have commands for the folder of the file, in
 * which FILE and FOLDER may stand for names that need quotes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

/* The folder that a program of Python writes. */
#define CONVERTED "converted"

enum { COMMAND_SIZE = 1024 };

/* A sentence has its command after `lead`, and a second one after `other`. With a
 * command that is filled in, `kept` replaces `lead`. The first row that fits counts. */
static const struct {
    const char *lead, *kept, *other;
} leads[] = {{", in their folder: ", "", NULL},
    {"plain tars: ", "plain tars", "; class folders: "},
    {"unpack it first: ", "unpack it first", NULL},
    {"join the parts: ", "join the parts", NULL}};

/* Copy the command with the names in place of FILE and FOLDER, if it has them.
 * Returns false if it does not fit. */
static bool write_command(
    const char *text, size_t size, const char *name, char out[COMMAND_SIZE])
{
    const char *end  = text + size;
    size_t      used = 0;
    char        path[FBY_PATH_SIZE + 2];
    char        word[FBY_PATH_SIZE];
    snprintf(path, sizeof(path), "./%s", name); /* no option, nor a host */
    if (!fby_shell_quote(path, word, sizeof(word))) {
        return false;
    }
    while (text < end && used < COMMAND_SIZE - 1) {
        bool is_file   = strncmp(text, "FILE", 4) == 0;
        bool is_folder = strncmp(text, "FOLDER", 6) == 0;
        int  n         = snprintf(out + used, COMMAND_SIZE - used, "%.*s",
            is_file || is_folder ? FBY_PATH_SIZE : 1,
            is_file     ? word
                     : is_folder ? "unpacked"
                                 : text);
        used += n > 0 ? (size_t)n : 0;
        text += is_file ? 4 : is_folder ? 6 : 1;
    }
    return used < COMMAND_SIZE - 1;
}

/* Set the commands of a sentence. `command` is the first one in it, and `other`
 * stands before the second. Returns false if there are none. */
static bool set_commands(const struct fby_search *search, const char *path,
    const char *name, const char *command, const char *other)
{
    const char *second = other != NULL ? strstr(command, other) : NULL;
    size_t size = second != NULL ? (size_t)(second - command) : strlen(command);
    char   line[COMMAND_SIZE];
    if (!write_command(command, size, name, line) ||
        fby_guess_set_command(search, path, "%s", line)[0] == '\0') {
        return false;
    }
    if (second != NULL) {
        second += strlen(other);
        if (write_command(second, strlen(second), name, line)) {
            fby_guess_add_command(
                search, "\nclass folders: ", path, "%s", line);
        }
    }
    return true;
}

/* ---- programs that convert files ---- */

enum { N_PROGRAMS = 3 };

struct converter {
    bool (*is_kind)(const char *name);
    const char *to;                   /* what it writes, and needs */
    const char *settings;             /* NULL: F and D, of write_settings() */
    const char *programs[N_PROGRAMS]; /* the first that is NULL ends them */
};

static bool is_arrow(const char *name)
{
    return fby_text_ends_with(name, ".parquet") ||
           fby_text_ends_with(name, ".arrow");
}

static bool is_idx(const char *name)
{
    return strstr(name, "idx1-ubyte") != NULL ||
           strstr(name, "idx3-ubyte") != NULL;
}

static bool is_pickle_of_cifar(const char *name)
{
    return strstr(name, "_batch") != NULL && strchr(name, '.') == NULL;
}

static bool is_table_of_cifar(const char *name)
{
    return strstr(name, "_batch") != NULL && fby_text_ends_with(name, ".bin");
}

#define TO_ARRAYS "arrays of each split (with NumPy)"

static const struct converter converters[] = {
    {is_arrow, "tar files, or lists if there are no pictures (with pyarrow)",
        NULL,
        {fby_program_split_of_name, fby_program_arrow_rows,
            fby_program_arrow_files}},
    {is_idx, TO_ARRAYS, "", {fby_program_idx_arrays}},
    {is_pickle_of_cifar, TO_ARRAYS, "E = ''; ", {fby_program_cifar_arrays}},
    {is_table_of_cifar, TO_ARRAYS, "E = '.bin'; ", {fby_program_cifar_arrays}},
};

/* Write the settings F, the only file or those of a type, and D, the split of names
 * without a word. If `dir` is the folder of a split, the files are those of all splits,
 * and `dir` becomes the folder above. Returns false if the name needs quotes. */
static bool write_settings(const struct fby_search *search, const char *name,
    char dir[FBY_PATH_SIZE], char *out, size_t size)
{
    const char *type  = strrchr(name, '.') != NULL ? strrchr(name, '.') : "";
    const char *path  = dir[0] != '\0' ? dir : fby_root_dir(search->root);
    char       *slash = strrchr(dir, '/');
    const char *split = fby_split_of_folder(
        strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path);
    bool is_below = split != NULL && dir[0] != '\0';
    if (is_below) {
        *(slash != NULL ? slash : dir) = '\0';
    }
    if (search->only_file[0] != '\0') {
        snprintf(out, size, "F = ['%s']; ", name);
    } else {
        snprintf(out, size, "import glob; F = glob.glob('%s*%s'); ",
            is_below ? "*/" : "", type);
    }
    size_t used = strlen(out);
    snprintf(
        out + used, size - used, "D = '%s'; ", split != NULL ? split : "train");
    return search->only_file[0] == '\0' || fby_shell_is_quotable(name);
}

/* Write the error with the program that converts the file. Returns FBY_CONFIG if it
 * fits in a command, else the error is unchanged. */
static fby_err convert(const struct fby_search *search,
    const struct converter *converter, const char *path, const char *name,
    const char *reason, struct fby_error_detail *why)
{
    char   program[FBY_GUESS_COMMAND];
    char   settings[FBY_PATH_SIZE + 64] = "";
    char   dir[FBY_PATH_SIZE];
    size_t used;
    snprintf(dir, sizeof(dir), "%s", path);
    if (converter->settings == NULL &&
        !write_settings(search, name, dir, settings, sizeof(settings))) {
        return FBY_OK;
    }
    used =
        (size_t)snprintf(program, sizeof(program), "O = '" CONVERTED "'; %s%s",
            converter->settings != NULL ? converter->settings : settings,
            fby_program_folder_begin);
    for (size_t i = 0; i < N_PROGRAMS && converter->programs[i] != NULL; i++) {
        used += (size_t)snprintf(program + used, sizeof(program) - used, "; %s",
            converter->programs[i]);
    }
    snprintf(
        program + used, sizeof(program) - used, "; %s", fby_program_folder_end);
    fby_guess_advise(search, dir, "", program);
    fby_guess_end_command_with(search, dir, CONVERTED);
    return search->out->command[0] == '\0'
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "%.*s; to write %s into a new folder:",
                     (int)strcspn(reason, ";"), reason, converter->to);
}

/* Is the file that was packed beside it, as data.csv beside data.csv.gz? */
static bool is_unpacked(
    const struct fby_search *search, const char *path, const char *name)
{
    static const char *const endings[] = {".gz", ".bz2", ".xz", ".zst"};
    char                     unpacked[FBY_PATH_SIZE];
    bool                     found = false;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (fby_text_ends_with(name, endings[i])) {
            snprintf(unpacked, sizeof(unpacked), "%.*s",
                (int)(strlen(name) - strlen(endings[i])), name);
            found = fby_guess_has_file(search->root, path, unpacked);
        }
    }
    return found && search->only_file[0] == '\0';
}

fby_err fby_refuse_unread(const struct fby_search *search, const char *path,
    const char *name, struct fby_error_detail *why)
{
    struct fby_unread unread;
    if (!fby_unread_file(name, &unread) || is_unpacked(search, path, name)) {
        return FBY_OK;
    }
    for (size_t i = 0; i < sizeof(converters) / sizeof(converters[0]); i++) {
        if (strchr(name, '/') == NULL && converters[i].is_kind(name)) {
            FBY_TRY(
                convert(search, &converters[i], path, name, unread.text, why));
        }
    }
    for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
        const char *lead = strstr(unread.text, leads[i].lead);
        if (lead != NULL && set_commands(search, path, name,
                                lead + strlen(leads[i].lead), leads[i].other)) {
            return fby_error_set(why, FBY_CONFIG,
                "%.*s%s:", (int)(lead - unread.text), unread.text,
                leads[i].kept);
        }
    }
    return fby_error_set(why, FBY_CONFIG, "%s", unread.text);
}

/* Write the first file of Parquet or Arrow in the folder. Returns false if there is
 * none. */
static bool find_arrow(
    struct fby_search *search, const char *path, char out[FBY_PATH_SIZE])
{
    struct fby_listing listing = {0};
    bool               found   = false;
    if (fby_guess_list_dir(search, path, NULL, &listing, NULL) == FBY_OK) {
        for (uint32_t i = 0; i < listing.count && !found; i++) {
            const char *name = listing.entries[i].name;
            found            = !listing.entries[i].is_dir && is_arrow(name);
            snprintf(out, FBY_PATH_SIZE, "%s", name);
        }
    }
    fby_listing_fini(&listing);
    return found;
}

fby_err fby_refuse_configurations(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    char        names[160] = "";
    char        below[FBY_PATH_SIZE];
    char        file[FBY_PATH_SIZE];
    const char *first = NULL;
    uint32_t    n     = 0;
    for (uint32_t i = 0; i < listing->count && (n > 0 || first == NULL); i++) {
        const char *name = listing->entries[i].name;
        if (listing->entries[i].is_dir) {
            first = first == NULL ? name : first;
            FBY_TRY(fby_path_join(path, name, below, why));
        }
        if (listing->entries[i].is_dir && find_arrow(search, below, file)) {
            fby_text_append_name(names, sizeof(names), name);
            n++;
        }
    }
    if (n < 2) {
        return FBY_OK;
    }
    FBY_TRY(fby_path_join(path, first, below, why));
    fby_err err = find_arrow(search, below, file)
                      ? fby_refuse_unread(search, below, file, why)
                      : FBY_OK;
    return fby_error_prefix(why, err,
        "the folders %s are %" PRIu32 " configurations, each a data set of its "
        "own; for %.60s",
        names, n, first);
}

fby_err fby_refuse_cifar100(const struct fby_search *search, const char *path,
    struct fby_error_detail *why)
{
    static const struct converter pickles = {
        NULL, TO_ARRAYS, "E = ''; ", {fby_program_cifar_arrays}};
    char begin[2];
    bool is_pickle = fby_guess_read_begin(
                         search->root, path, "meta", begin, sizeof(begin)) &&
                     begin[0] == '\x80';
    return is_pickle && fby_guess_has_file(search->root, path, "train") &&
                   fby_guess_has_file(search->root, path, "test")
               ? convert(search, &pickles, path, "train",
                     "pickles of CIFAR-100 (train, test) are not read yet", why)
               : FBY_OK;
}

fby_err fby_refuse_compressed_npz(
    const struct fby_search *search, struct fby_error_detail *why)
{
    const struct fby_error_detail said    = *why;
    bool                          is_file = search->only_file[0] != '\0';
    char                          settings[FBY_PATH_SIZE + 16];
    const struct converter        npz = {
               NULL, "files of numpy.savez", settings, {fby_program_npz_stored}};
    snprintf(settings, sizeof(settings), "F = ['%s']; ", search->only_file);
    if (!is_file) {
        snprintf(settings, sizeof(settings),
            "import glob; F = glob.glob('**/*.np[yz]', recursive=True); ");
    }
    if (!is_file || fby_shell_is_quotable(search->only_file)) {
        (void)convert(search, &npz, "", "", said.text, why);
    }
    return FBY_CONFIG;
}
