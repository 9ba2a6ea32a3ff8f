/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer_client/receive/assembly.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/derived.h"
#include "pipeline/device_ops.h"

void fby_assembly_init(struct fby_assembly *self, uint32_t max_chunks)
{
    *self = (struct fby_assembly){
        .chunks_sent = fby_zalloc(max_chunks * sizeof(*self->chunks_sent)),
        .capacity    = max_chunks,
    };
}

static void free_end_values(struct fby_assembly *self)
{
    for (size_t i = 0; i < self->n_substituted; i++) {
        fby_free_text(self->substituted[i].shard);
        fby_free_text(self->substituted[i].key);
        fby_free_text(self->substituted[i].text);
    }
    free(self->substituted);
    free(self->samples);
    self->samples       = NULL;
    self->substituted   = NULL;
    self->n_substituted = 0;
}

void fby_assembly_fini(struct fby_assembly *self)
{
    free_end_values(self);
    free(self->chunks_sent);
    self->chunks_sent = NULL;
}

fby_err fby_assembly_begin(struct fby_assembly *self,
    const struct fby_expected_batch *expected, struct fby_error_detail *why)
{
    free_end_values(self);
    self->expected = *expected;
    self->ended    = false;
    self->times    = (struct fby_stage_times){0};
    if (expected->rows == 0) {
        return FBY_OK; /* with `last: short`; such a batch has no chunks */
    }
    fby_err err = fby_layout_of_content(expected->content, expected->selected,
        expected->rows, &self->layout, why);
    if (err == FBY_OK && self->layout.n_chunks > self->capacity) {
        return fby_error_set(why, FBY_CONFIG,
            "the batch has %u chunks, the limit is %u", self->layout.n_chunks,
            self->capacity);
    }
    return err;
}

/* The selected field number `i`, counted from 0; NULL: fewer are selected. */
static const struct fby_field_content *selected_field(
    const struct fby_expected_batch *expected, size_t i)
{
    const struct fby_content *content    = expected->content;
    size_t                    n_selected = 0;
    for (uint32_t f = 0; f < content->n_fields; f++) {
        bool is_selected =
            expected->selected == 0 || (expected->selected >> f & 1) != 0;
        if (is_selected && n_selected == i) {
            return &content->fields[f];
        }
        n_selected += is_selected;
    }
    return NULL;
}

/* A recipe is the part of a HEADER that says how a field's values were made.
 * True if it lists the field's device ops, which the client applies, and if the
 * worker draws the same random parameters for them as this library. */
static bool same_device_ops(
    const struct fby_recipe *recipe, const struct fby_field_content *field)
{
    if (field->n_device == 0) {
        return recipe->device.size == 0;
    }
    struct fby_buffer ops       = {0};
    struct fby_digest draw_hash = fby_device_list_hash(field);
    fby_device_list_encode(field, &ops);
    bool same_ops = recipe->device.size == ops.size &&
                    memcmp(recipe->device.data, ops.data, ops.size) == 0;
    fby_buffer_fini(&ops);
    return same_ops && fby_digest_equal(&recipe->behaviour.digest, &draw_hash);
}

/* An image field with mixup or cutmix may also mix a label field. True if the
 * recipe names that image field, or "" if no image field mixes `field`. */
static bool same_mixing(const struct fby_recipe *recipe,
    const struct fby_content *content, const struct fby_field_content *field)
{
    uint32_t                        index = (uint32_t)(field - content->fields);
    const struct fby_field_content *image =
        fby_mixing_field_of_label(content, index);
    return strcmp(recipe->mixed_by, image != NULL ? image->name : "") == 0;
}

/* True if the recipe has the field's normalization, one-hot rows and maps. */
static bool same_values(
    const struct fby_recipe *recipe, const struct fby_field_content *field)
{
    bool     normalized = fby_field_is_normalized(field);
    uint32_t n_channels = normalized ? field->shape.dims[2] : 0;
    if (recipe->n_channels != n_channels ||
        recipe->one_hot != fby_field_is_one_hot(field) ||
        recipe->maps != fby_field_packed_bits(field)) {
        return false;
    }
    for (uint32_t c = 0; c < n_channels; c++) {
        if (recipe->mean[c] != field->as.rgb8.mean[c] ||
            recipe->std[c] != field->as.rgb8.std[c]) {
            return false;
        }
    }
    if (!recipe->one_hot) {
        return true; /* then classes and smoothing have no meaning */
    }
    return recipe->classes == field->as.label.classes &&
           recipe->smoothing == field->as.label.smoothing;
}

static bool same_shape(const struct fby_shape *a, const struct fby_shape *b)
{
    return a->n_dims == b->n_dims &&
           memcmp(a->dims, b->dims, a->n_dims * sizeof(a->dims[0])) == 0;
}

static fby_err check_field(const struct fby_assembly *self, size_t i,
    const struct fby_header_field *got, struct fby_error_detail *why)
{
    const struct fby_field_content *want   = selected_field(&self->expected, i);
    const struct fby_raw_field     *layout = &self->layout.fields[i];
    if (want == NULL || strcmp(want->name, got->name) != 0) {
        return fby_error_set(why, FBY_PROTO,
            "HEADER: field %zu is %s, expected %s", i, got->name,
            want != NULL ? want->name : "no field");
    }
    bool same_rows = got->type == want->wire_type &&
                     got->encoding == fby_encoding_of(want) &&
                     same_shape(&got->shape, &want->shape) &&
                     got->max_length == want->max_length;
    if (!same_rows || got->raw_bytes != layout->raw_bytes ||
        got->n_chunks != layout->n_chunks) {
        return fby_error_set(why, FBY_PROTO,
            "HEADER: field %s has another type, encoding, shape or layout",
            got->name);
    }
    if (!same_values(&got->recipe, want) ||
        !same_device_ops(&got->recipe, want) ||
        !same_mixing(&got->recipe, self->expected.content, want)) {
        return fby_error_set(why, FBY_PROTO,
            "HEADER: field %s has another recipe than the content", got->name);
    }
    return FBY_OK;
}

