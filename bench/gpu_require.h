/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_require.h - for programs that can do nothing without a GPU: tests, benches.
 *
 * A test is skipped only if there is no GPU. A driver that cannot use a GPU is a
 * failure, because otherwise a broken machine would pass all tests. */
#ifndef FBY_BENCH_GPU_REQUIRE_H
#define FBY_BENCH_GPU_REQUIRE_H

enum { FBY_GPU_SKIPPED = 77 }; /* the exit code of a skipped test */

#ifdef __cplusplus
extern "C" {
#endif
/* Returns 0 if there is a usable driver with a GPU. Otherwise print why
 * `program` cannot run, and return its exit code: FBY_GPU_SKIPPED if there is
 * no GPU and FOREBAY_REQUIRE_GPU is not 1, else 1. */
int fby_gpu_require(const char *program);
#ifdef __cplusplus
}
#endif

#endif
