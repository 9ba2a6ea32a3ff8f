/* judge.h - decide what measured values of a machine mean for Forebay.
 *
 * All functions are pure. They turn values into a verdict, which has a state, a
 * finding, and advice. The thresholds are in judge.c. */
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
    char                  advice[320]; /* "": none */
};

/* The state as a word: "ok", "note", "warn", "FAIL". */
const char *fby_doctor_state_name(enum fby_doctor_state state);

/* A verdict with its finding, which is cut if it is too long, and `advice`;
 * NULL: none. */
struct fby_verdict fby_verdict(enum fby_doctor_state state, const char *advice,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- The machine --------------------------------------------------------- */

struct fby_cpu_facts {
    uint32_t online;  /* of the machine; 0: unknown */
    uint32_t allowed; /* by the affinity mask */
    uint32_t quota;   /* of the cgroup; UINT32_MAX: none */
};
/* Warns below 2 usable CPUs. */
struct fby_verdict fby_judge_cpus(const struct fby_cpu_facts *facts);

/* `used` is the level in use, `best` the highest level of the CPU. */
struct fby_verdict fby_judge_simd(enum fby_simd used, enum fby_simd best);

struct fby_card_facts {
    char card[16];
    int  node;     /* the NUMA node of the card */
    char near[64]; /* the usable CPUs of that node */
};
/* `nodes` is the machine's number of NUMA nodes (0: unknown). The `n` cards are
 * each nearer to one of the nodes. */
struct fby_verdict fby_judge_numa(
    uint32_t nodes, const struct fby_card_facts *cards, uint32_t n);

struct fby_memory_facts { /* bytes; UINT64_MAX: no limit */
    uint64_t total;       /* of the machine; 0: unknown */
    uint64_t available;   /* now */
    uint64_t limit;       /* of the cgroup */
};
/* Warns below 2 GiB usable or 1 GiB available. */
struct fby_verdict fby_judge_memory(const struct fby_memory_facts *facts);
/* `bytes` is the soft limit of locked memory (RLIMIT_MEMLOCK). */
struct fby_verdict fby_judge_memlock(uint64_t bytes);
/* `bytes` is the size of /dev/shm; 0: it does not exist. */
struct fby_verdict fby_judge_shm(uint64_t bytes);
/* `setting` is "always", "madvise" or "never"; "": unknown. */
struct fby_verdict fby_judge_huge_pages(const char *setting);
/* `files` is the hard limit of open files. */
struct fby_verdict fby_judge_files(uint64_t files);

struct fby_clock_facts {
    int64_t resolution_ns; /* of the monotonic clock */
    bool    synchronised;  /* of the wall clock */
    bool    known;         /* `synchronised` is known */
};
/* Warns about a coarse monotonic clock. */
struct fby_verdict fby_judge_clock(const struct fby_clock_facts *facts);

/* Bytes of memory that one thread copies per second. */
struct fby_verdict fby_judge_copy(double bytes_per_s);
/* Bytes of f32 tensors that one thread makes from pixels per second. */
struct fby_verdict fby_judge_expand(double bytes_per_s);

struct fby_gpu_facts {
    const char *name;
    int         major, minor; /* compute capability */
    int         driver;       /* CUDA version of the driver, 13000 for 13.0 */
    uint64_t    bytes;        /* of GPU memory */
    const char *error; /* of a failed CUDA call; the rest is then unset */
    double      copy_ns, expand_ns; /* each alone */
    double      both_ns;            /* copies and kernels concurrently */
    double      copied, expanded;   /* bytes moved in these times */
};
/* Fails on an error; warns if copies and kernels do not overlap. */
struct fby_verdict fby_judge_gpu(const struct fby_gpu_facts *facts);

/* ---- Sources ------------------------------------------------------------- */

struct fby_source_facts {
    const char *split;
    const char *path;         /* a directory; NAME:path of an unknown root */
    bool        unknown_root; /* no --data has the NAME of `path` */
    bool        served;       /* workers elsewhere have the data */
    int         error;        /* errno of opening the directory; 0: readable */
};
/* An unreadable directory fails, unless workers elsewhere serve it. */
struct fby_verdict fby_judge_source(const struct fby_source_facts *facts);

struct fby_data_facts {
    const char *split;
    const char *error;   /* of opening the data; NULL: none */
    bool        served;  /* workers elsewhere have the data */
    bool        whole;   /* all parts were read */
    uint64_t    done;    /* parts that were read */
    uint64_t    total;   /* parts of the source */
    uint64_t    samples; /* set if `whole` */
    uint32_t    shards;  /* set if `whole` */
};
/* Data with an error fails, unless workers elsewhere serve it. */
struct fby_verdict fby_judge_data(const struct fby_data_facts *facts);

struct fby_cache_facts {
    const char *directory;
    int         error; /* errno of the access test; 0: writable */
    uint64_t    free_bytes;
};
/* Warns if manifests cannot be written, or below 64 MiB free. */
struct fby_verdict fby_judge_cache(const struct fby_cache_facts *facts);

/* ---- Server and workers -------------------------------------------------- */

enum fby_doctor_answer {
    FBY_ANSWER_NONE,    /* none before the deadline */
    FBY_ANSWER_REFUSED, /* `text` is the reason */
    FBY_ANSWER_GIVEN
};

struct fby_answer_facts {
    const char            *name;       /* address; of a worker also the host */
    int                    error;      /* errno of connecting; 0: connected */
    int64_t                connect_ns; /* set if there is no error */
    enum fby_doctor_answer answer;
    const char            *text;          /* of a refusal */
    int64_t                round_trip_ns; /* 0: not measured */
    uint32_t               version;       /* of a worker's protocol */
};
/* The address of the server cannot be resolved; `why` is the cause. */
struct fby_verdict fby_judge_unresolved(const char *why);

/* `workers` is the number of workers that the server knows; 0 fails. */
struct fby_verdict fby_judge_server(
    const struct fby_answer_facts *facts, uint64_t workers);
/* Fails without an answer; warns about a slow round trip. */
struct fby_verdict fby_judge_worker(const struct fby_answer_facts *facts);

/* Warns if `open` of `n` addresses are beyond loopback; `first` is one of
 * those. */
struct fby_verdict fby_judge_exposure(
    uint32_t open, uint32_t n, const char *first);

struct fby_stream_facts {
    double      seconds;                   /* from the first batch on */
    double      first_s;                   /* from opening to the first batch */
    uint64_t    batches;                   /* received in all */
    uint64_t    images;                    /* received after the first batch */
    uint64_t    wire_bytes;                /* likewise */
    uint64_t    raw_bytes;                 /* likewise */
    uint32_t    known, in_use, left_aside; /* workers */
    uint64_t    lost;      /* requested again, or with a wrong checksum */
    const char *error;     /* NULL: none */
    bool        timed_out; /* the error is a timeout */
};
/* Fails on an error; warns about lost batches and workers left aside. */
struct fby_verdict fby_judge_stream(const struct fby_stream_facts *facts);

#endif
