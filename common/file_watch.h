/* SPDX-License-Identifier: Apache-2.0 */
/* file_watch.h - log that a process can open no more files and connections.
 *
 * Without a free file descriptor libzmq accepts no connection, and says nothing.
 */
#ifndef FBY_COMMON_FILE_WATCH_H
#define FBY_COMMON_FILE_WATCH_H

#include <stdint.h>

struct fby_file_watch { /* starts zeroed */
    int64_t check_ns;   /* time of the next check */
    int64_t log_ns;     /* earliest time of the next line */
};

/* Check once a second whether a file can be opened; if not, log FILES-USED-UP,
 * once a minute. Blocks: never. */
void fby_file_watch_tick(struct fby_file_watch *self, int64_t now_ns);

#endif
