/* album.h - the pictures on which the photograph benches measure.
 *
 * An album holds the files of a folder in memory, in order of their paths.
 * Without a folder it holds pictures of the project's generator; no goal of
 * decoding or packing is judged on them, since their noise and edges are
 * synthetic. The reference decoder is plain libjpeg-turbo, full size, to RGB.
 * Errors end the bench. One thread unless noted otherwise. */
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
    uint8_t *bytes; /* owned; a JPEG file that the worker can decode */
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

/* Run a photograph bench: parse its options and --data DIR, load the first
 * 1,000 JPEG files below DIR by path, print a summary of them, and call `run`.
 * Files that the worker refuses are left out. Returns the exit code. */
int bench_album_main(const struct bench_program *program, int argc, char **argv,
    void (*run)(const struct bench_album *album));

/* Make an album of the first `n` pictures, each scaled up to at least `pixels`
 * and encoded at quality 90. */
void bench_album_enlarge(const struct bench_album *from, size_t n,
    uint64_t pixels, struct bench_album *out);
void bench_album_free(struct bench_album *self);

/* Write all pictures `times` times to tar files train-0.tar, train-1.tar, ...
 * in `dir`, `shards` in all; a sample is a .jpg and a .cls. */
void bench_album_shards(const struct bench_album *self, const char *dir,
    unsigned shards, unsigned times);

/* Decode `n` files from number `first` on, cyclically, to full-size RGB. Any
 * thread. */
void bench_album_decode(const struct bench_album *self, size_t first, size_t n);

/* Write `n` random resized crops of BENCH_CROP_BYTES to `out`, as the worker
 * makes them: scale 0.08 to 1, ratio 3/4 to 4/3. Crop i is of picture i,
 * cyclically; the seed decides all of them. Unless NULL, upscaled[i] tells
 * whether its window was narrower or lower than BENCH_CROP. */
void bench_album_crops(const struct bench_album *self, uint64_t seed, size_t n,
    uint8_t *out, bool *upscaled);

/* bench_goal() if the pictures are photographs; else print only the value. */
void bench_album_goal(const struct bench_album *self, const char *name,
    double value, enum bench_sense sense, double goal);

#endif
