/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - measure the values and the shards of a pipeline's samples. */
#include "cli/lint/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/mem.h"
#include "pipeline/class_names.h"
#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "pipeline/lines.h"
#include "pipeline/plan/order.h"
#include "pipeline/sources/traits.h"
#include "trainer_client/expand/value.h"
#include "worker/source/tokens/token_type.h"
#include "worker/transform/picture_format.h"

enum { MAX_STEPS = 8 }; /* batches whose shards are counted */
enum { MAX_BLOCK = 8 }; /* largest K of a tried shuffle: {block: K} */

static void find_lines(const struct fby_pipeline *pipeline, const char *split,
    struct fby_lint_field *out)
{
    const char            *name  = out->content->name;
    struct fby_lint_lines *lines = &out->lines;
    lines->field     = fby_pipeline_line(pipeline, name, FBY_FIELD_WHOLE);
    lines->dct_scale = fby_pipeline_line(pipeline, name, FBY_FIELD_DCT_SCALE);
    lines->classes   = fby_pipeline_line(pipeline, name, FBY_FIELD_CLASSES);
    lines->type      = fby_pipeline_line(pipeline, name, FBY_FIELD_WIRE_TYPE);
    lines->codec     = fby_pipeline_line(pipeline, name, FBY_FIELD_WIRE_CODEC);
    lines->normalize = fby_pipeline_line(pipeline, name, FBY_FIELD_DEVICE);
    lines->out       = fby_pipeline_line(pipeline, name, FBY_FIELD_OUT);
    for (uint32_t i = 0; i < out->content->n_ops; i++) {
        lines->ops[i] = fby_pipeline_op_line(pipeline, split, name, i);
    }
}

/* ---- Values -------------------------------------------------------------- */

static double read_number(enum fby_type type, const uint8_t *value)
{
    struct fby_reader reader = fby_reader(value, fby_type_bytes(type));
    struct fby_number number =
        fby_number_from_bits(type, fby_read_le(&reader, fby_type_bytes(type)));
    return number.is_float ? (double)number.f : (double)number.i;
}

static void extend_range(const struct fby_field_content *field,
    const uint8_t *values, size_t n_values, struct fby_lint_values *out)
{
    size_t width = fby_type_bytes(field->wire_type);
    for (size_t i = 0; i < n_values; i++) {
        double value   = read_number(field->wire_type, values + i * width);
        out->are_whole = out->are_whole && value == floor(value);
        out->min       = value < out->min ? value : out->min;
        out->max       = value > out->max ? value : out->max;
    }
}

static void find_range(const struct fby_lint_samples *samples, uint32_t f,
    struct fby_lint_values *out)
{
    const struct fby_field_content *field = fby_lint_field_of(samples, f);
    size_t                          bytes = fby_field_bytes(field);
    out->are_whole                        = true;
    out->min                              = (double)INFINITY;
    out->max                              = -(double)INFINITY;
    for (uint32_t i = 0; i < samples->n; i++) {
        extend_range(field, samples->values[f] + i * bytes,
            fby_lint_row_bytes(samples, f, i) /
                fby_type_bytes(field->wire_type),
            out);
    }
    out->are_numbers = out->min <= out->max; /* false: no values */
}

/* True if sparse row `i` has the indices of row 0; true for other fields. */
static bool has_first_indices(
    const struct fby_lint_samples *samples, uint32_t f, uint32_t i)
{
    const struct fby_field_content *field = fby_lint_field_of(samples, f);
    return samples->indices[f] == NULL ||
           memcmp(samples->indices[f], fby_lint_row_indices(samples, f, i),
               fby_field_index_bytes(field)) == 0;
}

