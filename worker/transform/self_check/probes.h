/* SPDX-License-Identifier: Apache-2.0 */
/* probes.h - the built-in pictures of the self checks. embed.cmake turns the
 * files of probes/ into C arrays, in order of their names. */
#ifndef FBY_WORKER_TRANSFORM_SELF_CHECK_PROBES_H
#define FBY_WORKER_TRANSFORM_SELF_CHECK_PROBES_H

#include "worker/transform/jpeg.h"

enum { FBY_MAX_PROBES = 16 };

extern const struct fby_picture_file fby_jpeg_probes[];
extern const size_t                  fby_n_jpeg_probes; /* <= FBY_MAX_PROBES */

extern const struct fby_picture_file fby_png_probes[];
extern const size_t                  fby_n_png_probes;

extern const struct fby_picture_file fby_webp_probes[];
extern const size_t                  fby_n_webp_probes;

#endif
