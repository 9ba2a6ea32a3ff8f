/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h - the counters that a worker sends in HEARTBEAT, by id.
 *
 * On the wire a counter is a name and a number, so that versions may have other
 * counters. In memory the known ones are an array. */
#ifndef FBY_PROTO_COUNTERS_H
#define FBY_PROTO_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/messages.h"

#define FBY_STAGE_COUNTER_MAP(X, STAGE, stage)         \
    X(STAGE##_TASKS, stage ".tasks")                   \
    X(STAGE##_FAILURES, stage ".failures")             \
    X(STAGE##_THREADS, stage ".threads")               \
    X(STAGE##_BUSY_NS, stage ".busy_ns")               \
    X(STAGE##_CPU_NS, stage ".cpu_ns")                 \
    X(STAGE##_WAIT_INPUT_NS, stage ".wait_input_ns")   \
    X(STAGE##_WAIT_OUTPUT_NS, stage ".wait_output_ns") \
    X(STAGE##_QUEUED, stage ".queued")

/* In the order in which a worker sends them. */
#define FBY_COUNTER_MAP(X)                           \
    X(BATCHES, "batches")                            \
    X(WIRE_BYTES, "wire_bytes")                      \
    X(RAW_BYTES, "raw_bytes")                        \
    X(CHUNKS, "chunks")                              \
    X(REQUESTS, "requests")                          \
    X(JOINED, "joined")                              \
    X(BUSY, "busy")                                  \
    X(LOST, "lost")                                  \
    X(CANNOT, "cannot")                              \
    X(MALFORMED, "malformed")                        \
    X(OUT_OF_PLACE, "out_of_place")                  \
    X(UNKNOWN_PEERS, "unknown_peers")                \
    X(REFUSED_CLIENTS, "refused_clients")            \
    X(ROUTES_LOST, "routes_lost")                    \
    X(COPIED_CHUNKS, "copied_chunks")                \
    X(FAULTS, "faults")                              \
    FBY_STAGE_COUNTER_MAP(X, FETCH, "fetch")         \
    FBY_STAGE_COUNTER_MAP(X, TRANSFORM, "transform") \
    FBY_STAGE_COUNTER_MAP(X, ENCODE, "encode")       \
    X(BACKLOG_ROWS, "backlog_rows")                  \
    X(FETCHED_BYTES, "fetched_bytes")                \
    X(SUBSTITUTED, "substituted")                    \
    X(SCRATCH_WAITS, "scratch_waits")                \
    X(MEMORY_USED, "memory.used")                    \
    X(MEMORY_LIMIT, "memory.limit")

enum fby_counter_id {
#define X(NAME, name) FBY_COUNTER_##NAME,
    FBY_COUNTER_MAP(X)
#undef X
        FBY_N_COUNTERS
};

struct fby_counter_values { /* starts zeroed */
    uint64_t known;         /* bit i: at[i] was given */
    uint64_t at[FBY_N_COUNTERS];
};

/* The name of a counter on the wire. */
const char *fby_counter_name(enum fby_counter_id id);

static inline bool fby_counter_is_known(
    const struct fby_counter_values *values, uint32_t id)
{
    return (values->known >> id & 1) != 0;
}

/* List the known values in `list`, for a message. Returns their number. */
size_t fby_counter_values_list(const struct fby_counter_values *values,
    struct fby_counter list[FBY_N_COUNTERS]);

/* Replace `values` by those of a list; counters of other names are ignored. */
void fby_counter_values_read(struct fby_counter_values *values,
    const struct fby_counter *counters, size_t n);

#endif
