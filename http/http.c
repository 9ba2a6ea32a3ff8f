/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP thread, around libmicrohttpd. The library parses requests and holds
 * the connections; this thread waits for it (external polling), so that it can
 * also end connections that take too long. The lock is held only to exchange a
 * pointer. */
#include "http/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/signal_mask.h"
#include "common/timer.h"
#include "http/access.h"
#include "http/connections.h"
#include "http/listen.h"
#include "http/metrics.h"

enum {
    MAX_PAGES       = 8,       /* of the process and of this module */
    REQUEST_BYTES   = 8 << 10, /* memory of a connection; longer: 431 */
    LONGEST_WAIT_MS = 1000,    /* until late connections are looked for */
    NICENESS        = 10       /* below the compute threads of a worker, too */
};

static const int64_t connection_limit_ns = 10 * FBY_NS_PER_S; /* scaled */
static const int64_t turn_limit_ns       = 5 * FBY_NS_PER_S;  /* /healthz */
static const int64_t snapshot_ns = FBY_NS_PER_S / 2; /* from one to the next */

struct fby_http {
    struct fby_http_page pages[MAX_PAGES];
    size_t               n_pages;
    void (*destroy)(void *snapshot);
    struct fby_http_token token;
    _Atomic int64_t       turned_ns; /* when the loop turned last */
    int64_t               due_ns;    /* of the next snapshot; loop's thread */
    int                   stop_fd;   /* eventfd: the thread must end */
    bool                  started;   /* `thread` exists */
    pthread_t             thread;
    pthread_mutex_t       lock;      /* guards `published` */
    void                 *published; /* not taken yet by the thread, or NULL */
    /* Used by the HTTP thread only, once it runs: */
    struct MHD_Daemon          *daemon;
    struct fby_http_connections connections;
    void                       *snapshot; /* NULL: none was published yet */
    struct MHD_Response        *made[MAX_PAGES]; /* from `snapshot`, or NULL */
    unsigned                    made_status[MAX_PAGES];
};

/* ---- answers ---- */

/* Move the text of `body` to a response. */
static struct MHD_Response *make_response(
    struct fby_buffer *body, const char *type)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        body->size, body->data, MHD_RESPMEM_MUST_COPY);
    fby_buffer_fini(body);
    if (response != NULL) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
        MHD_add_response_header(
            response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    }
    return response;
}

static const char text_type[] = "text/plain; charset=utf-8";

