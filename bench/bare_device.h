/* bare_device.h - a host device that takes batches as they lie in their slots.
 *
 * Linked with --wrap=fby_device_named: streams of this program end at checked
 * bytes in their slots, which is what wire and client_cpu measure to. */
#ifndef FBY_BENCH_BARE_DEVICE_H
#define FBY_BENCH_BARE_DEVICE_H

#include "trainer_client/expand/device.h"

const struct fby_device *__wrap_fby_device_named(const char *name);

#endif
