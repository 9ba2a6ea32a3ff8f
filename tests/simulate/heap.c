/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "common/mem.h"
#include "tests/simulate/sim.h"

static bool is_earlier(const struct sim_event *a, const struct sim_event *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->order < b->order);
}

static void swap_events(struct sim_event *a, struct sim_event *b)
{
    struct sim_event kept = *a;
    *a                    = *b;
    *b                    = kept;
}

void sim_push(
    struct sim *sim, int64_t at_ns, enum sim_event_kind kind, int a, uint64_t b)
{
    struct sim_heap *heap = &sim->heap;
    if (heap->n == heap->capacity) {
        heap->capacity = heap->capacity == 0 ? 1024 : 2 * heap->capacity;
        heap->events =
            fby_realloc(heap->events, heap->capacity * sizeof(*heap->events));
    }
    uint32_t i      = heap->n++;
    heap->events[i] = (struct sim_event){
        .at_ns = at_ns > sim->now ? at_ns : sim->now,
        .order = heap->order++,
        .kind  = kind,
        .a     = a,
        .b     = b,
    };
    while (i > 0 && is_earlier(&heap->events[i], &heap->events[(i - 1) / 2])) {
        swap_events(&heap->events[i], &heap->events[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
}

static uint32_t smaller_child(const struct sim_heap *heap, uint32_t i)
{
    uint32_t left = 2 * i + 1;
    return left + 1 < heap->n &&
                   is_earlier(&heap->events[left + 1], &heap->events[left])
               ? left + 1
               : left;
}

struct sim_event sim_pop(struct sim *sim)
{
    struct sim_heap *heap  = &sim->heap;
    struct sim_event first = heap->events[0];
    heap->events[0]        = heap->events[--heap->n];
    for (uint32_t i = 0; 2 * i + 1 < heap->n;) {
        uint32_t child = smaller_child(heap, i);
        if (!is_earlier(&heap->events[child], &heap->events[i])) {
            break;
        }
        swap_events(&heap->events[child], &heap->events[i]);
        i = child;
    }
    return first;
}
