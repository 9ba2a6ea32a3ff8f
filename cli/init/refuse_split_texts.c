/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_split_texts.c - refuse a folder of pictures, or class folders, beside texts
 * (.txt) or JSON that say which of them are train and which are test: all would be
 * train.
 *
 * Either a text for each split has a name in each line, as Food-101's
 * meta/train.txt, or one has the splits as numbers, as CUB's
 * train_test_split.txt and CelebA's list_eval_partition.txt. A text may also have
 * captions of the pictures, as Flickr8k.token.txt. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_json.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

enum { LINE_SIZE = 512, MAX_OTHERS = 16 };

struct split_text { /* the text of a split, by its first line */
    char        file[FBY_PATH_SIZE]; /* below the layout's folder */
    const char *split;
    char        prefix[FBY_NAME_SIZE]; /* of the names: "images/" */
    char        ending[FBY_NAME_SIZE]; /* which the names lack */
    bool        has_labels;            /* after the names */
    bool        has_folders;           /* in the names */
};

struct other_text { /* of a split that has a text before it by name */
    char        file[FBY_NAME_SIZE];
    const char *split;
};

struct split_texts {
    struct fby_search *search;
    const char        *path; /* of the layout, below the root */
    const char *pictures;    /* the folder of these in it; "": class folders */
    const char *dir;         /* that is looked at, in `path`; "": itself */
    struct split_text texts[FBY_KNOWN_SPLITS];
    uint32_t          n;
    struct other_text others[MAX_OTHERS];
    uint32_t          n_others;
    struct split_text json;     /* of all splits; .file "": none was found */
    struct split_text captions; /* of all pictures; likewise */
};

/* Read the first line of a file below `path`, without the blanks around it. */
static bool read_line(
    const struct split_texts *self, const char *file, char out[LINE_SIZE])
{
    if (!fby_guess_read_begin(
            self->search->root, self->path, file, out, LINE_SIZE)) {
        return false;
    }
    size_t n = strcspn(out, "\r\n");
    while (n > 0 && out[n - 1] == ' ') {
        n--;
    }
    out[n] = '\0';
    return n > 0;
}

/* Is a text beside the picture, whose path is up to `end` the same? A list would
 * not have it. */
static bool has_text(
    const struct split_texts *self, const char *picture, const char *end)
{
    char file[FBY_PATH_SIZE];
    int  n =
        snprintf(file, sizeof(file), "%.*s.txt", (int)(end - picture), picture);
    return n > 0 && n < FBY_PATH_SIZE &&
           fby_object_exists(self->search->root, file);
}

/* Is `name` a picture in the folder, perhaps without its ending, and without a
 * text beside it? Sets what the name lacks. */
static bool is_picture(
    const struct split_texts *self, const char *name, struct split_text *out)
{
    char   dir[FBY_PATH_SIZE];
    char   file[FBY_PATH_SIZE];
    size_t n        = strlen(self->pictures);
    bool   is_whole = strncmp(name, self->pictures, n) == 0 && name[n] == '/';
    if (!is_whole && n > 0) {
        snprintf(out->prefix, FBY_NAME_SIZE, "%s/", self->pictures);
    }
    name += is_whole ? n + 1 : 0;
    out->has_folders = strchr(name, '/') != NULL;
    if (fby_path_join(self->path, self->pictures, dir, NULL) != FBY_OK ||
        fby_path_join(dir, name, file, NULL) != FBY_OK) {
        return false;
    }
    const char *dot      = strrchr(file, '.');
    bool        is_there = dot != NULL && strchr(dot, '/') == NULL &&
                    fby_object_exists(self->search->root, file);
    return (is_there || fby_guess_find_picture(self->search->root, dir, name,
                            strlen(name), out->ending)) &&
           !has_text(self, file, is_there ? dot : file + strlen(file));
}

/* Does the text begin with the name of a picture? Names may have blanks: the longest
 * one counts, which labels may follow. */
