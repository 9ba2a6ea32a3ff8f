#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/clock.h"

enum { BAR_WIDTH = 24, BAR_MIN = 4, DEFAULT_COLUMNS = 80 };

static const int64_t redraw_ns = FBY_NS_PER_S / 10; /* on a terminal */
static const int64_t line_ns   = 10 * FBY_NS_PER_S; /* elsewhere */

struct fby_progress_line fby_progress_begin(void)
{
    bool    terminal = isatty(STDERR_FILENO) != 0;
    int64_t now_ns   = fby_now_ns();
    return (struct fby_progress_line){
        .terminal = terminal,
        .colours  = terminal && getenv("NO_COLOR") == NULL,
        .start_ns = now_ns,
        .shown_ns = now_ns,
    };
}

/* True if a line is due; its time of output is then now. */
static bool is_due(struct fby_progress_line *self, int64_t now_ns)
{
    if (now_ns - self->shown_ns < (self->terminal ? redraw_ns : line_ns)) {
        return false;
    }
    self->shown_ns = now_ns;
    self->drawn    = self->terminal;
    return true;
}

void fby_progress_count(struct fby_progress_line *self, const char *task,
    uint64_t done, uint64_t total)
{
    if (is_due(self, fby_now_ns())) {
        fprintf(stderr, "%s%s: %" PRIu64 " of %" PRIu64 "%s",
            self->terminal ? "\r\033[K" : "", task, done, total,
            self->terminal ? "" : "\n");
    }
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static void eta_text(
    const struct fby_stream_progress *state, int64_t elapsed_ns, char out[32])
{
    out[0] = '\0';
    if (state->total > 0 && state->steps > 0) {
        double left = seconds(elapsed_ns) / (double)state->steps *
                      (double)(state->total - state->steps);
        if (left < 1e9) {
            snprintf(out, 32, "  ETA %d:%02d", (int)left / 60, (int)left % 60);
        }
    }
}

void fby_progress_text(const struct fby_stream_progress *state,
    int64_t elapsed_ns, char *out, uint32_t size)
{
    char   eta[32];
    char   total[24] = "";
    double elapsed   = seconds(elapsed_ns > 0 ? elapsed_ns : 1);
    double waited    = seconds(state->wait_ns);
    eta_text(state, elapsed_ns, eta);
    if (state->total > 0) {
        snprintf(
            total, sizeof(total), "/%llu", (unsigned long long)state->total);
    }
    snprintf(out, size, "step %llu%s  %.0f images/s%s  waited %.1f s (%.0f %%)",
        (unsigned long long)state->steps, total,
        (double)state->images / elapsed, eta, waited, 100 * waited / elapsed);
}

uint32_t fby_progress_cells(uint32_t columns, uint32_t text_length)
{
    uint32_t taken = text_length + 2; /* a space, and an empty last column */
    uint32_t cells = columns > taken ? columns - taken : 0;
    cells          = cells < BAR_WIDTH ? cells : BAR_WIDTH;
    return cells >= BAR_MIN ? cells : 0;
}

static uint32_t terminal_columns(void)
{
    struct winsize size;
    bool           known =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : DEFAULT_COLUMNS;
}

/* Cut the line to the terminal's width: a wrapped line cannot be erased. */
static void draw_bar(const struct fby_progress_line *self,
    const struct fby_stream_progress *state, const char *text)
{
    char     bar[BAR_WIDTH + 1] = "";
    uint32_t columns            = terminal_columns();
    uint32_t cells              = 0;
    if (state->total > 0) {
        cells         = fby_progress_cells(columns, (uint32_t)strlen(text));
        uint64_t full = state->steps * cells / state->total;
        for (unsigned i = 0; i < cells; i++) {
            bar[i] = i < full ? '#' : '.';
        }
    }
    fprintf(stderr, "\r\033[K%s%s%s%s%.*s", self->colours ? "\033[32m" : "",
        bar, self->colours ? "\033[0m" : "", cells > 0 ? " " : "",
        (int)columns - 1, text);
    fflush(stderr);
}

void fby_progress_stream(struct fby_progress_line *self,
    const struct fby_stream_progress *state, int64_t now_ns)
{
    char text[160];
    if (!is_due(self, now_ns)) {
        return;
    }
    fby_progress_text(state, now_ns - self->start_ns, text, sizeof(text));
    if (self->terminal) {
        draw_bar(self, state, text);
    } else {
        fprintf(stderr, "%s\n", text);
    }
}

void fby_progress_end(struct fby_progress_line *self)
{
    if (self->drawn) {
        fputs("\r\033[K", stderr);
        self->drawn = false;
    }
}
