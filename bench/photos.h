/* SPDX-License-Identifier: Apache-2.0 */
/* photos.h - the photographs on which benches measure.
 *
 * They are the JPEG files of a folder, in memory and in order of their paths.
 * Without a folder they are pictures of the project's generator. Goals of
 * decoding or packing are not judged on these pictures, since their noise and
 * edges are synthetic. The reference decoder is libjpeg-turbo, which decodes to
 * RGB at full size. Errors end the bench. Call from one thread unless noted
 * otherwise. */
#ifndef FBY_BENCH_PHOTOS_H
#define FBY_BENCH_PHOTOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/bench.h"
#include "trainer_client/expand/expansion.h"

enum {
    BENCH_CROP       = 224, /* width and height of a crop, pixels */
    BENCH_CROP_BYTES = BENCH_CROP * BENCH_CROP * 3
};

struct bench_photo {
    uint8_t *bytes;         /* owned; a JPEG file that the worker can decode */
    size_t   size;          /* of the file, bytes */
    uint32_t width, height; /* in pixels, after the EXIF rotation */
};

struct bench_photos {
    struct bench_photo *photos;
    size_t              n;         /* number of photos */
    bool                synthetic; /* made by the project's generator */
};

struct bench_program {
    const char                *name;
    const char                *about;   /* the text of --help */
    const struct bench_option *options; /* as for bench_parse_options() */
};

/* Run a bench on photographs: parse its options and --data DIR, load the first
 * 1,000 JPEG files below DIR by path, print a summary of them, and call `run`.
 * Files that the worker refuses are left out. Returns the exit code. */
int bench_photos_main(const struct bench_program *program, int argc,
    char **argv, void (*run)(const struct bench_photos *photos));

/* Make copies of the first `n` photographs, each scaled up to at least
 * `min_pixels` pixels and encoded at quality 90. */
void bench_photos_enlarge(const struct bench_photos *self, size_t n,
    uint64_t min_pixels, struct bench_photos *out);
void bench_photos_free(struct bench_photos *self);

/* Decode `n` photographs to full-size RGB from photos[first] on; photos[0]
 * follows the last one. Discards the pixels. Any thread. */
void bench_photos_decode(
    const struct bench_photos *self, size_t first, size_t n);

/* Write `n` random resized crops of BENCH_CROP_BYTES to `out`, as the worker
 * makes them: scale 0.08 to 1, ratio 3/4 to 4/3. Crop i is cut out of
 * photograph i modulo the number of photographs; `seed` determines all crops.
 * Unless `upscaled` is NULL, upscaled[i] is set to true if the area of crop i
 * was narrower or lower than BENCH_CROP. */
void bench_photos_crops(const struct bench_photos *self, uint64_t seed,
    size_t n, uint8_t *out, bool *upscaled);

/* Make `n` such crops, of photographs from photos[first] on (photos[0] follows
 * the last one), with the default dct_scale. Discards the pixels. Any thread. */
void bench_photos_discard_crops(
    const struct bench_photos *self, size_t first, size_t n);

enum bench_pixels { BENCH_RGB, BENCH_YUV420 }; /* of a crop on the wire */

/* Set *out to the field that makes such crops, without dct_scale. */
void bench_crop_field_init(
    struct fby_field_content *out, enum bench_pixels pixels);

/* Initialise the expansion of crops to `type`, normalised unless it is u8. */
void bench_crop_expansion_init(struct fby_expansion *out,
    enum bench_pixels pixels, enum fby_type type, enum fby_layout layout);

/* As bench_judge(), but print only the value if the pictures are synthetic. */
void bench_photos_judge(const struct bench_photos *self, const char *name,
    double value, enum bench_bound bound, double goal);

#endif
