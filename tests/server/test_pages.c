/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of a server, from a directory: views, JSON and metrics. */
#include "tests/server/directories.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/pages.h"
#include "tests/says.h"

enum { READY, METRICS, SCALE, CLUSTER };

#define S FBY_NS_PER_S

static const char *write_page(int page, struct fby_directory *directory,
    struct fby_buffer *out, int64_t now_ns)
{
    struct fby_server_view *view =
        fby_server_view_create(directory, "tcp://127.0.0.1:7070", now_ns);
    view->instance = (struct fby_instance_id){255};
    for (uint32_t i = FBY_SERVER_REFUSED_CONNECTIONS; i < FBY_SERVER_NUMBERS;
         i++) {
        view->numbers[i] += 7000 + i;
    }
    out->size = 0;
    assert_int_equal(fby_server_pages[page].write(view, out), 200);
    fby_server_view_destroy(view);
    fby_put_u8(out, 0);
    return (const char *)out->data;
}

/* Worker 1 at second 1 and rank 0 of 2 at second 2. */
static void fill(struct fby_directory *directory)
{
    static const struct fby_counter counters[] = {
        {"batches", 12}, {"of_tomorrow", 1}, {"transform.busy_ns", 2500000000}};
    const struct fby_heartbeat message = {.instance = {1},
        .sessions                                   = 3,
        .load_permille                              = 250,
        .counters                                   = counters,
        .n_counters                                 = 3};
    add_worker(directory, 1, 0);
    assert_ok(fby_directory_heartbeat(directory, &message, &worker_route, S));
    join_ok(directory, 7, 0, 2 * S);
}

static void the_cluster_is_told_as_json(void **state)
{
    struct fby_buffer out = {0};
    fill(*state);
    assert_string_equal(write_page(CLUSTER, *state, &out, 3 * S),
        "{\"server\":{\"id\":\"00000000000000ff\",\"version\":\"" FBY_VERSION
        "\",\"endpoint\":\"tcp://127.0.0.1:7070\"},"
        "\"workers\":[{\"id\":\"0000000000000001\",\"host\":\"a-host\","
        "\"endpoints\":[\"tcp://a:1\",\"tcp://b:2\"],\"pid\":0,\"cores\":0,"
        "\"silent_seconds\":2.0,\"load\":0.25,\"sessions\":3,"
        "\"counters\":{\"batches\":12,\"transform.busy_ns\":2500000000}}],"
        "\"jobs\":[{\"name\":\"train\",\"world\":2,\"start_epoch\":3,"
        "\"start_step\":4,\"ranks\":[{\"rank\":0,\"state\":\"joined\","
        "\"host\":\"odd\",\"pid\":1007,\"silent_seconds\":1.0}]}]}\n");
    fby_buffer_fini(&out);
}

static void a_worker_without_a_heartbeat_has_no_load(void **state)
{
    struct fby_buffer out = {0};
    add_worker(*state, 1, 0);
    const char *text = write_page(CLUSTER, *state, &out, 0);
    assert_text_says(text, "\"silent_seconds\":0.0}],\"jobs\":[]}\n");
    text = write_page(METRICS, *state, &out, 0);
    assert_text_says(text,
        "\nforebay_cluster_worker_cores{worker=\"0000000000000001\","
        "host=\"a-host\",endpoint=\"tcp://a:1\"} 0\n");
    assert_null(strstr(text, "\nforebay_cluster_worker_batches_total{"));
    fby_buffer_fini(&out);
}

static void a_rank_has_its_state(void **state)
{
    struct fby_buffer     out   = {0};
    const struct fby_join again = joining(8, 0);
    struct fby_join       wrong = joining(9, 1);
    wrong.seed                  = 43;
    fill(*state);
    assert_ok(join_as(*state, &again, 2 * S));
    assert_ok(join_as(*state, &wrong, 2 * S));
    const char *text = write_page(CLUSTER, *state, &out, 3 * S);
    assert_text_says(text, "{\"rank\":0,\"state\":\"joined\",\"host\":\"odd\"");
    assert_text_says(
        text, "{\"rank\":0,\"state\":\"waiting\",\"host\":\"even\"");
    assert_text_says(
        text, "{\"rank\":1,\"state\":\"refused\",\"host\":\"odd\"");
    text = write_page(METRICS, *state, &out, 3 * S);
    assert_text_says(text, "\nforebay_job_ranks{job_name=\"train\"} 1\n");
    assert_text_says(text, "\nforebay_job_world_size{job_name=\"train\"} 2\n");
    fby_buffer_fini(&out);
}

static void a_trainer_has_a_pace(void **state)
{
    struct fby_buffer out   = {0};
    struct fby_renew  renew = {.session = {7},
         .pace                          = {.span_ms = 4000,
                                      .rows         = 10000,
                                      .wait_ms      = 1000,
                                      .fetch_ms     = 5000,
                                      .transform_ms = 40000,
                                      .encode_ms    = 2500,
                                      .cpu_ms       = 30000}};
    fill(*state);
    join_ok(*state, 8, 1, 2 * S);
    assert_ok(renew_as(*state, &renew, 3 * S));
    renew =
        (struct fby_renew){.session = {8}, /* more wait than there is time */
            .pace = {.span_ms = 1000, .rows = 500, .wait_ms = UINT32_MAX}};
    assert_ok(renew_as(*state, &renew, 3 * S));
    const char *text = write_page(CLUSTER, *state, &out, 3 * S);
    assert_text_says(text, "\"silent_seconds\":0.0,\"rows_per_second\":2500.0,"
                           "\"wait_ratio\":0.25,\"ms_per_row\":{\"fetch\":0.5,"
                           "\"transform\":4.0,\"encode\":0.25,\"cpu\":3.0}}");
    text = write_page(METRICS, *state, &out, 3 * S);
    assert_text_says(
        text, "\nforebay_job_rows_per_second{job_name=\"train\"} 3000.000\n");
    assert_text_says(
        text, "\nforebay_job_wait_ratio{job_name=\"train\"} 0.400\n");
    fby_buffer_fini(&out);
}

