/* class_folders.h - check that class ids mean the same in all splits.
 *
 * Class folders are numbered by name within each split. Two splits with
 * different folders therefore number classes differently, and no other check
 * notices it. */
#ifndef FBY_CLI_CLASS_FOLDERS_H
#define FBY_CLI_CLASS_FOLDERS_H

#include "cli/local.h"

/* The first difference between the class folders of two splits. */
struct fby_class_folders {
    bool     differ; /* false: no difference; the rest is unset */
    uint32_t id;     /* the class id with two names: */
    char     here[FBY_NAME_SIZE];
    char     there[FBY_NAME_SIZE];
    char     split[FBY_NAME_SIZE]; /* the other split, of `there` */
};

/* Compare the class folders of the loaded split `name` (NULL: the default of
 * fby_pipeline_split) with those of each other split, up to the first
 * difference. Splits that this machine cannot read are skipped. */
void fby_class_folders_compare(const struct fby_local *local, const char *name,
    struct fby_class_folders *out);

/* True if some field takes its value from the class folder. Pure. */
bool fby_class_folders_used(const struct fby_content *content);

enum { FBY_CLASS_FOLDERS_TEXT = 400 };
/* Describe a difference that was found, as one line. */
void fby_class_folders_describe(
    const struct fby_class_folders *found, char out[FBY_CLASS_FOLDERS_TEXT]);

/* How to remove the difference, as one line. */
extern const char fby_class_folders_advice[];

/* Set *id to the first id whose names differ; false if all common ids agree.
 * Pure. */
bool fby_class_folders_differ(const char *const *here, uint32_t n_here,
    const char *const *there, uint32_t n_there, uint32_t *id);

#endif
