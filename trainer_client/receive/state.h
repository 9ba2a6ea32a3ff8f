/* state.h - the receiver from inside; only its own files include it.
 *
 * Files: receiver.c          create, destroy, the loop
 *        open.c     agreeing on the data, starting the window
 *        server.c   messages of the server
 *        worker.c   control messages of workers
 *        chunk.c    chunks, and what the decode threads made of them
 *        act.c      what the window decides
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
    FBY_R_ORDERS  = 8,  /* epochs whose order is kept */
    FBY_R_BURST   = 64, /* messages of one socket in a turn */
    FBY_R_WAKEUPS = 3
};

/* What we tell the window of a refusal; it gives it back on failure. Those
 * below are fby_cannot_code. */
enum fby_r_code {
    FBY_R_STALE       = 16,
    FBY_R_FINGERPRINT = 17,
    FBY_R_OPEN_FAILED = 18,
    FBY_R_VERSION     = 19,
    FBY_R_DIFFERS     = 20
};

struct fby_r_orders { /* those of the last epochs, by epoch % n */
    uint64_t          epoch[FBY_R_ORDERS];
    struct fby_order *order[FBY_R_ORDERS]; /* NULL: unused */
};

struct fby_r_empty { /* a request for no rows, which we answer ourselves */
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

    /* All below is the thread's own. */
    void                     *zmq;
    void                     *server; /* socket */
    struct fby_buffer         scratch;
    int64_t                   now_ns; /* read once a turn */
    char                      host[FBY_HOST_MAX + 1];
    struct fby_session_id     session;
    uint64_t                  opens; /* newest open id */
    struct fby_membership     membership;
    struct fby_window        *window;
    struct fby_peer          *peers;
    int                       n_peers; /* so many numbers were ever in use */
    zmq_pollitem_t           *items;   /* wakeups, server, peers */
    int                      *item_peer;
    struct fby_assembly      *assemblies; /* one a slot, then one an audit */
    struct fby_request_slot  *slots;
    uint32_t                  n_slots;
    uint32_t                  n_copying; /* slots being copied to a GPU */
    struct fby_codec_scratch *codec_scratch;
    struct fby_r_orders      *orders;
    struct fby_r_empty       *empty; /* as many as slots and audits */
    uint32_t                  n_empty;
    struct forebay_batch     *spare; /* taken from the pool, not yet filled */

    /* opening */
    struct fby_dataset_agreement agreement;
    bool                         opened;
    bool      over;      /* ended or failed: nothing more is laid down */
    bool      listed;    /* a list of workers has come */
    int64_t   settle_ns; /* all have answered: decide then; 0: no */
    uint64_t  samples;
    uint32_t *shard_samples;
    uint32_t  n_shards;

    struct fby_why cannot; /* the last CANNOT, for people */
    struct fby_why aside;  /* the last worker set aside, likewise */
    bool           warned_alone;
    bool           told_busy; /* what waits is told so: BUSY, and no HEADER
                                 behind it */

    uint64_t               wire_bytes;
    uint64_t               protocol_errors;
    uint64_t               bad_chunks; /* not seen by the decode threads */
    int64_t                check_ns;   /* spent on chunks here */
    uint64_t               substituted;
    struct fby_stage_times times; /* of delivered batches */
};

/* receiver.c */
void fby_r_act(struct fby_receiver *r);
void fby_r_fail(struct fby_receiver *r, enum forebay_status status,
    const struct fby_why *why);
void fby_r_to_server(struct fby_receiver *r, const struct fby_message *message);
void fby_r_to_peer(
    struct fby_receiver *r, int peer, const struct fby_message *message);

/* Where the answer to a request is gathered; NULL: nowhere, it is late. */
struct fby_assembly *fby_r_assembly(
    const struct fby_receiver *r, struct fby_request_id id);

/* open.c */
void    fby_r_open_begin(struct fby_receiver *r);
void    fby_r_open_tick(struct fby_receiver *r);
int64_t fby_r_open_deadline(const struct fby_receiver *r);
void    fby_r_send_open(struct fby_receiver *r, int peer);
void    fby_r_opened(
       struct fby_receiver *r, int peer, const struct fby_opened *opened);
void fby_r_open_failed(
    struct fby_receiver *r, int peer, const struct fby_open_failed *failed);
void fby_r_scanning(
    struct fby_receiver *r, int peer, const struct fby_scanning *scanning);
void fby_r_set_aside(
    struct fby_receiver *r, int peer, enum fby_r_code code, const char *text);
const struct fby_order *fby_r_order(
    const struct fby_receiver *r, uint64_t epoch);

/* server.c */
void fby_r_server_frame(struct fby_receiver *r, zmq_msg_t *frame);

/* worker.c */
void fby_r_worker_frame(struct fby_receiver *r, int peer, zmq_msg_t *frame);

/* chunk.c; takes the frame's content */
void fby_r_chunk(struct fby_receiver *r, int peer, zmq_msg_t *frame);
void fby_r_finished(struct fby_receiver *r);

/* deliver.c */
void fby_r_deliver(struct fby_receiver *r);
void fby_r_report(struct fby_receiver *r);
void fby_r_window_failed(struct fby_receiver *r);

#endif
