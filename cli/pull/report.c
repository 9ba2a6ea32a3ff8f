/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pull/report.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/plural.h"

/* Returns amount / divisor, or 0 if `divisor` is 0. */
static double ratio(double amount, double divisor)
{
    return divisor > 0 ? amount / divisor : 0;
}

/* "150000 bytes per image" */
struct bytes_text {
    char text[64];
};

static struct bytes_text size_per_sample(
    const struct fby_report *report, double bytes)
{
    struct bytes_text out;
    double            size = rint(ratio(bytes, (double)report->stats.images));
    snprintf(out.text, sizeof(out.text), "%10.0f %s per %s", size,
        size == 1 ? "byte" : "bytes", report->noun);
    return out;
}

__attribute__((format(printf, 3, 4))) static void print_row(
    FILE *out, const char *name, const char *format, ...)
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
    double                      rows   = (double)s->images;
    double                      raw    = (double)s->raw_bytes;
    double                      wire   = (double)s->wire_bytes;
    double                      wait_s = (double)s->wait_ns / 1e9;
    print_row(out, "delivered", "%s in %s, %.2f s",
        fby_plural(s->images, report->noun).text,
        fby_plural(s->steps, "step").text, report->seconds);
    print_row(
        out, "rate", "%9.1f %ss/s", ratio(rows, report->seconds), report->noun);
    print_row(out, "raw", "%9.1f MB/s %s", ratio(raw, report->seconds) / 1e6,
        size_per_sample(report, raw).text);
    print_row(out, "on the wire", "%9.1f MB/s %s, %.0f %%",
        ratio(wire, report->seconds) / 1e6, size_per_sample(report, wire).text,
        100 * ratio(wire, raw));
    print_row(out, "waited for data", "%9.2f s    %10.0f %% of the time%s",
        wait_s, 100 * ratio(wait_s, report->seconds),
        report->has_model ? "" : ": no model runs (see --step-ms)");
}

/* True for "worker.wait": time that batches spent in queues, without work. */
static bool is_queue_time(const struct forebay_stage *stage)
{
    const char *dot = strrchr(stage->name, '.');
    return dot != NULL && strcmp(dot, ".wait") == 0;
}

static double sum_work_seconds(const struct forebay_stats *s)
{
    double total_s = 0;
    for (uint32_t i = 0; i < s->n_stages; i++) {
        if (!is_queue_time(&s->stages[i])) {
            total_s += (double)s->stages[i].busy_ns / 1e9;
        }
    }
    return total_s;
}

static void print_stages(const struct forebay_stats *s, FILE *out)
{
    double work_s = sum_work_seconds(s);
    print_row(out, "work, all threads", "%9.2f s, by stage:", work_s);
    for (uint32_t i = 0; i < s->n_stages; i++) {
        const struct forebay_stage *stage  = &s->stages[i];
        double                      busy_s = (double)stage->busy_ns / 1e9;
        if (is_queue_time(stage)) {
            continue;
        }
        fprintf(out, "    %-17s %8.2f s    %10.0f %%\n", stage->name, busy_s,
            100 * ratio(busy_s, work_s));
    }
    for (uint32_t i = 0; i < s->n_stages; i++) {
        if (is_queue_time(&s->stages[i])) {
            print_row(out, s->stages[i].name,
                "%9.2f s that batches spent queued",
                (double)s->stages[i].busy_ns / 1e9);
        }
    }
}

static void print_events(const struct forebay_stats *s, FILE *out)
{
    print_row(out, "requested again",
        "%llu (hedges %llu, lost %llu, busy %llu)",
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
        print_row(out, "not used", "%s",
            fby_plural(s->workers_left_aside, "worker").text);
    }
}

/* The name of a device in the form of --device. */
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
                                  : "not computed; --digests FILE computes it");
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

struct named_count {
    const char *key;
    uint64_t    value;
};

void fby_report_json(const struct fby_report *report, FILE *out)
{
    const struct forebay_stats *s        = &report->stats;
    const struct named_count    counts[] = {
           {"images", s->images},
           {"steps", s->steps},
           {"raw_bytes", s->raw_bytes},
           {"wire_bytes", s->wire_bytes},
           {"hedges", s->hedges},
           {"rerequests", s->rerequests},
           {"late_chunks", s->late_chunks},
           {"late_hedge_chunks", s->late_hedge_chunks},
           {"checksum_failures", s->checksum_failures},
           {"protocol_errors", s->protocol_errors},
           {"substituted", s->substituted},
           {"lost", s->lost},
           {"busy", s->busy},
           {"suspects", s->suspects},
           {"reconnects", s->reconnects},
           {"audits", s->audits},
           {"audits_skipped", s->audits_skipped},
           {"workers", s->workers_known},
           {"workers_in_use", s->workers_in_use},
           {"workers_not_used", s->workers_left_aside},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        json_object_set_new(
            object, counts[i].key, json_integer((json_int_t)counts[i].value));
    }
    struct device_name device = name_device(report->device);
    json_t *rest = json_pack("{s:f, s:f, s:s?, s:s?, s:s, s:o}", "seconds",
        report->seconds, "wait_seconds", (double)s->wait_ns / 1e9, "device",
        report->device.device_type != 0 ? device.text : NULL, "digest",
        report->digest[0] != '\0' ? report->digest : NULL, "token",
        report->token, "stages", stages_object(s));
    json_object_update(object, rest);
    json_decref(rest);
    json_dumpf(object, out,
        JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
    fputc('\n', out);
    json_decref(object);
}
