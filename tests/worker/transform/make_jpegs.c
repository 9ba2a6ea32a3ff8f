/* SPDX-License-Identifier: Apache-2.0 */
/* make_jpegs.c - the program that wrote the committed JPEG files:
 * worker/transform/probes (small, for the fingerprint) and tests/golden/jpeg
 * (larger). Run it only to add a file: a changed file changes every
 * fingerprint.
 *
 *     make_jpegs probes FOLDER | make_jpegs golden FOLDER */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/photos/photos.h"

struct file {
    const char      *name;
    struct fby_photo photo;
};

static const struct file probes[] = {
    {"grey_31x27",
        {.width = 31, .height = 27, .sampling = FBY_PHOTO_GREY, .label = 0}},
    {"yuv420_exif6_43x31",
        {.width = 43, .height = 31, .orientation = 6, .label = 1}},
    {"yuv420_odd_45x39", {.width = 45, .height = 39, .label = 2}},
    {"yuv420_progressive_49x33",
        {.width = 49, .height = 33, .progressive = true, .label = 3}},
    {"yuv420_restart_39x53",
        {.width = 39, .height = 53, .restart = 1, .label = 4}},
    {"yuv422_odd_41x35",
        {.width = 41, .height = 35, .sampling = FBY_PHOTO_422, .label = 5}},
    {"yuv440_odd_33x47",
        {.width = 33, .height = 47, .sampling = FBY_PHOTO_440, .label = 6}},
    {"yuv444_odd_37x29",
        {.width = 37, .height = 29, .sampling = FBY_PHOTO_444, .label = 7}},
    {"yuv420_wide_161x96", {.width = 161, .height = 96, .label = 8}},
};

static const struct file goldens[] = {
    {"exif2", {.width = 121, .height = 97, .orientation = 2, .label = 0}},
    {"exif3", {.width = 121, .height = 97, .orientation = 3, .label = 1}},
    {"exif4", {.width = 121, .height = 97, .orientation = 4, .label = 2}},
    {"exif5", {.width = 121, .height = 97, .orientation = 5, .label = 3}},
    {"exif6", {.width = 121, .height = 97, .orientation = 6, .label = 4}},
    {"exif7", {.width = 121, .height = 97, .orientation = 7, .label = 5}},
    {"exif8", {.width = 121, .height = 97, .orientation = 8, .label = 6}},
    {"grey",
        {.width = 113, .height = 171, .sampling = FBY_PHOTO_GREY, .label = 7}},
    {"yuv420", {.width = 199, .height = 151, .label = 8}},
    {"yuv420_progressive",
        {.width = 163, .height = 215, .progressive = true, .label = 9}},
    {"yuv420_quality30",
        {.width = 257, .height = 131, .quality = 30, .label = 10}},
    {"yuv420_restart",
        {.width = 161, .height = 127, .restart = 2, .label = 11}},
    {"yuv422",
        {.width = 157, .height = 137, .sampling = FBY_PHOTO_422, .label = 0}},
    {"yuv440",
        {.width = 139, .height = 149, .sampling = FBY_PHOTO_440, .label = 1}},
    {"yuv444_progressive", {.width          = 101,
                               .height      = 103,
                               .sampling    = FBY_PHOTO_444,
                               .progressive = true,
                               .label       = 2}},
    {"yuv444_quality98", {.width       = 99,
                             .height   = 107,
                             .sampling = FBY_PHOTO_444,
                             .quality  = 98,
                             .label    = 3}},
};

static int write_file(
    const char *folder, const struct file *file, uint32_t number)
{
    char              path[4096];
    struct fby_photo  photo = file->photo;
    struct fby_buffer jpeg  = {0};
    photo.number            = number;
    snprintf(path, sizeof(path), "%s/%s.jpg", folder, file->name);
    if (fby_photo_write(&photo, &jpeg) != FBY_OK) {
        return 1;
    }
    FILE *out    = fopen(path, "wb");
    int   failed = out == NULL ||
                 fwrite(jpeg.data, 1, jpeg.size, out) != jpeg.size ||
                 fclose(out) != 0;
    fby_buffer_fini(&jpeg);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: make_jpegs probes|golden FOLDER\n");
        return 2;
    }
    bool               golden = strcmp(argv[1], "golden") == 0;
    const struct file *files  = golden ? goldens : probes;
    size_t             n      = golden ? sizeof(goldens) / sizeof(goldens[0])
                                       : sizeof(probes) / sizeof(probes[0]);
    int                failed = 0;
    for (size_t i = 0; i < n; i++) {
        failed |= write_file(argv[2], &files[i], (uint32_t)i + 1);
    }
    return failed;
}
