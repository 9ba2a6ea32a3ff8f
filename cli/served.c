/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/served.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "pipeline/location.h"
#include "pipeline/parse.h"

static bool has_directory(
    const struct fby_served_roots *self, const char *directory)
{
    for (unsigned i = 0; i < self->n_roots; i++) {
        if (strcmp(self->roots[i].directory, directory) == 0) {
            return true;
        }
    }
    return false;
}

static fby_err add_root(struct fby_served_roots *self, const char *name_and_dir,
    struct fby_error_detail *why)
{
    char    name[FBY_NAME_SIZE];
    char    directory[FBY_PATH_SIZE];
    fby_err err = fby_location_parse_root(name_and_dir, name, directory, why);
    if (err != FBY_OK) {
        return err;
    }
    fby_words_add(&self->data_options, name_and_dir);
    self->roots =
        fby_realloc(self->roots, (self->n_roots + 1) * sizeof(self->roots[0]));
    fby_words_add(&self->root_texts, name);
    fby_words_add(&self->root_texts, directory);
    /* `roots` borrows the last two texts. A growing list moves no text. */
    char *const *added = self->root_texts.items + self->root_texts.n - 2;
    self->roots[self->n_roots++] = (struct forebay_root){added[0], added[1]};
    return FBY_OK;
}

fby_err fby_served_check(const char *option, struct fby_error_detail *why)
{
    const char *equals = strchr(option, '=');
    return equals != NULL && equals > option && equals[1] != '\0'
               ? FBY_OK
               : fby_error_set(why, FBY_USAGE,
                     "--data %s: write NAME=DIR, as in photos=/data/photos",
                     option);
}

/* Add the root of a --data option, whose directory is at `path`. */
static fby_err add_root_at(struct fby_served_roots *self, const char *option,
    const char *path, struct fby_error_detail *why)
{
    char text[FBY_PATH_SIZE + FBY_NAME_SIZE];
    snprintf(
        text, sizeof(text), "%.*s=%s", (int)strcspn(option, "="), option, path);
    return add_root(self, text, why);
}

/* Add the root of a --data option. A relative directory is made absolute. */
static fby_err add_data_option(struct fby_served_roots *self,
    const char *option, struct fby_error_detail *why)
{
    FBY_TRY(fby_served_check(option, why));
    char *path = realpath(strchr(option, '=') + 1, NULL);
    if (path == NULL) {
        return fby_error_set(why, FBY_USAGE,
            "--data %s: there is no such directory; in a container, mount the "
            "data there",
            option);
    }
    fby_err err = add_root_at(self, option, path, why);
    free(path);
    return err;
}

/* Make `path` absolute as text, without a look at the files of this machine. */
static fby_err make_absolute(
    const char *path, char out[FBY_PATH_SIZE], struct fby_error_detail *why)
{
    char folder[FBY_PATH_SIZE] = "/";
    if (path[0] != '/' && getcwd(folder, sizeof(folder)) == NULL) {
        return fby_error_set(
            why, FBY_USAGE, "the current directory: %s", strerror(errno));
    }
    return fby_location_make_absolute(path, folder, out, why);
}

/* Add the root of a --data option for the workers of a server: at the directory
 * as written, and at that without links if it is on this machine. A pipeline may
 * have either. */
static fby_err add_root_of_server(struct fby_served_roots *self,
    const char *option, struct fby_error_detail *why)
{
    char written[FBY_PATH_SIZE];
    FBY_TRY(fby_served_check(option, why));
    const char *path       = strchr(option, '=') + 1;
    char       *resolved   = realpath(path, NULL);
    fby_err     err        = make_absolute(path, written, why);
    bool        is_written = err == FBY_OK; /* not with ".." after a name */
    if (resolved != NULL) {
        err        = add_root_at(self, option, resolved, why);
        is_written = is_written && strcmp(resolved, written) != 0;
    }
    if (err == FBY_OK && is_written) {
        err = add_root_at(self, option, written, why);
    }
    free(resolved);
    return err == FBY_OK ? FBY_OK : FBY_USAGE;
}

static fby_err check_directory(const char *path, struct fby_error_detail *why)
{
    struct stat st;
    int         error = stat(path, &st) == 0 ? 0 : errno;
    if (error == 0 && S_ISDIR(st.st_mode)) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_IO, "cannot open the directory %s: %s%s",
        path, strerror(error != 0 ? error : ENOTDIR),
        strpbrk(path, "*?") != NULL
            ? ": * and ? are no wildcards here: write a split for each folder"
            : "");
}

static fby_err add_root_of_split(struct fby_served_roots *self,
    const struct fby_split *split, struct fby_error_detail *why)
{
    char directory[FBY_PATH_SIZE];
    char text[FBY_PATH_SIZE + FBY_NAME_SIZE];
    if (fby_location_is_named(split->location.pattern)) {
        return FBY_OK; /* its root comes from --data */
    }
    fby_err err = fby_location_plain_base(
        &split->location, split->content.source, directory, why);
    if (err != FBY_OK || has_directory(self, directory)) {
        return err;
    }
    err = check_directory(directory, why);
    if (err != FBY_OK) {
        return err;
    }
    snprintf(text, sizeof(text), "data%u=%s", self->n_roots, directory);
    return add_root(self, text, why);
}

