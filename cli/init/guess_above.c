/* SPDX-License-Identifier: Apache-2.0 */
/* guess_above.c - a folder of pictures whose lists or splits lie in the folder above,
 * as images/ of CUB-200-2011 and Food-101; a text of splits by itself; and a split for
 * evaluation by itself, while train is beside it.
 *
 * The pictures are read as they are, which may be meant so: there is only a note. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/list_begin.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "cli/init/words.h"
#include "common/mem.h"
#include "pipeline/text.h"

struct folder_above {
    struct fby_search *search; /* of the pictures */
    struct fby_search  above;  /* of the folder above */
    const char        *name;   /* of the folder of pictures there */
};

/* Open the folder above. Returns false if there is none. */
static bool open_above(struct folder_above *self)
{
    const char *dir   = fby_root_dir(self->search->root);
    const char *slash = strrchr(dir, '/');
    char        option[FBY_PATH_SIZE + 8];
    if (slash == NULL || slash == dir) {
        return false;
    }
    self->name = slash + 1;
    snprintf(option, sizeof(option), "above=%.*s", (int)(slash - dir), dir);
    self->above       = (struct fby_search){.class_depth = FBY_GUESS_ANY_DEPTH,
              .main_split                                = "train",
              .ignores_links                             = true,
              .lock                                      = PTHREAD_MUTEX_INITIALIZER,
              .out = fby_zalloc(sizeof(*self->above.out))};
    self->above.roots = fby_roots_create();
    fby_roots_follow_outside(
        self->above.roots, fby_guess_note_link, &self->above);
    return fby_roots_add(self->above.roots, option, NULL) == FBY_OK &&
           fby_roots_find(
               self->above.roots, "above", &self->above.root, NULL) == FBY_OK;
}

static void close_above(struct folder_above *self)
{
    fby_roots_destroy(&self->above.roots);
    free(self->above.out); /* NULL if it was not opened */
}

static void note(
    const struct folder_above *self, const char *file, const char *what)
{
    char operand[FBY_WORD_SIZE];
    fby_guess_write_word(&self->above, "", operand);
    fby_guess_note(self->search,
        "note: %s in the folder above %s: forebay init %s",
        fby_text_show(file).text, what, operand);
}

/* ---- splits ---- */

/* The folders in the listing that may have texts of splits. */
static uint32_t find_dirs(
    const struct fby_listing *listing, const char **out, uint32_t max)
{
    static const char *const names[] = {"meta", "splits", "split", "lists",
        "annotations", "Anno", "Eval", NULL};
    uint32_t                 n       = 0;
    for (uint32_t i = 0; i < listing->count && n < max; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (entry->is_dir && fby_text_is_one_of(entry->name, names)) {
            out[n++] = entry->name;
        }
    }
    return n;
}

/* Add a note if texts say which pictures are train and which are test. Returns false
 * if there are none. */
static bool note_splits(
    struct folder_above *self, const struct fby_listing *listing)
{
    enum { MAX_DIRS = 4 };
    const char             *dirs[MAX_DIRS];
    struct fby_error_detail why   = {{0}};
    uint32_t                n     = find_dirs(listing, dirs, MAX_DIRS);
    bool                    found = fby_refuse_split_texts(
                                        &self->above, "", self->name, dirs, n, &why) == FBY_CONFIG;
    if (found) { /* the error begins with the name of the text */
        bool has_captions = strstr(why.text, " has captions ") != NULL;
        why.text[strcspn(why.text, " ")] = '\0';
        note(self, why.text,
            has_captions
                ? "has captions of the pictures; to read them"
                : "says which pictures are train and which are test; for these "
                  "splits");
    }
    return found;
}

/* ---- lists ---- */

struct list_above {
    const struct folder_above *self;
    bool                       has_pictures; /* of the folder below */
};

static fby_err look_at_row(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    struct list_above *list = arg;
    const char        *name = list->self->name;
    size_t             n    = strlen(name);
    (void)why;
    for (uint32_t i = 0; i < row->n_cells && !list->has_pictures; i++) {
        const char *text     = row->cells[i].text;
        bool        is_below = strncmp(text, name, n) == 0 && text[n] == '/';
        const char *file     = text + (is_below ? n + 1 : 0);
        list->has_pictures =
            strchr(file, '.') != NULL && strlen(file) < FBY_PATH_SIZE &&
            fby_guess_has_file(list->self->search->root, "", file);
    }
    return FBY_GONE; /* only the first row is wanted */
}

/* Has the list one of the pictures in its first row? */
static bool has_pictures(const struct folder_above *self, const char *name)
{
    struct list_above          list = {.self = self};
    const struct fby_list_sink sink = {look_at_row, &list};
    struct fby_list_begin      begin;
    if (fby_list_begin_read(&self->above, name, &begin)) {
        fby_list_begin_visit(&begin, &sink);
    }
    fby_list_begin_fini(&begin);
    return list.has_pictures;
}

