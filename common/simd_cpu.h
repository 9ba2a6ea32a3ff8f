/* simd_cpu.h - what the processor has; one file for each architecture. */
#ifndef FBY_COMMON_SIMD_CPU_H
#define FBY_COMMON_SIMD_CPU_H

#include "common/simd.h"

enum fby_simd fby_simd_of_cpu(void);

#endif
