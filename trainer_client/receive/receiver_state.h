/* receiver_state.h - the internal state of the receiver, for the files of this folder.
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
#include "trainer_client/batch/decode_pool.h"
#include "trainer_client/batch/request_slot.h"
#include "trainer_client/receive/assembly.h"
#include "trainer_client/receive/dataset_agreement.h"
#include "trainer_client/receive/membership.h"
#include "trainer_client/receive/peers.h"
#include "trainer_client/receive/receiver.h"
#include "trainer_client/window/window.h"

enum {
    FBY_R_ORDERS  = 8,  /* epochs whose order is cached */
    FBY_R_BURST   = 64, /* most messages read from one socket in a turn */
    FBY_R_WAKEUPS = 3   /* of the ready queue, batch pool and decode pool */
};

/* Why a worker is set aside. The window returns the last reason in the `code`
 * of a failure. Codes below 16 are fby_cannot_code. */
enum fby_r_code {
    FBY_R_STALE       = 16,
    FBY_R_FINGERPRINT = 17,
    FBY_R_OPEN_FAILED = 18,
    FBY_R_VERSION     = 19,
    FBY_R_DIFFERS     = 20
};

struct fby_r_orders { /* orders of epochs, at index epoch % FBY_R_ORDERS */
    uint64_t          epoch[FBY_R_ORDERS];
    struct fby_order *order[FBY_R_ORDERS]; /* NULL: unused */
};

struct fby_r_empty_request { /* a request for zero rows, answered locally */
    int                   peer;
    struct fby_request_id id;
};

struct fby_receiver {
    const struct fby_setup *setup;
    struct fby_ready_queue *ready_queue;
    struct fby_batch_pool  *batch_pool;
    struct fby_gpu_upload  *upload; /* NULL: batches stay on the host */
    struct fby_decode_pool *decode_pool;
    pthread_t               thread;
    bool                    running;
    atomic_bool             stop; /* the thread ends after its current turn */

    /* Thread: only the receiver's thread uses the members below. */
    void                     *zmq;     /* ZeroMQ context */
    void                     *server;  /* socket */
    struct fby_buffer         scratch; /* for messages being sent */
    int64_t                   now_ns;  /* read once a turn */
    char                      host[FBY_HOST_MAX + 1]; /* name of this host */
    struct fby_session_id     session;
    uint64_t                  last_open; /* newest open id */
    struct fby_membership     membership;
    struct fby_window        *window;
    struct fby_peer          *peers;
    int                       n_peers; /* 1 + the highest peer number so far */
    zmq_pollitem_t           *items;   /* wakeups, server, connected peers */
    int                      *item_peer;  /* peer number, by index in items */
    struct fby_assembly      *assemblies; /* per slot, then per audit */
    struct fby_request_slot  *slots;
    uint32_t                  n_slots;
    uint32_t                  n_copying;     /* slots being copied to a GPU */
    struct fby_codec_scratch *codec_scratch; /* for chunks decoded here */
    struct fby_r_orders      *orders;
    struct fby_r_empty_request *empty; /* n_empty; at most slots + audits */
    uint32_t                    n_empty;
    struct forebay_batch       *spare; /* taken from the pool, not yet filled */

    /* opening the stream */
    struct fby_dataset_agreement agreement;
    bool                         opened;
    bool      finished;  /* ended or failed: no more batches are delivered */
    bool      listed;    /* the server has listed a worker */
    int64_t   decide_ns; /* time to choose the dataset, set once all workers
                            have answered; 0: some have not */
    uint64_t  samples;   /* in the dataset */
    uint32_t *shard_samples; /* n_shards; samples of each shard */
    uint32_t  n_shards;

    struct fby_error_detail cannot; /* text of the last CANNOT */
    struct fby_error_detail aside;  /* why the last worker was set aside */
    bool warned_no_workers; /* NO-WORKERS was logged, WORKERS-BACK not yet */
    bool reported_busy;     /* a BUSY is the ready queue's wait reason, and no
                               HEADER has arrived since */

