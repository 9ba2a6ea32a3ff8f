/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_pipeline.c - any bytes as a pipeline file: an error or a pipeline. */
#include <stdint.h>
#include <stdlib.h>

#include "pipeline/canon.h"
#include "pipeline/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The canonical form of an accepted pipeline is accepted too. */
static void try_split(const struct fby_pipeline *pipeline, size_t i)
{
    struct fby_split   *split = NULL;
    struct fby_content *again = calloc(1, sizeof(*again));
    struct fby_buffer   bytes = {0};
    if (again == NULL ||
        fby_pipeline_make_split(pipeline, fby_pipeline_split_name(pipeline, i),
            &split, NULL) != FBY_OK) {
        abort();
    }
    fby_content_encode(&split->content, &bytes);
    if (fby_content_decode(bytes.data, bytes.size, again, NULL) != FBY_OK) {
        abort();
    }
    fby_buffer_fini(&bytes);
    fby_split_destroy(&split);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fby_pipeline     *pipeline = NULL;
    struct fby_error_detail  why      = {{0}};
    struct fby_pipeline_text text     = {
            (const char *)data, size, "fuzz.yaml", "/data"};
    if (fby_pipeline_parse(&text, &pipeline, &why) != FBY_OK) {
        return why.text[0] != '\0' ? 0 : (abort(), 0);
    }
    for (size_t i = 0; i < fby_pipeline_n_splits(pipeline); i++) {
        try_split(pipeline, i);
    }
    fby_pipeline_destroy(&pipeline);
    return 0;
}
