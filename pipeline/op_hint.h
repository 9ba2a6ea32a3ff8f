/* SPDX-License-Identifier: Apache-2.0 */
/* op_hint.h - names of ops in other libraries, and what to write here. */
#ifndef FBY_PIPELINE_OP_HINT_H
#define FBY_PIPELINE_OP_HINT_H

/* Returns a hint for the op `name` of torchvision or albumentations: what a
 * pipeline file has instead ("here `rotate: {degrees: 15}`"), or "there is no
 * such op yet". `name` may have a prefix such as "transforms.". NULL: neither
 * library has such an op. */
const char *fby_op_hint(const char *name);

#endif
