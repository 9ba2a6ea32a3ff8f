/* SPDX-License-Identifier: Apache-2.0 */
/* curve.h - CPU time of moving bytes by ZeroMQ, in the clear and with CURVE. It
 * shows what encryption by ZeroMQ itself would cost. A child process sends the
 * frames over loopback. Errors end the bench. */
#ifndef FBY_BENCH_CURVE_H
#define FBY_BENCH_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CPU seconds of both processes per GB, for `frames` frames of `size` bytes. */
double bench_curve_cost(bool encrypted, uint64_t frames, size_t size);

#endif
