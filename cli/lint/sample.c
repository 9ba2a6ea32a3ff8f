/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - choose samples of a split, and make their values as a worker. */
#include "cli/lint/sample.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/progress.h"
#include "common/mem.h"
#include "common/plural.h"
#include "pipeline/fields/kind.h"
#include "pipeline/plan/draw.h"
#include "worker/plan/mask_size.h"
#include "worker/stages/stages.h"
#include "worker/worker.h"

static const uint64_t max_bytes = UINT64_C(1) << 30; /* of all samples */

static const struct fby_content *content_of(const struct fby_lint_samples *self)
{
    return &self->local->split->content;
}

/* The members of row `i`, one for each field. */
static struct fby_lint_member *members_of(
    const struct fby_lint_samples *self, uint32_t i)
{
    return self->members + (size_t)i * content_of(self)->n_fields;
}

struct fby_field_job fby_lint_row_job(const struct fby_lint_samples *self,
    uint32_t f, uint32_t i, const struct fby_field_content *content)
{
    const struct fby_lint_member *member  = &members_of(self, i)[f];
    const struct fby_dataset     *dataset = self->local->dataset;
    return (struct fby_field_job){
        .field       = content,
        .class_names = &content_of(self)->class_names,
        .bytes       = member->bytes,
        .size        = member->size,
        .sizes       = member->sizes,
        .token_bytes = member->width,
        .n_documents = member->documents,
        .class_id    = fby_dataset_folder_label(
               dataset, self->numbers[i], content_of(self), content),
        .seed         = self->seed,
        .sample       = self->numbers[i],
        .picture_size = &self->picture_sizes[f],
        .bad_file     = self->bad_file,
        .length       = self->lengths[f] != NULL ? &self->lengths[f][i] : NULL,
        .indices      = fby_lint_row_indices(self, f, i),
    };
}

size_t fby_lint_row_bytes(
    const struct fby_lint_samples *self, uint32_t f, uint32_t i)
{
    const struct fby_field_content *field = fby_lint_field_of(self, f);
    size_t                          bytes = fby_field_bytes(field);
    return self->lengths[f] != NULL
               ? bytes / field->max_length * self->lengths[f][i]
               : bytes;
}

uint8_t *fby_lint_row_indices(
    const struct fby_lint_samples *self, uint32_t f, uint32_t i)
{
    const struct fby_field_content *field = fby_lint_field_of(self, f);
    return self->indices[f] != NULL
               ? self->indices[f] + i * fby_field_index_bytes(field)
               : NULL;
}

size_t fby_lint_row_index_bytes(
    const struct fby_lint_samples *self, uint32_t f, uint32_t i)
{
    const struct fby_field_content *field = fby_lint_field_of(self, f);
    return self->indices[f] != NULL ? (size_t)self->lengths[f][i] *
                                          fby_bytes_per_index(&field->shape)
                                    : 0;
}

/* NOLINTNEXTLINE(readability-function-size): one more parameter */
fby_err fby_lint_make_row(const struct fby_lint_samples *self, uint32_t f,
    uint32_t i, const struct fby_field_content *content, uint8_t *out,
    struct fby_error_detail *why)
{
    if (self->rows != NULL) {
        const struct fby_row_request request = {.field = f,
            .sample                                    = self->numbers[i],
            .settings_override                         = content,
            .length    = self->lengths[f] != NULL ? &self->lengths[f][i] : NULL,
            .indices   = fby_lint_row_indices(self, f, i),
            .transform = self->transform};
        return fby_rows_write_one(self->rows, &request, self->reader, out, why);
    }
    struct fby_field_job job = fby_lint_row_job(self, f, i, content);
    return fby_field_write(self->transform, &job, out, why);
}

/* ---- Reading ------------------------------------------------------------- */

/* The number of members to read: all members for a stack of maps, and one (the
 * first that exists) for other fields. */
static uint32_t n_members_of(const struct fby_field_content *field)
{
    if (fby_field_is_folder_id(field)) {
        return 0;
    }
    return fby_field_kind(field)->is_stack ? field->n_from : 1;
}

/* Find the i-th member to read. */
static bool find_member(const struct fby_lint_samples *self, uint64_t sample,
    const struct fby_field_content *field, uint32_t i, struct fby_member *out)
{
    /* The member has the first of these names that exists in the sample. */
    uint32_t n_names = fby_field_kind(field)->is_stack ? 1 : field->n_from;
    return fby_dataset_find_member(self->local->dataset, sample,
               field->from + i, n_names, out) == FBY_OK;
}

