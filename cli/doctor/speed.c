/* speed.c - measure the speed of memory and of turning pixels into tensors.
 *
 * The buffers are larger than the caches, and the client's own expansion is
 * measured. Each measurement lasts a fraction of a second, in CPU time. The
 * best round counts, so other load on the machine disturbs little. */
#include <string.h>

#include "cli/doctor/checks.h"
#include "cli/doctor/read.h"
#include "common/clock.h"
#include "common/pages.h"
#include "trainer_client/expand/device.h"

enum { CHANNELS = 3, PICTURE = FBY_DOCTOR_SIDE * FBY_DOCTOR_SIDE * CHANNELS };

static const int64_t  measure_ns = 300 * FBY_NS_PER_MS;
static const uint64_t min_size   = UINT64_C(64) << 20; /* bytes of tensors */
static const uint64_t max_size   = UINT64_C(128) << 20;
static const uint64_t parts      = 4; /* use at most 1/4 of free memory */

struct buffers {
    uint8_t             *from, *to;
    size_t               size; /* bytes of each */
    struct fby_expansion plan;
};

/* Twice the size of the last-level cache, within bounds, and at most a share of
 * the free memory. */
static uint64_t choose_size(const char *root)
{
    uint64_t cache      = 2 * fby_read_last_cache(root);
    uint64_t size       = cache < min_size   ? min_size
                          : cache > max_size ? max_size
                                             : cache;
    uint64_t limit      = fby_read_memory_limit(root);
    uint64_t free_bytes = fby_read_meminfo(root, "MemAvailable");
    uint64_t bound      = (limit < free_bytes ? limit : free_bytes) / parts;
    return bound < 2 * size ? bound / 2 : size;
}

static bool copy(struct buffers *self)
{
    memcpy(self->to, self->from, self->size);
    __asm__ volatile("" : : "r"(self->to) : "memory"); /* keep the copy */
    return true;
}

static bool expand(struct buffers *self)
{
    struct fby_error_detail why;
    uint32_t rows = (uint32_t)(self->size / (PICTURE * sizeof(float)));
    return fby_device_host.expand(
               &self->plan, self->from, rows, self->to, &why) == FBY_OK;
}

/* Bytes per second of CPU time in the fastest call of `work`; 0: a call
 * failed. */
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
    const struct fby_field_content  field = {.name = "image",
         .decode                                   = FBY_DECODE_RGB8,
         .wire_type                                = FBY_U8,
         .as.rgb8.normalize                        = true,
         .as.rgb8.mean                             = {0.485, 0.456, 0.406},
         .as.rgb8.std                              = {0.229, 0.224, 0.225},
         .shape = {3, {FBY_DOCTOR_SIDE, FBY_DOCTOR_SIDE, CHANNELS}}};
    const struct fby_field_delivery to    = {
           .dtype = dtype, .layout = FBY_LAYOUT_CHW};
    return fby_expansion_init(out, &field, &to, &why) == FBY_OK;
}

static void report(struct buffers *self, int out)
{
    memset(self->from, 1, self->size);
    memset(self->to, 1, self->size);
    fby_doctor_report(out, "copy", fby_judge_copy(measure(self, copy)));
    self->size -= self->size % (PICTURE * sizeof(float));
    double rate = fby_doctor_plan_pictures(FBY_F32, &self->plan)
                      ? measure(self, expand)
                      : 0;
    fby_doctor_report(out, "expand", fby_judge_expand(rate));
}

void fby_doctor_speed(const struct fby_doctor_options *options, int out)
{
    static struct buffers self; /* its plan is large */
    self.size     = choose_size(options->root);
    bool   enough = self.size >= PICTURE * sizeof(float);
    size_t mapped = self.size;
    self.from     = enough ? fby_pages_map(mapped) : NULL;
    self.to       = enough ? fby_pages_map(mapped) : NULL;
    if (self.from != NULL && self.to != NULL) {
        report(&self, out);
    } else {
        fby_doctor_report(out, "copy",
            fby_verdict(
                FBY_DOCTOR_WARN, NULL, "too little memory to measure with"));
    }
    fby_pages_unmap(self.from, mapped);
    fby_pages_unmap(self.to, mapped);
}
