#include "cli/headway.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"

static const int64_t redraw_ns = FBY_NS_PER_S / 10;
static const int64_t line_ns   = 10 * FBY_NS_PER_S;

struct fby_headway fby_headway_begin(const char *what)
{
    return (struct fby_headway){
        .what     = what,
        .terminal = isatty(STDERR_FILENO) != 0,
        .shown_ns = fby_now_ns(),
    };
}

void fby_headway_show(struct fby_headway *self, uint64_t done, uint64_t total)
{
    int64_t now_ns = fby_now_ns();
    if (now_ns - self->shown_ns < (self->terminal ? redraw_ns : line_ns)) {
        return;
    }
    self->shown_ns = now_ns;
    self->drawn    = self->terminal;
    fprintf(stderr, "%s%s: %" PRIu64 " of %" PRIu64 "%s",
        self->terminal ? "\r\033[K" : "", self->what, done, total,
        self->terminal ? "" : "\n");
}

void fby_headway_end(struct fby_headway *self)
{
    if (self->drawn) {
        fputs("\r\033[K", stderr);
        self->drawn = false;
    }
}
