/* SPDX-License-Identifier: Apache-2.0 */
/* segments_arrays.c - segments of arrays of equally long rows, of labels
 * and of bits. */
#include "trainer_client/expand/segments.h"

#include "pipeline/derived.h"
#include "trainer_client/expand/host.h"
#include "trainer_client/expand/value.h"

void fby_segments_add_values(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint32_t           in_width  = fby_type_bytes(plan->from);
    uint32_t           out_width = fby_type_bytes(plan->to);
    uint64_t           first     = piece->raw_offset / in_width;
    struct fby_segment segment   = {
          .kind        = FBY_SEGMENT_VALUES,
          .in          = piece->at,
          .out         = piece->out + first * out_width,
          .from        = plan->from,
          .to          = plan->to,
          .values      = piece->factors,
          .channels    = plan->scaled ? plan->channels : 0,
          .first_pixel = plan->scaled ? (uint32_t)(first % plan->channels) : 0,
    };
    const struct fby_segment_units values = {
        piece->raw_bytes / in_width, in_width, out_width, 1};
    fby_segments_set_scale(plan, &segment);
    fby_segments_append_split(self, segment, &values);
}

void fby_segments_add_planar(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint32_t                 in_width = fby_type_bytes(plan->from);
    struct fby_piece_samples samples  = fby_segments_samples(plan, piece);
    struct fby_segment       segment  = {
               .kind        = FBY_SEGMENT_VALUES,
               .in          = piece->at,
               .out         = piece->out + samples.first * plan->out_bytes,
               .from        = plan->from,
               .to          = plan->to,
               .values      = piece->factors,
               .channels    = plan->scaled ? plan->channels : 0,
               .planar      = 1,
               .first_pixel = (uint32_t)(samples.skipped / in_width),
               .plane       = plan->pixels,
               .classes     = plan->shape.dims[2],
    };
    fby_segments_set_scale(plan, &segment);
    fby_segments_append_split(self, segment,
        &(struct fby_segment_units){samples.n, samples.raw_bytes,
            plan->out_bytes, (uint32_t)(samples.raw_bytes / in_width)});
}

/* ---- bits ---------------------------------------------------------------- */

/* Add a sample that is too large for one segment, in ranges of pixels. */
static void append_pixel_ranges(
    struct fby_segments *self, struct fby_segment range)
{
    uint32_t pixel_bytes = fby_bytes_of_bits(range.classes);
    uint32_t max_pixels  = FBY_SEGMENT_MAX / range.classes;
    uint32_t pixels_left = range.pixels;
    while (pixels_left > 0) {
        range.pixels = pixels_left < max_pixels ? pixels_left : max_pixels;
        range.n      = range.pixels * range.classes;
        fby_segments_append(self, &range);
        range.in += (uint64_t)range.pixels * pixel_bytes;
        range.first_pixel += range.pixels;
        pixels_left -= range.pixels;
    }
}

void fby_segments_add_bits(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    uint32_t                 pixel_bytes = fby_bytes_of_bits(plan->maps);
    struct fby_piece_samples samples     = fby_segments_samples(plan, piece);
    struct fby_segment       segment     = {
                  .kind        = FBY_SEGMENT_BITS,
                  .in          = piece->at,
                  .out         = piece->out + samples.first * plan->out_bytes,
                  .image_bytes = plan->out_bytes,
                  .to          = plan->to,
                  .planar      = plan->layout == FBY_LAYOUT_CHW ? 1 : 0,
                  .pixels      = (uint32_t)(samples.raw_bytes / pixel_bytes),
                  .first_pixel = (uint32_t)(samples.skipped / pixel_bytes),
                  .plane       = plan->pixels,
                  .on          = plan->on,
                  .off         = plan->off,
                  .classes     = plan->maps,
    };
    uint64_t values = (uint64_t)segment.pixels * plan->maps;
    if (values <= FBY_SEGMENT_MAX) {
        fby_segments_append_split(self, segment,
            &(struct fby_segment_units){samples.n, samples.raw_bytes,
                plan->out_bytes, (uint32_t)values});
        return;
    }
    for (uint64_t i = 0; i < samples.n; i++) {
        append_pixel_ranges(self, segment);
        segment.in += samples.raw_bytes;
        segment.out += plan->out_bytes;
    }
}

/* ---- labels -------------------------------------------------------------- */

void fby_segments_add_labels(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    struct fby_piece_samples samples = fby_segments_samples(plan, piece);
    const struct fby_segment segment = {
        .kind    = FBY_SEGMENT_ONE_HOT,
        .in      = piece->at,
        .out     = piece->out + samples.first * plan->out_bytes,
        .from    = plan->from,
        .to      = plan->to,
        .on      = plan->on,
        .off     = plan->off,
        .classes = plan->classes,
    };
    fby_segments_append_split(self, segment,
        &(struct fby_segment_units){
            samples.n, plan->raw_bytes, plan->out_bytes, plan->classes});
}

/* If there are several segments, each has all labels and parameters as input,
 * since a row may be mixed with a row of another segment. */
void fby_segments_add_mixed(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece)
{
    const struct fby_segment segment = {
        .kind    = FBY_SEGMENT_MIX,
        .in      = piece->at,
        .out     = piece->out,
        .params  = piece->params,
        .from    = plan->from,
        .to      = plan->to,
        .on      = fby_f32_bits(plan->on_value),
        .off     = fby_f32_bits(plan->off_value),
        .classes = plan->classes,
    };
    fby_segments_append_split(self, segment,
        &(struct fby_segment_units){piece->raw_bytes / plan->raw_bytes, 0,
            plan->out_bytes, plan->classes});
}
