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
    const char *npy = fby_guess_find_file(listing, ".npy");
    char        ending[FBY_NAME_SIZE];
    return npy != NULL &&
           fby_guess_find_picture(root, path, npy, strcspn(npy, "."), ending);
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
