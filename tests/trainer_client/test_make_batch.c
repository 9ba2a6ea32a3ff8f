/* SPDX-License-Identifier: Apache-2.0 */
/* How the chunks of fields are decoded whose tensors hold their raw bytes. */
#include "tests/test.h"

#include <stdlib.h>

#include "trainer_client/batch/make_batch.h"

static const char pipeline_text[] =
    "forebay: 1\n"
    "splits: {train: {shards: \"in1k:t-{0..3}.tar\", shuffle: full,"
    " last: drop}}\n"
    "global_batch: 65536\n"
    "seed: 7\n"
    "fields:\n"
    "  label: {from: cls, classes: 10, out: {dtype: u8}}\n"
    "  values: {from: npy, decode: array, shape: [256], wire: u8}\n";

enum { LABEL, VALUES };

static unsigned n_bypassing, n_cached; /* chunks that were decoded */

static fby_err note_decode(const struct fby_codec_job *job,
    /* NOLINTNEXTLINE(readability-non-const-parameter): the type of a device */
    struct fby_bytes_in payload, uint8_t *out, size_t raw_bytes)
{
    (void)payload, (void)out, (void)raw_bytes;
    if (job->bypass_cache) {
        n_bypassing++;
    } else {
        n_cached++;
    }
    return FBY_OK;
}

/* Make a batch of zeros, and count its chunks. */
static void make(struct fby_setup *setup)
{
    struct fby_error_detail why   = {""};
    struct fby_request_slot slot  = {0};
    struct forebay_batch   *batch = calloc(1, sizeof(*batch));
    assert_ok(fby_request_slot_init(&slot, setup, NULL));
    batch->memory = calloc(1, setup->out_bytes);
    batch->rows   = setup->max_rows;

    const struct fby_batch_input input = {
        .batch = batch, .request_slot = &slot, .layout = &setup->layout};
    const struct fby_batch_job job = {.setup = setup, .input = &input};
    n_bypassing = n_cached = 0;
    assert_ok(fby_make_batch(&job, &why));
    fby_request_slot_fini(&slot, setup);
    free(batch->memory);
    free(batch);
}

/* The tensor of `values` is larger than a cache, that of the labels is not.
 * Digests read all values again. */
static void large_tensors_that_are_not_read_again_bypass_the_cache(void **state)
{
    (void)state;
    struct fby_error_detail why     = {""};
    struct fby_setup        setup   = {0};
    struct forebay_options  options = forebay_options();
    struct fby_device       device  = fby_device_host;
    options.server                  = "127.0.0.1:7070";
    options.pipeline_text           = pipeline_text;
    assert_ok(fby_setup_init(&setup, &options, &why));
    const struct fby_device *own = setup.device;
    device.decode                = note_decode;
    setup.device                 = &device;
    make(&setup);
    assert_int_equal(n_bypassing, setup.layout.fields[VALUES].n_chunks);
    assert_int_equal(n_cached, setup.layout.fields[LABEL].n_chunks);
    setup.digests = true;
    make(&setup);
    assert_int_equal(n_bypassing, 0);
    setup.device = own;
    fby_setup_fini(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            large_tensors_that_are_not_read_again_bypass_the_cache),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.make_batch", tests, NULL, NULL);
}
