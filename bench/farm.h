/* farm.h - real `forebay` processes on loopback, for as long as a bench runs.
 *
 * A farm is a temporary directory with pictures and a pipeline file, and the
 * server and workers that serve it; consumers are `forebay pull`. A part's
 * standard output is a pipe to us: it says where it listens, or a line for each
 * step it took. Whatever ends the bench also kills its parts, stopped ones too.
 * What cannot work ends the bench with a message; the directory then stays,
 * with the parts' own messages in its file `log`. All calls come from the main
 * thread. */
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
    unsigned times;   /* each picture stands in them */
    uint64_t crop;    /* random_resized_crop to this side */
    uint64_t batch;   /* rows of a batch */
};

enum { BENCH_MAX_WORKERS = 8 };

struct bench_farm {
    char              dir[64];
    char              pipeline[96]; /* the file */
    char              photos[96];   /* the directory; root "d" of workers */
    char              log[96];      /* messages of all parts */
    char              server[256];  /* where it listens */
    struct bench_part directory;    /* the server */
    struct bench_part workers[BENCH_MAX_WORKERS];
    unsigned          n_workers;
};

/* Make directory, pictures of the project's own generator, and pipeline;
 * nothing runs yet. */
void bench_farm_make(
    struct bench_farm *self, const struct bench_pictures *pictures);
/* The same with these pictures, in tar files that lie in the page cache then;
 * `codec: auto`, and every other key at its default. */
void bench_farm_make_shards(struct bench_farm *self,
    const struct bench_album *album, const struct bench_shards *how);

/* Only the directory; then a pipeline file of one's own, and the folder
 * `photos`, which is empty. */
void bench_farm_begin(struct bench_farm *self);
void bench_farm_folder(struct bench_farm *self);
void bench_farm_pipeline(struct bench_farm *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void bench_farm_remove(struct bench_farm *self);

/* Run the server and workers. `threads` is a worker's, 0: one a core; `memory`
 * its budget, such as "64M". */
void bench_farm_start(struct bench_farm *self, unsigned workers,
    unsigned threads, const char *memory);
/* Only the server. */
void bench_farm_start_server(struct bench_farm *self);
/* Kill them. */
void bench_farm_stop(struct bench_farm *self);

/* Run `forebay` with `args` ("forebay" first, NULL last) to its end, and take
 * its standard output as text of less than `size` bytes. */
void bench_farm_run(const struct bench_farm *self, const char *const *args,
    char *out, size_t size);

/* A consumer that takes batches without end, one each `step_ms`. */
void bench_pull_start(struct bench_part *self, const struct bench_farm *farm,
    const char *step_ms);

/* Read its lines until it has taken `steps` in all. */
void bench_pull_until(struct bench_part *self, uint64_t steps);

/* Steps a second over the next `for_ns`. */
double bench_pull_rate(struct bench_part *self, int64_t for_ns);

#endif
