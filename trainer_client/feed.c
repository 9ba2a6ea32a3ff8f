#include "trainer_client/feed.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "trainer_client/cuda_error.h"
#include "trainer_client/feed_pin.h"
#include "trainer_client/segment.h"

_Static_assert(sizeof(((struct fby_cuda_launch *)0)->blocks) ==
                   sizeof(((struct fby_segment_list *)0)->blocks),
    "a launch has the passes of a list");

struct lane {
    void    *stream;
    uint8_t *memory; /* as large as an arena, and more to work in */
    void    *copied; /* fixed: event */
    void    *done;   /* fixed: event on the consumer's stream */
    bool     armed;  /* fixed: copied, not yet launched */
    bool     used;   /* fixed: `done` was recorded */
};

struct arena {
    void    *copied;      /* event */
    bool     busy;        /* it was recorded, and not yet seen to have passed */
    uint64_t epoch, step; /* of the batch in it */
};

struct out {
    struct fby_feed_out public; /* first */
    struct out  *next;          /* free */
    bool         further;
    void        *ready;    /* event on the lane's stream */
    void        *released; /* event on the consumer's stream */
    void        *leaving;  /* which of the two must pass before it is written */
    bool         lost;     /* nobody knows when its readers are done */
    struct lane *lane;     /* fixed: whose kernel is to be launched */
    struct fby_cuda_launch launch; /* likewise */
    uint64_t               epoch, step;
};

struct fby_feed {
    struct fby_feed_config config;
    const struct fby_cuda *cuda;
    struct fby_pinned     *pinned;
    struct arena          *arenas;
    struct lane            lanes[FBY_FEED_LANES];
    void                  *pool;   /* for further outs */
    void                  *memory; /* stream of what is given and taken back */
    uint8_t               *fixed;  /* the one address */
    void                  *left;   /* fixed: event, the last release */
    bool                   leaving;
    pthread_mutex_t        lock; /* guards all that changes */
    uint32_t               turn; /* the next lane */
    struct out            *free;
    bool                   stopped;
    bool                   lost; /* a release that could not be recorded: */
    struct fby_why         why;
};

/* ---- every call goes through here ---------------------------------------- */

/* The steps of a function end at the first call that fails. */
struct run {
    struct fby_feed *feed;
    bool             batch; /* it is for one, of this place: */
    uint64_t         epoch, step;
    fby_err          err;
    struct fby_why  *why;
};

static fby_err check(const struct run *run, int code)
{
    struct fby_why call;
    if (fby_cuda_check(run->feed->cuda, code, &call) == FBY_OK) {
        return FBY_OK;
    }
    if (run->batch) {
        return fby_because(run->why, FBY_SYS,
            "CUDA: %.300s, at epoch %llu step %llu", call.text,
            (unsigned long long)run->epoch, (unsigned long long)run->step);
    }
    return fby_because(run->why, FBY_SYS, "CUDA: %.300s", call.text);
}

#define CALL(run, function, ...)                                        \
    do {                                                                \
        if ((run)->err == FBY_OK) {                                     \
            (run)->err =                                                \
                check((run), (run)->feed->cuda->function(__VA_ARGS__)); \
        }                                                               \
    } while (0)

/* While somebody captures a graph, only calls of his thread are of it. */
static int enter(const struct fby_feed *self)
{
    int mode = self->cuda->thread_local_mode;
    (void)self->cuda->capture_mode(&mode);
    return mode;
}

static void leave(const struct fby_feed *self, int mode)
{
    (void)self->cuda->capture_mode(&mode);
}

/* On a thread of its own: the caller's goes on with the device it chose, and
 * sets up nothing on another. */
