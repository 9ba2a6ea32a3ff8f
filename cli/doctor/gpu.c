/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.c - check the GPUs: model, driver, and the speed of copies, of the expand
 * kernel (pixels to tensors), and of both concurrently. */
#include <stdio.h>
#include <string.h>

#include "cli/doctor/checks.h"
#include "common/clock.h"
#include "common/pages.h"
#include "trainer_client/expand/segments.h"
#include "trainer_client/gpu/device_name.h"

enum { ROWS = 256 };           /* pictures in a batch */
enum { LIST_BYTES = 1 << 20 }; /* room for their list of segments */
enum { COPIES = 8, LAUNCHES = 20, MAX_LAUNCHES = 2000 }; /* of a measurement */

/* A batch of pictures and the buffers for the measurement. */
struct gpu_trial {
    const struct fby_cuda  *cuda;
    struct fby_expansion   *plan;
    uint8_t                *arena;        /* input on the host, pinned */
    uint64_t                arena_size;   /* bytes */
    uint64_t                used_bytes;   /* of the arena */
    uint64_t                list_offset;  /* of the segments in the arena */
    void                   *streams[2];   /* 0 for copies, 1 for launches */
    void                   *device_arena; /* input on the device */
    void                   *tensors;      /* output on the device */
    fby_err                 err;
    struct fby_error_detail why; /* the first error of a CUDA call */
};

/* Keep the first error. Callers go on after it, and ignore later errors. */
static void record_error(struct gpu_trial *self, int code)
{
    if (self->err == FBY_OK) {
        self->err = fby_cuda_check(self->cuda, code, &self->why);
    }
}

/* Write the list of segments (work items of the kernel) behind the pixels. */
static void fill_arena(struct gpu_trial *self)
{
    const struct fby_piece piece = {.raw_bytes = ROWS * self->plan->raw_bytes};
    struct fby_segments    list;
    fby_segments_begin(&list, self->arena, piece.raw_bytes);
    fby_segments_add(&list, self->plan, &piece);
    self->used_bytes  = fby_segments_finish(&list);
    self->list_offset = list.list;
}

static void set_up(struct gpu_trial *self, int device)
{
    record_error(self, self->cuda->use_device(device));
    record_error(self, self->cuda->load_kernels());
    record_error(self, self->cuda->pin(self->arena, self->arena_size));
    record_error(
        self, self->cuda->allocate(&self->device_arena, self->arena_size));
    record_error(self,
        self->cuda->allocate(&self->tensors, ROWS * self->plan->out_bytes));
    record_error(self, self->cuda->stream_create(&self->streams[0]));
    record_error(self, self->cuda->stream_create(&self->streams[1]));
}

static void tear_down(struct gpu_trial *self)
{
    for (int i = 0; i < 2; i++) {
        if (self->streams[i] != NULL) {
            (void)self->cuda->stream_destroy(self->streams[i]);
        }
    }
    (void)self->cuda->free(self->tensors);
    (void)self->cuda->free(self->device_arena);
    (void)self->cuda->unpin(self->arena);
}

/* The time in ns that copies in one stream and launches in the other take. */
static double time_work(struct gpu_trial *self, int copies, int launches)
{
    struct fby_segment_list list = {0};
    memcpy(&list, self->arena + self->list_offset, sizeof(list));
    const struct fby_cuda_launch launch = {
        .arena  = self->device_arena,
        .list   = self->list_offset,
        .out    = self->tensors,
        .blocks = {[FBY_PASS_EXPAND] = list.blocks[FBY_PASS_EXPAND]},
        .shared = list.shared,
        .stream = self->streams[1],
    };
    int64_t begun_ns = fby_now_ns();
    for (int i = 0; i < copies || i < launches; i++) {
        if (i < copies) {
            record_error(self, self->cuda->copy(self->device_arena, self->arena,
                                   self->used_bytes, self->streams[0]));
        }
        if (i < launches) {
            record_error(self, self->cuda->launch(&launch));
        }
    }
    record_error(self, self->cuda->stream_sync(self->streams[0]));
    record_error(self, self->cuda->stream_sync(self->streams[1]));
    return (double)(fby_now_ns() - begun_ns);
}

/* The number of launches that take about as long as the copies. `launches_ns`
 * is the duration of LAUNCHES launches. */
static int matching_launches(double copy_ns, double launches_ns)
{
    double n = launches_ns > 0 ? LAUNCHES * (copy_ns / launches_ns) : LAUNCHES;
    n        = n < LAUNCHES ? LAUNCHES : n;
    return (int)(n > MAX_LAUNCHES ? MAX_LAUNCHES : n);
}

static void measure(struct gpu_trial *self, struct fby_gpu_facts *facts)
{
    (void)time_work(self, 1, 0); /* the kernel needs the list on the device */
    (void)time_work(self, 1, 1); /* the first launch is slower */
    facts->copy_ns     = time_work(self, COPIES, 0);
    double launches_ns = time_work(self, 0, LAUNCHES);
    int    launches    = matching_launches(facts->copy_ns, launches_ns);
    facts->expand_ns   = time_work(self, 0, launches);
    facts->both_ns     = time_work(self, COPIES, launches);
    facts->copied      = COPIES * (double)self->used_bytes;
    facts->expanded =
        launches *
        (double)(ROWS * (self->plan->raw_bytes + self->plan->out_bytes));
}

static struct fby_verdict try_device(const struct fby_cuda *cuda, int device)
{
    static struct fby_expansion plan; /* too large for the stack */
    struct fby_cuda_about       about = {.name = "a GPU"};
    struct fby_gpu_facts        facts = {.name = NULL};
    struct gpu_trial            self  = {.cuda = cuda, .plan = &plan};
    record_error(&self, cuda->describe(device, &about));
    record_error(&self, cuda->driver_version(&facts.driver));
    if (!fby_doctor_plan_pictures(FBY_BF16, &plan)) {
        return fby_verdict(
            FBY_DOCTOR_FAIL, NULL, "the expansion cannot be planned");
    }
    self.arena_size = ROWS * plan.raw_bytes + LIST_BYTES;
    self.arena      = fby_pages_map(self.arena_size);
    if (self.arena == NULL) {
        return fby_verdict(
            FBY_DOCTOR_WARN, NULL, "too little memory to measure with");
    }
    fill_arena(&self);
    set_up(&self, device);
    measure(&self, &facts);
    tear_down(&self);
    fby_pages_unmap(self.arena, self.arena_size);
    facts.error = self.err != FBY_OK ? self.why.text : NULL;
    facts.name  = about.name;
    facts.major = about.major;
    facts.minor = about.minor;
    facts.bytes = about.bytes;
    return fby_judge_gpu(&facts);
}

void fby_doctor_gpu(const struct fby_doctor_options *options, int pipe_fd)
{
    const struct fby_cuda  *cuda = fby_cuda();
    struct fby_error_detail why  = {""};
    int                     n    = 0;
    (void)options;
    fby_err err = fby_gpu_count(cuda, &n, &why);
    if (err != FBY_OK) { /* FBY_USAGE: there is none */
        fby_doctor_report(pipe_fd, "gpu",
            fby_verdict(err == FBY_USAGE ? FBY_DOCTOR_OK : FBY_DOCTOR_WARN,
                NULL, "batches stay on the host: %s", why.text));
        return;
    }
    for (int device = 0; device < n; device++) {
        fby_doctor_report(pipe_fd, "gpu", try_device(cuda, device));
    }
}
