/* bar.h - one line that says how far a long run is.
 *
 * On a terminal a bar that rewrites itself, ten times a second; elsewhere a
 * plain line every ten seconds. Standard error, so that results can be
 * piped. */
#ifndef FBY_CLI_BAR_H
#define FBY_CLI_BAR_H

#include <stdbool.h>
#include <stdint.h>

struct fby_bar {
    bool    terminal;
    bool    colours;
    bool    drawn; /* a bar stands on the line */
    int64_t start_ns;
    int64_t shown_ns; /* when the line was last written */
};

struct fby_bar_state {
    uint64_t steps; /* done in this run */
    uint64_t total; /* of this run; 0: no end */
    uint64_t images;
    int64_t  wait_ns; /* the consumer waited for data */
};

struct fby_bar fby_bar_begin(int64_t now_ns);

/* Draw when it is time to. */
void fby_bar_show(
    struct fby_bar *self, const struct fby_bar_state *state, int64_t now_ns);

/* Wipe the bar, before other output. */
void fby_bar_end(struct fby_bar *self);

/* The line's text without bar and colour, for tests: "step 12/40  1523
 * images/s  ETA 0:18  waited 2.1 s (13 %)". Pure. */
void fby_bar_text(const struct fby_bar_state *state, int64_t elapsed_ns,
    char *out, uint32_t size);

/* How many cells of bar stand beside the text without the line wrapping; 0 when
 * there is no room for one. Pure. */
uint32_t fby_bar_cells(uint32_t columns, uint32_t text_length);

#endif
