#include "trainer_client/extents.h"

#include <stdlib.h>

#include "common/bytes.h"
#include "common/mem.h"

void fby_extents_init(struct fby_extents *self, uint32_t most)
{
    *self = (struct fby_extents){
        .lengths = fby_zalloc(most * sizeof(*self->lengths)),
        .values  = fby_zalloc(most * sizeof(*self->values)),
    };
}

void fby_extents_fini(struct fby_extents *self)
{
    free(self->lengths);
    free(self->values);
    *self = (struct fby_extents){0};
}

void fby_extents_clear(struct fby_extents *self)
{
    self->n       = 0;
    self->total   = 0;
    self->longest = 0;
}

static uint32_t load_le(const uint8_t *at, uint32_t width)
{
    struct fby_reader reader = fby_reader(at, width);
    return (uint32_t)fby_read_le(&reader, width);
}

/* The rows of one chunk; its lengths are there, because the frame was checked
 * to have at least so many bytes. */
static fby_err read_chunk(struct fby_extents *self,
    const struct fby_extents_in *in, uint32_t number, struct fby_why *why)
{
    const struct fby_raw_field *field = &in->layout->fields[in->field];
    struct fby_raw_span span = fby_layout_chunk(in->layout, in->field, number);
    uint64_t            begin =
        in->places != NULL ? in->places[number].at : span.raw_offset;
    const uint8_t *lengths = in->raw + begin;
    uint64_t       at      = fby_varying_values(field, span.rows);
    for (uint32_t i = 0; i < span.rows; i++) {
        uint32_t length = load_le(
            lengths + (size_t)i * field->length_bytes, field->length_bytes);
        uint32_t row = span.first_row + i;
        if (length > field->max_length) {
            return fby_because(why, FBY_PROTO,
                "field %s: row %u has %u entries, max_length is %u", in->name,
                row, length, field->max_length);
        }
        self->lengths[row] = length;
        self->values[row]  = begin + at;
        self->total += length;
        self->longest = length > self->longest ? length : self->longest;
        at += (uint64_t)length * field->entry_bytes;
    }
    return at == in->sent[number].raw_bytes
               ? FBY_OK
               : fby_because(why, FBY_PROTO,
                     "field %s: chunk %u has %u bytes, its lengths say %llu",
                     in->name, number, in->sent[number].raw_bytes,
                     (unsigned long long)at);
}

fby_err fby_extents_read(struct fby_extents *self,
    const struct fby_extents_in *in, struct fby_why *why)
{
    fby_err err = FBY_OK;
    fby_extents_clear(self);
    self->n = in->layout->rows;
    for (uint32_t i = 0;
         i < in->layout->fields[in->field].n_chunks && err == FBY_OK; i++) {
        err = read_chunk(self, in, i, why);
    }
    return err;
}
