/* state.h - the internal state of the receiver, for the files of this folder.
 *
 * Files: receiver.c create, destroy, the loop
 *        open.c     agreement on the data, start of the window
 *        server.c   messages from the server
 *        worker.c   control messages from workers
 *        chunk.c    chunks, and results of the decode threads
 *        act.c      actions of the window
 *        deliver.c  from the window to the ready queue; statistics */
#ifndef FBY_CLIENT_RECEIVE_STATE_H
#define FBY_CLIENT_RECEIVE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <zmq.h>

#include "pipeline/plan/order.h"
#include "trainer_client/batch/request_slot.h"
#include "trainer_client/batch/unpack.h"
#include "trainer_client/receive/assembly.h"
#include "trainer_client/receive/dataset_agreement.h"
#include "trainer_client/receive/membership.h"
#include "trainer_client/receive/peers.h"
#include "trainer_client/receive/receiver.h"
#include "trainer_client/window/window.h"

enum {
    FBY_R_ORDERS  = 8,  /* epochs whose order is cached */
    FBY_R_BURST   = 64, /* most messages of one socket in a turn */
    FBY_R_WAKEUPS = 3   /* of ready queue, batch pool and decode threads */
};

/* Codes of refusals, passed to the window, which returns one with a failure.
 * Codes below 16 are fby_cannot_code. */
enum fby_r_code {
    FBY_R_STALE       = 16,
    FBY_R_FINGERPRINT = 17,
    FBY_R_OPEN_FAILED = 18,
    FBY_R_VERSION     = 19,
    FBY_R_DIFFERS     = 20
};

struct fby_r_orders { /* orders of recent epochs, by epoch % n */
    uint64_t          epoch[FBY_R_ORDERS];
    struct fby_order *order[FBY_R_ORDERS]; /* NULL: unused */
};

struct fby_r_empty { /* a request for no rows, answered without a worker */
    int                   peer;
    struct fby_request_id id;
};

struct fby_receiver {
    const struct fby_setup *setup;
    struct fby_ready_queue *ready_queue;
    struct fby_batch_pool  *batch_pool;
    struct fby_gpu_upload  *upload; /* NULL: batches stay on the host */
    struct fby_unpack      *unpack;
    pthread_t               thread;
    bool                    running;
    atomic_bool             stop;

    /* Thread: all below belongs to the receiver's thread. */
    void                     *zmq;
    void                     *server; /* socket */
    struct fby_buffer         scratch;
    int64_t                   now_ns; /* read once a turn */
    char                      host[FBY_HOST_MAX + 1];
    struct fby_session_id     session;
    uint64_t                  last_open; /* newest open id */
    struct fby_membership     membership;
    struct fby_window        *window;
    struct fby_peer          *peers;
    int                       n_peers; /* highest number ever used, plus 1 */
    zmq_pollitem_t           *items;   /* wakeups, server, peers */
    int                      *item_peer;
    struct fby_assembly      *assemblies; /* per slot, then per audit */
    struct fby_request_slot  *slots;
    uint32_t                  n_slots;
    uint32_t                  n_copying; /* slots being copied to a GPU */
    struct fby_codec_scratch *codec_scratch;
    struct fby_r_orders      *orders;
    struct fby_r_empty       *empty; /* max: slots + audits */
    uint32_t                  n_empty;
    struct forebay_batch     *spare; /* taken from the pool, not yet filled */

    /* opening the stream */
    struct fby_dataset_agreement agreement;
    bool                         opened;
    bool      finished;  /* ended or failed: no more batches are delivered */
    bool      listed;    /* the server has listed a worker */
    int64_t   decide_ns; /* all have answered: decide then; 0: not yet */
    uint64_t  samples;
    uint32_t *shard_samples;
    uint32_t  n_shards;

    struct fby_why cannot; /* message of the last CANNOT */
    struct fby_why aside;  /* message about the last worker set aside */
    bool           warned_no_workers;
    bool           reported_busy; /* waiting calls got the BUSY text; no HEADER
                                     came since */

    uint64_t               wire_bytes;
    uint64_t               protocol_errors;
    uint64_t               bad_chunks; /* found outside the decode threads */
    int64_t                check_ns;   /* spent on chunks by this thread */
    uint64_t               substituted;
    struct fby_stage_times times; /* of delivered batches */
};

/* ---- receiver.c ---------------------------------------------------------- */

/* Fail the stream, unless it has ended or failed already. */
void fby_r_fail(struct fby_receiver *r, enum forebay_status status,
    const struct fby_why *why);
/* Send a message to the server. */
void fby_r_to_server(struct fby_receiver *r, const struct fby_message *message);
/* Send a message to a worker; nothing if its socket is closed. */
void fby_r_to_peer(
    struct fby_receiver *r, int peer, const struct fby_message *message);
/* The assembly of the answer to a request; NULL when the answer is late. */
struct fby_assembly *fby_r_assembly(
    const struct fby_receiver *r, struct fby_request_id id);

/* ---- act.c --------------------------------------------------------------- */

/* Carry out all actions of the window. */
void fby_r_run_actions(struct fby_receiver *r);

/* ---- open.c -------------------------------------------------------------- */

/* Prepare JOIN, and pin what the token says. Call once, before the loop. */
void fby_r_open_begin(struct fby_receiver *r);
/* Repeat OPENs that are due; start the stream once its data is agreed on. */
void fby_r_open_tick(struct fby_receiver *r);
/* When that tick has something to do next. */
int64_t fby_r_open_deadline(const struct fby_receiver *r);
/* Send OPEN to a worker. */
void fby_r_send_open(struct fby_receiver *r, int peer);
/* OPENED: a vote for the data, or later a worker to check. */
void fby_r_opened(
    struct fby_receiver *r, int peer, const struct fby_opened *opened);
/* OPEN_FAILED: OPEN is repeated if the cause may pass. */
void fby_r_open_failed(
    struct fby_receiver *r, int peer, const struct fby_open_failed *failed);
/* SCANNING: progress for forebay_open(). */
void fby_r_scanning(
    struct fby_receiver *r, int peer, const struct fby_scanning *scanning);
/* Do not use a worker again; log it and keep the text for a failure. */
void fby_r_set_aside(
    struct fby_receiver *r, int peer, enum fby_r_code code, const char *text);
/* The order of an epoch; borrowed from a cache of FBY_R_ORDERS epochs. */
const struct fby_order *fby_r_order(
    const struct fby_receiver *r, uint64_t epoch);

/* ---- server.c, worker.c, chunk.c ----------------------------------------- */

/* Handle a frame from the server. */
void fby_r_server_frame(struct fby_receiver *r, zmq_msg_t *frame);
/* Handle a frame from a worker; a chunk's content may be moved out of it. */
void fby_r_worker_frame(struct fby_receiver *r, int peer, zmq_msg_t *frame);
/* Handle a chunk frame; its content may be moved out of it. */
void fby_r_chunk(struct fby_receiver *r, int peer, zmq_msg_t *frame);
/* Take the results of the decode threads, and free slots that were copied. */
void fby_r_take_results(struct fby_receiver *r);

/* ---- deliver.c ----------------------------------------------------------- */

/* Put complete batches into the ready queue, as many as it has room for. */
void fby_r_deliver(struct fby_receiver *r);
/* Copy the statistics to the ready queue. */
void fby_r_update_stats(struct fby_receiver *r);
/* Fail the stream because the window failed. */
void fby_r_window_failed(struct fby_receiver *r);

#endif
