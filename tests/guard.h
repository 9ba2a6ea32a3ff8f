/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - copies of bytes beside a page that cannot be accessed.
 *
 * A read or write one byte too far ends the test (SIGSEGV) in any build, not
 * only under AddressSanitizer. */
#ifndef FBY_TESTS_GUARD_H
#define FBY_TESTS_GUARD_H

#include "tests/test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Pages for `size` bytes, and a guard page before or after them. */
struct fby_guarded {
    unsigned char *bytes; /* may be read and written */
    size_t         size;
    unsigned char *map; /* all pages, guard page included */
    size_t         map_bytes;
};

static inline size_t fby_guard_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static inline struct fby_guarded fby_guarded_map(size_t size)
{
    size_t             page = fby_guard_page();
    struct fby_guarded copy = {.size = size};
    copy.map_bytes          = (size + page - 1) / page * page + page;
    copy.map                = mmap(NULL, copy.map_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(copy.map, MAP_FAILED);
    return copy;
}

/* A copy of `bytes` (NULL: zeros) that ends where the guard page begins. The
 * copy is aligned to 8 bytes only if `size` is a multiple of 8. */
static inline struct fby_guarded fby_guarded_copy(
    const void *bytes, size_t size)
{
    struct fby_guarded copy  = fby_guarded_map(size);
    unsigned char     *guard = copy.map + copy.map_bytes - fby_guard_page();
    copy.bytes               = guard - size;
    if (bytes != NULL && size > 0) {
        memcpy(copy.bytes, bytes, size);
    }
    assert_int_equal(mprotect(guard, fby_guard_page(), PROT_NONE), 0);
    return copy;
}

/* A copy of `bytes` (NULL: zeros) that begins where the guard page ends, for
 * code that must not access bytes before its buffer. */
static inline struct fby_guarded fby_guarded_copy_behind(
    const void *bytes, size_t size)
{
    struct fby_guarded copy = fby_guarded_map(size);
    copy.bytes              = copy.map + fby_guard_page();
    if (bytes != NULL && size > 0) {
        memcpy(copy.bytes, bytes, size);
    }
    assert_int_equal(mprotect(copy.map, fby_guard_page(), PROT_NONE), 0);
    return copy;
}

static inline void fby_guarded_free(struct fby_guarded *copy)
{
    if (copy->map != NULL) {
        munmap(copy->map, copy->map_bytes);
    }
    *copy = (struct fby_guarded){0};
}

#endif
