#include "bench/ready.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "bench/bench.h"
#include "bench/ready_worker.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/socket.h"

enum { MAX_COPIES = 64, COPIES_BYTES = 64 << 20, RETRY_MS = 1 };

static const struct fby_socket_limits limits = {
    .max_message_bytes = FBY_MESSAGE_MAX};

struct worker_loop { /* runs all workers */
    unsigned             n;
    struct ready_worker *workers;
    struct ready_pool    pool;
    int64_t              heartbeat_ns; /* when it is due */
    int                  ready_fd;     /* written once; then -1 */
};

/* ---- the server ---------------------------------------------------------- */

static void send_register(struct ready_worker *worker)
{
    const char *endpoint = worker->endpoint;
    const char *root     = "d";
    ready_send_message(worker->dealer, NULL,
        &(struct fby_message){.type = FBY_MSG_REGISTER,
            .enroll                 = {.instance = worker->instance,
                                .endpoints       = {&endpoint, 1},
                                .host            = "here",
                                .pid             = (uint32_t)getpid(),
                                .cores           = 1,
                                .roots           = {&root, 1}}});
}

static void send_heartbeats(struct worker_loop *self, int64_t now_ns)
{
    if (now_ns < self->heartbeat_ns) {
        return;
    }
    self->heartbeat_ns = now_ns + FBY_NS_PER_S;
    for (unsigned i = 0; i < self->n; i++) {
        ready_send_message(self->workers[i].dealer, NULL,
            &(struct fby_message){.type = FBY_MSG_HEARTBEAT,
                .heartbeat = {.instance = self->workers[i].instance}});
    }
}

/* Notify the bench when the server has registered all workers. */
static void note_registered(
    struct worker_loop *self, struct ready_worker *worker)
{
    worker->registered = true;
    for (unsigned i = 0; i < self->n; i++) {
        if (!self->workers[i].registered) {
            return;
        }
    }
    if (self->ready_fd >= 0 && write(self->ready_fd, "", 1) == 1) {
        close(self->ready_fd);
        self->ready_fd = -1;
    }
}

/* ---- the loop ------------------------------------------------------------ */

/* Receive a valid message; false if none is left. On true the caller must fini
 * *out. */
static bool receive(void *socket, bool routed, struct ready_route *from,
    struct fby_message *out)
{
    zmq_msg_t frame;
    bool      good = false;
    for (;;) {
        int n = routed
                    ? zmq_recv(socket, from->id, sizeof(from->id), ZMQ_DONTWAIT)
                    : 0;
        zmq_msg_init(&frame);
        if (n < 0 || zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&frame);
            return false;
        }
        from->size = (size_t)n;
        good = fby_message_decode(zmq_msg_data(&frame), zmq_msg_size(&frame),
                   out, NULL) == FBY_OK;
        zmq_msg_close(&frame);
        if (good) {
            return true;
        }
    }
}

static void read_messages(
    struct worker_loop *self, struct ready_worker *worker, int64_t now_ns)
{
    struct ready_route from;
    struct fby_message m;
    while (receive(worker->router, true, &from, &m)) {
        ready_on_message(worker, &from, &m, now_ns);
        fby_message_fini(&m);
    }
    while (receive(worker->dealer, false, &from, &m)) {
        if (m.type == FBY_MSG_REGISTERED) {
            note_registered(self, worker);
        }
        fby_message_fini(&m);
    }
}

static long wait_ms(const struct worker_loop *self, int64_t now_ns)
{
    int64_t due_ns = self->heartbeat_ns;
    for (unsigned i = 0; i < self->n; i++) {
        int64_t its_ns = ready_due_ns(&self->workers[i]);
        due_ns         = its_ns < due_ns ? its_ns : due_ns;
    }
    if (due_ns <= now_ns) {
        return RETRY_MS; /* blocked on credit or on a free copy */
    }
    return (long)((due_ns - now_ns + FBY_NS_PER_MS - 1) / FBY_NS_PER_MS);
}

static void run_once(struct worker_loop *self)
{
    zmq_pollitem_t items[2 * BENCH_MAX_WORKERS];
    for (size_t i = 0; i < self->n; i++) {
        items[2 * i] = (zmq_pollitem_t){
            .socket = self->workers[i].router, .events = ZMQ_POLLIN};
        items[2 * i + 1] = (zmq_pollitem_t){
            .socket = self->workers[i].dealer, .events = ZMQ_POLLIN};
    }
    zmq_poll(items, (int)(2 * self->n), wait_ms(self, fby_now_ns()));
    int64_t now_ns = fby_now_ns();
    send_heartbeats(self, now_ns);
    bool any = true;
    while (any) {
        any = false;
        for (unsigned i = 0; i < self->n; i++) {
            read_messages(self, &self->workers[i], now_ns);
            any = ready_send(&self->workers[i], now_ns) || any;
        }
    }
}

