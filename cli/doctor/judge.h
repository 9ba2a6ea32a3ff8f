/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - decide what measured values of a machine mean for Forebay.
 *
 * All functions are pure. They turn values into a verdict: a state, a finding
 * (a text) and advice (a text, or none). The thresholds are in judge.c. */
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

/* Make a verdict. `format` gives its finding, which is cut if it is too long.
 * `advice` may be NULL. */
struct fby_verdict fby_verdict(enum fby_doctor_state state, const char *advice,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- The machine --------------------------------------------------------- */

struct fby_cpu_facts {
    uint32_t online;  /* CPUs of the machine; 0: unknown */
    uint32_t allowed; /* CPUs in the affinity mask of this process */
    uint32_t quota;   /* CPUs that the cgroup grants; UINT32_MAX: no quota */
};
/* Warns below 2 usable CPUs. */
struct fby_verdict fby_judge_cpus(const struct fby_cpu_facts *facts);

/* `used` is the level in use, `best` the highest level of the CPU. */
struct fby_verdict fby_judge_simd(enum fby_simd used, enum fby_simd best);

struct fby_card_facts { /* a network card */
    char card[16];      /* name of the interface: "eth0" */
    int  node;          /* the NUMA node of the card */
    char cpus[64];      /* the usable CPUs of that node: "0-3,8" */
};
/* `nodes` is the machine's number of NUMA nodes; 0: unknown. The `n` cards are
 * those that are nearer to one node than to the others. */
struct fby_verdict fby_judge_numa(
    uint32_t nodes, const struct fby_card_facts *cards, uint32_t n);

struct fby_memory_facts { /* bytes; UINT64_MAX: no limit */
    uint64_t total;       /* memory of the machine; 0: unknown */
    uint64_t available;   /* memory that is available */
    uint64_t limit;       /* the cgroup's limit of memory */
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
    bool    synchronised;  /* the wall clock is synchronised */
    bool    known;         /* false: `synchronised` could not be read */
};
/* Warns about a coarse monotonic clock. */
struct fby_verdict fby_judge_clock(const struct fby_clock_facts *facts);

/* `bytes_per_s`: memory that one thread copies. */
struct fby_verdict fby_judge_copy_speed(double bytes_per_s);
/* `bytes_per_s`: f32 tensors that one thread makes from pixels. */
struct fby_verdict fby_judge_expand_speed(double bytes_per_s);

struct fby_gpu_facts { /* of one GPU, and a measurement on it */
    const char *name;
    int         major, minor; /* compute capability */
    int         driver;       /* CUDA version of the driver, 13000 for 13.0 */
    uint64_t    bytes;        /* size of the GPU memory */
    const char *error;        /* of a CUDA call; then only `name` is valid */
    double      copy_ns;      /* duration of the copies alone */
    double      expand_ns;    /* duration of the expand kernels alone */
    double      both_ns;      /* duration of both, started together */
    double      copied;       /* bytes that all copies move */
    double      expanded;     /* bytes that all kernels read and write */
};
/* Fails on an error; warns if copies and kernels do not overlap. */
struct fby_verdict fby_judge_gpu(const struct fby_gpu_facts *facts);

/* ---- Sources ------------------------------------------------------------- */

struct fby_source_facts {
    const char *split;
    const char *path;         /* the directory, or NAME:path if unknown_root */
    bool        unknown_root; /* no --data has the NAME of `path` */
    bool        served;       /* workers of other machines have the data */
    int         error;        /* errno of reading the directory; 0: readable */
};
/* An unreadable directory fails, unless workers elsewhere serve it. */
struct fby_verdict fby_judge_source(const struct fby_source_facts *facts);

struct fby_data_facts {
    const char *split;
    const char *error;   /* message of a failure to open the data; or NULL */
    bool        served;  /* workers of other machines have the data */
    bool        whole;   /* all parts, such as shards, were read */
    uint64_t    done;    /* number of parts that were read */
    uint64_t    total;   /* number of all parts */
    uint64_t    samples; /* number of samples; set if `whole` */
    uint32_t    shards;  /* number of shards; set if `whole` */
};
/* Data with an error fails, unless workers elsewhere serve it. */
struct fby_verdict fby_judge_data(const struct fby_data_facts *facts);

struct fby_cache_facts {
    const char *directory;  /* of the manifests (indexes of data) */
    int         error;      /* errno of the access test; 0: writable */
    uint64_t    free_bytes; /* of the file system */
};
/* Warns if manifests cannot be written, or below 64 MiB free. */
struct fby_verdict fby_judge_cache(const struct fby_cache_facts *facts);

/* ---- Server and workers -------------------------------------------------- */

enum fby_doctor_answer {    /* a higher value is a better answer */
    FBY_ANSWER_NONE,        /* no answer before the deadline */
    FBY_ANSWER_REFUSED,     /* `text` is the reason */
    FBY_ANSWER_KEY_REFUSED, /* the same, where keys are used */
    FBY_ANSWER_GIVEN
};

struct fby_answer_facts {
    const char *name;       /* the address; for a worker "HOST (ADDRESS)" */
    int         error;      /* errno of connecting; 0: connected */
    int64_t     connect_ns; /* time to connect; set if connected */
    enum fby_doctor_answer answer;
    const char            *text;          /* the reason of a refusal */
    int64_t                round_trip_ns; /* 0: not measured */
    uint32_t               version;       /* protocol version of a worker */
    bool                   has_keys; /* the server or worker demands keys */
    bool is_elsewhere; /* of a worker: its address is on loopback, but that of
                          the server is not */
};
/* The server address cannot be resolved; `why` is the cause. */
struct fby_verdict fby_judge_unresolved(const char *why);

/* `workers` is the number of workers that the server knows; 0 fails. */
struct fby_verdict fby_judge_server(
    const struct fby_answer_facts *facts, uint64_t workers);
/* Fails without an answer; warns about a slow round trip. */
struct fby_verdict fby_judge_worker(const struct fby_answer_facts *facts);

/* `exposed` of the `n` addresses are not loopback addresses, so other machines
 * may reach them; `first` is the first of these. Warns if there are any, and the
 * cluster has no keys. */
struct fby_verdict fby_judge_exposure(
    bool has_keys, uint32_t exposed, uint32_t n, const char *first);

struct fby_stream_facts {
    double      seconds;    /* from the first batch to the last */
    double      first_s;    /* seconds from the start to the first batch */
    uint64_t    batches;    /* received in all */
    uint64_t    samples;    /* received after the first batch */
    const char *noun;       /* for a sample: "image" */
    uint64_t    wire_bytes; /* received after the first batch */
    uint64_t    raw_bytes;  /* received after the first batch, unpacked */
    uint32_t    known;      /* workers that the client knows */
    uint32_t    in_use;     /* workers that the client uses */
    uint32_t    left_aside; /* workers with other data or another build */
    uint64_t    lost;       /* batches requested again, and bad checksums */
    const char *error;      /* message; NULL: no error */
    bool        timed_out;  /* the error is a timeout */
};
/* Fails on an error; warns about lost batches and workers left aside. */
struct fby_verdict fby_judge_stream(const struct fby_stream_facts *facts);

#endif
