/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_objects.c - a folder for each picture, with a mask for each object in it:
 * ID/images/ID.png and ID/masks/1.png, 2.png and so on, as in the Data Science
 * Bowl 2018.
 *
 * The command merges the masks of a picture into one, with an id for each
 * object. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "pipeline/text.h"

/* Ids go up to 254, then they begin again. */
static const char merge_command[] =
    "import functools, glob, os, shutil, numpy as n, PIL.Image as I; P = "
    "[(p, m, p.split('/')[0].replace('.', '_')) for p in "
    "sorted(glob.glob('*/images/*.*')) for m in "
    "[sorted(glob.glob(glob.escape(p.split('/')[0]) + '/masks/*.*'))] if m]; "
    "[os.makedirs('merged/' + d) for d in ('images', 'masks')]; "
    "[(shutil.copy(p, 'merged/images/' + k + os.path.splitext(p)[1]), "
    "I.fromarray(functools.reduce(n.maximum, "
    "((n.asarray(I.open(f).convert('L')) > 0) * n.uint8(i % 254 + 1) for i, f "
    "in enumerate(m)))).save('merged/masks/' + k + '.png')) for p, m, k in P]";

static fby_err count_picture(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    uint32_t *n = arg;
    (void)why;
    *n += !entry->is_dir && fby_init_is_any_picture(entry->name) ? 1 : 0;
    return FBY_OK;
}

/* The number of pictures in the folder `name` of `dir`. */
static uint32_t count_pictures(
    struct fby_search *search, const char *dir, const char *name)
{
    char     path[FBY_PATH_SIZE];
    uint32_t n       = 0;
    bool     is_read = fby_path_join(dir, name, path, NULL) == FBY_OK &&
                   fby_guess_visit_dir(search, path, NULL, count_picture, &n,
                       NULL, NULL) == FBY_OK;
    return is_read ? n : 0;
}

static bool is_folder_of_picture(
    struct fby_search *search, const char *path, const char *name)
{
    char dir[FBY_PATH_SIZE];
    return fby_path_join(path, name, dir, NULL) == FBY_OK &&
           count_pictures(search, dir, "images") == 1 &&
           count_pictures(search, dir, "masks") > 0;
}

fby_err fby_refuse_objects(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const struct fby_entry *first = NULL;
    const struct fby_entry *last  = NULL;
    char                    below[FBY_PATH_SIZE];
    char                    operand[FBY_OPERAND_SIZE];
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (entry->is_dir && fby_split_of_folder(entry->name) == NULL) {
            first = first == NULL ? entry : first;
            last  = entry;
        }
    }
    if (first == last || !is_folder_of_picture(search, path, first->name) ||
        !is_folder_of_picture(search, path, last->name)) {
        return FBY_OK;
    }
    FBY_TRY(fby_path_join(path, "merged", below, why));
    fby_guess_write_operand(search, below, operand);
    fby_guess_advise(search, path, "", merge_command);
    return fby_error_set(why, FBY_CONFIG,
        "each folder has a picture in images/ and masks of its objects in "
        "masks/, as %.60s: merge the masks of each picture into one with ids "
        "from 1 (with Pillow and NumPy), then: forebay init %s:",
        fby_text_show(first->name).text, operand);
}
