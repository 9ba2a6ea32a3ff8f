/* SPDX-License-Identifier: Apache-2.0 */
/* guess_values.h - find the kinds of the values of lists and of JSON members. */
#ifndef FBY_CLI_INIT_GUESS_VALUES_H
#define FBY_CLI_INIT_GUESS_VALUES_H

#include "cli/init/guess.h"

/* Update the kind and the lengths of a list's column with one more value. */
void fby_guess_add_value(
    struct fby_init_member *member, const char *text, size_t size);

/* The kind of a column of kind `a` after a value of kind `b`. */
enum fby_init_value fby_guess_merge_values(
    enum fby_init_value a, enum fby_init_value b);

/* Count the keys of a JSON file `extension`, also those of objects in it: each
 * is a member of the split with that `key`. A list, text or number has the key
 * ".". Sets has_more_keys of the file's member, if there is one.
 * Errors: FBY_CONFIG  the text is no JSON. */
FBY_CHECKED fby_err fby_guess_add_json(struct fby_guess_split *split,
    const char *extension, const char *text, size_t size,
    struct fby_error_detail *why);

/* True for 1 to 9 digits, which fit 32 bits. */
bool fby_guess_is_digits(const char *text, size_t size);

/* True if all values of the column are numbers as people write them, of which some
 * are no numbers for a field: 0,5, 3%, nan. */
bool fby_guess_are_written_numbers(const struct fby_init_member *member);

/* True if the commas of some numbers of the column are before fractions, and others
 * have a point there, or commas before thousands. */
bool fby_guess_are_unclear_numbers(const struct fby_init_member *member);

#endif
