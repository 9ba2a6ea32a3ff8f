/* farm.h - real `forebay` processes on loopback that a bench measures.
 *
 * A farm is a temporary directory with pictures and a pipeline file, and the
 * server and workers that serve it; consumers are `forebay pull`. The bench
 * reads the standard output of each process (a part, part.h): its endpoint, or
 * a line per step. All processes end with the bench, also if it is killed. An
 * error ends the bench with a message; the directory then stays, with the
 * processes' messages in its file `log`. All calls come from the main thread.
 */
#ifndef FBY_BENCH_FARM_H
#define FBY_BENCH_FARM_H

#include <stdint.h>

#include "bench/album.h"
#include "bench/part.h"

struct bench_pictures {
    uint64_t number;
    uint64_t side;  /* width in pixels */
    uint64_t crop;  /* random_resized_crop to this side */
    uint64_t batch; /* rows of a batch */
};

struct bench_shards { /* of an album's pictures */
    unsigned shards;  /* tar files */
    unsigned times;   /* copies of each picture */
    uint64_t crop;    /* random_resized_crop to this side */
    uint64_t batch;   /* rows of a batch */
};

enum { BENCH_MAX_WORKERS = 8 };

struct bench_farm {
    char              dir[64];
    char              pipeline[96]; /* the file */
    char              photos[96];   /* the directory; root "d" of workers */
    char              log[96];      /* messages of all processes */
    char              server[256];  /* endpoint */
    struct bench_part directory;    /* the server */
    struct bench_part workers[BENCH_MAX_WORKERS];
    unsigned          n_workers;
};

/* Make the directory, pictures of the project's generator, and a pipeline.
 * Starts no process. */
void bench_farm_make(
    struct bench_farm *self, const struct bench_pictures *pictures);
/* The same with an album's pictures in tar files, which are in the page cache
 * afterwards; `codec: auto`, and every other key at its default. */
void bench_farm_make_shards(struct bench_farm *self,
    const struct bench_album *album, const struct bench_shards *how);

/* The same in steps: make the directory, make the empty folder `photos`, and
 * write the pipeline file. */
void bench_farm_begin(struct bench_farm *self);
void bench_farm_make_folder(struct bench_farm *self);
void bench_farm_pipeline(struct bench_farm *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Kill the server and the workers, and delete the directory. */
void bench_farm_remove(struct bench_farm *self);

/* Start the server and workers. Each worker has `threads` (0: one per core) and
 * the memory budget `memory`, such as "64M". */
void bench_farm_start(struct bench_farm *self, unsigned workers,
    unsigned threads, const char *memory);
/* Start only the server. */
void bench_farm_start_server(struct bench_farm *self);
/* Kill the server and the workers. */
void bench_farm_stop(struct bench_farm *self);

/* Run `forebay` with `args` ("forebay" first, NULL last) to its end, and read
 * its standard output as text of less than `size` bytes. */
void bench_farm_run(const struct bench_farm *self, const char *const *args,
    char *out, size_t size);

/* Start a consumer that takes batches without end, one per `step_ms`. */
void bench_pull_start(struct bench_part *self, const struct bench_farm *farm,
    const char *step_ms);

/* Wait until the consumer has taken `steps` in all. */
void bench_pull_until(struct bench_part *self, uint64_t steps);

/* Steps per second over the next `for_ns`. */
double bench_pull_rate(struct bench_part *self, int64_t for_ns);

#endif
