/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics as text, byte for byte. */
#include "tests/test.h"

#include "http/metrics.h"

static void expect_text(struct fby_buffer *out, const char *expected)
{
    fby_put_u8(out, 0);
    assert_string_equal((const char *)out->data, expected);
    fby_buffer_fini(out);
}

static void a_family_is_its_help_its_type_and_its_samples(void **state)
{
    static const struct fby_metric_family family = {
        .metric = {"forebay_x_seconds_total", "Time of x.", FBY_METRIC_COUNTER},
        .divisor   = 1000000000,
        .label     = "stage",
        .n_samples = 2,
        .samples   = {{1, "fetch"}, {0, "encode"}},
    };
    const uint64_t    numbers[] = {5, 12000000345};
    struct fby_buffer out       = {0};
    (void)state;
    fby_metric_family_write(&out, &family, numbers);
    expect_text(&out,
        "# HELP forebay_x_seconds_total Time of x.\n"
        "# TYPE forebay_x_seconds_total counter\n"
        "forebay_x_seconds_total{stage=\"fetch\"} 12.000000345\n"
        "forebay_x_seconds_total{stage=\"encode\"} 0.000000005\n");
}

static void a_family_without_a_label_is_one_number(void **state)
{
    static const struct fby_metric_family family = {
        .metric    = {"forebay_y", "The y.", FBY_METRIC_GAUGE},
        .divisor   = 1,
        .n_samples = 1,
        .samples   = {{0, NULL}},
    };
    const uint64_t    numbers[] = {UINT64_MAX};
    struct fby_buffer out       = {0};
    (void)state;
    fby_metric_family_write(&out, &family, numbers);
    expect_text(&out, "# HELP forebay_y The y.\n"
                      "# TYPE forebay_y gauge\n"
                      "forebay_y 18446744073709551615\n");
}

static void a_label_from_outside_stays_one_value(void **state)
{
    const struct fby_metric_label labels[] = {
        {"host", "a\"} 1\nb\\\x1b"}, {"job", ""}};
    struct fby_buffer out = {0};
    (void)state;
    fby_metric_sample(
        &out, "forebay_z", labels, 2, (struct fby_metric_number){250, 1000});
    expect_text(
        &out, "forebay_z{host=\"a\\\"} 1\\nb\\\\\\\\x1b\",job=\"\"} 0.250\n");
}

static void the_version_is_a_label(void **state)
{
    struct fby_buffer out = {0};
    (void)state;
    fby_metric_build_info(&out);
    expect_text(&out,
        "# HELP forebay_build_info Always 1; the label version is that of the "
        "program.\n"
        "# TYPE forebay_build_info gauge\n"
        "forebay_build_info{version=\"" FBY_VERSION "\"} 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_family_is_its_help_its_type_and_its_samples),
        cmocka_unit_test(a_family_without_a_label_is_one_number),
        cmocka_unit_test(a_label_from_outside_stays_one_value),
        cmocka_unit_test(the_version_is_a_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
