/* SPDX-License-Identifier: Apache-2.0 */
/* splits.c - compare the splits of a guess: see splits.h. */
#include "cli/init/splits.h"

#include <stdio.h>
#include <string.h>

#include "cli/init/arrays.h"
#include "cli/init/guess_members.h"
#include "cli/init/guess_values.h"
#include "cli/init/names.h"
#include "cli/init/words.h"
#include "common/shell.h"
#include "pipeline/schema.h"
#include "pipeline/sources/traits.h"

/* True for a member that a field probably reads from each sample. */
static bool is_needed(
    const struct fby_guess_split *split, const struct fby_init_member *member)
{
    bool is_text = split->kind == FBY_SOURCE_SHARDS && fby_init_is_text(member);
    return member->always &&
           (member->value != FBY_INIT_NO_VALUE || fby_init_is_picture(member) ||
               fby_init_is_label(member) || member->array.wire != 0 || is_text);
}

static const struct fby_init_member *find_member(
    const struct fby_guess_split *split, const struct fby_init_member *wanted)
{
    uint32_t i = fby_guess_find_key(split, wanted->extension, wanted->key);
    return i < split->n_members ? &split->members[i] : NULL;
}

/* The kind of the values of a member, in plain words. */
static const char *kind_of_values(enum fby_init_value value)
{
    static const char *const words[] = {
        [FBY_INIT_NO_VALUE]     = "files",
        [FBY_INIT_DIGITS]       = "whole numbers",
        [FBY_INIT_NUMBER]       = "numbers",
        [FBY_INIT_TEXT]         = "texts",
        [FBY_INIT_NUMBER_LISTS] = "lists of numbers",
        [FBY_INIT_TEXT_LISTS]   = "lists of texts",
        [FBY_INIT_OTHER_LISTS]  = "other lists",
        [FBY_INIT_OBJECT]       = "objects",
        [FBY_INIT_MIXED]        = "values of several kinds",
        [FBY_INIT_BOOLEANS]     = "true and false",
        [FBY_INIT_NULLS]        = "nulls",
    };
    return words[value];
}

/* The name of the column or key. */
static const char *name_of(const struct fby_init_member *member)
{
    return member->key[0] != '\0' ? member->key : member->extension;
}

/* Has the split numbers below 0 in place of ids of classes? */
static bool lacks_label(
    const struct fby_init_member *first, const struct fby_init_member *other)
{
    return first->value == FBY_INIT_DIGITS && other->value == FBY_INIT_NUMBER &&
           !other->has_real && fby_init_is_class_name(name_of(first));
}

/* Are the values of both splits numbers, which one field can read? */
static bool are_numbers(
    const struct fby_init_member *first, const struct fby_init_member *other)
{
    return first->value <= FBY_INIT_NUMBER && other->value <= FBY_INIT_NUMBER &&
           first->value != FBY_INIT_NO_VALUE &&
           other->value != FBY_INIT_NO_VALUE;
}

static void compare_member(const struct fby_init_member *first,
    const struct fby_init_member *other, char reason[FBY_REASON_SIZE])
{
    const char *name = name_of(first);
    if (other == NULL || !other->always) {
        snprintf(reason, FBY_REASON_SIZE, "%s samples have no %s",
            other == NULL ? "its" : "some of its", name);
    } else if (lacks_label(first, other)) {
        snprintf(reason, FBY_REASON_SIZE,
            "its %s has numbers below 0, such as the -1 of samples without a "
            "label: to stream the split by itself, give init its file alone; "
            "to stream all splits without labels, write all lists without "
            "this column",
            name);
    } else if (fby_guess_merge_values(first->value, other->value) !=
                   first->value &&
               !are_numbers(first, other)) {
        snprintf(reason, FBY_REASON_SIZE,
            "its %s has %s, that of the first split %s: make them alike, and "
            "run init again",
            name, kind_of_values(other->value), kind_of_values(first->value));
    } else if (other->has_words != first->has_words) {
        snprintf(reason, FBY_REASON_SIZE, "its %s has %s", name,
            other->has_words ? "words, not numbers" : "numbers, not words");
    } else if (!fby_init_are_alike(&first->array, &other->array)) {
        snprintf(reason, FBY_REASON_SIZE, "its %s has another shape",
            first->extension);
    }
}

/* Write the reason if the other split has no masks where the first has some. */
static void compare_masks(const struct fby_init_member *first,
    const struct fby_init_member *other, char reason[FBY_REASON_SIZE])
{
    if (first->may_be_ids && other != NULL && !other->may_be_ids) {
        bool is_late = other->no_ids[0] != '\0';
        snprintf(reason, FBY_REASON_SIZE,
            "its %s has no class ids as in the first split: %s%s",
            first->extension, is_late ? other->no_ids : "the first file ",
            is_late ? "" : fby_guess_why_no_ids(other));
    }
}

static const struct fby_column *find_column(
    const struct fby_guess_split *split, const char *name)
{
    for (uint32_t i = 0; i < split->n_columns; i++) {
        if (strcmp(split->columns[i].name, name) == 0) {
            return &split->columns[i];
        }
    }
    return NULL;
}

static void compare_column(const struct fby_column *first,
    const struct fby_column *other, char reason[FBY_REASON_SIZE])
{
    if (other == NULL) {
        snprintf(reason, FBY_REASON_SIZE, "it has no column %s", first->name);
    } else if (other->role != first->role || other->type != first->type ||
               other->n_dims != first->n_dims ||
               other->dense_width != first->dense_width ||
               memcmp(other->dims, first->dims, sizeof(first->dims)) != 0) {
        snprintf(reason, FBY_REASON_SIZE,
            "its column %s has another type or shape", first->name);
    }
}

