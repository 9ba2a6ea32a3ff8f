/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/trainer_client/fake_cuda.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/trainer_client/kernel_run.h"
#include "trainer_client/expand/segment.h"

enum {
    STREAMS      = 64,
    NOT_READY    = 600,
    WRONG_DEVICE = 400,
    NO_MEMORY    = 2,
    OLD_DRIVER   = 35,
    NO_DEVICE    = 100,
    RUNTIME      = 13000, /* version */
    BROKEN       = 719,
    MAX_STEPS    = 4,
    PINS         = 64,
    BLOCKS       = 512, /* of the device's memory */
    FENCE        = 64,  /* bytes behind each of them */
    STALE        = 0xdb /* fills memory that was never written */
};

struct mark { /* one recording of an event */
    struct mark *next;
    bool         passed;
};

struct event {
    struct mark *last;
    int          device;
};

enum kind { COPY, LAUNCH, RECORD, WAIT, CALL, FILL, FREE };

struct work {
    struct work           *next;
    enum kind              kind;
    void                  *to;
    const void            *from;
    size_t                 size;
    struct fby_cuda_launch launch;
    struct mark           *mark;
    void (*call)(void *arg);
    void *arg;
};

struct stream {
    bool         used;
    bool         paused;
    void        *handle;
    struct work *first, *last;
};

struct range {
    uint8_t *at;
    size_t   size;
};

static struct {
    pthread_mutex_t         lock;
    uint64_t                seed;
    struct stream           streams[STREAMS];
    struct mark            *marks;
    struct range            arenas[PINS];
    struct range            blocks[BLOCKS];
    bool                    captured; /* a graph is being captured */
    bool                    hurried;
    const char             *broken;
    uint32_t                skip; /* calls of `broken` that still succeed */
    bool                    once; /* only one call of it fails */
    int                     driver, devices;
    uint32_t                contexts;
    struct fake_cuda_counts counts;
    uint32_t                pins;   /* calls, also those that failed */
    pthread_cond_t          pinned; /* signalled after each */
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER,
    .pinned     = PTHREAD_COND_INITIALIZER,
    .driver     = 13000,
    .devices    = 1};

static uint32_t draw(uint32_t n)
{
    fake.seed = fake.seed * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)((fake.seed >> 33) % n);
}

/* Abort on a call that CUDA's documentation forbids. */
static void misuse(const char *what)
{
    (void)fprintf(stderr, "fake CUDA: %s\n", what);
    abort();
}

/* ---- Memory -------------------------------------------------------------- */

static struct range *range_of(
    struct range *ranges, uint32_t n, const uint8_t *at, size_t size)
{
    for (uint32_t i = 0; i < n; i++) {
        struct range *range = &ranges[i];
        if (range->at != NULL && at >= range->at &&
            at + size <= range->at + range->size) {
            return range;
        }
    }
    return NULL;
}

static void add_range(
    struct range *ranges, uint32_t n, void *memory, size_t size)
{
    uint32_t i = 0;
    while (i < n && ranges[i].at != NULL) {
        i++;
    }
    if (i == n) {
        misuse("too much memory at a time");
    }
    ranges[i] = (struct range){memory, size};
}

/* Allocate a block with a fence behind it; NULL if out of memory. */
static void *new_block(size_t size)
{
    size_t   whole = (size + FENCE + 255) / 256 * 256;
    uint8_t *block = aligned_alloc(256, whole);
    if (block != NULL) {
        memset(block + size, STALE, FENCE);
        add_range(fake.blocks, BLOCKS, block, size);
    }
    return block;
}

static void free_block(void *memory)
{
    struct range *range = range_of(fake.blocks, BLOCKS, memory, 1);
    for (uint32_t i = 0; range != NULL && i < FENCE; i++) {
        if (range->at[range->size + i] != STALE) {
            misuse("memory was written behind its end");
        }
    }
    if (range != NULL) {
        range->at = NULL;
    }
    free(memory);
}

/* ---- Work ---------------------------------------------------------------- */

static _Thread_local char thread_stream;

/* NULL and 1 are the legacy stream; 2 is the calling thread's own. */
static struct stream *stream_of(void *handle)
{
    struct stream *unused = NULL;
    void          *key    = handle == NULL ? (void *)1 : handle;
    key                   = key == (void *)2 ? &thread_stream : key;
    for (uint32_t i = 0; i < STREAMS; i++) {
        if (fake.streams[i].used && fake.streams[i].handle == key) {
            return &fake.streams[i];
        }
        unused = fake.streams[i].used ? unused : &fake.streams[i];
    }
    if (unused == NULL) {
        misuse("too many streams");
    }
    *unused = (struct stream){.used = true, .handle = key};
    return unused;
}

