/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of a server are tables; docs/operations.md has a row for each. */
#include "server/pages.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "http/metrics.h"

enum { PERMILLE = 1000, NS_PER_S = 1000000000, DIGITS = 5 /* of JSON */ };

static unsigned write_ready(const void *snapshot, struct fby_buffer *out)
{
    const struct fby_server_view *view = snapshot;
    if (view->numbers[FBY_SERVER_READY] == 0) {
        fby_put_format(out, "The server is stopping.\n");
        return 503;
    }
    fby_put_format(out, "ok\n");
    return 200;
}

/* ---- /metrics: numbers of the server ---- */

#define ONE(type, name, number, help)                                  \
    {                                                                  \
        {"forebay_server_" name, help, FBY_METRIC_##type}, 1, NULL, 1, \
        {                                                              \
            {                                                          \
                number, NULL                                           \
            }                                                          \
        }                                                              \
    }

static const struct fby_metric_family families[] = {
    ONE(GAUGE, "workers", FBY_SERVER_WORKERS, "Workers registered now."),
    ONE(GAUGE, "sessions", FBY_SERVER_SESSIONS,
        "Sessions of trainers now, waiting and refused ones too."),
    ONE(GAUGE, "jobs", FBY_SERVER_JOBS, "Jobs with a session now."),
    ONE(COUNTER, "handshakes_failed_total", FBY_SERVER_HANDSHAKES,
        "Connections that ended in the handshake: silent, closed early, or "
        "with no or a wrong key."),
    ONE(COUNTER, "connections_refused_total", FBY_SERVER_REFUSED_CONNECTIONS,
        "Connections with unknown keys refused after 64 others in 10 s."),
    ONE(COUNTER, "messages_refused_total", FBY_SERVER_REFUSED_MESSAGES,
        "Messages dropped because they are not valid here."),
    ONE(COUNTER, "workers_refused_total", FBY_SERVER_REFUSED_WORKERS,
        "Registrations refused; the log has the cause."),
    ONE(COUNTER, "joins_refused_total", FBY_SERVER_REFUSED_JOINS,
        "Sessions refused: their job differs, their rank is taken, or there "
        "are too many."),
    {{"forebay_server_leases_expired_total",
         "Workers and sessions removed because they were silent for a lease.",
         FBY_METRIC_COUNTER},
        1, "of", 2,
        {{FBY_SERVER_EXPIRED_WORKERS, "worker"},
            {FBY_SERVER_EXPIRED_SESSIONS, "session"}}},
    ONE(COUNTER, "unreachable_reports_total", FBY_SERVER_UNREACHABLE,
        "Reports of trainers that they cannot connect to a worker."),
};

/* It is left out while it is not known. */
static const struct fby_metric workers_wanted = {
    "forebay_server_workers_wanted",
    "Workers that the trainers need; /scale has the reasons.",
    FBY_METRIC_GAUGE};

/* ---- /metrics: jobs and workers, one by one ---- */

struct job_metric {
    struct fby_metric metric;
    struct fby_metric_number (*number)(const struct fby_view_job *job);
};

static struct fby_metric_number job_ranks(const struct fby_view_job *job)
{
    return (struct fby_metric_number){job->n_joined, 1};
}

static struct fby_metric_number job_world(const struct fby_view_job *job)
{
    return (struct fby_metric_number){job->world, 1};
}

static struct fby_metric_number job_rows(const struct fby_view_job *job)
{
    return (struct fby_metric_number){job->milli_rows_per_s, 1000};
}

static struct fby_metric_number job_wait(const struct fby_view_job *job)
{
    uint64_t span_ms = job->span_ms > 0 ? job->span_ms : 1;
    return (struct fby_metric_number){
        PERMILLE * job->wait_ms / span_ms, PERMILLE};
}

static const struct job_metric job_metrics[] = {
    {{"forebay_job_ranks", "Ranks of the job that take part now.",
         FBY_METRIC_GAUGE},
        job_ranks},
    {{"forebay_job_world_size", "Ranks that the job has when complete.",
         FBY_METRIC_GAUGE},
        job_world},
    {{"forebay_job_rows_per_second",
         "Samples that the ranks take together, over their last 30 s.",
         FBY_METRIC_GAUGE},
        job_rows},
    {{"forebay_job_wait_ratio",
         "Part of that time in which ranks waited for batches, 0 to 1.",
         FBY_METRIC_GAUGE},
        job_wait},
};

static uint32_t at_most_listed(uint32_t n)
{
    return n < FBY_SERVER_LISTED ? n : FBY_SERVER_LISTED;
}

static void write_job_metric(struct fby_buffer *out,
    const struct fby_server_view *view, const struct job_metric *row)
{
    fby_metric_begin(out, &row->metric);
    for (uint32_t i = 0; i < at_most_listed(view->n_jobs); i++) {
        const struct fby_view_job    *job   = &view->jobs[i];
        const struct fby_metric_label label = {
            "job_name", fby_view_text(view, job->name)};
        fby_metric_sample(out, row->metric.name, &label, 1, row->number(job));
    }
}

struct worker_metric {
    struct fby_metric metric;
    uint32_t          divisor;
    uint32_t          counter; /* id; or LOAD, SESSIONS or CORES */
};

enum { LOAD = FBY_N_COUNTERS, SESSIONS, CORES };

#define OF_WORKER(type, name, divisor, counter, help)                       \
    {                                                                       \
        {"forebay_cluster_worker_" name, help, FBY_METRIC_##type}, divisor, \
            counter                                                         \
    }

static const struct worker_metric worker_metrics[] = {
    OF_WORKER(GAUGE, "cores", 1, CORES, "Cores that the worker may use."),
    OF_WORKER(GAUGE, "load_ratio", PERMILLE, LOAD,
        "Part of the time in which the transform threads worked, 0 to 1."),
    OF_WORKER(GAUGE, "sessions", 1, SESSIONS, "Sessions of trainers."),
    OF_WORKER(COUNTER, "batches_total", 1, FBY_COUNTER_BATCHES,
        "Batches sent completely."),
    OF_WORKER(COUNTER, "raw_bytes_total", 1, FBY_COUNTER_RAW_BYTES,
        "Bytes of the chunks sent, before encoding."),
    OF_WORKER(COUNTER, "wire_bytes_total", 1, FBY_COUNTER_WIRE_BYTES,
        "Bytes of the chunks sent."),
    OF_WORKER(COUNTER, "busy_total", 1, FBY_COUNTER_BUSY,
        "Requests refused for want of memory."),
    OF_WORKER(
        COUNTER, "lost_total", 1, FBY_COUNTER_LOST, "Requests given back."),
    OF_WORKER(COUNTER, "samples_substituted_total", 1, FBY_COUNTER_SUBSTITUTED,
        "Bad samples that another sample replaced."),
    OF_WORKER(COUNTER, "transform_busy_seconds_total", NS_PER_S,
        FBY_COUNTER_TRANSFORM_BUSY_NS,
        "Time in which the transform threads worked."),
};

/* The number of a worker; false: it is not known. */
static bool worker_number(
    const struct fby_view_worker *worker, uint32_t counter, uint64_t *out)
{
    *out = counter == CORES      ? worker->cores
           : counter == LOAD     ? worker->load_permille
           : counter == SESSIONS ? worker->sessions
                                 : worker->counters.at[counter];
    return counter == CORES ||
           (worker->heard &&
               (counter >= FBY_N_COUNTERS ||
                   fby_counter_is_known(&worker->counters, counter)));
}

static const char *first_endpoint(
    const struct fby_server_view *view, const struct fby_view_worker *worker)
{
    return worker->n_endpoints > 0 ? fby_view_text(view, worker->endpoints)
                                   : "";
}

static void write_worker_metric(struct fby_buffer *out,
    const struct fby_server_view *view, const struct worker_metric *row)
{
    fby_metric_begin(out, &row->metric);
    for (uint32_t i = 0; i < at_most_listed(view->n_workers); i++) {
        const struct fby_view_worker *worker   = &view->workers[i];
        const struct fby_id_text      id       = fby_id_text(worker->instance);
        const struct fby_metric_label labels[] = {
            {"worker", id.text},
            {"host", fby_view_text(view, worker->host)},
            {"endpoint", first_endpoint(view, worker)},
        };
        uint64_t number = 0;
        if (worker_number(worker, row->counter, &number)) {
            fby_metric_sample(out, row->metric.name, labels, 3,
                (struct fby_metric_number){number, row->divisor});
        }
    }
}

#define N_ROWS(table) (sizeof(table) / sizeof((table)[0]))

static unsigned write_metrics(const void *snapshot, struct fby_buffer *out)
{
    const struct fby_server_view *view = snapshot;
    fby_metric_build_info(out);
    for (size_t i = 0; i < N_ROWS(families); i++) {
        fby_metric_family_write(out, &families[i], view->numbers);
    }
    if (view->scale.is_known) {
        fby_metric_begin(out, &workers_wanted);
        fby_metric_sample(out, workers_wanted.name, NULL, 0,
            (struct fby_metric_number){view->scale.wanted, 1});
    }
    for (size_t i = 0; i < N_ROWS(job_metrics); i++) {
        write_job_metric(out, view, &job_metrics[i]);
    }
    for (size_t i = 0; i < N_ROWS(worker_metrics); i++) {
        write_worker_metric(out, view, &worker_metrics[i]);
    }
    return 200;
}

/* ---- pages in JSON ---- */

static void set_integer(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key,
        json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX));
}

