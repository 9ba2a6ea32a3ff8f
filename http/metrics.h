/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - metrics as text, in Prometheus' format 0.0.4. Pure.
 *
 * A family is a metric with its help, its type and its samples, which differ in
 * the value of one label. Families are constant tables; the numbers are in an
 * array, and each sample names its index there. */
#ifndef FBY_HTTP_METRICS_H
#define FBY_HTTP_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "common/bytes.h"

enum fby_metric_type { FBY_METRIC_COUNTER, FBY_METRIC_GAUGE };

struct fby_metric {
    const char          *name; /* of counters: ends with _total */
    const char          *help; /* one line, without backslashes */
    enum fby_metric_type type;
};

struct fby_metric_number {
    uint64_t n;
    uint32_t divisor; /* a power of ten: the value is n / divisor */
};

struct fby_metric_label {
    const char *name;
    const char *value; /* any UTF-8 text */
};

/* Write the lines HELP and TYPE of a metric. Its samples must follow. */
void fby_metric_begin(struct fby_buffer *out, const struct fby_metric *metric);

/* Write one sample of the metric `name`. */
void fby_metric_sample(struct fby_buffer *out, const char *name,
    const struct fby_metric_label *labels, size_t n_labels,
    struct fby_metric_number number);

enum { FBY_METRIC_SAMPLES = 3 }; /* most samples of a family */

struct fby_metric_family {
    struct fby_metric metric;
    uint32_t          divisor; /* of the numbers: 1, or 1000000000 of ns */
    const char       *label; /* name of the label; NULL: one sample, no label */
    uint32_t          n_samples;
    struct {
        uint32_t    index; /* of the number in the array */
        const char *value; /* of the label */
    } samples[FBY_METRIC_SAMPLES];
};

/* Write all samples of a family from `numbers`. */
void fby_metric_family_write(struct fby_buffer *out,
    const struct fby_metric_family *family, const uint64_t *numbers);

/* Write forebay_build_info, whose label has the version of this program. */
void fby_metric_build_info(struct fby_buffer *out);

#endif
