/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_chats.c - refuse lists of chats (.jsonl): a column has in each row a list
 * of objects with a speaker and a text, which no field can read.
 *
 * The command makes one text of each list. Beside pictures or texts, which are
 * read, it is a note. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "common/shell.h"
#include "pipeline/text.h"

/* The names of the keys, in the order of the columns: OpenAI's, and ShareGPT's. */
static const struct {
    const char *speaker, *text;
} forms[] = {{"role", "content"}, {"from", "value"}};
enum { N_FORMS = sizeof(forms) / sizeof(forms[0]), NAMES_SIZE = 400 };

/* Is the key one of "KEY, KEY"? */
static bool has_key(const char *keys, const char *key)
{
    size_t      n  = strlen(key);
    const char *at = keys;
    while (at != NULL && !(strncmp(at, key, n) == 0 && strchr(",", at[n]))) {
        at = strstr(at, ", ");
        at = at != NULL ? at + 2 : NULL;
    }
    return at != NULL;
}

/* The form of a column of chats; N_FORMS: it has none. */
static size_t find_form(const struct fby_init_member *column)
{
    size_t i = column->value == FBY_INIT_OTHER_LISTS ? 0 : (size_t)N_FORMS;
    while (i < N_FORMS && !(has_key(column->keys, forms[i].speaker) &&
                              has_key(column->keys, forms[i].text))) {
        i++;
    }
    return i;
}

static bool has_column(const struct fby_guess_split *split, const char *name)
{
    bool found = false;
    for (uint32_t i = 0; i < split->n_members; i++) {
        found = found || strcmp(split->members[i].extension, name) == 0;
    }
    return found;
}

/* A function of jq: the text of a content, which may have parts. What is no text, as
 * a call, stays JSON. */
#define PARTS                                                                \
    "def t: if . == null then \"\" elif type == \"array\" then map(if type " \
    "== \"object\" and .type == \"text\" then .text else . end | t) | "      \
    "join(\" \") elif type == \"string\" then . else tojson end; "

/* Write the command. Returns false if there is none. */
static bool write_command(const struct fby_guess *guess, const char *column,
    size_t form, char *out, size_t size)
{
    const char *first = guess->splits[0].pattern;
    char        dir[FBY_PATH_SIZE];
    char        operand[FBY_PATH_SIZE];
    char        names[NAMES_SIZE];
    snprintf(
        dir, sizeof(dir), "%.*s", (int)(strrchr(first, '/') - first), first);
    if (!fby_text_ends_with(first, ".jsonl") ||
        !fby_guess_name_lists(guess, names, sizeof(names)) ||
        !fby_text_is_name(column) ||
        !fby_shell_quote(dir, operand, sizeof(operand))) {
        return false;
    }
    int n = snprintf(out, size,
        "(set -C; cd %s && for f in %s; do jq -c '" PARTS
        "(. + {%s: ([.\"%s\"[] | "
        "\"\\(.%s): \\([.%s, .tool_calls // .function_call | t | "
        "select(. != \"\")] | join(\" \"))\"] | join(\"\\n\"))}) | "
        "del(.\"%s\")' "
        "\"$f\" " FBY_GUESS_INTO("text-$f") " || exit; done)",
        operand, names, has_column(&guess->splits[0], "text") ? "chat" : "text",
        column, forms[form].speaker, forms[form].text, column);
    return n >= 0 && (size_t)n < size;
}

/* Has the list a field without its chats? */
static bool has_other_fields(const struct fby_guess_split *split)
{
    bool found = split->n_file_columns > 0;
    for (uint32_t i = 0; i < split->n_members; i++) {
        found = found || split->members[i].value == FBY_INIT_TEXT;
    }
    return found;
}

static fby_err refuse(struct fby_search *search, const char *column,
    const char *command, struct fby_error_detail *why)
{
    const char *slash = strrchr(search->out->splits[0].pattern, '/');
    char        converted[FBY_PATH_SIZE];
    fby_guess_name_list(slash + 1, "text", converted);
    snprintf(search->out->command, sizeof(search->out->command), "%s", command);
    fby_guess_end_command(search, "", converted);
    return fby_error_set(why, FBY_CONFIG,
        "%.40s: the column %.40s has chats, lists of objects, which are not "
        "read: write a text of each:",
        fby_text_show(slash + 1).text, column);
}

fby_err fby_refuse_chats(
    struct fby_search *search, struct fby_error_detail *why)
{
    const struct fby_guess_split *split = &search->out->splits[0];
    char                          command[FBY_GUESS_COMMAND];
    for (uint32_t i = 0; i < split->n_members; i++) {
        const char *column = split->members[i].extension;
        size_t      form   = find_form(&split->members[i]);
        if (split->kind != FBY_SOURCE_LIST || form == N_FORMS ||
            !write_command(
                search->out, column, form, command, sizeof(command))) {
            continue;
        }
        if (!has_other_fields(split)) {
            return refuse(search, column, command, why);
        }
        fby_guess_note(search,
            "note: the column %s has chats, which are not read; to write a "
            "text of each: %s",
            column, command);
    }
    return FBY_OK;
}
