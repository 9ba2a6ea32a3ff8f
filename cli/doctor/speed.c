/* speed.c - how fast memory is, and how fast pixels become tensors.
 *
 * By the client's own expansion, on buffers that no cache holds; each is
 * measured for a fraction of a second, by CPU time, and the best round counts:
 * this says what the machine can do, not who else is on it. */
#include <string.h>

#include "cli/doctor/doctor.h"
#include "cli/doctor/read.h"
#include "common/clock.h"
#include "common/pages.h"
#include "trainer_client/expand/device.h"

enum { SIDE = 224, CHANNELS = 3, PICTURE = SIDE * SIDE * CHANNELS };

static const int64_t  round_ns = 300 * FBY_NS_PER_MS;
static const uint64_t least    = UINT64_C(64) << 20; /* bytes of tensors */
static const uint64_t most     = UINT64_C(128) << 20;
static const uint64_t parts    = 4; /* of free memory; one is used */

struct buffers {
    uint8_t             *from, *to;
    size_t               size; /* bytes of each */
    struct fby_expansion plan;
};

/* Twice the last cache, but not much of the memory that is left. */
static uint64_t choose_size(const char *root)
{
    uint64_t cache      = 2 * fby_read_last_cache(root);
    uint64_t size       = cache < least ? least : cache > most ? most : cache;
    uint64_t limit      = fby_read_memory_limit(root);
    uint64_t free_bytes = fby_read_meminfo(root, "MemAvailable");
    uint64_t bound      = (limit < free_bytes ? limit : free_bytes) / parts;
    return bound < 2 * size ? bound / 2 : size;
}

static bool copy(struct buffers *self)
{
    memcpy(self->to, self->from, self->size);
    __asm__ volatile("" : : "r"(self->to) : "memory"); /* it is used */
    return true;
}

static bool expand(struct buffers *self)
{
    struct fby_why why;
    uint32_t       rows = (uint32_t)(self->size / (PICTURE * sizeof(float)));
    return fby_device_host.expand(
               &self->plan, self->from, rows, self->to, &why) == FBY_OK;
}

/* Bytes a second of CPU of the best of some rounds; 0: it cannot be done. */
static double measure(struct buffers *self, bool (*work)(struct buffers *))
{
    double  best     = 0;
    int64_t until_ns = fby_now_ns() + round_ns;
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

static bool make_plan(struct fby_expansion *plan)
{
    struct fby_why                  why;
    const struct fby_field_content  field = {.name = "image",
         .decode                                   = FBY_DECODE_RGB8,
         .wire_type                                = FBY_U8,
         .normalize                                = true,
         .mean                                     = {0.485, 0.456, 0.406},
         .std                                      = {0.229, 0.224, 0.225},
         .shape = {3, {SIDE, SIDE, CHANNELS}}};
    const struct fby_field_delivery to    = {
           .dtype = FBY_F32, .layout = FBY_LAYOUT_CHW};
    return fby_expansion_init(plan, &field, &to, &why) == FBY_OK;
}

static void say(struct buffers *self, int out)
{
    memset(self->from, 1, self->size);
    memset(self->to, 1, self->size);
    struct fby_verdict copied = fby_judge_copy(measure(self, copy));
    fby_doctor_say(out, "copy", &copied);
    self->size -= self->size % (PICTURE * sizeof(float));
    double rate = make_plan(&self->plan) ? measure(self, expand) : 0;
    struct fby_verdict expanded = fby_judge_expand(rate);
    fby_doctor_say(out, "expand", &expanded);
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
        say(&self, out);
    } else {
        struct fby_verdict none =
            fby_verdict(FBY_DOCTOR_WARN, "too little memory to measure with");
        fby_doctor_say(out, "copy", &none);
    }
    fby_pages_unmap(self.from, mapped);
    fby_pages_unmap(self.to, mapped);
}
