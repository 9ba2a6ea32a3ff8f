/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of a worker, from made-up views. */
#include "tests/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/says.h"
#include "worker/pages.h"

enum { READY, METRICS };

static unsigned write_page(
    int page, const struct fby_worker_view *view, struct fby_buffer *out)
{
    out->size       = 0;
    unsigned status = fby_worker_pages[page].write(view, out);
    fby_put_u8(out, 0);
    return status;
}

static void expect_ready(
    const struct fby_worker_view *view, unsigned status, const char *text)
{
    struct fby_buffer out = {0};
    assert_int_equal(write_page(READY, view, &out), status);
    assert_string_equal((const char *)out.data, text);
    fby_buffer_fini(&out);
}

static void a_worker_is_ready_while_registered_and_not_leaving(void **state)
{
    struct fby_worker_view view = {.server = "tcp://10.0.0.1:7070"};
    (void)state;
    expect_ready(&view, 503,
        "The worker is not registered at the server tcp://10.0.0.1:7070: it "
        "keeps trying.\n");
    view.numbers[FBY_WORKER_REGISTERED] = 1;
    expect_ready(&view, 200, "ok\n");
    view.numbers[FBY_WORKER_LEAVING] = 1;
    expect_ready(
        &view, 503, "The worker is leaving: it takes no new requests.\n");
}

static void a_worker_without_a_server_is_ready(void **state)
{
    struct fby_worker_view view = {.server = ""};
    (void)state;
    expect_ready(&view, 200, "ok\n");
}

/* Each number is shown once: numbers of 10^9 and more are unlike others. */
static void every_number_has_a_metric(void **state)
{
    struct fby_worker_view view = {.server = ""};
    struct fby_buffer      out  = {0};
    (void)state;
    for (uint32_t i = 0; i < FBY_WORKER_NUMBERS; i++) {
        view.numbers[i] = 7000000000000 + i;
    }
    assert_int_equal(write_page(METRICS, &view, &out), 200);
    for (uint32_t i = 0; i < FBY_WORKER_NUMBERS; i++) {
        char whole[32];
        char seconds[32];
        snprintf(whole, sizeof(whole), " %" PRIu64 "\n", view.numbers[i]);
        snprintf(seconds, sizeof(seconds), " 7000.%09u\n", i);
        const char *text = (const char *)out.data;
        assert_true(
            (strstr(text, whole) != NULL) != (strstr(text, seconds) != NULL));
    }
    fby_buffer_fini(&out);
}

static void a_metric_has_its_help_and_its_labels(void **state)
{
    struct fby_worker_view view = {.server = ""};
    struct fby_buffer      out  = {0};
    (void)state;
    view.numbers[FBY_COUNTER_TRANSFORM_BUSY_NS] = 1500000000;
    view.numbers[FBY_COUNTER_LOST]              = 3;
    write_page(METRICS, &view, &out);
    const char *text = (const char *)out.data;
    assert_text_says(text,
        "\n# HELP forebay_worker_stage_busy_seconds_total Time in which "
        "threads worked, all threads together.\n"
        "# TYPE forebay_worker_stage_busy_seconds_total counter\n"
        "forebay_worker_stage_busy_seconds_total{stage=\"fetch\"} "
        "0.000000000\n"
        "forebay_worker_stage_busy_seconds_total{stage=\"transform\"} "
        "1.500000000\n");
    assert_text_says(
        text, "\nforebay_worker_requests_refused_total{answer=\"lost\"} 3\n");
    fby_buffer_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_is_ready_while_registered_and_not_leaving),
        cmocka_unit_test(a_worker_without_a_server_is_ready),
        cmocka_unit_test(every_number_has_a_metric),
        cmocka_unit_test(a_metric_has_its_help_and_its_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
