/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_two_masks.c - refuse pictures beside two folders that may have their masks, of
 * which only one is called so: mask/ of DRIVE is the field of view, and 1st_manual/ has
 * the vessels.
 *
 * The names cannot tell which one is meant, so there is a command for each. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_members.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

struct mask_folders {
    const char *pictures; /* the names of folders; borrowed; NULL: none */
    const char *masks;    /* called so */
    const char *other;    /* not called so */
};

/* The name of the first picture in the folder, one that is decoded if there is any.
 * Returns false if there is none. */
static bool find_picture(const struct fby_checked_dir *layout,
    const char *folder, char out[FBY_NAME_SIZE])
{
    struct fby_listing files = {0};
    fby_err            err   = fby_refuse_list_below(
                     layout->search, layout->path, folder, &files, NULL);
    out[0] = '\0';
    for (uint32_t i = 0; err == FBY_OK && i < files.count; i++) {
        const char *name = files.entries[i].name;
        if (fby_init_is_any_picture(name) && strlen(name) < FBY_NAME_SIZE &&
            (out[0] == '\0' || fby_unread_picture(out) != NULL)) {
            snprintf(out, FBY_NAME_SIZE, "%s", name);
        }
    }
    fby_listing_fini(&files);
    return out[0] != '\0';
}

struct begin_search { /* a picture whose name begins as `name` */
    const char *name;
    bool        found;
};

static fby_err match_begin(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct begin_search *self = arg;
    size_t               n    = strcspn(self->name, "._-");
    (void)why;
    self->found =
        self->found || (!entry->is_dir && n == strcspn(entry->name, "._-") &&
                           strncmp(entry->name, self->name, n) == 0);
    return FBY_OK;
}

/* Is a picture in the folder `of` called as the first one in `folder`, up to a dot, _
 * or -? If they are masks, they have no colours, or are not decoded. */
static bool has_masks(
    const struct fby_checked_dir *layout, const char *folder, const char *of)
{
    char                dir[FBY_PATH_SIZE];
    char                path[FBY_PATH_SIZE];
    char                mask[FBY_NAME_SIZE];
    struct begin_search self = {.name = mask};
    if (!find_picture(layout, folder, mask) ||
        fby_path_join(layout->path, folder, dir, NULL) != FBY_OK ||
        fby_path_join(dir, mask, path, NULL) != FBY_OK ||
        fby_path_join(layout->path, of, dir, NULL) != FBY_OK ||
        (fby_unread_picture(mask) == NULL &&
            !fby_guess_may_be_ids(layout->search->root, path))) {
        return false;
    }
    return fby_guess_visit_dir(layout->search, dir, NULL, match_begin, &self,
               NULL, NULL) == FBY_OK &&
           self.found;
}

/* Find the folder of pictures, and the only one called after masks. */
static bool find_named(
    const struct fby_checked_dir *layout, struct mask_folders *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < layout->listing->count; i++) {
        const struct fby_entry *entry = &layout->listing->entries[i];
        if (entry->is_dir && fby_init_is_picture_name(entry->name)) {
            out->pictures = entry->name;
        } else if (entry->is_dir && fby_init_is_partner_name(entry->name)) {
            out->masks = entry->name;
            n++;
        }
    }
    return out->pictures != NULL && n == 1 &&
           has_masks(layout, out->masks, out->pictures);
}

/* Find the first folder by its name that may have the masks, too. */
static bool find_other(
    const struct fby_checked_dir *layout, struct mask_folders *out)
{
    for (uint32_t i = 0; i < layout->listing->count; i++) {
        const struct fby_entry *entry = &layout->listing->entries[i];
        bool is_other = entry->is_dir && entry->name != out->pictures &&
                        entry->name != out->masks &&
                        fby_split_of_folder(entry->name) == NULL &&
                        !fby_init_is_picture_name(entry->name);
        if (is_other &&
            (out->other == NULL || strcmp(entry->name, out->other) < 0) &&
            has_masks(layout, entry->name, out->pictures)) {
            out->other = entry->name;
        }
    }
    return out->other != NULL;
}

/* Refuse pictures that are not decoded. The command converts those of all splits. */
static fby_err refuse_unread(const struct fby_checked_dir *layout,
    const char *folder, struct fby_error_detail *why)
{
    char dir[FBY_PATH_SIZE];
    char path[FBY_PATH_SIZE];
    char file[FBY_NAME_SIZE];
    if (!find_picture(layout, folder, file)) {
        return FBY_OK;
    }
    FBY_TRY(fby_path_join(layout->path, folder, dir, why));
    FBY_TRY(fby_path_join(dir, file, path, why));
    return fby_refuse_unread(layout->search, "", path, why);
}

/* Add the command that writes lists with those masks, in all folders of splits. */
static void advise(const struct fby_checked_dir *layout,
    const struct mask_folders *folders, const char *masks, const char *lead)
{
    char program[FBY_GUESS_COMMAND];
    snprintf(program, sizeof(program), "P = '%s'; M = '%s'; %s; %s",
        folders->pictures, masks, fby_program_pairs_folders,
        fby_program_write_lists);
    fby_guess_advise(layout->search, "", lead, program);
}

/* Add the commands for both folders, and write what the message says of the first.
 * "": there are none, since a name needs quotes, or the folders are in an archive. */
static void advise_both(const struct fby_checked_dir *layout,
    const struct mask_folders *folders, char out[80])
{
    char lead[80];
    out[0] = '\0';
    if (layout->search->in_zip || !fby_shell_is_plain(folders->pictures) ||
        !fby_shell_is_plain(folders->masks) ||
        !fby_shell_is_plain(folders->other)) {
        return;
    }
    snprintf(
        lead, sizeof(lead), "for those in %.40s instead: ", folders->masks);
    advise(layout, folders, folders->other, "");
    advise(layout, folders, folders->masks, lead);
    snprintf(out, 80, "; for those in %.40s:", folders->other);
}

fby_err fby_refuse_two_masks(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const struct fby_checked_dir layout  = {search, path, listing};
    struct mask_folders          folders = {.pictures = NULL};
    char                         then[80];
    if (!find_named(&layout, &folders) || !find_other(&layout, &folders)) {
        return FBY_OK;
    }
    FBY_TRY(refuse_unread(&layout, folders.pictures, why));
    FBY_TRY(refuse_unread(&layout, folders.other, why));
    advise_both(&layout, &folders, then);
    return fby_error_set(why, FBY_CONFIG,
        "%.40s and %.40s may both have the masks of the pictures in %.40s: "
        "write lists with those that you need, and run init again%s",
        fby_text_show(folders.other).text, fby_text_show(folders.masks).text,
        fby_text_show(folders.pictures).text, then);
}
