/* A HEADER, then an END for it: the layout that comes of a hostile HEADER is
 * whole, its chunks lie inside, and END is compared without harm. The input
 * is the HEADER's size as u16, the HEADER, the END. */
#include <stdlib.h>

#include "common/bytes.h"
#include "proto/layout.h"
#include "proto/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHUNKS = 4096 /* more are not looked at, one by one */ };

static void check_layout(const struct fby_raw_layout *layout)
{
    for (uint32_t f = 0; f < layout->n_fields; f++) {
        const struct fby_raw_field *field = &layout->fields[f];
        uint64_t                    at    = 0;
        if (field->n_chunks > CHUNKS) {
            continue;
        }
        for (uint32_t i = 0; i < field->n_chunks; i++) {
            struct fby_raw_span span = fby_layout_chunk(layout, f, i);
            if (span.raw_offset != at || span.raw_bytes == 0) {
                abort();
            }
            at += span.raw_bytes;
        }
        if (at != field->raw_bytes) {
            abort();
        }
    }
}

static void compare_end(
    const struct fby_raw_layout *layout, struct fby_reader end)
{
    static uint64_t    hashes[CHUNKS];
    struct fby_message m;
    if (fby_message_decode(end.at, end.left, &m, NULL) != FBY_OK) {
        return;
    }
    if (m.type == FBY_MSG_END && m.end.n_sums == layout->n_fields) {
        for (uint32_t f = 0; f < layout->n_fields; f++) {
            if (layout->fields[f].n_chunks <= CHUNKS) {
                struct fby_sum sum = fby_field_sum(layout, f, hashes);
                (void)fby_sum_equal(&sum, &m.end.sums[f]);
            }
        }
    }
    fby_message_fini(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fby_message    m;
    struct fby_raw_layout layout;
    struct fby_reader     r      = fby_reader(data, size);
    size_t                length = fby_read_u16(&r);
    const uint8_t        *header = fby_read_bytes(&r, length);
    if (r.bad || fby_message_decode(header, length, &m, NULL) != FBY_OK) {
        return 0;
    }
    if (m.type == FBY_MSG_HEADER &&
        fby_layout_of_header(&m.header, &layout, NULL) == FBY_OK) {
        check_layout(&layout);
        compare_end(&layout, r);
    }
    fby_message_fini(&m);
    return 0;
}