fby_err fby_assembly_check_header(const struct fby_assembly *self,
    const struct fby_header *header, struct fby_error_detail *why)
{
    const struct fby_expected_batch *expected = &self->expected;
    bool                             same_step =
        header->epoch == expected->epoch && header->step == expected->step;
    bool same_rows = header->first_row == expected->first_row &&
                     header->rows == expected->rows;
    if (!same_step || !same_rows) {
        return fby_error_set(why, FBY_PROTO,
            "HEADER: epoch %llu step %llu, %u rows from row %u on: "
            "not as requested",
            (unsigned long long)header->epoch, (unsigned long long)header->step,
            header->rows, header->first_row);
    }
    if (header->request_checksum != expected->request_checksum) {
        return fby_error_set(why, FBY_PROTO,
            "HEADER: the worker answers another request than was sent");
    }
    if (header->n_fields != self->layout.n_fields) {
        return fby_error_set(why, FBY_PROTO, "HEADER: %zu fields, expected %u",
            header->n_fields, self->layout.n_fields);
    }
    fby_err err = FBY_OK;
    for (size_t i = 0; i < header->n_fields && err == FBY_OK; i++) {
        err = check_field(self, i, &header->fields[i], why);
    }
    return err;
}

void fby_assembly_add_chunk(
    struct fby_assembly *self, const struct fby_chunk *chunk)
{
    uint32_t index =
        fby_layout_chunk_index(&self->layout, chunk->field, chunk->number);
    self->chunks_sent[index] =
        (struct fby_chunk_sent){chunk->raw_hash, chunk->raw_bytes};
}

static fby_err check_checksums(const struct fby_assembly *self,
    const struct fby_end *end, struct fby_error_detail *why)
{
    if (end->n_sums != self->layout.n_fields) {
        return fby_error_set(why, FBY_PROTO, "END: %zu sums for %u fields",
            end->n_sums, self->layout.n_fields);
    }
    for (uint32_t f = 0; f < self->layout.n_fields; f++) {
        struct fby_checksum sum = fby_field_checksum(&self->layout, f,
            self->chunks_sent + self->layout.fields[f].first_chunk);
        if (!fby_checksum_equal(&sum, &end->sums[f])) {
            return fby_error_set(why, FBY_PROTO,
                "END: the sum of field %u is not that of its chunks", f);
        }
    }
    return FBY_OK;
}

/* Check the substituted samples and the number of sample numbers. With length
 * buckets END has one for each row, because only workers know the order. */
static fby_err check_samples(const struct fby_assembly *self,
    const struct fby_end *end, struct fby_error_detail *why)
{
    const struct fby_content *content = self->expected.content;
    bool   may_substitute = content->on_bad_sample == FBY_BAD_SUBSTITUTE;
    bool   bucketed       = content->bucket_by.n_bounds > 0;
    size_t n_expected     = bucketed ? self->expected.rows : 0;
    for (size_t i = 0; i < end->n_substituted; i++) {
        if (!may_substitute || end->substituted[i].row >= self->expected.rows) {
            return fby_error_set(why, FBY_PROTO,
                "END: row %u cannot be substituted", end->substituted[i].row);
        }
    }
    if (end->n_samples == n_expected) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_PROTO,
        "END: %zu sample numbers, expected %zu", end->n_samples, n_expected);
}

bool fby_assembly_accept_end(struct fby_assembly *self,
    const struct fby_end *end, struct fby_error_detail *why)
{
    if (check_checksums(self, end, why) != FBY_OK ||
        check_samples(self, end, why) != FBY_OK) {
        return false;
    }
    if (self->ended) {
        return true;
    }
    self->ended       = true;
    self->times       = end->times;
    self->substituted = fby_memdup(
        end->substituted, end->n_substituted * sizeof(*end->substituted));
    self->n_substituted = end->n_substituted;
    if (end->n_samples > 0) {
        self->samples =
            fby_memdup(end->samples, end->n_samples * sizeof(*end->samples));
    }
    for (size_t i = 0; i < end->n_substituted; i++) {
        struct fby_substituted *copy = &self->substituted[i];
        copy->shard = fby_strdup(copy->shard); /* so far the text of `end` */
        copy->key   = fby_strdup(copy->key);
        copy->text  = fby_strdup(copy->text);
    }
    return true;
}

struct fby_checksum fby_end_content_hash(const struct fby_end *end)
{
    struct fby_checksum_state state;
    fby_checksum_begin(&state);
    for (size_t i = 0; i < end->n_sums; i++) {
        fby_checksum_add(
            &state, end->sums[i].bytes, sizeof(end->sums[i].bytes));
    }
    for (size_t i = 0; i < end->n_substituted; i++) {
        const struct fby_substituted *s = &end->substituted[i];
        const uint64_t numbers[]        = {s->row, s->original, s->substitute};
        fby_checksum_add(&state, numbers, sizeof(numbers));
    }
    fby_checksum_add(
        &state, end->samples, end->n_samples * sizeof(*end->samples));
    return fby_checksum_end(&state);
}
