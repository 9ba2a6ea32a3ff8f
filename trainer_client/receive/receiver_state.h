/* SPDX-License-Identifier: Apache-2.0 */
/* receiver_state.h - the internal state of the receiver, for the files below.
 * Functions of the receiver begin with fby_r_. A "peer" is a worker that the
 * window (which decides what to request) knows by a number. The "wait reason"
 * is the text that tells a waiting trainer what the stream waits for.
 *
 * Files: receiver.c create, destroy, the loop
 *        open.c     choice of the dataset, start of the window
 *        server.c   messages from the server
 *        worker.c   control messages from workers
 *        chunk.c    chunks, and results of the decode threads
 *        act.c      actions of the window
 *        keys.c     tickets, and sealed frames
 *        deliver.c  complete batches to the ready queue; statistics */
#ifndef FBY_CLIENT_RECEIVE_STATE_H
#define FBY_CLIENT_RECEIVE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <zmq.h>

#include "common/file_watch.h"
#include "common/locator.h"
#include "pipeline/plan/order.h"
#include "proto/refusal.h"
#include "trainer_client/batch/decode_pool.h"
#include "trainer_client/batch/request_slot.h"
#include "trainer_client/receive/assembly.h"
#include "trainer_client/receive/dataset_agreement.h"
#include "trainer_client/receive/membership.h"
#include "trainer_client/receive/peers.h"
#include "trainer_client/receive/receiver.h"
#include "trainer_client/window/window.h"

enum {
    FBY_R_CACHED_ORDERS = 8,  /* epochs whose order is cached */
    FBY_R_MAX_BURST     = 64, /* most messages read from one socket in a turn */
    FBY_R_N_WAKEUPS     = 4 /* those of ready queue, batch pool, decode pool and
                           locator */
};

/* The reason why a worker is set aside (not used again). If the stream fails,
 * the window returns the last one as `code`. Codes below 16 are values of
 * fby_cannot_code. */
enum fby_r_aside_reason {
    FBY_R_STALE       = 16, /* STALE_DATA: its data has changed */
    FBY_R_FINGERPRINT = 17, /* WRONG_FINGERPRINT: it is another build */
    FBY_R_OPEN_FAILED = 18, /* OPEN_FAILED: it cannot open the dataset */
    FBY_R_VERSION     = 19, /* it speaks another protocol version */
    FBY_R_DIFFERS     = 20, /* OPENED with another dataset or fingerprint */
    FBY_R_KEY         = 21  /* it has no keys, or does not accept a ticket */
};

struct fby_r_order_cache { /* an epoch has entry epoch % FBY_R_CACHED_ORDERS */
    uint64_t          epoch[FBY_R_CACHED_ORDERS];
    struct fby_order *order[FBY_R_CACHED_ORDERS]; /* NULL: unused entry */
};

struct fby_r_answer {                 /* the answer to an open request */
    struct fby_assembly     assembly; /* checks it */
    struct fby_request_slot slot;     /* stores it; zeroed if it is an audit's,
                                         which is only compared */
};

struct fby_r_empty_request { /* a request for zero rows, answered locally */
    int                   peer;
    struct fby_request_id id;
};

struct fby_r_refusal { /* CANNOT of a worker, while others are asked */
    bool                    open; /* false: none */
    uint64_t                epoch, step;
    struct fby_error_detail text; /* worker and cause */
};

struct fby_receiver {
    const struct fby_setup *setup;
    struct fby_ready_queue *ready_queue;
    struct fby_batch_pool  *batch_pool;
    struct fby_gpu_upload  *upload; /* NULL: batches stay on the host */
    struct fby_decode_pool *decode_pool;
    pthread_t               thread;
    bool                    has_thread; /* `thread` was started */
    atomic_bool must_stop; /* the thread ends after its current turn */

    /* Thread: only the receiver's thread uses the members below. */
    void                 *zmq; /* ZeroMQ context */
    struct fby_file_watch files;
    struct fby_locator   *locator;       /* of the server */
    void                 *server_socket; /* NULL: not connected yet */
    struct fby_buffer     scratch;       /* encoded message to send */
    struct fby_buffer     sealed;        /* the same, sealed */
    struct fby_aead      *aead;          /* NULL: the stream has no keys */
    int64_t               now_ns;        /* clock, read once a turn */
    char                  host[FBY_HOST_MAX + 1]; /* name of this host */
    struct fby_session_id session;
    uint64_t              last_open_id; /* id of the newest OPEN */
    struct fby_membership membership;
    struct fby_window    *window;
    struct fby_peer      *peers;      /* workers, by peer number */
    int                   n_peers;    /* 1 + the highest peer number so far */
    zmq_pollitem_t       *poll_items; /* wakeups, server, connected peers */
    int     *poll_item_peer;          /* peer number, by index in poll_items */
    bool     reads_workers; /* in this turn: the decode threads had room */
    uint32_t first_read;    /* number of the first socket read in a turn */
    uint32_t n_unread;      /* in this turn: readable sockets of workers after
                               the one that is read */
    struct fby_r_answer      *answers; /* one per slot, then one per audit */
    uint32_t                  n_slots;
    uint32_t                  n_copying; /* slots whose arena is being copied */
    struct fby_codec_scratch *codec_scratch; /* for decoding in this thread */
    struct fby_r_order_cache *order_cache;
    struct fby_r_empty_request *empty_requests; /* not yet answered */
    uint32_t                    n_empty_requests;
    struct forebay_batch       *spare_batch; /* empty, from the pool; or NULL */

