/* probes.h - the files of probes/, built in by embed.cmake, by name: JPEGs,
 * then PNGs. */
#ifndef FBY_WORKER_TRANSFORM_SELF_CHECK_PROBES_H
#define FBY_WORKER_TRANSFORM_SELF_CHECK_PROBES_H

#include "worker/transform/jpeg.h"

enum { FBY_MAX_PROBES = 16 };

extern const struct fby_picture_file fby_probes[];
extern const size_t                  fby_n_probes; /* up to FBY_MAX_PROBES */

extern const struct fby_picture_file fby_png_probes[];
extern const size_t                  fby_n_png_probes;

#endif
