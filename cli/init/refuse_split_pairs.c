/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_split_pairs.c - refuse parallel folders, or pictures and their boxes,
 * beside texts or lists that say which of them are train and which are val: all
 * would be train; and a folder of pictures beside one of their lists.
 *
 * Such are train.txt and val.txt beside images/ and masks/, or in a folder beside
 * these, with a name or path of a picture in each line. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/list_begin.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_json.h"
#include "cli/init/split_names.h"
#include "cli/init/text_state.h"
#include "cli/init/words.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { LINE_SIZE = 512 };

struct pairs_split {            /* the file of a split; "": none */
    char file[FBY_PATH_SIZE];   /* below the folder of the pairs */
    char column[FBY_NAME_SIZE]; /* .csv: that of the names; text: "" */
    char folder[FBY_NAME_SIZE]; /* of the split, in that of the pictures; "" */
    bool has_labels;            /* text: after the names */
};

struct split_pairs {
    const struct fby_pairs_dir *at;
    const char                 *dir; /* that is looked at, in the folder */
    const char        *within;       /* a folder in that of the pictures; "" */
    struct pairs_split splits[FBY_KNOWN_SPLITS];
    struct pairs_split other; /* .csv of no split */
    struct pairs_split json;  /* of all splits */
};

/* ---- the names in a file ---- */

/* The path that the word has in the folder of pictures: what follows that folder's
 * name, or all of it. */
static const char *path_within(const char *word, const char *pictures)
{
    size_t      n     = strlen(pictures);
    const char *found = word + strspn(word, "./");
    for (const char *at = strstr(word, pictures); at != NULL;
         at             = strstr(at + 1, pictures)) {
        bool begins = at == word || at[-1] == '/';
        found       = begins && at[n] == '/' ? at + n + 1 : found;
    }
    return found;
}

/* Is the word the name or path of a picture, perhaps without its extension? */
static bool is_picture(const struct split_pairs *self, const char *word)
{
    const struct fby_root *root = self->at->search->root;
    const char            *path = path_within(word, self->at->folders[0]);
    char                   pictures[FBY_PATH_SIZE];
    char                   dir[FBY_PATH_SIZE];
    char                   ending[FBY_NAME_SIZE];
    return *path != '\0' &&
           fby_path_join(self->at->folders[0], self->within, pictures, NULL) ==
               FBY_OK &&
           fby_path_join(self->at->path, pictures, dir, NULL) == FBY_OK &&
           ((strchr(path, '.') != NULL &&
                fby_guess_has_file(root, dir, path)) ||
               fby_guess_find_picture(root, dir, path, strlen(path), ending));
}

/* Does the text begin with the name of a picture? One with blanks has a line of its
 * own. */
static bool read_text(const struct split_pairs *self, struct pairs_split *out)
{
    char  line[LINE_SIZE];
    char *state = NULL;
    if (!fby_guess_read_begin(self->at->search->root, self->at->path, out->file,
            line, sizeof(line))) {
        return false;
    }
    line[strcspn(line, "\r\n")] = '\0';
    if (is_picture(self, line)) {
        return true;
    }
    const char *word  = strtok_r(line, " \t,", &state);
    const char *label = strtok_r(NULL, " \t,", &state);
    out->has_labels   = label != NULL && !strpbrk(label, "./");
    return word != NULL && is_picture(self, word);
}

struct first_row { /* of a .csv */
    const struct split_pairs *self;
    struct pairs_split       *out; /* its column is set */
};

static fby_err look_at_row(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    const struct first_row *first = arg;
    (void)why;
    for (uint32_t i = 0; i < row->n_cells && first->out->column[0] == '\0';
         i++) {
        const struct fby_list_cell *cell = &row->cells[i];
        char                        word[FBY_PATH_SIZE];
        snprintf(word, sizeof(word), "%.*s",
            cell->size < sizeof(word) ? (int)cell->size : 0, cell->text);
        if (strlen(cell->column) < FBY_NAME_SIZE &&
            !fby_init_is_class_name(cell->column) &&
            is_picture(first->self, word)) {
            snprintf(first->out->column, FBY_NAME_SIZE, "%s", cell->column);
        }
    }
    return FBY_GONE;
}

