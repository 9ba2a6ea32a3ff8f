/* SPDX-License-Identifier: Apache-2.0 */
/* guess_lone_class.c - a split whose only folder is no class of train, as
 * val/images of Tiny ImageNet, or that has no class folders, as test/ beside
 * test.csv: say where its classes are. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "cli/init/list_begin.h"
#include "cli/init/programs.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { HEAD_BYTES = 512 /* of a list */ };

struct lone_folder {
    struct fby_search *search;
    const char        *path;   /* of the split, below the root */
    const char        *folder; /* its only folder */
};

/* Read the first two words of a list, which may be cut. */
static bool read_words(const struct lone_folder *lone, const char *list,
    char file[FBY_NAME_SIZE], char class[FBY_NAME_SIZE])
{
    char head[HEAD_BYTES + 1];
    return fby_guess_read_begin(
               lone->search->root, lone->path, list, head, sizeof(head)) &&
           sscanf(head, "%63s %63s", file, class) == 2;
}

static bool is_class(const struct fby_search *search, const char *name)
{
    uint32_t i = 0;
    while (i < search->n_train && strcmp(search->train[i].name, name) != 0) {
        i++;
    }
    return i < search->n_train;
}

/* Is the list one of the folder's files and of classes of train? */
static bool has_classes(const struct lone_folder *lone, const char *list)
{
    char file[FBY_NAME_SIZE];
    char class[FBY_NAME_SIZE];
    char dir[FBY_PATH_SIZE];
    return read_words(lone, list, file, class) &&
           is_class(lone->search, class) &&
           fby_path_join(lone->path, lone->folder, dir, NULL) == FBY_OK &&
           fby_guess_has_file(lone->search->root, dir, file);
}

void fby_guess_explain_lone_folder(struct fby_search *search, const char *path,
    const char *folder, char *out, size_t size)
{
    const struct lone_folder lone    = {search, path, folder};
    struct fby_listing       listing = {0};
    char                     operand[FBY_OPERAND_SIZE];
    char                     links[FBY_REASON_SIZE];
    char                     then[FBY_WORD_SIZE];
    fby_err     err = fby_guess_list_dir(search, path, NULL, &listing, NULL);
    const char *list =
        err == FBY_OK ? fby_guess_find_file(&listing, ".txt") : NULL;
    fby_guess_write_operand(search, path, operand);
    if (list != NULL && has_classes(&lone, list) && fby_shell_is_plain(list) &&
        fby_shell_is_plain(folder) &&
        fby_guess_begin_renames(search, path, links, sizeof(links), then)) {
        snprintf(out, size,
            "%s has its classes; move the pictures into class folders: %s"
            "tr -d '\\r' < %s | while read -r f c x; do case $f$c/$c in "
            "*/*/*|*/|*/.|*/..) continue;; esac; mkdir -p \"./$c\" && mv -n "
            "%s/\"$f\" "
            "\"./$c\"; done; rmdir %s) && forebay init %s",
            list, links, list, folder, folder, then);
    } else {
        snprintf(out, size,
            "its only folder, %.60s, is no class of train; move the pictures "
            "into class folders, or read them alone: forebay init %s",
            fby_text_show(folder).text, operand);
    }
    fby_listing_fini(&listing);
}

/* ---- pictures without class folders ---- */

struct flat_folder {
    struct fby_search *search;
    const char        *path;                /* of the split, below the root */
    const char        *dir;                 /* that is looked at */
    char               list[FBY_PATH_SIZE]; /* "": none was found */
    char               name[FBY_NAME_SIZE]; /* the column of names */
    char class[FBY_NAME_SIZE];              /* that of classes; "": none */
    char ending[FBY_NAME_SIZE];             /* which the names lack */
};

/* Is the text the name of a picture of the split, perhaps without its ending? */
static bool is_picture(struct flat_folder *self, const char *text)
{
    const struct fby_root *root = self->search->root;
    bool                   is_whole =
        strchr(text, '.') != NULL && fby_guess_has_file(root, self->path, text);
    return is_whole ||
           (text[0] != '\0' && fby_guess_find_picture(root, self->path, text,
                                   strlen(text), self->ending));
}

