/* SPDX-License-Identifier: Apache-2.0 */
/* pictures.h - JPEG files and pictures for the tests of this folder. */
#ifndef FBY_TESTS_WORKER_TRANSFORM_PICTURES_H
#define FBY_TESTS_WORKER_TRANSFORM_PICTURES_H

#include "tests/test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/photos/photos.h"
#include "common/bytes.h"
#include "worker/transform/jpeg.h"

static inline struct fby_buffer photo_file(struct fby_photo photo)
{
    struct fby_buffer file = {0};
    assert_ok(fby_photo_write(&photo, &file));
    return file;
}

static inline struct fby_picture_file as_jpeg(const struct fby_buffer *file)
{
    return (struct fby_picture_file){file->data, file->size};
}

/* The next random number below `n`; a run repeats the numbers. */
static inline uint32_t below(uint32_t *state, uint32_t n)
{
    *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
    return (uint32_t)((uint64_t)*state * n >> 32);
}

/* A photo with random sampling, size, scans, restarts and orientation. */
static inline struct fby_photo random_photo(uint32_t *state, bool turned)
{
    return (struct fby_photo){.number = below(state, 1000),
        .width                        = 1 + below(state, 150),
        .height                       = 1 + below(state, 150),
        .progressive                  = below(state, 3) == 0,
        .restart                      = below(state, 4),
        .orientation                  = turned ? 1 + below(state, 8) : 1,
        .sampling = (enum fby_photo_sampling)below(state, 5)};
}

/* The offset of the 0xff of the segment of `marker`; fails if there is none. */
static inline size_t find_segment(const struct fby_buffer *file, uint8_t marker)
{
    size_t at = 2;
    while (at + 4 <= file->size) {
        if (file->data[at + 1] == marker) {
            return at;
        }
        at += 2 + (size_t)(file->data[at + 2] << 8 | file->data[at + 3]);
    }
    fail_msg("no segment %02x", marker);
    return 0;
}

/* Write another width and height to the file's frame header. */
static inline void claim_sides(
    struct fby_buffer *file, uint8_t frame, uint16_t width, uint16_t height)
{
    uint8_t *sides = file->data + find_segment(file, frame) + 5;
    sides[0]       = (uint8_t)(height >> 8);
    sides[1]       = (uint8_t)height;
    sides[2]       = (uint8_t)(width >> 8);
    sides[3]       = (uint8_t)width;
}

/* A picture in new memory, in which neighbouring bytes differ. */
static inline struct fby_image new_picture(uint32_t width, uint32_t height)
{
    size_t           stride = (size_t)width * FBY_RGB;
    struct fby_image image  = {malloc(stride * height), stride, width, height};
    uint32_t         state  = width * 31 + height;
    for (size_t i = 0; i < stride * height; i++) {
        state           = state * 1664525 + 1013904223;
        image.pixels[i] = (uint8_t)(state >> 24);
    }
    return image;
}

static inline struct fby_image part_of(
    struct fby_image image, uint32_t x, uint32_t y, uint32_t w, uint32_t h)
{
    image.pixels += y * image.stride + (size_t)x * FBY_RGB;
    image.width  = w;
    image.height = h;
    return image;
}

static inline const uint8_t *pixel_at(
    const struct fby_image *image, uint32_t x, uint32_t y)
{
    return image->pixels + y * image->stride + (size_t)x * FBY_RGB;
}

static inline void assert_same_picture(
    const struct fby_image *a, const struct fby_image *b)
{
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    for (uint32_t y = 0; y < a->height; y++) {
        assert_memory_equal(
            pixel_at(a, 0, y), pixel_at(b, 0, y), (size_t)a->width * FBY_RGB);
    }
}

#endif
