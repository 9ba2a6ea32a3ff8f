/* part.h - one `forebay` process that a bench runs.
 *
 * The bench reads its standard output from a pipe; its messages go to a file.
 * It is killed when the bench ends for any reason. Errors end the bench. */
#ifndef FBY_BENCH_PART_H
#define FBY_BENCH_PART_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_TIMEOUT_NS (60 * FBY_NS_PER_S) /* for output of a process */

struct bench_part {
    pid_t       pid;   /* 0: none */
    int         out;   /* read end of its standard output */
    const char *log;   /* file of its messages; owned by the farm */
    uint64_t    steps; /* lines read from a consumer */
};

/* Run FOREBAY_BIN, or the `forebay` of the build that this bench belongs to;
 * `args` begins with "forebay" and ends with NULL; `log_path` must outlive
 * `self`. */
void bench_part_start(
    struct bench_part *self, const char *log_path, const char *const *args);

/* Read from its standard output; returns the bytes, 0 if none came before
 * `until_ns`. */
size_t bench_part_read(
    const struct bench_part *self, char *out, size_t size, int64_t until_ns);

/* Read the first line of its output, which is its endpoint. */
void bench_part_endpoint(const struct bench_part *self, char *out, size_t size);

/* Kill it; does nothing if it does not run. */
void bench_part_kill(struct bench_part *self);

/* Stop it (SIGSTOP), or continue it. Any thread. */
void bench_part_pause(const struct bench_part *self);
void bench_part_resume(const struct bench_part *self);

/* Its resident memory in bytes, and its CPU time so far. */
uint64_t bench_rss_bytes(const struct bench_part *self);
int64_t  bench_cpu_ns(const struct bench_part *self);

#endif
