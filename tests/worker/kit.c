/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "tests/worker/kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/photos/photos.h"
#include "codec/codec.h"
#include "common/mem.h"
#include "pipeline/canon.h"
#include "pipeline/parse.h"
#include "worker/transform/field.h"

static const char *path_of(unsigned class_id, unsigned number)
{
    static char path[64];
    snprintf(
        path, sizeof(path), "data/photos/c%02u/%04u.jpg", class_id, number);
    return path;
}

static void write_photo(
    const struct sandbox *sandbox, unsigned class_id, unsigned number)
{
    struct fby_buffer      jpeg  = {0};
    const struct fby_photo photo = {
        .number = class_id * KIT_EACH + number,
        .label  = class_id,
        .width  = 96,
        .height = 72,
    };
    assert_ok(fby_photo_write(&photo, &jpeg));
    sandbox_write(sandbox, path_of(class_id, number), jpeg.data, jpeg.size);
    fby_buffer_fini(&jpeg);
}

static void read_content(struct kit *kit, const char *more, const char *rule)
{
    char text[2048];
    snprintf(text, sizeof(text),
        "forebay: 1\n"
        "splits:\n"
        "  train: {folder: \"data:photos\", shuffle: full, last: drop}\n"
        "global_batch: %d\n"
        "%s"
        "fields:\n"
        "  image:\n"
        "    from: [jpg]\n"
        "    decode: rgb8\n"
        "    ops:\n"
        "      - random_resized_crop: {size: 32}\n"
        "      - horizontal_flip: {p: 0.5}\n"
        "%s"
        "  label: {from: folder, classes: 3}\n",
        KIT_BATCH, rule, more);
    struct fby_pipeline           *pipeline = NULL;
    struct fby_split              *split    = NULL;
    struct fby_error_detail        why      = {{0}};
    const struct fby_pipeline_text source   = {
          text, strlen(text), "kit.yaml", kit->sandbox->dir};
    if (fby_pipeline_parse(&source, &pipeline, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_ok(fby_pipeline_make_split(pipeline, "train", &split, &why));
    fby_content_encode(&split->content, &kit->content);
    fby_split_destroy(&split);
    fby_pipeline_destroy(&pipeline);
}

void kit_reopen(struct kit *kit)
{
    struct fby_content           *content = fby_zalloc(sizeof(*content));
    struct fby_dataset           *dataset = NULL;
    struct fby_error_detail       why     = {{0}};
    const struct fby_progress     silent  = {0};
    const struct fby_dataset_spec spec    = {.roots = kit->sandbox->roots,
           .kind                                    = FBY_SOURCE_FOLDER,
           .pattern                                 = kit->location,
           .cache_dir                               = "",
           .threads                                 = 1};
    fby_dataset_plan_release(&kit->dataset_plan);
    assert_ok(fby_content_decode(
        kit->content.data, kit->content.size, content, &why));
    if (fby_dataset_open(&spec, silent, &dataset, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_ok(
        fby_dataset_plan_create(content, &dataset, &kit->dataset_plan, &why));
    free(content);
}

void kit_open(struct kit *kit, struct sandbox *sandbox, const char *more,
    const char *rule)
{
    *kit = (struct kit){.sandbox = sandbox, .location = "data:photos"};
    for (unsigned c = 0; c < KIT_CLASSES; c++) {
        for (unsigned n = 0; n < KIT_EACH; n++) {
            write_photo(sandbox, c, n);
        }
    }
    read_content(kit, more, rule);
    kit_reopen(kit);
}

void kit_close(struct kit *kit)
{
    fby_dataset_plan_release(&kit->dataset_plan);
    fby_buffer_fini(&kit->content);
}

void kit_corrupt(const struct kit *kit, unsigned class_id, unsigned number)
{
    sandbox_write_text(
        kit->sandbox, path_of(class_id, number), "no picture at all");
}

void kit_corrupt_all(const struct kit *kit)
{
    for (unsigned n = 0; n < KIT_SAMPLES; n++) {
        kit_corrupt(kit, n / KIT_EACH, n % KIT_EACH);
    }
}

/* ---- Expected batches ---------------------------------------------------- */

static uint8_t *read_member(struct fby_dataset *dataset, uint64_t sample,
    const struct fby_field_content *field, size_t *size)
{
    struct fby_member       member;
    struct fby_error_detail why = {{0}};
    assert_ok(fby_dataset_find_member(dataset, sample,
        (const char(*)[FBY_NAME_SIZE])field->from, field->n_from, &member));
    uint8_t *bytes = fby_zalloc((size_t)member.size);
    assert_ok(
        fby_dataset_read(dataset, &member, bytes, (size_t)member.size, &why));
    *size = (size_t)member.size;
    return bytes;
}

static void append_row(struct fby_transform *transform,
    const struct fby_job_spec *spec, const struct fby_field_content *field,
    uint64_t sample, struct fby_buffer *out)
{
    struct fby_dataset     *dataset = spec->dataset_plan->dataset;
    struct fby_error_detail why     = {{0}};
    struct fby_field_job    job     = {.field = field,
               .class_id                      = fby_dataset_class(dataset, sample),
               .seed                          = spec->seed,
               .epoch                         = spec->epoch,
               .sample                        = sample};
    uint8_t                *member  = NULL;
    uint8_t                *row     = fby_zalloc(fby_field_bytes(field));
    if (!fby_field_is_folder_id(field)) {
        member    = read_member(dataset, sample, field, &job.size);
        job.bytes = member;
    }
    assert_ok(fby_field_write(transform, &job, row, &why));
    fby_put_bytes(out, row, fby_field_bytes(field));
    free(member);
    free(row);
}

struct fby_buffer kit_expect(
    const struct fby_job_spec *spec, const struct fby_raw_layout *layout)
{
    struct fby_buffer         raw       = {0};
    struct fby_error_detail   why       = {{0}};
    const struct fby_order   *order     = NULL;
    const struct fby_content *content   = &spec->dataset_plan->content;
    struct fby_transform     *transform = fby_transform_create(NULL);
    uint64_t *samples = fby_zalloc(spec->rows * sizeof(*samples));
    assert_ok(fby_dataset_plan_order(
        spec->dataset_plan, spec->seed, spec->epoch, &order, &why));
    fby_order_fill_samples(
        order, spec->step, spec->first_row, spec->rows, samples);
    for (uint32_t f = 0; f < content->n_fields; f++) {
        bool chosen = spec->fields == 0 || (spec->fields >> f & 1) != 0;
        for (uint32_t row = 0; chosen && row < spec->rows; row++) {
            append_row(
                transform, spec, &content->fields[f], samples[row], &raw);
        }
    }
    assert_int_equal(raw.size, layout->raw_bytes);
    fby_transform_destroy(&transform);
    free(samples);
    return raw;
}

void kit_check_chunk(const struct fby_raw_layout *layout,
    const struct fby_buffer *expected, const struct fby_chunk *chunk,
    const uint8_t *payload)
{
    static struct fby_codec_scratch scratch;
    const struct fby_raw_field     *field = &layout->fields[chunk->field];
    const struct fby_codec_job      job   = {
               .coding  = {chunk->filter, chunk->codec},
               .params  = fby_layout_codec_params(field),
               .scratch = &scratch,
    };
    uint64_t at = chunk->raw_offset;
    for (uint32_t f = 0; f < chunk->field; f++) {
        at += layout->fields[f].raw_bytes;
    }
    uint8_t *raw = fby_zalloc(chunk->raw_bytes);
    assert_ok(fby_codec_decode(&job,
        (struct fby_bytes_in){payload, chunk->wire_bytes}, raw,
        chunk->raw_bytes));
    assert_memory_equal(raw, expected->data + at, chunk->raw_bytes);
    assert_int_equal(chunk->raw_hash, fby_xxh3_64(raw, chunk->raw_bytes));
    free(raw);
}

/* ---- A batch, message by message ----------------------------------------- */

void kit_batch_begin(struct kit_batch *batch, const struct fby_job_spec *spec,
    const struct fby_header *header)
{
    struct fby_raw_layout *layout = &batch->layout;
    *batch                        = (struct kit_batch){.wire_bytes = 0};
    assert_int_equal(header->epoch, spec->epoch);
    assert_int_equal(header->step, spec->step);
    assert_int_equal(header->first_row, spec->first_row);
    assert_int_equal(header->rows, spec->rows);
    assert_ok(fby_layout_of_content(
        &spec->dataset_plan->content, spec->fields, spec->rows, layout, NULL));
    assert_int_equal(header->n_fields, layout->n_fields);
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        const struct fby_raw_field *field = &layout->fields[i];
        assert_int_equal(header->fields[i].type, field->type);
        assert_int_equal(header->fields[i].raw_bytes, field->raw_bytes);
        assert_int_equal(header->fields[i].n_chunks, field->n_chunks);
    }
    batch->expected = kit_expect(spec, layout);
    batch->sent     = fby_zalloc(layout->n_chunks * sizeof(*batch->sent));
}

void kit_batch_chunk(struct kit_batch *batch, const struct fby_chunk *chunk,
    const uint8_t *payload)
{
    struct fby_error_detail why = {{0}};
    assert_ok(fby_chunk_check_layout(chunk, &batch->layout, &why));
    kit_check_chunk(&batch->layout, &batch->expected, chunk, payload);
    struct fby_chunk_sent *sent = &batch->sent[fby_layout_chunk_index(
        &batch->layout, chunk->field, chunk->number)];
    assert_int_equal(sent->raw_bytes, 0); /* the first time */
    *sent = (struct fby_chunk_sent){chunk->raw_hash, chunk->raw_bytes};
    batch->wire_bytes += FBY_CHUNK_PREFIX + chunk->wire_bytes;
}

void kit_batch_end(struct kit_batch *batch, const struct fby_end *end)
{
    uint32_t first = 0;
    assert_int_equal(end->wire_bytes, batch->wire_bytes);
    assert_int_equal(end->n_sums, batch->layout.n_fields);
    for (uint32_t f = 0; f < batch->layout.n_fields; f++) {
        struct fby_checksum sum =
            fby_field_checksum(&batch->layout, f, batch->sent + first);
        assert_true(fby_checksum_equal(&sum, &end->sums[f]));
        first += batch->layout.fields[f].n_chunks;
    }
    fby_buffer_fini(&batch->expected);
    free(batch->sent);
}
