/* bare_device.h - a host device that neither decodes nor expands batches.
 *
 * With --wrap=fby_device_named, streams of the program end when the checked
 * bytes are in their slots, the point up to which wire and client_cpu measure.
 */
#ifndef FBY_BENCH_BARE_DEVICE_H
#define FBY_BENCH_BARE_DEVICE_H

#include "trainer_client/expand/device.h"

/* Replaces fby_device_named(): returns the bare device for any name. */
const struct fby_device *__wrap_fby_device_named(const char *name);

#endif
