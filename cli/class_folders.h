/* class_folders.h - do class ids mean the same in all splits?
 *
 * Class folders are numbered by their names within each split, so two splits
 * with other folders number them apart, and nothing else would say so. */
#ifndef FBY_CLI_CLASS_FOLDERS_H
#define FBY_CLI_CLASS_FOLDERS_H

#include "cli/local.h"

/* Class folders of two splits. */
struct fby_class_folders {
    bool     apart; /* else there is nothing to say */
    uint32_t id;    /* stands for two names: */
    char     here[FBY_NAME_SIZE];
    char     there[FBY_NAME_SIZE];
    char     split[FBY_NAME_SIZE]; /* the other one */
};

/* Compare the class folders of the loaded split `name` (NULL: as of
 * fby_pipeline_split) with those of each other split. What cannot be looked at
 * on this machine is passed over. */
void fby_class_folders_compare(const struct fby_local *local, const char *name,
    struct fby_class_folders *out);

/* Does a field have the number of the class folder? Pure. */
bool fby_class_folders_used(const struct fby_content *content);

/* What to say of splits that are apart, and what to do. */
enum { FBY_CLASS_FOLDERS_TEXT = 400 };
void fby_class_folders_say(
    const struct fby_class_folders *found, char out[FBY_CLASS_FOLDERS_TEXT]);
extern const char fby_class_folders_advice[];

/* The first id that stands for two names; false when there is none. Pure. */
bool fby_class_folders_differ(const char *const *here, uint32_t n_here,
    const char *const *there, uint32_t n_there, uint32_t *id);

#endif