static void measure_values(const struct fby_lint_samples *samples, uint32_t f,
    struct fby_lint_values *out)
{
    const struct fby_field_content *field  = fby_lint_field_of(samples, f);
    const uint8_t                  *values = samples->values[f];
    size_t                          bytes  = fby_field_bytes(field);
    bool                            enough = samples->n >= FBY_LINT_MIN_SAMPLES;
    *out = (struct fby_lint_values){.constant = enough};
    for (uint32_t i = 1; i < samples->n && out->constant; i++) {
        out->constant = memcmp(values, values + i * bytes, bytes) == 0 &&
                        has_first_indices(samples, f, i);
    }
    enum fby_values kind      = fby_field_values(field);
    bool            is_packed = fby_field_packed_bits(field) > 0;
    bool            is_single = field->shape.n_dims == 0;
    if (is_single || kind == FBY_VALUES_TOKENS ||
        (kind == FBY_VALUES_NUMBERS && !is_packed)) {
        find_range(samples, f, out);
    }
}

static bool have_equal_numbers(
    const struct fby_lint_samples *samples, uint32_t a, uint32_t b)
{
    const struct fby_field_content *fields  = fby_lint_field_of(samples, 0);
    size_t                          bytes_a = fby_field_bytes(&fields[a]);
    size_t                          bytes_b = fby_field_bytes(&fields[b]);
    for (uint32_t i = 0; i < samples->n; i++) {
        if (read_number(
                fields[a].wire_type, samples->values[a] + i * bytes_a) !=
            read_number(
                fields[b].wire_type, samples->values[b] + i * bytes_b)) {
            return false;
        }
    }
    return true;
}

/* True if both fields have one form and, if sparse, the same indices. */
static bool have_equal_indices(
    const struct fby_lint_samples *samples, uint32_t a, uint32_t b)
{
    const struct fby_field_content *fields = fby_lint_field_of(samples, 0);
    size_t                          bytes  = fby_field_index_bytes(&fields[a]);
    return fby_field_form(&fields[a]) == fby_field_form(&fields[b]) &&
           bytes == fby_field_index_bytes(&fields[b]) &&
           (bytes == 0 || memcmp(samples->indices[a], samples->indices[b],
                              samples->n * bytes) == 0);
}

/* True for two fields of lengths that are delivered as different tensors. */
static bool differ_as_delivered(
    const struct fby_lint_samples *samples, uint32_t a, uint32_t b)
{
    const struct fby_split          *split = samples->local->split;
    const struct fby_field_delivery *out   = split->delivery.fields;
    return fby_field_values(&split->content.fields[a]) == FBY_VALUES_LENGTHS &&
           fby_field_values(&split->content.fields[b]) == FBY_VALUES_LENGTHS &&
           (out[a].as != out[b].as || out[a].dtype != out[b].dtype);
}

/* True if both fields have the same values in all samples. Single numbers of
 * different types are compared as numbers. */
static bool have_equal_values(
    const struct fby_lint_samples *samples, uint32_t a, uint32_t b)
{
    const struct fby_field_content *fields = fby_lint_field_of(samples, 0);
    size_t size = samples->n * fby_field_bytes(&fields[a]);
    if (fields[a].shape.n_dims != fields[b].shape.n_dims ||
        !have_equal_indices(samples, a, b)) {
        return false;
    }
    if (fields[a].wire_type != fields[b].wire_type) {
        return fields[a].shape.n_dims == 0 && have_equal_numbers(samples, a, b);
    }
    return size == samples->n * fby_field_bytes(&fields[b]) &&
           memcmp(samples->values[a], samples->values[b], size) == 0;
}

/* Returns the first field whose values equal those of field `f`, or `f`. */
static uint32_t first_equal(const struct fby_lint_samples *samples, uint32_t f)
{
    uint32_t other = 0;
    while (other < f && (differ_as_delivered(samples, other, f) ||
                            !have_equal_values(samples, other, f))) {
        other++;
    }
    return other;
}

/* ---- Shards -------------------------------------------------------------- */

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The number of different shards of a batch. */
static uint32_t count_shards(const struct fby_dataset *dataset,
    const struct fby_order *order, uint64_t step, uint32_t rows)
{
    uint64_t *samples = fby_zalloc(rows * sizeof(*samples));
    uint32_t *shards  = fby_zalloc(rows * sizeof(*shards));
    uint32_t  count   = 0;
    fby_order_fill_samples(order, step, 0, rows, samples);
    for (uint32_t i = 0; i < rows; i++) {
        shards[i] = fby_dataset_shard_of(dataset, samples[i]);
    }
    qsort(shards, rows, sizeof(*shards), compare_u32);
    for (uint32_t i = 0; i < rows; i++) {
        count += i == 0 || shards[i] != shards[i - 1] ? 1 : 0;
    }
    free(samples);
    free(shards);
    return count;
}