/* Has the .csv a column with names of pictures? */
static bool read_csv(const struct split_pairs *self, struct pairs_split *out)
{
    struct first_row           first = {self, out};
    const struct fby_list_sink sink  = {look_at_row, &first};
    struct fby_list_begin      begin = {.text = NULL};
    char                       path[FBY_PATH_SIZE];
    if (fby_path_join(self->at->path, out->file, path, NULL) == FBY_OK &&
        fby_list_begin_read(self->at->search, path, &begin)) {
        fby_list_begin_visit(&begin, &sink);
    }
    fby_list_begin_fini(&begin);
    return out->column[0] != '\0';
}

/* ---- the files ---- */

/* Keep the file of a split. Of several of one split the first by name is taken. */
static void keep_file(
    struct split_pairs *self, const char *split, const struct pairs_split *file)
{
    struct pairs_split *kept = &self->other;
    for (size_t k = 0; split != NULL && k < FBY_KNOWN_SPLITS; k++) {
        kept =
            strcmp(fby_known_splits[k], split) == 0 ? &self->splits[k] : kept;
    }
    if (kept->file[0] == '\0' || strcmp(file->file, kept->file) < 0) {
        *kept = *file;
    }
}

/* Write the name of the split's folder in that of the pictures; "": none. */
static void find_split_folder(
    const struct split_pairs *self, const char *split, char out[FBY_NAME_SIZE])
{
    struct fby_listing listing = {0};
    char               dir[FBY_PATH_SIZE];
    const char        *found = NULL;
    out[0]                   = '\0';
    if (split != NULL && self->at->n_folders == 1 &&
        fby_path_join(self->at->path, self->at->folders[0], dir, NULL) ==
            FBY_OK &&
        fby_guess_list_dir(self->at->search, dir, NULL, &listing, NULL) ==
            FBY_OK) {
        found = fby_find_split_folder(&listing, split);
    }
    if (found != NULL) {
        snprintf(out, FBY_NAME_SIZE, "%s", found);
    }
    fby_listing_fini(&listing);
}

/* Does the text or .csv name pictures? They may be in a folder of its split. */
static bool read_file(struct split_pairs *self, const char *split, bool is_text,
    struct pairs_split *out)
{
    bool found = false;
    for (int i = 0; i < 2 && !found; i++) {
        self->within = out->folder;
        found        = (i == 0 || out->folder[0] != '\0') &&
                (is_text ? read_text(self, out) : read_csv(self, out));
        if (!found && i == 0) {
            find_split_folder(self, split, out->folder);
        }
    }
    self->within = "";
    return found;
}

/* Keep the JSON file if it begins with the name of a picture, in a list of a split. */
static void look_at_json(struct split_pairs *self, const char *name)
{
    struct pairs_split json = {.file = ""};
    char               first[LINE_SIZE];
    if (fby_text_ends_with(name, ".json") &&
        fby_path_join(self->dir, name, json.file, NULL) == FBY_OK &&
        fby_split_json_read(self->at->search->root, self->at->path, json.file,
            first, sizeof(first)) &&
        is_picture(self, first)) {
        self->json = json;
    }
}

static fby_err visit(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct split_pairs *self                 = arg;
    struct pairs_split  file                 = {.file = ""};
    char                lower[FBY_NAME_SIZE] = "";
    (void)why;
    for (size_t i = 0; i < sizeof(lower) - 1 && entry->name[i] != '\0'; i++) {
        lower[i] = (char)tolower((unsigned char)entry->name[i]);
    }
    const char *split   = fby_split_word(lower);
    bool        is_text = fby_text_ends_with(lower, ".txt");
    if (!entry->is_dir && (split != NULL || !is_text) &&
        (is_text || fby_text_ends_with(lower, ".csv")) &&
        fby_path_join(self->dir, entry->name, file.file, NULL) == FBY_OK &&
        read_file(self, split, is_text, &file)) {
        keep_file(self, split, &file);
    }
    if (!entry->is_dir) {
        look_at_json(self, entry->name);
    }
    return FBY_OK;
}

