/* SPDX-License-Identifier: Apache-2.0 */
/* light_peers.h - many workers and trainers that talk only to the server.
 *
 * All run on the thread of the bench, each with a connection and a key of its
 * own. Workers register and send heartbeats. Trainers join jobs, renew their
 * leases and keep the lists of workers, with the code of real ones. There is no
 * data. The peers start within one second, and so their messages are spread over
 * each second. Errors end the bench. */
#ifndef FBY_BENCH_LIGHT_PEERS_H
#define FBY_BENCH_LIGHT_PEERS_H

#include "common/id.h"

enum { BENCH_MAX_LIGHT = 8192 }; /* workers, and also trainers */

struct bench_light_config {
    const char *server; /* endpoint */
    const char *keys;   /* folder of keys, with worker-wI.key for worker I, and
                         trainer-tI.key for trainer I; I from 0 */
    unsigned    workers;
    unsigned    trainers;
};

struct bench_light_peers;

/* `config` is copied; its texts are borrowed until destroy. */
struct bench_light_peers *bench_light_create(
    const struct bench_light_config *config);
void bench_light_destroy(struct bench_light_peers **self_p);

/* Sleep until the next millisecond. Then send what is due and receive what has
 * arrived. */
void bench_light_turn(struct bench_light_peers *self);

/* From the next message on, renew leases `factor` times as often as the server
 * asks for: what grows with the number of messages is then seen sooner. */
void bench_light_hurry(struct bench_light_peers *self, unsigned factor);

struct bench_light_state {         /* of the newest server that has answered */
    struct fby_instance_id server; /* 0: none has answered */
    unsigned               registered; /* workers */
    unsigned               joined;     /* trainers */
    unsigned
        informed; /* of these, trainers that have a ticket for each worker */
};
struct bench_light_state bench_light_state(
    const struct bench_light_peers *self);

#endif
