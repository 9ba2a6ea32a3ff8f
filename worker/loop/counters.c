/* SPDX-License-Identifier: Apache-2.0 */
/* List the counters for a worker's heartbeats: current values (threads, queued
 * tasks, backlog, memory), and totals since the start of the worker. */
#include "common/fault.h"
#include "worker/loop/loop.h"

static void append(
    struct fby_loop_counters *counters, const char *name, uint64_t value)
{
    counters->list[counters->n++] = (struct fby_counter){name, value};
}

#define APPEND_STAGE(counters, name, stage)                           \
    do {                                                              \
        append(counters, name ".tasks", (stage).tasks);               \
        append(counters, name ".failures", (stage).failures);         \
        append(counters, name ".threads", (stage).threads);           \
        append(counters, name ".busy_ns", (uint64_t)(stage).busy_ns); \
        append(counters, name ".cpu_ns", (uint64_t)(stage).cpu_ns);   \
        append(counters, name ".wait_input_ns",                       \
            (uint64_t)(stage).queue.wait_input_ns);                   \
        append(counters, name ".wait_output_ns",                      \
            (uint64_t)(stage).queue.wait_output_ns);                  \
        append(counters, name ".queued", (stage).queue.occupancy);    \
    } while (0)

static void append_loop_counts(
    struct fby_loop_counters *counters, const struct fby_loop *self)
{
    const struct fby_loop_counts *counts = &self->counts;
    append(counters, "batches", counts->batches);
    append(counters, "wire_bytes", counts->wire_bytes);
    append(counters, "raw_bytes", counts->raw_bytes);
    append(counters, "chunks", counts->chunks);
    append(counters, "requests", counts->requests);
    append(counters, "joined", counts->joined);
    append(counters, "busy", counts->busy);
    append(counters, "lost", counts->lost);
    append(counters, "cannot", counts->cannot);
    append(counters, "malformed", counts->malformed);
    append(counters, "out_of_place", counts->out_of_place);
    append(counters, "unknown_peers", counts->unknown_peers);
    append(counters, "refused_clients", counts->refused_clients);
    append(counters, "routes_lost", counts->routes_lost);
    append(counters, "copied_chunks", counts->copied_chunks);
    append(counters, "faults", fby_fault_count());
}

void fby_loop_counters_read(
    const struct fby_loop *self, struct fby_loop_counters *counters)
{
    struct fby_stages_counts stages = fby_stages_counts(self->stages);
    struct fby_memory_counts memory = fby_memory_counts(self->memory);
    counters->n                     = 0;
    append_loop_counts(counters, self);
    APPEND_STAGE(counters, "fetch", stages.fetch);
    APPEND_STAGE(counters, "transform", stages.transform);
    APPEND_STAGE(counters, "encode", stages.encode);
    append(counters, "backlog_rows", stages.backlog_rows);
    append(counters, "fetched_bytes", stages.fetched_bytes);
    append(counters, "substituted", stages.substituted);
    append(counters, "scratch_waits", stages.scratch_waits);
    append(counters, "memory.used", memory.used);
    append(counters, "memory.limit", memory.limit);
}
