#include "tests/trainer_client/fake_cuda.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/trainer_client/rehearsal.h"

enum { STREAMS = 64, NOT_READY = 600, NOT_ITS = 400, BROKEN = 719, MANY = 4 };

struct mark { /* one recording of an event */
    struct mark *next;
    bool         passed;
};

struct event {
    struct mark *last;
    int          device;
};

enum kind { COPY, LAUNCH, RECORD, WAIT, CALL, FREE };

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
    void        *handle;
    struct work *first, *last;
};

static struct {
    pthread_mutex_t         lock;
    uint64_t                seed;
    struct stream           streams[STREAMS];
    struct mark            *marks;
    const char             *broken;
    int                     driver, devices;
    uint32_t                contexts;
    struct fake_cuda_counts counts;
    uint32_t                pins;   /* calls, whatever came of them */
    pthread_cond_t          pinned; /* after each */
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER,
    .pinned     = PTHREAD_COND_INITIALIZER,
    .driver     = 13000,
    .devices    = 1};

static uint32_t draw(uint32_t n)
{
    fake.seed = fake.seed * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)((fake.seed >> 33) % n);
}

/* ---- work ---------------------------------------------------------------- */

/* NULL and 1 are the same stream. */
static struct stream *stream_of(void *handle)
{
    struct stream *unused = NULL;
    void          *key    = handle == NULL ? (void *)1 : handle;
    for (uint32_t i = 0; i < STREAMS; i++) {
        if (fake.streams[i].used && fake.streams[i].handle == key) {
            return &fake.streams[i];
        }
        unused = fake.streams[i].used ? unused : &fake.streams[i];
    }
    *unused = (struct stream){.used = true, .handle = key};
    return unused;
}

static void put(void *handle, const struct work *given)
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

static void carry_out(const struct work *work)
{
    switch (work->kind) {
    case COPY:
        memcpy(work->to, work->from, work->size);
        break;
    case LAUNCH:
        rehearse(&(struct rehearsal){.arena = work->launch.arena,
            .list                           = work->launch.list,
            .out                            = work->launch.out});
        break;
    case RECORD:
        work->mark->passed = true;
        break;
    case CALL:
        work->call(work->arg);
        break;
    case FREE:
        free(work->to);
        break;
    case WAIT:
        break;
    }
}

/* The first of a stream; false: it has none, or waits. */
static bool step(struct stream *stream)
{
    struct work *work = stream->first;
    if (work == NULL || (work->kind == WAIT && !work->mark->passed)) {
        return false;
    }
    carry_out(work);
    stream->first = work->next;
    stream->last  = stream->first == NULL ? NULL : stream->last;
    free(work);
    return true;
}

static void some_work(void)
{
    for (uint32_t n = draw(MANY); n > 0; n--) {
        (void)step(&fake.streams[draw(STREAMS)]);
    }
}

static void all_work(void)
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

/* ---- calls --------------------------------------------------------------- */

static _Thread_local const char *last_failed = "";
static _Thread_local int         chosen_device;

/* As CUDA does of whatever device the calling thread has chosen. */
static void set_up(void)
{
    fake.contexts |= 1U << chosen_device;
}

static int begin_call(const char *name)
{
    pthread_mutex_lock(&fake.lock);
    some_work();
    if (strcmp(name, "cudaSetDevice") != 0) {
        set_up();
    }
    if (fake.broken == NULL || strcmp(fake.broken, name) != 0) {
        return 0;
    }
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
    *out = 13000;
    return 0;
}

