#include "bench/stock.h"

#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "common/mem.h"

enum { ALIGN = 64 }; /* also the space for a prefix before a payload */

static struct fby_codec_scratch scratch; /* benches use it on one thread */

static struct fby_codec_job job_of(
    const struct bench_stock *self, struct fby_coding coding)
{
    const struct fby_raw_field *field = &self->layout.fields[0];
    return (struct fby_codec_job){
        .coding  = coding,
        .params  = fby_layout_params(field),
        .scratch = &scratch,
    };
}

static void lay_out(struct bench_stock *self, uint32_t rows, uint32_t side)
{
    struct fby_why why           = {{0}};
    self->layout.rows            = rows;
    self->layout.n_fields        = 1;
    self->layout.fields[0].type  = FBY_U8;
    self->layout.fields[0].shape = (struct fby_shape){3, {side, side, 3}};
    if (fby_layout_finish(&self->layout, &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
}

/* Encode one chunk and append it to the payloads. */
static void add_chunk(struct bench_stock *self, struct bench_chunk *encoded,
    const uint8_t *pixels)
{
    const uint8_t       *raw  = pixels + encoded->span.raw_offset;
    size_t               n    = encoded->span.raw_bytes;
    struct fby_codec_job job  = job_of(self, self->coding);
    size_t               room = fby_codec_room(&job, n);
    size_t               size = 0;
    encoded->at               = self->bytes + ALIGN;
    encoded->raw_hash         = fby_xxh64(raw, n);
    encoded->coding           = self->coding;
    if (fby_codec_encode(&job, (struct fby_bytes_in){raw, n},
            (struct fby_bytes_out){self->payloads + encoded->at, room},
            &size) != FBY_OK) {
        bench_die("a chunk cannot be encoded");
    }
    if (size > n) { /* store it, as a worker does */
        encoded->coding = (struct fby_coding){FBY_FILTER_NONE, FBY_CODEC_STORE};
        memcpy(self->payloads + encoded->at, raw, n);
        size = n;
    }
    encoded->wire_bytes = (uint32_t)size;
    self->wire_bytes += FBY_CHUNK_PREFIX + size;
    self->bytes = (encoded->at + size + ALIGN - 1) / ALIGN * ALIGN;
}

void bench_stock_make(struct bench_stock *self, struct fby_coding coding,
    const uint8_t *pixels, uint32_t rows, uint32_t side)
{
    *self = (struct bench_stock){.coding = coding};
    lay_out(self, rows, side);
    const struct fby_codec_job job = job_of(self, coding);
    uint32_t                   n   = self->layout.n_chunks;
    size_t room = fby_codec_room(&job, self->layout.fields[0].chunk_bytes) +
                  2 * (size_t)ALIGN;
    self->chunks   = fby_zalloc(n * sizeof(*self->chunks));
    self->sent     = fby_zalloc(n * sizeof(*self->sent));
    self->payloads = aligned_alloc(ALIGN, (n * room + ALIGN) / ALIGN * ALIGN);
    for (uint32_t i = 0; i < n; i++) {
        struct bench_chunk *encoded = &self->chunks[i];
        encoded->span               = fby_layout_chunk(&self->layout, 0, i);
        add_chunk(self, encoded, pixels);
        self->sent[i] =
            (struct fby_chunk_sent){encoded->raw_hash, encoded->span.raw_bytes};
    }
}

void bench_stock_free(struct bench_stock *self)
{
    free(self->chunks);
    free(self->sent);
    free(self->payloads);
    *self = (struct bench_stock){0};
}

void bench_stock_decode(const struct bench_stock *self,
    const struct bench_chunk *encoded, const uint8_t *payload, uint8_t *raw)
{
    struct fby_codec_job job = job_of(self, encoded->coding);
    if (fby_codec_decode(&job,
            (struct fby_bytes_in){payload, encoded->wire_bytes},
            raw + encoded->span.raw_offset,
            encoded->span.raw_bytes) != FBY_OK) {
        bench_die("the codec refuses our own chunk");
    }
}
