/* SPDX-License-Identifier: Apache-2.0 */
/* guess_join.c - lists of the same columns, none of which is called train, as the
 * prices of several shares. They are no splits: the command joins them. */
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_members.h"
#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "cli/init/split_names.h"
#include "pipeline/text.h"

static bool is_named(const char *list)
{
    return fby_split_word(strrchr(list, '/') + 1) != NULL;
}

/* Have all splits, which are lists, the same columns, and none the name of a split? */
static bool are_columns_same(struct fby_guess *out)
{
    const struct fby_guess_split *first = &out->splits[0];
    bool same = first->n_members > 0 && !is_named(first->pattern) &&
                first->n_file_columns == 0; /* paths begin at the list */
    for (uint32_t i = 1; same && i < out->n_splits; i++) {
        same = out->splits[i].n_members == first->n_members &&
               !is_named(out->splits[i].pattern);
        for (uint32_t k = 0; same && k < first->n_members; k++) {
            same = fby_guess_find_member(
                       &out->splits[i], first->members[k].extension) != NULL;
        }
    }
    return same;
}

/* Has the listing a list (.csv)? */
static bool has_list(const struct fby_listing *listing)
{
    bool found = false;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        found = found || (fby_text_ends_with(entry->name, ".csv") &&
                             fby_list_is_read(listing, entry));
    }
    return found;
}

/* Has a folder in the root a list? */
static bool have_folders_list(
    struct fby_search *search, const struct fby_listing *listing)
{
    bool found = false;
    for (uint32_t i = 0; !found && i < listing->count; i++) {
        struct fby_listing inner = {0};
        const char        *name  = listing->entries[i].name;
        found =
            listing->entries[i].is_dir &&
            fby_guess_list_dir(search, name, NULL, &inner, NULL) == FBY_OK &&
            has_list(&inner);
        fby_listing_fini(&inner);
    }
    return found;
}

/* Has the root lists, and folders in it, too? A command joins those of one kind. */
static bool has_lists_at_two_levels(struct fby_search *search)
{
    struct fby_listing listing = {0};
    bool               found =
        fby_guess_list_dir(search, "", NULL, &listing, NULL) == FBY_OK &&
        has_list(&listing) && have_folders_list(search, &listing);
    fby_listing_fini(&listing);
    return found;
}

const char *fby_guess_advise_join(struct fby_search *search)
{
    struct fby_guess *out      = search->out;
    const char       *list     = out->splits[0].pattern;
    const char       *below    = list + strlen(fby_root_dir(search->root));
    const char       *slash    = strrchr(list, '/');
    bool              is_above = slash > below &&
                    memchr(below + 1, '/', (size_t)(slash - below - 1)) != NULL;
    if (out->kind != FBY_SOURCE_LIST || is_above ||
        !fby_text_ends_with(list, ".csv") || !are_columns_same(out)) {
        return "";
    }
    if (has_lists_at_two_levels(search)) {
        return "; lists are in folders, and beside these, too: to have a "
               "command that joins all of them, move them into the same folder";
    }
    fby_guess_set_command(search, "", FBY_PYTHON "G = '%s*.csv'; %s; %s\"",
        slash > below ? "*/" : "", fby_program_join_files,
        fby_program_write_lists);
    fby_guess_end_command_with(search, "", "joined");
    return "; to stream the rows of all, with the names of their lists:";
}
