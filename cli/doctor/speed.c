/* SPDX-License-Identifier: Apache-2.0 */
/* speed.c - measure the speed of memory and of turning pixels into tensors.
 *
 * Pixels are expanded by the code of the trainer's client. The buffers are
 * larger than the caches, if memory allows. The result is the speed of the
 * fastest call within 0.3 s, in CPU time, so other load disturbs it little. */
#include <string.h>

#include "cli/doctor/checks.h"
#include "cli/doctor/read.h"
#include "common/cgroup.h"
#include "common/clock.h"
#include "common/pages.h"
#include "trainer_client/expand/device.h"

enum { SIDE = FBY_DOCTOR_PICTURE_SIDE, CHANNELS = 3 };
static const size_t picture_bytes = sizeof(float) * SIDE * SIDE * CHANNELS;

static const int64_t  measure_ns = 300 * FBY_NS_PER_MS;
static const uint64_t min_size   = UINT64_C(64) << 20; /* bytes of a buffer */
static const uint64_t max_size   = UINT64_C(128) << 20;

struct buffers { /* the source and the target of a measured call */
    uint8_t             *from, *to;
    size_t               size; /* bytes used of each buffer */
    struct fby_expansion plan; /* from pixels to f32 tensors */
};

/* The size of each of two buffers: twice the last-level cache, within bounds.
 * Both together get at most a quarter of the free memory. */
static uint64_t choose_size(const char *root)
{
    uint64_t wanted     = 2 * fby_read_l3_bytes(root);
    uint64_t size       = wanted < min_size   ? min_size
                          : wanted > max_size ? max_size
                                              : wanted;
    uint64_t limit      = fby_cgroup_memory(root);
    uint64_t free_bytes = fby_read_meminfo(root, "MemAvailable");
    uint64_t both_max   = (limit < free_bytes ? limit : free_bytes) / 4;
    return size < both_max / 2 ? size : both_max / 2;
}

static bool copy(struct buffers *self)
{
    memcpy(self->to, self->from, self->size);
    /* Pretend to read the copy, so that it is not optimised away. */
    __asm__ volatile("" : : "r"(self->to) : "memory");
    return true;
}

static bool expand(struct buffers *self)
{
    struct fby_error_detail why;
    uint32_t                rows = (uint32_t)(self->size / picture_bytes);
    return fby_device_host.expand(
               &self->plan, self->from, rows, self->to, &why) == FBY_OK;
}

/* Bytes per CPU second of the fastest call of `work`; 0: a call failed. */
static double measure(struct buffers *self, bool (*work)(struct buffers *))
{
    double  best     = 0;
    int64_t until_ns = fby_now_ns() + measure_ns;
    do {
        int64_t before_ns = fby_thread_cpu_ns();
        if (!work(self)) {
            return 0;
        }
        int64_t took_ns = fby_thread_cpu_ns() - before_ns;
        double  rate    = (double)self->size * 1e9 / (double)took_ns;
        best            = rate > best ? rate : best;
    } while (fby_now_ns() < until_ns);
    return best;
}

bool fby_doctor_plan_pictures(enum fby_type dtype, struct fby_expansion *out)
{
    struct fby_error_detail         why;
    const struct fby_field_content  field    = {.name = "image",
            .decode                                   = FBY_DECODE_RGB8,
            .wire_type                                = FBY_U8,
            .as.rgb8.normalize                        = true,
            .as.rgb8.mean                             = {0.485, 0.456, 0.406},
            .as.rgb8.std                              = {0.229, 0.224, 0.225},
            .shape = {3, {SIDE, SIDE, CHANNELS}}};
    const struct fby_field_delivery delivery = {
        .dtype = dtype, .layout = FBY_LAYOUT_CHW};
    return fby_expansion_init(out, &field, &delivery, &why) == FBY_OK;
}

static void report_speeds(struct buffers *self, int pipe_fd)
{
    /* Write all pages, so that the system has assigned their memory. */
    memset(self->from, 1, self->size);
    memset(self->to, 1, self->size);
    fby_doctor_report(
        pipe_fd, "copy", fby_judge_copy_speed(measure(self, copy)));
    self->size -= self->size % picture_bytes; /* whole pictures */
    double rate = fby_doctor_plan_pictures(FBY_F32, &self->plan)
                      ? measure(self, expand)
                      : 0;
    fby_doctor_report(pipe_fd, "expand", fby_judge_expand_speed(rate));
}

void fby_doctor_speed(const struct fby_doctor_options *options, int pipe_fd)
{
    static struct buffers self; /* the plan is too large for the stack */
    self.size     = choose_size(options->root);
    bool   enough = self.size >= picture_bytes;
    size_t mapped = self.size;
    self.from     = enough ? fby_pages_map(mapped) : NULL;
    self.to       = enough ? fby_pages_map(mapped) : NULL;
    if (self.from != NULL && self.to != NULL) {
        report_speeds(&self, pipe_fd);
    } else {
        fby_doctor_report(pipe_fd, "copy",
            fby_verdict(
                FBY_DOCTOR_WARN, NULL, "too little memory to measure with"));
    }
    fby_pages_unmap(self.from, mapped);
    fby_pages_unmap(self.to, mapped);
}