/* The page, and the status that it has. */
static const char *write_scale(struct fby_directory *directory,
    const struct fby_wanted *wanted, struct fby_buffer *out, unsigned status)
{
    struct fby_server_view *view =
        fby_server_view_create(directory, "tcp://127.0.0.1:7070", 0);
    fby_server_view_set_wanted(view, wanted);
    out->size = 0;
    assert_int_equal(fby_server_pages[SCALE].write(view, out), status);
    fby_put_u8(out, 0);
    assert_int_equal(fby_server_pages[METRICS].write(view, out), 200);
    fby_put_u8(out, 0);
    fby_server_view_destroy(view);
    return (const char *)out->data;
}

static void the_wanted_number_of_workers_has_reasons(void **state)
{
    struct fby_buffer out    = {0};
    struct fby_wanted wanted = {0};
    fby_wanted_start(&wanted, 10 * S, 0);
    fill(*state);
    fby_wanted_tick(&wanted, *state, 10 * S - 1);
    const char *text = write_scale(*state, &wanted, &out, 503);
    assert_text_says(text, "{\"error\":\"the server has just started, and ");
    assert_null(strstr(text + strlen(text) + 1, "workers_wanted"));
    fby_wanted_tick(&wanted, *state, 10 * S);
    text = write_scale(*state, &wanted, &out, 200);
    assert_text_says(text, "{\"workers_wanted\":1,\"workers\":1,\"jobs\":1,"
                           "\"why\":[\"job train: 1 "
                           "rank, no step yet\"");
    assert_text_says(
        text + strlen(text) + 1, "\nforebay_server_workers_wanted 1\n");
    fby_wanted_fini(&wanted);
    fby_buffer_fini(&out);
}

static void every_number_has_a_metric(void **state)
{
    struct fby_buffer out  = {0};
    const char       *text = write_page(METRICS, *state, &out, 0);
    for (uint32_t i = FBY_SERVER_REFUSED_CONNECTIONS; i < FBY_SERVER_NUMBERS;
         i++) {
        char number[16];
        snprintf(number, sizeof(number), " %" PRIu32 "\n", 7000 + i);
        assert_text_says(text, number);
    }
    fill(*state);
    text = write_page(METRICS, *state, &out, 0);
    assert_text_says(text, "\nforebay_server_workers 1\n");
    assert_text_says(text, "\nforebay_server_sessions 1\n");
    assert_text_says(text, "\nforebay_server_jobs 1\n");
    assert_text_says(text,
        "\nforebay_cluster_worker_load_ratio{worker=\"0000000000000001\","
        "host=\"a-host\",endpoint=\"tcp://a:1\"} 0.250\n");
    assert_text_says(text, "endpoint=\"tcp://a:1\"} 2.500000000\n");
    fby_buffer_fini(&out);
}

static uint32_t count(const char *text, const char *words)
{
    uint32_t n = 0;
    for (const char *at = text; (at = strstr(at, words)) != NULL; at++) {
        n++;
    }
    return n;
}

static void metrics_name_a_limited_number_of_workers(void **state)
{
    struct fby_buffer out = {0};
    for (uint64_t i = 1; i <= FBY_SERVER_LISTED + 5; i++) {
        add_worker(*state, i, 0);
    }
    const char *text = write_page(METRICS, *state, &out, 0);
    assert_int_equal(
        count(text, "\nforebay_cluster_worker_cores{"), FBY_SERVER_LISTED);
    assert_text_says(text, "\nforebay_server_workers 1005\n");
    text = write_page(CLUSTER, *state, &out, 0);
    assert_int_equal(count(text, "\"cores\""), FBY_SERVER_LISTED + 5);
    fby_buffer_fini(&out);
}

static void a_server_that_stops_is_not_ready(void **state)
{
    struct fby_server_view *view = fby_server_view_create(*state, "", 0);
    struct fby_buffer       out  = {0};
    assert_int_equal(fby_server_pages[READY].write(view, &out), 503);
    fby_put_u8(&out, 0);
    assert_string_equal((const char *)out.data, "The server is stopping.\n");
    view->numbers[FBY_SERVER_READY] = 1;
    out.size                        = 0;
    assert_int_equal(fby_server_pages[READY].write(view, &out), 200);
    fby_buffer_fini(&out);
    fby_server_view_destroy(view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DIRECTORY_TEST(the_cluster_is_told_as_json),
        DIRECTORY_TEST(a_worker_without_a_heartbeat_has_no_load),
        DIRECTORY_TEST(a_rank_has_its_state),
        DIRECTORY_TEST(a_trainer_has_a_pace),
        DIRECTORY_TEST(the_wanted_number_of_workers_has_reasons),
        DIRECTORY_TEST(every_number_has_a_metric),
        DIRECTORY_TEST(metrics_name_a_limited_number_of_workers),
        DIRECTORY_TEST(a_server_that_stops_is_not_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
