/* SPDX-License-Identifier: Apache-2.0 */
/* Read the counters of a worker for its heartbeats and pages: current values (threads, queued
 * tasks, backlog, memory), and totals since the start of the worker. */
#include "common/fault.h"
#include "worker/loop/loop.h"

static void set(
    struct fby_counter_values *values, enum fby_counter_id id, uint64_t value)
{
    values->known |= UINT64_C(1) << id;
    values->at[id] = value;
}

#define SET_STAGE(values, STAGE, stage)                                        \
    do {                                                                       \
        set(values, FBY_COUNTER_##STAGE##_TASKS, (stage).tasks);               \
        set(values, FBY_COUNTER_##STAGE##_FAILURES, (stage).failures);         \
        set(values, FBY_COUNTER_##STAGE##_THREADS, (stage).threads);           \
        set(values, FBY_COUNTER_##STAGE##_BUSY_NS, (uint64_t)(stage).busy_ns); \
        set(values, FBY_COUNTER_##STAGE##_CPU_NS, (uint64_t)(stage).cpu_ns);   \
        set(values, FBY_COUNTER_##STAGE##_WAIT_INPUT_NS,                       \
            (uint64_t)(stage).queue.wait_input_ns);                            \
        set(values, FBY_COUNTER_##STAGE##_WAIT_OUTPUT_NS,                      \
            (uint64_t)(stage).queue.wait_output_ns);                           \
        set(values, FBY_COUNTER_##STAGE##_QUEUED, (stage).queue.occupancy);    \
    } while (0)

static void set_loop_counts(
    struct fby_counter_values *values, const struct fby_loop *self)
{
    const struct fby_loop_counts *counts = &self->counts;
    set(values, FBY_COUNTER_BATCHES, counts->batches);
    set(values, FBY_COUNTER_WIRE_BYTES, counts->wire_bytes);
    set(values, FBY_COUNTER_RAW_BYTES, counts->raw_bytes);
    set(values, FBY_COUNTER_CHUNKS, counts->chunks);
    set(values, FBY_COUNTER_REQUESTS, counts->requests);
    set(values, FBY_COUNTER_JOINED, counts->joined);
    set(values, FBY_COUNTER_BUSY, counts->busy);
    set(values, FBY_COUNTER_LOST, counts->lost);
    set(values, FBY_COUNTER_CANNOT, counts->cannot);
    set(values, FBY_COUNTER_MALFORMED, counts->malformed);
    set(values, FBY_COUNTER_OUT_OF_PLACE, counts->out_of_place);
    set(values, FBY_COUNTER_UNKNOWN_PEERS, counts->unknown_peers);
    set(values, FBY_COUNTER_REFUSED_CLIENTS, counts->refused_clients);
    set(values, FBY_COUNTER_ROUTES_LOST, counts->routes_lost);
    set(values, FBY_COUNTER_COPIED_CHUNKS, counts->copied_chunks);
    set(values, FBY_COUNTER_FAULTS, fby_fault_count());
}

void fby_loop_counters_read(
    const struct fby_loop *self, struct fby_counter_values *values)
{
    struct fby_stages_counts stages = fby_stages_counts(self->stages);
    struct fby_memory_counts memory = fby_memory_counts(self->memory);
    set_loop_counts(values, self);
    SET_STAGE(values, FETCH, stages.fetch);
    SET_STAGE(values, TRANSFORM, stages.transform);
    SET_STAGE(values, ENCODE, stages.encode);
    set(values, FBY_COUNTER_BACKLOG_ROWS, stages.backlog_rows);
    set(values, FBY_COUNTER_FETCHED_BYTES, stages.fetched_bytes);
    set(values, FBY_COUNTER_SUBSTITUTED, stages.substituted);
    set(values, FBY_COUNTER_SCRATCH_WAITS, stages.scratch_waits);
    set(values, FBY_COUNTER_MEMORY_USED, memory.used);
    set(values, FBY_COUNTER_MEMORY_LIMIT, memory.limit);
}
