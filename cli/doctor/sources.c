/* SPDX-License-Identifier: Apache-2.0 */
/* sources.c - check that the directories of a pipeline's splits can be read,
 * and that manifests (cached indexes of data) can be written. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/doctor/checks.h"
#include "pipeline/location.h"
#include "pipeline/parse.h"
#include "pipeline/sources/traits.h"
#include "worker/source/cache.h"

/* Try to list a directory; returns 0 or the errno. */
static int try_directory(const char *path)
{
    DIR *entries = opendir(path);
    if (entries == NULL) {
        return errno;
    }
    errno     = 0;
    int error = readdir(entries) == NULL && errno != 0 ? errno : 0;
    closedir(entries);
    return error;
}

/* Try to read the source at `path`: a directory, or a zip archive that the path
 * leads to or into. Returns 0 or the errno. */
static int try_source(enum fby_source_kind kind, const char *path)
{
    bool   reads_zip = fby_source_traits(kind)->reads_zip;
    size_t end       = reads_zip ? fby_location_zip_length(path, 0) : 0;
    while (end > 0 && end < FBY_PATH_SIZE) {
        struct stat st;
        char        archive[FBY_PATH_SIZE];
        memcpy(archive, path, end);
        archive[end] = '\0';
        if (stat(archive, &st) == 0 && S_ISREG(st.st_mode)) {
            return access(archive, R_OK) == 0 ? 0 : errno;
        }
        end = fby_location_zip_length(path, end);
    }
    return try_directory(path);
}

/* Write the directory of NAME:path. Returns 0, or an errno: ENODATA without
 * --data NAME=DIR, ENAMETOOLONG if the path does not fit. */
static int resolve_named(const struct fby_words *data,
    const struct fby_location_parts *parts, char out[FBY_PATH_SIZE])
{
    size_t length = strlen(parts->root); /* bytes of NAME */
    for (unsigned i = 0; i < data->n; i++) {
        const char *word = data->items[i];
        if (strncmp(word, parts->root, length) == 0 && word[length] == '=') {
            const char *slash = parts->base[0] != '\0' ? "/" : "";
            return snprintf(out, FBY_PATH_SIZE, "%s%s%s", word + length + 1,
                       slash, parts->base) < FBY_PATH_SIZE
                       ? 0
                       : ENAMETOOLONG;
        }
    }
    return ENODATA;
}

static struct fby_verdict check_split(const struct fby_doctor_options *options,
    const char *name, const struct fby_split *split)
{
    struct fby_location_parts parts;
    struct fby_error_detail   why = {{0}};
    char                      path[FBY_PATH_SIZE];
    const char               *pattern = split->location.pattern;
    struct fby_source_facts   facts   = {
            .split = name, .path = path, .served = options->server != NULL};
    if (fby_location_split(pattern, split->content.source, &parts, &why) !=
        FBY_OK) {
        return fby_verdict(
            FBY_DOCTOR_FAIL, NULL, "split %s: %.500s", name, why.text);
    }
    if (parts.root[0] == '\0') {
        snprintf(path, sizeof(path), "%s", parts.base);
    } else {
        facts.error        = resolve_named(&options->data, &parts, path);
        facts.unknown_root = facts.error == ENODATA;
        facts.path         = facts.error == 0 ? path : pattern;
    }
    facts.error = facts.error != 0 ? facts.error
                                   : try_source(split->content.source, path);
    return fby_judge_source(&facts);
}

static void report_splits(const struct fby_doctor_options *options, int pipe_fd)
{
    struct fby_pipeline    *pipeline = NULL;
    struct fby_error_detail why      = {{0}};
    if (fby_pipeline_load(options->pipeline, &pipeline, &why) != FBY_OK) {
        fby_doctor_report(pipe_fd, "pipeline",
            fby_verdict(FBY_DOCTOR_FAIL, NULL, "%s", why.text));
        return;
    }
    for (size_t i = 0; i < fby_pipeline_n_splits(pipeline); i++) {
        const char       *name  = fby_pipeline_split_name(pipeline, i);
        struct fby_split *split = NULL;
        fby_err err = fby_pipeline_make_split(pipeline, name, &split, &why);
        fby_doctor_report(pipe_fd, "source",
            err == FBY_OK ? check_split(options, name, split)
                          : fby_verdict(FBY_DOCTOR_FAIL, NULL,
                                "split %s: %.500s", name, why.text));
        fby_split_destroy(&split);
    }
    fby_pipeline_destroy(&pipeline);
}

/* Check the directory `path` or, if it does not exist yet, its nearest existing
 * ancestor, to which `path` is cut. */
static void check_writable(char *path, struct fby_cache_facts *facts)
{
    struct statvfs disk;
    while (access(path, F_OK) != 0 && errno == ENOENT) {
        char *slash = strrchr(path, '/');
        if (slash == NULL || path[1] == '\0') {
            break; /* a plain name, or "/" */
        }
        slash[slash == path ? 1 : 0] = '\0'; /* keep "/" itself */
    }
    if (access(path, W_OK | X_OK) != 0 || statvfs(path, &disk) != 0) {
        facts->error = errno;
    } else {
        facts->free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    }
}

static void report_cache(int pipe_fd)
{
    char                   file[FBY_PATH_SIZE];
    char                   path[FBY_PATH_SIZE];
    struct fby_cache_facts facts = {.directory = file};
    if (fby_cache_path(NULL, "", file) == FBY_OK) {
        *strrchr(file, '/') = '\0'; /* keep only the directory */
        memcpy(path, file, sizeof(path));
        check_writable(path, &facts);
    } else {
        facts.directory = "the cache directory of the user";
        facts.error     = ENOENT;
    }
    fby_doctor_report(pipe_fd, "cache", fby_judge_cache(&facts));
}

void fby_doctor_sources(const struct fby_doctor_options *options, int pipe_fd)
{
    report_splits(options, pipe_fd);
    report_cache(pipe_fd);
}
