/* SPDX-License-Identifier: Apache-2.0 */
/* encodings.c - measure the bytes of a field on the wire, with the encoding
 * (filter and codec) of the pipeline file and with the one that `auto` would
 * choose. All samples are encoded as one chunk. */
#include <stdlib.h>
#include <string.h>

#include "cli/lint/measure.h"
#include "codec/auto.h"
#include "common/clock.h"
#include "common/mem.h"
#include "pipeline/derived.h"

enum { ALL_SUPPORTED = 0xffff }; /* bit n: the trainer can decode number n */

struct encoding_trial { /* the raw bytes of one field of all samples */
    struct fby_codec_params   params;
    struct fby_codec_scratch *scratch;
    const uint8_t            *raw;
    size_t                    size; /* bytes at `raw` */
    uint32_t                  samples;
};

static const struct fby_coding stored = {FBY_FILTER_NONE, FBY_CODEC_STORE};

static bool are_encodings_equal(struct fby_coding a, struct fby_coding b)
{
    return a.filter == b.filter && a.codec == b.codec;
}

/* Measure the bytes on the wire, and the shortest CPU time of FBY_LINT_ROUNDS.
 * If encoding does not make the raw bytes fewer, a worker sends these. */
static fby_err measure_codec(const struct encoding_trial *trial,
    struct fby_coding encoding, size_t *wire_bytes, int64_t *least_ns)
{
    const struct fby_codec_job job = {
        .coding = encoding, .params = trial->params, .scratch = trial->scratch};
    size_t   capacity = fby_codec_encode_capacity(&job, trial->size);
    uint8_t *out      = malloc(capacity);
    fby_err  err      = out != NULL ? FBY_OK : FBY_FULL;
    *least_ns         = INT64_MAX;
    for (int i = 0; i < FBY_LINT_ROUNDS && err == FBY_OK; i++) {
        int64_t begun_ns = fby_thread_cpu_ns();
        err              = fby_codec_encode(&job,
                         (struct fby_bytes_in){trial->raw, trial->size},
                         (struct fby_bytes_out){out, capacity}, wire_bytes);
        int64_t ns       = fby_thread_cpu_ns() - begun_ns;
        *least_ns        = ns < *least_ns ? ns : *least_ns;
    }
    free(out);
    *wire_bytes = *wire_bytes < trial->size ? *wire_bytes : trial->size;
    return err;
}

static fby_err measure_encoding(const struct encoding_trial *trial,
    struct fby_coding encoding, struct fby_lint_encoding *out)
{
    size_t  wire_bytes = trial->size;
    int64_t ns         = 0;
    fby_err err        = FBY_OK;
    if (!are_encodings_equal(encoding, stored)) {
        err = measure_codec(trial, encoding, &wire_bytes, &ns);
    }
    *out = (struct fby_lint_encoding){.coding = encoding,
        .bytes = (double)wire_bytes / trial->samples,
        .ms    = (double)ns / 1e6 / trial->samples};
    return err;
}

static const struct fby_lint_encoding *find_tried(
    const struct fby_lint_encoding *tried, uint32_t n,
    struct fby_coding encoding)
{
    for (uint32_t i = 0; i < n; i++) {
        if (are_encodings_equal(tried[i].coding, encoding)) {
            return &tried[i];
        }
    }
    return NULL;
}

/* Find the encoding that a worker would choose for `filter` and `codec`. As in
 * a worker, fby_auto_next returns one candidate after another, and then its
 * choice. So the first encoding that it returns again is the choice. */
static fby_err choose_encoding(const struct encoding_trial *trial,
    uint8_t filter, uint8_t codec, struct fby_lint_encoding *out)
{
    struct fby_auto                 choice;
    const struct fby_coding_request request = {.filter = filter,
        .codec                                         = codec,
        .params                                        = trial->params,
        .filters                                       = ALL_SUPPORTED,
        .codecs                                        = ALL_SUPPORTED};
    /* All candidates, and the stored form. */
    enum {
        MAX_TRIED = sizeof(choice.candidates) / sizeof(*choice.candidates) + 1
    };
    struct fby_lint_encoding        tried[MAX_TRIED];
    const struct fby_lint_encoding *chosen = NULL;
    fby_auto_init(&choice, &request);
    for (uint32_t n = 0; chosen == NULL; n++) {
        struct fby_coding encoding = fby_auto_next(&choice);
        fby_err           err = measure_encoding(trial, encoding, &tried[n]);
        if (err != FBY_OK) {
            return err;
        }
        uint32_t bytes = (uint32_t)(tried[n].bytes * trial->samples);
        for (int k = 0; k < FBY_AUTO_TRIAL; k++) { /* so many end its trial */
            fby_auto_record(&choice, encoding, (uint32_t)trial->size, bytes);
        }
        chosen = find_tried(tried, n + 1, fby_auto_next(&choice));
    }
    *out = *chosen;
    return FBY_OK;
}

/* Copy the rows of a field into one array, which the caller frees. All indices
 * of a sparse field come first. Lengths are few bytes and are left out. */
static uint8_t *gather_rows(
    const struct fby_lint_samples *samples, uint32_t f, size_t *size)
{
    const struct fby_field_content *field     = fby_lint_field_of(samples, f);
    size_t                          row_bytes = fby_field_bytes(field);
    uint8_t                        *out =
        fby_zalloc(samples->n * (row_bytes + fby_field_index_bytes(field)) + 1);
    *size = 0;
    for (uint32_t i = 0; i < samples->n; i++) {
        size_t bytes = fby_lint_row_index_bytes(samples, f, i);
        if (bytes > 0) {
            memcpy(out + *size, fby_lint_row_indices(samples, f, i), bytes);
        }
        *size += bytes;
    }
    for (uint32_t i = 0; i < samples->n; i++) {
        size_t bytes = fby_lint_row_bytes(samples, f, i);
        memcpy(out + *size, samples->values[f] + i * row_bytes, bytes);
        *size += bytes;
    }
    *size = *size > 0 ? *size : 1; /* codecs refuse 0 bytes */
    return out;
}

fby_err fby_lint_measure_encodings(const struct fby_lint_samples *samples,
    uint32_t f, struct fby_lint_field *out)
{
    const struct fby_split         *split    = samples->local->split;
    const struct fby_field_content *field    = &split->content.fields[f];
    struct fby_field_delivery       delivery = split->delivery.fields[f];
    struct encoding_trial           trial    = {0};

    trial.params = fby_field_is_yuv420(field)
                       ? fby_codec_params_of_yuv420(&field->shape)
                       : fby_codec_params_of(field->wire_type, &field->shape);
    if (fby_field_form(field) != FBY_FORM_DENSE) {
        trial.params.channels = 0; /* no pictures */
    }
    if (fby_field_form(field) == FBY_FORM_SPARSE) {
        trial.params.distance = 1; /* stored values have no fixed positions */
    }
    uint8_t *raw  = gather_rows(samples, f, &trial.size);
    trial.raw     = raw;
    trial.samples = samples->n;
    trial.scratch = aligned_alloc(
        _Alignof(struct fby_codec_scratch), sizeof(*trial.scratch));
    if (trial.scratch == NULL) {
        free(raw);
        return FBY_FULL;
    }
    fby_err err =
        choose_encoding(&trial, delivery.filter, delivery.codec, &out->current);
    if (err == FBY_OK) {
        err = choose_encoding(&trial, FBY_AUTO, FBY_AUTO, &out->best);
    }
    free(trial.scratch);
    free(raw);
    return err;
}