static fby_err measure_mean_shards(const struct fby_dataset *dataset,
    const struct fby_order_spec *spec, double *out,
    struct fby_error_detail *why)
{
    struct fby_order *order = NULL;
    fby_err           err   = fby_order_create(spec, &order, why);
    if (err != FBY_OK) {
        return err;
    }
    uint64_t steps = fby_order_steps(order);
    steps          = steps < MAX_STEPS ? steps : MAX_STEPS;
    uint64_t sum   = 0;
    for (uint64_t i = 0; i < steps; i++) {
        sum += count_shards(dataset, order, i, fby_order_rows(order, i));
    }
    *out = (double)sum / (double)steps;
    fby_order_destroy(&order);
    return FBY_OK;
}

/* Find the largest block with which a worker can keep open all shards of a
 * batch. If there is none, out->block_shards is above FBY_LINT_OPEN_SHARDS. */
static fby_err try_blocks(const struct fby_dataset *dataset,
    struct fby_order_spec *spec, struct fby_lint_facts *out,
    struct fby_error_detail *why)
{
    fby_err err   = FBY_OK;
    spec->shuffle = FBY_SHUFFLE_BLOCK;
    for (spec->block = MAX_BLOCK; spec->block > 0; spec->block /= 2) {
        err = measure_mean_shards(dataset, spec, &out->block_shards, why);
        out->block = spec->block;
        if (err != FBY_OK || out->block_shards <= FBY_LINT_OPEN_SHARDS) {
            break;
        }
    }
    return err;
}

/* True for files that contain many samples with members, such as tars. */
static bool has_shards(const struct fby_content *content)
{
    const struct fby_source_traits *source = fby_source_traits(content->source);
    return !source->has_files && !source->has_rows && !source->has_sequences;
}

static fby_err measure_shards(const struct fby_lint_samples *samples,
    struct fby_lint_facts *out, struct fby_error_detail *why)
{
    const struct fby_dataset *dataset = samples->local->dataset;
    const struct fby_content *content = &samples->local->split->content;
    struct fby_order_spec     spec =
        fby_local_order_spec(samples->local, samples->seed, 0);
    fby_err err = measure_mean_shards(dataset, &spec, &out->shards, why);
    bool    may_use_blocks = has_shards(content) &&
                          content->shuffle == FBY_SHUFFLE_FULL &&
                          spec.buckets == NULL;
    if (err != FBY_OK || !may_use_blocks) {
        out->shards = 0; /* without blocks, there is nothing to advise */
        return err;
    }
    return out->shards > FBY_LINT_OPEN_SHARDS
               ? try_blocks(dataset, &spec, out, why)
               : FBY_OK;
}

/* ---- Pictures ------------------------------------------------------------ */

static bool is_clipped(
    const struct fby_lint_samples *samples, uint32_t f, uint32_t i)
{
    const struct fby_field_content *content = fby_lint_field_of(samples, f);
    const struct fby_field_job job = fby_lint_row_job(samples, f, i, content);
    const struct fby_picture_file     file    = {job.bytes, job.size};
    struct fby_picture_head           head    = {0};
    const struct fby_picture_decoder *decoder = NULL;
    return content->decode == FBY_DECODE_RGB8 &&
           fby_picture_decoder_for(content, &file, &decoder, NULL) == FBY_OK &&
           decoder->head(&file, &head, NULL) == FBY_OK && head.is_clipped;
}

static uint32_t count_clipped(
    const struct fby_lint_samples *samples, uint32_t f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < samples->n; i++) {
        n += is_clipped(samples, f, i) ? 1 : 0;
    }
    return n;
}

/* ---- All facts ----------------------------------------------------------- */

