/* SPDX-License-Identifier: Apache-2.0 */
/* guess_empty_texts.c - a note of columns of texts that some rows lack, as the
 * `input` of Alpaca: an empty text is no value, so no field can read them.
 *
 * The command writes lists with a blank there. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/words.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { COLUMNS_SIZE = 160, LISTS_SIZE = 400 };

/* The programs write a blank into the columns c of the list l, where they have no
 * value. */
static const char csv[] =
    "import csv; [csv.writer(open('text-' + l, 'x')).writerows(t) for l in L "
    "for r in [list(csv.reader(open(l, newline='', encoding='utf-8-sig')))] "
    "for t in [r[:1] + [[v or ' ' * (h.lower() in c) for h, v in zip(r[0], x)] "
    "for x in r[1:] if x]]]";
static const char json[] =
    "import json; [open('text-' + l, 'x').writelines(t) for l in L for t in "
    "[[json.dumps({**{k: ' ' for k in c - {k.lower() for k in x}}, **{k: ' ' "
    "if k.lower() in c and v in ('', None) else v for k, v in x.items()}}) + "
    "'\\n' for y in open(l, encoding='utf-8-sig') if y.strip() for x in "
    "[json.loads(y)]]]]";

static bool is_text_with_gaps(
    const struct fby_guess_split *split, const struct fby_init_member *column)
{
    return column->value == FBY_INIT_TEXT && column->n_values > 0 &&
           column->n_values < split->samples &&
           4 * column->n_numbers < 3 * column->n_values &&
           !fby_init_are_classes(column);
}

/* Append the columns: "'a', 'b'". Returns false if they do not fit or have
 * characters of the shell. */
static bool append_columns(
    const struct fby_guess_split *split, char out[COLUMNS_SIZE])
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        const char *name = split->members[i].extension;
        size_t      used = strlen(out);
        char        quoted[FBY_NAME_SIZE + 4];
        snprintf(quoted, sizeof(quoted), "'%s'", name);
        if (!is_text_with_gaps(split, &split->members[i]) ||
            strstr(out, quoted) != NULL) {
            continue;
        }
        if (!fby_shell_is_plain(name) ||
            used + strlen(quoted) + 3 > COLUMNS_SIZE) {
            return false;
        }
        snprintf(out + used, COLUMNS_SIZE - used, "%s%s", used > 0 ? ", " : "",
            quoted);
    }
    return out[0] != '\0';
}

void fby_guess_note_empty_texts(struct fby_search *search)
{
    const struct fby_guess *out                   = search->out;
    const char             *first                 = out->splits[0].pattern;
    const char             *slash                 = strrchr(first, '/');
    char                    columns[COLUMNS_SIZE] = "";
    char                    lists[LISTS_SIZE];
    char                    dir[FBY_PATH_SIZE];
    char                    operand[FBY_OPERAND_SIZE];
    bool fits = out->kind == FBY_SOURCE_LIST && slash != NULL;
    for (uint32_t i = 0; fits && i < out->n_splits; i++) {
        (void)append_columns(&out->splits[i], columns);
    }
    if (!fits || columns[0] == '\0' ||
        !fby_guess_name_lists(out, lists, sizeof(lists))) {
        return;
    }
    snprintf(dir, sizeof(dir), "%.*s", (int)(slash - first), first);
    if (fby_shell_quote(dir, operand, sizeof(operand))) {
        fby_guess_note(search,
            "note: to have a blank as the text where %s has none: (cd %s && "
            "python3 -c \"L = '%s'.split(); c = {%s}; %s\"); then: run init "
            "again",
            columns, operand, lists, columns,
            fby_text_ends_with(first, ".csv") ? csv : json);
    }
}
