/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_unicode_forms.c - refuse class folders whose names are the same but for their
 * Unicode normal form: macOS stores an accent as a character of its own (NFD), other
 * systems store the letter with it (NFC), so that a copy has two classes.
 *
 * No table of characters is needed: a letter with marks after it corresponds to one
 * other character. This takes different accents for one, in names of two forms only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "pipeline/text.h"

enum { ESCAPED_SIZE = 160 };

/* The bytes of a character that macOS separates from a letter: a combining mark
 * (U+0300 to U+036F), a mark of kana, or a vowel or final consonant of Hangul; 0: it is
 * another one. */
static size_t length_of_mark(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    if ((at[0] == 0xcc && at[1] >= 0x80) ||
        (at[0] == 0xcd && at[1] >= 0x80 && at[1] <= 0xaf)) {
        return 2;
    }
    bool is_kana =
        at[0] == 0xe3 && at[1] == 0x82 && (at[2] == 0x99 || at[2] == 0x9a);
    bool is_hangul = at[0] == 0xe1 && ((at[1] == 0x85 && at[2] >= 0xa0) ||
                                          at[1] == 0x86 || at[1] == 0x87);
    return is_kana || is_hangul ? 3 : 0;
}

static bool has_mark(const char *name)
{
    while (*name != '\0' && length_of_mark(name) == 0) {
        name++;
    }
    return *name != '\0';
}

/* Is the name `other` with marks in place of some of its characters? */
static bool is_decomposed(const char *name, const char *other)
{
    while (*name != '\0' && *other != '\0') {
        size_t n       = fby_utf8_length(name, strlen(name));
        size_t k       = fby_utf8_length(other, strlen(other));
        bool   is_same = n == k && memcmp(name, other, n) == 0;
        bool   is_pair = n > 0 && k > 1 && length_of_mark(name) == 0 &&
                       length_of_mark(other) == 0 &&
                       length_of_mark(name + n) > 0;
        if (n == 0 || !(is_same || is_pair)) {
            return false;
        }
        name += n;
        other += k;
        while (!is_same && length_of_mark(name) > 0) {
            name += length_of_mark(name);
        }
    }
    return *name == *other; /* both end */
}

/* Write the name for a shell: caf\xc3\xa9. */
static void escape(const char *name, char out[ESCAPED_SIZE])
{
    size_t used = 0;
    for (; *name != '\0' && used < ESCAPED_SIZE - 5; name++) {
        unsigned char byte = (unsigned char)*name;
        used += (size_t)snprintf(out + used, ESCAPED_SIZE - used,
            byte < 0x80 ? "%c" : "\\x%02x", byte);
    }
    out[used] = '\0';
}

static fby_err refuse(struct fby_search *search, const char *name,
    const char *other, struct fby_error_detail *why)
{
    char        decomposed[ESCAPED_SIZE];
    char        composed[ESCAPED_SIZE];
    const char *colon = fby_guess_set_renames(
        search, "", FBY_PYTHON "%s\"", fby_program_composed_names);
    escape(name, decomposed);
    escape(other, composed);
    fby_err err = fby_error_set(why, FBY_CONFIG,
        "the class folders %s and %s (%.60s) have one name in two Unicode "
        "normal forms, as after a copy from macOS: if they are two classes, "
        "add --class-depth 1, else give all names the form NFC%s",
        composed, decomposed, fby_text_show_begin(other, 60).text, colon);
    return fby_guess_unpack_first(search, err, why);
}

static bool has_other_letters(const char *name)
{
    while (*name != '\0' && (unsigned char)*name < 0x80) {
        name++;
    }
    return *name != '\0';
}

/* List the names with letters that may be composed, and without marks. Returns their
 * number. Thousands of classes are usually of one form, so few are compared. */
static uint32_t list_composed(
    const struct fby_folder *folders, uint32_t n, const char **out)
{
    uint32_t n_composed = 0;
    for (uint32_t i = 0; i < n; i++) {
        const char *name = folders[i].name;
        if (has_other_letters(name) && !has_mark(name)) {
            out[n_composed++] = name;
        }
    }
    return n_composed;
}

/* Compare each of the folders that has marks with all the others that have none. */
static fby_err compare(struct fby_search *search,
    const struct fby_folder *folders, uint32_t n,
    const struct fby_folder *others, uint32_t n_others,
    struct fby_error_detail *why)
{
    const char **composed = fby_zalloc((n_others + 1) * sizeof(*composed));
    uint32_t     m        = list_composed(others, n_others, composed);
    fby_err      err      = FBY_OK;
    for (uint32_t i = 0; i < n && err == FBY_OK && m > 0; i++) {
        bool may_be = has_mark(folders[i].name);
        for (uint32_t k = 0; k < m && may_be && err == FBY_OK; k++) {
            err = is_decomposed(folders[i].name, composed[k])
                      ? refuse(search, folders[i].name, composed[k], why)
                      : FBY_OK;
        }
    }
    free(composed);
    return err;
}

fby_err fby_refuse_unicode_forms(struct fby_search *search,
    const struct fby_folder *classes, uint32_t n, struct fby_error_detail *why)
{
    if (search->class_depth != FBY_GUESS_ANY_DEPTH) {
        return FBY_OK;
    }
    FBY_TRY(compare(search, classes, n, classes, n, why));
    FBY_TRY(compare(search, classes, n, search->train, search->n_train, why));
    return compare(search, search->train, search->n_train, classes, n, why);
}