static void set_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, json_string(text));
}

static void set_id(json_t *object, uint64_t id)
{
    set_text(object, "id", fby_id_text(id).text);
}

static void set_silence(json_t *object, int64_t silent_ns)
{
    json_object_set_new(
        object, "silent_seconds", json_real((double)silent_ns / NS_PER_S));
}

/* Write and free `root`. Returns the status. */
static unsigned write_json(json_t *root, struct fby_buffer *out)
{
    char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS));
    json_decref(root);
    if (text == NULL) {
        fby_put_format(out, "There is no memory to write this page.\n");
        return 503;
    }
    fby_put_bytes(out, text, strlen(text));
    fby_put_u8(out, '\n');
    free(text);
    return 200;
}

/* ---- /api/cluster ---- */

static json_t *make_server(const struct fby_server_view *view)
{
    json_t *server = json_object();
    set_id(server, view->instance.value);
    set_text(server, "version", FBY_VERSION);
    set_text(server, "endpoint", fby_view_text(view, view->endpoint));
    return server;
}

static json_t *make_endpoints(
    const struct fby_server_view *view, const struct fby_view_worker *worker)
{
    json_t     *list = json_array();
    const char *text = first_endpoint(view, worker);
    for (size_t i = 0; i < worker->n_endpoints; i++) {
        json_array_append_new(list, json_string(text));
        text += strlen(text) + 1;
    }
    return list;
}