static double mean_bytes(const struct fby_lint_samples *samples, uint32_t f)
{
    double sum = 0;
    for (uint32_t i = 0; i < samples->n; i++) {
        sum += (double)(fby_lint_row_bytes(samples, f, i) +
                        fby_lint_row_index_bytes(samples, f, i));
    }
    return sum / samples->n;
}

static fby_err measure_field(const struct fby_lint_samples *samples, uint32_t f,
    struct fby_lint_field *out)
{
    out->content = fby_lint_field_of(samples, f);
    out->bytes   = mean_bytes(samples, f);
    out->classes = fby_field_is_numbered_by_folders(out->content)
                       ? fby_dataset_class_count(samples->local->dataset)
                       : 0;
    out->is_float =
        fby_type_is_float(samples->local->split->delivery.fields[f].dtype);
    out->clipped = count_clipped(samples, f);
    out->same_as = first_equal(samples, f);
    measure_values(samples, f, &out->values);
    fby_err err = fby_lint_measure_encodings(samples, f, out);
    return err == FBY_OK ? fby_lint_measure_trials(samples, f, out) : err;
}

/* The first field that has the tokens of flat files as they are; n_fields: none. */
static uint32_t find_tokens(const struct fby_content *content)
{
    uint32_t f        = 0;
    uint32_t declared = content->tokens.format == FBY_TOKENS_FLAT
                            ? fby_type_bytes(content->tokens.type)
                            : 0;
    while (f < content->n_fields &&
           (fby_field_values(&content->fields[f]) != FBY_VALUES_TOKENS ||
               content->fields[f].as.tokens.packed ||
               fby_type_bytes(content->fields[f].wire_type) != declared)) {
        f++;
    }
    return f;
}

static void measure_token_type(const struct fby_lint_samples *samples,
    const char *split, struct fby_lint_token_type *out)
{
    const struct fby_content *content = &samples->local->split->content;
    struct fby_token_bytes    found   = {.n = 0};
    uint32_t                  f       = find_tokens(content);
    if (f == content->n_fields) {
        return;
    }
    size_t bytes = fby_field_bytes(&content->fields[f]);
    for (uint32_t i = 0; i < samples->n; i++) {
        fby_token_bytes_add(&found, samples->values[f] + i * bytes, bytes);
    }
    *out = (struct fby_lint_token_type){
        .declared = content->tokens.type,
        .found    = fby_token_bytes_type(&found, content->tokens.type),
        .line = fby_pipeline_tokens_type_line(samples->local->pipeline, split),
    };
}

fby_err fby_lint_measure(const struct fby_lint_samples *samples,
    const char *split, struct fby_lint_facts *out, struct fby_error_detail *why)
{
    const struct fby_pipeline *pipeline = samples->local->pipeline;
    const struct fby_content  *content  = &samples->local->split->content;
    const struct fby_dataset  *dataset  = samples->local->dataset;
    memset(out, 0, sizeof(*out));
    out->samples       = samples->n;
    out->refused       = samples->refused;
    out->refusal       = samples->refusal.text;
    out->refused_field = samples->refused_field;
    out->substitutes   = content->on_bad_sample == FBY_BAD_SUBSTITUTE;
    out->n_fields      = content->n_fields;
    out->shuffle_line  = fby_pipeline_shuffle_line(pipeline, split);
    out->is_shuffled   = content->shuffle != FBY_SHUFFLE_NONE;
    out->split         = split;
    out->ends          = (struct fby_lint_ends){
                 .undivided = fby_dataset_count_undivided(dataset),
                 .files     = fby_dataset_shard_count(dataset),
                 .end       = content->tokens.end,
                 .line      = fby_pipeline_tokens_end_line(pipeline, split),
    };
    measure_token_type(samples, split, &out->token_type);
    fby_class_folders_compare(samples->local, split, &out->classes);
    fby_err err = measure_shards(samples, out, why);
    for (uint32_t f = 0; f < out->n_fields && err == FBY_OK; f++) {
        err = measure_field(samples, f, &out->fields[f]);
        if (err == FBY_OK) {
            find_lines(pipeline, split, &out->fields[f]);
        } else {
            fby_error_set(why, err, "field %s: %s",
                out->fields[f].content->name, fby_strerror(err));
        }
    }
    return err;
}
