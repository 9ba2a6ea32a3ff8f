/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - the folder of keys that `forebay keys` keeps.
 *
 * secure/key_file.h and secure/allowed.h describe its files. All files are
 * written by rename and readable by their owner only. Two commands at once are
 * carried out one after the other. */
#ifndef FBY_CLI_KEYS_FOLDER_H
#define FBY_CLI_KEYS_FOLDER_H

#include "secure/allowed.h"

/* Create the folder, if it does not exist, with the server's key and an empty
 * list. Errors: FBY_CONFIG  it has keys already; FBY_IO. */
FBY_CHECKED fby_err fby_keys_init(
    const char *dir, struct fby_error_detail *why);

struct fby_keys_new {
    enum fby_role role; /* worker or trainer */
    const char   *name;
    const char   *roots; /* "A,B"; NULL: all */
    const char   *jobs;  /* pattern; NULL: all */
};

/* Write the file of a new key, whose path `path` receives, and add the key to
 * the list. Errors: FBY_CONFIG  the name or a limit is invalid, or the name is
 * in use; FBY_IO. */
FBY_CHECKED fby_err fby_keys_add(const char *dir,
    const struct fby_keys_new *key, char path[4096],
    struct fby_error_detail *why);

/* Remove the key from the list, and its file if it is in the folder.
 * Errors: FBY_NOT_FOUND  the list has no such name; FBY_CONFIG; FBY_IO. */
FBY_CHECKED fby_err fby_keys_remove(
    const char *dir, const char *name, struct fby_error_detail *why);

/* Read the list. The caller calls fby_allowed_fini.
 * Errors: FBY_CONFIG  it cannot be read or is malformed. */
FBY_CHECKED fby_err fby_keys_list(
    const char *dir, struct fby_allowed *out, struct fby_error_detail *why);

#endif
