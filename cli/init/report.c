/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - print what init found, and what the written file leaves out. */
#include "cli/init/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_zip.h"
#include "cli/init/names.h"
#include "cli/option.h"
#include "cli/output.h"
#include "common/plural.h"
#include "common/utf8.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

static const char *shard_word(enum fby_source_kind kind)
{
    static const char *const words[FBY_N_SOURCES] = {
        [FBY_SOURCE_COLUMNS] = "table",
        [FBY_SOURCE_TOKENS]  = "token file",
    };
    return words[kind] != NULL ? words[kind] : "tar shard";
}

static bool is_undecoded(const char *name)
{
    return fby_unread_picture(name) != NULL;
}

/* Print the command for the files of the split whose names `is_type` accepts, if
 * there are any: `purpose`, and the end `action` of the command. */
static void print_find(const struct fby_guess_split *split,
    bool (*is_type)(const char *name), const char *purpose, const char *action)
{
    size_t n      = 0;
    bool   in_zip = fby_guess_is_zip_path(split->pattern);
    for (uint32_t i = 0; i < split->n_left_out; i++) {
        char name[FBY_NAME_SIZE + 2];
        snprintf(name, sizeof(name), "*.%s", split->left_out[i].extension);
        if (!is_type(name)) {
            continue;
        }
        if (n++ == 0) {
            fprintf(stderr, "%s%s: find ", purpose,
                in_zip ? ", unpack the archive; in its folder" : "");
            fby_option_print_word(stderr, in_zip ? "." : split->pattern);
        }
        fprintf(stderr, "%s -iname ", n > 1 ? " -o" : " '('");
        fby_option_print_word(stderr, name);
    }
    if (n > 0) {
        fprintf(stderr, " ')' -exec %s\n", action);
    }
}

/* True for a picture by its extension, also for one that is not decoded. */
static bool is_picture_file(const char *extension)
{
    char name[FBY_NAME_SIZE + 2];
    snprintf(name, sizeof(name), "*.%s", extension);
    return fby_init_is_picture_suffix(extension) ||
           fby_unread_picture(name) != NULL;
}

/* Print the files of a split that are no samples, by their type. */
static void print_left_out_files(
    const struct fby_guess_split *split, bool is_first)
{
    bool has_pictures = false;
    for (uint32_t i = 0; i < split->n_left_out; i++) {
        char noun[FBY_SHOWN_SIZE + 8];
        snprintf(noun, sizeof(noun), ".%s file",
            fby_text_show_begin(split->left_out[i].extension, 16).text);
        has_pictures =
            has_pictures || is_picture_file(split->left_out[i].extension);
        if (i == 0 && !is_first) {
            fprintf(stderr, "left out of split '%s': ", split->name);
        }
        fprintf(stderr, "%s%s",
            i > 0      ? ", "
            : is_first ? "left out: "
                       : "",
            fby_plural(split->left_out[i].count, noun).text);
    }
    if (split->n_left_out > 0) {
        fprintf(stderr, has_pictures ? " (no pictures that can be decoded)\n"
                                     : " (no pictures)\n");
        print_find(split, is_undecoded, "to convert them with ImageMagick",
            FBY_UNREAD_CONVERT);
        print_find(split, fby_unread_is_jpeg, "to read JPEG files as .jpg",
            FBY_UNREAD_LINK);
    }
}

/* Print the comments of the file that say what it leaves out. */
static void print_left_out_fields(const struct fby_buffer *text)
{
    static const char mark[] = "\n  # left out: ";
    const char       *end    = (const char *)text->data + text->size;
    const char       *at     = (const char *)text->data;
    while (
        (at = memmem(at, (size_t)(end - at), mark, sizeof(mark) - 1)) != NULL) {
        at += strlen("\n  # ");
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        fprintf(stderr, "%.*s\n", (int)(newline - at), at);
        at = newline;
    }
}

static void print_links(const struct fby_guess *guess)
{
    if (guess->n_dangling > 0) {
        fprintf(stderr, "left out: %s to no file\n",
            fby_plural(guess->n_dangling, "link").text);
    }
    if (strcmp(guess->data_root, "/") == 0) {
        fprintf(stderr,
            "note: the list and its files have only / in common, so with the "
            "root / workers can read all files that you can\n");
    }
}

