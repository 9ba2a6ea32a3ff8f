/* one_thread.c - for tests that promise to start no thread (fby_one_thread in
 * cmake/forebay.cmake): the linker puts this before pthread_create(). */
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
