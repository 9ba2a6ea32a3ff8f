/* SPDX-License-Identifier: Apache-2.0 */
/* ids.h - functions on the ids in messages, and two kinds of ids.
 *
 * common/id.h has the other kinds, and says why ids are structs. 0 is never an
 * id, so a zeroed struct means "none". Request ids and open ids count up. All
 * other ids are random 64-bit numbers. */
#ifndef FBY_PROTO_IDS_H
#define FBY_PROTO_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/id.h"

/* A connection of a client to a worker; each HELLO message begins one. */
struct fby_route_id {
    uint64_t value;
};

/* An OPEN message of a session, which asks a worker to open a dataset. */
struct fby_open_id {
    uint64_t value;
};

static inline bool fby_session_equal(
    struct fby_session_id a, struct fby_session_id b)
{
    return a.value == b.value;
}
static inline bool fby_request_equal(
    struct fby_request_id a, struct fby_request_id b)
{
    return a.value == b.value;
}
static inline bool fby_open_equal(struct fby_open_id a, struct fby_open_id b)
{
    return a.value == b.value;
}
static inline bool fby_instance_equal(
    struct fby_instance_id a, struct fby_instance_id b)
{
    return a.value == b.value;
}

/* Returns a random number other than 0. Any thread. */
uint64_t fby_id_random(void);

static inline struct fby_session_id fby_session_random(void)
{
    return (struct fby_session_id){fby_id_random()};
}
static inline struct fby_instance_id fby_instance_random(void)
{
    return (struct fby_instance_id){fby_id_random()};
}

struct fby_id_text {
    char text[17]; /* ends with NUL */
};

/* Format an id as 16 hex digits, the most significant first. */
struct fby_id_text fby_id_text(uint64_t value);

#endif
