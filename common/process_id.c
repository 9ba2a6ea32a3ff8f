/* SPDX-License-Identifier: Apache-2.0 */
/* process_id.c - the id is kept in a page that the kernel clears in a child
 * (MADV_WIPEONFORK, Linux 4.14). A handler of pthread_atfork() would miss
 * children of _Fork() and of the system call. The page is never unmapped. */
#include "common/process_id.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic(pid_t) *known; /* 0: not known yet; NULL: there is no page */

static void map_page(void)
{
    size_t size = sizeof(*known); /* the kernel rounds it up to a page */
    void  *page = mmap(
         NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return;
    }
    if (madvise(page, size, MADV_WIPEONFORK) == 0) {
        known = page;
    } else {
        munmap(page, size);
    }
}

pid_t fby_process_id(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, map_page);
    pid_t id = known != NULL ? atomic_load(known) : 0;
    if (id == 0) {
        id = getpid();
        if (known != NULL) {
            atomic_store(known, id);
        }
    }
    return id;
}