static enum MHD_Result refuse(
    struct MHD_Connection *connection, unsigned status)
{
    struct fby_buffer body = {0};
    fby_put_format(&body, "%s\n",
        status == 405 ? "Only GET and HEAD are answered here."
        : status == 404
            ? "There is no page at this path; the page / lists all."
            : "This page needs the token of --http-token-file: send the "
              "header 'Authorization: Bearer TOKEN'.");
    struct MHD_Response *response = make_response(&body, text_type);
    if (response == NULL) {
        return MHD_NO;
    }
    if (status == 405) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    } else if (status == 401) {
        MHD_add_response_header(
            response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    }
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- pages of every process ---- */

/* /healthz: `write` gets this module's state instead of a snapshot. */
static unsigned write_health(const void *http, struct fby_buffer *out)
{
    const struct fby_http *self = http;
    int64_t ago_ns              = fby_now_ns() - atomic_load(&self->turned_ns);
    if (ago_ns > turn_limit_ns) {
        fby_put_format(out, "The loop has not turned for %.1f s.\n",
            (double)ago_ns / (double)FBY_NS_PER_S);
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    fby_put_format(out, "ok\n");
    return MHD_HTTP_OK;
}

static unsigned write_list(const void *http, struct fby_buffer *out)
{
    const struct fby_http *self = http;
    for (size_t i = 0; i < self->n_pages; i++) {
        fby_put_format(
            out, "%-14s %s\n", self->pages[i].path, self->pages[i].about);
    }
    return MHD_HTTP_OK;
}

enum { OWN_PAGES = 2 }; /* the first of fby_http.pages */
static const struct fby_http_page own_pages[OWN_PAGES] = {
    {"/", "this list", text_type, false, write_list},
    {"/healthz", "200 if the loop turned within the last 5 s", text_type, true,
        write_health},
};

/* ---- pages ---- */

static void forget_made(struct fby_http *self)
{
    for (size_t i = 0; i < self->n_pages; i++) {
        if (self->made[i] != NULL) {
            MHD_destroy_response(self->made[i]);
            self->made[i] = NULL;
        }
    }
}

static void destroy_snapshot(const struct fby_http *self, void *snapshot)
{
    if (snapshot != NULL) {
        self->destroy(snapshot);
    }
}

/* Take the published snapshot, if there is a new one. */
static void take_snapshot(struct fby_http *self)
{
    pthread_mutex_lock(&self->lock);
    void *published = self->published;
    self->published = NULL;
    pthread_mutex_unlock(&self->lock);
    if (published != NULL) {
        forget_made(self);
        destroy_snapshot(self, self->snapshot);
        self->snapshot = published;
    }
}

static unsigned write_page(
    const struct fby_http *self, size_t number, struct fby_buffer *body)
{
    const struct fby_http_page *page = &self->pages[number];
    if (number < OWN_PAGES) {
        return page->write(self, body);
    }
    if (self->snapshot == NULL) {
        fby_put_format(
            body, "The process is starting: ask again in a second.\n");
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    return page->write(self->snapshot, body);
}

/* Make a page, unless it was made already from the same snapshot. */
static void make_page(struct fby_http *self, size_t number)
{
    take_snapshot(self);
    if (self->made[number] != NULL) {
        return;
    }
    struct fby_buffer body    = {0};
    self->made_status[number] = write_page(self, number, &body);
    self->made[number]        = make_response(&body, self->pages[number].type);
}

static enum MHD_Result send_page(
    struct fby_http *self, struct MHD_Connection *connection, size_t number)
{
    make_page(self, number);
    if (self->made[number] == NULL) {
        return MHD_NO; /* no memory: the connection is closed */
    }
    enum MHD_Result result = MHD_queue_response(
        connection, self->made_status[number], self->made[number]);
    if (number < OWN_PAGES || self->snapshot == NULL) {
        MHD_destroy_response(self->made[number]); /* made each time */
        self->made[number] = NULL;
    }
    return result;
}

/* ---- callbacks of libmicrohttpd ---- */

/* NOLINTBEGIN(readability-non-const-parameter): the library's type */
static enum MHD_Result on_request(void *http, struct MHD_Connection *connection,
    const char *path, const char *method, const char *version,
    const char *upload, size_t *upload_size, void **request)
{
    struct fby_http            *self = http;
    const struct fby_http_page *page = NULL;
    (void)version, (void)upload, (void)upload_size, (void)request;
    const struct fby_http_request asked = {
        .method        = method,
        .path          = path,
        .authorization = MHD_lookup_connection_value(
            connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION),
    };
    unsigned status =
        fby_http_check(&asked, &self->token, self->pages, self->n_pages, &page);
    return status == MHD_HTTP_OK
               ? send_page(self, connection, (size_t)(page - self->pages))
               : refuse(connection, status);
}

/* NOLINTEND(readability-non-const-parameter) */

static void on_connection(void *http, struct MHD_Connection *connection,
    void **context, enum MHD_ConnectionNotificationCode code)
{
    struct fby_http *self = http;
    (void)context;
    int fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
            ->connect_fd;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        fby_http_connections_add(&self->connections, fd, fby_now_ns());
    } else {
        fby_http_connections_remove(&self->connections, fd);
    }
}

/* ---- the thread ---- */

/* Milliseconds until libmicrohttpd must run again, at most LONGEST_WAIT_MS. */
static int wait_ms(const struct fby_http *self)
{
    MHD_UNSIGNED_LONG_LONG ms = 0;
    return MHD_get_timeout(self->daemon, &ms) == MHD_YES && ms < LONGEST_WAIT_MS
               ? (int)ms
               : LONGEST_WAIT_MS;
}

/* Break the connections that take too long. The library then closes them. */
static void end_late_connections(struct fby_http *self)
{
    uint32_t n = fby_http_connections_due(&self->connections, fby_now_ns(),
        fby_scaled_timeout_ns(connection_limit_ns));
    for (uint32_t i = 0; i < n; i++) {
        shutdown(self->connections.list[i].fd, SHUT_RDWR);
    }
}

static void *serve(void *http)
{
    struct fby_http *self = http;
    int              fd =
        MHD_get_daemon_info(self->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    struct pollfd items[] = {
        {.fd = fd, .events = POLLIN},
        {.fd = self->stop_fd, .events = POLLIN},
    };
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(),
        getpriority(PRIO_PROCESS, (id_t)gettid()) + NICENESS);
    while (items[1].revents == 0) {
        if (poll(items, 2, wait_ms(self)) < 0) {
            items[1].revents = 0; /* EINTR */
        }
        MHD_run(self->daemon);
        end_late_connections(self);
    }
    return NULL;
}

/* ---- start and stop ---- */

static void add_pages(
    struct fby_http *self, const struct fby_http_page *pages, size_t n)
{
    memcpy(&self->pages[self->n_pages], pages, n * sizeof(*pages));
    self->n_pages += n;
}

/* Start libmicrohttpd on the socket, which it closes at its end. */
static fby_err start_daemon(
    struct fby_http *self, int fd, struct fby_error_detail *why)
{
    self->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request,
        self, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)FBY_HTTP_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)REQUEST_BYTES, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        self, MHD_OPTION_END);
    return self->daemon != NULL ? FBY_OK
                                : fby_error_set(why, FBY_SYS,
                                      "cannot start HTTP: %s", strerror(errno));
}