static json_t *make_counters(const struct fby_counter_values *values)
{
    json_t *counters = json_object();
    for (uint32_t id = 0; id < FBY_N_COUNTERS; id++) {
        if (fby_counter_is_known(values, id)) {
            set_integer(counters, fby_counter_name(id), values->at[id]);
        }
    }
    return counters;
}

static json_t *make_worker(
    const struct fby_server_view *view, const struct fby_view_worker *worker)
{
    json_t *object = json_object();
    set_id(object, worker->instance);
    set_text(object, "host", fby_view_text(view, worker->host));
    json_object_set_new(object, "endpoints", make_endpoints(view, worker));
    set_integer(object, "pid", worker->pid);
    set_integer(object, "cores", worker->cores);
    set_silence(object, worker->silent_ns);
    if (worker->heard) {
        json_object_set_new(object, "load",
            json_real((double)worker->load_permille / PERMILLE));
        set_integer(object, "sessions", worker->sessions);
        json_object_set_new(
            object, "counters", make_counters(&worker->counters));
    }
    return object;
}

static json_t *make_workers(const struct fby_server_view *view)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < view->n_workers; i++) {
        json_array_append_new(list, make_worker(view, &view->workers[i]));
    }
    return list;
}

static void set_row_time(
    json_t *object, const char *stage, uint64_t ms, uint64_t rows)
{
    double per_row = rows > 0 ? (double)ms / (double)rows : 0;
    json_object_set_new(object, stage, json_real(per_row));
}

