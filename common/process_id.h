/* process_id.h - the id of this process, without a system call.
 *
 * getpid() is a system call (0.25 to 0.4 us on a busy machine), and each call of
 * the client compares the id to recognise a forked child. */
#ifndef FBY_COMMON_PROCESS_ID_H
#define FBY_COMMON_PROCESS_ID_H

#include <sys/types.h>

/* What getpid() returns, also in a child that was forked in any way. */
pid_t fby_process_id(void);

#endif
