/* SPDX-License-Identifier: Apache-2.0 */
/* split_names.h - recognise names of folders that are splits and no classes,
 * such as trainA and testA. The functions are pure. */
#ifndef FBY_CLI_INIT_SPLIT_NAMES_H
#define FBY_CLI_INIT_SPLIT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "worker/source/listing.h"

/* True if the names are equal but for their split words, of which at most one is
 * train: X_train and X_test. */
bool fby_differ_in_split(const char *name, const char *other);

/* True if the `n` names look like those of splits: each begins with a split
 * word, of which one is train (train_a, val2017); or two names differ only in
 * these words (cars_train, cars_test; val, test). A class test_tube among others
 * is neither. *train is the index of a name with the word train; without one, of
 * a name that differs only in its word. */
bool fby_are_split_names(const char *const *names, uint32_t n, uint32_t *train);

/* True for a name with a split word, as above. */
bool fby_is_split_name(const char *name);

/* The usual names of splits, in the order in which they are added. */
enum { FBY_KNOWN_SPLITS = 5 };
extern const char *const fby_known_splits[FBY_KNOWN_SPLITS];

/* The split of a word in a name that begins with a split word, in any case
 * ("in1k-train-", "Coffee_TRAIN" and "dataTrain" give "train", "latest" none), the
 * first of them in the order above; NULL: none. */
const char *fby_split_word(const char *name);

/* The split of a folder with a usual name, in any case ("Training" gives
 * "train"); NULL: none. */
const char *fby_split_of_folder(const char *name);

/* The same for a file, by its name without the extension: train.csv; NULL: none. */
const char *fby_split_of_file(const char *name);

/* The split for evaluation that a folder or archive is called after, as val2017
 * or test.zip; NULL: none. */
const char *fby_evaluation_split_of(const char *name);

/* The folder of the split in a listing, by its usual names; NULL: none. */
const char *fby_find_split_folder(
    const struct fby_listing *listing, const char *split);

#endif
