/* cuda.h - a table of the CUDA functions that Forebay uses.
 *
 * cuda.cu sets the table to functions of the CUDA runtime. A build without nvcc
 * has no table, and tests have a table of their own. Unless noted, a function
 * makes one call of the runtime, on the current device of the calling thread.
 * It returns 0 or the runtime's error number. Streams and events are handles of
 * the runtime. A stream is a cudaStream_t, so NULL and 1 are the legacy default
 * stream, and 2 is the per-thread default stream. */
#ifndef FBY_CLIENT_GPU_CUDA_H
#define FBY_CLIENT_GPU_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct fby_cuda_about {
    char     name[128];
    char     pci[16];      /* PCI address as in sysfs, like "0000:1b:00.0" */
    int      major, minor; /* compute capability */
    uint64_t bytes;        /* of device memory */
};

struct fby_cuda_launch {
    void    *arena;     /* on the device */
    uint64_t list;      /* offset in the arena of the list of segments */
    void    *out;       /* memory of the tensors, on the device */
    uint32_t blocks[3]; /* of each pass (enum fby_pass) */
    uint32_t shared;    /* dynamic shared memory of FBY_PASS_EXPAND, bytes */
    void    *stream;
};

/* The most bytes of shared memory of a block, static and dynamic. */
enum { FBY_CUDA_SHARED = 50 << 10 };

struct fby_cuda {
    int not_ready; /* returned by event_query while the event is pending */
    /* Versions are 1000 major + 10 minor. A missing driver has 0. */
    int (*driver_version)(int *out);
    int (*runtime_version)(int *out);
    int (*device_count)(int *out);
    int (*describe)(int device, struct fby_cuda_about *out);
    int (*use_device)(int device);
    int (*current_device)(int *out); /* of the thread; creates no context */
    /* Exchange the thread's stream capture mode with *mode, which says what
     * calls are allowed while a thread captures a CUDA graph. */
    int (*exchange_capture_mode)(int *mode);
    int thread_local_mode; /* the mode for captures of the same thread only */
    /* Load the kernels. Called once per device, before the first launch. */
    int (*load_kernels)(void);
    int (*pin)(void *memory, size_t size);
    int (*unpin)(void *memory);
    int (*allocate)(void **out, size_t size);
    int (*free)(void *memory);
    int (*pool_create)(int device, void **out);
    int (*pool_destroy)(void *pool);
    int (*pool_allocate)(void **out, size_t size, void *pool, void *stream);
    int (*pool_free)(void *memory, void *stream);
    int (*stream_create)(void **out); /* non-blocking */
    int (*stream_destroy)(void *stream);
    int (*stream_wait)(void *stream, void *event);
    int (*stream_sync)(void *stream); /* blocks */
    int (*event_create)(void **out);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    /* Asynchronous, from pinned host memory. */
    int (*copy)(void *to, const void *from, size_t size, void *stream);
    /* Launch a kernel for each pass that has blocks. */
    int (*launch)(const struct fby_cuda_launch *launch);
    /* failed_function: the function of the runtime that failed last in a call
     * of this table on the calling thread, such as "cudaMalloc", or "".
     * error_name and error_text: those of an error number, such as
     * "cudaErrorMemoryAllocation" and "out of memory". Strings are static. */
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
 * Errors: FBY_SYS  `why` has the runtime's function, and number, name and text
 *                  of the error: "cudaMalloc failed with 2
 *                  (cudaErrorMemoryAllocation: out of memory)" */
FBY_CHECKED fby_err fby_cuda_check(
    const struct fby_cuda *cuda, int code, struct fby_error_detail *why);
#ifdef __cplusplus
}
#endif

#endif