/* The error for a pipeline that has only NAME:path, if --data is missing. */
static fby_err set_no_root_error(
    const char *pattern, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_USAGE,
        "the pipeline's data is at '%s'; name its directory on this machine: "
        "--data %.*s=DIR",
        pattern, (int)strcspn(pattern, ":"), pattern);
}

static fby_err add_roots_of_pipeline(struct fby_served_roots *self,
    const struct fby_pipeline *pipeline, const char *path,
    struct fby_error_detail *why)
{
    fby_err err      = FBY_OK;
    size_t  n_splits = fby_pipeline_n_splits(pipeline);
    for (size_t i = 0; i < n_splits && err == FBY_OK; i++) {
        const char       *name  = fby_pipeline_split_name(pipeline, i);
        struct fby_split *split = NULL;
        err = fby_pipeline_make_split(pipeline, name, &split, why);
        if (err == FBY_OK) {
            err = add_root_of_split(self, split, why);
        }
        if (err == FBY_IO) {
            fby_error_prefix(why, err, "%s: split '%s'", path, name);
        }
        bool is_last = i + 1 == n_splits;
        if (err == FBY_OK && is_last && self->n_roots == 0) {
            err = set_no_root_error(split->location.pattern, why);
        }
        fby_split_destroy(&split);
    }
    return err;
}

static fby_err add_data_options(struct fby_served_roots *self,
    const struct fby_words *data, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    *self       = (struct fby_served_roots){0};
    for (unsigned i = 0; i < data->n && err == FBY_OK; i++) {
        err = add_data_option(self, data->items[i], why);
    }
    self->n_given = self->n_roots;
    return err;
}

fby_err fby_served_collect(struct fby_served_roots *self,
    const struct fby_words *data, const char *path,
    struct fby_error_detail *why)
{
    struct fby_pipeline *pipeline = NULL;
    fby_err              err      = add_data_options(self, data, why);
    if (err == FBY_OK && path != NULL) {
        err = fby_pipeline_load(path, &pipeline, why);
    }
    if (err == FBY_OK && path != NULL) {
        err = add_roots_of_pipeline(self, pipeline, path, why);
    }
    fby_pipeline_destroy(&pipeline);
    return err;
}

fby_err fby_served_collect_of_server(struct fby_served_roots *self,
    const struct fby_words *data, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    *self       = (struct fby_served_roots){0};
    for (unsigned i = 0; i < data->n && err == FBY_OK; i++) {
        err = add_root_of_server(self, data->items[i], why);
    }
    self->n_given = self->n_roots;
    return err;
}

fby_err fby_served_collect_from_stdin(struct fby_served_roots *self,
    const struct fby_words *data, struct fby_error_detail *why)
{
    static const char    name[]   = "standard input";
    struct fby_pipeline *pipeline = NULL;
    fby_err              err      = add_data_options(self, data, why);
    if (err == FBY_OK) {
        err = fby_pipeline_read(STDIN_FILENO, name, &pipeline, why);
    }
    if (err == FBY_OK) {
        err = add_roots_of_pipeline(self, pipeline, name, why);
    }
    fby_pipeline_destroy(&pipeline);
    return err;
}

/* Returns the first place in `text` where "NAME:", with the name of `root`, is a
 * word of its own; NULL if there is none. */
static char *find_root_name(char *text, const struct forebay_root *root)
{
    size_t length = strlen(root->name);
    char  *found  = text;
    while ((found = strstr(found, root->name)) != NULL) {
        bool begins = found == text || isalnum((unsigned char)found[-1]) == 0;
        if (begins && found[length] == ':') {
            return found;
        }
        found += length;
    }
    return NULL;
}

/* Write the directory of `root` in place of "NAME:". */
static void replace_root(
    const struct forebay_root *root, struct fby_error_detail *why)
{
    static const char       ends[] = " :;,')"; /* after a path */
    struct fby_error_detail before = *why;
    char                   *name   = find_root_name(before.text, root);
    if (name != NULL) {
        const char *rest    = name + strlen(root->name) + 1;
        bool        is_path = strchr(ends, rest[0]) == NULL; /* finds NUL */
        *name               = '\0';
        snprintf(why->text, sizeof(why->text), "%.*s%s%s%s",
            (int)(name - before.text), before.text, root->directory,
            is_path ? "/" : "", rest);
    }
}

void fby_served_complete_error(
    const struct fby_served_roots *self, struct fby_error_detail *why)
{
    static const char             name[] = "options.roots";
    const struct fby_error_detail before = *why;
    const char                   *found  = strstr(before.text, name);
    if (found != NULL) {
        snprintf(why->text, sizeof(why->text), "%.*s--data NAME=DIR%s",
            (int)(found - before.text), before.text, found + strlen(name));
    }
    for (unsigned i = self->n_given; i < self->n_roots; i++) {
        replace_root(&self->roots[i], why);
    }
}

void fby_served_fini(struct fby_served_roots *self)
{
    fby_words_fini(&self->data_options);
    fby_words_fini(&self->root_texts);
    free(self->roots);
    *self = (struct fby_served_roots){0};
}
