/* SPDX-License-Identifier: Apache-2.0 */
/* mem.h - allocation of all memory that does not hold data of batches.
 *
 * These allocations are small and few. One that fails prints OUT-OF-MEMORY and
 * aborts, because an error path for this failure could not be tested. The data
 * of batches is in bounded pools instead, which return FBY_FULL. */
#ifndef FBY_COMMON_MEM_H
#define FBY_COMMON_MEM_H

#include <stddef.h>
#include <stdlib.h>

/* Zeroed memory, never NULL; release with free(). */
void *fby_zalloc(size_t size_bytes);

/* realloc() that never returns NULL; new bytes are not cleared. */
void *fby_realloc(void *memory, size_t size_bytes);

/* A copy, never NULL; release with free(). */
char *fby_strdup(const char *text);
void *fby_memdup(const void *memory, size_t size_bytes);

/* free() for an owned const text; NULL is allowed. A union avoids the cast. */
static inline void fby_free_text(const char *text)
{
    union {
        const char *text;
        void       *memory;
    } owned = {.text = text};
    free(owned.memory);
}

#endif
