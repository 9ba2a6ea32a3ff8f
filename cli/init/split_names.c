/* SPDX-License-Identifier: Apache-2.0 */
/* split_names.c - names of folders that are splits: see split_names.h. */
#include "cli/init/split_names.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pipeline/text.h"
#include "worker/source/shard.h"

const char *const fby_known_splits[FBY_KNOWN_SPLITS] = {
    "train", "validation", "valid", "val", "test"};

/* The split words, and what the split is called. The longer ones first:
 * "training" begins with "train". */
static const struct {
    const char *word, *split;
    bool        no_folder; /* a folder of that name is no split */
    bool        is_whole;  /* and no longer word is the split */
} words[] = {{.word = "validation", .split = "validation"},
    {.word = "evaluation", .split = "val", .no_folder = true},
    {.word = "training", .split = "train"},
    {.word = "testing", .split = "test"}, {.word = "train", .split = "train"},
    {.word = "valid", .split = "valid"},
    {.word = "eval", .split = "val", .no_folder = true},
    {.word = "test", .split = "test"}, {.word = "val", .split = "val"},
    {.word = "dev", .split = "val", .is_whole = true}};
enum { N_WORDS = sizeof(words) / sizeof(words[0]) };

struct split_word { /* in a name; length 0: none */
    size_t begin;
    size_t length;
    bool   is_train;
    bool   is_whole; /* no letter of the same word follows: "trainA" */
};

static bool is_delimiter(char c)
{
    return c == '_' || c == '-' || c == ' ' || c == '.';
}

static struct split_word match_word(const char *name, size_t begin)
{
    for (size_t i = 0; i < N_WORDS; i++) {
        size_t length = strlen(words[i].word);
        if (strncasecmp(name + begin, words[i].word, length) == 0 &&
            !(words[i].is_whole &&
                isalpha((unsigned char)name[begin + length]))) {
            return (struct split_word){.begin = begin,
                .length                       = length,
                .is_train = strcmp(words[i].split, "train") == 0,
                .is_whole = !islower((unsigned char)name[begin + length])};
        }
    }
    return (struct split_word){.length = 0};
}

/* The split word at the beginning of a name, or the first whole one in it. */
static struct split_word find_word(const char *name)
{
    struct split_word found = match_word(name, 0);
    for (size_t i = 1; found.length == 0 && name[0] != '\0' && name[i] != '\0';
         i++) {
        if (is_delimiter(name[i - 1])) {
            found        = match_word(name, i);
            found.length = found.is_whole ? found.length : 0;
        }
    }
    return found;
}

bool fby_differ_in_split(const char *name, const char *other)
{
    struct split_word a = find_word(name);
    struct split_word b = find_word(other);
    bool              is_same_word =
        a.length == b.length &&
        strncasecmp(name + a.begin, other + b.begin, a.length) == 0;
    return a.is_whole && b.is_whole && !is_same_word &&
           !(a.is_train && b.is_train) && a.begin == b.begin &&
           strncmp(name, other, a.begin) == 0 &&
           strcmp(name + a.begin + a.length, other + b.begin + b.length) == 0;
}

static bool has_other_split(
    const char *const *names, uint32_t n, const char *name)
{
    uint32_t i = 0;
    while (i < n && !fby_differ_in_split(name, names[i])) {
        i++;
    }
    return i < n;
}

/* The first name that is a whole split word with another beside it, as val and
 * test; n: none. */
static uint32_t find_pair_without_train(const char *const *names, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && !has_other_split(names, n, names[i])) {
        i++;
    }
    return i;
}

/* Does a digit follow the word, or nothing: val_256, eval15, test? */
static bool is_numbered(const char *name, struct split_word word)
{
    const char *rest = name + word.begin + word.length;
    rest += is_delimiter(*rest) ? 1 : 0;
    return word.begin == 0 && word.is_whole &&
           (*rest == '\0' || isdigit((unsigned char)*rest));
}

/* Does the name end with the word, and the other one begin as the name does:
 * images_evaluation and images_background? */
static bool ends_beside(
    const char *name, struct split_word word, const char *other)
{
    return word.begin > 0 && name[word.begin + word.length] == '\0' &&
           strncmp(name, other, word.begin) == 0;
}

enum { FEW = 4 /* folders of splits; more are classes */ };

/* The first name without a split word, if another one is a split for evaluation
 * that is alone: data_256 beside val_256; n: none. */