    uint64_t               wire_bytes; /* of all chunk frames */
    uint64_t               protocol_errors;
    uint64_t               bad_chunks;  /* found outside the decode threads */
    int64_t                check_ns;    /* time of this thread for chunks */
    uint64_t               substituted; /* samples, see forebay_stats */
    struct fby_stage_times times; /* workers' times for delivered batches */
};

/* ---- receiver.c ---------------------------------------------------------- */

/* Fail the stream, unless it has ended or failed already. */
void fby_r_fail(struct fby_receiver *r, enum forebay_status status,
    const struct fby_error_detail *why);
/* Send a message to the server. */
void fby_r_to_server(struct fby_receiver *r, const struct fby_message *message);
/* Send a message to a worker, unless its socket is closed. */
void fby_r_to_peer(
    struct fby_receiver *r, int peer, const struct fby_message *message);
/* The assembly of the answer to a request; NULL when the answer is late. */
struct fby_assembly *fby_r_assembly(
    const struct fby_receiver *r, struct fby_request_id id);

/* ---- act.c --------------------------------------------------------------- */

/* Carry out all actions of the window. */
void fby_r_run_actions(struct fby_receiver *r);

/* ---- open.c -------------------------------------------------------------- */

/* Prepare JOIN and pin the digests of the token. Call once, before the loop. */
void fby_r_open_begin(struct fby_receiver *r);
/* Repeat OPENs that are due; start the stream once its data is agreed on. */
void fby_r_open_tick(struct fby_receiver *r);
/* The time at which fby_r_open_tick is due next. */
int64_t fby_r_open_deadline(const struct fby_receiver *r);
/* Send OPEN to a worker. */
void fby_r_send_open(struct fby_receiver *r, int peer);
/* OPENED: count a vote for the worker's dataset. Once the stream is open, check
 * that the worker has the stream's dataset instead. */
void fby_r_opened(
    struct fby_receiver *r, int peer, const struct fby_opened *opened);
/* OPEN_FAILED: repeat OPEN later if the cause is temporary. */
void fby_r_open_failed(
    struct fby_receiver *r, int peer, const struct fby_open_failed *failed);
/* SCANNING: report the progress to forebay_open(). */
void fby_r_scanning(
    struct fby_receiver *r, int peer, const struct fby_scanning *scanning);
/* Set a worker aside: log `text` as the reason and do not use the worker again.
 * A failure of the stream may quote the text. */
void fby_r_set_aside(
    struct fby_receiver *r, int peer, enum fby_r_code code, const char *text);
/* The order of an epoch; borrowed from a cache of FBY_R_ORDERS epochs. */
const struct fby_order *fby_r_order(
    const struct fby_receiver *r, uint64_t epoch);

/* ---- server.c, worker.c, chunk.c ----------------------------------------- */

/* Decode a message; `from` names its sender in the log. Free *out with
 * fby_message_fini. False: the message is invalid or belongs to another
 * session, and was counted as a protocol error. */
bool fby_r_decode(struct fby_receiver *r, zmq_msg_t *frame, const char *from,
    struct fby_message *out);
/* Handle a frame from the server. */
void fby_r_server_frame(struct fby_receiver *r, zmq_msg_t *frame);
/* Handle a frame from a worker; a chunk's content may be moved out of it. */
void fby_r_worker_frame(struct fby_receiver *r, int peer, zmq_msg_t *frame);
/* Handle a chunk frame; its content may be moved out of it. */
void fby_r_chunk(struct fby_receiver *r, int peer, zmq_msg_t *frame);
/* Take the finished tasks of the decode pool, and release the slots whose copy
 * to a GPU has finished. */
void fby_r_take_results(struct fby_receiver *r);

/* ---- deliver.c ----------------------------------------------------------- */

/* Move complete batches from the window to the ready queue while it has room. */
void fby_r_deliver(struct fby_receiver *r);
/* The number of workers that are listed by the server or still connected. */
uint32_t fby_r_known_workers(const struct fby_receiver *r);
/* Copy the statistics to the ready queue. */
void fby_r_update_stats(struct fby_receiver *r);
/* The window failed: log why and fail the stream. */
void fby_r_window_failed(struct fby_receiver *r);

#endif
