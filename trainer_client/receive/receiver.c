/* SPDX-License-Identifier: Apache-2.0 */
/* receiver.c - creates and ends the receiver, and runs its loop. Each event is
 * reported to the window (which decides what to request). The window's actions
 * are carried out before the next event. */
#include "trainer_client/receive/receiver.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/limits.h"
#include "common/mem.h"
#include "common/signal_mask.h"
#include "common/timer.h"
#include "trainer_client/receive/receiver_state.h"
#include "trainer_client/receive/sockets.h"

enum {
    HEAP_BLOCK_BYTES = 31 << 20, /* see keep_messages_on_heap */
    OWN_FILES        = 16,       /* descriptors of the receiver and ZeroMQ */
    CONNECTIONS      = 16,       /* two descriptors for each of 8 workers */
    OWN_THREADS      = 4, /* the receiver's, two of ZeroMQ, and the locator's */
    SPARE_BYTES      = 16 << 20, /* memory for ZeroMQ, at least */
    SPARE_SOCKETS    = 16 /* the server's, and those that ZeroMQ still closes */
};

/* ---- sending ------------------------------------------------------------- */

void fby_r_send_to_server(
    struct fby_receiver *r, const struct fby_message *message)
{
    if (r->server_socket != NULL) {
        fby_dealer_send(r->server_socket, message, &r->scratch);
    }
}

void fby_r_send_to_peer(
    struct fby_receiver *r, int peer, const struct fby_message *message)
{
    if (r->peers[peer].socket == NULL) {
        return;
    }
    if (r->aead != NULL) {
        fby_r_keys_send(r, peer, message);
    } else {
        fby_dealer_send(r->peers[peer].socket, message, &r->scratch);
    }
}

void fby_r_fail_stream(struct fby_receiver *r, enum forebay_status status,
    const struct fby_error_detail *why)
{
    if (!r->finished) {
        r->finished = true;
        fby_r_publish_stats(r); /* before the trainer can see the failure */
        fby_ready_queue_fail(r->ready_queue, status, why);
    }
}

void fby_r_fail_data(struct fby_receiver *r, const struct fby_error_detail *why)
{
    if (!r->finished) {
        r->finished = true;
        fby_r_publish_stats(r);
        fby_ready_queue_fail_data(r->ready_queue, why, &r->bad_sample);
    }
}

struct fby_r_answer *fby_r_find_answer(
    const struct fby_receiver *r, struct fby_request_id id)
{
    int slot  = fby_window_find_slot(r->window, id);
    int audit = fby_window_audit_index(r->window, id);
    if (slot != FBY_NO_SLOT) {
        return &r->answers[slot];
    }
    bool has_audit = audit != FBY_NO_SLOT;
    return has_audit ? &r->answers[(int)r->n_slots + audit] : NULL;
}

/* ---- the loop ------------------------------------------------------------ */

/* Handle messages from the socket of `peer`, or of the server if `peer` is
 * FBY_NO_PEER. A message may close the socket and set *socket_p to NULL. While
 * the decode threads have no room for a chunk, messages stay in the socket. */
static void handle_messages(
    struct fby_receiver *r, void *const *socket_p, int peer)
{
    for (int i = 0; i < FBY_R_MAX_BURST && *socket_p != NULL; i++) {
        if (peer != FBY_NO_PEER && !fby_decode_pool_has_room(r->decode_pool)) {
            return;
        }
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, *socket_p, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&frame);
            return;
        }
        if (peer == FBY_NO_PEER) {
            fby_r_on_server_frame(r, &frame);
        } else {
            fby_r_on_worker_frame(r, peer, &frame);
        }
        zmq_msg_close(&frame);
        fby_r_run_actions(r);
    }
}

/* Fill poll_items with all that the loop waits for: the sockets of workers only
 * if it reads them in this turn. Returns their number. */
