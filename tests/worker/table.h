/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - a table of NumPy columns in a sandbox, and plans over it. */
#ifndef FBY_TESTS_WORKER_TABLE_H
#define FBY_TESTS_WORKER_TABLE_H

#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/parse.h"
#include "tests/worker/source/sandbox.h"
#include "tests/worker/transform/npz_file.h"

/* Write data/NAME.npy with `values`, which are freed. */
static inline void write_column(const struct sandbox *sb, const char *name,
    const char *descr, const char *shape, struct fby_buffer *values)
{
    char              path[64];
    struct fby_buffer file = {0};
    snprintf(path, sizeof(path), "data/%s.npy", name);
    put_npy_header(&file, descr, shape);
    fby_put_bytes(&file, values->data, values->size);
    sandbox_write(sb, path, file.data, file.size);
    fby_buffer_fini(&file);
    fby_buffer_fini(values);
}

/* The content of a pipeline's only split; the caller frees it. */
static inline struct fby_content *content_of(const char *text)
{
    struct fby_pipeline           *pipeline = NULL;
    struct fby_split              *split    = NULL;
    struct fby_error_detail        why      = {{0}};
    struct fby_content            *content  = fby_zalloc(sizeof(*content));
    const struct fby_pipeline_text source   = {
          text, strlen(text), "runs.yaml", "/"};
    if (fby_pipeline_parse(&source, &pipeline, &why) != FBY_OK ||
        fby_pipeline_make_split(pipeline, NULL, &split, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    } else {
        *content = split->content;
    }
    fby_split_destroy(&split);
    fby_pipeline_destroy(&pipeline);
    return content;
}

/* A dataset of columns. */
static inline struct fby_dataset *open_columns(
    const struct sandbox *sb, const char *pattern)
{
    struct fby_dataset_spec spec = sandbox_shards(sb, pattern);
    spec.kind                    = FBY_SOURCE_COLUMNS;
    return sandbox_dataset(&spec);
}

#endif
