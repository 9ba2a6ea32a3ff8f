/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - the loop that owns a worker's sockets. It receives the requests of
 * clients and sends them batches. This header is private to worker/loop/.
 *
 *   worker.c           start and end
 *   loop.c             one turn: poll, receive, events, timers, send
 *   answer.c           handle each message of a client
 *   request.c          REQUEST: find or start the work that makes the batch
 *   encoding_choice.c  choose the filter and codec of each field
 *   open_request.c     OPEN: wait until a dataset is loaded, send the result
 *   events.c           tell the sessions which chunks are ready or failed
 *   deliver.c          send the items that the sessions have ready
 *   peer.c             add, find and end clients and their requests
 *   registry.c         register at the server, and send it heartbeats
 *   keys.c             tickets, and sealed frames in place of messages
 *   outbox.c           frames that wait for those before them
 *   counters.c         read the counters, for heartbeats and views
 *   view.c             make a view of the loop, for the HTTP pages
 *   listen.c           choose the address for clients
 *   leave.c            send LEAVE, finish the open batches, end
 *
 * Thread: only the loop's thread uses these types and functions. */
#ifndef FBY_WORKER_LOOP_H
#define FBY_WORKER_LOOP_H

#include <stdbool.h>

#include "codec/auto.h"
#include "common/file_watch.h"
#include "common/handshakes.h"
#include "common/locator.h"
#include "common/service_manager.h"
#include "common/socket.h"
#include "http/http.h"
#include "proto/counters.h"
#include "proto/wire.h"
#include "secure/ticket.h"
#include "worker/options.h"
#include "worker/pages.h"
#include "worker/plan/plan_cache.h"
#include "worker/session/session.h"
#include "worker/stages/stages.h"

/* A batch that is being made, and the requests for it. */
struct fby_loop_work {
    struct fby_job          *job;      /* holds one reference */
    struct fby_loop_request *requests; /* list; without any, the work ends */
    struct fby_loop_work    *next;
};

/* A request of one client. The request that started the work is charged with
 * the memory of the batch, and is freed with that memory. Any other request is
 * freed when it ends. */
struct fby_loop_request {
    struct fby_loop_peer *peer;
    struct fby_request_id id;
    uint64_t request_checksum;         /* fby_request_checksum, for HEADER */
    struct fby_loop_work     *work;    /* NULL: the request has ended */
    struct fby_session_chunk *chunks;  /* ready; lent to the session */
    bool                      charged; /* for the memory: it started the work */
    struct fby_loop_request  *next_of_work; /* in the list of `work` */
    struct fby_loop_request  *next_of_peer; /* in the list of `peer` */
};

/* The encoding that a client requested last, and for each field what `auto` has
 * learned about filters and codecs. */
struct fby_loop_encoding {
    struct fby_digest content;
    uint64_t fields;   /* requested fields: bit i is field i; 0: all fields */
    uint32_t n_fields; /* number of requested fields; 0: no request yet */
    struct fby_coding_choice choices[FBY_MAX_FIELDS]; /* per requested field */
    struct fby_auto          autos[FBY_MAX_FIELDS];   /* per requested field */
};

enum { FBY_LOOP_OPENED_MAX = 64 }; /* what a session may request at a time */

struct fby_loop_opened { /* what a session has opened */
    struct fby_digest content, data, location;
};

struct fby_loop_peer { /* one session of one client */
    struct fby_session_id    id;
    struct fby_routing_id    routing_id; /* size 0: no route */
    struct fby_session      *session;
    struct fby_loop_seal    *seal;       /* NULL: messages are in the clear */
    struct fby_loop_frame   *outbox;     /* not sent yet, the next one first */
    struct fby_loop_frame  **outbox_end; /* the NULL link after the last one */
    struct fby_loop_opened   opened[FBY_LOOP_OPENED_MAX]; /* a ring */
    size_t                   n_opened;                    /* ever */
    uint64_t                 max_bytes; /* of its largest batch, from HELLO */
    uint64_t                 features;  /* FBY_FEATURE_ bits of both sides */
    struct fby_loop_encoding encoding;
    struct fby_loop_request *requests;
    struct fby_session_item  deferred; /* next to send, if is_deferred */
    bool     is_deferred; /* `deferred` waits for memory to copy its chunk */
    uint64_t duplicate_bytes; /* sent twice on the route by fault injection */
    bool     has_left;        /* session ended; freed with its last request */
    char     name[96];        /* for log lines: "job/rank at host" */
    struct fby_loop_peer *next;
};