    /* opening the stream */
    struct fby_dataset_agreement agreement;
    const struct fby_candidate  *dataset; /* the chosen one of `agreement` */
    bool      opened;   /* the dataset is chosen and the window has started */
    bool      finished; /* the stream ended or failed: deliver nothing */
    uint32_t  max_sockets;   /* of ZeroMQ: one for each worker, and some */
    bool      worker_listed; /* the server has listed a worker */
    bool      worker_spoke;  /* a worker has answered HELLO or OPEN in words */
    int64_t   decide_at_ns;  /* time to choose the dataset; 0: not set */
    uint64_t  n_samples;     /* samples of the dataset */
    uint32_t *shard_samples; /* number of samples of each shard */
    uint32_t  n_shards;
    /* Constant once the stream is open: the trainer's threads read them. */
    const char **class_names; /* by id; the names are those of the pipeline, or
                                 else of `agreement` */
    uint32_t     n_classes;

    struct fby_error_detail  cannot;     /* text of the last CANNOT */
    struct fby_failed_sample bad_sample; /* of the last CANNOT or STALE */
    struct fby_r_refusal     refusal;    /* the first one not yet resolved */
    struct fby_error_detail  last_aside; /* why a worker was last set aside */
    enum fby_r_aside_reason  last_aside_code;
    bool refused; /* a REFUSED of the server was logged, JOINED not yet */
    bool warned_no_workers; /* NO-WORKERS was logged, WORKERS-BACK not yet */
    bool busy_reported;     /* the wait reason reports BUSY or an invalid
                               message; HEADER clears it */

    uint64_t wire_bytes; /* total size of received chunk frames */
    uint64_t protocol_errors;
    uint64_t bad_chunks; /* damaged chunks that this thread found */
    int64_t  chunk_ns;   /* time this thread spent checking, decoding chunks */
    uint64_t n_substituted; /* bad samples replaced by other samples */
    struct fby_stage_times worker_times; /* sum over delivered batches */
};

/* ---- receiver.c ---------------------------------------------------------- */

/* Fail the stream, unless it has ended or failed already. */
void fby_r_fail_stream(struct fby_receiver *r, enum forebay_status status,
    const struct fby_error_detail *why);
/* The same, because of the last CANNOT. */
void fby_r_fail_data(
    struct fby_receiver *r, const struct fby_error_detail *why);
/* Send a message to the server, unless it is not connected yet. */
void fby_r_send_to_server(
    struct fby_receiver *r, const struct fby_message *message);
/* Send a message to a worker, unless its socket is closed. */
void fby_r_send_to_peer(
    struct fby_receiver *r, int peer, const struct fby_message *message);
/* The answer to `id`; NULL: `id` is an old request. */
struct fby_r_answer *fby_r_find_answer(
    const struct fby_receiver *r, struct fby_request_id id);

/* ---- act.c --------------------------------------------------------------- */

/* Carry out all actions of the window. */
void fby_r_run_actions(struct fby_receiver *r);

/* ---- open.c -------------------------------------------------------------- */

/* Prepare JOIN. If the stream resumes from a token, pin (require) the digests
 * in the token. Call once, before the loop. */
void fby_r_open_begin(struct fby_receiver *r);
/* Send the OPENs that are due. Start the stream once its dataset is chosen. */
void fby_r_open_tick(struct fby_receiver *r);
/* Tell the waiting trainer that the server does not answer, and why. */
void fby_r_tell_no_server(struct fby_receiver *r);
/* The time at which fby_r_open_tick is due next. */
int64_t fby_r_open_deadline(const struct fby_receiver *r);
void    fby_r_send_open(struct fby_receiver *r, int peer);
/* OPENED: while the stream is being opened, count a vote for the worker's
 * dataset. Later, use the worker only if it has the stream's dataset. */
void fby_r_on_opened(
    struct fby_receiver *r, int peer, const struct fby_opened *opened);
/* OPEN_FAILED: repeat OPEN later if the cause is temporary. */
void fby_r_on_open_failed(
    struct fby_receiver *r, int peer, const struct fby_open_failed *failed);