static void enqueue(void *handle, const struct work *given)
{
    struct stream *stream = stream_of(handle);
    struct work   *work   = fby_zalloc(sizeof(*work));
    *work                 = *given;
    if (stream->last == NULL) {
        stream->first = work;
    } else {
        stream->last->next = work;
    }
    stream->last = work;
}

/* Fill the block that begins at `at`, so that what the next work does not write
 * is not taken from the batch before. */
static void poison(void *at)
{
    const struct range *range = range_of(fake.blocks, BLOCKS, at, 1);
    if (range != NULL && range->at == at) {
        memset(range->at, STALE, range->size);
    }
}

/* Copy a part. Returns true if nothing is left. */
static bool execute_copy(struct work *work)
{
    size_t part = work->size > 1 ? 1 + draw((uint32_t)work->size) : work->size;
    if (range_of(fake.blocks, BLOCKS, work->to, work->size) != NULL) {
        poison(work->to); /* the first part of a lane's memory */
    }
    memcpy(work->to, work->from, part);
    work->to   = (uint8_t *)work->to + part;
    work->from = (const uint8_t *)work->from + part;
    work->size -= part;
    return work->size == 0;
}

/* Check that the launch agrees with the list, which was copied by now. */
static void execute_launch(const struct fby_cuda_launch *launch)
{
    struct fby_segment_list list;
    memcpy(&list, (uint8_t *)launch->arena + launch->list, sizeof(list));
    poison(launch->out);
    if (launch->shared != list.shared ||
        memcmp(launch->blocks, list.blocks, sizeof(list.blocks)) != 0) {
        misuse("a launch is not that of its list");
    }
    run_launch(launch);
}

/* Returns false if a part of the work is left. */
static bool execute(struct work *work)
{
    switch (work->kind) {
    case COPY:
        return execute_copy(work);
    case LAUNCH:
        execute_launch(&work->launch);
        break;
    case RECORD:
        work->mark->passed = true;
        break;
    case CALL:
        work->call(work->arg);
        break;
    case FILL:
        memset(work->to, STALE, work->size);
        break;
    case FREE:
        free_block(work->to);
        break;
    case WAIT:
        break;
    }
    return true;
}

/* Execute the first work of a stream; false if it has none or must wait. */
static bool step(struct stream *stream)
{
    struct work *work = stream->first;
    if (work == NULL || stream->paused ||
        (work->kind == WAIT && !work->mark->passed)) {
        return false;
    }
    if (!execute(work)) {
        return true;
    }
    stream->first = work->next;
    stream->last  = stream->first == NULL ? NULL : stream->last;
    free(work);
    return true;
}

static void run_some(void)
{
    for (uint32_t n = draw(fake.hurried ? STREAMS : MAX_STEPS); n > 0; n--) {
        (void)step(&fake.streams[draw(STREAMS)]);
    }
}

static void run_all(void)
{
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < STREAMS; i++) {
            while (step(&fake.streams[i])) {
                more = true;
            }
        }
    }
}

/* ---- Calls --------------------------------------------------------------- */

static _Thread_local const char *last_failed = "";
static _Thread_local int         chosen_device;
static _Thread_local int         mode_now; /* 0: any call is captured */

/* CUDA creates a context on the device that the calling thread has chosen. */
static void set_up(void)
{
    fake.contexts |= 1U << chosen_device;
}

static int begin_call(const char *name)
{
    pthread_mutex_lock(&fake.lock);
    run_some();
    if (strcmp(name, "cudaSetDevice") != 0) {
        set_up();
        if (fake.captured && mode_now == 0) {
            misuse("a call would be captured into the consumer's graph");
        }
    }
    if (fake.broken == NULL || strcmp(fake.broken, name) != 0 ||
        fake.skip-- > 0) {
        return 0;
    }
    fake.skip   = 0;
    fake.broken = fake.once ? NULL : fake.broken;
    last_failed = name;
    return BROKEN;
}

static int end_call(int code)
{
    pthread_mutex_unlock(&fake.lock);
    return code;
}

static int driver_version(int *out)
{
    *out = fake.driver;
    return 0;
}

static int runtime_version(int *out)
{
    *out = RUNTIME;
    return 0;
}

static int count(int *out)
{
    bool fails =
        fake.broken != NULL && strcmp(fake.broken, "cudaGetDeviceCount") == 0;
    *out = fake.devices;
    return fake.driver < RUNTIME ? OLD_DRIVER
           : fails               ? BROKEN
           : fake.devices > 0    ? 0
                                 : NO_DEVICE;
}

