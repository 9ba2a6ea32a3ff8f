/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/init/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/names.h"
#include "common/mem.h"
#include "pipeline/text.h"

enum { MAX_WORD = 64 /* bytes; longer values are probably captions */ };

void fby_init_free_words(struct fby_init_member *member)
{
    free(member->words);
    member->words = NULL;
}

static void end_collection(struct fby_init_member *member)
{
    fby_init_free_words(member);
    member->no_classes = true;
}

/* Is the last part of a name one of the words? */
static bool is_one_of(const char *text, const char *const *words)
{
    char        name[FBY_NAME_SIZE];
    const char *dot = strrchr(text, '.');
    (void)fby_init_to_field_name(dot != NULL ? dot + 1 : text, name);
    return fby_text_is_one_of(name, words);
}

bool fby_init_is_class_name(const char *text)
{
    static const char *const words[] = {"label", "labels", "cls", "class",
        "classes", "class_name", "classname", "label_name", "category",
        "category_name", "target", "breed", "species", "y", NULL};
    return is_one_of(text, words);
}

bool fby_init_is_text_name(const char *text)
{
    static const char *const words[] = {"text", "caption", "answer",
        "transcription", "transcript", "sentence", "label_text", "plate",
        "license_plate", NULL};
    return is_one_of(text, words);
}

/* True for the column or the key of a label, by its name. */
static bool has_name_of_classes(const struct fby_init_member *member)
{
    return fby_init_is_class_name(
        member->key[0] != '\0' ? member->key : member->extension);
}

/* True if there is no place for one more class, and the values so far are not
 * all different, as captions are. */
static bool has_too_many(const struct fby_init_member *member)
{
    uint64_t n = member->words->range.n;
    return n == FBY_MAX_CLASS_NAMES &&
           (10 * member->words->n_values > 11 * n ||
               fby_init_is_label(member) || has_name_of_classes(member));
}

void fby_init_add_word(
    struct fby_init_member *member, const char *text, size_t size)
{
    uint32_t id = 0;
    if (member->no_classes) {
        return;
    }
    if (member->words == NULL) {
        member->words = fby_zalloc(sizeof(*member->words));
    }
    struct fby_init_words *words = member->words;
    fby_class_name_strip(&text, &size);
    (void)fby_class_name_skip_mark(&text, &size);
    words->n_values++;
    if (fby_class_names_find(&words->names, words->range, text, size, &id)) {
        return;
    }
    member->too_many_classes = size <= MAX_WORD && has_too_many(member);
    if (size > MAX_WORD || fby_class_names_add(&words->names, &words->range,
                               text, size, NULL) != FBY_OK) {
        end_collection(member);
    }
}

/* True if each value was there twice on average. One value alone is no class:
 * a column of it says nothing. */
static bool are_repeated(const struct fby_init_words *words)
{
    return words->range.n > 1 &&
           UINT64_C(2) * words->range.n <= words->n_values;
}

void fby_init_give_up_unique_words(struct fby_init_member *member)
{
    if (member->words != NULL && member->words->range.n > 1 &&
        !are_repeated(member->words)) {
        end_collection(member);
    }
}

bool fby_init_are_classes(const struct fby_init_member *member)
{
    if (member->no_classes || member->words == NULL ||
        member->value == FBY_INIT_DIGITS) {
        return false;
    }
    return are_repeated(member->words) || fby_init_is_label(member) ||
           (has_name_of_classes(member) && member->words->range.n > 1);
}

const char *fby_init_sorted_word(const struct fby_init_words *self, uint32_t i)
{
    return fby_class_name(
        &self->names, self->range, self->names.sorted[self->range.first + i]);
}

bool fby_init_is_named_label(const struct fby_init_member *member)
{
    return fby_init_are_classes(member) &&
           (fby_init_is_label(member) || has_name_of_classes(member));
}

/* The number of words of `its` that are not in `words`; *first is one of them. */
static uint32_t count_unknown(const struct fby_init_words *words,
    const struct fby_init_words *its, const char **first)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < its->range.n; i++) {
        const char *word = fby_init_sorted_word(its, i);
        uint32_t    id   = 0;
        if (!fby_class_names_find(
                &words->names, words->range, word, strlen(word), &id)) {
            *first = n == 0 ? word : *first;
            n++;
        }
    }
    return n;
}

