/* cuda.h - all CUDA functions that we call, as a table.
 *
 * cuda.cu fills it with the runtime's functions. A build without nvcc has no
 * table, and tests have their own. Each function makes one call, on the calling
 * thread's current device, and returns 0 or the runtime's error number. Streams
 * and events are the runtime's handles: a consumer's stream is a cudaStream_t,
 * so NULL and 1 are the legacy default stream and 2 the per-thread one. */
#ifndef FBY_CLIENT_GPU_CUDA_H
#define FBY_CLIENT_GPU_CUDA_H

#include <stddef.h>
#include <stdint.h>

struct fby_cuda_about {
    char     name[128];
    char     pci[16];      /* "0000:1b:00.0", as sysfs names it */
    int      major, minor; /* compute capability */
    uint64_t bytes;        /* of device memory */
};

struct fby_cuda_launch {
    void    *arena; /* on the device */
    uint64_t list;  /* offset of the list of segments */
    void    *out;
    uint32_t blocks[3]; /* per pass */
    uint32_t shared;    /* dynamic shared memory, bytes */
    void    *stream;
};

/* Most shared memory of a block, bytes, static and dynamic. */
enum { FBY_CUDA_SHARED = 50 << 10 };

struct fby_cuda {
    int not_ready; /* returned by event_query while the event is pending */
    /* Versions as 1000 major + 10 minor; driver: 0 if there is none. */
    int (*driver_version)(int *out);
    int (*runtime_version)(int *out);
    int (*count)(int *out);
    int (*describe)(int device, struct fby_cuda_about *out);
    int (*use)(int device);
    int (*chosen)(int *out); /* the thread's device; sets up nothing */
    /* Exchange the thread's stream capture mode with *mode. */
    int (*capture_mode)(int *mode);
    int thread_local_mode;
    /* Load the kernels. Once per device, before the first launch. */
    int (*prepare)(void);
    int (*pin)(void *memory, size_t size);
    int (*unpin)(void *memory);
    int (*allocate)(void **out, size_t size);
    int (*free)(void *memory);
    int (*pool_create)(int device, void **out);
    int (*pool_destroy)(void *pool);
    int (*pool_take)(void **out, size_t size, void *pool, void *stream);
    int (*pool_give)(void *memory, void *stream);
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
    /* failed: the runtime's function that failed last in a call of this table
     * on the calling thread, as "cudaMalloc"; "" if none did. name and text of
     * an error: "cudaErrorMemoryAllocation" and "out of memory". All static. */
    const char *(*failed)(void);
    const char *(*name)(int code);
    const char *(*text)(int code);
    /* Begin a named range of the calling thread for profilers, and end the one
     * begun last. Without a profiler they do nothing. */
    void (*stage)(const char *name);
    void (*stage_end)(void);
};

#ifdef __cplusplus
extern "C" {
#endif
/* The table; NULL: built without CUDA. */
const struct fby_cuda *fby_cuda(void);
#ifdef __cplusplus
}
#endif

#endif
