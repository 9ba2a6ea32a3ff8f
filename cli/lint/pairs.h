/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h - check that the ops of a picture and of its pixel labels (masks,
 * maps) move pixels alike.
 *
 * Random ops that move pixels must be in both fields and draw the same values,
 * as the fields of one group do. Two pictures are not compared: they may be two
 * views of one photo, which differ on purpose. The functions are pure. */
#ifndef FBY_CLI_LINT_PAIRS_H
#define FBY_CLI_LINT_PAIRS_H

#include "pipeline/types.h"

enum fby_lint_pair {      /* how a picture and its labels compare */
    FBY_LINT_ALIKE,       /* their pixels are moved in the same way */
    FBY_LINT_OTHER_GROUP, /* the same ops, but independent draws */
    FBY_LINT_OTHER_OPS,   /* different ops of the worker */
    FBY_LINT_OTHER_DEVICE /* different device ops (flips) */
};

/* Compare the ops of a picture and of its labels that move pixels. */
enum fby_lint_pair fby_lint_compare_ops(const struct fby_field_content *picture,
    const struct fby_field_content                                     *labels);

#endif
