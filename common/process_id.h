/* SPDX-License-Identifier: Apache-2.0 */
/* process_id.h - the id of this process, without a system call.
 *
 * getpid() is a system call (0.25 to 0.4 us on a busy machine), and each call of
 * the client compares the id to recognise a forked child. */
#ifndef FBY_COMMON_PROCESS_ID_H
#define FBY_COMMON_PROCESS_ID_H

#include <sys/types.h>

/* The id of this process, as getpid() returns it, but without a system call. It
 * is also right in a child that fork(), _Fork() or clone() made. Any thread. */
pid_t fby_process_id(void);

#endif
