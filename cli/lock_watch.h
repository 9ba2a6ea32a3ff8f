/* SPDX-License-Identifier: Apache-2.0 */
/* lock_watch.h - whether other processes still hold a read lock on a file.
 *
 * `forebay up --while-used FILE` runs as long as a process has a POSIX read
 * lock (fcntl, F_SETLK, F_RDLCK) on the file. The kernel releases such a lock
 * when its process ends in any way, and a forked child does not inherit it. The
 * users of the cluster therefore need not tell it that they end. */
#ifndef FBY_CLI_LOCK_WATCH_H
#define FBY_CLI_LOCK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

/* While no lock was ever seen, a watch ends only after this time: the process
 * that starts a cluster may leave it to another one. */
#define FBY_LOCK_WATCH_GRACE_NS (5 * INT64_C(1000000000))

struct fby_lock_watch {
    int     fd;         /* of the file; -1: no file, the watch never ends */
    int64_t start_ns;   /* time of the first check; 0: none yet */
    bool    was_locked; /* some check has seen a lock */
};

/* Open the file, which must exist. Child processes do not inherit it.
 * Ownership: the caller closes the watch.
 * Errors:    FBY_IO if the file cannot be opened, or has no locks. */
FBY_CHECKED fby_err fby_lock_watch_open(struct fby_lock_watch *self,
    const char *path, struct fby_error_detail *why);

/* Check the file. Returns true once no process uses it any more. Then a read
 * lock can no longer be taken, and a file that was empty holds the text "ended".
 * A process whose lock fails, or that finds the text, starts another cluster. A
 * file that can only be opened for reading gets neither lock nor text.
 * Blocks: never. */
bool fby_lock_watch_has_ended(struct fby_lock_watch *self, int64_t now_ns);

/* Close the file. The watch then never ends. */
void fby_lock_watch_close(struct fby_lock_watch *self);

/* The decision after a check at `now_ns`, which saw a lock or none. Returns
 * true when the watch ends: there is no lock, and there was one before or the
 * grace time is over. */
bool fby_lock_watch_update(
    struct fby_lock_watch *self, bool is_locked, int64_t now_ns);

#endif
