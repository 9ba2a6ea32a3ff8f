/* headway.h - how far work of a known length is: "looking at the data: 12 of
 * 40".
 *
 * On a terminal one line that rewrites itself, ten times a second; elsewhere a
 * plain line every ten seconds. Standard error, so that results can be piped.
 */
#ifndef FBY_CLI_HEADWAY_H
#define FBY_CLI_HEADWAY_H

#include <stdbool.h>
#include <stdint.h>

struct fby_headway {
    const char *what;
    bool        terminal;
    bool        drawn;    /* it stands on the line */
    int64_t     shown_ns; /* when the line was last written */
};

struct fby_headway fby_headway_begin(const char *what);

/* Say it when it is time to. */
void fby_headway_show(struct fby_headway *self, uint64_t done, uint64_t total);

/* Wipe the line, before other output. */
void fby_headway_end(struct fby_headway *self);

#endif