struct fby_loop_open { /* an OPEN that waits until its dataset is loaded */
    struct fby_loop_peer   *peer;
    struct fby_open_id      id;
    struct fby_plan_load   *load;
    struct fby_maybe_digest data, fingerprint; /* as the client expects them */
    struct fby_loop_open   *next;
};

struct fby_loop_registry { /* the worker's registration at the server */
    struct fby_locator    *locator; /* of the server; NULL: there is none */
    void                  *socket;  /* NULL: not connected */
    char                   endpoint[FBY_ENDPOINT_SIZE];  /* of the server */
    char                   advertise[FBY_ENDPOINT_SIZE]; /* of this worker */
    char                   host[FBY_HOST_MAX + 1];       /* of this worker */
    struct fby_instance_id server;       /* 0: not registered there */
    int64_t                heartbeat_ns; /* from one HEARTBEAT to the next */
    int64_t                due_ns;      /* when to send REGISTER or HEARTBEAT */
    bool                   connect_due; /* connect to the locator's endpoint */
    uint32_t               unanswered; /* messages sent since the last answer */
    bool    silence_logged;    /* SERVER-SILENT, since the last answer */
    bool    loopback_logged;   /* REGISTERS-LOOPBACK */
    bool    refusal_logged;    /* REGISTER-REFUSED, since the last REGISTERED */
    int64_t last_heartbeat_ns; /* when HEARTBEAT was sent last; 0: never */
    int64_t heartbeat_busy_ns; /* busy_ns of the transform stage at that time */
};

struct fby_loop_counts { /* since the start of the worker */
    uint64_t batches;    /* END messages sent */
    uint64_t wire_bytes; /* of the chunk frames sent */
    uint64_t raw_bytes;  /* of the chunks in these frames, before encoding */
    uint64_t chunks;     /* sent */
    uint64_t requests;   /* accepted */
    uint64_t joined;     /* accepted requests that joined work in progress */
    uint64_t busy, lost, cannot; /* BUSY, LOST and CANNOT messages sent */
    uint64_t malformed;          /* frames that are not valid messages */
    uint64_t out_of_place;       /* messages that the protocol forbade */
    uint64_t unknown_peers;      /* HELLO_FIRST sent */
    uint64_t routes_lost;        /* sends that failed */
    uint64_t copied_chunks;      /* chunks copied before they were sent */
    uint64_t refused_clients;    /* REFUSED sent */
};

struct fby_loop {
    struct fby_worker_options  options; /* counts of 0 resolved, and the times
                                            divided by FOREBAY_TIME_DIVISOR */
    struct fby_instance_id     instance;
    struct fby_loop_keys      *keys; /* NULL: the worker has none */
    struct fby_file_watch      files;
    struct fby_service_manager manager;
    struct fby_roots          *roots;
    struct fby_plan_cache     *plans;
    struct fby_memory         *memory; /* blocks for `arenas` */
    struct fby_arenas         *arenas; /* one arena holds one batch */
    struct fby_stages         *stages;
    struct fby_budget          budget;
    uint64_t                   copy_bytes; /* of `memory`: room for copies of
                                             chunks that batches leave */
    struct fby_session_config  session_config;
    void                      *zmq;        /* context */
    void                      *router;     /* socket of all clients */
    struct fby_handshakes      handshakes; /* of `router` */
    char listen[FBY_ENDPOINT_SIZE];        /* options.listen, if it was NULL */
    char bound[FBY_ENDPOINT_SIZE]; /* endpoint that `router` is bound to */
    struct fby_loop_registry registry;
    struct fby_loop_peer    *peers;
    struct fby_loop_work    *works;
    struct fby_loop_open    *opens;
    struct fby_buffer        frame; /* a control message being sent */
    struct fby_loop_counts   counts;
    struct fby_http         *http; /* NULL: no HTTP */
    int      signal_fd;        /* readable after SIGINT or SIGTERM; -1: none */
    int64_t  now_ns;           /* time at which this turn began */
    int64_t  progress_due_ns;  /* when to send SCANNING next */
    int64_t  trim_due_ns;      /* when to unmap unused memory next */
    uint64_t logged_cause;     /* of the last failure that was logged */
    int64_t  cause_due_ns;     /* when it may be logged again */
    int64_t  leaving_since_ns; /* the first request to leave */
    int64_t  leave_until_ns;   /* when leaving must end; 0: not leaving */
    int64_t  accept_until_ns;  /* then, until when requests are accepted */
    bool     done;             /* the worker ends after this turn */
};

