/* progress.h - one line that says how far long work is.
 *
 * On a terminal it rewrites itself ten times a second; elsewhere a plain line
 * is printed every ten seconds. Written to standard error, so that results can
 * be piped. */
#ifndef FBY_CLI_PROGRESS_H
#define FBY_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct fby_progress_line {
    bool    terminal;
    bool    colours;
    bool    drawn; /* the line is on the terminal */
    int64_t start_ns;
    int64_t shown_ns; /* when it was last written */
};

/* How far a stream is. */
struct fby_stream_progress {
    uint64_t steps; /* done in this run */
    uint64_t total; /* of this run; 0: no end */
    uint64_t images;
    int64_t  wait_ns; /* the consumer waited for data */
};

struct fby_progress_line fby_progress_begin(void);

/* "looking at the data: 12 of 40", if it is time to write a line. */
void fby_progress_count(struct fby_progress_line *self, const char *what,
    uint64_t done, uint64_t total);

/* fby_progress_text with a bar before it, if it is time to write a line. */
void fby_progress_stream(struct fby_progress_line *self,
    const struct fby_stream_progress *state, int64_t now_ns);

/* Wipe the line. Call it before other output. */
void fby_progress_end(struct fby_progress_line *self);

/* The text of a stream's line: "step 12/40  1523 images/s  ETA 0:18  waited
 * 2.1 s (13 %)". Pure. */
void fby_progress_text(const struct fby_stream_progress *state,
    int64_t elapsed_ns, char *out, uint32_t size);

/* How many cells of bar fit beside the text on one line; 0 when a bar would
 * have too few. Pure. */
uint32_t fby_progress_cells(uint32_t columns, uint32_t text_length);

#endif
