/* roots.h - the directories that a worker was started with, and nothing else.
 *
 * A pipeline comes from a client, so it names no file of the worker's: it says
 * `NAME:path`, and the path is resolved beneath the directory that the worker
 * was given as NAME=DIR. Links are followed while they stay beneath it. */
#ifndef FBY_WORKER_SOURCE_ROOTS_H
#define FBY_WORKER_SOURCE_ROOTS_H

#include <stdint.h>

#include "common/err.h"

struct fby_object_ops;
struct fby_roots;
struct fby_root;

struct fby_roots *fby_roots_create(void);
void              fby_roots_destroy(struct fby_roots **self_p);

/* Add one root from its command line form `NAME=DIR`; DIR must be absolute and
 * a directory that can be read.
 *
 * Thread: before the roots are shared; all other calls may come from any.
 * Errors: FBY_USAGE (the form), FBY_CONFIG (the directory), with `why`. */
FBY_CHECKED fby_err fby_roots_add(
    struct fby_roots *self, const char *name_and_dir, struct fby_why *why);

/* How many roots there are, and their names in the order they were added. */
uint32_t    fby_roots_count(const struct fby_roots *self);
const char *fby_roots_name(const struct fby_roots *self, uint32_t i);

/* The root of that name, borrowed from `self`.
 * Errors: FBY_USAGE; `why` names those there are. */
FBY_CHECKED fby_err fby_roots_named(const struct fby_roots *self,
    const char *name, const struct fby_root **root, struct fby_why *why);

const char *fby_root_name(const struct fby_root *root);
const char *fby_root_dir(const struct fby_root *root); /* absolute, no links */

/* How the files beneath it are read: see object.h. */
const struct fby_object_ops *fby_root_object_ops(const struct fby_root *root);

enum fby_root_want { FBY_WANT_FILE, FBY_WANT_DIR, FBY_WANT_EITHER };

/* Open `path` ("" is the root itself) for reading, beneath the root; the
 * caller closes *fd. Never blocks on a pipe or device: those are refused.
 *
 * Errors: FBY_NOT_FOUND  there is nothing of that name, or of that type
 *         FBY_USAGE      the path or a link in it leads out of the root
 *         FBY_CONFIG     no permission, or a name beyond the file system's
 *         FBY_AGAIN      too many files are open, or no memory is left
 *         FBY_IO         anything else the system says */
FBY_CHECKED fby_err fby_root_open(const struct fby_root *root, const char *path,
    enum fby_root_want want, int *fd, struct fby_why *why);

#endif
