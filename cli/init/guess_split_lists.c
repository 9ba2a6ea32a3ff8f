/* SPDX-License-Identifier: Apache-2.0 */
/* guess_split_lists.c - the lists beside folders of splits, and beside .npy files:
 * which of the two is the data.
 *
 * Lists with the paths of existing files are, where the folders have no classes. */
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/refuse_lists.h"
#include "cli/init/words.h"
#include "common/mem.h"
#include "pipeline/text.h"

static void free_words(struct fby_guess_split *splits, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t m = 0; m < splits[i].n_members; m++) {
            fby_init_free_words(&splits[i].members[m]);
        }
    }
}

void fby_guess_free_splits(struct fby_guess *out, uint32_t first)
{
    free_words(&out->splits[first], out->n_splits - first);
}

fby_err fby_guess_lists_of_files(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    uint32_t first     = search->out->n_splits;
    bool     has_paths = false;
    FBY_TRY(fby_guess_lists(search, path, listing, why));
    for (uint32_t i = first; i < search->out->n_splits; i++) {
        has_paths = has_paths || search->out->splits[i].n_file_columns > 0;
    }
    if (!has_paths) {
        fby_guess_free_splits(search->out, first);
        search->out->n_splits = first;
    }
    return FBY_OK;
}

/* True if the folder of train, the split `first`, was refused or has no classes: it
 * is flat, or its folders hold only folders. */
static bool is_without_classes(const struct fby_search *search, uint32_t first)
{
    const struct fby_guess_split *split      = &search->out->splits[first];
    bool                          is_refused = first == search->out->n_splits;
    return search->class_depth == FBY_GUESS_ANY_DEPTH &&
           (is_refused || (split->kind == FBY_SOURCE_FOLDER &&
                              (split->class_depth == 0 ||
                                  (split->only_folders && !search->in_zip))));
}

/* Replace the splits from `first` on by those of the lists in `path`, if these
 * have the paths of existing files. */
static fby_err replace_by_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing, uint32_t first, bool *is_replaced,
    struct fby_error_detail *why)
{
    struct fby_guess       *out  = search->out;
    uint32_t                n    = out->n_splits - first;
    enum fby_source_kind    kind = out->kind;
    struct fby_guess_split *saved =
        fby_memdup(&out->splits[first], n * sizeof(out->splits[0]));
    out->n_splits = first;
    fby_err err   = fby_guess_lists_of_files(search, path, listing, why);
    *is_replaced  = err == FBY_OK && out->n_splits > first;
    if (err != FBY_OK) {
        fby_guess_free_splits(out, first);
        out->n_splits = first;
    }
    if (*is_replaced || err != FBY_OK) {
        free_words(saved, n);
    } else {
        memcpy(&out->splits[first], saved, n * sizeof(out->splits[0]));
        out->n_splits = first + n;
        out->kind     = kind;
    }
    free(saved);
    for (uint32_t i = first; *is_replaced && i < out->n_splits; i++) {
        out->splits[i].kind = FBY_SOURCE_LIST;
    }
    return err;
}

/* Use the lists beside the folder of train, or say what is wrong with them. */
static fby_err use_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing, uint32_t first, bool *is_replaced,
    struct fby_error_detail *why)
{
    FBY_TRY(fby_refuse_lists_of_folders(search, path, listing, why));
    return search->in_zip ? FBY_OK
                          : replace_by_lists(
                                search, path, listing, first, is_replaced, why);
}

/* Add a note on a list in another format, if the split `first` is a folder
 * without classes. */
static void note_other_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing, uint32_t first)
{
    struct fby_guess       *out   = search->out;
    struct fby_error_detail cause = {{0}};
    if (first < out->n_splits && out->splits[first].class_depth == 0 &&
        !search->in_zip &&
        fby_refuse_other_lists(search, path, listing, &cause) != FBY_OK) {
        fby_guess_note(search, "note: %s %s", cause.text, out->command);
        out->command[0] = '\0';
    }
}

struct fby_guess_mark fby_guess_mark_of(const struct fby_guess *guess)
{
    return (struct fby_guess_mark){guess->n_splits, strlen(guess->notes)};
}

fby_err fby_guess_lists_of_train(struct fby_search *search, const char *path,
    const struct fby_listing *listing, const struct fby_guess_mark *before,
    bool *is_replaced, struct fby_error_detail *why)
{
    struct fby_guess *out = search->out;
    char              command[FBY_GUESS_COMMAND]; /* of the folder's error */
    if (!is_without_classes(search, before->n_splits)) {
        return FBY_OK;
    }
    memcpy(command, out->command, sizeof(command));
    out->command[0]   = '\0';
    char   *of_folder = out->notes + before->notes_size;
    size_t  n         = strlen(of_folder);
    fby_err err =
        use_lists(search, path, listing, before->n_splits, is_replaced, why);
    if (*is_replaced) { /* remove the notes of the folder */
        memmove(of_folder, of_folder + n, strlen(of_folder + n) + 1);
        fby_guess_note(search,
            "note: the lists are read, which have the paths of the pictures");
    } else if (err == FBY_OK) {
        note_other_lists(search, path, listing, before->n_splits);
        memcpy(out->command, command, sizeof(command));
    }
    return err;
}

enum { MAX_OTHERS = 3 /* lists without paths that are named */ };

void fby_guess_note_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing)
{
    /* fby_guess_note_files_beside() names those beside other pictures. */
    const struct fby_guess_split *first    = &search->out->splits[0];
    bool                          has_note = search->out->n_splits > 0 &&
                    first->kind == FBY_SOURCE_FOLDER && first->class_depth == 0;
    uint32_t n_others = has_note ? MAX_OTHERS : 0;
    for (uint32_t i = 0; !search->in_zip && i < listing->count; i++) {
        const char *name = listing->entries[i].name;
        char        list[FBY_PATH_SIZE];
        char        operand[FBY_WORD_SIZE];
        bool        names_files = false;
        if (!fby_list_is_read(listing, &listing->entries[i]) ||
            strstr(search->out->notes, name) != NULL ||
            fby_path_join(path, name, list, NULL) != FBY_OK) {
            continue;
        }
        fby_err err = fby_refuse_header(search, list, &names_files, NULL);
        search->out->command[0] = '\0'; /* that of the header's error */
        bool is_of_files        = names_files && err == FBY_OK;
        if (is_of_files || n_others++ < MAX_OTHERS) {
            fby_guess_write_word(search, list, operand);
            fby_guess_note(search,
                "left out: the list %s: the %sfolders are read; to stream "
                "the list instead: forebay init %s",
                fby_text_show(name).text, is_of_files ? "class " : "", operand);
        }
    }
}
