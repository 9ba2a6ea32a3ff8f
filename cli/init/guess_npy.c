/* SPDX-License-Identifier: Apache-2.0 */
/* guess_npy.c - .npy files beside pictures: those of the same names are members
 * of the pictures' samples, and no table. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_columns.h"
#include "cli/init/guess_notes.h"
#include "pipeline/text.h"

bool fby_guess_is_npy_paired(const struct fby_root *root, const char *path,
    const struct fby_listing *listing)
{
    static const char *const endings[] = {
        "jpg", "jpeg", "png", "webp", "JPG", "JPEG", "PNG"};
    uint32_t npy = 0;
    while (npy < listing->count &&
           (listing->entries[npy].is_dir ||
               !fby_text_ends_with(listing->entries[npy].name, ".npy"))) {
        npy++;
    }
    for (size_t i = 0;
         npy < listing->count && i < sizeof(endings) / sizeof(endings[0]);
         i++) {
        const char *name = listing->entries[npy].name;
        char        file[FBY_PATH_SIZE];
        char        picture[FBY_PATH_SIZE];
        snprintf(file, sizeof(file), "%.*s.%s", (int)strcspn(name, "."), name,
            endings[i]);
        if (fby_path_join(path, file, picture, NULL) == FBY_OK &&
            fby_object_exists(root, picture)) {
            return true;
        }
    }
    return false;
}

void fby_guess_note_npy(
    struct fby_search *search, const struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        if (strcmp(split->members[i].extension, "npy") == 0) {
            fby_guess_note(search,
                "note: the .npy files beside the pictures have no field yet; "
                "add "
                "one: {from: npy, decode: array, shape: [N], wire: f32}");
        }
    }
}
