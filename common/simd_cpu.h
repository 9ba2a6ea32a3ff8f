/* simd_cpu.h - the processor's vector instructions; one .c file per
 * architecture. */
#ifndef FBY_COMMON_SIMD_CPU_H
#define FBY_COMMON_SIMD_CPU_H

#include "common/simd.h"

/* The highest level that the processor supports. */
enum fby_simd fby_simd_of_cpu(void);

#endif
