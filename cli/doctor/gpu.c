/* gpu.c - check the GPUs: model, driver, and the speed of pinned copies, of the
 * expand kernel, and of both concurrently. */
#include <stdio.h>
#include <string.h>

#include "cli/doctor/checks.h"
#include "common/clock.h"
#include "common/pages.h"
#include "trainer_client/expand/segments.h"
#include "trainer_client/gpu/device_name.h"

enum { ROWS = 256, COPIES = 8, LAUNCHES = 20, MAX_LAUNCHES = 2000 };

/* A batch of pictures and the buffers for the measurement. */
struct gpu_trial {
    const struct fby_cuda  *cuda;
    struct fby_expansion   *plan;
    uint8_t                *arena; /* pinned */
    uint64_t                room;  /* size of `arena` in bytes */
    uint64_t                bytes; /* used bytes of `arena` */
    uint64_t                list;  /* offset of the list of segments */
    void                   *streams[2];
    void                   *device_arena;
    void                   *out;
    fby_err                 err;
    struct fby_error_detail why; /* the first error of a CUDA call */
};

static void record(struct gpu_trial *t, int code)
{
    if (t->err == FBY_OK) {
        t->err = fby_cuda_check(t->cuda, code, &t->why);
    }
}

static void fill_arena(struct gpu_trial *t)
{
    const struct fby_piece piece = {.raw_bytes = ROWS * t->plan->raw_bytes};
    struct fby_segments    list;
    fby_segments_begin(&list, t->arena, piece.raw_bytes);
    fby_segments_add(&list, t->plan, &piece);
    t->bytes = fby_segments_finish(&list);
    t->list  = list.list;
}

static void set_up(struct gpu_trial *t, int device)
{
    record(t, t->cuda->use_device(device));
    record(t, t->cuda->load_kernels());
    record(t, t->cuda->pin(t->arena, t->room));
    record(t, t->cuda->allocate(&t->device_arena, t->room));
    record(t, t->cuda->allocate(&t->out, ROWS * t->plan->out_bytes));
    record(t, t->cuda->stream_create(&t->streams[0]));
    record(t, t->cuda->stream_create(&t->streams[1]));
}

static void tear_down(struct gpu_trial *t)
{
    for (int i = 0; i < 2; i++) {
        if (t->streams[i] != NULL) {
            (void)t->cuda->stream_destroy(t->streams[i]);
        }
    }
    (void)t->cuda->free(t->out);
    (void)t->cuda->free(t->device_arena);
    (void)t->cuda->unpin(t->arena);
}

/* The time of `copies` copies and `launches` launches, in ns. The copies have
 * one stream, the launches the other. */
static double time_of(struct gpu_trial *t, int copies, int launches)
{
    struct fby_segment_list list = {0};
    memcpy(&list, t->arena + t->list, sizeof(list));
    const struct fby_cuda_launch launch = {
        .arena  = t->device_arena,
        .list   = t->list,
        .out    = t->out,
        .blocks = {list.blocks[0]},
        .shared = list.shared,
        .stream = t->streams[1],
    };
    int64_t begun_ns = fby_now_ns();
    for (int i = 0; i < copies || i < launches; i++) {
        if (i < copies) {
            record(t, t->cuda->copy(
                          t->device_arena, t->arena, t->bytes, t->streams[0]));
        }
        if (i < launches) {
            record(t, t->cuda->launch(&launch));
        }
    }
    record(t, t->cuda->stream_sync(t->streams[0]));
    record(t, t->cuda->stream_sync(t->streams[1]));
    return (double)(fby_now_ns() - begun_ns);
}

/* The number of launches that take about as long as the copies. */
static int matching_launches(double copy_ns, double of_launches_ns)
{
    double times = of_launches_ns > 0 ? copy_ns / of_launches_ns : 1;
    double limit = (double)MAX_LAUNCHES / LAUNCHES;
    return (int)(LAUNCHES * (times < 1 ? 1 : times > limit ? limit : times));
}

static void measure(struct gpu_trial *t, struct fby_gpu_facts *facts)
{
    (void)time_of(t, 1, 0); /* a launch reads the list from the device */
    (void)time_of(t, 1, 1);
    facts->copy_ns = time_of(t, COPIES, 0);
    int launches   = matching_launches(facts->copy_ns, time_of(t, 0, LAUNCHES));
    facts->expand_ns = time_of(t, 0, launches);
    facts->both_ns   = time_of(t, COPIES, launches);
    facts->copied    = COPIES * (double)t->bytes;
    facts->expanded =
        launches * (double)(ROWS * (t->plan->raw_bytes + t->plan->out_bytes));
}

static struct fby_verdict try_device(const struct fby_cuda *cuda, int device)
{
    static struct fby_expansion plan; /* large */
    struct fby_cuda_about       about = {.name = "a GPU"};
    struct fby_gpu_facts        facts = {.name = NULL};
    struct gpu_trial            t     = {.cuda = cuda, .plan = &plan};
    record(&t, cuda->describe(device, &about));
    record(&t, cuda->driver_version(&facts.driver));
    if (!fby_doctor_plan_pictures(FBY_BF16, &plan)) {
        return fby_verdict(
            FBY_DOCTOR_FAIL, NULL, "the expansion cannot be planned");
    }
    t.room  = ROWS * plan.raw_bytes + (1 << 20);
    t.arena = fby_pages_map(t.room);
    if (t.arena == NULL) {
        return fby_verdict(
            FBY_DOCTOR_WARN, NULL, "too little memory to measure with");
    }
    fill_arena(&t);
    set_up(&t, device);
    measure(&t, &facts);
    tear_down(&t);
    fby_pages_unmap(t.arena, t.room);
    facts.error = t.err != FBY_OK ? t.why.text : NULL;
    facts.name  = about.name;
    facts.major = about.major;
    facts.minor = about.minor;
    facts.bytes = about.bytes;
    return fby_judge_gpu(&facts);
}

void fby_doctor_gpu(const struct fby_doctor_options *options, int out)
{
    const struct fby_cuda  *cuda   = fby_cuda();
    struct fby_error_detail why    = {""};
    int                     device = 0;
    int                     n      = 0;
    (void)options;
    if (fby_gpu_device_number(cuda, "cuda", &device, &why) != FBY_OK) {
        fby_doctor_report(out, "gpu",
            fby_verdict(
                FBY_DOCTOR_OK, NULL, "batches stay on the host: %s", why.text));
        return;
    }
    (void)cuda->device_count(&n);
    for (device = 0; device < n; device++) {
        fby_doctor_report(out, "gpu", try_device(cuda, device));
    }
}