/* ---- the process --------------------------------------------------------- */

static void fill_pool(struct ready_pool *pool, const struct bench_stock *stock)
{
    size_t fit   = COPIES_BYTES / stock->bytes;
    pool->n      = fit > MAX_COPIES ? MAX_COPIES : fit < 4 ? 4 : (unsigned)fit;
    pool->copies = fby_zalloc(pool->n * sizeof(*pool->copies));
    for (unsigned i = 0; i < pool->n; i++) {
        pool->copies[i].memory = aligned_alloc(64, stock->bytes);
        memcpy(pool->copies[i].memory, stock->payloads, stock->bytes);
    }
}

static void open_sockets(
    struct ready_worker *worker, void *zmq, const char *server)
{
    struct fby_why why = {{0}};
    if (fby_socket_bind(zmq, "tcp://127.0.0.1:*", &limits, worker->endpoint,
            &worker->router, &why) != FBY_OK ||
        fby_socket_connect(zmq, server, &limits, &worker->dealer) != FBY_OK) {
        bench_die("no socket: %s", why.text);
    }
    worker->instance = fby_instance_random();
    send_register(worker);
}

static _Noreturn void serve(struct bench_ready *shared, int ready_fd,
    const struct bench_farm *farm, const struct bench_ready_plan *plan)
{
    struct worker_loop worker_loop = {.n = plan->workers,
        .workers  = fby_zalloc(plan->workers * sizeof(*worker_loop.workers)),
        .ready_fd = ready_fd};
    void              *zmq         = zmq_ctx_new();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fill_pool(&worker_loop.pool, plan->stock);
    for (unsigned i = 0; i < worker_loop.n; i++) {
        struct ready_worker *worker = &worker_loop.workers[i];
        worker->plan                = plan;
        worker->pool                = &worker_loop.pool;
        worker->served              = shared->served;
        worker->service_ns          = plan->service_ns[i];
        open_sockets(worker, zmq, farm->server);
    }
    for (;;) {
        run_once(&worker_loop);
    }
}

void bench_ready_start(struct bench_ready *self, const struct bench_farm *farm,
    const struct bench_ready_plan *plan)
{
    int  ends[2];
    char word;
    self->served = mmap(NULL, sizeof(*self->served), PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (self->served == MAP_FAILED || pipe(ends) != 0) {
        bench_die(
            "shared memory or a pipe cannot be created: %s", strerror(errno));
    }
    fflush(NULL);
    self->pid = fork();
    if (self->pid == 0) {
        close(ends[0]);
        serve(self, ends[1], farm, plan);
    }
    close(ends[1]);
    if (self->pid < 0 || read(ends[0], &word, 1) != 1) {
        bench_die("the ready workers did not start");
    }
    close(ends[0]);
}

void bench_ready_stop(struct bench_ready *self)
{
    kill(self->pid, SIGKILL);
    waitpid(self->pid, NULL, 0);
    munmap(self->served, sizeof(*self->served));
    *self = (struct bench_ready){0};
}

int64_t bench_ready_cpu_ns(const struct bench_ready *self)
{
    return bench_cpu_ns(&(struct bench_part){.pid = self->pid});
}

/* The names of filters and codecs in a pipeline file. */
static const char *filter_word(uint8_t filter)
{
    static const char *const words[] = {
        "none", "delta", "byte_shuffle", "bit_shuffle", "photo"};
    return words[filter];
}

static const char *codec_word(uint8_t codec)
{
    static const char *const words[] = {"store", "lz4", "pack"};
    return words[codec];
}

void bench_ready_pipeline(
    struct bench_farm *farm, const struct bench_stock *stock)
{
    bench_farm_pipeline(farm,
        "forebay: 1\n"
        "splits: {train: {shards: \"d:train-{0..0}.tar\"}}\n"
        "global_batch: %" PRIu32 "\n"
        "fields:\n"
        "  image:\n"
        "    from: jpg\n"
        "    decode: rgb8\n"
        "    ops: [random_resized_crop: {size: %" PRIu32 "}]\n"
        "    wire: {filter: %s, codec: %s}\n"
        "    out: {dtype: u8, layout: hwc}\n",
        stock->layout.rows, stock->layout.fields[0].shape.dims[0],
        filter_word(stock->coding.filter), codec_word(stock->coding.codec));
}
