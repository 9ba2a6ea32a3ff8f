/* SPDX-License-Identifier: Apache-2.0 */
/* class_folder_names.c - what the names of class folders tell. */
#include "cli/init/class_folders.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/guess_values.h"
#include "cli/init/names.h"
#include "common/mem.h"
#include "pipeline/text.h"

static int compare_numbers(const void *a, const void *b)
{
    const struct fby_folder *x = a;
    const struct fby_folder *y = b;
    int order                  = (int)strlen(x->name) - (int)strlen(y->name);
    return order != 0 ? order : strcmp(x->name, y->name);
}

static bool are_numbers(const struct fby_class_folders *folders)
{
    uint32_t i = 0;
    while (i < folders->n && fby_guess_is_digits(folders->classes[i].name,
                                 strlen(folders->classes[i].name))) {
        i++;
    }
    return i == folders->n;
}

/* Write the names: "[0, 1, 10]". */
static void list_folders(
    const struct fby_folder *folders, uint32_t n, char *out, size_t size)
{
    size_t used = 0;
    for (uint32_t i = 0; i < n && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s",
            i > 0 ? ", " : "[", folders[i].name);
    }
    if (used + 2 > size) { /* 2: "]", NUL */
        snprintf(out, size, "[...], in the order that you need");
    } else {
        memcpy(out + used, "]", 2);
    }
}

/* Add a note if class folders whose names are numbers are in another order. */
static void note_numbers(const struct fby_class_folders *folders)
{
    char               list[1024];
    uint32_t           i      = 0;
    size_t             size   = folders->n * sizeof(struct fby_folder);
    struct fby_folder *sorted = fby_realloc(NULL, size + 1); /* + 1: not 0 */
    memcpy(sorted, folders->classes, size);
    qsort(sorted, folders->n, sizeof(*sorted), compare_numbers);
    while (i < folders->n && sorted[i].name == folders->classes[i].name) {
        i++;
    }
    if (i < folders->n && are_numbers(folders)) {
        list_folders(sorted, folders->n, list, sizeof(list));
        fby_guess_note(folders->search,
            "note: the class folders are numbered in byte order of their "
            "names: %s is class %" PRIu32
            "; for the order of their numbers add to label: names: %s",
            folders->classes[i].name, i, list);
    }
    free(sorted);
}

/* Is the folder called after a part of a recording, or a patient, with a number:
 * "video_000"? */
static bool is_sequence(const char *name)
{
    static const char *const words[] = {"video", "vid", "clip", "seq",
        "sequence", "scene", "shot", "take", "episode", "traj", "trajectory",
        "patient", "case", NULL};
    char                     word[16];
    size_t                   n     = strcspn(name, "0123456789");
    const char              *digit = name + n;
    while (n > 0 && strchr("_- ", name[n - 1]) != NULL) {
        n--;
    }
    for (size_t i = 0; i < n && i < sizeof(word) - 1; i++) {
        word[i] = (char)tolower((unsigned char)name[i]);
    }
    word[n < sizeof(word) ? n : 0] = '\0';
    return fby_guess_is_digits(digit, strlen(digit)) &&
           fby_text_is_one_of(word, words);
}

/* Add a note if the class folders are called so, which are probably no classes. */
static void note_sequences(const struct fby_class_folders *folders)
{
    uint32_t i = 0;
    while (i < folders->n && is_sequence(folders->classes[i].name)) {
        i++;
    }
    if (i == folders->n && i > 1 &&
        folders->search->class_depth == FBY_GUESS_ANY_DEPTH) {
        fby_guess_note(folders->search,
            "note: %s and the folders beside it are taken as classes; if they "
            "are none, add --class-depth 0",
            fby_text_show(folders->classes[0].name).text);
    }
}

bool fby_guess_have_sides(const struct fby_class_folders *folders)
{
    struct fby_init_sides sides = {.has_left = false};
    for (uint32_t i = 0; i < folders->n; i++) {
        fby_init_add_side(&sides, folders->classes[i].name);
    }
    return sides.has_left && sides.has_right;
}

void fby_guess_note_folder_names(const struct fby_class_folders *folders)
{
    note_numbers(folders);
    note_sequences(folders);
}