static int describe(int device, struct fby_cuda_about *out)
{
    (void)device;
    *out = (struct fby_cuda_about){.name = "fake", .major = 9};
    return 0;
}

static int use(int device)
{
    int code      = begin_call("cudaSetDevice");
    chosen_device = code == 0 ? device : chosen_device;
    set_up();
    return end_call(code);
}

static int chosen(int *out)
{
    *out = chosen_device;
    return 0;
}

static int exchange_capture_mode(int *mode)
{
    int was  = mode_now;
    mode_now = *mode;
    *mode    = was;
    pthread_mutex_lock(&fake.lock);
    set_up();
    return end_call(0);
}

/* Only the application's threads may handle signals. */
static void no_signals(void)
{
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGCHLD)) {
        misuse("a thread of the library does not block signals");
    }
}

static int prepare(void)
{
    no_signals();
    return end_call(begin_call("cudaFuncGetAttributes"));
}

static int blocking(const char *name, int64_t made)
{
    int code = begin_call(name);
    fake.counts.blocks++;
    fake.counts.live += code == 0 ? (uint64_t)made : 0;
    return end_call(code);
}

static int pin(void *memory, size_t size)
{
    no_signals();
    int code = blocking("cudaHostRegister", 1);
    pthread_mutex_lock(&fake.lock);
    if (code == 0) {
        add_range(fake.arenas, PINS, memory, size);
    }
    fake.pins++;
    pthread_cond_broadcast(&fake.pinned);
    pthread_mutex_unlock(&fake.lock);
    return code;
}

static bool is_copied_from(const struct range *range)
{
    for (uint32_t i = 0; i < STREAMS; i++) {
        const struct work *work = fake.streams[i].first;
        for (; work != NULL; work = work->next) {
            const uint8_t *from = work->from;
            if (work->kind == COPY && from >= range->at &&
                from < range->at + range->size) {
                return true;
            }
        }
    }
    return false;
}

static int unpin(void *memory)
{
    int           code  = begin_call("cudaHostUnregister");
    struct range *range = range_of(fake.arenas, PINS, memory, 1);
    if (range == NULL || range->at != memory || is_copied_from(range)) {
        misuse("memory was unpinned that is not pinned or still being copied");
    }
    range->at = NULL;
    fake.counts.blocks++;
    fake.counts.live--;
    return end_call(code);
}

static int allocate(void **out, size_t size)
{
    int code = begin_call("cudaMalloc");
    *out     = code == 0 ? new_block(size) : NULL;
    code     = code == 0 && *out == NULL ? NO_MEMORY : code;
    if (code == 0) {
        memset(*out, STALE, size);
        fake.counts.live++;
    }
    fake.counts.blocks++;
    return end_call(code);
}

/* cudaFree() waits for the device. */
static int free_memory(void *memory)
{
    int code = begin_call("cudaFree");
    run_all();
    free_block(memory);
    fake.counts.blocks++;
    fake.counts.live--;
    return end_call(code);
}

static int pool_create(int device, void **out)
{
    int code = begin_call("cudaMemPoolCreate");
    if (device != chosen_device) {
        misuse("a pool of another device");
    }
    *out = code == 0 ? &fake : NULL;
    fake.counts.live += code == 0 ? 1 : 0;
    return end_call(code);
}

static int pool_destroy(void *pool)
{
    (void)pool;
    fake.counts.live--;
    return 0;
}

static int pool_allocate(void **out, size_t size, void *pool, void *stream)
{
    (void)pool;
    int code = begin_call("cudaMallocFromPoolAsync");
    *out     = code == 0 ? new_block(size) : NULL;
    if (*out != NULL) {
        enqueue(stream, &(struct work){.kind = FILL, .to = *out, .size = size});
        fake.counts.live++;
    }
    return end_call(code);
}

static int pool_free(void *memory, void *stream)
{
    int code = begin_call("cudaFreeAsync");
    enqueue(stream, &(struct work){.kind = FREE, .to = memory});
    fake.counts.live--;
    return end_call(code);
}

static int stream_create(void **out)
{
    int code = begin_call("cudaStreamCreateWithFlags");
    *out     = code == 0 ? fby_zalloc(8) : NULL;
    fake.counts.live += code == 0 ? 1 : 0;
    return end_call(code);
}

static int stream_destroy(void *stream)
{
    int            code = begin_call("cudaStreamDestroy");
    struct stream *gone = stream_of(stream);
    if (gone->first != NULL) {
        misuse("a stream was destroyed while its work was under way");
    }
    *gone = (struct stream){.used = false};
    free(stream);
    fake.counts.live--;
    return end_call(code);
}