static int fill_poll_items(struct fby_receiver *r)
{
    int       n_items                  = 0;
    const int wakeups[FBY_R_N_WAKEUPS] = {r->ready_queue->wakeup.fd,
        fby_batch_pool_wakeup(r->batch_pool)->fd,
        fby_decode_pool_wakeup(r->decode_pool)->fd, fby_locator_fd(r->locator)};
    for (; n_items < FBY_R_N_WAKEUPS; n_items++) {
        r->poll_items[n_items] =
            (zmq_pollitem_t){.fd = wakeups[n_items], .events = ZMQ_POLLIN};
    }
    /* Without a socket, the descriptor -1 is ignored. */
    r->poll_items[n_items++] = (zmq_pollitem_t){
        .socket = r->server_socket, .fd = -1, .events = ZMQ_POLLIN};
    for (int peer = 0; peer < r->n_peers && r->reads_workers; peer++) {
        if (r->peers[peer].socket != NULL) {
            r->poll_item_peer[n_items] = peer;
            r->poll_items[n_items++]   = (zmq_pollitem_t){
                  .socket = r->peers[peer].socket, .events = ZMQ_POLLIN};
        }
    }
    return n_items;
}

/* The time until `due_ns`, at most 1 s. Rounded up, so as not to wake early. */
static long poll_timeout_ms(int64_t due_ns, int64_t now_ns)
{
    if (due_ns <= now_ns) {
        return 0;
    }
    int64_t left_ns = fby_earlier_ns(due_ns - now_ns, FBY_NS_PER_S);
    return (long)((left_ns + FBY_NS_PER_MS - 1) / FBY_NS_PER_MS);
}

static int64_t next_deadline(struct fby_receiver *r)
{
    int64_t due_ns =
        fby_earlier_ns(r->membership.due_ns, fby_locator_deadline(r->locator));
    if (r->reads_workers) {
        due_ns = fby_earlier_ns(due_ns, fby_window_deadline(r->window));
    }
    if (r->n_copying > 0) { /* the GPU sends no wakeup, so poll every ms */
        due_ns = fby_earlier_ns(due_ns, fby_now_ns() + FBY_NS_PER_MS);
    }
    return fby_earlier_ns(due_ns, fby_r_open_deadline(r));
}

static uint32_t count_readable(const zmq_pollitem_t *items, int n_items)
{
    uint32_t n = 0;
    for (int i = 0; i < n_items; i++) {
        n += (items[i].revents & ZMQ_POLLIN) != 0;
    }
    return n;
}

static void handle_ready_items(struct fby_receiver *r, int n_items)
{
    const int server = FBY_R_N_WAKEUPS; /* its index in poll_items */
    for (int i = 0; i < FBY_R_N_WAKEUPS; i++) {
        const struct fby_wakeup wakeup = {r->poll_items[i].fd};
        if ((r->poll_items[i].revents & ZMQ_POLLIN) != 0) {
            fby_wakeup_clear(&wakeup);
        }
    }
    fby_r_take_results(r);
    if ((r->poll_items[server].revents & ZMQ_POLLIN) != 0) {
        handle_messages(r, &r->server_socket, FBY_NO_PEER);
    }
    /* Begin with another peer in each turn: the first ones may take all room. */
    int n_sockets = n_items - server - 1;
    r->first_read++;
    r->n_unread = count_readable(r->poll_items + server + 1, n_sockets);
    for (int n = 0; n < n_sockets; n++) {
        int i = server + 1 +
                (int)((r->first_read + (uint32_t)n) % (uint32_t)n_sockets);
        int peer = r->poll_item_peer[i];
        /* an earlier message may have closed or replaced the socket */
        bool is_same     = r->peers[peer].socket == r->poll_items[i].socket;
        bool is_readable = (r->poll_items[i].revents & ZMQ_POLLIN) != 0;
        r->n_unread -= is_readable;
        if (is_readable && is_same) {
            handle_messages(r, &r->peers[peer].socket, peer);
        }
    }
}

/* Connect to the server again when the locator says so. The next message is then
 * due at once. On failure the old connection stays. */
static void locate_server(struct fby_receiver *r)
{
    if (fby_locator_tick(r->locator, r->now_ns)) {
        void *socket =
            fby_dealer_open_server(r->zmq, fby_locator_endpoint(r->locator),
                FBY_MESSAGE_MAX, r->setup->has_keys ? &r->setup->key : NULL);
        if (socket != NULL) {
            fby_dealer_close(&r->server_socket);
            r->server_socket     = socket;
            r->membership.due_ns = r->now_ns;
        }
    }
    if (fby_locator_problem(r->locator)[0] != '\0' && !r->opened &&
        r->membership.server.value == 0) {
        fby_r_tell_no_server(r);
    }
}

