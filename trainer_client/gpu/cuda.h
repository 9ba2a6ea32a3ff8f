/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h - a table of the CUDA functions that Forebay uses.
 *
 * cuda.cu fills the table with functions that call the CUDA runtime. A build
 * without nvcc has no table, and tests use another table. Unless noted, a
 * function makes one call of the runtime for the current device of the calling
 * thread. It returns 0 or the runtime's error number. Streams, events and pools
 * are the runtime's handles. As in CUDA, the streams NULL and 1 are the legacy
 * default stream, and 2 is the per-thread default stream. */
#ifndef FBY_CLIENT_GPU_CUDA_H
#define FBY_CLIENT_GPU_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct fby_cuda_about { /* a GPU */
    char     name[128];
    char     pci[16];      /* PCI address as in sysfs, like "0000:1b:00.0" */
    int      major, minor; /* compute capability */
    uint64_t bytes;        /* size of the device memory */
};

struct fby_cuda_launch { /* the kernels that expand one batch */
    void    *arena;      /* the batch's arena, copied to the device */
    uint64_t list;       /* offset of the list of segments in the arena */
    void    *out;        /* memory for the tensors, on the device */
    uint32_t blocks[3];  /* number of CUDA blocks, by enum fby_pass */
    uint32_t shared;     /* bytes of dynamic shared memory of FBY_PASS_EXPAND */
    void    *stream;
};

/* The most bytes of shared memory of a block, static and dynamic. load_kernels
 * enables this size, which CUDA requires above 48 KiB. */
enum { FBY_CUDA_SHARED = 51 << 10 };

struct fby_cuda {
    int not_ready; /* the result of event_query while the event is pending */
    int no_device; /* the result of device_count if there is no GPU */
    /* Version numbers are 1000 * major + 10 * minor; 0: no driver. */
    int (*driver_version)(int *out);
    int (*runtime_version)(int *out);
    int (*device_count)(int *out);
    int (*describe)(int device, struct fby_cuda_about *out);
    int (*use_device)(int device);
    int (*current_device)(int *out); /* creates no context */
    /* Exchange the thread's capture mode with *mode. The mode decides which
     * calls the thread may make while any thread captures a CUDA graph. */
    int (*exchange_capture_mode)(int *mode);
    int thread_local_mode; /* the mode that ignores other threads' captures */
    /* Load the kernels on the device. Call before its first launch. */
    int (*load_kernels)(void);
    /* Pin (lock and register) host memory, so that copies are asynchronous. */
    int (*pin)(void *memory, size_t size);
    int (*unpin)(void *memory);
    int (*allocate)(void **out, size_t size);
    int (*free)(void *memory);
    int (*pool_create)(int device, void **out);
    int (*pool_destroy)(void *pool);
    int (*pool_allocate)(void **out, size_t size, void *pool, void *stream);
    int (*pool_free)(void *memory, void *stream);
    int (*stream_create)(void **out); /* independent of stream NULL */
    int (*stream_destroy)(void *stream);
    int (*stream_wait)(void *stream, void *event); /* later work waits */
    int (*stream_sync)(void *stream);              /* this thread waits */
    int (*event_create)(void **out);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    /* Copy from pinned host memory to the device, asynchronously. */
    int (*copy)(void *to, const void *from, size_t size, void *stream);
    /* Launch a kernel for each pass that has blocks. */
    int (*launch)(const struct fby_cuda_launch *launch);
    /* failed_function: the runtime's function that failed last on the calling
     * thread, such as "cudaMalloc", or "". error_name and error_text: the name
     * and the text of an error number, such as "cudaErrorMemoryAllocation" and
     * "out of memory". The strings are static. */
    const char *(*failed_function)(void);
    const char *(*error_name)(int code);
    const char *(*error_text)(int code);
    /* begin_range: begin a named range of the calling thread for a profiler.
     * end_range: end the range that was begun last. */
    void (*begin_range)(const char *name);
    void (*end_range)(void);
};

#ifdef __cplusplus
extern "C" {
#endif
/* The table, or NULL if Forebay was built without CUDA. */
const struct fby_cuda *fby_cuda(void);

/* Turn `code`, which the last call of this thread returned, into an error.
 * Errors: FBY_SYS  `why` names the runtime's function and the error:
 *                  "cudaMalloc failed with 2
 *                  (cudaErrorMemoryAllocation: out of memory)" */
FBY_CHECKED fby_err fby_cuda_check(
    const struct fby_cuda *cuda, int code, struct fby_error_detail *why);
#ifdef __cplusplus
}
#endif

#endif
