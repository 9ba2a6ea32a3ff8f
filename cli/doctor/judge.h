/* judge.h - what values of a machine mean for Forebay: decisions.
 *
 * Pure: a value goes in, a verdict comes out: how grave it is, what was found,
 * and what to do about it. All thresholds stand in judge.c. */
#ifndef FBY_CLI_DOCTOR_JUDGE_H
#define FBY_CLI_DOCTOR_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/simd.h"

enum fby_doctor_state {
    FBY_DOCTOR_OK,
    FBY_DOCTOR_NOTE, /* good to know */
    FBY_DOCTOR_WARN, /* slow or unsafe */
    FBY_DOCTOR_FAIL  /* it will not work */
};

struct fby_verdict {
    enum fby_doctor_state state;
    char                  finding[560];
    char                  advice[320]; /* "": there is nothing to do */
};

/* "ok", "note", "warn", "FAIL" */
const char *fby_doctor_state_name(enum fby_doctor_state state);

/* A verdict without advice; what does not fit is cut. */
struct fby_verdict fby_verdict(enum fby_doctor_state state, const char *format,
    ...) __attribute__((format(printf, 2, 3)));

/* ---- The machine --------------------------------------------------------- */

struct fby_cpu_facts {
    uint32_t online;  /* of the machine; 0: not told */
    uint32_t allowed; /* by the affinity mask */
    uint32_t quota;   /* of the cgroup; UINT32_MAX: none */
};
struct fby_verdict fby_judge_cpus(const struct fby_cpu_facts *facts);

struct fby_verdict fby_judge_simd(enum fby_simd used, enum fby_simd best);

struct fby_card_facts {
    char card[16];
    int  node;     /* that it is on */
    char near[64]; /* the CPUs of that node that may be used */
};
/* `nodes` of the machine, 0: not told; `n` cards that are on some of them. */
struct fby_verdict fby_judge_numa(
    uint32_t nodes, const struct fby_card_facts *cards, uint32_t n);

/* UINT64_MAX: no limit, here and below. */
struct fby_memory_facts {
    uint64_t total;     /* of the machine; 0: not told */
    uint64_t available; /* now */
    uint64_t limit;     /* of the cgroup */
};
struct fby_verdict fby_judge_memory(const struct fby_memory_facts *facts);
struct fby_verdict fby_judge_memlock(uint64_t bytes);
struct fby_verdict fby_judge_shm(uint64_t bytes); /* 0: there is none */
/* "always", "madvise", "never"; "": not told. */
struct fby_verdict fby_judge_huge_pages(const char *setting);
struct fby_verdict fby_judge_files(uint64_t files);

struct fby_clock_facts {
    int64_t resolution_ns; /* of the monotonic clock */
    bool    synchronised;  /* the wall clock is */
    bool    told;          /* else it is not known whether */
};
struct fby_verdict fby_judge_clock(const struct fby_clock_facts *facts);

/* Bytes copied, or made, a second by one thread. */
struct fby_verdict fby_judge_copy(double bytes_per_s);
struct fby_verdict fby_judge_expand(double bytes_per_s);

struct fby_gpu_facts {
    const char *name;
    int         major, minor; /* sm_ */
    int         driver;       /* the CUDA that it is for, 13000 for 13.0 */
    uint64_t    bytes;
    const char
          *error; /* a CUDA call failed with this, or NULL; then no more: */
    double copy_ns, expand_ns, both_ns; /* alone, alone, at once */
    double copied, expanded;            /* bytes moved in those times */
};
struct fby_verdict fby_judge_gpu(const struct fby_gpu_facts *facts);

/* ---- Sources ------------------------------------------------------------- */

struct fby_source_facts {
    const char *split;
    const char *place;  /* directory, or NAME:path of an unknown root */
    bool        named;  /* the second: no --data says where it is */
    bool        served; /* by workers elsewhere: it need not be here */
    int         error;  /* of opening the directory; 0: it can be read */
};
struct fby_verdict fby_judge_source(const struct fby_source_facts *facts);

struct fby_data_facts {
    const char *split;
    const char *error;  /* of opening the data; NULL: none */
    bool        served; /* as above */
    bool        whole;  /* looked at all; else it was given up after */
    uint64_t    done;   /* of `total` parts */
    uint64_t    total;
    uint64_t    samples; /* of all */
    uint32_t    shards;
};
struct fby_verdict fby_judge_data(const struct fby_data_facts *facts);

struct fby_cache_facts {
    const char *directory;
    int         error; /* of writing there; 0: it can be written */
    uint64_t    free_bytes;
};
struct fby_verdict fby_judge_cache(const struct fby_cache_facts *facts);

/* ---- Server and workers -------------------------------------------------- */

enum fby_doctor_answer {
    FBY_ANSWER_NONE,    /* in time */
    FBY_ANSWER_REFUSED, /* `text` says why */
    FBY_ANSWER_GIVEN
};

struct fby_answer_facts {
    const char            *who;        /* address, with the host of a worker */
    int                    error;      /* of connecting; ETIMEDOUT too */
    int64_t                connect_ns; /* when there is no error */
    enum fby_doctor_answer answer;
    const char            *text;
    int64_t                round_trip_ns; /* 0: not measured */
    uint32_t               version;       /* of a worker */
};
/* An address that cannot be used, and why. */
struct fby_verdict fby_judge_name(const char *why);

/* `workers` that it knows; 0: none. */
struct fby_verdict fby_judge_server(
    const struct fby_answer_facts *facts, uint64_t workers);
struct fby_verdict fby_judge_worker(const struct fby_answer_facts *facts);

/* `open` of `n` addresses are beyond loopback; `first` is one of them. */
struct fby_verdict fby_judge_exposure(
    uint32_t open, uint32_t n, const char *first);

struct fby_stream_facts {
    double      seconds;    /* from the first batch on */
    double      first_s;    /* to open and have the first batch */
    uint64_t    batches;    /* 0: none came */
    uint64_t    images;     /* after the first batch, as all below */
    uint64_t    wire_bytes; /* */
    uint64_t    raw_bytes;
    uint32_t    known, in_use, aside; /* workers */
    uint64_t    lost;                 /* asked again, or wrong checksum */
    const char *error;                /* NULL: none */
    bool        late;                 /* that is, that nobody did */
};
struct fby_verdict fby_judge_stream(const struct fby_stream_facts *facts);

#endif