static bool read_text(const struct split_texts *self, struct split_text *out)
{
    char                    line[LINE_SIZE];
    const struct split_text before = *out;
    if (!read_line(self, out->file, line)) {
        return false;
    }
    char *name       = line + strspn(line, "./");
    char *end        = name + strlen(name);
    bool  has_labels = false;
    while (end > name) {
        *out            = before;
        out->has_labels = has_labels;
        if (is_picture(self, name, out)) {
            return true;
        }
        while (end > name && strchr(" \t", end[-1]) == NULL) {
            end--;
        }
        while (end > name && strchr(" \t", end[-1]) != NULL) {
            end--;
        }
        *end       = '\0';
        has_labels = true;
    }
    return false;
}

/* Add the text. Of several of one split the first by name is taken. */
static void add_text(struct split_texts *self, const struct split_text *text)
{
    struct split_text other = *text;
    uint32_t          i     = 0;
    while (i < self->n && strcmp(self->texts[i].split, text->split) != 0) {
        i++;
    }
    if (i == self->n || strcmp(text->file, self->texts[i].file) < 0) {
        other          = self->texts[i];
        self->texts[i] = *text;
    }
    if (i == self->n) {
        self->n++;
    } else if (self->n_others < MAX_OTHERS) {
        struct other_text *out = &self->others[self->n_others++];
        snprintf(out->file, sizeof(out->file), "%.*s", FBY_NAME_SIZE - 1,
            other.file);
        out->split = other.split;
    }
}

/* Keep the JSON file if it begins with the name of a picture, in a list of a split. */
static void look_at_json(struct split_texts *self, const char *name)
{
    struct split_text json = {.file = ""};
    char              first[LINE_SIZE];
    if (fby_text_ends_with(name, ".json") &&
        fby_path_join(self->dir, name, json.file, NULL) == FBY_OK &&
        fby_shell_is_plain(json.file) &&
        fby_split_json_read(
            self->search->root, self->path, json.file, first, sizeof(first)) &&
        is_picture(self, first + strspn(first, "./"), &json)) {
        self->json = json;
    }
}

/* Keep the text if it begins with the name of a picture, # and a number, and a tab. Of
 * several the one with the shortest name counts. */
static void look_at_captions(struct split_texts *self, const char *name)
{
    struct split_text  text = {.file = ""};
    struct split_text *kept = &self->captions;
    char               line[LINE_SIZE];
    if (!fby_init_is_caption_file(name) ||
        fby_path_join(self->dir, name, text.file, NULL) != FBY_OK ||
        !fby_shell_is_plain(text.file) || !read_line(self, text.file, line)) {
        return;
    }
    size_t n      = strcspn(line, "#\t");
    size_t digits = strspn(&line[n] + (line[n] == '#' ? 1 : 0), "0123456789");
    bool is_one = line[n] == '#' && digits > 0 && line[n + 1 + digits] == '\t';
    line[n]     = '\0';
    if (is_one && is_picture(self, line, &text) && text.ending[0] == '\0' &&
        (kept->file[0] == '\0' || strlen(text.file) < strlen(kept->file))) {
        *kept = text;
    }
}

static fby_err visit(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct split_texts *self                 = arg;
    struct split_text   text                 = {.file = ""};
    char                lower[FBY_NAME_SIZE] = "";
    (void)why;
    for (size_t i = 0; i < sizeof(lower) - 1 && entry->name[i] != '\0'; i++) {
        lower[i] = (char)tolower((unsigned char)entry->name[i]);
    }
    text.split = fby_split_word(entry->name);
    if (!entry->is_dir && text.split != NULL &&
        fby_text_ends_with(lower, ".txt") &&
        fby_path_join(self->dir, entry->name, text.file, NULL) == FBY_OK &&
        fby_shell_is_plain(text.file) && read_text(self, &text)) {
        add_text(self, &text);
    }
    if (!entry->is_dir) {
        look_at_json(self, entry->name);
        look_at_captions(self, entry->name);
    }
    return FBY_OK;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(((const struct split_text *)a)->file,
        ((const struct split_text *)b)->file);
}

