/* The counters in a worker's heartbeats: totals since its start. */
#include "common/fault.h"
#include "worker/loop/loop.h"

static void count(
    struct fby_loop_counters *counters, const char *name, uint64_t value)
{
    counters->list[counters->n++] = (struct fby_counter){name, value};
}

#define COUNT_STAGE(counters, name, stage)                           \
    do {                                                             \
        count(counters, name ".tasks", (stage).tasks);               \
        count(counters, name ".failures", (stage).failures);         \
        count(counters, name ".threads", (stage).threads);           \
        count(counters, name ".busy_ns", (uint64_t)(stage).busy_ns); \
        count(counters, name ".cpu_ns", (uint64_t)(stage).cpu_ns);   \
        count(counters, name ".wait_input_ns",                       \
            (uint64_t)(stage).queue.wait_input_ns);                  \
        count(counters, name ".wait_output_ns",                      \
            (uint64_t)(stage).queue.wait_output_ns);                 \
        count(counters, name ".queued", (stage).queue.occupancy);    \
    } while (0)

static void count_loop(
    struct fby_loop_counters *counters, const struct fby_loop *self)
{
    const struct fby_loop_counts *counts = &self->counts;
    count(counters, "batches", counts->batches);
    count(counters, "wire_bytes", counts->wire_bytes);
    count(counters, "raw_bytes", counts->raw_bytes);
    count(counters, "chunks", counts->chunks);
    count(counters, "requests", counts->requests);
    count(counters, "joined", counts->joined);
    count(counters, "busy", counts->busy);
    count(counters, "lost", counts->lost);
    count(counters, "cannot", counts->cannot);
    count(counters, "malformed", counts->malformed);
    count(counters, "out_of_place", counts->out_of_place);
    count(counters, "unknown_peers", counts->unknown_peers);
    count(counters, "refused_clients", counts->refused_clients);
    count(counters, "routes_lost", counts->routes_lost);
    count(counters, "copied_chunks", counts->copied_chunks);
    count(counters, "faults", fby_fault_count());
}

void fby_loop_counters_read(
    const struct fby_loop *self, struct fby_loop_counters *counters)
{
    struct fby_stages_counts stages = fby_stages_counts(self->stages);
    struct fby_memory_counts memory = fby_memory_counts(self->memory);
    counters->n                     = 0;
    count_loop(counters, self);
    COUNT_STAGE(counters, "fetch", stages.fetch);
    COUNT_STAGE(counters, "transform", stages.transform);
    COUNT_STAGE(counters, "encode", stages.encode);
    count(counters, "backlog_rows", stages.backlog_rows);
    count(counters, "fetched_bytes", stages.fetched_bytes);
    count(counters, "substituted", stages.substituted);
    count(counters, "scratch_waits", stages.scratch_waits);
    count(counters, "memory.used", memory.used);
    count(counters, "memory.limit", memory.limit);
}