/* Are all files texts of evaluation splits without labels? The pictures that they
 * lack are then of train. */
static bool has_rest(const struct split_pairs *self)
{
    uint32_t n      = 0;
    bool     is_set = self->at->n_folders > 1;
    for (size_t k = 0; k < FBY_KNOWN_SPLITS; k++) {
        const struct pairs_split *split = &self->splits[k];
        bool is_train = strcmp(fby_known_splits[k], "train") == 0;
        n += split->file[0] != '\0' ? 1 : 0;
        is_set = is_set && !(is_train && split->file[0] != '\0') &&
                 split->column[0] == '\0' && !split->has_labels;
    }
    return is_set && n > 0;
}

/* The number of splits that have a file, of which JSON has all. A .csv that is alone is that of train, if
 * the pictures have no other files. */
static uint32_t find_files(struct split_pairs *self)
{
    bool     is_alone = self->at->n_folders == 1;
    uint32_t n        = 0;
    for (uint32_t i = 0;
         i <= self->at->n_dirs && n < (is_alone ? 1 : 2) && !has_rest(self);
         i++) {
        char below[FBY_PATH_SIZE];
        memset(self->splits, 0, sizeof(self->splits));
        self->other.file[0] = '\0';
        self->dir           = i == 0 ? "" : self->at->dirs[i - 1];
        if (fby_path_join(self->at->path, self->dir, below, NULL) == FBY_OK &&
            fby_guess_visit_dir(self->at->search, below, NULL, visit, self,
                NULL, NULL) == FBY_OK) {
            n = 0;
            for (size_t k = 0; k < FBY_KNOWN_SPLITS; k++) {
                n += self->splits[k].file[0] != '\0' ? 1 : 0;
            }
            n = n == 0 && self->json.file[0] != '\0' ? FBY_KNOWN_SPLITS : n;
            if (is_alone && n == 0 && self->other.file[0] != '\0') {
                self->splits[0] = self->other;
                n               = 1;
            }
        }
    }
    return n;
}

/* ---- the command ---- */

/* Has only JSON the names? */
static bool has_json(const struct split_pairs *self)
{
    bool found = self->json.file[0] != '\0';
    for (size_t k = 0; k < FBY_KNOWN_SPLITS; k++) {
        found = found && self->splits[k].file[0] == '\0';
    }
    return found;
}

/* Append the folders, and for each split the new list, the file and its column. The
 * new list has another name than the file. Returns false if something needs
 * quotes. */
static bool append_settings(
    const struct split_pairs *self, const char *type, struct fby_buffer *out)
{
    struct fby_buffer folders    = {0};
    bool              has_labels = true;
    bool              is_plain   = true;
    fby_init_append(out, "F = [");
    for (uint32_t i = 0; i < self->at->n_folders; i++) {
        const char *folder = self->at->folders[i];
        if (strcmp(folder, self->dir) != 0) { /* this has only the lists */
            is_plain = is_plain && fby_shell_is_plain(folder);
            fby_init_printf(out, "%s'%s'", i > 0 ? ", " : "", folder);
        }
    }
    fby_init_append(out, "]; S = [");
    if (has_json(self)) {
        fby_init_printf(out,
            "(s + '%s', r, '') for s, r in "
            "__import__('json').load(open('%s')).items() if isinstance(r, "
            "list)]; B = 0; H = {}",
            type, self->json.file);
        return is_plain && fby_shell_is_plain(self->json.file);
    }
    for (size_t k = 0; k < FBY_KNOWN_SPLITS; k++) {
        const struct pairs_split *split = &self->splits[k];
        const char               *slash = strrchr(split->file, '/');
        char                      list[FBY_PATH_SIZE + sizeof("paths-")];
        bool is_beside = split->column[0] != '\0' && slash == NULL;
        if (split->file[0] == '\0') {
            continue;
        }
        is_plain = is_plain && fby_shell_is_plain(split->file) &&
                   strpbrk(split->column, "'\"\\$`") == NULL;
        has_labels = has_labels && split->has_labels;
        is_plain   = is_plain && fby_shell_is_plain(split->folder);
        snprintf(list, sizeof(list), "%s%s%s", is_beside ? "paths-" : "",
            is_beside ? split->file : fby_known_splits[k],
            is_beside ? "" : type);
        fby_init_printf(
            out, "('%s', '%s', '%s'), ", list, split->file, split->column);
        if (split->folder[0] != '\0') {
            fby_init_printf(&folders, "'%s': '%s/', ", list, split->folder);
        }
    }
    fby_init_printf(out, "]; B = %d; H = {%.*s}", has_labels ? 1 : 0,
        (int)folders.size, folders.size > 0 ? (const char *)folders.data : "");
    fby_buffer_fini(&folders);
    if (has_rest(self)) {
        fby_init_printf(out, "; W = 'train%s'", type);
    }
    return is_plain;
}