/* List the workers that are set aside. Returns their number. */
static size_t list_unusable(const struct fby_receiver *r,
    struct fby_instance_id unusable[FBY_UNUSABLE_MAX])
{
    size_t n = 0;
    for (int i = 0; i < r->n_peers && n < FBY_UNUSABLE_MAX; i++) {
        if (r->peers[i].used && r->peers[i].is_aside) {
            unusable[n++] = r->peers[i].instance;
        }
    }
    return n;
}

/* Send the message to the server that is due now, if there is one. */
static void run_membership(struct fby_receiver *r)
{
    struct fby_message     message = {0};
    struct fby_instance_id unusable[FBY_UNUSABLE_MAX];
    if (!fby_membership_tick(&r->membership, r->now_ns, &message)) {
        return;
    }
    if (message.type == FBY_MSG_RENEW) {
        message.renew.pace = fby_ready_queue_pace(r->ready_queue, r->now_ns);
        message.renew.unusable.at = unusable;
        message.renew.unusable.n  = list_unusable(r, unusable);
    }
    fby_r_send_to_server(r, &message);
}

static void run_timers(struct fby_receiver *r)
{
    locate_server(r);
    run_membership(r);
    fby_r_open_tick(r);
    fby_r_run_actions(r);
    if (r->reads_workers) { /* else unread messages would look like silence */
        fby_window_tick(r->window, r->now_ns);
    }
    fby_r_run_actions(r);
}

_Static_assert(FBY_MAX_SEEK <= FBY_MAX_POSITION,
    "the window accepts each position that the ready queue accepts");

/* Continue at the position that the trainer wants, if it wants one. */
static void run_seek(struct fby_receiver *r)
{
    struct fby_stream_position position = {0};
    uint64_t                   number   = 0;
    if (fby_ready_queue_take_seek(r->ready_queue, &position, &number)) {
        fby_window_seek(r->window, r->now_ns, position.epoch, position.step);
        r->finished = false;
        fby_r_run_actions(r);
        fby_ready_queue_finish_seek(r->ready_queue, number);
    }
}

static void run_turn(struct fby_receiver *r)
{
    r->reads_workers = fby_decode_pool_has_room(r->decode_pool);
    int n_items      = fill_poll_items(r);
    (void)zmq_poll(r->poll_items, n_items,
        poll_timeout_ms(next_deadline(r), fby_now_ns()));
    r->now_ns = fby_now_ns();
    handle_ready_items(r, n_items);
    run_seek(r);
    run_timers(r);
    fby_r_deliver_batches(r);
    fby_r_publish_stats(r);
    fby_file_watch_tick(&r->files, r->now_ns);
}

static void disconnect_all(struct fby_receiver *r)
{
    const struct fby_message quit = {
        .type = FBY_MSG_QUIT, .quit = {.session = r->session}};
    fby_window_stop(r->window, r->now_ns); /* its actions send BYE */
    fby_r_run_actions(r);
    fby_r_send_to_server(r, &quit);
    for (int i = 0; i < r->n_peers; i++) {
        fby_dealer_close(&r->peers[i].socket);
    }
    fby_dealer_close(&r->server_socket);
}

static void *thread_main(void *opaque)
{
    struct fby_receiver *r = opaque;
    while (!atomic_load(&r->must_stop)) {
        run_turn(r);
    }
    disconnect_all(r);
    return NULL;
}

/* ---- create and destroy -------------------------------------------------- */

static void scale_times(struct fby_window_times *t)
{
    int64_t *members[] = {&t->ping, &t->reach, &t->backoff, &t->backoff_max,
        &t->idle, &t->hedge_min, &t->hedge_first, &t->hedge_period, &t->suspect,
        &t->stall, &t->suspended_after, &t->credit, &t->busy_min, &t->warn};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        *members[i] = fby_scaled_timeout_ns(*members[i]);
    }
}

