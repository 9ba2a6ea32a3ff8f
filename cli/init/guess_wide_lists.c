/* SPDX-License-Identifier: Apache-2.0 */
/* guess_wide_lists.c - lists of many columns of numbers (.csv), as rows of pixels or
 * of spectra: the command that makes tables of them, with x and label.
 *
 * The program chooses the label, the ids and the lists that belong together, since
 * it reads all rows, and prints what it has chosen. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/list_command.h"
#include "cli/init/programs.h"
#include "cli/init/split_names.h"
#include "cli/init/text_state.h"
#include "common/shell.h"

/* A function of fby_list_command_append(): "('NAME', 'SPLIT')". */
static bool append_pair(
    const void *arg, const char *list, struct fby_buffer *out)
{
    const char *split = fby_split_word(list);
    (void)arg;
    fby_init_printf(out, "('%s', '%s')", list, split != NULL ? split : "");
    return fby_shell_is_plain(list);
}

void fby_guess_set_wide_command(
    struct fby_search *search, const char *dir, const char *list)
{
    const struct fby_list_command lists = {search, dir, list, NULL};
    struct fby_buffer             pairs = {0};
    search->out->command[0]             = '\0';
    if (fby_list_command_append(&lists, append_pair, NULL, &pairs)) {
        fby_guess_set_command(search, dir,
            FBY_PYTHON "label = ''; O = 'table'; L = [%.*s]; %s; %s; %s\"",
            (int)pairs.size, (const char *)pairs.data, fby_program_folder_begin,
            fby_program_wide_list, fby_program_folder_end);
        fby_guess_end_command_with(search, dir, "table");
    }
    fby_buffer_fini(&pairs);
}

/* Are all splits in the folder of the first one? The command has no others. */
static bool are_in_one_folder(const struct fby_guess *guess)
{
    const char *first = guess->splits[0].pattern;
    size_t      n     = (size_t)(strrchr(first, '/') + 1 - first);
    uint32_t    i     = 0;
    while (i < guess->n_splits &&
           strncmp(guess->splits[i].pattern, first, n) == 0 &&
           strchr(guess->splits[i].pattern + n, '/') == NULL) {
        i++;
    }
    return i == guess->n_splits;
}

bool fby_guess_note_wide_list(struct fby_search *search, const char *dir)
{
    const struct fby_guess_split *split = &search->out->splits[0];
    uint32_t                      n     = 0;
    for (uint32_t i = 0; i < split->n_members; i++) {
        enum fby_init_value value = split->members[i].value;
        n += value == FBY_INIT_DIGITS || value == FBY_INIT_NUMBER ? 1 : 0;
    }
    if (n <= FBY_INIT_MAX_VALUES || split->n_file_columns > 0) {
        return false;
    }
    if (!are_in_one_folder(search->out)) {
        return true;
    }
    fby_guess_set_wide_command(search, dir, strrchr(split->pattern, '/') + 1);
    if (search->out->command[0] != '\0') {
        fby_guess_note(search, "note: to " FBY_GUESS_WIDE_PURPOSE ": %s",
            search->out->command);
        search->out->command[0] = '\0';
    }
    return true;
}
