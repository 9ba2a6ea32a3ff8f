/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "trainer_client/batch/request_slot.h"

static const char pipeline_text[] =
    "forebay: 1\n"
    "splits: {train: {shards: \"in1k:t-{0..3}.tar\", shuffle: full,"
    " last: drop}}\n"
    "global_batch: 24\n"
    "seed: 7\n"
    "fields:\n"
    "  image: {from: jpg, decode: rgb8,\n"
    "    ops: [random_resized_crop: {size: 16}],\n"
    "    out: {dtype: u8, layout: hwc}}\n"
    "  small: {from: jpg, decode: rgb8,\n"
    "    ops: [random_resized_crop: {size: 8}],\n"
    "    out: {dtype: f32, layout: chw}}\n";

enum { IMAGE, SMALL };

static void begin(struct fby_setup *setup, struct fby_request_slot *slot)
{
    struct fby_error_detail why     = {""};
    struct forebay_options  options = forebay_options();
    options.server                  = "127.0.0.1:7070";
    options.pipeline_text           = pipeline_text;
    *setup                          = (struct fby_setup){0};
    *slot                           = (struct fby_request_slot){0};
    if (fby_setup_init(setup, &options, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_ok(fby_request_slot_init(slot, setup, NULL));
}

static void end(struct fby_setup *setup, struct fby_request_slot *slot)
{
    fby_request_slot_fini(slot, setup);
    fby_setup_fini(setup);
}

static bool keeps(
    const struct fby_setup *setup, uint16_t field, struct fby_coding coding)
{
    return fby_request_slot_must_keep(setup,
        &(struct fby_chunk){
            .field = field, .filter = coding.filter, .codec = coding.codec});
}

static void chunks_that_are_decoded_with_their_batch_are_kept(void **state)
{
    (void)state;
    const struct fby_coding stored   = {FBY_FILTER_NONE, FBY_CODEC_STORE};
    const struct fby_coding shuffled = {FBY_FILTER_DELTA, FBY_CODEC_STORE};
    const struct fby_coding lz4      = {FBY_FILTER_NONE, FBY_CODEC_LZ4};
    const struct fby_coding packed   = {FBY_FILTER_PHOTO, FBY_CODEC_PACK};
    struct fby_setup        setup;
    struct fby_request_slot slot;
    begin(&setup, &slot);
    assert_true(keeps(&setup, IMAGE, stored));
    assert_true(keeps(&setup, IMAGE, packed));
    assert_false(keeps(&setup, IMAGE, shuffled));
    assert_false(keeps(&setup, IMAGE, lz4));
    assert_true(keeps(&setup, SMALL, stored));
    assert_true(keeps(&setup, SMALL, packed));
    assert_false(keeps(&setup, SMALL, lz4));
    setup.digests = true; /* they hash raw pixels */
    assert_true(keeps(&setup, IMAGE, packed));
    assert_false(keeps(&setup, SMALL, packed));
    end(&setup, &slot);
}

static void count_free(void *data, void *hint)
{
    unsigned *freed = hint;
    (void)data;
    (*freed)++;
}

static void a_kept_frame_lives_until_the_slot_is_cleared(void **state)
{
    (void)state;
    static char             bytes[] = "a frame";
    unsigned                freed   = 0;
    struct fby_setup        setup;
    struct fby_request_slot slot;
    zmq_msg_t               frame;
    begin(&setup, &slot);
    zmq_msg_init_data(&frame, bytes, sizeof(bytes), count_free, &freed);
    fby_request_slot_keep(
        &slot, 1, &(struct fby_chunk){.field = SMALL}, &frame);
    zmq_msg_close(&frame); /* as the receiver does: it holds nothing now */
    assert_int_equal(freed, 0);
    assert_false(slot.kept[0].is_kept);
    assert_true(slot.kept[1].is_kept);
    assert_int_equal(slot.kept[1].chunk.field, SMALL);
    assert_string_equal(zmq_msg_data(&slot.kept[1].frame), "a frame");
    fby_request_slot_clear(&slot);
    assert_int_equal(freed, 1);
    assert_false(slot.kept[1].is_kept);
    end(&setup, &slot);
    assert_int_equal(freed, 1);
}

static void a_slot_that_ends_frees_the_frames_it_keeps(void **state)
{
    (void)state;
    static char             bytes[] = "a frame";
    unsigned                freed   = 0;
    struct fby_setup        setup;
    struct fby_request_slot slot;
    zmq_msg_t               frame;
    begin(&setup, &slot);
    zmq_msg_init_data(&frame, bytes, sizeof(bytes), count_free, &freed);
    fby_request_slot_keep(&slot, 0, &(struct fby_chunk){0}, &frame);
    zmq_msg_close(&frame);
    end(&setup, &slot);
    assert_int_equal(freed, 1);
}

/* ---- In an arena --------------------------------------------------------- */

/* At multiples of 16, as long as what is put there. */
static void chunks_lie_one_behind_the_other(void **state)
{
    (void)state;
    struct fby_setup        setup;
    struct fby_request_slot slot;
    const struct fby_chunk  packed = {.field = IMAGE,
         .filter                             = FBY_FILTER_PHOTO,
         .codec                              = FBY_CODEC_PACK,
         .raw_bytes                          = 100,
         .wire_bytes                         = 33};
    struct fby_chunk        lz4    = packed;
    lz4.codec                      = FBY_CODEC_LZ4;
    begin(&setup, &slot);
    for (int turn = 0; turn < 2; turn++) { /* again once it was cleared */
        const struct fby_arena_chunk *reserved =
            fby_request_slot_reserve_chunk(&slot, &setup, 1, &lz4);
        assert_ptr_equal(reserved, &slot.arena_chunks[1]);
        assert_int_equal(reserved->offset, 0);
        assert_int_equal(reserved->bytes, 100);
        assert_false(reserved->packed);
        reserved = fby_request_slot_reserve_chunk(&slot, &setup, 0, &packed);
        assert_ptr_equal(reserved, &slot.arena_chunks[0]);
        assert_int_equal(reserved->offset, 112);
        assert_int_equal(reserved->bytes, 33);
        assert_true(reserved->packed);
        lz4.raw_bytes = 16;
        assert_int_equal(
            fby_request_slot_reserve_chunk(&slot, &setup, 1, &lz4)->offset,
            160);
        lz4.raw_bytes = 100;
        assert_int_equal(
            fby_request_slot_reserve_chunk(&slot, &setup, 1, &lz4)->offset,
            176);
        assert_int_equal(slot.used, 276);
        fby_request_slot_clear(&slot);
        assert_int_equal(slot.used, 0);
    }
    end(&setup, &slot);
}

/* ---- Its memory ---------------------------------------------------------- */

static size_t allocated;
static bool   sparse;

static void *note_alloc(size_t size, bool is_sparse)
{
    allocated = size;
    sparse    = is_sparse;
    return malloc(size);
}

static void note_free(void *memory, size_t size)
{
    assert_true(memory == NULL || size == allocated);
    free(memory);
}

static void *no_alloc(size_t size, bool is_sparse)
{
    (void)size;
    (void)is_sparse;
    return NULL;
}

/* Some of it stays untouched where chunks may be kept. */
static void a_slot_has_memory_for_a_whole_batch(void **state)
{
    (void)state;
    struct fby_setup        setup;
    struct fby_request_slot slot;
    struct fby_request_slot other  = {0};
    struct fby_device       device = fby_device_host;
    device.raw_alloc               = note_alloc;
    device.raw_free                = note_free;
    begin(&setup, &slot);
    const struct fby_device *own = setup.device;
    setup.device                 = &device;
    assert_ok(fby_request_slot_init(&other, &setup, NULL));
    assert_int_equal(allocated, setup.layout.slot_bytes);
    assert_true(sparse);
    fby_request_slot_fini(&other, &setup);
    assert_null(other.memory);
    setup.n_fields = 1; /* as if there were only the one that is expanded */
    setup.expansions[0].kind = setup.expansions[SMALL].kind;
    setup.digests            = true; /* they hash raw pixels */
    assert_ok(fby_request_slot_init(&other, &setup, NULL));
    assert_false(sparse);
    fby_request_slot_fini(&other, &setup);
    device.raw_alloc = no_alloc;
    device.raw_free  = own->raw_free;
    assert_int_equal(fby_request_slot_init(&other, &setup, NULL), FBY_SYS);
    device.raw_free = note_free;
    fby_request_slot_fini(&other, &setup);
    setup.device = own;
    end(&setup, &slot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_that_are_decoded_with_their_batch_are_kept),
        cmocka_unit_test(a_kept_frame_lives_until_the_slot_is_cleared),
        cmocka_unit_test(a_slot_that_ends_frees_the_frames_it_keeps),
        cmocka_unit_test(chunks_lie_one_behind_the_other),
        cmocka_unit_test(a_slot_has_memory_for_a_whole_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