/* ---- loop.c -------------------------------------------------------------- */

/* Wait for messages, events or timers, and handle those that are due. */
void fby_loop_turn(struct fby_loop *self);

/* ---- answer.c ------------------------------------------------------------ */

/* Handle one frame from a client. A malformed frame is counted and dropped. */
void fby_loop_handle_frame(struct fby_loop *self,
    const struct fby_routing_id *sender, void *frame, size_t size);

/* Encode `message` into self->frame. Returns false after a failure, which is a
 * fault of this worker and is logged. */
bool fby_loop_encode(struct fby_loop *self, const struct fby_message *message);

/* Record that the route of `peer` is gone. The session of `peer` goes on. */
void fby_loop_route_lost(struct fby_loop *self, struct fby_loop_peer *peer);

/* Send `message` to `peer`, if it has a route. */
void fby_loop_send_to_peer(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message);

/* Answer BUSY to a request: the client asks again after retry_ns. `text` says
 * what this worker lacks. */
void fby_loop_send_busy(struct fby_loop *self, struct fby_loop_peer *peer,
    struct fby_request_id id, const char *text);

/* Answer LOST: the request was dropped. The client asks any worker again. */
void fby_loop_send_lost(struct fby_loop *self, struct fby_loop_peer *peer,
    struct fby_request_id id);

/* ---- request.c ----------------------------------------------------------- */

/* Handle a REQUEST of `peer`: answer it, or join or start work for it. */
void fby_loop_on_request(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *received);

/* ---- encoding_choice.c --------------------------------------------------- */

/* Check that a request names a filter and codec for each of its fields, or for
 * none, and that they suit the type and shape of the field.
 * Errors: FBY_USAGE. */
FBY_CHECKED fby_err fby_loop_encoding_check(const struct fby_request *request,
    const struct fby_raw_layout *layout, struct fby_error_detail *why);

/* Choose the coding (filter and codec) of each field of the requested batch.
 * `request` must have passed fby_loop_encoding_check. */
void fby_loop_encoding_choose(struct fby_loop_peer *peer,
    const struct fby_request *request, const struct fby_raw_layout *layout,
    struct fby_coding out[FBY_MAX_FIELDS]);

/* True if the last request of `peer` allows the coding of the job's chunks. */
bool fby_loop_encoding_suits(
    const struct fby_loop_peer *peer, const struct fby_job *job);

/* Report the raw and the encoded size of a chunk to the state of `auto` that
 * `peer` has. `peer` must be the client whose request started the work. */
void fby_loop_encoding_learn(
    struct fby_loop_peer *peer, const struct fby_job_chunk *chunk);

/* ---- open_request.c ------------------------------------------------------ */

/* Handle an OPEN of `peer`: start to load the dataset, or wait for a load that
 * already runs, or answer OPEN_FAILED. */
void fby_loop_on_open(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message);

/* The session has opened the plan, and may request its batches. */
void fby_loop_note_opened(
    struct fby_loop_peer *peer, const struct fby_dataset_plan *plan);
