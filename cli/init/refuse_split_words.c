/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_split_words.c - a text with the split of each picture as a word, after a line
 * with the number of rows and a header, as list_eval_partition.txt of DeepFashion:
 *
 *     289222
 *     image_name  evaluation_status
 *     img/a_blouse/img_00000001.jpg  train
 *
 * list_category_img.txt, in the same form, has the labels of the pictures. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { HEAD_SIZE = 1024 /* bytes of a text that are read */ };

#define LABELS "list_category_img.txt"

struct word_search {
    struct fby_search *search;
    const char        *path;     /* of the layout, below the root */
    const char        *pictures; /* the folder of these in it */
    const char        *dir;      /* that is looked at, in `path`; "": itself */
    char               file[FBY_PATH_SIZE]; /* the text, in `path`; "": none */
    char               prefix[FBY_NAME_SIZE]; /* which its paths lack */
};

/* Is `name` a picture in the layout, or in its folder of pictures? That sets what
 * the name lacks. */
static bool find_picture(struct word_search *self, const char *name)
{
    char dir[FBY_PATH_SIZE];
    self->prefix[0] = '\0';
    if (fby_guess_has_file(self->search->root, self->path, name)) {
        return true;
    }
    snprintf(self->prefix, sizeof(self->prefix), "%s/", self->pictures);
    return strlen(self->pictures) < sizeof(self->prefix) - 1 &&
           fby_path_join(self->path, self->pictures, dir, NULL) == FBY_OK &&
           fby_guess_has_file(self->search->root, dir, name);
}

/* Has the text a count, a header, and a row with a picture and a split? */
static bool has_words(struct word_search *self, char *text)
{
    char       *state   = NULL;
    char       *words   = NULL;
    const char *count   = strtok_r(text, "\r\n", &state);
    const char *header  = strtok_r(NULL, "\r\n", &state);
    char       *row     = strtok_r(NULL, "\r\n", &state);
    const char *name    = row != NULL ? strtok_r(row, " \t", &words) : NULL;
    const char *last    = NULL;
    uint32_t    columns = 0;
    if (name == NULL || strspn(count, "0123456789 ") != strlen(count) ||
        !isalpha((unsigned char)header[strspn(header, " ")])) {
        return false;
    }
    for (const char *word = name; word != NULL;
         word             = strtok_r(NULL, " \t", &words)) {
        last = word;
        columns++;
    }
    return columns > 1 && fby_split_of_folder(last) != NULL &&
           find_picture(self, name);
}

static fby_err visit(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct word_search *self = arg;
    char                file[FBY_PATH_SIZE];
    char                head[HEAD_SIZE];
    (void)why;
    if (self->file[0] == '\0' && !entry->is_dir &&
        strstr(entry->name, "partition") != NULL &&
        fby_text_ends_with(entry->name, ".txt") &&
        fby_path_join(self->dir, entry->name, file, NULL) == FBY_OK &&
        fby_shell_is_quotable(file) &&
        fby_guess_read_begin(
            self->search->root, self->path, file, head, sizeof(head)) &&
        has_words(self, head)) {
        memcpy(self->file, file, sizeof(file));
    }
    return FBY_OK;
}

/* Write the path of the text with labels; "": there is none. */
static void find_labels(const struct word_search *self, const char *const *dirs,
    uint32_t n_dirs, char out[FBY_PATH_SIZE])
{
    for (uint32_t i = 0; i <= n_dirs; i++) {
        const char *dir = i < n_dirs ? dirs[i] : "";
        if (fby_path_join(dir, LABELS, out, NULL) == FBY_OK &&
            fby_shell_is_quotable(out) &&
            fby_guess_has_file(self->search->root, self->path, out)) {
            return;
        }
    }
    out[0] = '\0';
}

static fby_err refuse(const struct word_search *self, const char *const *dirs,
    uint32_t n_dirs, struct fby_error_detail *why)
{
    char labels[FBY_PATH_SIZE];
    find_labels(self, dirs, n_dirs, labels);
    fby_guess_set_command(self->search, self->path,
        FBY_PYTHON "F = '%s'; P = '%s'; J = '%s'; %s; %s\"", self->file,
        self->prefix, labels, fby_program_split_words, fby_program_write_lists);
    return fby_error_set(why, FBY_CONFIG,
        "%.80s says which pictures in %.60s are of which split: write a list "
        "of each, and run init %s:",
        self->file, self->pictures,
        self->path[0] != '\0' ? "on that folder" : "again");
}

fby_err fby_refuse_split_words(struct fby_search *search, const char *path,
    const char *pictures, const char *const *dirs, uint32_t n_dirs,
    struct fby_error_detail *why)
{
    struct word_search self = {
        .search = search, .path = path, .pictures = pictures};
    for (uint32_t i = 0; i <= n_dirs && self.file[0] == '\0'; i++) {
        char below[FBY_PATH_SIZE];
        self.dir = i < n_dirs ? dirs[i] : "";
        FBY_TRY(fby_path_join(path, self.dir, below, why));
        FBY_TRY(
            fby_guess_visit_dir(search, below, NULL, visit, &self, NULL, why));
    }
    return self.file[0] != '\0' ? refuse(&self, dirs, n_dirs, why) : FBY_OK;
}
