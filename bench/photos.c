/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/photos.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/option.h"
#include "cli/photos/photos.h"
#include "common/mem.h"
#include "worker/transform/jpeg.h"

enum { MAX_FILES = 1000, N_SYNTHETIC = 200 };

static struct fby_words paths; /* nftw() passes no context to add_path() */

static bool has_jpeg_name(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL &&
           (strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0);
}

static int add_path(
    const char *path, const struct stat *stat, int kind, struct FTW *walk)
{
    (void)walk;
    if (kind == FTW_DNR) {
        bench_die("%s: the folder cannot be read", path);
    }
    if (kind == FTW_F && S_ISREG(stat->st_mode) && has_jpeg_name(path)) {
        fby_words_add(&paths, path);
    }
    return 0;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_file(const char *path, struct bench_photo *out)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || ftell(file) < 0) {
        bench_die("%s: %s", path, strerror(errno));
    }
    out->size  = (size_t)ftell(file);
    out->bytes = fby_zalloc(out->size + 1);
    rewind(file);
    if (fread(out->bytes, 1, out->size, file) != out->size) {
        bench_die("%s: the file cannot be read", path);
    }
    fclose(file);
}

/* Keep the file in photos[n], or free it if the worker's decoder refuses it. */
static void keep_if_decodable(
    struct bench_photos *self, struct fby_scratch *scratch)
{
    struct fby_error_detail       why   = {{0}};
    struct bench_photo           *photo = &self->photos[self->n];
    const struct fby_picture_file file  = {photo->bytes, photo->size};
    struct fby_image              image;
    if (fby_picture_decode(&fby_jpeg_picture, &file, scratch, &image, &why) !=
        FBY_OK) {
        free(photo->bytes);
        return;
    }
    photo->width  = image.width;
    photo->height = image.height;
    self->n++;
}

static void load_folder(
    struct bench_photos *self, const char *dir, struct fby_scratch *scratch)
{
    if (nftw(dir, add_path, 16, 0) != 0) { /* follows links */
        bench_die("%s: %s", dir, strerror(errno));
    }
    qsort(paths.items, paths.n, sizeof(*paths.items), compare_paths);
    for (size_t i = 0; i < paths.n && i < MAX_FILES; i++) {
        read_file(paths.items[i], &self->photos[self->n]);
        keep_if_decodable(self, scratch);
    }
    fby_words_fini(&paths);
}

static void make_synthetic(
    struct bench_photos *self, struct fby_scratch *scratch)
{
    for (uint32_t i = 0; i < N_SYNTHETIC; i++) {
        struct fby_buffer      jpeg  = {0};
        const struct fby_photo photo = {
            .number = i, .label = i % FBY_PHOTO_LABELS};
        if (fby_photo_write(&photo, &jpeg) != FBY_OK) {
            bench_die("picture %u cannot be made", i);
        }
        self->photos[self->n] =
            (struct bench_photo){.bytes = jpeg.data, .size = jpeg.size};
        keep_if_decodable(self, scratch);
    }
}

static void load_photos(struct bench_photos *self, const char *dir)
{
    struct fby_scratch scratch = {0};
    double             pixels  = 0;

    *self = (struct bench_photos){.synthetic = dir == NULL,
        .photos = fby_zalloc(MAX_FILES * sizeof(*self->photos))};
    if (dir != NULL) {
        load_folder(self, dir, &scratch);
    } else {
        make_synthetic(self, &scratch);
    }
    fby_scratch_fini(&scratch);
    if (self->n == 0) {
        bench_die("%s: there is no JPEG file that a worker can decode", dir);
    }
    for (size_t i = 0; i < self->n; i++) {
        pixels += (double)self->photos[i].width * self->photos[i].height;
    }
    bench_print("pictures", "%zu %s, %.2f megapixels on average", self->n,
        self->synthetic
            ? "SYNTHETIC ones (no --data): no goal that depends on them is "
              "judged"
            : "photographs",
        pixels / (double)self->n / 1e6);
}

void bench_photos_free(struct bench_photos *self)
{
    for (size_t i = 0; i < self->n; i++) {
        free(self->photos[i].bytes);
    }
    free(self->photos);
    *self = (struct bench_photos){0};
}

int bench_photos_main(const struct bench_program *program, int argc,
    char **argv, void (*run)(const struct bench_photos *photos))
{
    struct bench_photos photos;
    const char         *dir = NULL;
    bench_parse_options(argc, argv, program->options, program->about, &dir);
    bench_begin(program->name);
    load_photos(&photos, dir);
    run(&photos);
    bench_photos_free(&photos);
    return 0;
}

void bench_photos_judge(const struct bench_photos *self, const char *name,
    double value, enum bench_bound bound, double goal)
{
    if (self->synthetic) {
        bench_print(name, "%.3g on synthetic pictures: no goal", value);
    } else {
        bench_judge(name, value, bound, goal);
    }
}
