/* SPDX-License-Identifier: Apache-2.0 */
/* loop_rig.h - a worker's loop, run step by step by the test, with a clock that
 * the test sets and without sockets.
 *
 * Sent messages are kept in a list until the test reads them. A chunk keeps its
 * memory in flight, as libzmq would, until the test releases it. The test can
 * make a send fail. Programs that use this need the linker's --wrap of zmq_send
 * and zmq_msg_send. */
#ifndef FBY_TESTS_WORKER_LOOP_RIG_H
#define FBY_TESTS_WORKER_LOOP_RIG_H

#include "tests/test.h"

#include "tests/worker/kit.h"
#include "worker/loop/loop.h"

struct rig {
    struct fby_loop loop;
    struct kit      kit;
};

struct party_seal { /* of a client with keys */
    struct fby_aead     *aead;
    enum fby_secure_mode mode;
    int64_t              expiry_ns; /* of its ticket */
    struct fby_key       session_key;
    struct fby_buffer    ticket;
    bool                 has_lanes; /* HELLO was sent */
    struct fby_lanes     lanes;
};

struct party { /* a client of the loop */
    struct rig           *rig;
    struct fby_routing_id routing_id;
    struct fby_session_id session;
    struct fby_route_id   route;
    uint64_t              newest; /* request */
    uint64_t              features;
    uint64_t              max_bytes;
    struct party_seal    *seal; /* NULL: all is sent in the clear */
};

struct rig_limits {
    uint64_t budget, memory; /* bytes; 0: plenty */
    uint64_t window;
};

/* Create a loop over the kit's pictures. */
void rig_open(struct rig *rig, void **state);
/* The same with little memory, or a small window. */
void rig_open_limited(struct rig *rig, void **state, struct rig_limits limits);
/* The same with `more` and `rule` in the pipeline, as in kit_open. */
void rig_open_content(
    struct rig *rig, void **state, const char *more, const char *rule);
/* The same with a worker key. */
void rig_open_keys(struct rig *rig, void **state, struct rig_limits limits);
/* All sessions, work and memory must be freed. */
void rig_close(struct rig *rig);

/* Turn the loop until all batches in work are made or have failed. */
void rig_make(struct rig *rig);
/* Collect memory, as a turn of the loop does. */
void rig_collect(struct rig *rig);
/* Collect until all memory is free, since the stages release it later. */
void rig_collect_all(struct rig *rig);

/* Keep the encode thread busy until rig_free_thread. */
void rig_block_thread(struct rig *rig);
void rig_free_thread(struct rig *rig);

/* ---- Messages of parties ------------------------------------------------- */

/* Client `number`, which has sent nothing yet. */
struct party party_of(struct rig *rig, uint64_t number);
/* Give the party a ticket, which `seal` holds; call party_forget_ticket. */
void party_take_ticket(struct party *party, struct party_seal *seal,
    enum fby_secure_mode mode, int64_t expiry_ns);
void party_forget_ticket(struct party *party);
/* Let the loop receive `message` from the party. */
void party_send(struct party *party, const struct fby_message *message);
/* Send HELLO on a new route; the test reads the WELCOME. A party with a ticket
 * first asks for HELLO_FIRST. */
void party_hello(struct party *party);
/* Exchange HELLO, WELCOME, OPEN and OPENED. */
void party_open(struct party *party);
/* Send OPEN and turn the loop until it is answered. */
void party_ask_open(struct party *party, const struct fby_open *open);

/* All rows and fields of a batch. */
struct fby_job_spec rig_spec(const struct rig *rig, uint64_t step);
/* A REQUEST message for `spec`. */
struct fby_request party_request_message(
    const struct party *party, const struct fby_job_spec *spec);
/* Send a REQUEST; returns its id. */
struct fby_request_id party_request(
    struct party *party, const struct fby_job_spec *spec);
void party_credit(struct party *party, uint64_t received);
void party_cancel(struct party *party, struct fby_request_id id);
void party_bye(struct party *party);

/* The state of the party's session; fails if there is none. */
struct fby_session_state party_state(const struct party *party);

/* ---- Messages to parties ------------------------------------------------- */

/* Let the n-th send of a part from now on fail (0: the next), once. */
void wire_fail(int n);
/* Release all chunks that were read, as libzmq does once they are sent. */
void wire_release(void);

/* All functions below first let the loop send what it can. Those that read a
 * message to a party wait while an encode thread writes it. */

/* Check that no message is unread. */
void wire_expect_nothing(struct rig *rig);
/* Read the next message to the party, which must have this type. It is valid
 * until the next call. */
const struct fby_message *wire_expect(
    const struct party *to, enum fby_message_type type);
/* The next frame to the party, as it was sent: it may be sealed. */
zmq_msg_t *wire_expect_frame(const struct party *to);
/* Read the next message to the party, a chunk, whose memory stays in flight. */
struct fby_chunk wire_expect_chunk(const struct party *to);
/* The frame of the last message read, and its position among all sent. */
const uint8_t *wire_frame(void);
unsigned       wire_position(void);
/* Read HEADER, chunks and END of a request, and check every byte. */
void wire_expect_batch(const struct party *to, const struct fby_job_spec *spec,
    struct fby_request_id id);

#endif
