/* SPDX-License-Identifier: Apache-2.0 */
/* one_thread.c - fails a test that starts a thread. The linker puts this before
 * pthread_create() (fby_one_thread in cmake/forebay.cmake). */
#include <stdio.h>
#include <stdlib.h>

/* NOLINTBEGIN(readability-identifier-naming): what the linker calls it */
void __wrap_pthread_create(void);

void __wrap_pthread_create(void)
{
    fputs("this test starts a thread: take it out of fby_one_thread, so that "
          "ThreadSanitizer sees it\n",
        stderr);
    abort();
}
/* NOLINTEND(readability-identifier-naming) */
