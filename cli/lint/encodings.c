/* encodings.c - how many bytes a field has on the wire: as the file asks for
 * it, and as a worker would choose. A chunk is all samples at once. */
#include <stdlib.h>
#include <string.h>

#include "cli/lint/measure.h"
#include "codec/auto.h"
#include "common/clock.h"
#include "common/mem.h"

enum { EVERYTHING = 0xffff }; /* filters or codecs: all are understood */

struct bench { /* of one field */
    struct fby_codec_params   params;
    struct fby_codec_scratch *scratch;
    const uint8_t            *raw;
    size_t                    size; /* bytes of all samples */
    uint32_t                  samples;
};

static const struct fby_coding stored = {FBY_FILTER_NONE, FBY_CODEC_STORE};

static bool same(struct fby_coding a, struct fby_coding b)
{
    return a.filter == b.filter && a.codec == b.codec;
}

/* The payload's size, and the least CPU time; what grows travels stored. */
static fby_err encode(const struct bench *bench, struct fby_coding coding,
    size_t *wire, int64_t *least_ns)
{
    const struct fby_codec_job job  = {coding, bench->params, bench->scratch};
    size_t                     room = fby_codec_room(&job, bench->size);
    uint8_t                   *out  = malloc(room);
    fby_err                    err  = out != NULL ? FBY_OK : FBY_FULL;
    *least_ns                       = INT64_MAX;
    for (int i = 0; i < FBY_LINT_ROUNDS && err == FBY_OK; i++) {
        int64_t began = fby_thread_cpu_ns();
        err           = fby_codec_encode(&job,
                      (struct fby_bytes_in){bench->raw, bench->size},
                      (struct fby_bytes_out){out, room}, wire);
        int64_t ns    = fby_thread_cpu_ns() - began;
        *least_ns     = ns < *least_ns ? ns : *least_ns;
    }
    free(out);
    *wire = *wire < bench->size ? *wire : bench->size;
    return err;
}

static fby_err measure(const struct bench *bench, struct fby_coding coding,
    struct fby_lint_coding *out)
{
    size_t  wire = bench->size;
    int64_t ns   = 0;
    fby_err err  = FBY_OK;
    if (!same(coding, stored)) {
        err = encode(bench, coding, &wire, &ns);
    }
    *out = (struct fby_lint_coding){.coding = coding,
        .bytes                              = (double)wire / bench->samples,
        .ms = (double)ns / 1e6 / bench->samples};
    return err;
}

static const struct fby_lint_coding *known(
    const struct fby_lint_coding *tried, uint32_t n, struct fby_coding coding)
{
    for (uint32_t i = 0; i < n; i++) {
        if (same(tried[i].coding, coding)) {
            return &tried[i];
        }
    }
    return NULL;
}

/* What a worker would settle on: each coding is tried as often as it would,
 * until it asks for one again. */
static fby_err settle(const struct bench *bench, uint8_t filter, uint8_t codec,
    struct fby_lint_coding *out)
{
    struct fby_auto       choice;
    const struct fby_wish wish = {.filter = filter,
        .codec                            = codec,
        .params                           = bench->params,
        .filters                          = EVERYTHING,
        .codecs                           = EVERYTHING};
    /* All candidates, and storing. */
    enum { MOST = sizeof(choice.candidates) / sizeof(*choice.candidates) + 1 };
    struct fby_lint_coding        tried[MOST];
    const struct fby_lint_coding *found = NULL;
    fby_auto_init(&choice, &wish);
    for (uint32_t n = 0; found == NULL; n++) {
        struct fby_coding coding = fby_auto_ask(&choice);
        fby_err           err    = measure(bench, coding, &tried[n]);
        if (err != FBY_OK) {
            return err;
        }
        uint32_t wire = (uint32_t)(tried[n].bytes * bench->samples);
        for (int k = 0; k < FBY_AUTO_TRIAL; k++) {
            fby_auto_feed(&choice, coding, (uint32_t)bench->size, wire);
        }
        found = known(tried, n + 1, fby_auto_ask(&choice));
    }
    *out = *found;
    return FBY_OK;
}

/* All rows, one after another, of sparse ones first the indices; lengths, which
 * are few bytes, aside. */
static uint8_t *gather(
    const struct fby_lint_sample *sample, uint32_t f, size_t *size)
{
    const struct fby_field_content *field =
        &sample->local->split->content.fields[f];
    size_t   most = fby_field_bytes(field);
    uint8_t *out =
        fby_zalloc(sample->n * (most + fby_field_index_bytes(field)) + 1);
    *size = 0;
    for (uint32_t i = 0; i < sample->n; i++) {
        size_t bytes = fby_lint_sample_index_bytes(sample, f, i);
        if (bytes > 0) {
            memcpy(out + *size, fby_lint_sample_indices(sample, f, i), bytes);
        }
        *size += bytes;
    }
    for (uint32_t i = 0; i < sample->n; i++) {
        size_t bytes = fby_lint_sample_bytes(sample, f, i);
        memcpy(out + *size, sample->values[f] + i * most, bytes);
        *size += bytes;
    }
    *size = *size > 0 ? *size : 1;
    return out;
}

fby_err fby_lint_measure_codings(const struct fby_lint_sample *sample,
    uint32_t f, struct fby_lint_field *out)
{
    const struct fby_split         *split    = sample->local->split;
    const struct fby_field_content *field    = &split->content.fields[f];
    struct fby_field_delivery       delivery = split->delivery.fields[f];
    struct bench                    bench    = {0};

    bench.params = field->yuv420
                       ? fby_codec_params_of_yuv420(&field->shape)
                       : fby_codec_params_of(field->wire_type, &field->shape);
    if (fby_field_form(field) != FBY_FORM_DENSE) {
        bench.params.channels = 0;
    }
    if (fby_field_form(field) == FBY_FORM_SPARSE) {
        bench.params.distance = 1;
    }
    uint8_t *raw  = gather(sample, f, &bench.size);
    bench.raw     = raw;
    bench.samples = sample->n;
    bench.scratch = aligned_alloc(
        _Alignof(struct fby_codec_scratch), sizeof(*bench.scratch));
    if (bench.scratch == NULL) {
        free(raw);
        return FBY_FULL;
    }
    fby_err err = settle(&bench, delivery.filter, delivery.codec, &out->coded);
    if (err == FBY_OK) {
        err = settle(&bench, FBY_AUTO, FBY_AUTO, &out->best);
    }
    free(bench.scratch);
    free(raw);
    return err;
}