/* Create the window, and the arrays with an entry for each of its peers. */
static fby_err create_window(
    struct fby_receiver *r, struct fby_error_detail *why)
{
    struct fby_window_config config = fby_window_defaults();
    config.max_batches              = fby_setup_max_batches(r->setup);
    config.max_bytes                = r->setup->window_bytes;
    config.batch_bytes              = r->setup->layout.raw_bytes;
    config.max_chunks               = r->setup->layout.n_chunks;
    config.seed                     = fby_id_random();
    config.audit                    = r->setup->audit;
    scale_times(&config.times);
    r->n_slots        = config.max_batches + 1; /* + 1 for a hedge */
    r->max_sockets    = config.max_peers + SPARE_SOCKETS;
    r->peers          = fby_zalloc(config.max_peers * sizeof(*r->peers));
    uint32_t n_items  = FBY_R_N_WAKEUPS + 1 /* server */ + config.max_peers;
    r->poll_items     = fby_zalloc(n_items * sizeof(*r->poll_items));
    r->poll_item_peer = fby_zalloc(n_items * sizeof(*r->poll_item_peer));
    return fby_window_create(&config, fby_now_ns(), &r->window, why);
}

/* Create an answer for each request that may be open. */
static fby_err create_answers(
    struct fby_receiver *r, struct fby_error_detail *why)
{
    const struct fby_setup *setup        = r->setup;
    uint32_t                max_requests = r->n_slots + FBY_MAX_AUDITS;
    r->answers        = fby_zalloc(max_requests * sizeof(*r->answers));
    r->empty_requests = fby_zalloc(max_requests * sizeof(*r->empty_requests));
    r->codec_scratch  = aligned_alloc(
         _Alignof(struct fby_codec_scratch), sizeof(*r->codec_scratch));
    for (uint32_t i = 0; i < max_requests; i++) {
        fby_assembly_init(&r->answers[i].assembly, setup->layout.n_chunks);
    }
    for (uint32_t i = 0; i < r->n_slots; i++) {
        uint8_t *arena =
            r->upload != NULL ? fby_gpu_upload_arena(r->upload, i) : NULL;
        if (fby_request_slot_init(&r->answers[i].slot, setup, arena) !=
            FBY_OK) {
            return fby_error_set(why, FBY_SYS,
                "no memory for %u slots of %llu bytes", r->n_slots,
                (unsigned long long)setup->layout.slot_bytes);
        }
    }
    return FBY_OK;
}

