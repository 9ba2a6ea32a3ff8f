/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_threads.c - some launches of a test with a thread for each thread of a
 * block, and two blocks at a time, so that ThreadSanitizer sees what a missing
 * barrier, or a block that touches what is another's, would do on a GPU: the
 * first small launches of each kind of segment. Other launches are those of
 * kernel_run.c: this file replaces run_kernel() by --wrap.
 *
 * The threads start with the first such launch and run block after block until
 * the process ends. Under ThreadSanitizer, starting them takes longer than
 * running a block. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/trainer_client/kernel_run.h"

enum { BLOCKS = 2 /* at a time */, MOST_BLOCKS = 10, LAUNCHES = 3 };
enum { WARP_THREADS = 32, WARPS = FBY_BLOCK_THREADS / WARP_THREADS };

/* A barrier of two POSIX barriers that are used in turn. ThreadSanitizer orders a
 * thread that leaves a POSIX barrier after all threads that have arrived at it so
 * far. With only one, a thread that leaves late would be ordered after the next
 * step of the threads that have arrived at it again, and their data races would
 * not be reported. */
struct barrier {
    pthread_barrier_t turns[2];
};

struct own_barrier { /* of one thread */
    struct barrier *barrier;
    uint32_t        turn;
};

static void barrier_init(struct barrier *self, uint32_t threads)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (pthread_barrier_init(&self->turns[i], NULL, threads) != 0) {
            abort();
        }
    }
}

static void barrier_destroy(struct barrier *self)
{
    for (uint32_t i = 0; i < 2; i++) {
        (void)pthread_barrier_destroy(&self->turns[i]);
    }
}

static void barrier_wait(struct own_barrier *own)
{
    (void)pthread_barrier_wait(&own->barrier->turns[own->turn]);
    own->turn ^= 1;
}

static _Thread_local uint32_t           own_thread;
static _Thread_local struct own_barrier own_block_barrier, own_warp_barrier;
/* NOLINTBEGIN(bugprone-macro-parentheses): the argument is declared */
#define FBY_EACH_THREAD(t) \
    for (uint32_t t##_i = 0, t = own_thread; t##_i == 0; t##_i++)
/* NOLINTEND(bugprone-macro-parentheses) */
#define FBY_BARRIER()      barrier_wait(&own_block_barrier)
#define FBY_WARP_BARRIER() barrier_wait(&own_warp_barrier)
#include "trainer_client/expand/block.h"
#include "trainer_client/gpu/pass_grid.h"

struct member {
    struct team *team;
    uint32_t     thread;
    pthread_t    id;
};

/* The threads of a block. They and the main thread wait for `start_or_end` when
 * a block starts and when it ends. In between, the main thread touches none of
 * the block's fields. */
struct team {
    struct barrier          start_or_end;
    struct own_barrier      main_barrier; /* of the main thread */
    struct barrier          block_barrier;
    struct barrier          warp_barriers[WARPS];
    struct fby_block_memory memory;
    struct fby_block_shared shared;
    enum fby_pass           pass;
    uint32_t                number; /* of the block */
    bool                    ends;   /* there is no other block */
    struct member           members[FBY_BLOCK_THREADS];
};

static struct team *teams[BLOCKS]; /* NULL: not started */

static void run_block(const struct team *team)
{
    if (team->pass == FBY_PASS_EXPAND) {
        fby_block_run_expand(&team->memory, team->number);
    } else if (team->pass == FBY_PASS_GREYS) {
        fby_block_run_greys(&team->memory, team->number);
    } else {
        fby_block_run_ops(&team->memory, team->number);
    }
}

static void *run_thread(void *opaque)
{
    struct member     *self         = opaque;
    struct team       *team         = self->team;
    struct own_barrier start_or_end = {&team->start_or_end, 0};
    own_thread                      = self->thread;
    own_block_barrier = (struct own_barrier){&team->block_barrier, 0};
    own_warp_barrier  = (struct own_barrier){
         &team->warp_barriers[own_thread / WARP_THREADS], 0};
    barrier_wait(&start_or_end);
    while (!team->ends) {
        run_block(team);
        barrier_wait(&start_or_end);
        barrier_wait(&start_or_end);
    }
    return NULL;
}

static struct team *start_team(void)
{
    struct team *team = calloc(1, sizeof(*team));
    barrier_init(&team->start_or_end, FBY_BLOCK_THREADS + 1);
    team->main_barrier = (struct own_barrier){&team->start_or_end, 0};
    barrier_init(&team->block_barrier, FBY_BLOCK_THREADS);
    for (uint32_t w = 0; w < WARPS; w++) {
        barrier_init(&team->warp_barriers[w], WARP_THREADS);
    }
    for (uint32_t t = 0; t < FBY_BLOCK_THREADS; t++) {
        struct member *member = &team->members[t];
        member->team          = team;
        member->thread        = t;
        if (pthread_create(&member->id, NULL, run_thread, member) != 0) {
            abort();
        }
    }
    return team;
}

static void end_team(struct team *team)
{
    team->ends = true;
    barrier_wait(&team->main_barrier);
    for (uint32_t t = 0; t < FBY_BLOCK_THREADS; t++) {
        (void)pthread_join(team->members[t].id, NULL);
    }
    for (uint32_t w = 0; w < WARPS; w++) {
        barrier_destroy(&team->warp_barriers[w]);
    }
    barrier_destroy(&team->block_barrier);
    barrier_destroy(&team->start_or_end);
    free(team);
}

static void end_teams(void)
{
    for (uint32_t k = 0; k < BLOCKS; k++) {
        end_team(teams[k]);
    }
}

/* Start the threads, unless they run. They end with the process. */
static void start_teams(void)
{
    if (teams[0] != NULL) {
        return;
    }
    for (uint32_t k = 0; k < BLOCKS; k++) {
        teams[k] = start_team();
    }
    if (atexit(end_teams) != 0) {
        abort();
    }
}

static void start_block(struct team *team, const struct kernel_run *run,
    enum fby_pass pass, uint32_t shared, uint32_t number)
{
    /* Shared memory as other blocks leave it. */
    memset(&team->shared, 0xa5, sizeof(team->shared));
    team->pass   = pass;
    team->number = number;
    team->memory = (struct fby_block_memory){.arena = run->arena,
        .out                                        = run->out,
        .list                                       = run->list,
        .shared                                     = &team->shared,
        .scratch =
            malloc(pass == FBY_PASS_EXPAND ? shared : sizeof(struct fby_pair))};
    barrier_wait(&team->main_barrier);
}

static void end_block(struct team *team)
{
    barrier_wait(&team->main_barrier);
    free(team->memory.scratch);
}

static void run_pass(const struct kernel_run *run,
    const struct fby_cuda_launch *launch, enum fby_pass pass)
{
    struct fby_pass_grid grid = fby_pass_grid(launch, pass);
    for (uint32_t i = 0; i < grid.blocks; i += BLOCKS) {
        uint32_t at_once = fby_min(BLOCKS, grid.blocks - i);
        for (uint32_t k = 0; k < at_once; k++) {
            start_block(teams[k], run, pass, grid.shared, grid.first + i + k);
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
    start_teams();
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