struct fby_init_roots fby_init_roots_of(const struct fby_guess *guess)
{
    return (struct fby_init_roots){.data = guess->data_root,
        .linked   = (const char(*)[FBY_PATH_SIZE])guess->linked,
        .n_linked = guess->n_linked};
}

/* Print an option --data for each root that the data needs, and the argument of
 * forebay.Loader that these options are, if any. */
static void print_roots(const struct fby_guess *guess)
{
    const struct fby_init_roots roots = fby_init_roots_of(guess);
    struct fby_buffer           text  = {0};
    struct fby_init_root        root;
    for (size_t i = 0; fby_init_get_root(&roots, i, &root); i++) {
        fprintf(stderr, " --data ");
        fby_option_print_word(stderr, root.option);
    }
    fputc('\n', stderr);
    fby_init_append_python_roots(&text, &roots);
    if (text.size > 0) {
        fprintf(stderr, "the same in Python: forebay.Loader(..., %.*s)\n",
            (int)text.size, (const char *)text.data);
    }
    fby_buffer_fini(&text);
}

static void print_shards(const struct fby_guess *guess)
{
    const struct fby_guess_split *split = &guess->splits[0];
    fprintf(stderr, " in ");
    if (!split->counted_all && split->shards_read > 1) {
        fprintf(stderr, "the first %" PRIu32 " of ", split->shards_read);
    } else if (!split->counted_all) {
        fprintf(stderr, "the first of ");
    }
    fprintf(
        stderr, "%s", fby_plural(split->shards, shard_word(guess->kind)).text);
}

static void print_splits(const struct fby_init_report *self)
{
    const struct fby_guess *guess = self->guess;
    for (uint32_t i = 1; i < guess->n_splits; i++) {
        const struct fby_guess_split *split = &guess->splits[i];
        char                          path[FBY_PATH_SIZE];
        snprintf(path, sizeof(path), "%s", split->pattern);
        fby_make_one_line(path);
        if (self->reasons[i][0] == '\0') {
            fprintf(stderr,
                "and split '%s' at %s: neither shuffled nor "
                "augmented\n",
                split->name, path);
        } else {
            fprintf(stderr, "left out: split '%s' at %s: %s\n", split->name,
                path, self->reasons[i]);
        }
    }
    if (guess->n_left_out > 0) {
        fprintf(stderr, "left out: %s more\n",
            fby_plural(guess->n_left_out, "split").text);
    }
}

void fby_init_print_report(const struct fby_init_report *self)
{
    const struct fby_guess       *guess                = self->guess;
    const struct fby_guess_split *split                = &guess->splits[0];
    static const char *const      where[FBY_N_SOURCES] = {
             [FBY_SOURCE_LIST]     = " in a list",
             [FBY_SOURCE_PARALLEL] = " in parallel folders",
    };
    bool is_flat = guess->kind == FBY_SOURCE_FOLDER && split->classes == 0;
    fprintf(stderr, "found %s%s", split->counted_all ? "" : "over ",
        fby_plural(split->samples, "sample").text);
    if (fby_source_traits(guess->kind)->has_sequences) {
        fprintf(stderr, " of %u tokens", split->tokens.length);
    }
    if (split->shards > 0) {
        print_shards(guess);
    }
    if (split->classes > 0) {
        fprintf(
            stderr, " in %s", fby_plural(split->classes, "class folder").text);
    }
    if (is_flat) {
        fprintf(stderr, " in a folder without classes");
    }
    fprintf(stderr, "%s\n", where[guess->kind] ? where[guess->kind] : "");
    fputs(guess->notes, stderr);
    fprintf(stderr, "%.*s", (int)self->notes->size,
        self->notes->size > 0 ? (const char *)self->notes->data : "");
    for (uint32_t i = 0; i < guess->n_splits; i++) {
        if (self->reasons[i][0] == '\0') {
            print_left_out_files(&guess->splits[i], i == 0);
        }
    }
    print_left_out_fields(self->text);
    print_links(guess);
    print_splits(self);
    if (self->output != NULL) {
        fprintf(stderr, "wrote %s; try: forebay pull --pipeline ",
            fby_show_path(self->output).text);
        fby_option_print_word(stderr, self->output);
        print_roots(guess);
    }
}
