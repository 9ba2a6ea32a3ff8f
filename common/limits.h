/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - check at the start of a process that the system's limits leave
 * enough files, threads and memory.
 *
 * libzmq aborts the process when it gets no file descriptor or no thread, so
 * these are checked before its context is created. All functions give back what
 * they take. `user` is the program in the message, as "a worker". */
#ifndef FBY_COMMON_LIMITS_H
#define FBY_COMMON_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

/* Check that this process may open `needed` more files and sockets.
 * Errors: FBY_SYS  `why` has the limit and the number that is needed. */
FBY_CHECKED fby_err fby_limits_check_files(
    const char *user, uint32_t needed, struct fby_error_detail *why);

/* Check that `needed` more threads (at most 64) can run at the same time.
 * Errors: FBY_SYS */
FBY_CHECKED fby_err fby_limits_check_threads(
    const char *user, uint32_t needed, struct fby_error_detail *why);

/* Check that `needed` more bytes of address space can be mapped. No memory is
 * used for them. Errors: FBY_SYS */
FBY_CHECKED fby_err fby_limits_check_memory(
    const char *user, size_t needed, struct fby_error_detail *why);

/* The largest number of files that this process may have open. */
uint32_t fby_limits_max_files(void);

#endif