/* Start the thread, which handles no signal of the process. */
static fby_err start_thread(struct fby_http *self, struct fby_error_detail *why)
{
    self->stop_fd   = eventfd(0, EFD_CLOEXEC);
    sigset_t before = fby_block_signals();
    int      error  = self->stop_fd < 0
                          ? errno
                          : pthread_create(&self->thread, NULL, serve, self);
    fby_restore_signals(before);
    if (error != 0) {
        return fby_error_set(why, FBY_SYS, "cannot start a thread for HTTP: %s",
            strerror(error));
    }
    pthread_setname_np(self->thread, "fby-http");
    self->started = true;
    return FBY_OK;
}

static fby_err start(struct fby_http *self,
    const struct fby_http_options *options, struct fby_error_detail *why)
{
    char    bound[FBY_HTTP_ADDRESS_SIZE];
    int     fd = -1;
    fby_err err =
        options->token_file == NULL
            ? FBY_OK
            : fby_http_token_read(options->token_file, &self->token, why);
    if (err == FBY_OK) {
        err = fby_http_listen(
            options->listen, self->token.exists, bound, &fd, why);
    }
    if (err == FBY_OK) {
        err = start_daemon(self, fd, why);
    }
    if (err == FBY_OK) {
        err = start_thread(self, why);
    }
    if (err == FBY_OK) {
        fby_info("HTTP-READY", "http://%s/%s", bound,
            self->token.exists ? ", with the token" : "");
    }
    return err;
}

fby_err fby_http_start(const struct fby_http_config *config,
    struct fby_http **out, struct fby_error_detail *why)
{
    *out = NULL;
    if (config->options.listen == NULL) {
        return config->options.token_file == NULL
                   ? FBY_OK
                   : fby_error_set(why, FBY_USAGE,
                         "--http-token-file %s: this needs --http ADDR:PORT",
                         config->options.token_file);
    }
    struct fby_http *self = fby_zalloc(sizeof(*self));
    self->destroy         = config->destroy;
    self->stop_fd         = -1;
    pthread_mutex_init(&self->lock, NULL);
    atomic_init(&self->turned_ns, fby_now_ns());
    add_pages(self, own_pages, OWN_PAGES);
    add_pages(self, config->pages, config->n_pages);
    fby_err err = start(self, &config->options, why);
    if (err != FBY_OK) {
        fby_http_stop(&self);
        return err;
    }
    *out = self;
    return FBY_OK;
}

static void join_thread(struct fby_http *self)
{
    const uint64_t one = 1;
    if (self->started &&
        write(self->stop_fd, &one, sizeof(one)) == sizeof(one)) {
        pthread_join(self->thread, NULL);
    }
}

void fby_http_stop(struct fby_http **self_p)
{
    struct fby_http *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    join_thread(self);
    if (self->daemon != NULL) {
        MHD_stop_daemon(self->daemon);
    }
    forget_made(self);
    destroy_snapshot(self, self->snapshot);
    destroy_snapshot(self, self->published);
    if (self->stop_fd >= 0) {
        close(self->stop_fd);
    }
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* ---- the loop's side ---- */

bool fby_http_turn(struct fby_http *self, int64_t now_ns)
{
    if (self == NULL) {
        return false;
    }
    atomic_store(&self->turned_ns, now_ns);
    if (now_ns < self->due_ns) {
        return false;
    }
    self->due_ns = now_ns + snapshot_ns;
    return true;
}

void fby_http_refresh(struct fby_http *self)
{
    if (self != NULL) {
        self->due_ns = 0;
    }
}

void fby_http_publish(struct fby_http *self, void *snapshot)
{
    pthread_mutex_lock(&self->lock);
    void *replaced  = self->published;
    self->published = snapshot;
    pthread_mutex_unlock(&self->lock);
    destroy_snapshot(self, replaced);
}
