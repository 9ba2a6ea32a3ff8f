/* SPDX-License-Identifier: Apache-2.0 */
/* guess_list_folders.c - a note of a list whose pictures are in class folders beside
 * it: the list is read, so these are no labels. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/split_names.h"
#include "cli/init/words.h"
#include "pipeline/text.h"

/* Copy the folder of a path that has one folder, which may be a class. */
static bool copy_folder(const char *path, size_t size, char out[FBY_NAME_SIZE])
{
    const char *slash = memchr(path, '/', size);
    size_t      n     = slash != NULL ? (size_t)(slash - path) : 0;
    if (n == 0 || n >= FBY_NAME_SIZE || path[0] == '.' ||
        memchr(slash + 1, '/', size - n - 1) != NULL) {
        return false;
    }
    memcpy(out, path, n);
    out[n] = '\0';
    return !fby_is_split_name(out) && !fby_init_is_picture_name(out);
}

/* Has a column of the list the word? */
static bool has_word(const struct fby_guess_split *split, const char *word)
{
    bool found = false;
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_words *words = split->members[i].words;
        for (uint32_t k = 0; words != NULL && k < words->range.n; k++) {
            found = found || strcmp(fby_init_sorted_word(words, k), word) == 0;
        }
    }
    return found;
}

/* Has the list a column called label or the like? */
static bool has_labels(const struct fby_guess_split *split)
{
    bool found = false;
    for (uint32_t i = 0; i < split->n_members; i++) {
        found = found || fby_init_is_class_name(split->members[i].extension);
    }
    return found;
}

void fby_guess_note_list_folders(struct fby_search *search,
    const struct fby_guess_split *split, const struct fby_shard *shard,
    bool is_split)
{
    char     first[FBY_NAME_SIZE] = "";
    char     other[FBY_NAME_SIZE] = "";
    char     dir[FBY_WORD_SIZE];
    uint32_t n = 0;
    for (uint32_t m = 0; m < shard->n_members; m++) {
        char        folder[FBY_NAME_SIZE];
        const char *path =
            (const char *)shard->texts.data + shard->text_offset[m];
        if (fby_shard_is_value(shard, m)) {
            continue;
        }
        if (!copy_folder(path, shard->text_size[m], folder)) {
            return;
        }
        if (first[0] == '\0') {
            snprintf(first, sizeof(first), "%s", folder);
        } else if (other[0] == '\0' && strcmp(folder, first) != 0) {
            snprintf(other, sizeof(other), "%s", folder);
        }
        n++;
    }
    if (other[0] == '\0' || n <= 2 || has_word(split, first) ||
        fby_differ_in_split(first, other)) {
        return;
    }
    if (!is_split) {
        fby_guess_write_word(search, "", dir);
        fby_guess_note(search,
            "note: the list is read, and not the folders of its pictures (%s, "
            "%s); if these are classes, to have them as labels instead: "
            "forebay "
            "init %s --class-depth 1",
            fby_text_show_begin(first, 40).text,
            fby_text_show_begin(other, 40).text, dir);
    } else if (!has_labels(split)) { /* the folders may have other splits */
        fby_guess_note(search,
            "note: the list is read, and not the folders of its pictures (%s, "
            "%s); if these are classes, add a column with them",
            fby_text_show_begin(first, 40).text,
            fby_text_show_begin(other, 40).text);
    }
}
