/* simd.h - which vector instructions this process uses.
 *
 * Every kernel has a portable version, and all versions of a kernel make the
 * same bytes. FOREBAY_SIMD=portable, avx2 or avx512 holds back faster ones: for
 * tests, and for finding out whether a processor is at fault. */
#ifndef FBY_COMMON_SIMD_H
#define FBY_COMMON_SIMD_H

enum fby_simd { /* each includes those before it */
    FBY_SIMD_PORTABLE,
    FBY_SIMD_AVX2,
    /* F, BW, DQ, VL, VBMI, VBMI2, VNNI, GFNI: since Ice Lake and Zen 4 */
    FBY_SIMD_AVX512
};

/* The best that the processor has and FOREBAY_SIMD allows; an unknown word
 * there is warned of once and allows all. Any thread. */
enum fby_simd fby_simd(void);

const char *fby_simd_name(enum fby_simd level);

#endif
