/* SPDX-License-Identifier: Apache-2.0 */
/* split_names.h - recognise names of folders that are splits and no classes,
 * such as trainA and testA. The functions are pure. */
#ifndef FBY_CLI_INIT_SPLIT_NAMES_H
#define FBY_CLI_INIT_SPLIT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* True if the `n` names look like those of splits: each begins with a split
 * word, of which one is train (train_a, val2017); or two names differ only in
 * these words (cars_train, cars_test; val, test). A class test_tube among others
 * is neither. *train is the index of a name with the word train; without one, of
 * a name that differs only in its word. */
bool fby_are_split_names(const char *const *names, uint32_t n, uint32_t *train);

/* True for a name with a split word, as above. */
bool fby_is_split_name(const char *name);

#endif
