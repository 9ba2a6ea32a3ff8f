/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <string.h>

#include "trainer_client/batch/digest.h"

/* The worked example of proto/PROTOCOL.md, "Digests of the stream". */
static const uint8_t image_raw[2][12] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
    {255, 254, 253, 252, 251, 250, 249, 248, 247, 246, 245, 244},
};
static const uint8_t label_raw[2] = {3, 1};

static const struct fby_digest_field fields[2] = {
    {.name            = "image",
        .type         = FBY_U8,
        .shape        = {3, {2, 2, 3}},
        .raw          = image_raw[0],
        .sample_bytes = 12},
    {.name            = "label",
        .type         = FBY_U8,
        .shape        = {0, {0}},
        .raw          = label_raw,
        .sample_bytes = 1},
};

static void assert_hex(const struct fby_checksum *sum, const char *want)
{
    char hex[33];
    assert_string_equal(fby_hex(sum->bytes, sizeof(sum->bytes), hex), want);
}

static struct fby_checksum example_step(void)
{
    const struct fby_checksum samples[2] = {
        fby_sample_digest(70, fields, 2, 0),
        fby_sample_digest(71, fields, 2, 1),
    };
    return fby_step_digest(1, 4, samples, 2);
}

/* The same bytes, written out by hand. */
static void a_sample_digest_is_that_of_the_documented_bytes(void **state)
{
    (void)state;
    const uint8_t bytes[] = {
        71, 0, 0, 0, 0, 0, 0, 0,             /* sample */
        5, 0, 'i', 'm', 'a', 'g', 'e', 1, 3, /* name, u8, 3 dims */
        2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0,  /* 2, 2, 3 */
        255, 254, 253, 252, 251, 250, 249, 248, 247, 246, 245, 244, /* raw */
        5, 0, 'l', 'a', 'b', 'e', 'l', 1, 0, 1, /* no dims, raw */
    };
    struct fby_checksum want = fby_checksum_of(bytes, sizeof(bytes));
    struct fby_checksum is   = fby_sample_digest(71, fields, 2, 1);
    assert_memory_equal(is.bytes, want.bytes, sizeof(want.bytes));
}

static void the_worked_example_holds(void **state)
{
    (void)state;
    struct fby_checksum       first  = fby_sample_digest(70, fields, 2, 0);
    struct fby_checksum       second = fby_sample_digest(71, fields, 2, 1);
    struct fby_checksum       step   = example_step();
    struct fby_checksum_state stream;
    fby_checksum_begin(&stream);
    fby_checksum_add(&stream, step.bytes, sizeof(step.bytes));
    struct fby_checksum all = fby_checksum_end(&stream);
    assert_hex(&first, "40adcd14ee4071624a8b665cc9c0f014");
    assert_hex(&second, "586d6871d50ff262a2185748a230ba69");
    assert_hex(&step, "043b76799fc2df241d140b12ce33455a");
    assert_hex(&all, "d32f0d867b3ca083c22b263c40118657");
}

static void every_part_of_a_sample_changes_its_digest(void **state)
{
    (void)state;
    struct fby_checksum     base = fby_sample_digest(70, fields, 2, 0);
    struct fby_digest_field other[2];
    struct fby_checksum     changed[6];
    for (int i = 0; i < 6; i++) {
        memcpy(other, fields, sizeof(other));
        switch (i) {
        case 0:
            other[1].name = "labex";
            break;
        case 1:
            other[1].type = FBY_U16;
            break;
        case 2:
            other[0].shape = (struct fby_shape){3, {4, 1, 3}};
            break;
        case 3:
            other[1].raw = label_raw + 1;
            break;
        default:
            break;
        }
        changed[i] =
            fby_sample_digest(i == 4 ? 71 : 70, other, i == 5 ? 1 : 2, 0);
        assert_false(fby_checksum_equal(&changed[i], &base));
    }
}

static void a_step_digest_names_its_place_and_its_rows_in_order(void **state)
{
    (void)state;
    struct fby_checksum rows[2]    = {{{1}}, {{2}}};
    struct fby_checksum swapped[2] = {{{2}}, {{1}}};
    struct fby_checksum base       = fby_step_digest(0, 1, rows, 2);
    struct fby_checksum others[4]  = {
         fby_step_digest(1, 1, rows, 2),
         fby_step_digest(0, 2, rows, 2),
         fby_step_digest(0, 1, swapped, 2),
         fby_step_digest(0, 1, rows, 1),
    };
    for (int i = 0; i < 4; i++) {
        assert_false(fby_checksum_equal(&others[i], &base));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_digest_is_that_of_the_documented_bytes),
        cmocka_unit_test(the_worked_example_holds),
        cmocka_unit_test(every_part_of_a_sample_changes_its_digest),
        cmocka_unit_test(a_step_digest_names_its_place_and_its_rows_in_order),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.digest", tests, NULL, NULL);
}
