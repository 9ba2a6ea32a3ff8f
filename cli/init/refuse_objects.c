/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_objects.c - folders that each have a folder of pictures and one of masks:
 * ID/images/ and ID/masks/.
 *
 * With one picture in each, as in the Data Science Bowl 2018, the masks are those
 * of its objects, and the command merges them into one, with an id for each
 * object. With several, as those of a patient, it writes a list of the pairs. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"

struct inner_folders { /* the names of those in a folder; "": none */
    char pictures[FBY_NAME_SIZE];
    char masks[FBY_NAME_SIZE];
};

static void find_inner_folders(struct fby_search *search, const char *path,
    const char *name, struct inner_folders *out)
{
    struct fby_listing listing = {0};
    *out                       = (struct inner_folders){.pictures = ""};
    if (fby_refuse_list_below(search, path, name, &listing, NULL) == FBY_OK) {
        for (uint32_t i = 0; i < listing.count; i++) {
            const struct fby_entry *entry = &listing.entries[i];
            bool  is_picture = fby_init_is_picture_name(entry->name);
            char *to         = is_picture ? out->pictures : out->masks;
            if (entry->is_dir && fby_shell_is_plain(entry->name) &&
                strlen(entry->name) < FBY_NAME_SIZE &&
                (is_picture || fby_init_is_partner_name(entry->name))) {
                snprintf(to, FBY_NAME_SIZE, "%s", entry->name);
            }
        }
    }
    fby_listing_fini(&listing);
}

struct picture_count {
    uint32_t    n;
    uint32_t    n_like; /* with a name that begins as `first` up to the dot */
    const char *like;   /* NULL: none */
    char        first[FBY_NAME_SIZE];
};

static fby_err count_picture(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct picture_count *self = arg;
    (void)why;
    if (entry->is_dir || !fby_init_is_any_picture(entry->name)) {
        return FBY_OK;
    }
    size_t stem = self->like != NULL ? strcspn(self->like, ".") : 0;
    self->n++;
    self->n_like += stem > 0 && strncmp(entry->name, self->like, stem) == 0 &&
                            strchr("._-", entry->name[stem]) != NULL
                        ? 1
                        : 0;
    snprintf(self->first, sizeof(self->first), "%.60s", entry->name);
    return FBY_OK;
}

/* Count the pictures in the folder `inner` of `name`, a folder in `path`. */
static void count_pictures(struct fby_search *search, const char *path,
    const char *name, const char *inner, struct picture_count *out)
{
    char dir[FBY_PATH_SIZE];
    char below[FBY_PATH_SIZE];
    if (inner[0] != '\0' && fby_path_join(path, name, dir, NULL) == FBY_OK &&
        fby_path_join(dir, inner, below, NULL) == FBY_OK &&
        fby_guess_visit_dir(
            search, below, NULL, count_picture, out, NULL, NULL) != FBY_OK) {
        out->n = 0;
    }
}

static fby_err refuse_objects(struct fby_search *search, const char *path,
    const char *name, const struct inner_folders *inner,
    struct fby_error_detail *why)
{
    char below[FBY_PATH_SIZE];
    char operand[FBY_OPERAND_SIZE];
    FBY_TRY(fby_path_join(path, "merged", below, why));
    fby_guess_write_operand(search, below, operand);
    fby_guess_set_command(search, path,
        FBY_PYTHON "O = 'merged'; M = '%s'; F = '%s'; %s; %s; %s\"",
        inner->masks, inner->pictures, fby_program_folder_begin,
        fby_program_merge_masks, fby_program_folder_end);
    return fby_error_set(why, FBY_CONFIG,
        "each folder has a picture in %.40s/ and masks of its objects in "
        "%.40s/, as %.60s: merge the masks of each picture into one with ids "
        "from 1 (with Pillow and NumPy), then: forebay init %s:",
        inner->pictures, inner->masks, fby_text_show(name).text, operand);
}

static fby_err refuse_pairs(struct fby_search *search, const char *path,
    const char *name, const struct inner_folders *inner,
    struct fby_error_detail *why)
{
    fby_guess_set_command(search, path,
        FBY_PYTHON "M = '%s'; F = '%s'; %s; %s\"", inner->masks,
        inner->pictures, fby_program_pairs_objects, fby_program_write_lists);
    return fby_error_set(why, FBY_CONFIG,
        "each folder has pictures in %.40s/ and their masks in %.40s/, as "
        "%.60s: write a list of all, and run init %s:",
        inner->pictures, inner->masks, fby_text_show(name).text,
        path[0] == '\0' || fby_split_of_folder(path) != NULL
            ? "again"
            : "on that folder");
}

/* Find the first and the last folder in the listing that is no split. Returns
 * false if there are no two. */
static bool find_ends(const struct fby_listing *listing, const char *out[2])
{
    out[0] = NULL;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (entry->is_dir && fby_split_of_folder(entry->name) == NULL) {
            out[0] = out[0] == NULL ? entry->name : out[0];
            out[1] = entry->name;
        }
    }
    return out[0] != NULL && out[0] != out[1];
}

fby_err fby_refuse_objects(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const char          *ends[2] = {NULL, NULL};
    struct inner_folders inner;
    bool                 is_single = true;
    bool                 are_pairs = true;
    if (!find_ends(listing, ends)) {
        return FBY_OK;
    }
    find_inner_folders(search, path, ends[0], &inner);
    for (size_t i = 0; i < 2; i++) {
        struct picture_count pictures = {.like = NULL};
        struct picture_count masks    = {.like = pictures.first};
        count_pictures(search, path, ends[i], inner.pictures, &pictures);
        count_pictures(search, path, ends[i], inner.masks, &masks);
        is_single = is_single && pictures.n == 1 && masks.n > 0;
        are_pairs = are_pairs && pictures.n > 0 && masks.n_like > 0;
    }
    return are_pairs   ? refuse_pairs(search, path, ends[0], &inner, why)
           : is_single ? refuse_objects(search, path, ends[0], &inner, why)
                       : FBY_OK;
}