/* Set the command. Returns ":", or "" if there is none. */
static const char *advise(const struct split_pairs *self)
{
    const struct fby_pairs_dir *at       = self->at;
    struct fby_buffer           settings = {0};
    const char                 *colon    = "";
    if (append_settings(
            self, at->boxes != NULL ? ".jsonl" : ".csv", &settings)) {
        colon = fby_guess_set_command(at->search, at->path,
            FBY_PYTHON "%.*s; %s; %s; %s\"", (int)settings.size,
            (const char *)settings.data, fby_program_split_pairs,
            at->boxes != NULL ? at->boxes : fby_program_pairs_csv,
            fby_program_write_lists);
    }
    fby_buffer_fini(&settings);
    return colon;
}

/* The first folder whose files the lists have beside the pictures; NULL: none. */
static const char *find_partner(const struct split_pairs *self)
{
    uint32_t i = 1;
    while (i < self->at->n_folders &&
           strcmp(self->at->folders[i], self->dir) == 0) {
        i++;
    }
    return i < self->at->n_folders ? self->at->folders[i] : NULL;
}

/* The file of the first split, or of all. */
static const char *find_first(const struct split_pairs *self)
{
    size_t k = 0;
    while (k < FBY_KNOWN_SPLITS && self->splits[k].file[0] == '\0') {
        k++;
    }
    return k < FBY_KNOWN_SPLITS ? self->splits[k].file : self->json.file;
}

fby_err fby_refuse_split_pairs(
    const struct fby_pairs_dir *at, struct fby_error_detail *why)
{
    struct split_pairs self     = {.at = at, .within = ""};
    uint32_t           n        = find_files(&self);
    const char        *pictures = at->folders[0];
    const char        *run = at->path[0] != '\0' ? "on that folder" : "again";
    if (at->search->class_depth != FBY_GUESS_ANY_DEPTH || n == 0 ||
        (n == 1 && at->n_folders > 1 && !has_rest(&self))) {
        return FBY_OK;
    }
    const char      *partner = find_partner(&self);
    const char      *colon   = advise(&self);
    struct fby_shown file    = fby_text_show(find_first(&self));
    fby_err          err     = fby_error_set(why, FBY_CONFIG,
                     "%.80s says which pictures in %.60s are of which split: write a "
                                  "list of each%s%.60s, and run init %s%s",
                     file.text, pictures, partner != NULL ? ", with the files of " : "",
        partner != NULL ? partner : "", run, colon);
    if ((n == 1 && !has_rest(&self)) ||
        (partner == NULL && self.splits[0].column[0] != '\0')) {
        err = fby_error_set(why, FBY_CONFIG,
            "%.80s is a list of the pictures in %.60s: write one beside that "
            "folder, with their paths, and run init %s%s",
            file.text, pictures, run, colon);
    }
    return fby_guess_unpack_first(at->search, err, why);
}
