/* SPDX-License-Identifier: Apache-2.0 */
/* simd.h - the vector instructions that this process uses.
 *
 * Every loop that uses vector instructions has a portable version too, and all
 * versions produce the same bytes. FOREBAY_SIMD=portable, avx2 or avx512 sets
 * the highest level to use: for tests, and to find a faulty processor. */
#ifndef FBY_COMMON_SIMD_H
#define FBY_COMMON_SIMD_H

enum fby_simd { /* each level includes the levels before it */
    FBY_SIMD_PORTABLE,
    FBY_SIMD_AVX2,
    /* F, BW, DQ, VL, VBMI, VBMI2, VNNI, GFNI: from Ice Lake and Zen 4 on */
    FBY_SIMD_AVX512
};

/* The highest level that the processor has and FOREBAY_SIMD allows. An unknown
 * value of FOREBAY_SIMD allows all levels and is logged once. Any thread. */
enum fby_simd fby_simd_level(void);

/* The highest level that the processor has. */
enum fby_simd fby_simd_of_cpu(void);

/* The name of `level`, as in FOREBAY_SIMD. */
const char *fby_simd_name(enum fby_simd level);

#endif
