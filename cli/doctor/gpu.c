/* gpu.c - the GPUs: which, with which driver, and how fast batches get
 * there: pinned copies, the expand kernel, and both at once. */
#include <stdio.h>
#include <string.h>

#include "cli/doctor/doctor.h"
#include "common/clock.h"
#include "common/pages.h"
#include "trainer_client/expand/segments.h"
#include "trainer_client/gpu/cuda_error.h"
#include "trainer_client/gpu/device_name.h"

enum {
    SIDE          = 224,
    ROWS          = 256,
    COPIES        = 8,
    LAUNCHES      = 20,
    MOST_LAUNCHES = 2000
};

/* A batch of pictures on its way, and what is measured with it. */
struct trial {
    const struct fby_cuda *cuda;
    struct fby_expansion  *plan;
    uint8_t               *arena; /* pinned */
    uint64_t               room, bytes, list;
    void                  *streams[2];
    void                  *there; /* the arena on the device */
    void                  *out;
    fby_err                err;
    struct fby_why         why; /* CUDA's first error */
};

static void call(struct trial *t, int code)
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
         .normalize                                = true,
         .std                                      = {1, 1, 1},
         .shape                                    = {3, {SIDE, SIDE, 3}}};
    const struct fby_field_delivery to    = {
           .dtype = FBY_BF16, .layout = FBY_LAYOUT_CHW};
    return fby_expansion_init(plan, &field, &to, &why) == FBY_OK;
}

static void fill(struct trial *t)
{
    const struct fby_piece piece = {.raw_bytes = ROWS * t->plan->raw_bytes};
    struct fby_segments    list;
    fby_segments_begin(&list, t->arena, piece.raw_bytes);
    fby_segments_add(&list, t->plan, &piece);
    t->bytes = fby_segments_finish(&list);
    t->list  = list.list;
}

static void begin(struct trial *t, int device)
{
    call(t, t->cuda->use(device));
    call(t, t->cuda->prepare());
    call(t, t->cuda->pin(t->arena, t->room));
    call(t, t->cuda->allocate(&t->there, t->room));
    call(t, t->cuda->allocate(&t->out, ROWS * t->plan->out_bytes));
    call(t, t->cuda->stream_create(&t->streams[0]));
    call(t, t->cuda->stream_create(&t->streams[1]));
}

static void end(struct trial *t)
{
    for (int i = 0; i < 2; i++) {
        if (t->streams[i] != NULL) {
            (void)t->cuda->stream_destroy(t->streams[i]);
        }
    }
    (void)t->cuda->free(t->out);
    (void)t->cuda->free(t->there);
    (void)t->cuda->unpin(t->arena);
}

/* Nanoseconds of so many copies and launches, on a stream each. */
static double time_of(struct trial *t, int copies, int launches)
{
    struct fby_segment_list list = {0};
    memcpy(&list, t->arena + t->list, sizeof(list));
    const struct fby_cuda_launch launch = {
        .arena  = t->there,
        .list   = t->list,
        .out    = t->out,
        .blocks = {list.blocks[0]},
        .shared = list.shared,
        .stream = t->streams[1],
    };
    int64_t begun_ns = fby_now_ns();
    for (int i = 0; i < copies || i < launches; i++) {
        if (i < copies) {
            call(t, t->cuda->copy(t->there, t->arena, t->bytes, t->streams[0]));
        }
        if (i < launches) {
            call(t, t->cuda->launch(&launch));
        }
    }
    call(t, t->cuda->stream_sync(t->streams[0]));
    call(t, t->cuda->stream_sync(t->streams[1]));
    return (double)(fby_now_ns() - begun_ns);
}

/* Launches that last about as long as the copies. */
static int as_many(double copy_ns, double of_launches_ns)
{
    double times = of_launches_ns > 0 ? copy_ns / of_launches_ns : 1;
    double most  = (double)MOST_LAUNCHES / LAUNCHES;
    return (int)(LAUNCHES * (times < 1 ? 1 : times > most ? most : times));
}

static void measure(struct trial *t, struct fby_gpu_facts *facts)
{
    (void)time_of(t, 1, 0); /* the list must be there before a launch */
    (void)time_of(t, 1, 1);
    facts->copy_ns   = time_of(t, COPIES, 0);
    int launches     = as_many(facts->copy_ns, time_of(t, 0, LAUNCHES));
    facts->expand_ns = time_of(t, 0, launches);
    facts->both_ns   = time_of(t, COPIES, launches);
    facts->copied    = COPIES * (double)t->bytes;
    facts->expanded =
        launches * (double)(ROWS * (t->plan->raw_bytes + t->plan->out_bytes));
}

static struct fby_verdict judge(const struct trial *t,
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
    struct trial                t     = {.cuda = cuda, .plan = &plan};
    call(&t, cuda->describe(device, &about));
    call(&t, cuda->driver_version(&facts.driver));
    if (!make_plan(&plan)) {
        return fby_verdict(FBY_DOCTOR_FAIL, "the expansion cannot be planned");
    }
    t.room  = ROWS * plan.raw_bytes + (1 << 20);
    t.arena = fby_pages_map(t.room);
    if (t.arena == NULL) {
        return fby_verdict(
            FBY_DOCTOR_WARN, "too little memory to measure with");
    }
    fill(&t);
    begin(&t, device);
    measure(&t, &facts);
    struct fby_verdict verdict = judge(&t, &about, &facts);
    end(&t);
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
        fby_doctor_say(out, "gpu", &none);
        return;
    }
    (void)cuda->count(&n);
    for (device = 0; device < n; device++) {
        struct fby_verdict verdict = try_device(cuda, device);
        fby_doctor_say(out, "gpu", &verdict);
    }
}
