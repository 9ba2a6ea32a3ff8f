/* mem.h - allocation for start-up and control-plane objects.
 *
 * These are small and few; when they fail the machine is lost, so we say so
 * and stop instead of carrying an error path nobody can test. Payload memory
 * does not come from here but from bounded pools, which answer FBY_FULL. */
#ifndef FBY_COMMON_MEM_H
#define FBY_COMMON_MEM_H

#include <stddef.h>

/* Zeroed memory, never NULL; release it with free(). */
void *fby_zalloc(size_t size_bytes);

/* realloc() that never returns NULL; new bytes are not cleared. */
void *fby_regrow(void *memory, size_t size_bytes);

/* Copies that are never NULL; release them with free(). */
char *fby_strdup(const char *text);
void *fby_memdup(const void *memory, size_t size_bytes);

#endif
