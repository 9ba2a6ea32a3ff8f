/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - line numbers of keys in a valid pipeline file, for advice to the
 * user.
 *
 * Lines count from 1. If the file does not have the key, its line is that of
 * the field or split. The line is 0 if there is no such field or split. `split`
 * is the name of a split; NULL means the only split, or else `train`. */
#ifndef FBY_PIPELINE_LINES_H
#define FBY_PIPELINE_LINES_H

#include "pipeline/fields/kind.h"
#include "pipeline/parse.h"

/* The line of a key of a field. For FBY_FIELD_DEVICE it is the line of the op
 * normalize in the list `device`, since all advice on the list concerns it. */
size_t fby_pipeline_line(
    const struct fby_pipeline *self, const char *field, enum fby_field_key key);

/* The line of op `i` among the worker's ops of the field in this split. */
size_t fby_pipeline_op_line(const struct fby_pipeline *self, const char *split,
    const char *field, uint32_t i);

/* The line of the key `end` in `tokens` of the split (the token that ends a
 * document). */
size_t fby_pipeline_tokens_end_line(
    const struct fby_pipeline *self, const char *split);

/* The line of the key `type` there: that of a token in the files. */
size_t fby_pipeline_tokens_type_line(
    const struct fby_pipeline *self, const char *split);

/* The line of the key `shuffle` of the split. */
size_t fby_pipeline_shuffle_line(
    const struct fby_pipeline *self, const char *split);

#endif