static void aside(struct run *run, void *(*work)(void *), void *arg)
{
    pthread_t thread;
    sigset_t  all;
    sigset_t  before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, work, arg) == 0) {
        pthread_join(thread, NULL);
    } else {
        run->err = fby_because(run->why, FBY_SYS, "no thread could be started");
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- which device -------------------------------------------------------- */

static fby_err no_driver(
    const struct fby_cuda *cuda, int code, struct fby_why *why)
{
    int driver  = 0;
    int runtime = 0;
    (void)cuda->driver_version(&driver);
    (void)cuda->runtime_version(&runtime);
    if (driver == 0) {
        return fby_because(why, FBY_USAGE,
            "device cuda: this machine has no NVIDIA driver; use host");
    }
    if (driver / 1000 < runtime / 1000) {
        return fby_because(why, FBY_USAGE,
            "device cuda: the driver is for CUDA %d.%d, this build needs one "
            "for %d.0 or newer: update the driver, or use host",
            driver / 1000, driver % 1000 / 10, runtime / 1000);
    }
    return fby_because(why, FBY_USAGE,
        "device cuda: the driver says %s; use host", cuda->name(code));
}

fby_err fby_feed_device(const struct fby_cuda *cuda, const char *name, int *out,
    struct fby_why *why)
{
    int   n      = 0;
    char *end    = NULL;
    long  number = 0;
    if (strncmp(name, "cuda:", 5) == 0) {
        number = strtol(name + 5, &end, 10);
    }
    if (strcmp(name, "cuda") != 0 &&
        (end == NULL || end == name + 5 || *end != '\0' || number < 0 ||
            name[5] < '0' || name[5] > '9')) {
        return fby_because(why, FBY_USAGE,
            "no device %.40s; there are: host, cuda, cuda:N, auto", name);
    }
    if (cuda == NULL) {
        return fby_because(why, FBY_USAGE,
            "device %.40s: this library was built without CUDA; use host",
            name);
    }
    int code = cuda->count(&n);
    if (code != 0) {
        return no_driver(cuda, code, why);
    }
    if (number >= n) {
        return fby_because(why, FBY_USAGE,
            "device %.40s: this machine has %d GPU%s", name, n,
            n == 1 ? "" : "s");
    }
    *out = (int)number;
    return FBY_OK;
}

/* ---- create -------------------------------------------------------------- */

static void make_lane(struct run *run, struct lane *lane)
{
    void *memory = NULL;
    CALL(run, stream_create, &lane->stream);
    CALL(run, allocate, &memory,
        run->feed->config.arena_bytes + run->feed->config.work_bytes);
    lane->memory = memory;
    if (run->feed->config.fixed) {
        CALL(run, event_create, &lane->copied);
        CALL(run, event_create, &lane->done);
    }
}

static void *their_memory(struct run *run)
{
    const struct fby_feed_config *config = &run->feed->config;
    void *memory = config->memory.allocate(config->memory.arg,
        config->out_bytes, config->device, run->feed->memory);
    if (memory == NULL) {
        run->err = fby_because(run->why, FBY_SYS,
            "the allocator has no %llu bytes for a batch's tensors",
            (unsigned long long)config->out_bytes);
    }
    return memory;
}

/* Of the caller's, or ours; then the device has waited for it. */
static void *usual_memory(struct run *run)
{
    const struct fby_feed_config *config = &run->feed->config;
    void                         *memory = NULL;
    if (config->memory.allocate == NULL) {
        CALL(run, allocate, &memory, config->out_bytes);
        return memory;
    }
    memory = run->err == FBY_OK ? their_memory(run) : NULL;
    CALL(run, stream_sync, run->feed->memory);
    return memory;
}

/* After all that was ever done with it. */
static void free_memory(struct fby_feed *self, void *memory)
{
    const struct fby_feed_memory *theirs = &self->config.memory;
    if (memory == NULL) {
        return;
    }
    if (theirs->allocate != NULL) {
        theirs->free(theirs->arg, memory, self->memory);
    } else {
        (void)self->cuda->free(memory);
    }
}

static void destroy_out(struct fby_feed *self, struct out *out)
{
    if (out->ready != NULL) {
        (void)self->cuda->event_destroy(out->ready);
    }
    if (out->released != NULL) {
        (void)self->cuda->event_destroy(out->released);
    }
    free(out);
}

static struct out *make_out(struct run *run)
{
    struct out *out = fby_zalloc(sizeof(*out));
    CALL(run, event_create, &out->ready);
    CALL(run, event_create, &out->released);
    return out;
}

static void make_outs(struct run *run)
{
    struct fby_feed *self = run->feed;
    if (self->config.fixed) {
        self->fixed = usual_memory(run);
        CALL(run, event_create, &self->left);
    }
    for (uint32_t i = 0; i < self->config.n_outs && run->err == FBY_OK; i++) {
        struct out *out = make_out(run);
        out->public.memory =
            self->config.fixed ? self->fixed : usual_memory(run);
        out->next  = self->free;
        self->free = out;
    }
}

/* Some devices, virtual ones above all, have none: what is needed beyond the
 * usual memory is then allocated, and freeing it waits for the device. */
static void make_pool(struct run *run)
{
    struct fby_feed *self = run->feed;
    if (run->err != FBY_OK || self->config.memory.allocate != NULL ||
        self->config.fixed) {
        return;
    }
    int code = self->cuda->pool_create(self->config.device, &self->pool);
    struct fby_why why;
    if (fby_cuda_check(self->cuda, code, &why) != FBY_OK) {
        self->pool = NULL;
        fby_info("NO-DEVICE-POOL", "device cuda:%d has no memory pools: %s",
            self->config.device, why.text);
    }
}

static void make_all(struct run *run)
{
    struct fby_feed *self = run->feed;
    CALL(run, use, self->config.device);
    CALL(run, prepare);
    for (uint32_t i = 0; i < FBY_FEED_LANES; i++) {
        make_lane(run, &self->lanes[i]);
    }
    for (uint32_t i = 0; i < self->config.n_arenas; i++) {
        CALL(run, event_create, &self->arenas[i].copied);
    }
    CALL(run, stream_create, &self->memory);
    make_pool(run);
    make_outs(run);
}

static void *make_main(void *opaque)
{
    struct run *run  = opaque;
    int         mode = enter(run->feed);
    make_all(run);
    leave(run->feed, mode);
    return NULL;
}

fby_err fby_feed_create(const struct fby_feed_config *config,
    struct fby_feed **out, struct fby_why *why)
{
    struct fby_feed *self = fby_zalloc(sizeof(*self));
    struct run       run  = {.feed = self, .why = why};
    self->config          = *config;
    self->cuda            = config->cuda;
    self->arenas = fby_zalloc(config->n_arenas * sizeof(*self->arenas));
    pthread_mutex_init(&self->lock, NULL);
    aside(&run, make_main, &run);
    if (run.err == FBY_OK) {
        const struct fby_pin_config pin = {
            .cuda   = config->cuda,
            .device = config->device,
            .n      = config->n_arenas,
            .bytes  = config->arena_bytes,
        };
        run.err = fby_pinned_create(&pin, &self->pinned, why);
    }
    if (run.err != FBY_OK) {
        fby_feed_destroy(&self);
        return run.err;
    }
    *out = self;
    return FBY_OK;
}

void fby_feed_stop(struct fby_feed *self)
{
    if (self->stopped) {
        return;
    }
    self->stopped = true;
    int mode      = enter(self);
    for (uint32_t i = 0; i < FBY_FEED_LANES; i++) {
        if (self->lanes[i].stream != NULL) {
            (void)self->cuda->stream_sync(self->lanes[i].stream);
        }
    }
    fby_pinned_destroy(&self->pinned);
    leave(self, mode);
}

static void destroy_lanes(struct fby_feed *self)
{
    for (uint32_t i = 0; i < FBY_FEED_LANES; i++) {
        struct lane *lane   = &self->lanes[i];
        void        *both[] = {lane->copied, lane->done};
        for (size_t k = 0; k < 2; k++) {
            if (both[k] != NULL) {
                (void)self->cuda->event_destroy(both[k]);
            }
        }
        if (lane->memory != NULL) {
            (void)self->cuda->free(lane->memory);
        }
        if (lane->stream != NULL) {
            (void)self->cuda->stream_destroy(lane->stream);
        }
    }
}

/* What is given back is so after the work that makes it and that reads it. */
static void await_out(struct fby_feed *self, const struct out *out)
{
    (void)self->cuda->stream_wait(self->memory, out->ready);
    (void)self->cuda->stream_wait(self->memory, out->released);
}

/* What of it may be given back to others: none where it is lost. Our own goes
 * back with a call that waits for the device. */
static void *memory_of(const struct fby_feed *self, const struct out *out)
{
    bool ours = self->config.memory.allocate == NULL && !out->further;
    return self->fixed == NULL && (ours || !out->lost) ? out->public.memory
                                                       : NULL;
}

static void destroy_outs(struct fby_feed *self)
{
    while (self->free != NULL) {
        struct out *out = self->free;
        self->free      = out->next;
        if (out->public.memory != NULL) {
            await_out(self, out);
        }
        free_memory(self, memory_of(self, out));
        destroy_out(self, out);
    }
    bool theirs = self->config.memory.allocate != NULL;
    free_memory(self, theirs && self->lost ? NULL : self->fixed);
    if (self->left != NULL) {
        (void)self->cuda->event_destroy(self->left);
    }
}

void fby_feed_destroy(struct fby_feed **self_p)
{
    struct fby_feed *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    fby_feed_stop(self);
    int mode = enter(self);
    destroy_outs(self);
    destroy_lanes(self);
    for (uint32_t i = 0; i < self->config.n_arenas; i++) {
        if (self->arenas[i].copied != NULL) {
            (void)self->cuda->event_destroy(self->arenas[i].copied);
        }
    }
    if (self->memory != NULL) {
        (void)self->cuda->stream_sync(self->memory);
        (void)self->cuda->stream_destroy(self->memory);
    }
    if (self->pool != NULL) {
        (void)self->cuda->pool_destroy(self->pool);
    }
    leave(self, mode);
    pthread_mutex_destroy(&self->lock);
    free(self->arenas);
    free(self);
}

bool fby_feed_is_fixed(const struct fby_feed *self)
{
    return self->config.fixed;
}

uint8_t *fby_feed_arena(const struct fby_feed *self, uint32_t arena)
{
    return fby_pinned_memory(self->pinned, arena);
}

/* ---- submit -------------------------------------------------------------- */

/* With `fixed` one is armed for each batch that lies on the desk. */
static struct lane *next_lane(struct run *run)
{
    struct fby_feed *self = run->feed;
    for (uint32_t i = 0; i < FBY_FEED_LANES; i++) {
        struct lane *lane = &self->lanes[self->turn++ % FBY_FEED_LANES];
        if (!lane->armed) {
            return lane;
        }
    }
    run->err = fby_because(
        run->why, FBY_SYS, "%d batches wait for their kernels", FBY_FEED_LANES);
    return NULL;
}

static void copy_arena(
    struct run *run, const struct fby_feed_batch *batch, struct lane *lane)
{
    const uint8_t *from  = fby_feed_arena(run->feed, batch->arena);
    struct arena  *arena = &run->feed->arenas[batch->arena];
    if (lane->used) {
        CALL(run, stream_wait, lane->stream, lane->done);
    }
    run->feed->cuda->stage("forebay copy");
    for (uint64_t at = 0; at < batch->bytes; at += FBY_FEED_PIECE) {
        uint64_t left = batch->bytes - at;
        CALL(run, copy, lane->memory + at, from + at,
            left < FBY_FEED_PIECE ? left : FBY_FEED_PIECE, lane->stream);
    }
    run->feed->cuda->stage_end();
    CALL(run, event_record, arena->copied, lane->stream);
    arena->busy  = true;
    arena->epoch = batch->epoch;
    arena->step  = batch->step;
}

/* The lane waits for the consumer, where it has to, or for the kernel of a
 * batch that nobody took. */
static void wait_released(struct run *run, struct out *out, struct lane *lane)
{
    if (out->leaving == NULL || run->err != FBY_OK) {
        return;
    }
    int code = run->feed->cuda->event_query(out->leaving);
    if (code == run->feed->cuda->not_ready) {
        CALL(run, stream_wait, lane->stream, out->leaving);
    } else {
        run->err = check(run, code);
    }
    out->leaving = NULL;
}

static struct fby_cuda_launch launch_of(const struct fby_feed *self,
    const struct fby_feed_batch *batch, const struct lane *lane)
{
    struct fby_segment_list list;
    memcpy(
        &list, fby_feed_arena(self, batch->arena) + batch->list, sizeof(list));
    struct fby_cuda_launch launch = {
        .arena  = lane->memory,
        .list   = batch->list,
        .out    = batch->out->memory,
        .shared = list.shared,
        .stream = lane->stream,
    };
    memcpy(launch.blocks, list.blocks, sizeof(launch.blocks));
    return launch;
}

static void launch(struct run *run, const struct fby_cuda_launch *what)
{
    run->feed->cuda->stage("forebay launch");
    if (what->blocks[FBY_PASS_EXPAND] > 0) {
        CALL(run, launch, what);
    }
    run->feed->cuda->stage_end();
}

static void submit(struct run *run, const struct fby_feed_batch *batch)
{
    struct fby_feed *self = run->feed;
    struct out      *out  = (struct out *)(void *)batch->out;
    struct lane     *lane = NULL;
    if (self->lost) {
        run->err = fby_because(run->why, FBY_SYS, "%s", self->why.text);
        return;
    }
    lane = next_lane(run);
    if (lane == NULL) {
        return;
    }
    CALL(run, use, self->config.device);
    copy_arena(run, batch, lane);
    out->launch = launch_of(self, batch, lane);
    out->epoch  = batch->epoch;
    out->step   = batch->step;
    if (self->config.fixed) {
        CALL(run, event_record, lane->copied, lane->stream);
        lane->armed = run->err == FBY_OK;
        out->lane   = lane->armed ? lane : NULL;
        return;
    }
    wait_released(run, out, lane);
    launch(run, &out->launch);
    CALL(run, event_record, out->ready, lane->stream);
    out->leaving = out->ready;
}

static struct run run_of(
    struct fby_feed *self, uint64_t epoch, uint64_t step, struct fby_why *why)
{
    return (struct run){
        .feed  = self,
        .batch = true,
        .epoch = epoch,
        .step  = step,
        .why   = why,
    };
}

fby_err fby_feed_submit(struct fby_feed *self,
    const struct fby_feed_batch *batch, struct fby_why *why)
{
    struct run run = run_of(self, batch->epoch, batch->step, why);
    self->cuda->stage("forebay pin");
    run.err = fby_pinned_wait(self->pinned, batch->arena, why);
    self->cuda->stage_end();
    int mode = enter(self);
    pthread_mutex_lock(&self->lock);
    if (run.err == FBY_OK) {
        submit(&run, batch);
    }
    pthread_mutex_unlock(&self->lock);
    leave(self, mode);
    return run.err;
}

fby_err fby_feed_copied(
    struct fby_feed *self, uint32_t arena, struct fby_why *why)
{
    fby_err       err = FBY_OK;
    struct arena *at  = &self->arenas[arena];
    pthread_mutex_lock(&self->lock);
    if (at->busy) {
        const struct run run  = run_of(self, at->epoch, at->step, why);
        int              mode = enter(self);
        int              code = self->cuda->event_query(at->copied);
        err = code == self->cuda->not_ready ? FBY_AGAIN : check(&run, code);
        leave(self, mode);
        at->busy = err == FBY_AGAIN;
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}

/* ---- tensors' memory ----------------------------------------------------- */

static void give_further(struct fby_feed *self, struct out *out)
{
    void *memory = memory_of(self, out);
    if (memory != NULL) {
        await_out(self, out);
    }
    if (memory != NULL && self->pool != NULL) {
        (void)self->cuda->pool_give(memory, self->memory);
    } else {
        free_memory(self, memory);
    }
    destroy_out(self, out);
}

/* What is given is there for other streams from an event on. */
static void *further_memory(struct run *run, const struct out *out)
{
    struct fby_feed *self   = run->feed;
    void            *memory = self->fixed;
    if (memory != NULL || run->err != FBY_OK) {
        return memory;
    }
    if (self->config.memory.allocate != NULL) {
        memory = their_memory(run);
    } else if (self->pool == NULL) {
        CALL(run, allocate, &memory, self->config.out_bytes);
    } else {
        CALL(run, pool_take, &memory, self->config.out_bytes, self->pool,
            self->memory);
    }
    CALL(run, event_record, out->released, self->memory);
    return memory;
}

static struct out *take_further(struct fby_feed *self)
{
    struct fby_why why  = {""};
    struct run     run  = {.feed = self, .why = &why};
    int            mode = enter(self);
    CALL(&run, use, self->config.device);
    struct out *out    = make_out(&run);
    out->further       = true;
    out->public.memory = further_memory(&run, out);
    out->leaving       = self->fixed == NULL ? out->released : NULL;
    if (run.err != FBY_OK) {
        fby_warn("NO-DEVICE-MEMORY", "%s", why.text);
        give_further(self, out);
        out = NULL;
    }
    leave(self, mode);
    return out;
}

static struct out *take_usual(struct fby_feed *self)
{
    pthread_mutex_lock(&self->lock);
    struct out *out = self->free;
    if (out != NULL) {
        self->free = out->next;
    }
    pthread_mutex_unlock(&self->lock);
    return out;
}

struct fby_feed_out *fby_feed_take(struct fby_feed *self, bool further)
{
    struct out *out = further ? take_further(self) : take_usual(self);
    return out != NULL ? &out->public : NULL;
}

static void give_usual(struct fby_feed *self, struct out *out)
{
    pthread_mutex_lock(&self->lock);
    out->next  = self->free;
    self->free = out;
    pthread_mutex_unlock(&self->lock);
}

void fby_feed_give(struct fby_feed *self, struct fby_feed_out *given)
{
    struct out *out = (struct out *)(void *)given;
    pthread_mutex_lock(&self->lock);
    if (out->lane != NULL) { /* nobody took the batch */
        out->lane->armed = false;
        out->lane        = NULL;
    }
    pthread_mutex_unlock(&self->lock);
    if (out->further) {
        int mode = enter(self);
        give_further(self, out);
        leave(self, mode);
    } else {
        give_usual(self, out);
    }
}

/* ---- the consumer's side ------------------------------------------------- */

static void launch_fixed(struct run *run, struct out *out, void *stream)
{
    struct fby_feed *self = run->feed;
    struct lane     *lane = out->lane;
    out->lane             = NULL;
    out->launch.stream    = stream;
    CALL(run, stream_wait, stream, lane->copied);
    if (self->leaving) {
        CALL(run, stream_wait, stream, self->left);
    }
    launch(run, &out->launch);
    CALL(run, event_record, lane->done, stream);
    CALL(run, event_record, out->ready, stream);
    lane->armed = false;
    lane->used  = true;
}

/* What is done on a stream of the consumer's. */
struct visit {
    struct run  run;
    struct out *out;
    void       *stream;
    void (*work)(struct run *run, struct out *out, void *stream);
};

static void *visit_main(void *opaque)
{
    struct visit *visit = opaque;
    struct run   *run   = &visit->run;
    int           mode  = enter(run->feed);
    pthread_mutex_lock(&run->feed->lock);
    visit->work(run, visit->out, visit->stream);
    pthread_mutex_unlock(&run->feed->lock);
    leave(run->feed, mode);
    return NULL;
}

static void *visit_there(void *opaque)
{
    struct visit *visit = opaque;
    CALL(&visit->run, use, visit->run.feed->config.device);
    return visit_main(visit);
}

/* The legacy stream, NULL or 1, is one of each device: of the one that the
 * thread has chosen, which may be another. */
static void pay_visit(struct visit *visit)
{
    struct fby_feed *self   = visit->run.feed;
    int              chosen = self->config.device;
    if ((uintptr_t)visit->stream <= 1) {
        (void)self->cuda->chosen(&chosen);
    }
    if (chosen == self->config.device) {
        (void)visit_main(visit);
    } else {
        aside(&visit->run, visit_there, visit);
    }
}

static void hand_out(struct run *run, struct out *out, void *stream)
{
    if (out->lane != NULL) {
        launch_fixed(run, out, stream);
    } else {
        CALL(run, stream_wait, stream, out->ready);
    }
}

fby_err fby_feed_hand_out(struct fby_feed *self, struct fby_feed_out *given,
    void *stream, struct fby_why *why)
{
    struct out  *out   = (struct out *)(void *)given;
    struct visit visit = {
        run_of(self, out->epoch, out->step, why), out, stream, hand_out};
    pay_visit(&visit);
    return visit.run.err;
}

static void let_go(struct run *run, struct out *out, void *stream)
{
    struct fby_feed *self = run->feed;
    CALL(run, event_record, out->released, stream);
    out->leaving = out->released;
    if (self->config.fixed) {
        CALL(run, event_record, self->left, stream);
        self->leaving = true;
    }
}

/* Nobody knows when its readers are done. */
static void lose(struct fby_feed *self, struct out *out, const char *why)
{
    pthread_mutex_lock(&self->lock);
    out->lost = true;
    if (!self->lost) {
        self->lost = true;
        (void)fby_because(&self->why, FBY_SYS,
            "a batch was released on a stream that cannot be waited for: %s",
            why);
    }
    pthread_mutex_unlock(&self->lock);
}

void fby_feed_let_go(
    struct fby_feed *self, struct fby_feed_out *given, void *stream)
{
    struct out    *out   = (struct out *)(void *)given;
    struct fby_why why   = {""};
    struct visit   visit = {
          run_of(self, out->epoch, out->step, &why), out, stream, let_go};
    pay_visit(&visit);
    if (visit.run.err != FBY_OK) {
        lose(self, out, why.text);
    }
}
