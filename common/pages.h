/* pages.h - large memory straight from the system.
 *
 * What is large lies where huge pages fit, and the system is asked for them:
 * one page fault for 2 MiB instead of 512, and fewer misses of address
 * translation. That is a wish: where /sys/kernel/mm/transparent_hugepage says
 * `never`, or no such page is free, it is ordinary memory. No more is ever
 * resident than was asked for, rounded up to ordinary pages. */
#ifndef FBY_COMMON_PAGES_H
#define FBY_COMMON_PAGES_H

#include <stddef.h>

enum { FBY_HUGE_PAGE = 2 << 20 }; /* bytes; smaller memory asks for none */

/* `size_bytes` > 0 of zeroed memory, page-aligned, or NULL: there is none. */
void *fby_pages_map(size_t size_bytes);

/* The same of which only parts will be touched: no huge pages are asked for. */
void *fby_pages_map_sparse(size_t size_bytes);

/* Give either back, all of it; NULL is fine. */
void fby_pages_unmap(void *memory, size_t size_bytes);

#endif