/* SCANNING: report the progress to forebay_open(). */
void fby_r_on_scanning(
    struct fby_receiver *r, int peer, const struct fby_scanning *scanning);
/* Set a worker aside: log `text` as the reason and do not use the worker again.
 * A failure of the stream may quote the text. */
void fby_r_set_aside(struct fby_receiver *r, int peer,
    enum fby_r_aside_reason code, const char *text);
/* Write the token that resumes the stream at a step, once it is open. */
void fby_r_write_token(const struct fby_receiver *r, uint64_t epoch,
    uint64_t step, char out[FBY_TOKEN_TEXT_SIZE]);

/* ---- plan.c -------------------------------------------------------------- */

/* Set *out to the steps of the stream, whose dataset is known. `out` borrows r.
 * Errors: those of fby_order_create. */
FBY_CHECKED fby_err fby_r_make_plan(const struct fby_receiver *r,
    struct fby_window_plan *out, struct fby_error_detail *why);

/* The order of an epoch's samples, borrowed. It is created if it is not one of
 * the FBY_R_CACHED_ORDERS in the cache. */
const struct fby_order *fby_r_epoch_order(
    const struct fby_receiver *r, uint64_t epoch);

/* ---- server.c, worker.c, chunk.c ----------------------------------------- */

/* Tell the waiting trainer that `from` sent an invalid message, until the next
 * HEADER. */
void fby_r_report_invalid(
    struct fby_receiver *r, const char *from, const char *cause);
/* Decode a message; `from` names its sender in the log. Free *out with
 * fby_message_fini. False: the message is invalid or belongs to another
 * session, and was counted as a protocol error. */
bool fby_r_decode_message(struct fby_receiver *r, zmq_msg_t *frame,
    const char *from, struct fby_message *out);
/* Handle a frame. The content of a chunk may be moved out of its frame. */
void fby_r_on_server_frame(struct fby_receiver *r, zmq_msg_t *frame);
void fby_r_on_worker_frame(struct fby_receiver *r, int peer, zmq_msg_t *frame);
void fby_r_on_chunk(struct fby_receiver *r, int peer, zmq_msg_t *frame);
/* Append ": " and what can be done. If the text is then too long, its beginning
 * is shortened. */
void fby_r_append_remedy(struct fby_error_detail *why, const char *remedy);
/* Take the finished tasks of the decode pool. Release the slots whose batches
 * are made and, with a GPU, whose bytes are copied to it. */
void fby_r_take_results(struct fby_receiver *r);

/* ---- keys.c -------------------------------------------------------------- */

/* All of these do nothing on a stream without keys, unless they say so. */

/* Keep the ticket and session key of a worker's entry of the server's list, and
 * pass a newer ticket on. */
void fby_r_keys_set_ticket(
    struct fby_receiver *r, int peer, const struct fby_worker_info *info);
/* Wipe and free what keys.c keeps of a worker. */
void fby_r_keys_clear(struct fby_peer *peer);
/* HELLO_FIRST: keep its nonce, and send the HELLO that waits for it. False: it
 * answers a message of before the last HELLO, and means nothing; or it has no
 * nonce, though it must, and the peer was closed. */
bool fby_r_keys_on_hello_first(
    struct fby_receiver *r, int peer, const struct fby_hello_first *message);
/* WELCOME: HELLO was answered. */
void fby_r_keys_on_welcome(
    struct fby_peer *peer, const struct fby_welcome *message);
/* Only with keys: send HELLO sealed, or PING to get a nonce for it. */
void fby_r_keys_send_hello(
    struct fby_receiver *r, int peer, const struct fby_message *hello);
/* The connection is closed: its keys are not used again. */
void fby_r_keys_forget_route(struct fby_peer *peer);
/* Only with keys: seal and send a message. */
void fby_r_keys_send(
    struct fby_receiver *r, int peer, const struct fby_message *message);
/* Open a received frame in place, if it is sealed. False: it must be dropped.
 * Without keys always true. */
bool fby_r_keys_open(struct fby_receiver *r, int peer, zmq_msg_t *frame);
/* True if the chunks of a worker are sealed, so their hashes are not checked. */
bool fby_r_keys_seal_chunks(const struct fby_receiver *r, int peer);

/* ---- deliver.c ----------------------------------------------------------- */

/* Move complete batches to the ready queue while the queue has room. */
void fby_r_deliver_batches(struct fby_receiver *r);
/* Count the workers that the server lists or that are still connected. */
uint32_t fby_r_count_workers(const struct fby_receiver *r);
/* Copy the statistics to the ready queue, where the trainer reads them. */
void fby_r_publish_stats(struct fby_receiver *r);
/* If the window has failed, log the reason and fail the stream. */
void fby_r_on_window_failure(struct fby_receiver *r);

#endif
