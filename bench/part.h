/* part.h - one `forebay` process that a bench runs.
 *
 * Its standard output is a pipe to us; its messages go to a file. It ends with
 * the bench, whatever ends that. What cannot work ends the bench. */
#ifndef FBY_BENCH_PART_H
#define FBY_BENCH_PART_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_PATIENCE_NS (60 * FBY_NS_PER_S) /* that a part is waited for */

struct bench_part {
    pid_t       pid;   /* 0: none */
    int         out;   /* we read its standard output here */
    const char *log;   /* the file its messages go to; the farm's */
    uint64_t    steps; /* lines read, of a consumer */
};

/* Run FOREBAY_BIN, or the `forebay` of the build that this bench belongs to;
 * `args` begins with "forebay" and ends with NULL; `log_path` must outlive
 * it. */
void bench_part_start(
    struct bench_part *self, const char *log_path, const char *const *args);

/* Bytes it said until `until_ns`; 0: nothing in time. */
size_t bench_part_hear(
    const struct bench_part *self, char *out, size_t size, int64_t until_ns);

/* The first line it says: where it listens. */
void bench_part_endpoint(const struct bench_part *self, char *out, size_t size);

/* End it at once; nothing happens when it does not run. */
void bench_part_kill(struct bench_part *self);

/* Stop it (SIGSTOP), or let it go on. Any thread. */
void bench_part_freeze(const struct bench_part *self);
void bench_part_thaw(const struct bench_part *self);

/* Its memory that is in RAM, bytes, and its CPU time so far. */
uint64_t bench_rss_bytes(const struct bench_part *self);
int64_t  bench_cpu_ns(const struct bench_part *self);

#endif