static fby_err append_member(struct fby_lint_samples *self,
    const struct fby_member *member, struct fby_lint_member *out,
    struct fby_error_detail *why)
{
    size_t size    = (size_t)member->size;
    out->width     = member->width;
    out->documents = member->documents;
    out->bytes = fby_realloc(out->bytes, out->size + size + 1); /* + 1: not 0 */
    fby_err err = fby_dataset_read(
        self->local->dataset, member, out->bytes + out->size, size, why);
    out->size += size;
    return err;
}

/* Sets self->bad_member to each member before it is read. */
static fby_err read_members(struct fby_lint_samples *self, uint64_t sample,
    const struct fby_field_content *field, struct fby_lint_member *out,
    struct fby_error_detail *why)
{
    bool     has_members = self->rows == NULL; /* columns have none */
    uint32_t n           = has_members ? n_members_of(field) : 0;
    fby_err  err         = FBY_OK;
    if (fby_field_kind(field)->is_stack) {
        out->sizes = fby_zalloc(n * sizeof(*out->sizes));
    }
    for (uint32_t i = 0; i < n && err == FBY_OK; i++) {
        struct fby_member member;
        if (!find_member(self, sample, field, i, &member)) {
            return fby_error_set(
                why, FBY_BAD_SAMPLE, "the sample has no %s", field->from[i]);
        }
        self->bad_member     = member;
        self->has_bad_member = true;
        err                  = append_member(self, &member, out, why);
        if (out->sizes != NULL) {
            out->sizes[i] = member.size;
        }
    }
    return err;
}

/* Read and make row self->n of field `f`. */
static fby_err make_field(
    struct fby_lint_samples *self, uint32_t f, struct fby_error_detail *why)
{
    const struct fby_field_content *field  = fby_lint_field_of(self, f);
    uint32_t                        i      = self->n;
    struct fby_lint_member         *member = &members_of(self, i)[f];
    self->has_bad_member                   = false;

    fby_err err = read_members(self, self->numbers[i], field, member, why);
    if (err == FBY_OK) {
        uint8_t *out = self->values[f] + i * fby_field_bytes(field);
        err          = fby_lint_make_row(self, f, i, field, out, why);
        if (err != FBY_OK && fby_field_kind(field)->is_stack) {
            self->has_bad_member = find_member(self, self->numbers[i], field,
                *self->bad_file, &self->bad_member);
        }
    }
    return fby_error_prefix(why, err, "field %s", field->name);
}

/* The bytes that a worker reads for a stack: its sizes and its members. */
static uint64_t stack_bytes(const struct fby_lint_samples *self,
    uint64_t sample, const struct fby_field_content *field)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < field->n_from; i++) {
        struct fby_member member = {0}; /* one that lacks is refused later */
        (void)find_member(self, sample, field, i, &member);
        bytes += sizeof(member.size) + member.size;
    }
    return bytes;
}

static bool has_index(const uint32_t *indices, uint32_t n, uint32_t index)
{
    uint32_t i = 0;
    while (i < n && indices[i] != index) {
        i++;
    }
    return i < n;
}

/* The bytes that a worker reads for a sample. A member that several fields use
 * is read once. */
static uint64_t fetched_bytes(
    const struct fby_lint_samples *self, uint64_t sample)
{
    const struct fby_content *content = content_of(self);
    uint32_t                  read[FBY_MAX_FIELDS]; /* index of each member */
    uint32_t                  n_read = 0;
    uint64_t                  bytes  = 0;
    for (uint32_t f = 0; f < content->n_fields; f++) {
        const struct fby_field_content *field = &content->fields[f];
        struct fby_member               member;
        if (fby_field_kind(field)->is_stack) {
            bytes += stack_bytes(self, sample, field);
        } else if (n_members_of(field) > 0 &&
                   find_member(self, sample, field, 0, &member) &&
                   !has_index(read, n_read, member.index)) {
            read[n_read++] = member.index;
            bytes += member.size;
        }
    }
    return bytes;
}

/* Refuse a sample that a worker with the default memory cannot read. */
static fby_err check_size(const struct fby_lint_samples *self, uint64_t sample,
    struct fby_error_detail *why)
{
    uint64_t limit =
        fby_worker_max_sample_bytes(fby_worker_default_memory(UINT64_MAX));
    uint64_t bytes = self->rows == NULL ? fetched_bytes(self, sample) : 0;
    if (bytes <= limit) {
        return FBY_OK;
    }
    (void)fby_stages_refuse_size((size_t)bytes, (size_t)limit, why);
    return FBY_BAD_SAMPLE;
}

