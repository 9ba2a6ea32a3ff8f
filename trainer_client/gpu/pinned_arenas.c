/* SPDX-License-Identifier: Apache-2.0 */
/* pinned_arenas.c - allocate arenas (host memory for copies to a GPU), and pin
 * them in several threads. */
#include "trainer_client/gpu/pinned_arenas.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "common/cpus.h"
#include "common/mem.h"
#include "common/pages.h"
#include "common/signal_mask.h"

enum { MAX_THREADS = 4 };

enum pin_state { NOT_PINNED, PINNED, FAILED };

struct fby_pinned {
    struct fby_pin_config   config;
    uint8_t               **memory; /* by arena */
    pthread_t               threads[MAX_THREADS];
    uint32_t                n_threads;
    atomic_uint             next_arena; /* the next one to pin */
    pthread_mutex_t         lock;       /* guards the next three members */
    enum pin_state         *state;      /* by arena */
    struct fby_error_detail why;        /* the last failure to pin an arena */
    pthread_cond_t          changed;
    cpu_set_t near_gpu; /* if has_near_gpu: CPUs of the GPU's NUMA node */
    bool      has_near_gpu;
};

/* Find the CPUs of the GPU's NUMA node. Returns false if the node is unknown or
 * its CPUs are not to be preferred. */
static bool find_cpus_near_gpu(
    const struct fby_pin_config *config, cpu_set_t *out)
{
    char                  directory[64];
    struct fby_cuda_about about = {.pci = ""};
    struct fby_node       node;
    cpu_set_t             allowed;
    if (config->cuda->describe(config->device, &about) != 0 ||
        fby_cpus_read_allowed(&allowed) != FBY_OK) {
        return false;
    }
    snprintf(
        directory, sizeof(directory), "/sys/bus/pci/devices/%s", about.pci);
    int number = fby_node_of_device(directory, "numa_node");
    if (!fby_node_find_preferred_cpus("" /* root */, number, &allowed, &node)) {
        return false;
    }
    *out = node.cpus;
    return true;
}

/* Pin an arena. Another thread may be capturing a CUDA graph. */
static fby_err pin_arena(const struct fby_pin_config *config, uint8_t *memory,
    struct fby_error_detail *why)
{
    const struct fby_cuda *cuda = config->cuda;
    int                    mode = cuda->thread_local_mode;
    fby_err err = fby_cuda_check(cuda, cuda->use_device(config->device), why);
    (void)cuda->exchange_capture_mode(&mode); /* `mode` is now the old mode */
    if (err == FBY_OK) {
        err = fby_cuda_check(cuda, cuda->pin(memory, config->bytes), why);
    }
    (void)cuda->exchange_capture_mode(&mode);
    return err;
}

/* Map an arena. A forked child does not get it: CUDA's copies read the pages that
 * were pinned, and after a fork a write would move them. */
static uint8_t *map_arena(uint64_t bytes)
{
    uint8_t *memory = fby_pages_map(bytes);
    if (memory != NULL) {
        (void)madvise(memory, bytes, MADV_DONTFORK);
    }
    return memory;
}

static void *thread_main(void *opaque)
{
    struct fby_pinned *self = opaque;
    if (self->has_near_gpu) {
        (void)pthread_setaffinity_np(/* a failure only costs speed */
            pthread_self(), sizeof(self->near_gpu), &self->near_gpu);
    }
    uint32_t i = atomic_fetch_add(&self->next_arena, 1);
    for (; i < self->config.n; i = atomic_fetch_add(&self->next_arena, 1)) {
        struct fby_error_detail why = {""};
        fby_err err = pin_arena(&self->config, self->memory[i], &why);
        pthread_mutex_lock(&self->lock);
        self->state[i] = err == FBY_OK ? PINNED : FAILED;
        if (err != FBY_OK) {
            self->why = why;
        }
        pthread_cond_broadcast(&self->changed);
        pthread_mutex_unlock(&self->lock);
    }
    return NULL;
}

/* Start the threads with all signals blocked, so that only threads of the
 * application handle signals. Succeeds if at least one thread was started. */
static fby_err start_threads(struct fby_pinned *self)
{
    sigset_t before = fby_block_signals();
    while (self->n_threads < MAX_THREADS &&
           pthread_create(
               &self->threads[self->n_threads], NULL, thread_main, self) == 0) {
        self->n_threads++;
    }
    fby_restore_signals(before);
    return self->n_threads > 0 ? FBY_OK : FBY_SYS;
}

fby_err fby_pinned_create(const struct fby_pin_config *config,
    struct fby_pinned **out, struct fby_error_detail *why)
{
    struct fby_pinned *self = fby_zalloc(sizeof(*self));
    self->config            = *config;
    self->memory            = fby_zalloc(config->n * sizeof(*self->memory));
    self->state             = fby_zalloc(config->n * sizeof(*self->state));
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    self->has_near_gpu = find_cpus_near_gpu(config, &self->near_gpu);
    fby_err err        = FBY_OK;
    for (uint32_t i = 0; i < config->n; i++) {
        self->memory[i] = map_arena(config->bytes);
        err             = self->memory[i] != NULL ? err : FBY_SYS;
    }
    if (err != FBY_OK) {
        (void)fby_error_set(why, err, "no memory for %u slots of %llu bytes",
            config->n, (unsigned long long)config->bytes);
    } else if (start_threads(self) != FBY_OK) {
        err = fby_error_set(why, FBY_SYS,
            "cannot start a thread to pin memory; ulimit -u limits threads");
    }
    if (err != FBY_OK) {
        fby_pinned_destroy(&self);
        return err;
    }
    *out = self;
    return FBY_OK;
}

void fby_pinned_destroy(struct fby_pinned **self_p)
{
    struct fby_pinned *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    atomic_store(&self->next_arena, self->config.n); /* stop pinning */
    for (uint32_t i = 0; i < self->n_threads; i++) {
        pthread_join(self->threads[i], NULL);
    }
    for (uint32_t i = 0; i < self->config.n; i++) {
        if (self->state[i] == PINNED && self->memory[i] != NULL) {
            (void)self->config.cuda->unpin(self->memory[i]);
        }
        fby_pages_unmap(self->memory[i], self->config.bytes);
    }
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self->memory);
    free(self->state);
    free(self);
}

uint8_t *fby_pinned_memory(const struct fby_pinned *self, uint32_t i)
{
    return self->memory[i];
}

fby_err fby_pinned_wait(
    struct fby_pinned *self, uint32_t i, struct fby_error_detail *why)
{
    pthread_mutex_lock(&self->lock);
    while (self->state[i] == NOT_PINNED) {
        pthread_cond_wait(&self->changed, &self->lock);
    }
    fby_err err = FBY_OK;
    if (self->state[i] == FAILED) {
        err = fby_error_set(why, FBY_SYS,
            "CUDA: %.300s, for a slot of %llu bytes; ulimit -l says how much "
            "may be locked",
            self->why.text, (unsigned long long)self->config.bytes);
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}