/* Find the columns in the first row. */
static fby_err look_at_row(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    struct flat_folder *self = arg;
    (void)why;
    for (uint32_t i = 0; i < row->n_cells; i++) {
        const struct fby_list_cell *cell = &row->cells[i];
        char                        text[FBY_NAME_SIZE];
        if (cell->size >= sizeof(text) ||
            strlen(cell->column) >= FBY_NAME_SIZE) {
            continue;
        }
        snprintf(text, sizeof(text), "%.*s", (int)cell->size, cell->text);
        if (is_class(self->search, text)) {
            snprintf(self->class, FBY_NAME_SIZE, "%s", cell->column);
        } else if (self->name[0] == '\0' && is_picture(self, text)) {
            snprintf(self->name, FBY_NAME_SIZE, "%s", cell->column);
        }
    }
    return FBY_GONE;
}

/* Look at a .csv until one is found that has names of the pictures. */
static fby_err visit(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct flat_folder        *self  = arg;
    const struct fby_list_sink sink  = {look_at_row, self};
    struct fby_list_begin      begin = {.text = NULL};
    char                       list[FBY_PATH_SIZE];
    (void)why;
    if (self->list[0] == '\0' && !entry->is_dir &&
        fby_text_ends_with(entry->name, ".csv") &&
        fby_path_join(self->dir, entry->name, list, NULL) == FBY_OK) {
        self->name[0] = self->class[0] = self->ending[0] = '\0';
        if (fby_list_begin_read(self->search, list, &begin)) {
            fby_list_begin_visit(&begin, &sink);
        }
        fby_list_begin_fini(&begin);
        snprintf(self->list, sizeof(self->list), "%s",
            self->name[0] != '\0' ? list : "");
    }
    return FBY_OK;
}

/* Can a program in double quotes have the name of a column in single ones? */
static bool is_quotable(const char *column)
{
    return strpbrk(column, "'\"\\$`!") == NULL;
}

void fby_guess_explain_flat_folder(
    struct fby_search *search, const char *path, char *out, size_t size)
{
    struct flat_folder self  = {.search = search, .path = path};
    const char        *slash = strrchr(path, '/');
    char               above[FBY_PATH_SIZE];
    char               links[FBY_REASON_SIZE];
    char               then[FBY_WORD_SIZE];
    snprintf(above, sizeof(above), "%.*s",
        slash != NULL ? (int)(slash - path) : 0, path);
    self.dir = above;
    if (search->in_zip ||
        fby_guess_visit_dir(search, above, NULL, visit, &self, NULL, NULL) !=
            FBY_OK ||
        self.list[0] == '\0') {
        return;
    }
    const char *list = fby_text_show(self.list).text;
    int         n    = snprintf(out, size,
                   "%.80s names its pictures: move these into class folders as "
                              "those of train",
                   list);
    if (self.class[0] != '\0' && fby_shell_is_plain(self.list) &&
        fby_shell_is_plain(path) && is_quotable(self.name) &&
        is_quotable(self.class) && n > 0 &&
        fby_guess_begin_renames(search, "", links, sizeof(links), then)) {
        snprintf(out + n, size - (size_t)n,
            ": %s" FBY_PYTHON "import csv, os; d = '%s/'; [(os.makedirs(d + c, "
            "exist_ok=True), os.rename(d + f, d + c + '/' + f)) for h, *r in "
            "[[*csv.reader(open('%s', encoding='utf-8-sig'))]] for n in "
            "[[x.lower() for x in h]] for x in r if x for f, c in "
            "[(x[n.index('%s'.lower())] + '%s', x[n.index('%s'.lower())])] if "
            "os.path.isfile(d + f) and c.strip('.') and '/' not in c]\") "
            "&& forebay init %s",
            links, path, self.list, self.name, self.ending, self.class, then);
    }
}
