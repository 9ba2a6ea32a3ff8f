/* SPDX-License-Identifier: Apache-2.0 */
/* class_folders.h - check that class ids mean the same in all splits.
 *
 * Class folders (one folder for each class) are numbered by name, in all splits
 * by those of the split train unless the pipeline says otherwise. If it does,
 * or if there is no train, one id may mean two classes. No other check detects
 * this. */
#ifndef FBY_CLI_CLASS_FOLDERS_H
#define FBY_CLI_CLASS_FOLDERS_H

#include "cli/local.h"

/* The first difference between the class folders of two splits. */
struct fby_class_folders_difference {
    bool     differ;              /* false: no difference; the rest is unset */
    uint32_t id;                  /* the class id with two names */
    char     name[FBY_NAME_SIZE]; /* name of class `id` in the loaded split */
    char     other_name[FBY_NAME_SIZE];  /* its name in the other split */
    char     other_split[FBY_NAME_SIZE]; /* name of the other split */
};

/* Compare the folders that number the classes of the loaded split with those of
 * each other split, up to the first difference. Splits that cannot be read are
 * skipped. `name` is that of the loaded split; NULL: the default of
 * fby_pipeline_make_split. */
void fby_class_folders_compare(const struct fby_local *local, const char *name,
    struct fby_class_folders_difference *out);

/* Describe the difference `found` in one line of up to about 400 bytes. */
void fby_class_folders_describe(
    const struct fby_class_folders_difference *found, char *out, size_t size);

/* One line that tells the user how to remove a difference. */
extern const char fby_class_folders_advice[];

/* True if an id of both lists has different names; *id is then the first such
 * id. Pure. */
bool fby_class_folders_differ(const char *const *names, uint32_t n_names,
    const char *const *others, uint32_t n_others, uint32_t *id);

#endif