static void note_list(
    const struct folder_above *self, const struct fby_listing *listing)
{
    enum { MAX_LISTS = 8 };
    uint32_t n = 0;
    for (uint32_t i = 0; i < listing->count && n < MAX_LISTS; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (fby_list_is_read(listing, entry)) {
            n++;
            if (has_pictures(self, entry->name)) {
                note(self, entry->name,
                    "has columns for the pictures; to have these, too");
                return;
            }
        }
    }
}

void fby_guess_note_above(struct fby_search *search)
{
    const struct fby_guess_split *split   = &search->out->splits[0];
    struct folder_above           self    = {.search = search};
    struct fby_listing            listing = {0};
    if (search->out->n_splits != 1 || split->kind != FBY_SOURCE_FOLDER ||
        search->only_file[0] != '\0' || search->in_zip) {
        return;
    }
    if (open_above(&self) &&
        fby_guess_list_dir(&self.above, "", NULL, &listing, NULL) == FBY_OK &&
        !note_splits(&self, &listing) && split->class_depth == 0) {
        note_list(&self, &listing);
    }
    fby_listing_fini(&listing);
    close_above(&self);
}

/* ---- a text of splits by itself ---- */

/* The text of splits in the listing, which has nothing else; NULL: there is none. */
static const char *find_partition(const struct fby_listing *listing)
{
    const char *found = NULL;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (entry->is_dir || !fby_text_ends_with(entry->name, ".txt")) {
            return NULL;
        }
        found = strstr(entry->name, "partition") != NULL ? entry->name : found;
    }
    return found;
}

/* Does init say in the folder of `where` that a text has splits? */
static bool knows_splits(struct fby_search *where)
{
    struct fby_listing      listing = {0};
    struct fby_error_detail said    = {{0}};
    bool                    found =
        fby_guess_list_dir(where, "", NULL, &listing, NULL) == FBY_OK &&
        fby_refuse_roles(where, "", &listing, &said) == FBY_CONFIG &&
        strstr(said.text, "partition.txt says which pictures in ") != NULL;
    where->out->command[0] = '\0';
    fby_listing_fini(&listing);
    return found;
}

fby_err fby_refuse_split_text_alone(struct fby_search *search,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const char         *name  = find_partition(listing);
    struct folder_above self  = {.search = search};
    struct fby_search  *where = NULL;
    fby_err             err   = FBY_OK;
    char                operand[FBY_OPERAND_SIZE];
    if (name == NULL) {
        return FBY_OK;
    }
    if (search->only_file[0] != '\0' && knows_splits(search)) {
        where = search;
    } else if (open_above(&self) && knows_splits(&self.above)) {
        where = &self.above;
    }
    if (where != NULL) {
        fby_guess_write_operand(where, "", operand);
        err = fby_error_set(why, FBY_CONFIG,
            "%s says which pictures are of which split: give init the folder "
            "that has both: forebay init %s",
            fby_text_show_begin(name, 60).text, operand);
    }
    close_above(&self);
    return err;
}

/* ---- train beside a split ---- */

static bool has_named_classes(const struct fby_guess_split *split)
{
    bool found = split->classes > 0;
    for (uint32_t i = 0; i < split->n_members && !found; i++) {
        found = fby_init_are_classes(&split->members[i]);
    }
    return found;
}

/* Is there a file of train that ends as `file` does? */
static bool has_train(const struct fby_listing *listing, const char *file)
{
    const char *dot   = strrchr(file, '.');
    bool        found = false;
    for (uint32_t i = 0; i < listing->count && dot != NULL && !found; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        const char             *word  = fby_split_word(entry->name);
        found = !entry->is_dir && fby_text_ends_with(entry->name, dot) &&
                word != NULL && strcmp(word, "train") == 0;
    }
    return found;
}

/* Write the folder that has train and the searched file or folder. Returns false if
 * there is none. */
static bool find_folder_of_both(
    struct folder_above *self, char out[FBY_WORD_SIZE])
{
    const char        *file    = self->search->only_file;
    struct fby_listing listing = {0};
    struct fby_search *where   = file[0] != '\0' ? self->search : &self->above;
    bool               found   = open_above(self) || file[0] != '\0';
    found =
        found &&
        fby_guess_list_dir(where, "", NULL, &listing, NULL) == FBY_OK &&
        (file[0] != '\0' ? has_train(&listing, file)
                         : fby_find_split_folder(&listing, "train") != NULL);
    if (found) {
        fby_guess_write_word(where, "", out);
    }
    fby_listing_fini(&listing);
    close_above(self);
    return found;
}

void fby_guess_note_numbering(struct fby_search *search)
{
    const struct fby_guess_split *split = &search->out->splits[0];
    struct folder_above           self  = {.search = search};
    char                          operand[FBY_WORD_SIZE];
    if (!has_named_classes(split)) {
        return;
    }
    bool has_train = !search->in_zip && find_folder_of_both(&self, operand);
    fby_guess_note(search,
        "note: classes are numbered by their names in %s alone, and train may "
        "have others: %s%s",
        split->name,
        has_train ? "to number those of both alike: forebay init "
                  : "write the names of its classes into the file (names: "
                    "[...])",
        has_train ? operand : "");
}
