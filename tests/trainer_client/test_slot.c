#include "tests/test.h"

#include <string.h>

#include "trainer_client/slot.h"

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

static void begin(struct fby_setup *setup, struct fby_slot *slot)
{
    struct fby_why         why     = {""};
    struct forebay_options options = forebay_options();
    options.server                 = "127.0.0.1:7070";
    options.pipeline_text          = pipeline_text;
    *setup                         = (struct fby_setup){0};
    *slot                          = (struct fby_slot){0};
    if (fby_setup_init(setup, &options, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_ok(fby_slot_init(slot, setup, NULL));
}

static void end(struct fby_setup *setup, struct fby_slot *slot)
{
    fby_slot_fini(slot, setup);
    fby_setup_fini(setup);
}

static bool keeps(
    const struct fby_setup *setup, uint16_t field, struct fby_coding coding)
{
    return fby_slot_keeps(setup,
        &(struct fby_chunk){
            .field = field, .filter = coding.filter, .codec = coding.codec});
}

static void what_need_not_be_decoded_first_is_kept(void **state)
{
    (void)state;
    const struct fby_coding stored   = {FBY_FILTER_NONE, FBY_CODEC_STORE};
    const struct fby_coding shuffled = {FBY_FILTER_DELTA, FBY_CODEC_STORE};
    const struct fby_coding lz4      = {FBY_FILTER_NONE, FBY_CODEC_LZ4};
    const struct fby_coding packed   = {FBY_FILTER_PHOTO, FBY_CODEC_PACK};
    struct fby_setup        setup;
    struct fby_slot         slot;
    begin(&setup, &slot);
    assert_true(keeps(&setup, IMAGE, stored));
    assert_true(keeps(&setup, IMAGE, packed));
    assert_false(keeps(&setup, IMAGE, shuffled));
    assert_false(keeps(&setup, IMAGE, lz4));
    assert_false(keeps(&setup, SMALL, stored));
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
    static char      bytes[] = "a frame";
    unsigned         freed   = 0;
    struct fby_setup setup;
    struct fby_slot  slot;
    zmq_msg_t        frame;
    begin(&setup, &slot);
    zmq_msg_init_data(&frame, bytes, sizeof(bytes), count_free, &freed);
    fby_slot_keep(&slot, 1, &(struct fby_chunk){.field = SMALL}, &frame);
    zmq_msg_close(&frame); /* as the receiver does: it holds nothing now */
    assert_int_equal(freed, 0);
    assert_false(slot.kept[0].there);
    assert_true(slot.kept[1].there);
    assert_int_equal(slot.kept[1].chunk.field, SMALL);
    assert_string_equal(zmq_msg_data(&slot.kept[1].frame), "a frame");
    fby_slot_clear(&slot);
    assert_int_equal(freed, 1);
    assert_false(slot.kept[1].there);
    end(&setup, &slot);
    assert_int_equal(freed, 1);
}

static void a_slot_that_ends_lets_go_of_what_it_keeps(void **state)
{
    (void)state;
    static char      bytes[] = "a frame";
    unsigned         freed   = 0;
    struct fby_setup setup;
    struct fby_slot  slot;
    zmq_msg_t        frame;
    begin(&setup, &slot);
    zmq_msg_init_data(&frame, bytes, sizeof(bytes), count_free, &freed);
    fby_slot_keep(&slot, 0, &(struct fby_chunk){0}, &frame);
    zmq_msg_close(&frame);
    end(&setup, &slot);
    assert_int_equal(freed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_need_not_be_decoded_first_is_kept),
        cmocka_unit_test(a_kept_frame_lives_until_the_slot_is_cleared),
        cmocka_unit_test(a_slot_that_ends_lets_go_of_what_it_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
