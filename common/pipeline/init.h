/* init.h - the text of a first pipeline file, from what a look at the data
 * found. Pure: the look itself is the source's. */
#ifndef FBY_COMMON_PIPELINE_INIT_H
#define FBY_COMMON_PIPELINE_INIT_H

#include "common/bytes.h"
#include "common/err.h"
#include "common/pipeline/types.h"

struct fby_init_column {
    char             name[FBY_NAME_SIZE];
    enum fby_type    wire;       /* 0: no field can be made of it */
    struct fby_shape row;        /* of a ragged one: of an entry */
    uint32_t         max_length; /* a guess; 0: rows are of one shape */
    bool             sparse;     /* `row` is that of a dense one */
};

struct fby_init_summary {
    enum fby_source_kind          kind;
    const char                   *path;       /* folder, or pattern of shards */
    uint64_t                      samples;    /* 0: not counted */
    uint32_t                      shards;     /* tars; 0 for a folder */
    uint32_t                      classes;    /* class folders; 0: not known */
    const char *const            *extensions; /* found, the commonest first */
    size_t                        n_extensions;
    const struct fby_init_column *columns; /* of a source of columns */
    size_t                        n_columns;
};

/* Append a commented pipeline file that works at once: split `train`, batches
 * of 64 (one short one of fewer samples), random_resized_crop 224, flip,
 * labels, normalised f32 in CHW. Of columns each is a field, as it is; batches
 * are of 4,096.
 * Errors: FBY_CONFIG when no extension is one of JPEG or PNG, or no column can
 *         be a field. */
FBY_CHECKED fby_err fby_init_text(const struct fby_init_summary *summary,
    struct fby_buffer *out, struct fby_why *why);

#endif
