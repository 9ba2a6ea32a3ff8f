/* SPDX-License-Identifier: Apache-2.0 */
#include "common/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum {
    MAX_THREADS   = 64,
    MANY_FILES    = 65536, /* at such a limit, open files are not counted */
    BYTES_PER_MIB = 1 << 20
};

uint32_t fby_limits_max_files(void)
{
    struct rlimit files;
    return getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < UINT32_MAX
               ? (uint32_t)files.rlim_cur
               : UINT32_MAX;
}

static uint32_t count_open_files(uint32_t limit)
{
    uint32_t n = 0;
    for (uint32_t fd = 0; fd < limit; fd++) {
        n += fcntl((int)fd, F_GETFD) >= 0 ? 1 : 0;
    }
    return n;
}

fby_err fby_limits_check_files(
    const char *user, uint32_t needed, struct fby_error_detail *why)
{
    uint32_t limit = fby_limits_max_files();
    if (limit >= MANY_FILES) {
        return FBY_OK;
    }
    uint32_t total = count_open_files(limit) + needed;
    return total <= limit
               ? FBY_OK
               : fby_error_set(why, FBY_SYS,
                     "%s needs %u open files and sockets here, and the limit "
                     "is %u; raise it (ulimit -n)",
                     user, total, limit);
}

static void *wait_for_release(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

fby_err fby_limits_check_threads(
    const char *user, uint32_t needed, struct fby_error_detail *why)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t       threads[MAX_THREADS];
    uint32_t        n     = needed < MAX_THREADS ? needed : MAX_THREADS;
    uint32_t        n_run = 0;
    int             error = 0;
    pthread_mutex_lock(&lock);
    while (n_run < n && error == 0) {
        error = pthread_create(&threads[n_run], NULL, wait_for_release, &lock);
        n_run += error == 0 ? 1 : 0;
    }
    pthread_mutex_unlock(&lock);
    for (uint32_t i = 0; i < n_run; i++) {
        pthread_join(threads[i], NULL);
    }
    return error == 0
               ? FBY_OK
               : fby_error_set(why, FBY_SYS,
                     "%s needs %u more threads here, and can start %u: %s; "
                     "raise the limits on processes and memory (ulimit -u, "
                     "ulimit -v, or those of the container)",
                     user, n, n_run, strerror(error));
}

fby_err fby_limits_check_memory(
    const char *user, size_t needed, struct fby_error_detail *why)
{
    void *memory = mmap(NULL, needed, PROT_NONE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return fby_error_set(why, FBY_SYS,
            "%s needs %zu MiB more address space here: %s; raise the limit on "
            "memory (ulimit -v)",
            user, (needed + BYTES_PER_MIB - 1) / BYTES_PER_MIB,
            strerror(errno));
    }
    munmap(memory, needed);
    return FBY_OK;
}
