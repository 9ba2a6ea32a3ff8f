/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_run.c - the blocks of a pass, and in each step the threads of a block,
 * in an order that a seed decides. A GPU promises no order, so the bytes must
 * not depend on it. The seed is FOREBAY_SEED, or a random one; it is printed. */
#include "tests/trainer_client/kernel_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* A thread of a step is (first + i * stride) % FBY_BLOCK_THREADS. With an odd
 * stride all threads come. */
static uint32_t begin_step(void);
static uint32_t thread_at(uint32_t i);
/* NOLINTBEGIN(bugprone-macro-parentheses): the argument is declared */
#define FBY_EACH_THREAD(t)                                \
    for (uint32_t t##_i = begin_step(), t = thread_at(0); \
         t##_i < FBY_BLOCK_THREADS; t = thread_at(++t##_i))
/* NOLINTEND(bugprone-macro-parentheses) */
#include "trainer_client/expand/block.h"
#include "trainer_client/gpu/pass_grid.h"

static uint64_t random_now; /* 0: there is no seed yet */
static uint32_t first, stride;
static uint32_t kinds_now; /* for kernel_run_kinds() */

static void seed(void)
{
    const char *text = getenv("FOREBAY_SEED");
    if (text != NULL) {
        random_now = strtoull(text, NULL, 10);
    } else if (getrandom(&random_now, sizeof(random_now), 0) < 0) {
        abort();
    }
    random_now %= 1000000;
    printf(
        "order of blocks and threads: FOREBAY_SEED=%" PRIu64 "\n", random_now);
    random_now++; /* not 0 */
}

static uint32_t draw(void)
{
    random_now = random_now * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)(random_now >> 33);
}

static uint32_t begin_step(void)
{
    first  = draw();
    stride = draw() | 1;
    return 0;
}

static uint32_t thread_at(uint32_t i)
{
    return (first + i * stride) % FBY_BLOCK_THREADS;
}

/* Memory of a block as other blocks leave it, of exactly `size` bytes. */
static void *used_memory(size_t size)
{
    void *memory = malloc(size);
    memset(memory, 0xa5, size);
    return memory;
}

/* A block with a number of another pass would do the work of another kind. */
static void expect_pass(
    const struct fby_block_memory *block, enum fby_pass pass, uint32_t number)
{
    struct fby_block_shared shared;
    struct fby_block_memory memory = *block;
    memory.shared                  = &shared; /* the block finds none loaded */
    (void)fby_block_load_segment(&memory, number);
    uint32_t      kind = shared.segment.kind;
    enum fby_pass own  = kind == FBY_SEGMENT_GREYS ? FBY_PASS_GREYS
                         : kind == FBY_SEGMENT_OPS ? FBY_PASS_OPS
                                                   : FBY_PASS_EXPAND;
    if (own != pass) {
        (void)fprintf(stderr, "block %u of pass %u has a segment of pass %u\n",
            number, (unsigned)pass, (unsigned)own);
        abort();
    }
}

static void run_block(const struct fby_cuda_launch *launch, enum fby_pass pass,
    uint32_t shared, uint32_t number)
{
    struct fby_block_memory memory = {
        .arena   = launch->arena,
        .out     = launch->out,
        .list    = launch->list,
        .shared  = used_memory(sizeof(*memory.shared)),
        .scratch = used_memory(
            pass == FBY_PASS_EXPAND ? shared : sizeof(struct fby_pair)),
    };
    expect_pass(&memory, pass, number);
    if (pass == FBY_PASS_EXPAND) {
        fby_block_run_expand(&memory, number);
    } else if (pass == FBY_PASS_GREYS) {
        fby_block_run_greys(&memory, number);
    } else {
        fby_block_run_ops(&memory, number);
    }
    free(memory.shared);
    free(memory.scratch);
}

/* Run the blocks of a pass in any order. */
static void run_pass(const struct fby_cuda_launch *launch, enum fby_pass pass)
{
    struct fby_pass_grid grid  = fby_pass_grid(launch, pass);
    uint32_t            *order = malloc((grid.blocks + 1) * sizeof(*order));
    for (uint32_t i = 0; i < grid.blocks; i++) { /* each to a random place */
        uint32_t place = draw() % (i + 1);
        order[i]       = order[place];
        order[place]   = i;
    }
    for (uint32_t i = 0; i < grid.blocks; i++) {
        run_block(launch, pass, grid.shared, grid.first + order[i]);
    }
    free(order);
}

void run_launch(const struct fby_cuda_launch *launch)
{
    if (random_now == 0) {
        seed();
    }
    for (int pass = 0; pass < FBY_PASSES; pass++) {
        run_pass(launch, (enum fby_pass)pass);
    }
}

void run_kernel(const struct kernel_run *run)
{
    struct fby_cuda_launch launch = kernel_run_launch(run);
    kinds_now |= run->kinds;
    run_launch(&launch);
}

uint32_t kernel_run_kinds(void)
{
    return kinds_now;
}