static int compare_others(const void *a, const void *b)
{
    return strcmp(((const struct other_text *)a)->file,
        ((const struct other_text *)b)->file);
}

/* Is a text that of train? Else all pictures that no text has are. */
static bool has_train(const struct split_texts *self)
{
    uint32_t i = 0;
    while (i < self->n && strcmp(self->texts[i].split, "train") != 0) {
        i++;
    }
    return i < self->n;
}

/* Do the names of all texts lack the same? Labels that one of them lacks are left
 * out in the first. */
static bool are_alike(struct split_texts *self)
{
    struct split_text *first = &self->texts[0];
    bool               is_split =
        self->pictures[0] != '\0' && fby_split_of_folder(self->path) != NULL;
    bool found = self->n > (is_split ? 1 : 0); /* one may tell its classes */
    qsort(first, self->n, sizeof(*first), compare_texts);
    for (uint32_t i = 1; i < self->n; i++) {
        const struct split_text *other = &self->texts[i];
        found = found && strcmp(first->prefix, other->prefix) == 0 &&
                strcmp(first->ending, other->ending) == 0;
        first->has_labels  = first->has_labels && other->has_labels;
        first->has_folders = first->has_folders && other->has_folders;
    }
    if (first->has_folders && !has_train(self)) { /* which has no labels */
        first->has_labels = false;
    }
    return found;
}

/* Write the other texts of the split of the first: " (others: b.txt; ...)". */
static void list_others(struct split_texts *self, char *out, size_t size)
{
    char names[160] = "";
    qsort(
        self->others, self->n_others, sizeof(self->others[0]), compare_others);
    for (uint32_t i = 0; i < self->n_others; i++) {
        if (strcmp(self->others[i].split, self->texts[0].split) == 0) {
            fby_text_append_name(names, sizeof(names), self->others[i].file);
        }
    }
    snprintf(out, size,
        names[0] != '\0' ? " (others: %s; to take one, change the names in the "
                           "command)"
                         : "",
        names);
}

/* Refuse the layout because of the text `file`, with the command that is set. */
static fby_err refuse(
    struct split_texts *self, const char *file, struct fby_error_detail *why)
{
    char others[240];
    list_others(self, others, sizeof(others));
    return fby_error_set(why, FBY_CONFIG,
        "%.80s says which pictures in %.60s are of which split%s: write a list "
        "of each, and run init %s:",
        file, self->pictures[0] != '\0' ? self->pictures : "the class folders",
        others, self->path[0] != '\0' ? "on that folder" : "again");
}

/* Refuse the layout because of the texts, or of the JSON file, whose names lack what
 * those of `like` do. `splits` has them for the program. */
static fby_err refuse_splits(struct split_texts *self, const char *splits,
    const struct split_text *like, struct fby_error_detail *why)
{
    fby_guess_set_command(self->search, self->path,
        FBY_PYTHON "S = [%s]; P = '%s'; E = '%s'; K = '%s'; D = '%s'; %s; "
                   "%s; "
                   "%s\"",
        splits, like->prefix, like->ending,
        like->has_labels    ? "words"
        : like->has_folders ? "folder"
                            : "",
        self->pictures, fby_program_split_texts, fby_program_split_rest,
        fby_program_write_lists);
    return refuse(self, like->file, why);
}

/* Refuse texts that name files of a format that is not read, and no pictures, as
 * audio. */