/* Find the plan of a request, at the location at which its session opened it:
 * other sessions may have opened data of the same digest elsewhere, for which
 * this one may have no ticket. A session without keys that has opened nothing of
 * that digest, as after a break, gets the plan of any location.
 * Ownership: *nearest is borrowed, as with fby_plan_cache_find.
 * Errors:    FBY_NOT_FOUND. */
FBY_CHECKED fby_err fby_loop_find_plan(struct fby_loop *self,
    struct fby_loop_peer *peer, const struct fby_request *request,
    struct fby_dataset_plan **nearest);

/* Leave the names of classes out of an OPENED if they do not fit. False: the
 * other members cannot be sent either; `why` names the value. */
bool fby_loop_fit_opened(
    struct fby_message *message, struct fby_error_detail *why);
/* Send OPENED or OPEN_FAILED to the clients whose load ended. */
void fby_loop_answer_ended_opens(struct fby_loop *self);

/* Send SCANNING, with the progress, to the clients whose load still runs. */
void fby_loop_send_progress(struct fby_loop *self);

/* Drop the OPEN `id` of `peer`; id 0: all of its OPENs. */
void fby_loop_drop_opens(struct fby_loop *self,
    const struct fby_loop_peer *peer, struct fby_open_id id);

/* ---- events.c, deliver.c ------------------------------------------------- */

/* Handle the events of the stages since the last call. */
void fby_loop_handle_events(struct fby_loop *self);

/* Send the items that are ready in sessions with credit. */
void fby_loop_send_ready(struct fby_loop *self);

/* Send a frame on the peer's route. Ownership: `message` is empty after that. */
void fby_loop_send_frame(
    struct fby_loop *self, struct fby_loop_peer *peer, zmq_msg_t *message);

/* ---- peer.c -------------------------------------------------------------- */

/* Returns the peer with the id `session`, or NULL. */
struct fby_loop_peer *fby_loop_find_peer(
    const struct fby_loop *self, struct fby_session_id session);

/* Add the peer of `hello`; never NULL. */
struct fby_loop_peer *fby_loop_peer_add(
    struct fby_loop *self, const struct fby_hello *hello);

/* End the session of a peer that left or was silent for too long. Once the
 * memory of its batches is free, fby_loop_peers_sweep frees the peer. */
void fby_loop_peer_end(struct fby_loop *self, struct fby_loop_peer *peer);

/* The worker did not run for `gap_ns`: extend the leases of all sessions. */
void fby_loop_peers_extend_leases(struct fby_loop *self, int64_t gap_ns);

/* End the sessions of peers that were silent for a lease, and free the peers
 * that left and have no request any more. */
void fby_loop_peers_sweep(struct fby_loop *self);

/* Returns the work that `job` belongs to, or NULL. */
struct fby_loop_work *fby_loop_find_work(
    const struct fby_loop *self, const struct fby_job *job);

/* Add a request whose list of chunks has room for n_chunks. */
struct fby_loop_request *fby_loop_request_add(struct fby_loop_peer *peer,
    const struct fby_request *message, uint32_t n_chunks);

/* Add `request` to the requests that get the batch of `work`. */
void fby_loop_request_join(
    struct fby_loop_request *request, struct fby_loop_work *work);

/* Returns the request of `peer` with this id; NULL if there is none or it has
 * ended. */
struct fby_loop_request *fby_loop_find_request(
    const struct fby_loop_peer *peer, struct fby_request_id id);

/* End a request, answered or not. If it was the last of its work, the work is
 * removed, and its job is cancelled unless it is complete. */
void fby_loop_request_end(
    struct fby_loop *self, struct fby_loop_request *request);

/* Callback of fby_arenas_free_released for a batch whose memory was freed, or
 * never allocated: free its request, `tag`. `context` is the loop. */
void fby_loop_request_free(void *context, void *tag);

/* ---- registry.c ---------------------------------------------------------- */

/* Begin to find the server, if the options name one.
 * Errors: FBY_USAGE, FBY_NOT_FOUND  an address cannot be used
 *         FBY_SYS  no eventfd
 * All with `why`. */
FBY_CHECKED fby_err fby_loop_registry_open(
    struct fby_loop *self, struct fby_error_detail *why);

