/* segments_arrays.c - segments of arrays of equally long rows, of ids and of
 * bits; the check of ids. */
#include "trainer_client/expand/segments_list.h"

#include "trainer_client/expand/value.h"

void fby_seglist_add_values(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint32_t           in      = fby_type_bytes(plan->from);
    uint32_t           out     = fby_type_bytes(plan->to);
    uint64_t           first   = piece->raw_offset / in;
    struct fby_segment segment = {
        .kind        = FBY_SEGMENT_VALUES,
        .in          = piece->at,
        .out         = piece->out + first * out,
        .from        = plan->from,
        .to          = plan->to,
        .values      = piece->factors,
        .channels    = plan->scaled ? plan->channels : 0,
        .first_pixel = plan->scaled ? (uint32_t)(first % plan->channels) : 0,
    };
    const struct fby_seglist_units values = {piece->raw_bytes / in, in, out, 1};
    fby_seglist_set_scale(plan, &segment);
    fby_seglist_put_split(self, segment, &values);
}

void fby_seglist_add_planar(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint32_t           in      = fby_type_bytes(plan->from);
    uint64_t           sample  = piece->raw_offset / plan->raw_bytes;
    bool               some    = piece->raw_bytes < plan->raw_bytes;
    uint64_t           part    = some ? piece->raw_bytes : plan->raw_bytes;
    struct fby_segment segment = {
        .kind        = FBY_SEGMENT_VALUES,
        .in          = piece->at,
        .out         = piece->out + sample * plan->out_bytes,
        .from        = plan->from,
        .to          = plan->to,
        .values      = piece->factors,
        .channels    = plan->scaled ? plan->channels : 0,
        .planar      = 1,
        .first_pixel = (uint32_t)(piece->raw_offset % plan->raw_bytes / in),
        .plane       = plan->pixels,
        .classes     = plan->shape.dims[2],
    };
    const struct fby_seglist_units samples = {
        .n    = some ? 1 : piece->raw_bytes / plan->raw_bytes,
        .in   = part,
        .out  = plan->out_bytes,
        .work = (uint32_t)(part / in),
    };
    fby_seglist_set_scale(plan, &segment);
    fby_seglist_put_split(self, segment, &samples);
}

/* ---- bits ---------------------------------------------------------------- */

/* Split a sample of more than FBY_SEGMENT_MAX values into segments of
 * consecutive pixels. */
static void put_pixel_ranges(
    struct fby_segments *self, struct fby_segment range)
{
    uint32_t bytes = (range.classes + 7) / 8;
    uint32_t most  = FBY_SEGMENT_MAX / range.classes;
    uint32_t left  = range.pixels;
    while (left > 0) {
        range.pixels = left < most ? left : most;
        range.n      = range.pixels * range.classes;
        fby_seglist_put(self, &range);
        range.in += (uint64_t)range.pixels * bytes;
        range.first_pixel += range.pixels;
        left -= range.pixels;
    }
}

void fby_seglist_add_bits(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint32_t           bytes   = (plan->maps + 7) / 8; /* of a pixel */
    uint64_t           sample  = piece->raw_offset / plan->raw_bytes;
    uint64_t           in      = piece->raw_offset % plan->raw_bytes;
    bool               some    = piece->raw_bytes < plan->raw_bytes;
    uint64_t           part    = some ? piece->raw_bytes : plan->raw_bytes;
    struct fby_segment segment = {
        .kind        = FBY_SEGMENT_BITS,
        .in          = piece->at,
        .out         = piece->out + sample * plan->out_bytes,
        .image_bytes = plan->out_bytes,
        .to          = plan->to,
        .planar      = plan->layout == FBY_LAYOUT_CHW ? 1 : 0,
        .pixels      = (uint32_t)(part / bytes),
        .first_pixel = (uint32_t)(in / bytes),
        .plane       = plan->pixels,
        .on          = plan->on,
        .off         = plan->off,
        .classes     = plan->maps,
    };
    uint64_t n      = some ? 1 : piece->raw_bytes / plan->raw_bytes;
    uint64_t values = (uint64_t)segment.pixels * plan->maps;
    const struct fby_seglist_units samples = {
        n, part, plan->out_bytes, (uint32_t)values};
    if (values <= FBY_SEGMENT_MAX) {
        fby_seglist_put_split(self, segment, &samples);
        return;
    }
    for (uint64_t i = 0; i < n; i++) {
        put_pixel_ranges(self, segment);
        segment.in += part;
        segment.out += plan->out_bytes;
    }
}

/* ---- ids ----------------------------------------------------------------- */

void fby_seglist_add_ids(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint64_t           row     = piece->raw_offset / plan->raw_bytes;
    struct fby_segment segment = {
        .kind    = FBY_SEGMENT_ONE_HOT,
        .in      = piece->at,
        .out     = piece->out + row * plan->out_bytes,
        .from    = plan->from,
        .to      = plan->to,
        .on      = plan->on,
        .off     = plan->off,
        .classes = plan->classes,
    };
    const struct fby_seglist_units rows = {
        .n    = piece->raw_bytes / plan->raw_bytes,
        .in   = plan->raw_bytes,
        .out  = plan->out_bytes,
        .work = plan->classes,
    };
    fby_seglist_put_split(self, segment, &rows);
}

/* The piece has all rows. If it is split, all segments refer to the same ids
 * and draws, since a partner may be in another one. */
void fby_seglist_add_mixed(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint64_t           rows    = piece->raw_bytes / plan->raw_bytes;
    uint64_t           most    = FBY_SEGMENT_MAX / plan->classes;
    struct fby_segment segment = {
        .kind    = FBY_SEGMENT_MIX,
        .in      = piece->at,
        .draws   = piece->draws,
        .from    = plan->from,
        .to      = plan->to,
        .on      = fby_f32_bits(plan->on_value),
        .off     = fby_f32_bits(plan->off_value),
        .classes = plan->classes,
    };
    for (uint64_t done = 0; done < rows; done += most) {
        uint64_t left = rows - done;
        segment.n     = (uint32_t)(left < most ? left : most) * plan->classes;
        segment.first_row = (uint32_t)done;
        segment.out       = piece->out + done * plan->out_bytes;
        fby_seglist_put(self, &segment);
    }
}

static int64_t id_at(enum fby_type type, const uint8_t *raw, uint64_t i)
{
    uint32_t width = fby_type_bytes(type);
    uint64_t bits  = 0;
    for (uint32_t b = 0; b < width; b++) {
        bits |= (uint64_t)raw[i * width + b] << (8 * b);
    }
    return fby_number_of(type, bits).i;
}

fby_err fby_segments_check_ids(const struct fby_expansion *plan,
    const uint8_t *raw, uint64_t rows, struct fby_why *why)
{
    for (uint64_t i = 0; i < rows; i++) {
        int64_t id = id_at(plan->from, raw, i);
        if (id < 0 || id >= (int64_t)plan->classes) {
            return fby_because(why, FBY_PROTO,
                "field %s: label %lld is not one of 0 to %u", plan->name,
                (long long)id, plan->classes - 1);
        }
    }
    return FBY_OK;
}
