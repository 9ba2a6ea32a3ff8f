/* SPDX-License-Identifier: Apache-2.0 */
/* The format: https://prometheus.io/docs/instrumenting/exposition_formats/.
 * Numbers are written as integers with a decimal point where one belongs, so
 * that no digit is lost and no locale matters. */
#include "http/metrics.h"

#include <inttypes.h>
#include <string.h>

#include "common/utf8.h"

static void put_text(struct fby_buffer *out, const char *text)
{
    fby_put_bytes(out, text, strlen(text));
}

void fby_metric_begin(struct fby_buffer *out, const struct fby_metric *metric)
{
    put_text(out, "# HELP ");
    put_text(out, metric->name);
    put_text(out, " ");
    put_text(out, metric->help);
    put_text(out, "\n# TYPE ");
    put_text(out, metric->name);
    put_text(
        out, metric->type == FBY_METRIC_COUNTER ? " counter\n" : " gauge\n");
}

/* Write the value of a label. The format escapes backslash, quote and newline.
 * Other control characters could harm a terminal, and are written as text. */
static void put_label_value(struct fby_buffer *out, const char *value)
{
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '\n') {
            put_text(out, "\\n");
        } else if (fby_is_control(*c)) {
            fby_put_format(out, "\\\\x%02x", (unsigned)*c);
        } else {
            if (*c == '\\' || *c == '"') {
                put_text(out, "\\");
            }
            fby_put_bytes(out, c, 1);
        }
    }
}

static void put_labels(struct fby_buffer *out,
    const struct fby_metric_label *labels, size_t n_labels)
{
    for (size_t i = 0; i < n_labels; i++) {
        put_text(out, i == 0 ? "{" : ",");
        put_text(out, labels[i].name);
        put_text(out, "=\"");
        put_label_value(out, labels[i].value);
        put_text(out, "\"");
    }
    put_text(out, n_labels > 0 ? "} " : " ");
}

static int digits_after_point(uint32_t divisor)
{
    int digits = 0;
    for (uint32_t rest = divisor; rest >= 10; rest /= 10) {
        digits++;
    }
    return digits;
}

static void put_number(struct fby_buffer *out, struct fby_metric_number number)
{
    int digits = digits_after_point(number.divisor);
    fby_put_format(out, "%" PRIu64, number.n / number.divisor);
    if (digits > 0) {
        fby_put_format(out, ".%0*" PRIu64, digits, number.n % number.divisor);
    }
    put_text(out, "\n");
}

void fby_metric_sample(struct fby_buffer *out, const char *name,
    const struct fby_metric_label *labels, size_t n_labels,
    struct fby_metric_number number)
{
    put_text(out, name);
    put_labels(out, labels, n_labels);
    put_number(out, number);
}

void fby_metric_family_write(struct fby_buffer *out,
    const struct fby_metric_family *family, const uint64_t *numbers)
{
    fby_metric_begin(out, &family->metric);
    for (uint32_t i = 0; i < family->n_samples; i++) {
        const struct fby_metric_label label = {
            family->label, family->samples[i].value};
        fby_metric_sample(out, family->metric.name, &label,
            family->label != NULL ? 1 : 0,
            (struct fby_metric_number){
                numbers[family->samples[i].index], family->divisor});
    }
}

void fby_metric_build_info(struct fby_buffer *out)
{
    static const struct fby_metric metric = {"forebay_build_info",
        "Always 1; the label version is that of the program.",
        FBY_METRIC_GAUGE};
    const struct fby_metric_label  label  = {"version", FBY_VERSION};
    fby_metric_begin(out, &metric);
    fby_metric_sample(
        out, metric.name, &label, 1, (struct fby_metric_number){1, 1});
}