/* Read and make row self->n of all fields. Sets *bad_field on an error. */
static fby_err make_fields(struct fby_lint_samples *self, uint32_t *bad_field,
    struct fby_error_detail *why)
{
    const struct fby_content *content = content_of(self);
    uint32_t                  i       = self->n;
    self->has_bad_member              = false;
    fby_err err                       = check_size(self, self->numbers[i], why);
    if (err != FBY_OK) {
        return err;
    }
    memset(
        self->picture_sizes, 0, FBY_MAX_FIELDS * sizeof(*self->picture_sizes));
    for (uint32_t f = 0; f < content->n_fields && err == FBY_OK; f++) {
        *bad_field = f;
        err        = make_field(self, f, why);
    }
    const struct fby_mask_sample sample = {
        .content = content,
        .dataset = self->local->dataset,
        .number  = self->numbers[i],
        .sizes   = self->picture_sizes,
    };
    struct fby_mask_mismatch mismatch;

    err = fby_mask_size_check(&sample, err, &mismatch, why);
    if (mismatch.field >= 0) {
        *bad_field           = (uint32_t)mismatch.field;
        self->bad_member     = mismatch.member;
        self->has_bad_member = true;
    }
    return err;
}

static void free_members(struct fby_lint_samples *self, uint32_t i)
{
    struct fby_lint_member *members = members_of(self, i);
    for (uint32_t f = 0; f < content_of(self)->n_fields; f++) {
        free(members[f].bytes);
        free(members[f].sizes);
        members[f] = (struct fby_lint_member){0};
    }
}

static void count_refusal(struct fby_lint_samples *self, uint32_t field,
    const struct fby_error_detail *why)
{
    if (self->refused++ == 0) {
        self->refusal       = *why;
        self->refused_field = field;
    }
}

/* Say before an error where the sample, or its bad member, is. Returns `err`. */
static fby_err add_location(const struct fby_lint_samples *self,
    uint64_t sample, fby_err err, struct fby_error_detail *why)
{
    struct fby_error_detail location = {{0}};
    fby_dataset_describe(self->local->dataset, sample,
        self->has_bad_member ? &self->bad_member : NULL, &location);
    return fby_error_prefix(why, err, "%s", location.text);
}

/* Add a sample. A bad sample is counted, and is not an error. */
static fby_err add_sample(struct fby_lint_samples *self, uint64_t sample,
    struct fby_error_detail *why)
{
    uint32_t field         = 0;
    self->numbers[self->n] = sample;
    fby_err err            = make_fields(self, &field, why);
    if (err == FBY_OK) {
        self->n++;
        return FBY_OK;
    }
    free_members(self, self->n);
    if (err != FBY_BAD_SAMPLE) {
        return add_location(self, sample, err, why);
    }
    struct fby_row_key key;
    fby_error_prefix(why, err, "sample %" PRIu64 " (%s)", sample,
        fby_dataset_key(self->local->dataset, sample, &key));
    count_refusal(self, field, why);
    return FBY_OK;
}

/* ---- Choice of the samples ----------------------------------------------- */

/* Choose a random sample from the i-th of `n_parts` equal parts of the split.
 * The samples are spread evenly, without a period that the data might share. */
static uint64_t choose_sample(uint64_t total, uint32_t i, uint32_t n_parts)
{
    struct fby_draw draw =
        fby_draw_begin(/* seed, epoch */ 0, 0, i, "lint", "sample", 0);
    uint64_t first = (uint64_t)((unsigned __int128)total * i / n_parts);
    uint64_t end   = (uint64_t)((unsigned __int128)total * (i + 1) / n_parts);
    return first + fby_draw_below(&draw, end - first);
}

/* The sum of the sizes of the members of a sample. */
static uint64_t stored_bytes(
    const struct fby_lint_samples *self, uint64_t sample)
{
    const struct fby_content *content = content_of(self);
    uint64_t                  bytes   = 0;
    for (uint32_t f = 0; f < content->n_fields; f++) {
        struct fby_member member = {0};
        for (uint32_t i = 0; i < n_members_of(&content->fields[f]); i++) {
            bool exists =
                find_member(self, sample, &content->fields[f], i, &member);
            bytes += exists ? member.size : 0;
        }
    }
    return bytes;
}

/* The most bytes that the values and indices of one sample can have. */
static uint64_t max_value_bytes(const struct fby_content *content)
{
    uint64_t bytes = 0;
    for (uint32_t f = 0; f < content->n_fields; f++) {
        bytes += fby_field_bytes(&content->fields[f]) +
                 fby_field_index_bytes(&content->fields[f]);
    }
    return bytes;
}

