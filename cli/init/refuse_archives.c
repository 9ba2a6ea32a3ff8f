/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_archives.c - zip archives that are not read: parts of a split archive,
 * archives that hold archives, and several of one data set. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/guess_zip.h"
#include "cli/init/refuse_layouts.h"
#include "common/shell.h"
#include "pipeline/location.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"
#include "worker/source/zip/archive.h"

/* Copy the name of the archive in `path`, without ".zip". */
static void copy_stem(const char *path, char out[FBY_PATH_SIZE])
{
    size_t n = fby_location_zip_length(path, 0);
    snprintf(out, FBY_PATH_SIZE, "%.*s", (int)(n - strlen(".zip")), path);
}

fby_err fby_refuse_zip_parts(const struct fby_search *search, const char *path,
    struct fby_error_detail *why)
{
    char stem[FBY_PATH_SIZE];
    char part[FBY_PATH_SIZE + 8];
    copy_stem(path, stem);
    snprintf(part, sizeof(part), "%s.z01", stem);
    return fby_object_exists(search->root, part)
               ? fby_refuse_unread(search, "", part, why)
               : FBY_OK;
}

/* The first archive in a listing; NULL: none. */
static const char *find_archive(const struct fby_listing *listing)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        const char       *name = listing->entries[i].name;
        struct fby_unread unread;
        if (!listing->entries[i].is_dir &&
            (fby_text_ends_with(name, ".tar") ||
                fby_unread_file(name, &unread))) {
            return name;
        }
    }
    return NULL;
}

fby_err fby_refuse_zip(struct fby_search *search,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const char *inner = find_archive(listing);
    fby_err     err   = fby_error_set(why, FBY_CONFIG,
              "the archive has no pictures (.jpg, .jpeg, .png, .webp)%s%s; a zip "
                    "archive is read only as a folder of pictures",
        inner != NULL ? ", but " : "",
        inner != NULL ? fby_text_show(inner).text : "");
    return fby_guess_unpack_first(search, err, why);
}

/* ---- the command that unpacks ---- */

enum { MAX_ARCHIVES = 4 /* that are named in a command */ };

/* Has the archive, whose name without ".zip" is `stem`, one folder at the top with
 * that name? *has_mac: it has the files that macOS adds. */
static bool has_folder_of_name(const struct fby_search *search,
    const char *path, const char *stem, bool *has_mac)
{
    struct fby_archive *archive = NULL;
    struct fby_listing  top     = {0};
    char                folder[FBY_PATH_SIZE];
    uint32_t            n        = 0;
    bool                has_name = false;
    *has_mac                     = false;
    if (fby_path_join(path, "", folder, NULL) == FBY_OK &&
        fby_archive_open(search->root, path, NULL, &archive, NULL) == FBY_OK &&
        archive != NULL &&
        fby_listing_read(fby_archive_root(archive), folder, NULL, &top, NULL) ==
            FBY_OK) {
        for (uint32_t i = 0; i < top.count; i++) {
            bool is_mac = strcmp(top.entries[i].name, "__MACOSX") == 0;
            *has_mac    = *has_mac || is_mac;
            n += is_mac ? 0 : 1;
            has_name = has_name || (top.entries[i].is_dir &&
                                       strcmp(top.entries[i].name, stem) == 0);
        }
    }
    fby_listing_fini(&top);
    fby_archive_destroy(&archive);
    return has_name && n == 1;
}

/* Append "unzip ..." for an archive. Returns false if its name needs
 * quotes. */
static bool append_unzip(const struct fby_search *search, const char *path,
    const char *name, char *out, size_t size)
{
    char   below[FBY_PATH_SIZE];
    char   stem[FBY_PATH_SIZE];
    size_t used    = strlen(out);
    bool   has_mac = false;
    if (!fby_shell_is_plain(name) || strlen(name) > 60 ||
        fby_path_join(path, name, below, NULL) != FBY_OK) {
        return false;
    }
    copy_stem(name, stem);
    bool has_folder = has_folder_of_name(search, below, stem, &has_mac);
    snprintf(out + used, size - used, "%sunzip -nq %.60s%s%s%.60s",
        used > 0 ? " && " : "", name, has_mac ? " -x '__MACOSX/*'" : "",
        has_folder ? "" : " -d ", has_folder ? "" : stem);
    return true;
}

bool fby_guess_set_unzip(
    struct fby_search *search, const char *path, const char *name)
{
    char command[320]       = "";
    search->out->command[0] = '\0';
    if (append_unzip(search, path, name, command, sizeof(command))) {
        fby_guess_set_command(search, path, "%s", command);
    }
    return search->out->command[0] != '\0';
}

bool fby_guess_advise_unzip(
    struct fby_search *search, const char *archive, const char *folder)
{
    char        command[320] = "";
    char        dir[FBY_PATH_SIZE];
    char        stem[FBY_PATH_SIZE];
    char        out[2 * FBY_PATH_SIZE];
    const char *slash  = strrchr(archive, '/');
    const char *name   = slash != NULL ? slash + 1 : archive;
    const char *within = folder + strlen(archive); /* "/a/b" */
    copy_stem(name, stem);
    snprintf(dir, sizeof(dir), "%.*s",
        slash != NULL ? (int)(slash - archive) : 0, archive);
    if (!append_unzip(search, dir, name, command, sizeof(command))) {
        return false;
    }
    size_t n       = strlen(stem);
    bool   is_same = within[0] == '/' && strncmp(within + 1, stem, n) == 0 &&
                   (within[n + 1] == '/' || within[n + 1] == '\0');
    snprintf(out, sizeof(out), "%s%s", is_same ? "" : stem,
        within + (is_same ? 1 : 0));
    fby_guess_set_command(search, dir, "%s", command);
    fby_guess_end_command_with(search, dir, out);
    return true;
}

/* ---- several archives ---- */

fby_err fby_refuse_zips(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    char     commands[640] = "";
    char     names[160]    = "";
    uint32_t n             = 0;
    bool     is_plain      = true;
    for (uint32_t i = 0; i < listing->count; i++) {
        const char *name = listing->entries[i].name;
        if (listing->entries[i].is_dir ||
            fby_location_zip_length(name, 0) != strlen(name)) {
            continue;
        }
        if (n++ < MAX_ARCHIVES) {
            fby_text_append_name(names, sizeof(names), name);
            is_plain = is_plain && append_unzip(search, path, name, commands,
                                       sizeof(commands));
        }
    }
    fby_guess_set_command(search, path, "%s",
        is_plain && n <= MAX_ARCHIVES ? commands
                                      : "for z in ./*.zip; do unzip -nq "
                                        "\"$z\" -d \"${z%.zip}\"; done");
    return fby_error_set(why, FBY_CONFIG,
        "several zip archives are read only as splits, of which one is called "
        "train.zip (found: %s%s): for one of them give init its path; for all, "
        "unpack them, and run init again:",
        names, n > MAX_ARCHIVES ? ", ..." : "");
}
