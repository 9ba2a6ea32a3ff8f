/* lines.h - in which line of its file a thing of a pipeline stands.
 *
 * For advice about a file that loads; errors name their places themselves. A
 * key that is not given stands where its field does. */
#ifndef FBY_PIPELINE_LINES_H
#define FBY_PIPELINE_LINES_H

#include "pipeline/fields/kind.h"
#include "pipeline/parse.h"

/* Of that key of a field; FBY_FIELD_DEVICE: of its normalize. From 1; 0 when
 * there is no such field. */
size_t fby_pipeline_line(
    const struct fby_pipeline *self, const char *field, enum fby_field_key key);

/* Of op `i` of the field in this split: those of other splits do not count.
 * `split` is as for fby_pipeline_split. */
size_t fby_pipeline_op_line(const struct fby_pipeline *self, const char *split,
    const char *field, uint32_t i);

/* Of `end` of the split's tokens, else of the split. */
size_t fby_pipeline_end_line(
    const struct fby_pipeline *self, const char *split);

/* Of the split's `shuffle`, else of the split. */
size_t fby_pipeline_shuffle_line(
    const struct fby_pipeline *self, const char *split);

#endif
