/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - a progress line on standard error.
 *
 * On a terminal the line is redrawn ten times a second; elsewhere a new line is
 * printed every ten seconds. Standard output stays free for results. */
#ifndef FBY_CLI_PROGRESS_H
#define FBY_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct fby_progress_line {
    bool    is_terminal; /* standard error is a terminal */
    bool    has_colours;
    bool    is_drawn; /* the line is on the terminal now */
    int64_t start_ns;
    int64_t last_shown_ns; /* time of the last output; at first start_ns */
};

/* The progress of a stream of batches. */
struct fby_stream_progress {
    uint64_t    steps;   /* steps received in this run */
    uint64_t    total;   /* steps to receive in this run; 0: unlimited */
    uint64_t    samples; /* samples received in this run */
    const char *noun;    /* for a sample: "image" */
    int64_t     wait_ns; /* time the consumer waited for data */
};

/* Begin a line; its elapsed time counts from now. Nothing has to be freed. */
struct fby_progress_line fby_progress_begin(void);

/* If an update is due, show for example "reading samples: 12 of 40". `task` is
 * the part before the colon. On a terminal a bar stands before the text. If the
 * total is 0, it is unknown: the text is "reading samples: 12", without a bar.
 */
void fby_progress_show_count(struct fby_progress_line *self, const char *task,
    uint64_t done, uint64_t total);

/* If an update is due, show the text of fby_progress_write_text. On a terminal
 * a bar stands before the text. */
void fby_progress_show_stream(struct fby_progress_line *self,
    const struct fby_stream_progress *state, int64_t now_ns);

/* Erase the line from the terminal. Call it before other output. */
void fby_progress_end(struct fby_progress_line *self);

/* Write the text of a stream's line to `out`: "step 12/40  1523 images/s  ETA
 * 0:18  waited 2.1 s (13 %)". Pure. */
void fby_progress_write_text(const struct fby_stream_progress *state,
    int64_t elapsed_ns, char *out, uint32_t size);

/* Returns the number of characters of a bar that fits before the text, on a
 * terminal with `columns` characters in a line; 0: too little space. Pure. */
uint32_t fby_progress_bar_width(uint32_t columns, uint32_t text_length);

#endif
