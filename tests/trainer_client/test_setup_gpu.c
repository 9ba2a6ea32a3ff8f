/* SPDX-License-Identifier: Apache-2.0 */
/* The setup of a stream to a GPU: the device, the fields that only the GPU
 * reads, and the amounts of memory. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/trainer_client/fake_cuda.h"
#include "trainer_client/expand/segments.h"
#include "trainer_client/setup/setup.h"

enum { BATCH = 24 };

static const char shards[] =
    "splits: {train: {shards: \"in1k:t-{0..3}.tar\", shuffle: full,"
    " last: drop}}\n";
static const char tokens[] =
    "splits: {train: {tokens: {files: \"c4:*.bin\", format: flat, type: u16,\n"
    "  length: 50, shift: 1, pack: documents, end: 7}, last: drop}}\n";

/* A field of each way that values take to a device. */
static const char fields[] =
    "  bands: {from: a.npy, decode: array, shape: [31, 17, 6], wire: u8,\n"
    "          out: {layout: chw, scale: [1, 2, 3, 4, 5, 6]}}\n"
    "  image:\n"
    "    from: jpg\n"
    "    ops: [random_resized_crop: {size: [5, 7]}]\n"
    "    device: [horizontal_flip, {random_erasing: {p: 1}},\n"
    "      {mixup: {label: label}}]\n"
    "    out: {dtype: bf16, layout: channels_last}\n"
    "  label: {from: cls, one_hot: {classes: 10}}\n"
    "  plain: {from: cls, classes: 10, out: {dtype: u8}}\n"
    "  second:\n"
    "    from: jpg\n"
    "    ops: [random_resized_crop: {size: 3}]\n"
    "    device: [random_erasing]\n"
    "    out: {dtype: f32}\n"
    "  words: {from: txt, decode: text, max_length: 9, too_long: refuse,\n"
    "          out: {as: ragged}}\n";

static const char of_tokens[] =
    "  counts: {from: documents, out: {as: mask, dtype: f16}}\n"
    "  input: {from: input}\n"
    "  starts: {from: documents, out: {as: cu_seqlens}}\n";

static struct forebay_options options_of(const char *split, const char *list)
{
    static char            text[2048];
    struct forebay_options o = forebay_options();
    snprintf(text, sizeof(text), "forebay: 1\n%sglobal_batch: %d\nfields:\n%s",
        split, BATCH, list);
    o.server        = "127.0.0.1:7070";
    o.pipeline_text = text;
    o.device        = "cuda";
    return o;
}

