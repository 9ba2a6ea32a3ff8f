/* probes.h - the files of probes/, which embed.cmake turns into C arrays: JPEGs
 * and PNGs, each in order of their names. */
#ifndef FBY_WORKER_TRANSFORM_SELF_CHECK_PROBES_H
#define FBY_WORKER_TRANSFORM_SELF_CHECK_PROBES_H

#include "worker/transform/jpeg.h"

enum { FBY_MAX_PROBES = 16 };

extern const struct fby_picture_file fby_probes[];
extern const size_t                  fby_n_probes; /* up to FBY_MAX_PROBES */

extern const struct fby_picture_file fby_png_probes[];
extern const size_t                  fby_n_png_probes;

#endif