/* Find the server, or look its name up again, when this is due. */
void fby_loop_registry_locate(struct fby_loop *self);

/* The numeric endpoint of the server; "": none, or not known yet. */
const char *fby_loop_registry_server(const struct fby_loop *self);

/* Connect to the server, if its endpoint is known, once the worker listens.
 * Errors: FBY_CONFIG  an address cannot be used
 *         FBY_SYS     no socket */
FBY_CHECKED fby_err fby_loop_registry_connect(
    struct fby_loop *self, struct fby_error_detail *why);

/* Close the connection to the server, if there is one, and forget the server.
 */
void fby_loop_registry_close(struct fby_loop *self);

/* A descriptor to poll for reading; -1: none. Then a tick is due. */
int fby_loop_registry_fd(const struct fby_loop *self);

/* The time at which fby_loop_registry_tick is due; INT64_MAX: no time. */
int64_t fby_loop_registry_deadline(const struct fby_loop *self);

/* Receive and handle messages of the server, if there are any. */
void fby_loop_registry_receive(struct fby_loop *self);

/* Connect to the server again if it was silent or is now at another address.
 * Send REGISTER or HEARTBEAT when it is due. */
void fby_loop_registry_tick(struct fby_loop *self);

/* Send DEREGISTER to the server, if there is one. */
void fby_loop_registry_deregister(struct fby_loop *self);

/* ---- listen.c ------------------------------------------------------------ */

/* Make the endpoint, with `port`, of the address from which this machine sends
 * to the numeric endpoint `server`.
 * Errors: FBY_CONFIG  there is no route. */
FBY_CHECKED fby_err fby_loop_route_endpoint(const char *server,
    const char *port, char out[FBY_ENDPOINT_SIZE],
    struct fby_error_detail *why);

/* Set options.listen if it is NULL, after fby_loop_registry_open. Sets `done`
 * instead if the worker has to end while it waits for the server's address.
 *
 * Blocks: without options `listen` and `advertise`, until the server's address
 *         is known.
 * Errors: FBY_USAGE   the address would be beyond loopback, without --insecure
 *         FBY_CONFIG  there is no route to the server. */
FBY_CHECKED fby_err fby_loop_choose_listen(
    struct fby_loop *self, struct fby_error_detail *why);

/* ---- counters.c ---------------------------------------------------------- */

/* Set all counters of the worker. `values` is zeroed before the first call. */
void fby_loop_counters_read(
    const struct fby_loop *self, struct fby_counter_values *values);

/* ---- view.c -------------------------------------------------------------- */

/* Make the view that the HTTP pages show; the caller frees it. */
struct fby_worker_view *fby_loop_view(const struct fby_loop *self);

/* The number of sessions that have not ended. */
uint32_t fby_loop_count_sessions(const struct fby_loop *self);

/* ---- leave.c ------------------------------------------------------------- */

/* Start to leave. A second call ends the worker in this turn, unless it comes
 * within a second: timeout(1) signals the process and its group. If the worker's
 * process has not ended 3 s after that, or after drain_ns, it exits with 1. */
void fby_loop_start_leaving(struct fby_loop *self);

/* Keep the process: all threads have ended. */
void fby_loop_end_in_order(const struct fby_loop *self);

/* If the worker is leaving, set `done` once no request can be in flight, no batch
 * is open, which is so after drain_ns, and no frame is in an outbox. */
void fby_loop_leave_tick(struct fby_loop *self);

/* ---- keys.c -------------------------------------------------------------- */

/* Read the worker's key, if the options name one.
 * Errors: FBY_CONFIG, FBY_SYS; call fby_loop_keys_close after an error too. */
FBY_CHECKED fby_err fby_loop_keys_open(
    struct fby_loop *self, struct fby_error_detail *why);
void fby_loop_keys_close(struct fby_loop *self);

/* With keys: the keys of the socket to the server, what REGISTER tells it, and
 * the nonce of a connection, which HELLO_FIRST carries. */
void fby_loop_keys_set_socket(
    const struct fby_loop *self, struct fby_socket_limits *limits);
