/* SPDX-License-Identifier: Apache-2.0 */
/* Map and unmap memory. Large mappings are aligned by hand. */
#include "common/pages.h"

#include <stdint.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096 }; /* size of an ordinary page */

void *fby_pages_map_sparse(size_t size_bytes)
{
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

/* Map `size` bytes that are aligned to a huge page. Kernels before 6.7 do not
 * align mappings. So FBY_HUGE_PAGE more bytes are mapped, and those before and
 * behind the aligned `size` bytes are unmapped. */
static void *map_aligned(size_t size)
{
    uint8_t *memory = fby_pages_map_sparse(size + FBY_HUGE_PAGE);
    if (memory == NULL) {
        return NULL;
    }
    /* -address mod SIZE is the distance to the next multiple of SIZE. */
    size_t before = -(uintptr_t)memory % (size_t)FBY_HUGE_PAGE;
    size_t after  = FBY_HUGE_PAGE - before;
    fby_pages_unmap(before > 0 ? memory : NULL, before);
    fby_pages_unmap(memory + before + size, after);
    return memory + before;
}

void *fby_pages_map(size_t size_bytes)
{
    if (size_bytes < FBY_HUGE_PAGE || size_bytes > SIZE_MAX / 2) {
        return fby_pages_map_sparse(size_bytes); /* small, or too large */
    }
    size_t rounded = (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    void  *memory  = map_aligned(rounded);
    if (memory != NULL) {
        (void)madvise(memory, rounded, MADV_HUGEPAGE);
    }
    return memory;
}

void fby_pages_unmap(void *memory, size_t size_bytes)
{
    if (memory != NULL) {
        munmap(memory, size_bytes);
    }
}
