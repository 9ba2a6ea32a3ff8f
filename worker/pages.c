/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of a worker are a table; docs/operations.md has a row for each. */
#include "worker/pages.h"

#include "http/metrics.h"

enum { NS_PER_S = 1000000000 };

static unsigned write_ready(const void *snapshot, struct fby_buffer *out)
{
    const struct fby_worker_view *view = snapshot;
    if (view->numbers[FBY_WORKER_LEAVING] != 0) {
        fby_put_format(
            out, "The worker is leaving: it takes no new requests.\n");
        return 503;
    }
    if (view->server[0] != '\0' && view->numbers[FBY_WORKER_REGISTERED] == 0) {
        fby_put_format(out,
            "The worker is not registered at the server %s: it keeps trying.\n",
            view->server);
        return 503;
    }
    fby_put_format(out, "ok\n");
    return 200;
}

#define ONE(type, name, divisor, number, help)                               \
    {                                                                        \
        {"forebay_worker_" name, help, FBY_METRIC_##type}, divisor, NULL, 1, \
        {                                                                    \
            {                                                                \
                number, NULL                                                 \
            }                                                                \
        }                                                                    \
    }
#define COUNTER(name, NUMBER, help) \
    ONE(COUNTER, name, 1, FBY_COUNTER_##NUMBER, help)
#define GAUGE(name, number, help) ONE(GAUGE, name, 1, number, help)
#define STAGES(type, name, divisor, NUMBER, help)                         \
    {                                                                     \
        {"forebay_worker_stage_" name, help, FBY_METRIC_##type}, divisor, \
            "stage", 3,                                                   \
        {                                                                 \
            {FBY_COUNTER_FETCH_##NUMBER, "fetch"},                        \
                {FBY_COUNTER_TRANSFORM_##NUMBER, "transform"},            \
            {                                                             \
                FBY_COUNTER_ENCODE_##NUMBER, "encode"                     \
            }                                                             \
        }                                                                 \
    }

static const struct fby_metric_family families[] = {
    GAUGE("registered", FBY_WORKER_REGISTERED,
        "1 if the worker is registered at its server, else 0."),
    GAUGE("leaving", FBY_WORKER_LEAVING,
        "1 if the worker takes no new requests and will end, else 0."),
    GAUGE("sessions", FBY_WORKER_SESSIONS, "Sessions of trainers."),
    COUNTER("requests_total", REQUESTS, "Requests accepted."),
    COUNTER("requests_joined_total", JOINED,
        "Accepted requests for a batch that was already being made."),
    {{"forebay_worker_requests_refused_total",
         "Requests answered without a batch, by answer.", FBY_METRIC_COUNTER},
        1, "answer", 3,
        {{FBY_COUNTER_BUSY, "busy"}, {FBY_COUNTER_LOST, "lost"},
            {FBY_COUNTER_CANNOT, "cannot"}}},
    COUNTER("batches_total", BATCHES, "Batches sent completely."),
    COUNTER("chunks_total", CHUNKS, "Chunks sent."),
    COUNTER("chunks_copied_total", COPIED_CHUNKS,
        "Chunks that were copied before they were sent."),
    COUNTER("raw_bytes_total", RAW_BYTES,
        "Bytes of the chunks sent, before encoding."),
    COUNTER("wire_bytes_total", WIRE_BYTES, "Bytes of the chunks sent."),
    COUNTER("fetched_bytes_total", FETCHED_BYTES,
        "Bytes read from files of samples."),
    COUNTER("samples_substituted_total", SUBSTITUTED,
        "Bad samples that another sample replaced."),
    {{"forebay_worker_messages_refused_total", "Messages dropped, by cause.",
         FBY_METRIC_COUNTER},
        1, "cause", 3,
        {{FBY_COUNTER_MALFORMED, "malformed"},
            {FBY_COUNTER_OUT_OF_PLACE, "out_of_place"},
            {FBY_COUNTER_UNKNOWN_PEERS, "no_session"}}},
    ONE(COUNTER, "handshakes_failed_total", 1, FBY_WORKER_HANDSHAKES,
        "Connections that ended in the handshake: silent, or closed early."),
    COUNTER("clients_refused_total", REFUSED_CLIENTS,
        "Sessions refused, for want of memory or of a common version."),
    COUNTER("routes_lost_total", ROUTES_LOST,
        "Sends that failed because the connection was gone."),
    COUNTER("faults_injected_total", FAULTS,
        "Faults that FOREBAY_FAULT caused, for tests."),
    STAGES(GAUGE, "threads", 1, THREADS, "Threads of a stage."),
    STAGES(GAUGE, "queued_tasks", 1, QUEUED, "Tasks that wait for a thread."),
    STAGES(COUNTER, "tasks_total", 1, TASKS, "Tasks done."),
    STAGES(COUNTER, "failures_total", 1, FAILURES, "Tasks that failed."),
    STAGES(COUNTER, "busy_seconds_total", NS_PER_S, BUSY_NS,
        "Time in which threads worked, all threads together."),
    STAGES(COUNTER, "cpu_seconds_total", NS_PER_S, CPU_NS,
        "CPU time of the threads."),
    STAGES(COUNTER, "wait_input_seconds_total", NS_PER_S, WAIT_INPUT_NS,
        "Time in which threads waited for a task."),
    STAGES(COUNTER, "wait_output_seconds_total", NS_PER_S, WAIT_OUTPUT_NS,
        "Time in which the stage before waited for a place in the queue."),
    GAUGE(
        "backlog_rows", FBY_COUNTER_BACKLOG_ROWS, "Rows that wait to be read."),
    COUNTER("scratch_waits_total", SCRATCH_WAITS,
        "Pictures that waited for memory to be decoded."),
    GAUGE("budget_limit_bytes", FBY_WORKER_BUDGET_LIMIT,
        "Memory for batches of all sessions."),
    GAUGE("budget_entitled_bytes", FBY_WORKER_BUDGET_ENTITLED,
        "Part of the budget that sessions can rely on."),
    GAUGE("budget_charged_bytes", FBY_WORKER_BUDGET_CHARGED,
        "Part of the budget that batches use now."),
    GAUGE("memory_limit_bytes", FBY_COUNTER_MEMORY_LIMIT,
        "Memory for batches and copied chunks."),
    GAUGE("memory_used_bytes", FBY_COUNTER_MEMORY_USED,
        "Memory that batches and copied chunks use or have reserved."),
};

static unsigned write_metrics(const void *snapshot, struct fby_buffer *out)
{
    const struct fby_worker_view *view = snapshot;
    fby_metric_build_info(out);
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        fby_metric_family_write(out, &families[i], view->numbers);
    }
    return 200;
}

const struct fby_http_page fby_worker_pages[FBY_WORKER_PAGES] = {
    {"/readyz", "200 if registered at the server and not leaving",
        "text/plain; charset=utf-8", true, write_ready},
    {"/metrics", "numbers for Prometheus",
        "text/plain; version=0.0.4; charset=utf-8", false, write_metrics},
};
