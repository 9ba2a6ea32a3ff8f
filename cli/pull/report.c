#include "cli/pull/report.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "common/plural.h"

static double per(double amount, double unit)
{
    return unit > 0 ? amount / unit : 0;
}

static void print_row(FILE *out, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void print_row(FILE *out, const char *name, const char *format, ...)
{
    va_list args;
    fprintf(out, "  %-18s ", name);
    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
    fputc('\n', out);
}

static void print_rates(const struct fby_report *report, FILE *out)
{
    const struct forebay_stats *s      = &report->stats;
    double                      images = (double)s->images;
    double                      raw    = (double)s->raw_bytes;
    double                      wire   = (double)s->wire_bytes;
    double                      waited = (double)s->wait_ns / 1e9;
    print_row(out, "delivered", "%s in %s, %.2f s",
        fby_plural(s->images, "image").text, fby_plural(s->steps, "step").text,
        report->seconds);
    print_row(out, "rate", "%9.1f images/s", per(images, report->seconds));
    print_row(out, "raw", "%9.1f MB/s %10.0f bytes an image",
        per(raw, report->seconds) / 1e6, per(raw, images));
    print_row(out, "on the wire", "%9.1f MB/s %10.0f bytes an image, %.0f %%",
        per(wire, report->seconds) / 1e6, per(wire, images),
        100 * per(wire, raw));
    print_row(out, "waited for data", "%9.2f s    %10.0f %% of the time",
        waited, 100 * per(waited, report->seconds));
}

/* "worker.wait" is time that batches spent queued in a worker, and no work. */
static bool is_waiting(const struct forebay_stage *stage)
{
    const char *dot = strrchr(stage->name, '.');
    return dot != NULL && strcmp(dot, ".wait") == 0;
}

static double work_seconds(const struct forebay_stats *s)
{
    double total = 0;
    for (uint32_t i = 0; i < s->n_stages; i++) {
        if (!is_waiting(&s->stages[i])) {
            total += (double)s->stages[i].busy_ns / 1e9;
        }
    }
    return total;
}

static void print_stages(const struct forebay_stats *s, FILE *out)
{
    double work = work_seconds(s);
    print_row(out, "work, all threads", "%9.2f s, by stage:", work);
    for (uint32_t i = 0; i < s->n_stages; i++) {
        const struct forebay_stage *stage = &s->stages[i];
        double                      busy  = (double)stage->busy_ns / 1e9;
        if (is_waiting(stage)) {
            continue;
        }
        fprintf(out, "    %-17s %8.2f s    %10.0f %%\n", stage->name, busy,
            100 * per(busy, work));
    }
    for (uint32_t i = 0; i < s->n_stages; i++) {
        if (is_waiting(&s->stages[i])) {
            print_row(out, s->stages[i].name,
                "%9.2f s, batches in queues (no work)",
                (double)s->stages[i].busy_ns / 1e9);
        }
    }
}

static void print_events(const struct forebay_stats *s, FILE *out)
{
    print_row(out, "asked again", "%llu (hedges %llu, lost %llu, busy %llu)",
        (unsigned long long)s->rerequests, (unsigned long long)s->hedges,
        (unsigned long long)s->lost, (unsigned long long)s->busy);
    if (s->audits + s->audits_skipped > 0) {
        print_row(out, "audited", "%s, %llu skipped",
            fby_plural(s->audits, "step").text,
            (unsigned long long)s->audits_skipped);
    }
    if (s->substituted > 0) {
        print_row(
            out, "substituted", "%llu", (unsigned long long)s->substituted);
    }
    if (s->workers_left_aside > 0) {
        print_row(out, "left aside", "%s",
            fby_plural(s->workers_left_aside, "worker").text);
    }
}

/* A device as --device names it. */
struct device_name {
    char text[24];
};

static struct device_name name_device(DLDevice device)
{
    struct device_name name = {"host"};
    if (device.device_type == kDLCUDA) {
        snprintf(name.text, sizeof(name.text), "cuda:%d", device.device_id);
    }
    return name;
}

void fby_report_table(const struct fby_report *report, FILE *out)
{
    print_rates(report, out);
    print_stages(&report->stats, out);
    print_events(&report->stats, out);
    if (report->device.device_type == kDLCUDA) {
        print_row(out, "device", "%s", name_device(report->device).text);
    }
    print_row(out, "digest", "%s",
        report->digest[0] != '\0' ? report->digest
                                  : "not taken; --digests FILE takes it");
    print_row(out, "token", "%s", report->token);
}

static json_t *stages_object(const struct forebay_stats *s)
{
    json_t *stages = json_object();
    for (uint32_t i = 0; i < s->n_stages; i++) {
        json_object_set_new(stages, s->stages[i].name,
            json_real((double)s->stages[i].busy_ns / 1e9));
    }
    return stages;
}

static void set_count(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void set_counts(json_t *object, const struct forebay_stats *s)
{
    set_count(object, "images", s->images);
    set_count(object, "steps", s->steps);
    set_count(object, "raw_bytes", s->raw_bytes);
    set_count(object, "wire_bytes", s->wire_bytes);
    set_count(object, "hedges", s->hedges);
    set_count(object, "rerequests", s->rerequests);
    set_count(object, "late_chunks", s->late_chunks);
    set_count(object, "late_hedge_chunks", s->late_hedge_chunks);
    set_count(object, "checksum_failures", s->checksum_failures);
    set_count(object, "protocol_errors", s->protocol_errors);
    set_count(object, "substituted", s->substituted);
    set_count(object, "lost", s->lost);
    set_count(object, "busy", s->busy);
    set_count(object, "suspects", s->suspects);
    set_count(object, "reconnects", s->reconnects);
    set_count(object, "audits", s->audits);
    set_count(object, "audits_skipped", s->audits_skipped);
    set_count(object, "workers", s->workers_known);
    set_count(object, "workers_in_use", s->workers_in_use);
    set_count(object, "workers_left_aside", s->workers_left_aside);
}

void fby_report_json(const struct fby_report *report, FILE *out)
{
    json_t *object = json_object();
    set_counts(object, &report->stats);
    json_object_set_new(object, "seconds", json_real(report->seconds));
    json_object_set_new(
        object, "wait_seconds", json_real((double)report->stats.wait_ns / 1e9));
    json_object_set_new(object, "device",
        report->device.device_type != 0
            ? json_string(name_device(report->device).text)
            : json_null());
    json_object_set_new(object, "digest",
        report->digest[0] != '\0' ? json_string(report->digest) : json_null());
    json_object_set_new(object, "token", json_string(report->token));
    json_object_set_new(object, "stages", stages_object(&report->stats));
    json_dumpf(object, out,
        JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
    fputc('\n', out);
    json_decref(object);
}
