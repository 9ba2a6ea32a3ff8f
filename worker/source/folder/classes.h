/* classes.h - labels of class folders: are there as many ids as folders?
 *
 * Known when the data is opened, so that nobody learns it from the first sample
 * of a class too many, or loses its samples as bad ones. */
#ifndef FBY_WORKER_SOURCE_FOLDER_CLASSES_H
#define FBY_WORKER_SOURCE_FOLDER_CLASSES_H

#include "worker/source/dataset.h"

/* Errors: FBY_CONFIG  a field from the folder has `classes`, but fewer than
 *                     there are class folders. */
FBY_CHECKED fby_err fby_classes_check(const struct fby_dataset *dataset,
    const struct fby_content *content, struct fby_why *why);

#endif
