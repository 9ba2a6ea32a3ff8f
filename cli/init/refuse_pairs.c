/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_pairs.c - pictures in a folder and their masks in one called after it,
 * as train and train_masks of Carvana.
 *
 * Such folders are neither splits nor classes, and a pipeline of the pictures
 * alone lacks the masks. The command writes lists of the pairs. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

enum {
    MAX_FOLDERS = 32,
    MAX_PAIRS   = 4,
    MAX_END     = 32 /* bytes of the end of a name, with NUL */
};

struct folder_pair {
    const char *pictures; /* the name of the folder; borrowed */
    const char *masks;
    char        mask[FBY_NAME_SIZE]; /* the first file in `masks` */
    size_t      stem; /* the bytes of its name that are the picture's, too */
    char        picture[FBY_NAME_SIZE]; /* the picture of that mask */
};

/* The bytes of `name` before the last word, which is one for pictures: "train" of
 * train_images; all bytes without such a word. */
static size_t length_of_stem(const char *name)
{
    size_t n = strlen(name);
    while (n > 0 && strchr("_- ", name[n - 1]) == NULL) {
        n--;
    }
    bool is_word =
        strcasecmp(name + n, "data") == 0 || fby_init_is_picture_name(name + n);
    return n > 1 && is_word ? n - 1 : strlen(name);
}

/* Is the word usual for the masks of a folder, as in train_masks? */
static bool is_masks_word(const char *word)
{
    static const char *const words[] = {
        "mask", "label", "annot", "seg", "gt", "ground", "truth", "target"};
    bool found = false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        found = found || strncasecmp(word, words[i], strlen(words[i])) == 0;
    }
    return found;
}

/* Is `masks` called after the folder `pictures`, as train_masks or trainannot? */
static bool is_called_after(const char *masks, const char *pictures)
{
    size_t n = length_of_stem(pictures);
    if (strncmp(masks, pictures, n) != 0 || masks[n] == '\0') {
        return false;
    }
    return is_masks_word(masks + n + (strchr("_- ", masks[n]) != NULL ? 1 : 0));
}

/* Find the picture of the mask: its name, or the begin of it up to _ or -. */
static bool find_picture(
    const struct fby_search *search, const char *dir, struct folder_pair *pair)
{
    char ending[FBY_NAME_SIZE];
    pair->stem = strcspn(pair->mask, ".");
    while (pair->stem > 0 && !fby_guess_find_picture(search->root, dir,
                                 pair->mask, pair->stem, ending)) {
        do {
            pair->stem--;
        } while (
            pair->stem > 0 && strchr("_-", pair->mask[pair->stem]) == NULL);
    }
    snprintf(pair->picture, sizeof(pair->picture), "%.*s%.10s", (int)pair->stem,
        pair->mask, pair->stem > 0 ? ending : "");
    return pair->stem > 0;
}

/* Keep the first picture of the listing, which also has those that are not
 * decoded if `is_any`. */
static void keep_mask(
    const struct fby_listing *files, bool is_any, struct folder_pair *pair)
{
    for (uint32_t i = 0; i < files->count && pair->mask[0] == '\0'; i++) {
        const struct fby_entry *file    = &files->entries[i];
        bool                    is_mask = fby_init_is_any_picture(file->name) &&
                       (is_any || fby_unread_picture(file->name) == NULL);
        if (!file->is_dir && is_mask &&
            strlen(file->name) < sizeof(pair->mask)) {
            snprintf(pair->mask, sizeof(pair->mask), "%s", file->name);
        }
    }
}

/* Set the first mask of the pair, and its picture. Returns false if the names of
 * the files tell of no pair. */
static bool look_at_files(
    struct fby_search *search, const char *path, struct folder_pair *pair)
{
    struct fby_listing files = {0};
    char               masks[FBY_PATH_SIZE];
    char               pictures[FBY_PATH_SIZE];
    if (fby_path_join(path, pair->masks, masks, NULL) != FBY_OK ||
        fby_path_join(path, pair->pictures, pictures, NULL) != FBY_OK ||
        fby_guess_list_dir(search, masks, NULL, &files, NULL) != FBY_OK) {
        fby_listing_fini(&files);
        return false;
    }
    keep_mask(&files, false, pair);
    keep_mask(&files, true, pair);
    fby_listing_fini(&files);
    return pair->mask[0] != '\0' && find_picture(search, pictures, pair) &&
           strlen(pair->mask + pair->stem) < MAX_END;
}

