/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lint/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/output.h"
#include "common/bytes.h"
#include "common/mem.h"
#include "common/plural.h"
#include "common/utf8.h"
#include "pipeline/exclude.h"
#include "pipeline/text_file.h"

struct name_list {
    const struct fby_pipeline *pipeline;
    struct fby_buffer          text;     /* of the file, then with new names */
    size_t                     old_size; /* bytes of the file */
    bool                       is_new;   /* there is no such file yet */
    bool                       has_sections;
    size_t                     split; /* of the last section; SIZE_MAX: none */
    struct fby_excluded       *names; /* in the file, for `split` */
    uint32_t                   n_lines; /* with names for `split` */
};

bool fby_bad_name_is_excludable(const char *name)
{
    size_t size = strlen(name);
    return size > 0 && name[size - 1] != '\r' && strchr(name, '\n') == NULL;
}

static bool is_pipeline(const char *path, const struct fby_buffer *text)
{
    static const char    key[]    = "\nforebay:"; /* its first line, mostly */
    struct fby_pipeline *pipeline = NULL;
    size_t               size     = sizeof(key) - 1;
    bool                 has_key =
        memmem(text->data, text->size, key, size) != NULL ||
        (text->size >= size - 1 && memcmp(text->data, key + 1, size - 1) == 0);
    bool is_whole = fby_pipeline_load(path, &pipeline, NULL) == FBY_OK;
    fby_pipeline_destroy(&pipeline);
    return has_key || is_whole;
}

/* Read the names that the file has for a split. */
static fby_err read_names(struct name_list *self, const char *path,
    size_t split, struct fby_error_detail *why)
{
    const char *names[FBY_MAX_SPLITS];
    size_t      n = fby_pipeline_n_splits(self->pipeline);
    for (size_t i = 0; i < n; i++) {
        names[i] = fby_pipeline_split_name(self->pipeline, i);
    }
    const struct fby_exclude_splits splits = {
        .wanted = names[split], .names = names, .n = n};
    return fby_excluded_parse((const char *)self->text.data, self->old_size,
        path, &splits, self->names, &self->n_lines, why);
}

static fby_err check_text(
    struct name_list *self, const char *path, struct fby_error_detail *why)
{
    if (!fby_is_utf8(self->text.data, self->text.size)) {
        return fby_error_set(why, FBY_USAGE,
            "%s is no list of names: it is no text in UTF-8; write to another "
            "file",
            path);
    }
    if (is_pipeline(path, &self->text)) {
        return fby_error_set(why, FBY_USAGE,
            "%s is a pipeline file, no list of names; write to another file",
            path);
    }
    for (size_t i = 0; i < fby_pipeline_n_splits(self->pipeline); i++) {
        if (read_names(self, path, i, why) != FBY_OK) {
            return FBY_USAGE;
        }
    }
    return FBY_OK;
}

/* Open the list: empty, or with the text of the file. A pipe or device is not
 * read. Close it also after an error. */
static fby_err open_list(struct name_list *self,
    const struct fby_pipeline *pipeline, const char *path,
    struct fby_error_detail *why)
{
    struct stat st;
    *self        = (struct name_list){.pipeline = pipeline, .split = SIZE_MAX};
    self->names  = fby_zalloc(sizeof(*self->names));
    self->is_new = stat(path, &st) != 0;
    if (self->is_new || !S_ISREG(st.st_mode) || st.st_size == 0) {
        return FBY_OK;
    }
    if (fby_text_file_read(path, FBY_EXCLUDE_MAX_BYTES, &self->text, why) !=
        FBY_OK) {
        return FBY_USAGE;
    }
    self->old_size = self->text.size;
    return check_text(self, path, why);
}

static void close_list(struct name_list *self)
{
    fby_buffer_fini(&self->text);
    free(self->names);
}

fby_err fby_bad_names_check(const struct fby_pipeline *pipeline,
    const char *path, struct fby_error_detail *why)
{
    struct name_list list;
    fby_err          err = open_list(&list, pipeline, path, why);
    close_list(&list);
    return err;
}

static void put_text(struct fby_buffer *out, const char *text)
{
    fby_put_bytes(out, text, strlen(text));
}

/* With sections, a name is not taken for that of a sample of another split. */
static void begin_additions(struct name_list *self)
{
    const struct fby_buffer *text = &self->text;
    self->has_sections            = fby_pipeline_n_splits(self->pipeline) > 1;
    for (size_t i = 0; i < text->size && !self->has_sections; i++) {
        bool begins_line   = i == 0 || text->data[i - 1] == '\n';
        self->has_sections = begins_line && text->data[i] == '[';
    }
    if (text->size > 0 && text->data[text->size - 1] != '\n') {
        put_text(&self->text, "\n");
    }
}

