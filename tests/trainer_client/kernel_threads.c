/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_threads.c - some launches of a test with a thread for each thread of a
 * block, and two blocks at a time, so that ThreadSanitizer sees what a missing
 * barrier, or a block that touches what is another's, would do on a GPU: the
 * first small launches of each kind of segment. Other launches are those of
 * kernel_run.c: this file replaces run_kernel() by --wrap. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/trainer_client/kernel_run.h"

enum { BLOCKS = 2 /* at a time */, MOST_BLOCKS = 10, LAUNCHES = 3 };
enum { WARP_THREADS = 32, WARPS = FBY_BLOCK_THREADS / WARP_THREADS };

static _Thread_local uint32_t           own_thread;
static _Thread_local pthread_barrier_t *own_barrier, *own_warp_barrier;
/* NOLINTBEGIN(bugprone-macro-parentheses): the argument is declared */
#define FBY_EACH_THREAD(t) \
    for (uint32_t t##_i = 0, t = own_thread; t##_i == 0; t##_i++)
/* NOLINTEND(bugprone-macro-parentheses) */
#define FBY_BARRIER()      (void)pthread_barrier_wait(own_barrier)
#define FBY_WARP_BARRIER() (void)pthread_barrier_wait(own_warp_barrier)
#include "trainer_client/expand/block.h"
#include "trainer_client/gpu/pass_grid.h"

struct team { /* the threads of a block */
    pthread_barrier_t       barrier;
    pthread_barrier_t       warp_barriers[WARPS];
    struct fby_block_memory memory;
    struct fby_block_shared shared;
    enum fby_pass           pass;
    uint32_t                number; /* of the block */
    pthread_t               threads[FBY_BLOCK_THREADS];
};

struct member {
    struct team *team;
    uint32_t     thread;
};

static void *run_thread(void *opaque)
{
    struct member *self = opaque;
    struct team   *team = self->team;
    own_thread          = self->thread;
    own_barrier         = &team->barrier;
    own_warp_barrier    = &team->warp_barriers[own_thread / WARP_THREADS];
    free(self);
    if (team->pass == FBY_PASS_EXPAND) {
        fby_block_run_expand(&team->memory, team->number);
    } else if (team->pass == FBY_PASS_GREYS) {
        fby_block_run_greys(&team->memory, team->number);
    } else {
        fby_block_run_ops(&team->memory, team->number);
    }
    return NULL;
}

static struct team *start_block(const struct kernel_run *run,
    enum fby_pass pass, uint32_t shared, uint32_t number)
{
    struct team *team = malloc(sizeof(*team));
    memset(team, 0xa5, sizeof(*team)); /* as other blocks leave it */
    team->pass   = pass;
    team->number = number;
    team->memory = (struct fby_block_memory){.arena = run->arena,
        .out                                        = run->out,
        .list                                       = run->list,
        .shared                                     = &team->shared,
        .scratch =
            malloc(pass == FBY_PASS_EXPAND ? shared : sizeof(struct fby_pair))};
    (void)pthread_barrier_init(&team->barrier, NULL, FBY_BLOCK_THREADS);
    for (uint32_t w = 0; w < WARPS; w++) {
        (void)pthread_barrier_init(&team->warp_barriers[w], NULL, WARP_THREADS);
    }
    for (uint32_t t = 0; t < FBY_BLOCK_THREADS; t++) {
        struct member *member = malloc(sizeof(*member));
        *member               = (struct member){team, t};
        if (pthread_create(&team->threads[t], NULL, run_thread, member) != 0) {
            abort();
        }
    }
    return team;
}

static void end_block(struct team *team)
{
    for (uint32_t t = 0; t < FBY_BLOCK_THREADS; t++) {
        (void)pthread_join(team->threads[t], NULL);
    }
    (void)pthread_barrier_destroy(&team->barrier);
    for (uint32_t w = 0; w < WARPS; w++) {
        (void)pthread_barrier_destroy(&team->warp_barriers[w]);
    }
    free(team->memory.scratch);
    free(team);
}

static void run_pass(const struct kernel_run *run,
    const struct fby_cuda_launch *launch, enum fby_pass pass)
{
    struct fby_pass_grid grid = fby_pass_grid(launch, pass);
    for (uint32_t i = 0; i < grid.blocks; i += BLOCKS) {
        struct team *teams[BLOCKS] = {NULL};
        uint32_t     at_once       = fby_min(BLOCKS, grid.blocks - i);
        for (uint32_t k = 0; k < at_once; k++) {
            teams[k] = start_block(run, pass, grid.shared, grid.first + i + k);
        }
        for (uint32_t k = 0; k < at_once; k++) {
            end_block(teams[k]);
        }
    }
}

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */
void     __real_run_kernel(const struct kernel_run *run);
void     __wrap_run_kernel(const struct kernel_run *run);
uint32_t __wrap_kernel_run_kinds(void);

static uint32_t launches[FBY_SEGMENT_KINDS]; /* that have run with threads */

/* True if a kind of segment in the list has not yet run LAUNCHES times with
 * threads. Then this launch is counted for all its kinds. */
static bool is_for_threads(const struct kernel_run *run)
{
    uint32_t kinds = run->kinds;
    bool     due   = false;
    for (uint32_t kind = 0; kind < FBY_SEGMENT_KINDS; kind++) {
        due = due || ((kinds >> kind & 1) != 0 && launches[kind] < LAUNCHES);
    }
    for (uint32_t kind = 0; kind < FBY_SEGMENT_KINDS; kind++) {
        launches[kind] += due ? kinds >> kind & 1 : 0;
    }
    return due;
}

void __wrap_run_kernel(const struct kernel_run *run)
{
    struct fby_cuda_launch launch = kernel_run_launch(run);
    uint32_t blocks = launch.blocks[0] + launch.blocks[1] + launch.blocks[2];
    if (blocks > MOST_BLOCKS || !is_for_threads(run)) {
        __real_run_kernel(run);
        return;
    }
    for (int pass = 0; pass < FBY_PASSES; pass++) {
        run_pass(run, &launch, (enum fby_pass)pass);
    }
}

uint32_t __wrap_kernel_run_kinds(void)
{
    uint32_t kinds = 0;
    for (uint32_t kind = 0; kind < FBY_SEGMENT_KINDS; kind++) {
        kinds |= launches[kind] > 0 ? UINT32_C(1) << kind : 0;
    }
    return kinds;
}
/* NOLINTEND(readability-identifier-naming) */