static json_t *make_row_times(const struct fby_pace *pace)
{
    json_t *times = json_object();
    set_row_time(times, "fetch", pace->fetch_ms, pace->rows);
    set_row_time(times, "transform", pace->transform_ms, pace->rows);
    set_row_time(times, "encode", pace->encode_ms, pace->rows);
    set_row_time(times, "cpu", pace->cpu_ms, pace->rows);
    return times;
}

static json_t *make_rank(
    const struct fby_server_view *view, const struct fby_view_rank *rank)
{
    json_t *object = json_object();
    set_integer(object, "rank", rank->rank);
    set_text(object, "state", rank->state);
    set_text(object, "host", fby_view_text(view, rank->host));
    set_integer(object, "pid", rank->pid);
    set_silence(object, rank->silent_ns);
    if (rank->pace.span_ms > 0) {
        double span_ms = rank->pace.span_ms;
        json_object_set_new(object, "rows_per_second",
            json_real(1000 * (double)rank->pace.rows / span_ms));
        json_object_set_new(
            object, "wait_ratio", json_real(rank->pace.wait_ms / span_ms));
        json_object_set_new(object, "ms_per_row", make_row_times(&rank->pace));
    }
    return object;
}

static json_t *make_job(
    const struct fby_server_view *view, const struct fby_view_job *job)
{
    json_t *object = json_object();
    set_text(object, "name", fby_view_text(view, job->name));
    set_integer(object, "world", job->world);
    set_integer(object, "start_epoch", job->epoch);
    set_integer(object, "start_step", job->step);
    json_object_set_new(object, "ranks", json_array());
    return object;
}

static json_t *make_jobs(const struct fby_server_view *view)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < view->n_jobs; i++) {
        json_array_append_new(list, make_job(view, &view->jobs[i]));
    }
    for (uint32_t i = 0; i < view->n_ranks; i++) {
        const struct fby_view_rank *rank = &view->ranks[i];
        json_t                     *job  = json_array_get(list, rank->job);
        json_array_append_new(
            json_object_get(job, "ranks"), make_rank(view, rank));
    }
    return list;
}

static unsigned write_cluster(const void *snapshot, struct fby_buffer *out)
{
    const struct fby_server_view *view = snapshot;
    json_t                       *root = json_object();
    json_object_set_new(root, "server", make_server(view));
    json_object_set_new(root, "workers", make_workers(view));
    json_object_set_new(root, "jobs", make_jobs(view));
    return write_json(root, out);
}

/* ---- /scale ---- */

static json_t *make_reasons(const struct fby_server_view *view)
{
    json_t     *list = json_array();
    const char *text = fby_view_text(view, view->scale.reasons);
    for (uint32_t i = 0; i < view->scale.n_reasons; i++) {
        json_array_append_new(list, json_string(text));
        text += strlen(text) + 1;
    }
    return list;
}

static unsigned write_scale(const void *snapshot, struct fby_buffer *out)
{
    const struct fby_server_view *view = snapshot;
    json_t                       *root = json_object();
    if (!view->scale.is_known) {
        /* A scaler must not take a missing number for 0. */
        set_text(root, "error",
            "the server has just started, and waits for workers and trainers "
            "to come back");
        (void)write_json(root, out);
        return 503;
    }
    set_integer(root, "workers_wanted", view->scale.wanted);
    set_integer(root, "workers", view->scale.workers);
    set_integer(root, "jobs", view->scale.jobs);
    json_object_set_new(root, "why", make_reasons(view));
    return write_json(root, out);
}

const struct fby_http_page fby_server_pages[FBY_SERVER_PAGES] = {
    {"/readyz", "200 if the server listens and is not stopping",
        "text/plain; charset=utf-8", true, write_ready},
    {"/metrics", "numbers for Prometheus",
        "text/plain; version=0.0.4; charset=utf-8", false, write_metrics},
    {"/scale", "how many workers are wanted, and why, as JSON",
        "application/json", false, write_scale},
    {"/api/cluster", "workers and jobs, as JSON", "application/json", false,
        write_cluster},
};
