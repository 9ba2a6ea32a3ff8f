#include "common/pages.h"

#include <stdint.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

void *fby_pages_map_sparse(size_t size_bytes)
{
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

/* Map memory that is aligned to a huge page, which kernels before 6.7 do not do
 * by themselves: map more, and unmap what is before and behind. So the last,
 * partial huge page consists of ordinary pages. */
static void *map_aligned(size_t size)
{
    uint8_t *memory = fby_pages_map_sparse(size + FBY_HUGE_PAGE);
    if (memory == NULL) {
        return NULL;
    }
    size_t before = -(uintptr_t)memory % (size_t)FBY_HUGE_PAGE; /* to align */
    size_t after  = FBY_HUGE_PAGE - before;
    fby_pages_unmap(before > 0 ? memory : NULL, before);
    fby_pages_unmap(memory + before + size, after);
    return memory + before;
}

void *fby_pages_map(size_t size_bytes)
{
    if (size_bytes < FBY_HUGE_PAGE || size_bytes > SIZE_MAX / 2) {
        return fby_pages_map_sparse(size_bytes);
    }
    size_t pages  = (size_bytes + PAGE - 1) / PAGE * PAGE;
    void  *memory = map_aligned(pages);
    if (memory != NULL) {
        (void)madvise(memory, pages, MADV_HUGEPAGE);
    }
    return memory;
}

void fby_pages_unmap(void *memory, size_t size_bytes)
{
    if (memory != NULL) {
        munmap(memory, size_bytes);
    }
}
