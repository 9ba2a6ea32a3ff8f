/* SPDX-License-Identifier: Apache-2.0 */
/* random_ops.h - list the ops of a field that draw at random, or that move its
 * picture. Pure. */
#ifndef FBY_CLI_LINT_RANDOM_OPS_H
#define FBY_CLI_LINT_RANDOM_OPS_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/types.h"

/* Write the names of the field's random ops to `out`, "a, b". Sets *first to
 * the index of the first one among the worker's ops, or to n_ops if all are ops
 * of the device. Returns false if there is none. */
bool fby_lint_list_random_ops(const struct fby_field_content *field, char *out,
    size_t size, uint32_t *first);

/* The same for the ops that move the content of a picture: at random, or as
 * center_crop and pad do. */
bool fby_lint_list_moving_ops(const struct fby_field_content *field, char *out,
    size_t size, uint32_t *first);

#endif
