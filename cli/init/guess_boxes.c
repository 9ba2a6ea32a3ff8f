/* SPDX-License-Identifier: Apache-2.0 */
/* guess_boxes.c - recognise folders of boxes as text, as YOLO has them,
 * XML, as Pascal VOC does, or JSON, as LabelMe.
 *
 * labels/7.txt has a line of five numbers for each object of images/7.jpg: its
 * class, and the centre and size of its box. Its polygons, keypoints and turned
 * boxes have more numbers. In KITTI's label_2/7.txt a line has the class in words,
 * and further numbers. A file of one word has the class of its picture. LabelMe's JSON
 * has shapes, of which rectangles are boxes. Pictures without objects may have no file,
 * so such a folder cannot be one of parallel folders. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum {
    MAX_FILES  = 64,   /* that are read: files may be empty */
    MAX_LEVELS = 3,    /* of folders: labels/train */
    N_NUMBERS  = 5,    /* in a line */
    N_CORNERS  = 8,    /* of DOTA: x and y of four corners, before the class */
    N_KITTI    = 14,   /* after the class; results have a score, too */
    XML_BYTES  = 4096, /* of a file that are read */
    JSON_BYTES = 16384 /* the same: polygons have many points */
};

struct boxes { /* a search for the first file that tells the kind */
    struct fby_search  *search;
    const char         *path;      /* of the folder */
    bool                is_beside; /* the pictures */
    uint32_t            n_files;
    bool                is_known; /* such a file was found */
    bool                has_pictures;
    enum fby_boxes_kind kind;
};

struct line {           /* the first line of a text */
    unsigned n;         /* its numbers before any other word */
    bool     has_words; /* it has other words */
    bool is_relative; /* the numbers may be relative to the size of a picture */
};

static struct line read_line(const char *text)
{
    struct line line = {.is_relative = true};
    char       *end  = NULL;
    for (const char *at = text; *at != '\n' && *at != '\0'; at = end) {
        double value = strtod(at, &end);
        if (end == at) {
            line.has_words = true;
            break;
        }
        line.n++;
        line.is_relative = line.is_relative && value >= -1 && value <= 2;
        end += strspn(end, " \t\r");
    }
    return line;
}

/* Is the text one word: a whole number, or a name with a letter in front? */
static bool is_class(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    size_t n =
        isalpha((unsigned char)text[0]) ? strcspn(text, " \t\r\n") : digits;
    return n > 0 && n < FBY_NAME_SIZE &&
           text[n + strspn(text + n, " \t\r\n")] == '\0';
}

static enum fby_boxes_kind kind_of_text(const char *text)
{
    size_t      word    = strcspn(text, " \t\n");
    bool        has_two = text[word] == ' ' || text[word] == '\t';
    bool        is_name = isalpha((unsigned char)text[0]);
    bool        is_id   = strspn(text, "0123456789") == word;
    struct line line    = read_line(text);
    struct line rest =
        has_two ? read_line(text + word + 1) : (struct line){.n = 0};
    bool is_dota = strncmp(text, "imagesource:", strlen("imagesource:")) == 0 ||
                   (line.n == N_CORNERS && line.has_words);
    return is_dota               ? FBY_BOXES_OTHER
           : is_class(text)      ? FBY_BOXES_CLASS
           : rest.has_words      ? FBY_BOXES_NONE
           : line.n == N_NUMBERS ? FBY_BOXES_TEXT
           : is_name && (rest.n == N_KITTI || rest.n == N_KITTI + 1) &&
                   !rest.is_relative
               ? FBY_BOXES_KITTI
           : (is_id || is_name) && rest.n >= N_NUMBERS - 1 && rest.is_relative
               ? (rest.n == N_NUMBERS - 1 ? FBY_BOXES_TEXT : FBY_BOXES_OTHER)
               : FBY_BOXES_NONE;
}

/* Cut the last word of a text that was not read to its end. */
static void cut_word(char *text, size_t size)
{
    size_t n = strlen(text);
    while (n + 1 >= size && n > 0 && !isspace((unsigned char)text[n - 1])) {
        text[--n] = '\0';
        size--;
    }
}