/* Many folders are classes. */
static uint32_t find_pairs(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct folder_pair out[MAX_PAIRS])
{
    const char *first;
    uint32_t    n = 0;
    if (fby_guess_count_dirs(listing, &first) > MAX_FOLDERS) {
        return 0;
    }
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *masks = &listing->entries[i];
        for (uint32_t k = 0; k < listing->count && n < MAX_PAIRS; k++) {
            const struct fby_entry *pictures = &listing->entries[k];
            if (i == k || !masks->is_dir || !pictures->is_dir ||
                !is_called_after(masks->name, pictures->name)) {
                continue;
            }
            out[n] = (struct folder_pair){
                .pictures = pictures->name, .masks = masks->name};
            n += look_at_files(search, path, &out[n]) ? 1 : 0;
        }
    }
    return n;
}

enum { TUPLES_SIZE = 640, OTHERS_SIZE = 128 };

/* Write the pairs for a program of Python. Returns false if a name needs quotes, or
 * they do not fit. */
static bool write_tuples(
    const struct folder_pair *pairs, uint32_t n, char out[TUPLES_SIZE])
{
    size_t used = 0;
    for (uint32_t i = 0; i < n && used < TUPLES_SIZE; i++) {
        const struct folder_pair *pair = &pairs[i];
        const char               *end  = pair->mask + pair->stem;
        const char               *word = fby_split_word(pair->pictures);
        if (!fby_shell_is_plain(pair->pictures) ||
            !fby_shell_is_plain(pair->masks) ||
            (end[0] != '-' && !fby_shell_is_plain(end)) ||
            (end[0] == '-' && !fby_shell_is_plain(end + 1))) {
            return false;
        }
        used += (size_t)snprintf(out + used, TUPLES_SIZE - used,
            "%s('%s', '%s', '%s', '%s')", i > 0 ? ", " : "",
            word != NULL ? word : "train", pair->pictures, pair->masks, end);
    }
    return used < TUPLES_SIZE;
}

/* Write the folders of pictures that are in none of the pairs: ", without the
 * pictures in Test". "": there are none. */
static void write_others(struct fby_search *search, const char *path,
    const struct fby_listing *listing, const struct folder_pair *pairs,
    uint32_t n, char out[OTHERS_SIZE])
{
    char names[100] = "";
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry  = &listing->entries[i];
        struct fby_listing      within = {0};
        uint32_t                k      = 0;
        while (k < n && entry->name != pairs[k].pictures &&
               entry->name != pairs[k].masks) {
            k++;
        }
        if (k == n && entry->is_dir &&
            fby_refuse_list_below(search, path, entry->name, &within, NULL) ==
                FBY_OK &&
            fby_init_has_pictures(&within)) {
            fby_text_append_name(
                names, sizeof(names), fby_text_show(entry->name).text);
        }
        fby_listing_fini(&within);
    }
    snprintf(out, OTHERS_SIZE, "%s%s",
        names[0] != '\0' ? ", without the pictures in " : "", names);
}

/* Two folders such as rgb and rgb_depth are read as parallel folders, if the files
 * have the same names. */
static bool are_parallel(const struct folder_pair *pairs, uint32_t n)
{
    return n == 1 && fby_init_is_picture_name(pairs[0].pictures) &&
           !fby_init_is_picture_name(pairs[0].masks);
}

fby_err fby_refuse_pairs(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    struct folder_pair pairs[MAX_PAIRS];
    char               tuples[TUPLES_SIZE];
    char               below[FBY_PATH_SIZE];
    char               operand[FBY_OPERAND_SIZE];
    char               others[OTHERS_SIZE];
    uint32_t           n = find_pairs(search, path, listing, pairs);
    if (n == 0 || are_parallel(pairs, n) || !write_tuples(pairs, n, tuples)) {
        return FBY_OK;
    }
    FBY_TRY(fby_path_join(path, pairs[0].masks, below, why));
    fby_err err = fby_refuse_unread(search, below, pairs[0].mask, why);
    if (err != FBY_OK) {
        return fby_error_prefix(
            why, err, "in %s", fby_text_show_begin(pairs[0].masks, 40).text);
    }
    FBY_TRY(fby_path_join(path, "pairs", below, why));
    fby_guess_write_operand(search, below, operand);
    write_others(search, path, listing, pairs, n, others);
    fby_guess_set_command(search, path, FBY_PYTHON "L = [%s]; %s; %s\"", tuples,
        fby_program_pairs_masks, fby_program_write_lists);
    return fby_error_set(why, FBY_CONFIG,
        "%.40s has the masks of the pictures in %.40s (%.60s of %.60s): write "
        "lists of the pairs%s, then: forebay init %s:",
        pairs[0].masks, pairs[0].pictures, fby_text_show(pairs[0].mask).text,
        fby_text_show(pairs[0].picture).text, others, operand);
}
