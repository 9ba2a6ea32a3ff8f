/* SPDX-License-Identifier: Apache-2.0 */
/* Level in use: the processor's, or that of FOREBAY_SIMD if it is lower. */
#include "common/simd.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"

static const char *const level_names[] = {
    [FBY_SIMD_PORTABLE] = "portable",
    [FBY_SIMD_AVX2]     = "avx2",
    [FBY_SIMD_AVX512]   = "avx512",
};

static pthread_once_t level_once = PTHREAD_ONCE_INIT;
static enum fby_simd  level_in_use; /* valid after level_once */

/* The highest level that FOREBAY_SIMD=`word` allows; an unknown word allows all
 * levels. */
static enum fby_simd highest_allowed(const char *word)
{
    for (int i = 0; word != NULL && i <= FBY_SIMD_AVX512; i++) {
        if (strcmp(word, level_names[i]) == 0) {
            return (enum fby_simd)i;
        }
    }
    if (word != NULL) {
        fby_warn("SIMD",
            "FOREBAY_SIMD='%s' is not used: write portable, avx2 or avx512",
            word);
    }
    return FBY_SIMD_AVX512;
}

static void set_level(void)
{
    enum fby_simd cpu   = fby_simd_of_cpu();
    enum fby_simd limit = highest_allowed(getenv("FOREBAY_SIMD"));
    level_in_use        = cpu < limit ? cpu : limit;
}

enum fby_simd fby_simd_level(void)
{
    pthread_once(&level_once, set_level);
    return level_in_use;
}

const char *fby_simd_name(enum fby_simd level)
{
    return level_names[level];
}
