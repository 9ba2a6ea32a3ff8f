/* SPDX-License-Identifier: Apache-2.0 */
/* device_inline.h - the specifiers of inline functions that are compiled for
 * the host and for a GPU. */
#ifndef FBY_COMMON_DEVICE_INLINE_H
#define FBY_COMMON_DEVICE_INLINE_H

#ifdef __CUDACC__
#define FBY_DEVICE_INLINE __host__ __device__ static inline
#else
#define FBY_DEVICE_INLINE static inline
#endif

#endif