void fby_init_compare_words(struct fby_init_member *member,
    const struct fby_init_member *other, const char *split, bool has_label)
{
    const struct fby_init_words *its   = other->words;
    const char                  *first = NULL;
    if (!fby_init_are_classes(member)) {
        return;
    }
    uint32_t n = its != NULL ? count_unknown(member->words, its, &first) : 0;
    bool     is_other =
        its == NULL || (has_label ? n > 0 : UINT64_C(2) * n > its->range.n);
    if (is_other && !fby_init_is_named_label(member)) {
        end_collection(member);
        snprintf(member->other_words, sizeof(member->other_words), "%s", split);
    } else if (n > 0 && member->unknown_class[0] == '\0' &&
               first[strspn(first, "0123456789")] != '\0') { /* no number */
        snprintf(member->unknown_class, sizeof(member->unknown_class),
            "split %s has '%s'", split, fby_text_show(first).text);
    }
}

/* ---- several labels in a word ---- */

/* Set *part and *n to the text from `at` to the next separator, without the blanks
 * around it. Returns where the rest begins; NULL: this is the last part. */
static const char *read_part(
    const char *at, char separator, const char **part, size_t *n)
{
    const char *end = strchr(at, separator);
    *part           = at;
    *n              = end != NULL ? (size_t)(end - at) : strlen(at);
    fby_class_name_strip(part, n);
    return end != NULL ? end + 1 : NULL;
}

static bool has_part(
    const char *word, char separator, const char *wanted, size_t size)
{
    const char *part  = NULL;
    size_t      n     = 0;
    bool        found = false;
    for (const char *at = word; at != NULL && !found;) {
        at    = read_part(at, separator, &part, &n);
        found = n == size && memcmp(part, wanted, n) == 0;
    }
    return found;
}

/* Has another word than `own` this part, or is it the part? */
static bool is_shared(const struct fby_init_words *words, uint32_t own,
    char separator, const char *part, size_t n)
{
    bool found = false;
    for (uint32_t i = 0; i < words->range.n && !found; i++) {
        found = i != own &&
                has_part(fby_init_sorted_word(words, i), separator, part, n);
    }
    return found;
}

/* May a column of this name have several labels in a cell? */
static bool is_plural(const char *name)
{
    static const char *const words[] = {"labels", "tags", "classes",
        "categories", "genres", "attributes", "findings", "keywords", NULL};
    size_t                   last    = strlen(name);
    while (last > 0 && strchr("_-.", name[last - 1]) == NULL) {
        last--;
    }
    return fby_text_is_one_of(name + last, words);
}

/* Are the parts of a word labels? If bars are between them, one must be in another
 * word; else all of them, and they must be words, unless the name is plural. */
static bool are_labels(const struct fby_init_words *words, uint32_t i,
    char separator, bool has_plural_name)
{
    bool        is_bar   = separator == '|' || separator == ';';
    const char *part     = NULL;
    size_t      n        = 0;
    uint32_t    id       = 0;
    uint32_t    n_parts  = 0;
    uint32_t    n_shared = 0;
    for (const char *at = fby_init_sorted_word(words, i); at != NULL;) {
        at            = read_part(at, separator, &part, &n);
        bool is_found = is_bar || has_plural_name
                            ? is_shared(words, i, separator, part, n)
                            : fby_class_names_find(
                                  &words->names, words->range, part, n, &id);
        n_parts += n > 0 ? 1 : 0;
        n_shared += n > 0 && is_found ? 1 : 0;
    }
    return n_parts > 1 && n_shared >= (is_bar ? 1 : n_parts);
}

/* The first word with a comma, if all words are lists: "['cat', 'dog']"; else NULL. */
static const char *find_list(const struct fby_init_words *words)
{
    const char *found = NULL;
    for (uint32_t i = 0; i < words->range.n; i++) {
        const char *word = fby_init_sorted_word(words, i);
        if (word[0] != '[' || word[strlen(word) - 1] != ']') {
            return NULL;
        }
        found = found == NULL && strchr(word, ',') != NULL ? word : found;
    }
    return found;
}

char fby_init_find_separator(
    const struct fby_init_member *member, const char **example)
{
    static const char separators[] = "|;, ";
    enum { MAX_LOOKS = 512 };
    if (!fby_init_are_classes(member)) {
        return '\0';
    }
    *example = find_list(member->words);
    if (*example != NULL) {
        return ',';
    }
    uint32_t n =
        member->words->range.n < MAX_LOOKS ? member->words->range.n : MAX_LOOKS;
    for (const char *separator = separators; *separator != '\0'; separator++) {
        for (uint32_t i = 0; i < n; i++) {
            if (are_labels(member->words, i, *separator,
                    is_plural(member->extension))) {
                *example = fby_init_sorted_word(member->words, i);
                return *separator;
            }
        }
    }
    return '\0';
}
