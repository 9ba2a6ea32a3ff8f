/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "trainer_client/expand/host.h"

static struct fby_field_content image_field(
    uint32_t height, uint32_t width, uint32_t channels)
{
    struct fby_field_content field = {.name = "image",
        .decode                             = FBY_DECODE_RGB8,
        .wire_type                          = FBY_U8,
        .shape                              = {3, {height, width, channels}},
        .as.rgb8.normalize                  = true};
    for (uint32_t c = 0; c < channels; c++) {
        field.as.rgb8.mean[c] = 0.4 + 0.03 * c;
        field.as.rgb8.std[c]  = 0.2 + 0.01 * c;
    }
    return field;
}

/* Both kernels on the same pixels, into memory that ends with the result. */
static void make_alike(const struct fby_expansion *plan, bool non_temporal)
{
    uint8_t *raw   = malloc(plan->raw_bytes);
    uint8_t *right = aligned_alloc(64, (plan->out_bytes + 63) / 64 * 64);
    uint8_t *out   = aligned_alloc(64, (plan->out_bytes + 63) / 64 * 64);
    for (uint64_t i = 0; i < plan->raw_bytes; i++) {
        raw[i] = (uint8_t)(i * 151 + i / 7);
    }
    fby_expand_image_portable(plan, raw, non_temporal, right);
    fby_expand_image_kernel(fby_simd_level())(plan, raw, non_temporal, out);
    assert_memory_equal(out, right, plan->out_bytes);
    free(raw);
    free(right);
    free(out);
}

static void expand_alike(const struct fby_field_content *field,
    enum fby_type dtype, enum fby_layout layout)
{
    struct fby_expansion     *plan     = calloc(1, sizeof(*plan));
    struct fby_field_delivery delivery = {.dtype = dtype, .layout = layout};
    assert_ok(fby_expansion_init(plan, field, &delivery, NULL));
    make_alike(plan, false);
    make_alike(plan, true);
    free(plan);
}

static void every_kernel_makes_the_bits_of_the_portable_one(void **state)
{
    (void)state;
    static const enum fby_type   dtypes[]  = {FBY_F32, FBY_BF16, FBY_F16};
    static const enum fby_layout layouts[] = {
        FBY_LAYOUT_HWC, FBY_LAYOUT_CHW, FBY_LAYOUT_CHANNELS_LAST};
    for (uint32_t width = 1; width <= 70; width++) {
        for (uint32_t channels = 1; channels <= 4; channels++) {
            struct fby_field_content field =
                image_field(1 + width % 5, width, channels);
            for (int i = 0; i < 9; i++) {
                expand_alike(&field, dtypes[i % 3], layouts[i / 3]);
            }
        }
    }
}

/* Levels minus a half: from 128.5 on they are halfway between two bfloat16. */
static void ties_to_bf16_round_to_even(void **state)
{
    (void)state;
    struct fby_expansion     *plan     = calloc(1, sizeof(*plan));
    struct fby_field_delivery delivery = {.dtype = FBY_BF16};
    struct fby_field_content  field    = image_field(32, 32, 3);
    assert_ok(fby_expansion_init(plan, &field, &delivery, NULL));
    assert_false(plan->has_ties);
    for (uint32_t c = 0; c < 3; c++) {
        field.as.rgb8.mean[c] = 0.5 / 255;
        field.as.rgb8.std[c]  = 1.0 / 255;
    }
    assert_ok(fby_expansion_init(plan, &field, &delivery, NULL));
    assert_true(plan->has_ties);
    assert_int_equal(plan->table[0][129], 0x4300); /* 128.5: 128 */
    assert_int_equal(plan->table[0][130], 0x4302); /* 129.5: 130 */
    expand_alike(&field, FBY_BF16, FBY_LAYOUT_CHW);
    expand_alike(&field, FBY_BF16, FBY_LAYOUT_HWC);
    free(plan);
}

static void planes_of_u8_are_the_same_bytes_apart(void **state)
{
    (void)state;
    for (uint32_t width = 1; width <= 70; width++) {
        struct fby_field_content field = image_field(3, width, 3);
        field.as.rgb8.normalize        = false;
        expand_alike(&field, FBY_U8, FBY_LAYOUT_CHW);
    }
}

static void planes_that_are_not_aligned_are_made_too(void **state)
{
    (void)state;
    struct fby_field_content field = image_field(31, 33, 3);
    expand_alike(&field, FBY_F32, FBY_LAYOUT_CHW);
    field = image_field(32, 32, 3);
    expand_alike(&field, FBY_F32, FBY_LAYOUT_CHW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_makes_the_bits_of_the_portable_one),
        cmocka_unit_test(ties_to_bf16_round_to_even),
        cmocka_unit_test(planes_of_u8_are_the_same_bytes_apart),
        cmocka_unit_test(planes_that_are_not_aligned_are_made_too),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.expand_image", tests, NULL, NULL);
}
