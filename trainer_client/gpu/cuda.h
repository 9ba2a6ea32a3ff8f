/* cuda.h - all of CUDA that we call, as a table of functions.
 *
 * cuda.cu fills it with the runtime's; a build without nvcc has none, and tests
 * have one of their own. Functions answer 0 or the runtime's error number; they
 * do nothing but their call, on the calling thread's device. Streams and
 * events are the runtime's handles: a consumer's stream is cudaStream_t as it
 * is, so NULL and 1 are the legacy default stream and 2 the thread's own. */
#ifndef FBY_CLIENT_GPU_CUDA_H
#define FBY_CLIENT_GPU_CUDA_H

#include <stddef.h>
#include <stdint.h>

struct fby_cuda_about {
    char     name[128];
    char     pci[16];      /* "0000:1b:00.0", as sysfs names it */
    int      major, minor; /* compute capability */
    uint64_t bytes;        /* of its memory */
};

struct fby_cuda_launch {
    void    *arena; /* on the device */
    uint64_t list;  /* where in it */
    void    *out;
    uint32_t blocks[3]; /* of each pass */
    uint32_t shared;    /* bytes, at most FBY_CUDA_SHARED */
    void    *stream;
};

enum { FBY_CUDA_SHARED = 50 << 10 };

struct fby_cuda {
    int not_ready; /* the answer of event_query for "not yet" */
    /* Versions as 1000 major + 10 minor; driver: 0 when there is none. */
    int (*driver_version)(int *out);
    int (*runtime_version)(int *out);
    int (*count)(int *out);
    int (*describe)(int device, struct fby_cuda_about *out);
    int (*use)(int device);
    int (*chosen)(int *out); /* by the thread; sets up nothing */
    /* Set the thread's capture mode to *mode, *mode to what it was. */
    int (*capture_mode)(int *mode);
    int thread_local_mode;
    /* Once a device, before the first launch. */
    int (*prepare)(void);
    int (*pin)(void *memory, size_t size);
    int (*unpin)(void *memory);
    int (*allocate)(void **out, size_t size);
    int (*free)(void *memory);
    int (*pool_create)(int device, void **out);
    int (*pool_destroy)(void *pool);
    int (*pool_take)(void **out, size_t size, void *pool, void *stream);
    int (*pool_give)(void *memory, void *stream);
    int (*stream_create)(void **out); /* that waits for no other */
    int (*stream_destroy)(void *stream);
    int (*stream_wait)(void *stream, void *event);
    int (*stream_sync)(void *stream); /* waits */
    int (*event_create)(void **out);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event);
    /* From pinned memory. */
    int (*copy)(void *to, const void *from, size_t size, void *stream);
    /* A kernel for each pass that has blocks. */
    int (*launch)(const struct fby_cuda_launch *launch);
    /* The runtime's function that failed last in a call of this table on the
     * calling thread: "cudaMalloc"; "" before. An error's name,
     * "cudaErrorMemoryAllocation", and text, "out of memory". All static. */
    const char *(*failed)(void);
    const char *(*name)(int code);
    const char *(*text)(int code);
    /* What profilers show of the calling thread: a stage, until the end of the
     * one begun last. Without a profiler they do nothing. */
    void (*stage)(const char *name);
    void (*stage_end)(void);
};

/* NULL: built without CUDA. */
#ifdef __cplusplus
extern "C"
#endif
    const struct fby_cuda *
    fby_cuda(void);

#endif
