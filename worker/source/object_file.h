/* SPDX-License-Identifier: Apache-2.0 */
/* object_file.h - the storage (storage.h) of local files. */
#ifndef FBY_WORKER_SOURCE_OBJECT_FILE_H
#define FBY_WORKER_SOURCE_OBJECT_FILE_H

#include "worker/source/storage.h"

extern const struct fby_object_ops fby_local_file_ops;

/* The file descriptor of a local file, for mmap; -1 for any other object.
 * Ownership: still the object's. */
int fby_object_local_fd(const struct fby_object *self);

#endif