/* Read the begin of a file. Returns false if it cannot be read, or is empty. */
static bool read_begin(
    struct boxes *self, const char *name, char *out, size_t size)
{
    bool is_read =
        fby_guess_read_begin(self->search->root, self->path, name, out, size);
    self->n_files += is_read ? 1 : 0;
    return is_read && out[0] != '\0';
}

/* One file of a word tells nothing of those of others, which may be texts. */
static void read_text(struct boxes *self, const char *name)
{
    char text[512];
    char ending[FBY_NAME_SIZE];
    if (self->is_beside &&
        !fby_guess_find_picture(self->search->root, self->path, name,
            strlen(name) - strlen(".txt"), ending)) {
        self->n_files++;
        return;
    }
    if (read_begin(self, name, text, sizeof(text))) {
        cut_word(text, sizeof(text));
        self->kind     = kind_of_text(text);
        self->is_known = self->kind != FBY_BOXES_CLASS;
    }
}

/* The XML of a picture without objects tells nothing of those of others. */
static void read_xml(struct boxes *self, const char *name)
{
    char text[XML_BYTES];
    self->kind = FBY_BOXES_XML;
    if (read_begin(self, name, text, sizeof(text)) &&
        strstr(text, "<annotation") != NULL &&
        strstr(text, "<object") != NULL) {
        self->is_known = true;
        self->kind     = FBY_BOXES_VOC;
    }
}

/* LabelMe's JSON without rectangles tells nothing of that of others. */
static void read_json(struct boxes *self, const char *name)
{
    char text[JSON_BYTES];
    if (read_begin(self, name, text, sizeof(text)) &&
        strstr(text, "\"shapes\"") != NULL &&
        strstr(text, "\"points\"") != NULL) {
        self->is_known = strstr(text, "\"rectangle\"") != NULL;
        self->kind = self->is_known ? FBY_BOXES_LABELME : FBY_BOXES_POLYGONS;
    }
}

static fby_err visit_file(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct boxes *self = arg;
    const char   *name = entry->name;
    (void)why;
    if (!entry->is_dir && fby_init_is_any_picture(name)) {
        self->has_pictures = true;
    } else if (entry->is_dir || self->is_known || self->n_files == MAX_FILES) {
        return FBY_OK;
    } else if (fby_text_ends_with(name, ".xml")) {
        read_xml(self, name);
    } else if (fby_text_ends_with(name, ".json")) {
        read_json(self, name);
    } else if (fby_text_ends_with(name, ".txt") &&
               strcmp(name, "classes.txt") != 0) {
        read_text(self, name);
    }
    return FBY_OK;
}

static void look_at(struct boxes *self, const char *path, unsigned levels)
{
    struct fby_search *search  = self->search;
    struct fby_listing listing = {0};
    char               below[FBY_PATH_SIZE];
    self->path = path;
    fby_err err =
        fby_guess_visit_dir(search, path, NULL, visit_file, self, NULL, NULL);
    if (err == FBY_OK && !self->is_known && levels > 1) {
        err = fby_guess_list_dir(search, path, NULL, &listing, NULL);
    }
    for (uint32_t i = 0; err == FBY_OK && i < listing.count && !self->is_known;
         i++) {
        if (listing.entries[i].is_dir &&
            fby_path_join(path, listing.entries[i].name, below, NULL) ==
                FBY_OK) {
            look_at(self, below, levels - 1);
        }
    }
    fby_listing_fini(&listing);
}

enum fby_boxes_kind fby_guess_find_boxes(
    struct fby_search *search, const char *path, bool is_beside)
{
    struct boxes self = {.search = search, .is_beside = is_beside};
    look_at(&self, path, MAX_LEVELS);
    bool is_text = self.kind == FBY_BOXES_TEXT ||
                   self.kind == FBY_BOXES_OTHER || self.kind == FBY_BOXES_KITTI;
    /* Pictures are masks, with XML or without. */
    return self.has_pictures && !is_text && !is_beside ? FBY_BOXES_NONE
                                                       : self.kind;
}
