/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/clock.h"

enum { MAX_BAR_WIDTH = 24, MIN_BAR_WIDTH = 4, DEFAULT_COLUMNS = 80 };

#define ERASE_LINE   "\r\033[K" /* and return to its first column */
#define GREEN        "\033[32m"
#define RESET_COLOUR "\033[0m"

/* Intervals between updates, on a terminal and elsewhere. */
static const int64_t redraw_interval_ns = FBY_NS_PER_S / 10;
static const int64_t print_interval_ns  = 10 * FBY_NS_PER_S;

struct fby_progress_line fby_progress_begin(void)
{
    bool    terminal = isatty(STDERR_FILENO) != 0;
    int64_t now_ns   = fby_now_ns();
    return (struct fby_progress_line){
        .is_terminal   = terminal,
        .has_colours   = terminal && getenv("NO_COLOR") == NULL,
        .start_ns      = now_ns,
        .last_shown_ns = now_ns,
    };
}

/* If an update is due, record it as shown now and return true. */
static bool begin_due_update(struct fby_progress_line *self, int64_t now_ns)
{
    int64_t interval_ns =
        self->is_terminal ? redraw_interval_ns : print_interval_ns;
    if (now_ns - self->last_shown_ns < interval_ns) {
        return false;
    }
    self->last_shown_ns = now_ns;
    self->is_drawn      = self->is_terminal;
    return true;
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static void write_eta(
    const struct fby_stream_progress *state, int64_t elapsed_ns, char out[32])
{
    out[0] = '\0';
    if (state->total > 0 && state->steps > 0) {
        double left_s = seconds(elapsed_ns) / (double)state->steps *
                        (double)(state->total - state->steps);
        if (left_s < 1e9) { /* fits an int */
            snprintf(
                out, 32, "  ETA %d:%02d", (int)left_s / 60, (int)left_s % 60);
        }
    }
}

void fby_progress_write_text(const struct fby_stream_progress *state,
    int64_t elapsed_ns, char *out, uint32_t size)
{
    char   eta[32];
    char   total[24] = "";
    double elapsed   = seconds(elapsed_ns > 0 ? elapsed_ns : 1);
    double waited    = seconds(state->wait_ns);
    write_eta(state, elapsed_ns, eta);
    if (state->total > 0) {
        snprintf(
            total, sizeof(total), "/%llu", (unsigned long long)state->total);
    }
    snprintf(out, size, "step %llu%s  %.0f %ss/s%s  waited %.1f s (%.0f %%)",
        (unsigned long long)state->steps, total,
        (double)state->samples / elapsed, state->noun, eta, waited,
        100 * waited / elapsed);
}

uint32_t fby_progress_bar_width(uint32_t columns, uint32_t text_length)
{
    uint32_t taken = text_length + 2; /* a space, and an empty last column */
    uint32_t cells = columns > taken ? columns - taken : 0;
    cells          = cells < MAX_BAR_WIDTH ? cells : MAX_BAR_WIDTH;
    return cells >= MIN_BAR_WIDTH ? cells : 0;
}

static uint32_t terminal_columns(void)
{
    struct winsize size;
    bool           known =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : DEFAULT_COLUMNS;
}

/* The text is cut to the terminal's width: a wrapped line cannot be erased. */
static void draw_line(const struct fby_progress_line *self,
    const struct fby_stream_progress *state, const char *text)
{
    char     bar[MAX_BAR_WIDTH + 1] = "";
    uint32_t columns                = terminal_columns();
    uint32_t cells                  = 0;
    if (state->total > 0) {
        cells = fby_progress_bar_width(columns, (uint32_t)strlen(text));
        uint64_t filled = state->steps * cells / state->total;
        for (unsigned i = 0; i < cells; i++) {
            bar[i] = i < filled ? '#' : '.';
        }
    }
    fprintf(stderr, ERASE_LINE "%s%s%s%s%.*s", self->has_colours ? GREEN : "",
        bar, self->has_colours ? RESET_COLOUR : "", cells > 0 ? " " : "",
        (int)columns - 1, text);
    fflush(stderr);
}

void fby_progress_show_stream(struct fby_progress_line *self,
    const struct fby_stream_progress *state, int64_t now_ns)
{
    char text[160];
    if (!begin_due_update(self, now_ns)) {
        return;
    }
    fby_progress_write_text(state, now_ns - self->start_ns, text, sizeof(text));
    if (self->is_terminal) {
        draw_line(self, state, text);
    } else {
        fprintf(stderr, "%s\n", text);
    }
}

void fby_progress_show_count(struct fby_progress_line *self, const char *task,
    uint64_t done, uint64_t total)
{
    const struct fby_stream_progress state = {.steps = done, .total = total};
    char                             text[160];
    if (!begin_due_update(self, fby_now_ns())) {
        return;
    }
    int n = snprintf(text, sizeof(text), "%s: %" PRIu64, task, done);
    if (total > 0) {
        snprintf(text + n, sizeof(text) - (size_t)n, " of %" PRIu64, total);
    }
    if (self->is_terminal) {
        draw_line(self, &state, text);
    } else {
        fprintf(stderr, "%s\n", text);
    }
}

void fby_progress_end(struct fby_progress_line *self)
{
    if (self->is_drawn) {
        fputs(ERASE_LINE, stderr);
        self->is_drawn = false;
    }
}