static void put_name(
    struct name_list *self, const struct fby_lint_bad *bad, bool begins_section)
{
    char *cause = fby_strdup(bad->cause);
    fby_make_one_line(cause);
    if (begins_section) {
        put_text(&self->text, "[");
        put_text(
            &self->text, fby_pipeline_split_name(self->pipeline, bad->split));
        put_text(&self->text, "]\n");
    }
    put_text(&self->text, "# ");
    put_text(&self->text, cause);
    put_text(&self->text, "\n");
    put_text(&self->text, fby_excluded_prefix(bad->name));
    put_text(&self->text, bad->name);
    put_text(&self->text, "\n");
    free(cause);
}

/* Add a sample and count it in `out`. */
static void add_sample(struct name_list *self, const struct fby_lint_bad *bad,
    bool *begins_section, struct fby_bad_names *out)
{
    size_t old_size = self->text.size;
    if (!bad->excludable) {
        out->without++;
        return;
    }
    if (fby_excluded_has(self->names, bad->name)) {
        out->present++;
        return;
    }
    if (self->n_lines < FBY_MAX_EXCLUDED) {
        put_name(self, bad, *begins_section && self->has_sections);
    }
    if (self->text.size == old_size ||
        self->text.size > FBY_EXCLUDE_MAX_BYTES) {
        self->text.size = old_size;
        out->beyond++;
        return;
    }
    *begins_section = false;
    self->n_lines++;
    out->added++;
}

static fby_err add_all(struct name_list *self, const char *path,
    const struct fby_lint_bad *bad, uint32_t n, struct fby_bad_names *out,
    struct fby_error_detail *why)
{
    bool begins_section = true;
    begin_additions(self);
    for (uint32_t i = 0; i < n; i++) {
        if (bad[i].split != self->split) {
            FBY_TRY(read_names(self, path, bad[i].split, why));
            self->split    = bad[i].split;
            begins_section = true;
        }
        add_sample(self, &bad[i], &begins_section, out);
    }
    return FBY_OK;
}

static fby_err write_list(const struct name_list *self, const char *path,
    struct fby_error_detail *why)
{
    struct fby_output output;
    FBY_TRY(fby_output_open(&output, path, why));
    fby_output_write(&output, self->text.data, self->text.size);
    return fby_output_finish(&output, why);
}

fby_err fby_bad_names_add(const struct fby_pipeline *pipeline, const char *path,
    const struct fby_lint_bad *bad, uint32_t n, struct fby_bad_names *out,
    struct fby_error_detail *why)
{
    struct name_list list;
    *out        = (struct fby_bad_names){0};
    fby_err err = open_list(&list, pipeline, path, why);
    if (err == FBY_OK) {
        err = add_all(&list, path, bad, n, out, why);
    }
    if (err == FBY_OK && n == 0 && list.is_new) {
        put_text(&list.text, "# names of bad samples, for the key exclude\n");
        out->is_empty_list = true;
    }
    if (err == FBY_OK && (out->added > 0 || out->is_empty_list)) {
        err = write_list(&list, path, why);
    }
    close_list(&list);
    return err;
}

/* `path` for the key exclude: absolute, as a relative one would start where the
 * pipeline file is. */
static struct fby_shown_path show_absolute(const char *path)
{
    char                       *real = realpath(path, NULL);
    const struct fby_shown_path shown =
        fby_show_path(real != NULL ? real : path);
    free(real);
    return shown;
}

void fby_bad_names_report(const struct fby_pipeline *pipeline, const char *path,
    const struct fby_bad_names *names)
{
    const struct fby_shown_path shown  = fby_show_path(path);
    const char                 *file   = shown.text;
    bool                        is_one = fby_pipeline_n_splits(pipeline) == 1;
    if (names->is_empty_list) {
        fprintf(stderr, "wrote %s, a list without names\n", file);
    }
    if (names->added > 0) {
        fprintf(stderr, "added %s to %s; write in %s:  exclude: %s\n",
            fby_plural(names->added, "name").text, file,
            is_one ? "the split" : "each split", show_absolute(path).text);
    }
    if (names->present > 0) {
        fprintf(stderr, "%s had the names of %s already\n", file,
            fby_plural(names->present, "bad sample").text);
    }
    if (names->beyond > 0) {
        fprintf(stderr,
            "not added to %s: %s: a list has at most %d names and %d MiB; move "
            "the files of bad samples out of the data instead\n",
            file, fby_plural(names->beyond, "bad sample").text,
            FBY_MAX_EXCLUDED, FBY_EXCLUDE_MAX_BYTES >> 20);
    }
    if (names->without > 0) {
        fprintf(stderr,
            "not added to %s: %s: exclude is not for rows of columns, tokens "
            "and names with a line break; repair the data instead\n",
            file, fby_plural(names->without, "bad sample").text);
    }
}
