/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/inputs.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pipeline/location.h"
#include "pipeline/parse.h"

/* Returns false if no file is there that could be an input. */
static bool find_output(const char *output, struct stat *out)
{
    return output != NULL && stat(output, out) == 0 && S_ISREG(out->st_mode);
}

static bool is_file(const struct stat *output, const char *input)
{
    struct stat st;
    return stat(input, &st) == 0 && st.st_dev == output->st_dev &&
           st.st_ino == output->st_ino;
}

static fby_err refuse(
    bool is_input, const char *output, struct fby_error_detail *why)
{
    return !is_input ? FBY_OK
                     : fby_error_set(why, FBY_USAGE,
                           "%s: the command reads this file; write to another "
                           "one",
                           output);
}

fby_err fby_inputs_check_file(
    const char *output, const char *input, struct fby_error_detail *why)
{
    struct stat st;
    return refuse(find_output(output, &st) && is_file(&st, input), output, why);
}

static bool is_matched(const struct stat *output, const char *name)
{
    glob_t found    = {0};
    bool   is_input = false;
    if (glob(name, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && !is_input; i++) {
            is_input = is_file(output, found.gl_pathv[i]);
        }
    }
    globfree(&found);
    return is_input;
}

static bool is_in_archive(const struct stat *output, const char *pattern)
{
    char   path[FBY_PATH_SIZE];
    size_t length = 0;
    while ((length = fby_location_zip_length(pattern, length)) > 0) {
        snprintf(path, sizeof(path), "%.*s", (int)length, pattern);
        if (is_file(output, path)) {
            return true;
        }
    }
    return false;
}

fby_err fby_inputs_check_pattern(
    const char *output, const char *pattern, struct fby_error_detail *why)
{
    struct stat st;
    char        name[FBY_PATH_SIZE];
    uint32_t    n = 0;
    if (!find_output(output, &st)) {
        return FBY_OK;
    }
    bool is_input = is_file(&st, pattern) || is_in_archive(&st, pattern);
    if (fby_braces_count(pattern, &n, NULL) != FBY_OK) {
        n = 0;
    }
    for (uint32_t i = 0; i < n && !is_input; i++) {
        fby_braces_write_name(pattern, i, name);
        is_input = fby_has_wildcards(name) ? is_matched(&st, name)
                                           : is_file(&st, name);
    }
    return refuse(is_input, output, why);
}

static fby_err check_lists(
    const char *output, const char *path, struct fby_error_detail *why)
{
    struct fby_pipeline *pipeline = NULL;
    fby_err              err      = fby_pipeline_load(path, &pipeline, why);
    size_t n = err == FBY_OK ? fby_pipeline_n_splits(pipeline) : 0;
    for (size_t i = 0; i < n && err == FBY_OK; i++) {
        const char *list = fby_pipeline_exclude_path(pipeline, i);
        if (list != NULL) {
            err = fby_inputs_check_file(output, list, why);
        }
    }
    fby_pipeline_destroy(&pipeline);
    return err;
}

/* Write a location as a plain path. Returns false if its root is unknown. */
static bool write_plain(const struct fby_location *location,
    const struct fby_words *roots, char out[FBY_PATH_SIZE])
{
    const char *pattern = location->pattern;
    char        dir[FBY_PATH_SIZE];
    char        name[FBY_NAME_SIZE];
    int         n = 0;
    if (!fby_location_is_named(pattern)) {
        n = snprintf(out, FBY_PATH_SIZE, "%s", pattern);
        return n > 0 && n < FBY_PATH_SIZE;
    }
    size_t length = strcspn(pattern, ":");
    for (unsigned i = 0; i < roots->n; i++) {
        if (fby_location_parse_root(roots->items[i], name, dir, NULL) ==
                FBY_OK &&
            strlen(name) == length && memcmp(name, pattern, length) == 0) {
            n = snprintf(
                out, FBY_PATH_SIZE, "%s/%s", dir, pattern + length + 1);
            return n > 0 && n < FBY_PATH_SIZE;
        }
    }
    return false;
}

static fby_err check_split(const char *output, const struct fby_split *split,
    const struct fby_words *roots, struct fby_error_detail *why)
{
    char path[FBY_PATH_SIZE];
    return write_plain(&split->location, roots, path)
               ? fby_inputs_check_pattern(output, path, why)
               : FBY_OK;
}

static fby_err check_splits(const char *output, const char *path,
    const struct fby_words *roots, struct fby_error_detail *why)
{
    struct fby_pipeline *pipeline = NULL;
    fby_err              err      = fby_pipeline_load(path, &pipeline, why);
    size_t n = err == FBY_OK ? fby_pipeline_n_splits(pipeline) : 0;
    for (size_t i = 0; i < n && err == FBY_OK; i++) {
        struct fby_split *split = NULL;
        const char       *name  = fby_pipeline_split_name(pipeline, i);
        err = fby_pipeline_make_split(pipeline, name, &split, why);
        if (err == FBY_OK) {
            err = check_split(output, split, roots, why);
        }
        fby_split_destroy(&split);
    }
    fby_pipeline_destroy(&pipeline);
    return err;
}

fby_err fby_inputs_check_pipeline(const char *output, const char *path,
    const struct fby_words *roots, struct fby_error_detail *why)
{
    struct stat st;
    if (!find_output(output, &st)) {
        return FBY_OK;
    }
    fby_err err = refuse(is_file(&st, path), output, why);
    return err == FBY_OK ? check_splits(output, path, roots, why) : err;
}

fby_err fby_inputs_check_all(const char *output, const char *path,
    const struct fby_words *roots, struct fby_error_detail *why)
{
    struct stat st;
    FBY_TRY(fby_inputs_check_pipeline(output, path, roots, why));
    return find_output(output, &st) ? check_lists(output, path, why) : FBY_OK;
}

fby_err fby_inputs_check_dataset(const char *output,
    const struct fby_dataset *dataset, struct fby_error_detail *why)
{
    struct stat st;
    return refuse(find_output(output, &st) &&
                      fby_dataset_has_file(dataset, st.st_dev, st.st_ino),
        output, why);
}
