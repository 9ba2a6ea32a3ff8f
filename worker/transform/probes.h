/* probes.h - the files of probes/, built in by embed.cmake, by name. */
#ifndef FBY_WORKER_TRANSFORM_PROBES_H
#define FBY_WORKER_TRANSFORM_PROBES_H

#include "worker/transform/jpeg.h"

enum { FBY_MAX_PROBES = 16 };

extern const struct fby_jpeg_file fby_probes[];
extern const size_t               fby_n_probes; /* up to FBY_MAX_PROBES */

#endif