/* The number of samples that fit into memory, from 1 to `wanted`. */
static uint32_t count_that_fit(
    const struct fby_lint_samples *self, uint64_t total, uint32_t wanted)
{
    uint64_t bytes = wanted * max_value_bytes(content_of(self));
    for (uint32_t i = 0; i < wanted; i++) {
        bytes += stored_bytes(self, choose_sample(total, i, wanted));
    }
    uint64_t fit = bytes > max_bytes ? wanted * max_bytes / bytes : wanted;
    fit          = fit > 0 ? fit : 1;
    return (uint32_t)(wanted < fit ? wanted : fit);
}

static void allocate(struct fby_lint_samples *self, uint32_t rows)
{
    const struct fby_content *content = content_of(self);
    self->numbers  = fby_zalloc(rows * sizeof(*self->numbers));
    self->bad_file = fby_zalloc(sizeof(*self->bad_file));
    self->picture_sizes =
        fby_zalloc(FBY_MAX_FIELDS * sizeof(*self->picture_sizes));
    self->members =
        fby_zalloc((size_t)rows * content->n_fields * sizeof(*self->members));
    for (uint32_t f = 0; f < content->n_fields; f++) {
        const struct fby_field_content *field = &content->fields[f];
        self->values[f] = fby_zalloc(rows * fby_field_bytes(field));
        if (fby_field_form(field) != FBY_FORM_DENSE) {
            self->lengths[f] = fby_zalloc(rows * sizeof(*self->lengths[f]));
        }
        if (fby_field_form(field) == FBY_FORM_SPARSE) {
            self->indices[f] = fby_zalloc(rows * fby_field_index_bytes(field));
        }
    }
}

static void begin(struct fby_lint_samples *self, struct fby_local *local)
{
    *self = (struct fby_lint_samples){.local = local,
        .seed      = fby_pipeline_seed(local->pipeline),
        .transform = fby_transform_create(/* limits */ NULL)};
}

static fby_err create_reader(
    struct fby_lint_samples *self, struct fby_error_detail *why)
{
    const struct fby_local *local = self->local;
    if (!fby_dataset_has_rows(local->dataset)) {
        return FBY_OK;
    }
    self->reader = fby_row_reader_create();
    return fby_rows_create(
        &local->split->content, local->dataset, &self->rows, why);
}

fby_err fby_lint_samples_begin_check(struct fby_lint_samples *self,
    struct fby_local *local, struct fby_error_detail *why)
{
    begin(self, local);
    allocate(self, 1);
    return create_reader(self, why);
}

fby_err fby_lint_samples_check(struct fby_lint_samples *self, uint64_t sample,
    struct fby_error_detail *why)
{
    uint32_t field   = 0;
    self->numbers[0] = sample;
    fby_err err      = make_fields(self, &field, why);
    free_members(self, 0);
    return err == FBY_STALE ? add_location(self, sample, err, why) : err;
}

fby_err fby_lint_samples_read(struct fby_lint_samples *self,
    struct fby_local *local, uint32_t limit, struct fby_error_detail *why)
{
    uint64_t total  = fby_dataset_sample_count(local->dataset);
    uint32_t wanted = (uint32_t)(total < limit ? total : limit);
    begin(self, local);
    uint32_t rows = count_that_fit(self, total, wanted);
    allocate(self, rows);
    fby_err                  err  = create_reader(self, why);
    struct fby_progress_line line = fby_progress_begin();
    for (uint32_t i = 0; i < rows && err == FBY_OK; i++) {
        err = add_sample(self, choose_sample(total, i, rows), why);
        fby_progress_show_count(&line, "reading samples", i + 1, rows);
    }
    fby_progress_end(&line);
    return err == FBY_OK && self->n == 0
               ? fby_error_prefix(why, FBY_BAD_SAMPLE,
                     "none of %s can be used; the last",
                     fby_plural(rows, "sample").text)
               : err;
}

void fby_lint_samples_fini(struct fby_lint_samples *self)
{
    for (uint32_t i = 0; i < self->n; i++) {
        free_members(self, i);
    }
    for (uint32_t f = 0; f < FBY_MAX_FIELDS; f++) {
        free(self->values[f]);
        free(self->lengths[f]);
        free(self->indices[f]);
    }
    free(self->numbers);
    free(self->bad_file);
    free(self->picture_sizes);
    free(self->members);
    fby_transform_destroy(&self->transform);
    fby_rows_destroy(&self->rows);
    fby_row_reader_destroy(&self->reader);
    *self = (struct fby_lint_samples){0};
}