static fby_err refuse_unread(
    const struct split_texts *self, struct fby_error_detail *why)
{
    char              line[LINE_SIZE];
    char              files[160] = "";
    char             *state      = NULL;
    struct fby_unread unread;
    const char       *name = read_line(self, self->texts[0].file, line)
                                 ? strtok_r(line + strspn(line, "./"), " \t", &state)
                                 : NULL;
    if (name == NULL || fby_init_is_any_picture(name) ||
        !fby_unread_file(name, &unread)) {
        return FBY_OK;
    }
    for (uint32_t i = 0; i < self->n; i++) {
        fby_text_append_name(files, sizeof(files), self->texts[i].file);
    }
    return fby_error_set(why, FBY_CONFIG,
        "%s; %s say%s which files are of which split", unread.text, files,
        self->n == 1 ? "s" : "");
}

enum { FILES_SIZE = FBY_KNOWN_SPLITS * 160 };

/* Write the splits and texts for a program. Returns false if they do not fit. */
static bool write_files(const struct split_texts *self, char out[FILES_SIZE])
{
    size_t used = 0;
    out[0]      = '\0';
    for (uint32_t i = 0; i < self->n && used < FILES_SIZE; i++) {
        used += (size_t)snprintf(out + used, FILES_SIZE - used,
            "%s('%s', open('%s'))", i > 0 ? ", " : "", self->texts[i].split,
            self->texts[i].file);
    }
    return used < FILES_SIZE;
}

static fby_err refuse_texts(
    struct split_texts *self, struct fby_error_detail *why)
{
    char files[FILES_SIZE];
    FBY_TRY(refuse_unread(self, why));
    return write_files(self, files)
               ? refuse_splits(self, files, &self->texts[0], why)
               : FBY_OK;
}

/* Refuse the layout because of the captions, with those of each split if texts have
 * these, too. */
static fby_err refuse_captions(
    struct split_texts *self, bool has_splits, struct fby_error_detail *why)
{
    char        files[FILES_SIZE];
    const char *split = has_splits ? self->texts[0].file : "";
    if (!write_files(self, files)) {
        return FBY_OK;
    }
    fby_guess_set_command(self->search, self->path,
        FBY_PYTHON "F = '%s'; S = [%s]; P = '%s'; %s; %s\"",
        self->captions.file, has_splits ? files : "", self->captions.prefix,
        fby_program_caption_texts, fby_program_write_lists);
    return fby_error_set(why, FBY_CONFIG,
        "%.80s has captions of the pictures in %.60s%s%.80s%s: write a list%s "
        "with them, and run init %s:",
        self->captions.file,
        self->pictures[0] != '\0' ? self->pictures : "the class folders",
        has_splits ? ", and " : "", split,
        has_splits ? " says which of these are of which split" : "",
        has_splits ? " of each" : "",
        self->path[0] != '\0' ? "on that folder" : "again");
}

static fby_err refuse_json(
    struct split_texts *self, struct fby_error_detail *why)
{
    char splits[FBY_PATH_SIZE + 80];
    snprintf(splits, sizeof(splits),
        "x for x in __import__('json').load(open('%s')).items() if "
        "isinstance(x[1], list)",
        self->json.file);
    return refuse_splits(self, splits, &self->json, why);
}

/* ---- CelebA: a name and the number of a split in each line ---- */

struct numbered { /* a text with numbers of splits */
    const struct split_texts *layout;
    struct split_text         text; /* .file "": none was found */
};

/* Has each of the first lines a picture's name and a number from 0 to 2? */
static bool is_numbered(const struct split_texts *self, struct split_text *text)
{
    char        line[LINE_SIZE];
    const char *digit = NULL;
    bool        found = read_text(self, text) && text->has_labels &&
                 read_line(self, text->file, line);
    digit = found ? strrchr(line, ' ') : NULL;
    return digit != NULL && digit[1] >= '0' && digit[1] <= '2' &&
           digit[2] == '\0' && strcspn(line, " ") + 2 == strlen(line);
}

static fby_err visit_numbered(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct numbered  *self = arg;
    struct split_text text = {.file = ""};
    (void)why;
    if (!entry->is_dir && strstr(entry->name, "partition") != NULL &&
        fby_text_ends_with(entry->name, ".txt") &&
        fby_path_join(self->layout->dir, entry->name, text.file, NULL) ==
            FBY_OK &&
        fby_shell_is_plain(text.file) && is_numbered(self->layout, &text)) {
        self->text = text;
    }
    return FBY_OK;
}

