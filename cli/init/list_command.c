/* SPDX-License-Identifier: Apache-2.0 */
/* list_command.c - the command that writes new lists of those in a folder. */
#include "cli/init/list_command.h"

#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "cli/init/text_state.h"
#include "pipeline/text.h"

static bool is_csv(const char *list)
{
    return fby_text_ends_with(list, ".csv");
}

/* Append a list. Returns false if it cannot be quoted. */
static bool append_list(fby_list_append_fn *append, const void *arg,
    const char *list, struct fby_buffer *out)
{
    size_t before = out->size;
    if (before > 0) {
        fby_init_append(out, ", ");
    }
    size_t begin     = out->size;
    bool   is_quoted = append(arg, list, out);
    if (out->size == begin) {
        out->size = before; /* it is left out */
    }
    return is_quoted;
}

bool fby_list_command_append(const struct fby_list_command *self,
    fby_list_append_fn *append, const void *arg, struct fby_buffer *out)
{
    struct fby_listing listing   = {0};
    uint32_t           n         = 1;
    bool               is_quoted = append_list(append, arg, self->list, out);
    bool               is_alone  = self->search->only_file[0] != '\0' ||
                    fby_guess_list_dir(self->search, self->dir, NULL, &listing,
                        NULL) != FBY_OK;
    for (uint32_t i = 0;
         !is_alone && i < listing.count && n < FBY_COMMAND_LISTS; i++) {
        const char *name   = listing.entries[i].name;
        size_t      before = out->size;
        if (strcmp(name, self->list) != 0 &&
            fby_list_is_read(&listing, &listing.entries[i]) &&
            is_csv(name) == is_csv(self->list)) {
            is_quoted = append_list(append, arg, name, out) && is_quoted;
            n += out->size > before ? 1 : 0;
        }
    }
    fby_listing_fini(&listing);
    return is_quoted;
}

bool fby_list_command_set(const struct fby_list_command *self,
    const struct fby_buffer *settings, const char *change)
{
    char        converted[FBY_PATH_SIZE];
    const char *colon = fby_guess_set_command(self->search, self->dir,
        FBY_PYTHON "W = '%s'; %.*s; %s; %s; %s; %s; %s\"", self->word,
        (int)settings->size, (const char *)settings->data,
        fby_program_list_begin,
        is_csv(self->list) ? fby_program_list_csv : fby_program_list_json,
        change, fby_program_list_end, fby_program_write_lists);
    if (colon[0] == '\0') {
        return false;
    }
    fby_guess_name_list(self->list, self->word, converted);
    fby_guess_end_command(self->search, self->dir, converted);
    return true;
}
