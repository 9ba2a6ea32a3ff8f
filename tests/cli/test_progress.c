/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <string.h>

#include "cli/progress.h"
#include "common/clock.h"

static void the_line_has_rate_eta_and_time_waited(void **state)
{
    (void)state;
    char                             text[160];
    const struct fby_stream_progress at = {.steps = 10,
        .total                                    = 40,
        .samples                                  = 640,
        .noun                                     = "image",
        .wait_ns                                  = FBY_NS_PER_S / 2};
    fby_progress_write_text(&at, 2 * FBY_NS_PER_S, text, sizeof(text));
    assert_string_equal(
        text, "step 10/40  320 images/s  ETA 0:06  waited 0.5 s (25 %)");
}

static void without_an_end_there_is_no_eta(void **state)
{
    (void)state;
    char                             text[160];
    const struct fby_stream_progress at = {
        .steps = 10, .samples = 640, .noun = "image"};
    fby_progress_write_text(&at, FBY_NS_PER_S, text, sizeof(text));
    assert_null(strstr(text, "ETA"));
    assert_null(strstr(text, "/40"));
}

static void an_eta_of_many_years_is_left_out(void **state)
{
    (void)state;
    char                             text[160];
    const struct fby_stream_progress at = {
        .steps = 1, .total = INT64_MAX, .noun = "image"};
    fby_progress_write_text(&at, FBY_NS_PER_S, text, sizeof(text));
    assert_null(strstr(text, "ETA"));
}

static void before_the_first_step_nothing_is_divided_by_zero(void **state)
{
    (void)state;
    char                             text[160];
    const struct fby_stream_progress at = {.total = 40, .noun = "sample"};
    fby_progress_write_text(&at, 0, text, sizeof(text));
    assert_string_equal(text, "step 0/40  0 samples/s  waited 0.0 s (0 %)");
}

static void bar_and_text_fit_the_terminal(void **state)
{
    (void)state;
    assert_int_equal(fby_progress_bar_width(200, 58), 24);
    assert_int_equal(fby_progress_bar_width(80, 58), 20);
    assert_int_equal(fby_progress_bar_width(80, 74), 4);
    assert_int_equal(fby_progress_bar_width(80, 75), 0);
    assert_int_equal(fby_progress_bar_width(20, 58), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_has_rate_eta_and_time_waited),
        cmocka_unit_test(without_an_end_there_is_no_eta),
        cmocka_unit_test(an_eta_of_many_years_is_left_out),
        cmocka_unit_test(before_the_first_step_nothing_is_divided_by_zero),
        cmocka_unit_test(bar_and_text_fit_the_terminal),
    };
    return cmocka_run_group_tests_name("cli.bar", tests, NULL, NULL);
}
