/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_list_parts.c - parts of one list, as train-00000-of-00002.jsonl of Hugging
 * Face, or train_0.csv and train_1.csv.
 *
 * A split has one list, so the parts would be splits of their own. The command joins
 * them, and then the list is read in place of its parts. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { MAX_STEMS = 8, PROGRAM_SIZE = 2048 };

static bool is_delimiter(char c)
{
    return c == '_' || c == '-' || c == '.';
}

/* The bytes of `name`, of which `n` are left, without the digits at their end. */
static size_t cut_digits(const char *name, size_t n)
{
    while (n > 0 && isdigit((unsigned char)name[n - 1])) {
        n--;
    }
    return n;
}

/* Write what a name has before the number of a part: "train" of
 * train-00000-of-00002.jsonl. Returns false for a list that is no part: train_0.csv
 * may be one, but test1.csv and test2.csv may be two lists. */
static bool find_stem(const char *list, char out[FBY_NAME_SIZE])
{
    static const char of[] = "-of-";
    const char       *dot  = strrchr(list, '.');
    size_t            n    = dot != NULL ? (size_t)(dot - list) : strlen(list);
    size_t            end  = cut_digits(list, n);
    bool              has_of = end < n && end > strlen(of) &&
                  strncmp(list + end - strlen(of), of, strlen(of)) == 0;
    if (has_of) {
        n   = end - strlen(of);
        end = cut_digits(list, n);
    }
    if (end == n || end == 0 || n >= FBY_NAME_SIZE) {
        return false;
    }
    bool is_number = is_delimiter(list[end - 1]) || list[end] == '0';
    end -= is_delimiter(list[end - 1]) ? 1 : 0;
    snprintf(out, FBY_NAME_SIZE, "%.*s", (int)end, list);
    return end > 0 && (has_of || (is_number && fby_split_word(out) != NULL));
}

/* Is the other entry a part of the same list? */
static bool is_other_part(
    const struct fby_entry *other, const char *list, const char *stem)
{
    char of_other[FBY_NAME_SIZE];
    return !other->is_dir && strcmp(other->name, list) != 0 &&
           fby_text_ends_with(other->name, strrchr(list, '.')) &&
           find_stem(other->name, of_other) && strcmp(of_other, stem) == 0;
}

bool fby_list_is_part(const struct fby_listing *listing, const char *list,
    char whole[FBY_PATH_SIZE])
{
    char     stem[FBY_NAME_SIZE];
    uint32_t i = 0;
    if (!find_stem(list, stem)) {
        return false;
    }
    while (i < listing->count &&
           !is_other_part(&listing->entries[i], list, stem)) {
        i++;
    }
    snprintf(whole, FBY_PATH_SIZE, "%s%s", stem, strrchr(list, '.'));
    return i < listing->count;
}

/* ---- the command ---- */

/* Append the stem of the list, in quotes, if it is a part and the stem is not there.
 * Returns false if it cannot be quoted. */
static bool append_stem(
    const struct fby_listing *listing, const char *list, char out[PROGRAM_SIZE])
{
    char   whole[FBY_PATH_SIZE];
    char   word[FBY_NAME_SIZE + 4];
    size_t used = strlen(out);
    if (!fby_list_is_part(listing, list, whole)) {
        return true;
    }
    snprintf(word, sizeof(word), "'%.*s'", (int)(strrchr(whole, '.') - whole),
        whole); /* of a stem, which is a name */
    if (strstr(out, word) != NULL || fby_listing_find(listing, whole) != NULL) {
        return true;
    }
    snprintf(
        out + used, PROGRAM_SIZE - used, "%s%s", used > 0 ? ", " : "", word);
    return fby_shell_is_plain(whole) && used < PROGRAM_SIZE / 4;
}

fby_err fby_refuse_list_parts(struct fby_search *search, const char *path,
    const struct fby_listing *listing, const char *list,
    struct fby_error_detail *why)
{
    const char *ending              = strrchr(list, '.');
    char        stems[PROGRAM_SIZE] = "";
    char        program[2 * PROGRAM_SIZE];
    bool        is_plain = true;
    for (uint32_t i = 0; is_plain && i < listing->count; i++) {
        const char *name = listing->entries[i].name;
        is_plain         = !fby_text_ends_with(name, ending) ||
                   append_stem(listing, name, stems);
    }
    snprintf(program, sizeof(program), "X = '%s'; N = [%s]; %s; %s", ending,
        stems, fby_program_join_lists, fby_program_write_lists);
    if (is_plain) {
        fby_guess_advise(search, path, "", program);
    }
    return fby_error_set(why, FBY_CONFIG,
        "%.60s seems to be a part of a list, of which others are beside it, "
        "and "
        "a split has one list: join the parts (or give one of them to init), "
        "and run init again%s",
        fby_text_show(list).text, is_plain ? ":" : "");
}
