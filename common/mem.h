/* mem.h - allocation for start-up and control-plane objects.
 *
 * These objects are small and few. A failed allocation prints OUT-OF-MEMORY and
 * aborts, because an error path for it could not be tested. Payload memory
 * comes from bounded pools instead, which return FBY_FULL. */
#ifndef FBY_COMMON_MEM_H
#define FBY_COMMON_MEM_H

#include <stddef.h>

/* Zeroed memory, never NULL; release with free(). */
void *fby_zalloc(size_t size_bytes);

/* realloc() that never returns NULL; new bytes are not cleared. */
void *fby_regrow(void *memory, size_t size_bytes);

/* A copy, never NULL; release with free(). */
char *fby_strdup(const char *text);
void *fby_memdup(const void *memory, size_t size_bytes);

#endif
