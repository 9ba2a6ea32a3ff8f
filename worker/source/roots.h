/* SPDX-License-Identifier: Apache-2.0 */
/* roots.h - the directories that a worker was started with, called roots.
 *
 * A pipeline comes from a client, so a worker opens no data outside its roots.
 * The pipeline names files as `NAME:path`. The worker was given the root NAME
 * as NAME=DIR, and resolves the path beneath the directory DIR. Links are
 * followed if their targets are beneath this directory or another root's. */
#ifndef FBY_WORKER_SOURCE_ROOTS_H
#define FBY_WORKER_SOURCE_ROOTS_H

#include <stdint.h>

#include "common/err.h"

struct fby_object_ops; /* storage.h */
struct fby_roots;
struct fby_root; /* one directory */

struct fby_roots *fby_roots_create(void);
void              fby_roots_destroy(struct fby_roots **self_p);

/* Add the root `NAME=DIR` of the command line. DIR is absolute, and a directory
 * that can be opened.
 *
 * Thread: one, before others use the roots; all other functions: any.
 * Errors: FBY_USAGE (NAME or the form), FBY_CONFIG (DIR). */
FBY_CHECKED fby_err fby_roots_add(struct fby_roots *self,
    const char *name_and_dir, struct fby_error_detail *why);

/* A function for the target of a link, an absolute path beneath no root. */
typedef void fby_roots_outside(void *arg, const char *target);

/* Follow links to anywhere, and call `fn` for each target beneath no root. Only
 * for a program that looks at data for its own user, never for a worker.
 * Thread: as fby_roots_add; `fn` is called in any thread that opens a file. */
void fby_roots_follow_outside(
    struct fby_roots *self, fby_roots_outside *fn, void *arg);

/* The number of roots, and the name of root `i` in the order of adding. */
uint32_t    fby_roots_count(const struct fby_roots *self);
const char *fby_roots_name(const struct fby_roots *self, uint32_t i);

/* Find the root with this name; *root is borrowed from `self`.
 * Errors: FBY_USAGE; `why` lists the names of all roots. */
FBY_CHECKED fby_err fby_roots_find(const struct fby_roots *self,
    const char *name, const struct fby_root **root,
    struct fby_error_detail *why);

const char *fby_root_name(const struct fby_root *root);
const char *fby_root_dir(const struct fby_root *root); /* absolute, no links */

/* Returns the functions that fby_root_create_with_ops() got; NULL for a root of
 * local files. */
const struct fby_object_ops *fby_root_object_ops(const struct fby_root *root);

/* Create a root with the name and directory of `parent`, whose files are read
 * through `ops` instead of the file system. `state` is for these functions, and
 * borrowed. fby_root_open() fails for such a root. */
struct fby_root *fby_root_create_with_ops(const struct fby_root *parent,
    const struct fby_object_ops *ops, void *state);
void             fby_root_destroy(struct fby_root **self_p);
void            *fby_root_state(const struct fby_root *root);

/* The type that the file at a path must have. */
enum fby_root_want { FBY_WANT_FILE, FBY_WANT_DIR, FBY_WANT_EITHER };

/* Open `path` ("" is the root itself) beneath the root for reading. The caller
 * closes *fd. Pipes and devices are refused without blocking.
 *
 * Errors: FBY_NOT_FOUND  the path does not exist, or has another type
 *         FBY_USAGE      the path, or a link in it, leads out of all roots
 *         FBY_CONFIG     no permission, or a name that is too long
 *         FBY_AGAIN      too many open files, or no memory
 *         FBY_IO         any other error of the system */
FBY_CHECKED fby_err fby_root_open(const struct fby_root *root, const char *path,
    enum fby_root_want want, int *fd, struct fby_error_detail *why);

#endif
