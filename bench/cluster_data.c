/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_data.c - the data of clusters: pictures, and tar files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/archives.h"
#include "bench/cluster.h"
#include "common/mem.h"

/* Values: source, batch, decoder's keys, crop, field's keys, label's source. */
static const char pipeline_format[] =
    "forebay: 1\n"
    "splits:\n"
    "  train: {%s, shuffle: full, last: drop}\n"
    "global_batch: %" PRIu64 "\n"
    "seed: 42\n"
    "fields:\n"
    "  image:\n"
    "    from: [jpg]\n"
    "    decode: rgb8\n"
    "%s"
    "    ops:\n"
    "      - random_resized_crop: {size: %" PRIu64 "}\n"
    "      - horizontal_flip: {p: 0.5}\n"
    "%s"
    "  label: {from: %s}\n";

void bench_cluster_init_pictures(
    struct bench_cluster *self, const struct bench_pictures *pictures)
{
    char source[128];
    char number[24];
    char side[24];
    char output[1024];
    bench_cluster_init(self);
    snprintf(source, sizeof(source), "folder: \"%s\"", self->data_dir);
    bench_cluster_write_pipeline(self, pipeline_format, source, pictures->batch,
        "    dct_scale: off\n", pictures->crop, "", "folder");
    snprintf(number, sizeof(number), "%" PRIu64, pictures->number);
    snprintf(side, sizeof(side), "%" PRIu64, pictures->side);
    bench_process_run(self->log_path,
        (const char *const[]){"forebay", "photos", self->data_dir, "--number",
            number, "--side", side, NULL},
        output, sizeof(output));
}

/* Write each photograph `copies` times to the `shards` tar files train-0.tar,
 * train-1.tar, ... in `dir`. A sample is a .jpg and a .cls (its label). */
static void write_tars(const struct bench_photos *self, const char *dir,
    unsigned shards, unsigned copies)
{
    for (unsigned shard = 0; shard < shards; shard++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/train-%u.tar", dir, shard);
        struct archive *tar = bench_archive_create(path, BENCH_TAR);
        for (size_t i = shard; i < self->n * copies; i += shards) {
            const struct bench_photo *photo = &self->photos[i % self->n];
            const char                label = (char)('0' + i % 10);
            char                      name[32];
            snprintf(name, sizeof(name), "%08zu.jpg", i);
            bench_archive_add(tar, name, photo->bytes, photo->size);
            snprintf(name, sizeof(name), "%08zu.cls", i);
            bench_archive_add(tar, name, &label, 1);
        }
        bench_archive_close(tar);
    }
}

void bench_cluster_write_shards_pipeline(struct bench_cluster *self,
    const struct bench_shards *shards, const char *image_keys)
{
    char source[128];
    snprintf(source, sizeof(source), "shards: \"%s/train-{0..%u}.tar\"",
        self->data_dir, shards->shards - 1);
    bench_cluster_write_pipeline(self, pipeline_format, source, shards->batch,
        "", shards->crop, image_keys, "cls");
}

void bench_cluster_init_shards(struct bench_cluster *self,
    const struct bench_photos *photos, const struct bench_shards *shards)
{
    bench_cluster_init(self);
    bench_cluster_write_shards_pipeline(
        self, shards, "    wire: {codec: auto}\n");
    write_tars(photos, self->data_dir, shards->shards, shards->copies);
}

void bench_cluster_init_blocks(
    struct bench_cluster *self, const struct bench_blocks *blocks)
{
    struct bench_photos photos = {.n = blocks->number};
    uint8_t            *bytes  = fby_zalloc(blocks->bytes);
    photos.photos = fby_zalloc(blocks->number * sizeof(*photos.photos));
    for (unsigned i = 0; i < blocks->number; i++) {
        photos.photos[i] =
            (struct bench_photo){.bytes = bytes, .size = blocks->bytes};
    }
    bench_cluster_init(self);
    bench_cluster_write_pipeline(self,
        "forebay: 1\n"
        "splits: {train: {shards: \"d:train-{0..0}.tar\"}}\n"
        "global_batch: %u\n"
        "fields:\n"
        "  bytes:\n"
        "    from: jpg\n"
        "    decode: bytes\n"
        "    length: %u\n"
        "    wire: {filter: none, codec: store}\n",
        blocks->batch, blocks->bytes);
    write_tars(&photos, self->data_dir, /* shards */ 1, /* copies */ 1);
    free(photos.photos);
    free(bytes);
}