fby_err fby_refuse_split_numbers(struct fby_search *search, const char *path,
    const char *pictures, const char *const *dirs, uint32_t n_dirs,
    struct fby_error_detail *why)
{
    struct split_texts self = {
        .search = search, .path = path, .pictures = pictures};
    struct numbered found = {.layout = &self};
    if (!fby_shell_is_plain(pictures) ||
        strlen(pictures) >= FBY_NAME_SIZE - 1) {
        return FBY_OK;
    }
    for (uint32_t i = 0; i <= n_dirs && found.text.file[0] == '\0'; i++) {
        char below[FBY_PATH_SIZE];
        self.dir = i == 0 ? "" : dirs[i - 1];
        FBY_TRY(fby_path_join(path, self.dir, below, why));
        FBY_TRY(fby_guess_visit_dir(
            search, below, NULL, visit_numbered, &found, NULL, why));
    }
    if (found.text.file[0] == '\0') {
        return FBY_OK;
    }
    fby_guess_set_command(search, path,
        FBY_PYTHON "F = '%s'; P = '%s'; E = '%s'; %s; %s\"", found.text.file,
        found.text.prefix, found.text.ending, fby_program_split_numbers,
        fby_program_write_lists);
    return refuse(&self, found.text.file, why);
}

/* ---- CUB and NABirds: names and splits by number ---- */

#define CUB_NAMES  "images.txt"
#define CUB_SPLITS "train_test_split.txt"

static fby_err check_cub(struct split_texts *self, struct fby_error_detail *why)
{
    struct split_text names = {.file = ""};
    char              line[LINE_SIZE];
    char             *state = NULL;
    if (!read_line(self, CUB_SPLITS, line) ||
        !read_line(self, CUB_NAMES, line) ||
        strtok_r(line, " ", &state) == NULL) {
        return FBY_OK;
    }
    const char *name = strtok_r(NULL, " ", &state);
    if (name == NULL || !is_picture(self, name, &names) ||
        names.prefix[0] == '\0' || names.ending[0] != '\0') {
        return FBY_OK;
    }
    fby_guess_set_command(self->search, self->path,
        FBY_PYTHON "P = '%s'; %s; %s\"", self->pictures, fby_program_split_cub,
        fby_program_write_lists);
    return refuse(self, CUB_SPLITS, why);
}

fby_err fby_refuse_split_texts(struct fby_search *search, const char *path,
    const char *pictures, const char *const *dirs, uint32_t n_dirs,
    struct fby_error_detail *why)
{
    struct split_texts self = {
        .search = search, .path = path, .pictures = pictures, .dir = ""};
    if (search->in_zip || !fby_shell_is_plain(pictures)) {
        return FBY_OK;
    }
    FBY_TRY(check_cub(&self, why));
    FBY_TRY(
        fby_refuse_split_numbers(search, path, pictures, dirs, n_dirs, why));
    FBY_TRY(fby_refuse_split_words(search, path, pictures, dirs, n_dirs, why));
    for (uint32_t i = 0;
         i <= n_dirs && self.n == 0 && self.json.file[0] == '\0' &&
         self.captions.file[0] == '\0';
         i++) {
        char below[FBY_PATH_SIZE];
        self.dir = i == 0 ? "" : dirs[i - 1];
        FBY_TRY(fby_path_join(path, self.dir, below, why));
        FBY_TRY(
            fby_guess_visit_dir(search, below, NULL, visit, &self, NULL, why));
    }
    bool has_splits = are_alike(&self);
    return self.captions.file[0] != '\0'
               ? refuse_captions(&self, has_splits, why)
           : has_splits                ? refuse_texts(&self, why)
           : self.json.file[0] != '\0' ? refuse_json(&self, why)
                                       : FBY_OK;
}