static uint32_t find_beside_evaluation(const char *const *names, uint32_t n)
{
    uint32_t other = 0;
    while (other < n && fby_is_split_name(names[other])) {
        other++;
    }
    for (uint32_t i = 0; n <= FEW && other < n && i < n; i++) {
        struct split_word word = find_word(names[i]);
        if (word.length > 0 && !word.is_train &&
            (is_numbered(names[i], word) ||
                ends_beside(names[i], word, names[other]))) {
            return other;
        }
    }
    return n;
}

bool fby_is_split_name(const char *name)
{
    return find_word(name).length > 0;
}

bool fby_are_split_names(const char *const *names, uint32_t n, uint32_t *train)
{
    uint32_t n_splits = 0;
    bool     has_pair = false;
    *train            = n;
    for (uint32_t i = 0; i < n; i++) {
        struct split_word word = find_word(names[i]);
        n_splits += word.length > 0 && word.begin == 0 ? 1 : 0;
        if (word.is_train && word.is_whole && *train == n) {
            *train   = i;
            has_pair = has_other_split(names, n, names[i]);
        }
    }
    if (*train == n) {
        *train = find_pair_without_train(names, n);
        *train = *train < n ? *train : find_beside_evaluation(names, n);
        return *train < n;
    }
    return n >= 2 && (n_splits == n || has_pair);
}

/* ---- the split of a name ---- */

/* Does a word begin at `at`: the val of my_val and of myVal, not of interval? */
static bool begins_word(const char *name, const char *at)
{
    return at == name || !isalpha((unsigned char)at[-1]) ||
           (islower((unsigned char)at[-1]) && isupper((unsigned char)at[0]));
}

/* Does the word that ends before `at` go on? Not in devImages. */
static bool goes_on(const char *at)
{
    return isalpha((unsigned char)at[0]) &&
           !(islower((unsigned char)at[-1]) && isupper((unsigned char)at[0]));
}

/* True if a word of the name begins with `word`, in any case. If `is_whole`, it is
 * that word: device is no dev. */
static bool has_word(const char *name, const char *word, bool is_whole)
{
    size_t      size = strlen(word);
    const char *at   = strcasestr(name, word);
    while (at != NULL &&
           (!begins_word(name, at) || (is_whole && goes_on(at + size)))) {
        at = strcasestr(at + 1, word);
    }
    return at != NULL;
}

const char *fby_split_word(const char *name)
{
    for (size_t k = 0; k < FBY_KNOWN_SPLITS; k++) {
        for (size_t i = 0; i < N_WORDS; i++) {
            if (strcmp(words[i].split, fby_known_splits[k]) == 0 &&
                has_word(name, words[i].word, words[i].is_whole)) {
                return fby_known_splits[k];
            }
        }
    }
    return NULL;
}

const char *fby_split_of_folder(const char *name)
{
    for (size_t i = 0; i < N_WORDS; i++) {
        if (!words[i].no_folder &&
            fby_equal_ignoring_case(name, words[i].word)) {
            return words[i].split;
        }
    }
    return NULL;
}

const char *fby_split_of_file(const char *name)
{
    char        stem[FBY_NAME_SIZE];
    const char *dot = strrchr(name, '.');
    snprintf(stem, sizeof(stem), "%.*s",
        dot != NULL ? (int)(dot - name) : FBY_NAME_SIZE, name);
    return fby_split_of_folder(stem);
}

const char *fby_evaluation_split_of(const char *name)
{
    char   word[FBY_NAME_SIZE];
    size_t n = strcspn(name, ".");
    while (n > 0 && isdigit((unsigned char)name[n - 1])) {
        n--;
    }
    snprintf(word, sizeof(word), "%.*s", (int)n, name);
    const char *split = fby_split_of_folder(word);
    if (strcasecmp(word, "dev") == 0) {
        return NULL; /* data may lie in a folder of that name */
    }
    return split != NULL && fby_text_is_evaluation_split(split) ? split : NULL;
}

/* The directory with that name, in upper or lower case; NULL: none. */
static const char *find_dir(const struct fby_listing *listing, const char *name)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        if (listing->entries[i].is_dir &&
            fby_equal_ignoring_case(listing->entries[i].name, name)) {
            return listing->entries[i].name;
        }
    }
    return NULL;
}

const char *fby_find_split_folder(
    const struct fby_listing *listing, const char *split)
{
    const char *found = find_dir(listing, split);
    for (size_t i = 0; found == NULL && i < N_WORDS; i++) {
        if (!words[i].no_folder && strcmp(words[i].split, split) == 0) {
            found = find_dir(listing, words[i].word);
        }
    }
    return found;
}
