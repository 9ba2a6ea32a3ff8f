/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - anonymous memory mappings, with huge pages where they help.
 *
 * Large mappings are aligned to 2 MiB, and the kernel is asked for huge pages.
 * These take one page fault for 2 MiB instead of 512, and cause fewer TLB
 * misses. When /sys/kernel/mm/transparent_hugepage is `never`, or no huge page
 * is free, the kernel uses ordinary pages. No more memory becomes resident than
 * the size asked for, rounded up to ordinary pages. */
#ifndef FBY_COMMON_PAGES_H
#define FBY_COMMON_PAGES_H

#include <stddef.h>

enum { FBY_HUGE_PAGE = 2 << 20 }; /* bytes; smaller mappings get no huge page */

/* Map `size_bytes` > 0 of zeroed memory, page-aligned; NULL on failure. */
void *fby_pages_map(size_t size_bytes);

/* Like fby_pages_map, but without huge pages: for memory used only in parts. */
void *fby_pages_map_sparse(size_t size_bytes);

/* Unmap a whole mapping of either kind; NULL is allowed. */
void fby_pages_unmap(void *memory, size_t size_bytes);

#endif