static int stream_sync(void *stream)
{
    int code = begin_call("cudaStreamSynchronize");
    fake.counts.blocks++;
    while (stream_of(stream)->first != NULL) {
        run_all();
    }
    return end_call(code);
}

static int event_create(void **out)
{
    int code = begin_call("cudaEventCreateWithFlags");
    *out     = code == 0 ? fby_zalloc(sizeof(struct event)) : NULL;
    if (code == 0) {
        ((struct event *)*out)->device = chosen_device;
        fake.counts.live++;
    }
    return end_call(code);
}

static int event_destroy(void *event)
{
    int code = begin_call("cudaEventDestroy");
    free(event);
    fake.counts.live--;
    return end_call(code);
}

static int stream_wait(void *stream, void *event)
{
    int          code = begin_call("cudaStreamWaitEvent");
    struct mark *mark = ((struct event *)event)->last;
    fake.counts.async++;
    if (code == 0 && mark != NULL) {
        enqueue(stream, &(struct work){.kind = WAIT, .mark = mark});
    }
    return end_call(code);
}

/* The legacy stream and the thread's own belong to the chosen device; other
 * streams may belong to any. */
static int event_record(void *event, void *stream)
{
    int  code     = begin_call("cudaEventRecord");
    bool implicit = (uintptr_t)stream <= 2;
    if (implicit && ((struct event *)event)->device != chosen_device) {
        code        = WRONG_DEVICE;
        last_failed = "cudaEventRecord";
    }
    fake.counts.async++;
    if (code == 0) {
        struct mark *mark             = fby_zalloc(sizeof(*mark));
        mark->next                    = fake.marks;
        fake.marks                    = mark;
        ((struct event *)event)->last = mark;
        enqueue(stream, &(struct work){.kind = RECORD, .mark = mark});
    }
    return end_call(code);
}

static int event_query(void *event)
{
    int                code = begin_call("cudaEventQuery");
    const struct mark *mark = ((struct event *)event)->last;
    bool               wait = mark != NULL && !mark->passed;
    return end_call(code == 0 && wait ? NOT_READY : code);
}

static int copy(void *to, const void *from, size_t size, void *stream)
{
    int code = begin_call("cudaMemcpyAsync");
    fake.counts.async++;
    fake.counts.copied += size;
    if (range_of(fake.arenas, PINS, from, size) == NULL) {
        misuse("a copy from memory that is not pinned");
    }
    if (range_of(fake.blocks, BLOCKS, to, size) == NULL) {
        misuse("a copy to memory that is not allocated");
    }
    enqueue(stream,
        &(struct work){.kind = COPY, .to = to, .from = from, .size = size});
    return end_call(code);
}

static int launch(const struct fby_cuda_launch *given)
{
    int code = begin_call("cudaLaunchKernel");
    fake.counts.async++;
    enqueue(given->stream, &(struct work){.kind = LAUNCH, .launch = *given});
    return end_call(code);
}

static const char *failed(void)
{
    return last_failed;
}

static const char *name(int code)
{
    return code == BROKEN ? "cudaErrorLaunchFailure" : "cudaErrorUnknown";
}

static const char *text(int code)
{
    return code == BROKEN ? "unspecified launch failure" : "unknown error";
}

static _Thread_local int open_stages;

static void stage(const char *name)
{
    if (strncmp(name, "forebay ", 8) != 0) {
        abort(); /* a profiler would not show that it is ours */
    }
    open_stages++;
    pthread_mutex_lock(&fake.lock);
    fake.counts.stages++;
    pthread_mutex_unlock(&fake.lock);
}

static void stage_end(void)
{
    open_stages--;
}

const struct fby_cuda *fby_cuda(void)
{
    static const struct fby_cuda calls = {
        .not_ready             = NOT_READY,
        .no_device             = NO_DEVICE,
        .driver_version        = driver_version,
        .runtime_version       = runtime_version,
        .device_count          = count,
        .describe              = describe,
        .use_device            = use,
        .current_device        = chosen,
        .exchange_capture_mode = exchange_capture_mode,
        .thread_local_mode     = 1,
        .load_kernels          = prepare,
        .pin                   = pin,
        .unpin                 = unpin,
        .allocate              = allocate,
        .free                  = free_memory,
        .pool_create           = pool_create,
        .pool_destroy          = pool_destroy,
        .pool_allocate         = pool_allocate,
        .pool_free             = pool_free,
        .stream_create         = stream_create,
        .stream_destroy        = stream_destroy,
        .stream_wait           = stream_wait,
        .stream_sync           = stream_sync,
        .event_create          = event_create,
        .event_destroy         = event_destroy,
        .event_record          = event_record,
        .event_query           = event_query,
        .copy                  = copy,
        .launch                = launch,
        .failed_function       = failed,
        .error_name            = name,
        .error_text            = text,
        .begin_range           = stage,
        .end_range             = stage_end,
    };
    return &calls;
}

