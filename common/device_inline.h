/* device_inline.h - functions that the host and a GPU are both compiled from:
 * plain arithmetic in headers. */
#ifndef FBY_COMMON_DEVICE_INLINE_H
#define FBY_COMMON_DEVICE_INLINE_H

#ifdef __CUDACC__
#define FBY_DEVICE_INLINE __host__ __device__ static inline
#else
#define FBY_DEVICE_INLINE static inline
#endif

#endif