void fby_loop_keys_register(
    const struct fby_loop *self, struct fby_registration *registration);
void fby_loop_keys_challenge(struct fby_loop *self,
    const struct fby_routing_id *connection, struct fby_hello_first *out);

/* Open SEALED_HELLO: decode the HELLO in it, and derive the keys of the route.
 * Ownership: the caller frees *hello (fby_message_fini) and *out.
 * Errors: FBY_NOT_FOUND  the connection has no nonce: challenge it
 *         FBY_PROTO      refuse it; `why` has the cause. */
FBY_CHECKED fby_err fby_loop_keys_begin(struct fby_loop *self,
    const struct fby_routing_id *sender, const struct fby_sealed_hello *message,
    struct fby_message *hello, struct fby_loop_seal **out,
    struct fby_error_detail *why);
void                fby_loop_seal_free(struct fby_loop_seal **self_p);
/* Replace the seal of the peer. */
void fby_loop_peer_set_seal(
    struct fby_loop_peer *peer, struct fby_loop_seal *seal);

void fby_loop_on_ticket(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message);
bool fby_loop_ticket_expired(
    const struct fby_loop *self, const struct fby_loop_peer *peer);

/* Check that the peer's ticket permits the root of a location "NAME:path"; "" is
 * permitted. Errors: FBY_USAGE. */
FBY_CHECKED fby_err fby_loop_check_location(const struct fby_loop_peer *peer,
    const char *location, struct fby_error_detail *why);

/* Open a sealed message in place, and decode it.
 * Errors: FBY_PROTO  it is not the next genuine frame of the route. */
FBY_CHECKED fby_err fby_loop_open_message(struct fby_loop *self,
    struct fby_loop_peer *peer, uint8_t *frame, size_t size,
    struct fby_message *out);
/* True if chunks are sealed on the route of the peer. */
bool fby_loop_seals_chunks(const struct fby_loop_peer *peer);
/* Take the next place of the peer's route, for a frame of `size` bytes. The
 * frame must be sent, or the route ends. Errors: as fby_lane_next. */
FBY_CHECKED fby_err fby_loop_keys_take_place(
    struct fby_loop_peer *peer, size_t size, struct fby_seal *out);
/* Seal a message with the next place of the peer's route.
 * Errors: FBY_SYS, FBY_GONE. */
FBY_CHECKED fby_err fby_loop_keys_seal(struct fby_loop *self,
    struct fby_loop_peer *peer, struct fby_span message, uint8_t *out);
/* The working memory of each encode thread. */
struct fby_aead *const *fby_loop_keys_aeads(const struct fby_loop *self);

/* ---- outbox.c ------------------------------------------------------------ */

/* Send the encoded message in self->frame, sealed if the peer has keys, after
 * the frames that are in the outbox. */
void fby_loop_outbox_add_message(
    struct fby_loop *self, struct fby_loop_peer *peer);

/* Send a complete frame after those that are in the outbox.
 * Ownership: `message` is empty after that. */
void fby_loop_outbox_add_frame(
    struct fby_loop *self, struct fby_loop_peer *peer, zmq_msg_t *message);

/* Let an encode thread write the frame of a chunk, sealed if the route seals
 * chunks. It is then sent in its turn. `head` is its prefix. The chunk's job is
 * held until then.
 * Errors: FBY_FULL, FBY_AGAIN  there is no memory for a copy now
 *         FBY_SYS              there is no memory for a message. */
FBY_CHECKED fby_err fby_loop_outbox_add_chunk(struct fby_loop *self,
    struct fby_loop_peer *peer, const struct fby_chunk *head,
    struct fby_job_chunk *chunk);

/* Send the frames up to the first that is not written yet. */
void fby_loop_outbox_send(struct fby_loop *self, struct fby_loop_peer *peer);

/* Discard all frames: their route has ended. */
void fby_loop_outbox_clear(struct fby_loop_peer *peer);

/* Divide the room for sealed chunks among the peers that get them, as send
 * windows: a client that does not read takes no room from the others. Call when
 * their number has changed. */
void fby_loop_outbox_share_room(struct fby_loop *self);

#endif