static int count(int *out)
{
    *out = fake.devices;
    return fake.devices > 0 ? 0 : 35;
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

static int capture_mode(int *mode)
{
    static _Thread_local int now = 0;
    int                      was = now;
    now                          = *mode;
    *mode                        = was;
    pthread_mutex_lock(&fake.lock);
    set_up();
    return end_call(0);
}

static int prepare(void)
{
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
    (void)memory;
    (void)size;
    int code = blocking("cudaHostRegister", 1);
    pthread_mutex_lock(&fake.lock);
    fake.pins++;
    pthread_cond_broadcast(&fake.pinned);
    pthread_mutex_unlock(&fake.lock);
    return code;
}

static int unpin(void *memory)
{
    (void)memory;
    return blocking("cudaHostUnregister", -1);
}

static int allocate(void **out, size_t size)
{
    int code = blocking("cudaMalloc", 1);
    *out     = code == 0 ? aligned_alloc(256, (size + 255) / 256 * 256) : NULL;
    return code;
}

/* Waits for the device. */
static int free_memory(void *memory)
{
    int code = begin_call("cudaFree");
    all_work();
    free(memory);
    fake.counts.blocks++;
    fake.counts.live--;
    return end_call(code);
}

static int pool_create(int device, void **out)
{
    (void)device;
    int code = begin_call("cudaMemPoolCreate");
    *out     = code == 0 ? &fake : NULL;
    fake.counts.live += code == 0 ? 1 : 0;
    return end_call(code);
}

static int pool_destroy(void *pool)
{
    (void)pool;
    fake.counts.live--;
    return 0;
}

static int pool_take(void **out, size_t size, void *pool, void *stream)
{
    (void)pool;
    (void)stream;
    int code = begin_call("cudaMallocFromPoolAsync");
    *out     = code == 0 ? aligned_alloc(256, (size + 255) / 256 * 256) : NULL;
    fake.counts.live += code == 0 ? 1 : 0;
    return end_call(code);
}

static int pool_give(void *memory, void *stream)
{
    int code = begin_call("cudaFreeAsync");
    put(stream, &(struct work){.kind = FREE, .to = memory});
    fake.counts.live--;
    return end_call(code);
}

static int stream_create(void **out)
{
    int code = begin_call("cudaStreamCreateWithFlags");
    *out     = fby_zalloc(8);
    fake.counts.live++;
    return end_call(code);
}

static int stream_destroy(void *stream)
{
    int            code = begin_call("cudaStreamDestroy");
    struct stream *gone = stream_of(stream);
    while (gone->first != NULL) {
        all_work();
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
        all_work();
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
        put(stream, &(struct work){.kind = WAIT, .mark = mark});
    }
    return end_call(code);
}

/* The legacy stream is the chosen device's; others may be of any. */
static int event_record(void *event, void *stream)
{
    int  code   = begin_call("cudaEventRecord");
    bool legacy = (uintptr_t)stream <= 1;
    if (legacy && ((struct event *)event)->device != chosen_device) {
        code        = NOT_ITS;
        last_failed = "cudaEventRecord";
    }
    fake.counts.async++;
    if (code == 0) {
        struct mark *mark             = fby_zalloc(sizeof(*mark));
        mark->next                    = fake.marks;
        fake.marks                    = mark;
        ((struct event *)event)->last = mark;
        put(stream, &(struct work){.kind = RECORD, .mark = mark});
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
    put(stream,
        &(struct work){.kind = COPY, .to = to, .from = from, .size = size});
    return end_call(code);
}

static int launch(const struct fby_cuda_launch *given)
{
    int code = begin_call("cudaLaunchKernel");
    fake.counts.async++;
    put(given->stream, &(struct work){.kind = LAUNCH, .launch = *given});
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
        abort(); /* nobody would know whose it is */
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
        .not_ready         = NOT_READY,
        .driver_version    = driver_version,
        .runtime_version   = runtime_version,
        .count             = count,
        .describe          = describe,
        .use               = use,
        .chosen            = chosen,
        .capture_mode      = capture_mode,
        .thread_local_mode = 1,
        .prepare           = prepare,
        .pin               = pin,
        .unpin             = unpin,
        .allocate          = allocate,
        .free              = free_memory,
        .pool_create       = pool_create,
        .pool_destroy      = pool_destroy,
        .pool_take         = pool_take,
        .pool_give         = pool_give,
        .stream_create     = stream_create,
        .stream_destroy    = stream_destroy,
        .stream_wait       = stream_wait,
        .stream_sync       = stream_sync,
        .event_create      = event_create,
        .event_destroy     = event_destroy,
        .event_record      = event_record,
        .event_query       = event_query,
        .copy              = copy,
        .launch            = launch,
        .failed            = failed,
        .name              = name,
        .text              = text,
        .stage             = stage,
        .stage_end         = stage_end,
    };
    return &calls;
}

/* ---- the test's side ----------------------------------------------------- */

void fake_cuda_begin(uint64_t seed)
{
    fake.seed     = seed;
    fake.broken   = NULL;
    fake.driver   = 13000;
    fake.devices  = 1;
    fake.contexts = 0;
    fake.counts   = (struct fake_cuda_counts){0};
    fake.pins     = 0;
}

void fake_cuda_end(void)
{
    pthread_mutex_lock(&fake.lock);
    all_work();
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
    pthread_mutex_unlock(&fake.lock);
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
    (void)stream; /* it is there at once */
    return aligned_alloc(256, (size + 255) / 256 * 256);
}

void fake_cuda_give(void *stream, void *memory)
{
    pthread_mutex_lock(&fake.lock);
    put(stream, &(struct work){.kind = FREE, .to = memory});
    pthread_mutex_unlock(&fake.lock);
}

void fake_cuda_read(void *stream, void *to, const void *from, size_t size)
{
    pthread_mutex_lock(&fake.lock);
    put(stream,
        &(struct work){.kind = COPY, .to = to, .from = from, .size = size});
    pthread_mutex_unlock(&fake.lock);
}

void fake_cuda_call(void *stream, void (*work)(void *arg), void *arg)
{
    pthread_mutex_lock(&fake.lock);
    put(stream, &(struct work){.kind = CALL, .call = work, .arg = arg});
    pthread_mutex_unlock(&fake.lock);
}
