/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_frame.c - any bytes as a chunk of a layout of five fields. An accepted
 * chunk must be within the slot, encode to the same bytes, and decode or be
 * refused. */
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "proto/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fby_raw_layout layout_of_five(void)
{
    struct fby_raw_layout layout = {.rows = 5, .n_fields = 5};
    layout.fields[0].type        = FBY_U8;
    layout.fields[0].shape       = (struct fby_shape){3, {7, 9, 3}};
    layout.fields[1].type        = FBY_I64;
    layout.fields[2].type        = FBY_F32;
    layout.fields[2].shape       = (struct fby_shape){2, {300, 3000}};
    layout.fields[3]             = layout.fields[0];
    layout.fields[3].yuv420      = true;
    layout.fields[4]             = (struct fby_raw_field){
                    .type       = FBY_U8,
                    .shape      = {1, {300}},
                    .form       = FBY_FORM_RAGGED,
                    .max_length = 300,
    };
    if (fby_layout_compute(&layout, NULL) != FBY_OK) {
        abort();
    }
    return layout;
}

static void decode(const struct fby_raw_layout *layout,
    const struct fby_chunk *chunk, const uint8_t *payload)
{
    static struct fby_codec_scratch scratch;
    const struct fby_raw_field     *field = &layout->fields[chunk->field];
    struct fby_codec_job job = {.coding = {chunk->filter, chunk->codec},
        .params                         = fby_layout_codec_params(field),
        .scratch                        = &scratch};
    struct fby_bytes_in  in  = {.data = payload, .size = chunk->wire_bytes};
    uint8_t             *raw = malloc(chunk->raw_bytes);
    fby_err err = fby_codec_decode(&job, in, raw, chunk->raw_bytes);
    if (err != FBY_OK && err != FBY_PROTO) {
        abort();
    }
    free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fby_raw_layout   layout = layout_of_five();
    struct fby_chunk        chunk;
    struct fby_error_detail why;
    uint8_t                 prefix[FBY_CHUNK_PREFIX];
    (void)fby_chunk_is_intact(data, size);
    if (fby_chunk_read_prefix(data, size, &chunk, &why) != FBY_OK) {
        return 0;
    }
    fby_chunk_write_prefix(&chunk, data + FBY_CHUNK_PREFIX, prefix);
    if (memcmp(prefix, data, 56) != 0) {
        abort();
    }
    if (fby_chunk_check_layout(&chunk, &layout, &why) != FBY_OK) {
        return 0;
    }
    if (chunk.raw_offset + chunk.raw_bytes >
        layout.fields[chunk.field].raw_bytes) {
        abort();
    }
    decode(&layout, &chunk, data + FBY_CHUNK_PREFIX);
    return 0;
}
