/* album.h - the pictures that the benches of photographs measure on.
 *
 * Files of a folder in memory, in order of their paths, or, without a folder,
 * pictures of the project's own generator, on which no goal of decoding or
 * packing is judged: their noise and edges are made up, and codecs feel that.
 * The yardstick decoder is libjpeg-turbo as any program calls it, to RGB and in
 * full. What cannot work ends the bench. One thread unless said otherwise. */
#ifndef FBY_BENCH_ALBUM_H
#define FBY_BENCH_ALBUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/bench.h"

enum {
    BENCH_CROP       = 224, /* pixels, width and height of a crop */
    BENCH_CROP_BYTES = BENCH_CROP * BENCH_CROP * 3
};

struct bench_file {
    uint8_t *bytes; /* owned; a JPEG file that the worker takes */
    size_t   size;
    uint32_t width, height; /* pixels, upright */
};

struct bench_album {
    struct bench_file *files;
    size_t             n;
    bool               synthetic;
};

struct bench_program {
    const char                *name;
    const char                *about;   /* the text of --help */
    const struct bench_option *options; /* the last one without a name */
};

/* A bench of photographs: begin it, with --data DIR beside its own options,
 * and run it on the first 1,000 JPEG files below DIR by path, without those
 * that the worker refuses; says what they are. Returns the exit code. */
int bench_album_main(const struct bench_program *program, int argc, char **argv,
    void (*run)(const struct bench_album *album));

/* The first `n` pictures scaled up to at least `pixels` each and encoded anew
 * at quality 90. */
void bench_album_enlarge(const struct bench_album *from, size_t n,
    uint64_t pixels, struct bench_album *out);
void bench_album_free(struct bench_album *self);

/* Write them `times` over as `shards` tar files train-0.tar, train-1.tar, ...
 * of `dir`; each sample a .jpg and a .cls. */
void bench_album_shards(const struct bench_album *self, const char *dir,
    unsigned shards, unsigned times);

/* Decode files from number `first` on, `n` of them (round and round), to RGB
 * in full. Any thread. */
void bench_album_decode(const struct bench_album *self, size_t first, size_t n);

/* Random resized crops to BENCH_CROP, of scale 0.08 to 1 and ratio 3/4 to 4/3,
 * as the worker makes them: `n` of BENCH_CROP_BYTES at `out`, crop i of picture
 * i (round and round). The same for the same seed. upscaled[i], when not NULL:
 * its window was smaller than BENCH_CROP in width or height. */
void bench_album_crops(const struct bench_album *self, uint64_t seed, size_t n,
    uint8_t *out, bool *upscaled);

/* bench_goal(), where there are photographs to judge it on. */
void bench_album_goal(const struct bench_album *self, const char *name,
    double value, enum bench_sense sense, double goal);

#endif
