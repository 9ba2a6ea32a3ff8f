/* SPDX-License-Identifier: Apache-2.0 */
/* Architectures other than x86-64: portable code only. */
#include "common/simd.h"

enum fby_simd fby_simd_of_cpu(void)
{
    return FBY_SIMD_PORTABLE;
}