/* Write the reason of a split of another kind. */
static void compare_kinds(const struct fby_guess_split *first,
    const struct fby_guess_split *other, char reason[FBY_REASON_SIZE])
{
    char word[140];
    bool is_path =
        (other->kind == FBY_SOURCE_FOLDER || other->kind == FBY_SOURCE_LIST) &&
        fby_shell_quote(other->pattern, word, sizeof(word));
    snprintf(reason, FBY_REASON_SIZE, "it is given as '%s', not as '%s'%s%s",
        fby_source_traits(other->kind)->key->name,
        fby_source_traits(first->kind)->key->name,
        is_path ? "; to stream it by itself: forebay init " : "",
        is_path ? word : "");
}

/* Write the reason if one split has class folders and the other has none. */
static void compare_depths(const struct fby_guess_split *first,
    const struct fby_guess_split *other, char reason[FBY_REASON_SIZE])
{
    char word[140];
    if (other->class_depth > 0) {
        snprintf(reason, FBY_REASON_SIZE,
            "it has class folders, '%s' has none; to read both without "
            "classes: --class-depth 0",
            first->name);
        return;
    }
    bool fits = fby_shell_quote(other->pattern, word, sizeof(word));
    snprintf(reason, FBY_REASON_SIZE,
        "it has no class folders; to stream it by itself: forebay init %s; to "
        "read both without classes: --class-depth 0",
        fits ? word : "FOLDER");
}

/* True for a picture whose extension has no name before it: jpg, not mask.png. */
static bool is_format(const struct fby_init_member *member)
{
    return fby_init_is_picture(member) &&
           strchr(member->extension, '.') == NULL;
}

/* True if each sample of a split has one picture, whatever its format: then the
 * field of the picture can read the formats of all splits. */
static bool has_any_format(const struct fby_guess_split *split)
{
    uint32_t n_formats = 0;
    uint32_t n_always  = 0;
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_member *member = &split->members[i];
        n_formats += is_format(member) ? 1 : 0;
        n_always += is_format(member) && member->always ? 1 : 0;
    }
    return split->kind == FBY_SOURCE_FOLDER && n_formats > 0 && n_always < 2;
}

void fby_init_compare_splits(const struct fby_guess_split *first,
    const struct fby_guess_split *other, char reason[FBY_REASON_SIZE])
{
    bool any_format = has_any_format(first) && has_any_format(other);
    bool has_masks  = fby_guess_has_masks(first);
    reason[0]       = '\0';
    if (other->kind != first->kind) {
        compare_kinds(first, other, reason);
    } else if (other->mismatch[0] != '\0') {
        snprintf(reason, FBY_REASON_SIZE, "%s", other->mismatch);
    } else if (other->class_depth != first->class_depth) {
        compare_depths(first, other, reason);
    }
    for (uint32_t i = 0; reason[0] == '\0' && i < first->n_members; i++) {
        const struct fby_init_member *member = &first->members[i];
        if (is_needed(first, member) && !(any_format && is_format(member))) {
            compare_member(member, find_member(other, member), reason);
        }
        if (reason[0] == '\0' && has_masks && is_needed(first, member)) {
            compare_masks(member, find_member(other, member), reason);
        }
    }
    for (uint32_t i = 0; reason[0] == '\0' && i < first->n_columns; i++) {
        compare_column(&first->columns[i],
            find_column(other, first->columns[i].name), reason);
    }
}

static void raise_to(uint32_t *largest, uint32_t number)
{
    *largest = number > *largest ? number : *largest;
}

static bool has_named_label(const struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        if (fby_init_is_named_label(&split->members[i])) {
            return true;
        }
    }
    return false;
}

/* Add the formats of pictures that only `other` has. */
static void merge_formats(
    struct fby_guess_split *first, const struct fby_guess_split *other)
{
    for (uint32_t i = 0; i < other->n_members; i++) {
        const struct fby_init_member *its = &other->members[i];
        if (is_format(its) && find_member(first, its) == NULL &&
            first->n_members < FBY_GUESS_MEMBERS) {
            struct fby_init_member *added = &first->members[first->n_members++];
            *added                        = *its;
            added->count                  = 0;
            added->always                 = false;
        }
    }
}

void fby_init_merge_split(
    struct fby_guess_split *first, const struct fby_guess_split *other)
{
    bool has_label = has_named_label(first);
    if (has_any_format(first) && has_any_format(other)) {
        merge_formats(first, other);
    }
    for (uint32_t i = 0; i < first->n_members; i++) {
        struct fby_init_member       *member = &first->members[i];
        const struct fby_init_member *its    = find_member(other, member);
        if (its != NULL) {
            raise_to(&member->longest, its->longest);
            raise_to(&member->max_length, its->max_length);
            fby_init_merge_arrays(&member->array, &its->array);
            if (are_numbers(member, its)) {
                member->value =
                    fby_guess_merge_values(member->value, its->value);
            }
            member->has_real = member->has_real || its->has_real;
            member->has_wide = member->has_wide || its->has_wide;
            member->rounded =
                member->rounded != 0 ? member->rounded : its->rounded;
            member->has_long = member->has_long || its->has_long;
            if (member->padded[0] == '\0') {
                memcpy(member->padded, its->padded, sizeof(member->padded));
            }
            member->some_words_unread =
                member->some_words_unread || its->some_words_unread;
            fby_init_compare_words(member, its, other->name, has_label);
        }
    }
}
