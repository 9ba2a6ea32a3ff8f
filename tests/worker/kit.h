/* SPDX-License-Identifier: Apache-2.0 */
/* kit.h - a folder of pictures, the content of a pipeline over them, and the
 * expected batches, which are computed here without the worker's stages. */
#ifndef FBY_TESTS_WORKER_KIT_H
#define FBY_TESTS_WORKER_KIT_H

#include "common/bytes.h"
#include "proto/frame.h"
#include "proto/layout.h"
#include "proto/wire.h"
#include "tests/worker/source/sandbox.h"
#include "worker/plan/dataset_plan.h"
#include "worker/stages/job.h"

/* A test with its own sandbox, which is its *state. */
#define IN_SANDBOX(test) \
    cmocka_unit_test_setup_teardown(test, sandbox_open, sandbox_close)

enum { KIT_CLASSES = 3, KIT_EACH = 8, KIT_SAMPLES = 24, KIT_BATCH = 8 };

struct kit {
    struct sandbox          *sandbox;
    struct fby_dataset_plan *dataset_plan;
    struct fby_buffer        content; /* canonical bytes */
    const char              *location;
};

/* KIT_SAMPLES JPEGs in KIT_CLASSES class folders of the sandbox's root `data`,
 * and a content of an image and a label; `more` goes into the pipeline's image
 * field, `rule` to its top level; both may be "". */
void kit_open(struct kit *kit, struct sandbox *sandbox, const char *more,
    const char *rule);
void kit_close(struct kit *kit);

/* Overwrite the JPEG of one sample, or of all samples, with other bytes. */
void kit_corrupt(const struct kit *kit, unsigned class_id, unsigned number);
void kit_corrupt_all(const struct kit *kit);

/* Open the same content over the data as it is now. */
void kit_reopen(struct kit *kit);

/* Compute the raw bytes of all chosen fields, in the order of `layout`. */
struct fby_buffer kit_expect(
    const struct fby_job_spec *spec, const struct fby_raw_layout *layout);

/* Check one chunk's raw bytes against those of kit_expect. */
void kit_check_chunk(const struct fby_raw_layout *layout,
    const struct fby_buffer *expected, const struct fby_chunk *chunk,
    const uint8_t *payload);

/* A batch being received, checked message by message. */
struct kit_batch {
    struct fby_raw_layout  layout;
    struct fby_buffer      expected;
    struct fby_chunk_sent *sent; /* by index */
    uint64_t               wire_bytes;
};

/* Begin a batch with its HEADER, which must agree with content and `spec`. */
void kit_batch_begin(struct kit_batch *batch, const struct fby_job_spec *spec,
    const struct fby_header *header);
/* Check a chunk; each chunk must come once. */
void kit_batch_chunk(struct kit_batch *batch, const struct fby_chunk *chunk,
    const uint8_t *payload);
/* Check END, which must come after all chunks, and free the batch. */
void kit_batch_end(struct kit_batch *batch, const struct fby_end *end);

#endif
