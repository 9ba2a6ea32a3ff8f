/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - collect the values of a column, a JSON key or the .cls members, and
 * decide whether they are the names of classes.
 *
 * Names of classes are short, few and repeated; captions are long, or nearly all
 * different. A column whose name says so (label, class, ...), and .cls members,
 * need not repeat their values. */
#ifndef FBY_CLI_INIT_WORDS_H
#define FBY_CLI_INIT_WORDS_H

#include "pipeline/class_names.h"

struct fby_init_member; /* member.h */

struct fby_init_words { /* the different values of a member */
    struct fby_class_names names;
    struct fby_name_range  range;
    uint64_t               n_values; /* values that were collected */
};

/* True for a name that columns and keys of labels have: "label", "breed". The
 * last part counts: "annotation.class". */
bool fby_init_is_class_name(const char *text);

/* True for a name that columns and keys of texts have: "caption", "answer". */
bool fby_init_is_text_name(const char *text);

/* Collect a value, without the blanks around it and a byte order mark. A value
 * that no class can be named, and one too many, end the collection:
 * member->words becomes NULL. */
void fby_init_add_word(
    struct fby_init_member *member, const char *text, size_t size);

/* End the collection if most values so far are different, as captions are. */
void fby_init_give_up_unique_words(struct fby_init_member *member);

/* True if the words of the member are the names of classes. */
bool fby_init_are_classes(const struct fby_init_member *member);

/* True for classes whose member says so: .cls, or a name such as "label". */
bool fby_init_is_named_label(const struct fby_init_member *member);

/* Compare with the words of `other`, the same member of the split `split`.
 *
 * Words of a named label remain classes, and the first one that the member lacks
 * is noted in member->unknown_class. Words of other members do so if at most
 * half of the split's words are new; with `has_label`, if none is. Otherwise the
 * member has no classes, because a split that is refused for them would be of no
 * use. `has_label`: another member is a named label. */
void fby_init_compare_words(struct fby_init_member *member,
    const struct fby_init_member *other, const char *split, bool has_label);

/* The character between the labels, if the words of classes seem to be combinations
 * of several: "cat,dog" beside "cat" and "dog", "Edema|Mass" beside "Mass". *example
 * is one of them. NUL: they are not. */
char fby_init_find_separator(
    const struct fby_init_member *member, const char **example);

/* The name at position `i` in byte order. */
const char *fby_init_sorted_word(const struct fby_init_words *self, uint32_t i);

/* Release the words of a member, which may have none. */
void fby_init_free_words(struct fby_init_member *member);

#endif
