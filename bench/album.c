#include "bench/album.h"

#include <archive.h>
#include <archive_entry.h>
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

enum { MAX_FILES = 1000, SYNTHETIC = 200 };

/* ---- files of a folder --------------------------------------------------- */

static struct fby_words paths; /* nftw() passes no context to add_path() */

static int add_path(
    const char *path, const struct stat *stat, int kind, struct FTW *walk)
{
    const char *dot = strrchr(path, '.');
    (void)walk;
    if (kind == FTW_DNR) {
        bench_die("%s: the folder cannot be read", path);
    }
    if (kind == FTW_F && S_ISREG(stat->st_mode) && dot != NULL &&
        (strcasecmp(dot, ".jpg") == 0 || strcasecmp(dot, ".jpeg") == 0)) {
        fby_words_add(&paths, path);
    }
    return 0;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_file(const char *path, struct bench_file *out)
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

/* Whether the worker's decoder accepts the whole file; sets its size. */
static bool can_decode(struct bench_file *self, struct fby_scratch *scratch)
{
    struct fby_why                why = {{0}};
    struct fby_image              image;
    const struct fby_picture_file file = {self->bytes, self->size};
    bool good    = fby_jpeg_decode(&file, scratch, &image, &why) == FBY_OK;
    self->width  = good ? image.width : 0;
    self->height = good ? image.height : 0;
    return good;
}

/* Keep the file at files[n] or drop it. */
static void keep_if_decodable(
    struct bench_album *self, struct fby_scratch *scratch)
{
    struct bench_file *file = &self->files[self->n];
    if (can_decode(file, scratch)) {
        self->n++;
    } else {
        free(file->bytes);
    }
}

static void load_folder(
    struct bench_album *self, const char *dir, struct fby_scratch *scratch)
{
    if (nftw(dir, add_path, 16, 0) != 0) { /* follows links */
        bench_die("%s: %s", dir, strerror(errno));
    }
    qsort(paths.words, paths.n, sizeof(*paths.words), compare_paths);
    for (size_t i = 0; i < paths.n && i < MAX_FILES; i++) {
        read_file(paths.words[i], &self->files[self->n]);
        keep_if_decodable(self, scratch);
    }
    fby_words_fini(&paths);
}

static void make_files(struct bench_album *self, struct fby_scratch *scratch)
{
    for (uint32_t i = 0; i < SYNTHETIC; i++) {
        struct fby_buffer      jpeg  = {0};
        const struct fby_photo photo = {
            .number = i, .label = i % FBY_PHOTO_LABELS};
        if (fby_photo_write(&photo, &jpeg) != FBY_OK) {
            bench_die("picture %u cannot be made", i);
        }
        self->files[self->n] = (struct bench_file){
            .bytes = fby_memdup(jpeg.data, jpeg.size), .size = jpeg.size};
        fby_buffer_fini(&jpeg);
        keep_if_decodable(self, scratch);
    }
}

static double mean_megapixels(const struct bench_album *self)
{
    double sum = 0;
    for (size_t i = 0; i < self->n; i++) {
        sum += (double)self->files[i].width * self->files[i].height;
    }
    return sum / (double)self->n / 1e6;
}

static void load(struct bench_album *self, const char *dir)
{
    struct fby_scratch scratch = {0};

    *self = (struct bench_album){.synthetic = dir == NULL,
        .files = fby_zalloc(MAX_FILES * sizeof(*self->files))};
    if (dir != NULL) {
        load_folder(self, dir, &scratch);
    } else {
        make_files(self, &scratch);
    }
    fby_scratch_fini(&scratch);
    if (self->n == 0) {
        bench_die("%s: there is no JPEG file that a worker can decode", dir);
    }
    bench_row("pictures", "%zu %s, %.2f megapixels on average", self->n,
        self->synthetic
            ? "SYNTHETIC ones (no --data): no goal that depends on them is "
              "judged"
            : "photographs",
        mean_megapixels(self));
}

void bench_album_free(struct bench_album *self)
{
    for (size_t i = 0; i < self->n; i++) {
        free(self->files[i].bytes);
    }
    free(self->files);
    *self = (struct bench_album){0};
}

int bench_album_main(const struct bench_program *program, int argc, char **argv,
    void (*run)(const struct bench_album *album))
{
    struct bench_album  album;
    const char         *data                       = NULL;
    struct bench_option options[BENCH_MAX_OPTIONS] = {{.name = "data",
        .help = "A folder of photographs (JPEG), at any depth; without "
                "one the pictures are synthetic and no goal is judged",
        .text = &data}};
    for (int i = 0; program->options[i].name != NULL; i++) {
        options[i + 1] = program->options[i];
    }
    bench_options(argc, argv, options, program->about);
    bench_begin(program->name);
    load(&album, data);
    run(&album);
    bench_album_free(&album);
    return 0;
}

void bench_album_goal(const struct bench_album *self, const char *name,
    double value, enum bench_sense sense, double goal)
{
    if (self->synthetic) {
        bench_row(name, "%.3g on synthetic pictures: no goal", value);
    } else {
        bench_goal(name, value, sense, goal);
    }
}

/* ---- tar shards ---------------------------------------------------------- */

static void add_member(
    struct archive *tar, const char *name, const void *bytes, size_t size)
{
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, (int64_t)size);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    if (archive_write_header(tar, entry) != ARCHIVE_OK ||
        archive_write_data(tar, bytes, size) != (la_ssize_t)size) {
        bench_die("tar: %s", archive_error_string(tar));
    }
    archive_entry_free(entry);
}

static void add_sample(
    struct archive *tar, const struct bench_file *file, size_t number)
{
    char name[32];
    char label[24];
    snprintf(name, sizeof(name), "%08zu.jpg", number);
    add_member(tar, name, file->bytes, file->size);
    snprintf(name, sizeof(name), "%08zu.cls", number);
    snprintf(label, sizeof(label), "%zu", number % 10);
    add_member(tar, name, label, strlen(label));
}

void bench_album_shards(const struct bench_album *self, const char *dir,
    unsigned shards, unsigned times)
{
    for (unsigned s = 0; s < shards; s++) {
        char            path[4096];
        struct archive *tar = archive_write_new();
        snprintf(path, sizeof(path), "%s/train-%u.tar", dir, s);
        archive_write_set_format_ustar(tar);
        if (archive_write_open_filename(tar, path) != ARCHIVE_OK) {
            bench_die("%s: %s", path, archive_error_string(tar));
        }
        for (size_t i = s; i < self->n * times; i += shards) {
            add_sample(tar, &self->files[i % self->n], i);
        }
        if (archive_write_close(tar) != ARCHIVE_OK) {
            bench_die("%s: %s", path, archive_error_string(tar));
        }
        archive_write_free(tar);
    }
}