static void accepted(const struct forebay_options *o, struct fby_setup *out)
{
    struct fby_error_detail why = {""};
    *out                        = (struct fby_setup){0};
    if (fby_setup_init(out, o, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
}

static void refused(
    const struct forebay_options *o, fby_err err, const char *words)
{
    struct fby_setup        setup = {0};
    struct fby_error_detail why   = {""};
    assert_int_equal(fby_setup_init(&setup, o, &why), err);
    assert_string_equal(why.text, words);
    fby_setup_fini(&setup);
}

static int begin(void **state)
{
    (void)state;
    fake_cuda_begin(1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    fake_cuda_end();
    return 0;
}

/* ---- which device -------------------------------------------------------- */

static void *allocate(void *arg, size_t bytes, int32_t device, void *stream)
{
    (void)bytes;
    (void)device;
    (void)stream;
    return arg;
}

static void deallocate(void *arg, void *memory, void *stream)
{
    (void)stream;
    (void)arg;
    (void)memory;
}

static void a_gpu_is_asked_for_by_name_or_taken_if_there(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int         gpu;
        bool        cuda, any;
    } cases[] = {{"cuda", 0, true, false}, {"cuda:1", 1, true, false},
        {"auto", 0, true, true}, {"host", 0, false, false},
        {NULL, 0, false, false}};
    fake_cuda_driver(13000, 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct forebay_options o = options_of(shards, fields);
        struct fby_setup       setup;
        o.device        = cases[i].name;
        o.fixed_outputs = true;
        accepted(&o, &setup);
        assert_ptr_equal(setup.cuda, cases[i].cuda ? fby_cuda() : NULL);
        assert_int_equal(setup.gpu, cases[i].gpu);
        assert_int_equal(setup.auto_device, cases[i].any);
        assert_int_equal(setup.fixed_outputs, cases[i].cuda);
        assert_ptr_equal(setup.device, fby_device_named("host"));
        assert_int_equal(setup.arena_bytes > 0, cases[i].cuda);
        fby_setup_fini(&setup);
    }
}

static void without_a_gpu_any_device_is_the_host(void **state)
{
    (void)state;
    struct forebay_options o = options_of(shards, fields);
    struct fby_setup       setup;
    fake_cuda_driver(13000, 1);
    o.device = "cuda:1";
    refused(&o, FBY_USAGE, "device cuda:1: this machine has 1 GPU");
    fake_cuda_driver(12040, 0); /* too old for this build */
    o.device        = "auto";
    o.fixed_outputs = true;
    o.allocate      = allocate; /* of no use then, so nothing is missing */
    accepted(&o, &setup);
    assert_null(setup.cuda);
    assert_false(setup.auto_device);
    assert_false(setup.fixed_outputs);
    assert_ptr_equal(setup.device, fby_device_named("host"));
    assert_null(setup.tensor_allocator.allocate);
    fby_setup_fini(&setup);
    o.device = "cuda";
    refused(&o, FBY_SYS,
        "device cuda: the driver is for CUDA 12.4, this build needs one for "
        "13.0 or newer: update the driver, or use host");
}

static void a_consumer_gives_both_functions_or_none(void **state)
{
    (void)state;
    struct forebay_options o = options_of(shards, fields);
    struct fby_setup       setup;
    int                    arg = 0;
    o.allocate                 = allocate;
    refused(&o, FBY_USAGE, "allocate is given, but no deallocate");
    o.deallocate   = deallocate;
    o.allocate_arg = &arg;
    accepted(&o, &setup);
    assert_ptr_equal(setup.tensor_allocator.allocate, allocate);
    assert_ptr_equal(setup.tensor_allocator.free, deallocate);
    assert_ptr_equal(setup.tensor_allocator.arg, &arg);
    fby_setup_fini(&setup);
}

/* ---- memory -------------------------------------------------------------- */

static uint64_t up(uint64_t size)
{
    return (size + 63) / 64 * 64;
}

/* Pictures with ops: their pixels, the plan, and draws and sums for each row;
 * so have the labels that they mix. */
static void an_arena_has_room_for_all_that_crosses(void **state)
{
    (void)state;
    struct forebay_options o = options_of(shards, fields);
    struct fby_setup       setup;
    accepted(&o, &setup);
    const struct fby_raw_layout *layout = &setup.layout;
    uint64_t                     chunks = 0;
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        chunks += layout->fields[i].n_chunks;
    }
    const uint64_t drawn = up(sizeof(struct fby_ops_plan)) +
                           up(BATCH * sizeof(struct fby_ops_row)) +
                           up(BATCH * sizeof(uint64_t));
    const uint64_t raw = up(UINT64_C(5) * BATCH * 7 * 3) + up(BATCH) +
                         up(UINT64_C(27) * BATCH) + up(BATCH) +
                         up(layout->fields[5].raw_bytes) +
                         up(UINT64_C(31) * BATCH * 17 * 6);
    const uint64_t factors = up(12 * sizeof(float));
    const uint64_t valid   = up(BATCH);
    uint64_t list = fby_segments_max_bytes(layout, setup.expansions, valid);
    assert_int_equal(setup.arena_bytes,
        up(valid + 3 * drawn + raw + factors + 16 * chunks + list));
    fby_setup_fini(&setup);
}

static void gathered_pictures_lie_behind_the_arena(void **state)
{
    (void)state;
    struct forebay_options o = options_of(shards, fields);
    struct fby_setup       setup;
    accepted(&o, &setup);
    assert_int_equal(setup.work_offset[1], setup.arena_bytes);
    assert_int_equal(setup.work_offset[4],
        setup.arena_bytes + up(UINT64_C(5) * BATCH * 7 * 3));
    assert_int_equal(setup.work_bytes,
        up(UINT64_C(5) * BATCH * 7 * 3) + up(UINT64_C(27) * BATCH));
    assert_int_equal(setup.work_offset[0], 0);
    assert_int_equal(setup.work_offset[3], 0);
    fby_setup_fini(&setup);
}

/* The host makes cu_seqlens; of a mask it sends where documents end, unless
 * there are more tokens than a segment takes. */
static void what_the_host_makes_of_documents_has_room(void **state)
{
    (void)state;
    struct forebay_options o = options_of(tokens, of_tokens);
    struct fby_setup       setup;
    accepted(&o, &setup);
    const struct fby_raw_layout *layout = &setup.layout;
    const struct fby_expansion  *starts = &setup.expansions[2];
    const struct fby_expansion  *counts = &setup.expansions[0];
    uint64_t                     chunks = 0;
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        chunks += layout->fields[i].n_chunks;
    }
    const uint64_t made =
        starts->out_bytes * BATCH + starts->tensors[0].bytes_after_rows;
    const uint64_t table = sizeof(uint32_t) * BATCH * (counts->max_length + 1);
    const uint64_t valid = up(BATCH);
    uint64_t list = fby_segments_max_bytes(layout, setup.expansions, valid);
    assert_int_equal(
        setup.arena_bytes, up(valid + up(layout->fields[0].raw_bytes) +
                               up(made) + up(table) + 16 * chunks + list));
    assert_int_equal(setup.work_bytes, 0);
    fby_setup_fini(&setup);
}

