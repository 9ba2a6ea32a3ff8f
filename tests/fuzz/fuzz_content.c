/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_content.c - any bytes as canonical content: refused, or equal to its own
 * encoding. A batch of it has no layout, or one whose chunks tile each field.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/canon.h"
#include "proto/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHUNKS = 4096 /* that are checked one by one */ };

static void check_spelling(
    const struct fby_content *content, const uint8_t *data, size_t size)
{
    struct fby_buffer bytes = {0};
    fby_content_encode(content, &bytes);
    if (bytes.size != size || memcmp(bytes.data, data, size) != 0) {
        abort();
    }
    fby_buffer_fini(&bytes);
}

static void check_chunks(const struct fby_raw_layout *layout, uint32_t field)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < layout->fields[field].n_chunks; i++) {
        struct fby_raw_span span = fby_layout_chunk_span(layout, field, i);
        if (span.raw_offset != at || span.raw_bytes == 0 ||
            span.raw_bytes > FBY_CHUNK_BYTES_MAX) {
            abort();
        }
        at += span.raw_bytes;
    }
    if (at != layout->fields[field].raw_bytes) {
        abort();
    }
}

static void check_layout(const struct fby_content *content)
{
    struct fby_raw_layout layout;
    if (fby_layout_of_content(
            content, 0, content->global_batch, &layout, NULL) != FBY_OK) {
        return;
    }
    for (uint32_t f = 0; f < layout.n_fields; f++) {
        if (layout.fields[f].n_chunks <= CHUNKS) {
            check_chunks(&layout, f);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fby_content content;
    struct fby_error_detail   why = {{0}};
    if (fby_content_decode(data, size, &content, &why) != FBY_OK) {
        return why.text[0] != '\0' ? 0 : (abort(), 0);
    }
    check_spelling(&content, data, size);
    check_layout(&content);
    return 0;
}