/* ---- Calls for tests ----------------------------------------------------- */

void fake_cuda_begin(uint64_t seed)
{
    fake.seed     = seed;
    fake.broken   = NULL;
    fake.captured = false;
    fake.hurried  = false;
    fake.driver   = 13000;
    fake.devices  = 1;
    fake.contexts = 0;
    fake.counts   = (struct fake_cuda_counts){0};
    fake.pins     = 0;
}

void fake_cuda_end(void)
{
    pthread_mutex_lock(&fake.lock);
    run_all();
    while (fake.marks != NULL) {
        struct mark *mark = fake.marks;
        fake.marks        = mark->next;
        free(mark);
    }
    memset(fake.streams, 0, sizeof(fake.streams));
    pthread_mutex_unlock(&fake.lock);
}

void fake_cuda_await_pins(uint32_t n)
{
    pthread_mutex_lock(&fake.lock);
    while (fake.pins < n) {
        pthread_cond_wait(&fake.pinned, &fake.lock);
    }
    pthread_mutex_unlock(&fake.lock);
}

void fake_cuda_fail(const char *function)
{
    pthread_mutex_lock(&fake.lock);
    fake.broken = function;
    fake.skip   = 0;
    fake.once   = false;
    pthread_mutex_unlock(&fake.lock);
}

void fake_cuda_fail_once(const char *function, uint32_t n)
{
    pthread_mutex_lock(&fake.lock);
    fake.broken = function;
    fake.skip   = n;
    fake.once   = true;
    pthread_mutex_unlock(&fake.lock);
}

void fake_cuda_pause(void *stream, bool paused)
{
    pthread_mutex_lock(&fake.lock);
    stream_of(stream)->paused = paused;
    pthread_mutex_unlock(&fake.lock);
}

void fake_cuda_run(void)
{
    pthread_mutex_lock(&fake.lock);
    run_all();
    pthread_mutex_unlock(&fake.lock);
}

void fake_cuda_hurry(void)
{
    fake.hurried = true;
}

void fake_cuda_capture(void)
{
    pthread_mutex_lock(&fake.lock);
    fake.captured = true;
    pthread_mutex_unlock(&fake.lock);
}

int fake_cuda_mode(void)
{
    return mode_now;
}

int fake_cuda_stages_open(void)
{
    return open_stages;
}

uint32_t fake_cuda_contexts(void)
{
    pthread_mutex_lock(&fake.lock);
    uint32_t contexts = fake.contexts;
    pthread_mutex_unlock(&fake.lock);
    return contexts;
}

void fake_cuda_driver(int version, int devices)
{
    fake.driver  = version;
    fake.devices = devices;
}

struct fake_cuda_counts fake_cuda_counts(void)
{
    pthread_mutex_lock(&fake.lock);
    struct fake_cuda_counts counts = fake.counts;
    pthread_mutex_unlock(&fake.lock);
    return counts;
}

void *fake_cuda_take(void *stream, size_t size)
{
    pthread_mutex_lock(&fake.lock);
    void *memory = new_block(size);
    enqueue(stream, &(struct work){.kind = FILL, .to = memory, .size = size});
    pthread_mutex_unlock(&fake.lock);
    return memory;
}

void fake_cuda_give(void *stream, void *memory)
{
    pthread_mutex_lock(&fake.lock);
    enqueue(stream, &(struct work){.kind = FREE, .to = memory});
    pthread_mutex_unlock(&fake.lock);
}

void fake_cuda_read(void *stream, void *to, const void *from, size_t size)
{
    pthread_mutex_lock(&fake.lock);
    enqueue(stream,
        &(struct work){.kind = COPY, .to = to, .from = from, .size = size});
    pthread_mutex_unlock(&fake.lock);
}

void fake_cuda_fill(void *stream, void *to, size_t size)
{
    pthread_mutex_lock(&fake.lock);
    enqueue(stream, &(struct work){.kind = FILL, .to = to, .size = size});
    pthread_mutex_unlock(&fake.lock);
}

void fake_cuda_call(void *stream, void (*work)(void *arg), void *arg)
{
    pthread_mutex_lock(&fake.lock);
    enqueue(stream, &(struct work){.kind = CALL, .call = work, .arg = arg});
    pthread_mutex_unlock(&fake.lock);
}