static void a_gpu_may_be_left(void **state)
{
    (void)state;
    struct forebay_options o = options_of(shards, fields);
    struct fby_setup       setup;
    o.allocate      = allocate;
    o.deallocate    = deallocate;
    o.fixed_outputs = true;
    accepted(&o, &setup);
    uint64_t out = setup.out_bytes;
    fby_setup_fall_back_to_host(&setup);
    assert_null(setup.cuda);
    assert_int_equal(setup.arena_bytes, 0);
    assert_int_equal(setup.work_bytes, 0);
    assert_false(setup.fixed_outputs);
    assert_null(setup.tensor_allocator.allocate);
    assert_null(setup.tensor_allocator.free);
    assert_ptr_equal(setup.device, fby_device_named("host"));
    assert_int_equal(setup.out_bytes, out);
    fby_setup_fini(&setup);
}

/* ---- ways of fields ------------------------------------------------------ */

/* Bits of the fields that cross as they come, and of those that need nothing
 * done on the host. */
static void check_ways(struct forebay_options o, const char *device,
    uint64_t compact, uint64_t direct)
{
    struct fby_setup setup;
    o.device = device;
    accepted(&o, &setup);
    for (uint32_t i = 0; i < setup.n_fields; i++) {
        assert_int_equal(
            fby_setup_uploads_as_received(&setup, i), compact >> i & 1);
        assert_int_equal(fby_setup_is_direct(&setup, i), direct >> i & 1);
    }
    assert_int_equal(
        fby_setup_ragged_bits(&setup), setup.n_fields > 3 ? 0x20 : 5);
    fby_setup_fini(&setup);
}

/* Labels that are mixed are looked at; so is all of which a digest or a hash is
 * made. */
static void fields_cross_as_they_come_unless_the_host_looks(void **state)
{
    (void)state;
    struct forebay_options o = options_of(shards, fields);
    check_ways(o, "cuda", 0x3b, 0);
    check_ways(o, "host", 0, 8);
    o.digests = true;
    check_ways(o, "cuda", 0, 0);
    o.digests        = false;
    o.verify_decoded = true;
    check_ways(o, "cuda", 0, 0);
    o = options_of(tokens, of_tokens);
    check_ways(o, "cuda", 2, 0);
    check_ways(o, "host", 0, 0);
}

#define ON_GPU(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_GPU(a_gpu_is_asked_for_by_name_or_taken_if_there),
        ON_GPU(without_a_gpu_any_device_is_the_host),
        ON_GPU(a_consumer_gives_both_functions_or_none),
        ON_GPU(an_arena_has_room_for_all_that_crosses),
        ON_GPU(gathered_pictures_lie_behind_the_arena),
        ON_GPU(what_the_host_makes_of_documents_has_room),
        ON_GPU(a_gpu_may_be_left),
        ON_GPU(fields_cross_as_they_come_unless_the_host_looks),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.setup_gpu", tests, NULL, NULL);
}
