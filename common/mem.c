/* SPDX-License-Identifier: Apache-2.0 */
#include "common/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *abort_if_null(void *memory, size_t size_bytes)
{
    if (memory == NULL) {
        fprintf(stderr, "OUT-OF-MEMORY %zu bytes\n", size_bytes);
        abort();
    }
    return memory;
}

void *fby_zalloc(size_t size_bytes)
{
    return abort_if_null(
        calloc(1, size_bytes > 0 ? size_bytes : 1), size_bytes);
}

void *fby_realloc(void *memory, size_t size_bytes)
{
    size_t size = size_bytes > 0 ? size_bytes : 1;
    return abort_if_null(realloc(memory, size), size);
}

void *fby_memdup(const void *memory, size_t size_bytes)
{
    void *copy = fby_zalloc(size_bytes);
    if (size_bytes > 0) {
        memcpy(copy, memory, size_bytes);
    }
    return copy;
}

char *fby_strdup(const char *text)
{
    return fby_memdup(text, strlen(text) + 1);
}
