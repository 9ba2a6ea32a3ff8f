/* gpu.c - check the GPUs: model, driver, and the speed of pinned copies, of the
 * expand kernel, and of both concurrently. */
#include <stdio.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "common/clock.h"
#include "common/pages.h"
#include "trainer_client/expand/segments.h"
#include "trainer_client/gpu/cuda_error.h"
#include "trainer_client/gpu/device_name.h"

enum { SIDE = 224, ROWS = 256, COPIES = 8, LAUNCHES = 20, MAX_LAUNCHES = 2000 };

/* A batch of pictures and the buffers for the measurement. */
struct gpu_trial {
    const struct fby_cuda *cuda;
    struct fby_expansion  *plan;
    uint8_t               *arena; /* pinned */
    uint64_t               room;  /* bytes allocated in `arena` */
    uint64_t               bytes; /* used, with the list of segments */
    uint64_t               list;  /* offset of that list */
    void                  *streams[2];
    void                  *device_arena;
    void                  *out;
    fby_err                err;
    struct fby_why         why; /* the first error of CUDA */
};

static void record(struct gpu_trial *t, int code)
{
    if (t->err == FBY_OK) {
        t->err = fby_cuda_check(t->cuda, code, &t->why);
    }
}

static bool make_plan(struct fby_expansion *plan)
{
    struct fby_why                  why;
    const struct fby_field_content  field = {.name = "image",
         .decode                                   = FBY_DECODE_RGB8,
         .wire_type                                = FBY_U8,
         .as.rgb8.normalize                        = true,
         .as.rgb8.std                              = {1, 1, 1},
         .shape                                    = {3, {SIDE, SIDE, 3}}};
    const struct fby_field_delivery to    = {
           .dtype = FBY_BF16, .layout = FBY_LAYOUT_CHW};
    return fby_expansion_init(plan, &field, &to, &why) == FBY_OK;
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
    record(t, t->cuda->use(device));
    record(t, t->cuda->prepare());
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

/* Time of this many copies and launches, in ns; each kind has a stream. */
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

static struct fby_verdict judge(const struct gpu_trial *t,
    const struct fby_cuda_about *about, const struct fby_gpu_facts *measured)
{
    struct fby_gpu_facts facts = *measured;
    facts.error                = t->err != FBY_OK ? t->why.text : NULL;
    facts.name                 = about->name;
    facts.major                = about->major;
    facts.minor                = about->minor;
    facts.bytes                = about->bytes;
    return fby_judge_gpu(&facts);
}

static struct fby_verdict try_device(const struct fby_cuda *cuda, int device)
{
    static struct fby_expansion plan; /* large */
    struct fby_cuda_about       about = {.name = "a GPU"};
    struct fby_gpu_facts        facts = {.name = NULL};
    struct gpu_trial            t     = {.cuda = cuda, .plan = &plan};
    record(&t, cuda->describe(device, &about));
    record(&t, cuda->driver_version(&facts.driver));
    if (!make_plan(&plan)) {
        return fby_verdict(FBY_DOCTOR_FAIL, "the expansion cannot be planned");
    }
    t.room  = ROWS * plan.raw_bytes + (1 << 20);
    t.arena = fby_pages_map(t.room);
    if (t.arena == NULL) {
        return fby_verdict(
            FBY_DOCTOR_WARN, "too little memory to measure with");
    }
    fill_arena(&t);
    set_up(&t, device);
    measure(&t, &facts);
    struct fby_verdict verdict = judge(&t, &about, &facts);
    tear_down(&t);
    fby_pages_unmap(t.arena, t.room);
    return verdict;
}

void fby_doctor_gpu(const struct fby_doctor_options *options, int out)
{
    const struct fby_cuda *cuda   = fby_cuda();
    struct fby_why         why    = {""};
    int                    device = 0;
    int                    n      = 0;
    (void)options;
    if (fby_gpu_device_number(cuda, "cuda", &device, &why) != FBY_OK) {
        struct fby_verdict none = fby_verdict(
            FBY_DOCTOR_OK, "batches stay on the host: %s", why.text);
        fby_doctor_report(out, "gpu", &none);
        return;
    }
    (void)cuda->count(&n);
    for (device = 0; device < n; device++) {
        struct fby_verdict verdict = try_device(cuda, device);
        fby_doctor_report(out, "gpu", &verdict);
    }
}
