/* SPDX-License-Identifier: Apache-2.0 */
/* guess_lone_class.c - a split whose only folder is no class of train, as
 * val/images of Tiny ImageNet: say where its classes are. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { HEAD_BYTES = 512 /* of a list */ };

struct lone_folder {
    struct fby_search *search;
    const char        *path;   /* of the split, below the root */
    const char        *folder; /* its only folder */
};

/* Read the first two words of a list, which may be cut. */
static bool read_words(const struct lone_folder *lone, const char *list,
    char file[FBY_NAME_SIZE], char class[FBY_NAME_SIZE])
{
    char head[HEAD_BYTES + 1];
    return fby_guess_read_begin(
               lone->search->root, lone->path, list, head, sizeof(head)) &&
           sscanf(head, "%63s %63s", file, class) == 2;
}

static bool is_class(const struct fby_search *search, const char *name)
{
    uint32_t i = 0;
    while (i < search->n_train && strcmp(search->train[i].name, name) != 0) {
        i++;
    }
    return i < search->n_train;
}

/* Is the list one of the folder's files and of classes of train? */
static bool has_classes(const struct lone_folder *lone, const char *list)
{
    char file[FBY_NAME_SIZE];
    char class[FBY_NAME_SIZE];
    char dir[FBY_PATH_SIZE];
    return read_words(lone, list, file, class) &&
           is_class(lone->search, class) &&
           fby_path_join(lone->path, lone->folder, dir, NULL) == FBY_OK &&
           fby_guess_has_file(lone->search->root, dir, file);
}

void fby_guess_explain_lone_folder(struct fby_search *search, const char *path,
    const char *folder, char *out, size_t size)
{
    const struct lone_folder lone    = {search, path, folder};
    struct fby_listing       listing = {0};
    char                     operand[FBY_OPERAND_SIZE];
    char                     links[FBY_REASON_SIZE];
    char                     then[FBY_WORD_SIZE];
    fby_err     err = fby_guess_list_dir(search, path, NULL, &listing, NULL);
    const char *list =
        err == FBY_OK ? fby_guess_find_file(&listing, ".txt") : NULL;
    fby_guess_write_operand(search, path, operand);
    if (list != NULL && has_classes(&lone, list) && fby_shell_is_plain(list) &&
        fby_shell_is_plain(folder) &&
        fby_guess_begin_renames(search, path, links, sizeof(links), then)) {
        snprintf(out, size,
            "%s has its classes; move the pictures into class folders: %s"
            "tr -d '\\r' < %s | while read -r f c x; do case $f$c/$c in "
            "*/*/*|*/|*/.|*/..) continue;; esac; mkdir -p \"./$c\" && mv -n "
            "%s/\"$f\" "
            "\"./$c\"; done; rmdir %s); then: forebay init %s",
            list, links, list, folder, folder, then);
    } else {
        snprintf(out, size,
            "its only folder, %.60s, is no class of train; move the pictures "
            "into class folders, or read them alone: forebay init %s",
            fby_text_show(folder).text, operand);
    }
    fby_listing_fini(&listing);
}
