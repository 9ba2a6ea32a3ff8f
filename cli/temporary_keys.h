/* SPDX-License-Identifier: Apache-2.0 */
/* temporary_keys.h - the keys of a cluster that a command starts for itself.
 *
 * They are in memory only: each file is a memfd, which ends with the last
 * process that has it open. A child process inherits the descriptors of its own
 * keys; a trainer of the same user reads its key by path
 * (fby_temporary_key_path_by_pid). */
#ifndef FBY_CLI_TEMPORARY_KEYS_H
#define FBY_CLI_TEMPORARY_KEYS_H

#include "common/err.h"

struct fby_temporary_keys { /* descriptors, closed on exec; -1: none */
    int server;             /* key files (secure/key_file.h) */
    int worker;
    int trainer;
    int allowed; /* the list of worker and trainer (secure/allowed.h) */
};

#define FBY_NO_TEMPORARY_KEYS ((struct fby_temporary_keys){-1, -1, -1, -1})

/* Make new keys. Ownership: the caller calls fby_temporary_keys_close.
 * Errors: FBY_SYS with the cause; nothing stays open. */
FBY_CHECKED fby_err fby_temporary_keys_create(
    struct fby_temporary_keys *out, struct fby_error_detail *why);
/* Close all; `self` is FBY_NO_TEMPORARY_KEYS afterwards. */
void fby_temporary_keys_close(struct fby_temporary_keys *self);

/* The path of one of the files, for a process that has its descriptor. */
struct fby_temporary_key_path {
    char text[48];
};
struct fby_temporary_key_path fby_temporary_key_path(int fd);
/* The path for other processes of the same user, while this process runs. */
struct fby_temporary_key_path fby_temporary_key_path_by_pid(int fd);

#endif
