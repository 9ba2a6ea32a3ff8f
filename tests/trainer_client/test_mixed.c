/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that ops of the device mix with other rows of their batch: each row with
 * the row that the draws of PROTOCOL.md give, and never with a row that only
 * fills the batch. */
#include "tests/trainer_client/rig.h"

#include "pipeline/device_ops.h"
#include "trainer_client/expand/ops.h"
#include "trainer_client/expand/ops_draw.h"
#include "trainer_client/setup/setup.h"

enum { RANKS = 3, ROWS = RIG_BATCH / RANKS, STEPS = 10, CLASSES = 10 };

static void begin(struct rig *rig, uint32_t rank)
{
    rig_begin(rig, 16, "pad");
    char  *fields = strstr(rig->text, "fields:");
    size_t room   = sizeof(rig->text) - (size_t)(fields - rig->text);
    snprintf(fields, room,
        "fields:\n"
        "  image:\n"
        "    from: jpg\n"
        "    ops: [random_resized_crop: {size: 16}]\n"
        "    device: [mixup: {label: label}]\n"
        "    out: {dtype: f32}\n"
        "  label: {from: cls, classes: 10, one_hot: {}}\n");
    rig->options.job   = "job";
    rig->options.world = RANKS;
    rig->options.rank  = rank;
    rig_add(rig, (struct fake_behaviour){0});
    rig_open(rig);
}

/* A row's labels come from its own sample and its partner's. */
static void check_labels(const struct forebay_batch *batch, uint32_t own,
    const struct fby_ops_row *rows)
{
    const uint64_t *samples = forebay_batch_samples(batch);
    const DLTensor *tensor  = forebay_batch_tensor(batch, 1);
    const float    *labels  = tensor->data;
    assert_int_equal(tensor->dtype.bits, 32);
    assert_int_equal(tensor->shape[1], CLASSES);
    for (uint32_t r = 0; r < ROWS; r++) {
        uint32_t partner = rows[r].partner;
        assert_int_equal(partner < own, r < own);
        for (uint32_t c = 0; c < CLASSES; c++) {
            float want = fby_ops_mix(samples[r] % CLASSES == c ? 1 : 0,
                samples[partner] % CLASSES == c ? 1 : 0, rows[r].label_share,
                rows[r].label_partner_share);
            assert_memory_equal(&labels[r * CLASSES + c], &want, sizeof(want));
        }
    }
}

/* The last batch of a hundred samples has four. */
static void check_batch(
    const struct forebay_batch *batch, const struct fby_setup *setup)
{
    struct fby_ops_row   rows[ROWS];
    uint32_t             first = setup->rank * ROWS;
    struct fby_ops_batch place = {
        .seed      = 7,
        .epoch     = forebay_batch_epoch(batch),
        .step      = forebay_batch_step(batch),
        .first_row = first,
        .rows      = ROWS,
        .own       = ROWS,
        .samples   = forebay_batch_samples(batch),
    };
    if (place.step == 4) {
        place.own = setup->rank == 0 ? 4 : 0;
    }
    fby_ops_draw(&setup->split->content.fields[0], &place, rows);
    check_labels(batch, place.own, rows);
}

static void rows_are_mixed_as_drawn_and_not_with_those_that_pad(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct rig              rig;
        struct fby_setup        setup = {0};
        struct fby_error_detail why   = {""};
        begin(&rig, rank);
        assert_ok(fby_setup_init(&setup, &rig.options, &why));
        for (uint32_t i = 0; i < STEPS; i++) {
            struct forebay_batch *batch = rig_next(&rig);
            assert_int_equal(forebay_batch_epoch(batch), i / 5);
            check_batch(batch, &setup);
            forebay_release(&batch, NULL);
        }
        fby_setup_fini(&setup);
        rig_end(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_mixed_as_drawn_and_not_with_those_that_pad),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.mixed", tests, NULL, NULL);
}