/* libzmq aborts if it gets no descriptor or thread, so they are checked. */
static fby_err open_zmq(struct fby_receiver *r, struct fby_error_detail *why)
{
    static const char user[] = "a stream";
    fby_err err = fby_limits_check_files(user, OWN_FILES + CONNECTIONS, why);
    if (err == FBY_OK) {
        err = fby_limits_check_threads(user, OWN_THREADS, why);
    }
    if (err == FBY_OK) {
        err = fby_limits_check_memory(user, SPARE_BYTES, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    r->zmq = zmq_ctx_new();
    if (r->zmq == NULL ||
        zmq_ctx_set(r->zmq, ZMQ_MAX_SOCKETS, (int)r->max_sockets) != 0) {
        return fby_error_set(why, FBY_SYS, "no ZeroMQ context");
    }
    if (r->setup->has_keys && fby_aead_create(&r->aead) != FBY_OK) {
        return fby_error_set(
            why, FBY_SYS, "libcrypto has no AES-256-GCM for the keys");
    }
    const struct fby_resolver_source source = {.text = r->setup->server};
    return fby_locator_create(&source, &r->locator, why);
}

/* Messages of a MiB or so are allocated by ZeroMQ's thread and freed by others.
 * By default glibc returns such memory to the kernel each time, which then maps
 * and clears pages for the next messages. When a large mapped block is freed,
 * glibc raises its thresholds to this size and twice this size (M_MMAP_THRESHOLD
 * in mallopt(3)), unless the program or its user has set them. 32 MiB is the
 * most that it accepts. No page of the block is used. Once for a process. */
static void keep_messages_on_heap(void)
{
    void *volatile block = malloc(HEAP_BLOCK_BYTES);
    free(block);
}

/* Prepare the connection to the server, and start all threads, which handle no
 * signals. */
static fby_err start_threads(
    struct fby_receiver *r, struct fby_error_detail *why)
{
    sigset_t before = fby_block_signals();
    fby_err  err    = fby_decode_pool_create(
            r->setup, r->upload, r->ready_queue, &r->decode_pool);
    if (err == FBY_OK) {
        err = open_zmq(r, why);
    }
    if (err == FBY_OK) {
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        (void)pthread_once(&once, keep_messages_on_heap);
        fby_r_open_begin(r);
        r->has_thread = pthread_create(&r->thread, NULL, thread_main, r) == 0;
        err           = r->has_thread ? FBY_OK : FBY_SYS;
    }
    if (r->has_thread) {
        pthread_setname_np(r->thread, "fby-receive");
    }
    fby_restore_signals(before);
    if (err == FBY_SYS && why->text[0] == '\0') { /* no reason is known yet */
        (void)fby_error_set(why, err,
            "the threads of a stream cannot be started: raise the limits on "
            "processes and memory (ulimit -u, ulimit -v, or those of the "
            "container)");
    }
    return err;
}

fby_err fby_receiver_create(const struct fby_receiver_parts *parts,
    struct fby_receiver **out, struct fby_error_detail *why)
{
    struct fby_receiver *r = fby_zalloc(sizeof(*r));
    r->setup               = parts->setup;
    r->ready_queue         = parts->ready_queue;
    r->batch_pool          = parts->batch_pool;
    r->upload              = parts->upload;
    r->session             = fby_session_random();
    r->order_cache         = fby_zalloc(sizeof(*r->order_cache));
    fby_err err            = create_window(r, why);
    if (err == FBY_OK) {
        err = create_answers(r, why);
    }
    if (err == FBY_OK) {
        err = start_threads(r, why);
    }
    if (err != FBY_OK) {
        fby_receiver_destroy(&r);
        return err;
    }
    *out = r;
    return FBY_OK;
}

const char *fby_receiver_class_name(
    const struct fby_receiver *self, uint32_t id)
{
    return id < self->n_classes ? self->class_names[id] : NULL;
}

static void free_answers(struct fby_receiver *r)
{
    uint32_t n = r->answers != NULL ? r->n_slots + FBY_MAX_AUDITS : 0;
    for (uint32_t i = 0; i < n; i++) {
        fby_assembly_fini(&r->answers[i].assembly);
        fby_request_slot_fini(&r->answers[i].slot, r->setup);
    }
    free(r->answers);
    free(r->empty_requests);
    free(r->codec_scratch);
}

static void free_peers(struct fby_receiver *r)
{
    for (int i = 0; i < r->n_peers; i++) {
        fby_r_keys_clear(&r->peers[i]);
        fby_peer_clear(&r->peers[i]);
    }
    free(r->peers);
    free(r->poll_items);
    free(r->poll_item_peer);
}

void fby_receiver_destroy(struct fby_receiver **self_p)
{
    struct fby_receiver *r = *self_p;
    if (r == NULL) {
        return;
    }
    *self_p = NULL;
    if (r->has_thread) {
        atomic_store(&r->must_stop, true);
        fby_wakeup_send(&r->ready_queue->wakeup);
        pthread_join(r->thread, NULL);
    }
    fby_decode_pool_destroy(&r->decode_pool); /* finishes queued batches */
    if (r->upload != NULL) {
        fby_gpu_upload_stop(r->upload);
    }
    fby_dealer_close(&r->server_socket);
    fby_locator_destroy(&r->locator);
    if (r->spare_batch != NULL) {
        fby_batch_unref(r->spare_batch);
    }
    for (int i = 0; i < FBY_R_CACHED_ORDERS; i++) {
        fby_order_destroy(&r->order_cache->order[i]);
    }
    free(r->order_cache);
    fby_dataset_agreement_fini(&r->agreement);
    fby_window_destroy(&r->window);
    free_answers(r);
    free_peers(r);
    fby_aead_destroy(&r->aead);
    fby_buffer_fini(&r->sealed);
    free(r->shard_samples);
    free(r->class_names);
    fby_buffer_fini(&r->scratch);
    if (r->zmq != NULL) {
        zmq_ctx_term(r->zmq);
    }
    free(r);
}
