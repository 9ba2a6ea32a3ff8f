/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of every column of every message, as the receiver checks them: it
 * accepts minimum and maximum, and refuses one beyond by name. */
#include "tests/test.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tests/proto/frames.h"

/* ---- entries of lists, by hand ------------------------------------------- */

static void put_real(struct fby_buffer *b, uint32_t field, double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
    put_id(b, field, bits);
}

/* An entry that may follow those of the example: only limits refuse it. */
static struct fby_buffer entry(enum fby_message_type type)
{
    struct fby_buffer b          = {0};
    const uint8_t     digest[32] = {1};
    switch ((int)type) {
    case FBY_MSG_OPENED:
        put_block(&b, 1, "b", 1);
        put_block(&b, 2, digest, sizeof(digest));
        break;
    case FBY_MSG_HEADER:
        put_block(&b, 1, "z", 1);
        put_number(&b, 2, FBY_ENCODING_DENSE);
        put_number(&b, 3, FBY_U8);
        put_number(&b, 5, 1);
        put_number(&b, 6, 1);
        break;
    case FBY_MSG_END:
        put_number(&b, 1, 5);
        break;
    case FBY_MSG_HEARTBEAT:
        put_block(&b, 1, "c", 1);
        break;
    default:
        put_id(&b, 1, 1);
        put_block(&b, 2, "tcp://a:1", 9);
        put_block(&b, 3, "h", 1);
    }
    return b;
}

/* The position of a column: in a message, or in the entries of its list. */
struct spot {
    enum fby_message_type type;
    uint32_t              list;    /* field number; 0: in the message itself */
    const char           *name;    /* in errors */
    const char           *entries; /* the list's name in errors of unpacking */
};

// clang-format off
#define IN(NAME)     {FBY_MSG_##NAME, 0, #NAME, NULL}
#define SHARD        {FBY_MSG_OPENED, 7, "Shard", \
                      "OPENED.shards: expected entries, 0 to 131072 of them"}
#define HEADER_FIELD {FBY_MSG_HEADER, 7, "HeaderField", \
                      "HEADER.fields: expected entries, 1 to 32 of them"}
#define SUBSTITUTED  {FBY_MSG_END, 5, "Substituted", \
                      "END.substituted: expected entries, 0 to 1024 of them"}
#define COUNTER      {FBY_MSG_HEARTBEAT, 4, "Counter", \
                      "HEARTBEAT.counters: expected entries, 0 to 256 of them"}
#define WORKER_INFO  {FBY_MSG_WORKERS, 5, "WorkerInfo", \
                      "WORKERS.added: expected entries, 0 to 8192 of them"}
// clang-format on

/* The example with `more` behind the fields of `spot`: the last one counts. */
static struct fby_buffer with(
    const struct spot *spot, const struct fby_buffer *more)
{
    struct fby_buffer frame = example_frame(spot->type);
    if (spot->list == 0) {
        fby_put_bytes(&frame, more->data, more->size);
    } else {
        struct fby_buffer one = entry(spot->type);
        fby_put_bytes(&one, more->data, more->size);
        put_block(&frame, spot->list, one.data, one.size);
        fby_buffer_fini(&one);
    }
    seal(&frame);
    return frame;
}

/* True if `why` names `column` itself; otherwise a rule refused it. */
static bool names_column(
    const char *why, const struct spot *spot, const char *column)
{
    char start[80];
    int  n =
        snprintf(start, sizeof(start), "%s.%s: expected ", spot->name, column);
    return strncmp(why, start, (size_t)n) == 0 ||
           (spot->entries != NULL && strcmp(why, spot->entries) == 0);
}

/* Both free `more`. */

static void is_accepted(
    const struct spot *spot, const char *column, struct fby_buffer *more)
{
    struct fby_buffer frame = with(spot, more);
    const char       *why   = decode_error(&frame);
    if (names_column(why, spot, column)) {
        fail_msg("%s", why);
    }
    fby_buffer_fini(&frame);
    fby_buffer_fini(more);
}

static void is_refused(const struct spot *spot, const char *column,
    struct fby_buffer *more, const char *expected)
{
    char              wanted[160];
    struct fby_buffer frame = with(spot, more);
    snprintf(wanted, sizeof(wanted), "%s.%s: expected %s", spot->name, column,
        expected);
    assert_string_equal(decode_error(&frame), wanted);
    fby_buffer_fini(&frame);
    fby_buffer_fini(more);
}

/* The error when unpacking fails: for an entry, it names the list. */
static void fails_to_unpack(const struct spot *spot, const char *column,
    struct fby_buffer *more, const char *expected)
{
    if (spot->entries == NULL) {
        is_refused(spot, column, more, expected);
        return;
    }
    struct fby_buffer frame = with(spot, more);
    assert_string_equal(decode_error(&frame), spot->entries);
    fby_buffer_fini(&frame);
    fby_buffer_fini(more);
}

/* ---- numbers ------------------------------------------------------------- */

struct number {
    struct spot spot;
    uint32_t    field;
    const char *column;
    char        wire; /* v: varint, f: fixed */
    uint64_t    least, most;
};

static const struct number ids[] = {
    {IN(HELLO), 1, "session", 'f', 1, UINT64_MAX},
    {IN(HELLO), 2, "route", 'f', 1, UINT64_MAX},
    {IN(WELCOME), 1, "session", 'f', 1, UINT64_MAX},
    {IN(WELCOME), 2, "route", 'f', 1, UINT64_MAX},
    {IN(WELCOME), 3, "instance", 'f', 1, UINT64_MAX},
    {IN(HELLO_FIRST), 1, "session", 'f', 1, UINT64_MAX},
    {IN(REFUSED), 1, "session", 'f', 0, UINT64_MAX},
    {IN(PING), 1, "session", 'f', 1, UINT64_MAX},
    {IN(PONG), 1, "session", 'f', 1, UINT64_MAX},
    {IN(PONG), 2, "instance", 'f', 1, UINT64_MAX},
    {IN(OPEN), 1, "session", 'f', 1, UINT64_MAX},
    {IN(OPEN), 2, "open", 'v', 1, UINT64_MAX},
    {IN(SCANNING), 1, "session", 'f', 1, UINT64_MAX},
    {IN(SCANNING), 2, "open", 'v', 1, UINT64_MAX},
    {IN(OPENED), 1, "session", 'f', 1, UINT64_MAX},
    {IN(OPENED), 2, "open", 'v', 1, UINT64_MAX},
    {IN(OPEN_FAILED), 1, "session", 'f', 1, UINT64_MAX},
    {IN(OPEN_FAILED), 2, "open", 'v', 1, UINT64_MAX},
    {IN(REQUEST), 1, "session", 'f', 1, UINT64_MAX},
    {IN(REQUEST), 2, "request", 'v', 1, UINT64_MAX},
    {IN(SEND_CONTENT), 1, "session", 'f', 1, UINT64_MAX},
    {IN(SEND_CONTENT), 2, "request", 'v', 1, UINT64_MAX},
    {IN(BUSY), 1, "session", 'f', 1, UINT64_MAX},
    {IN(BUSY), 2, "request", 'v', 1, UINT64_MAX},
    {IN(LOST), 1, "session", 'f', 1, UINT64_MAX},
    {IN(LOST), 2, "request", 'v', 1, UINT64_MAX},
    {IN(CANNOT), 1, "session", 'f', 1, UINT64_MAX},
    {IN(CANNOT), 2, "request", 'v', 1, UINT64_MAX},
    {IN(STALE_DATA), 1, "session", 'f', 1, UINT64_MAX},
    {IN(STALE_DATA), 2, "request", 'v', 1, UINT64_MAX},
    {IN(WRONG_FINGERPRINT), 1, "session", 'f', 1, UINT64_MAX},
    {IN(WRONG_FINGERPRINT), 2, "request", 'v', 1, UINT64_MAX},
    {IN(CANCEL), 1, "session", 'f', 1, UINT64_MAX},
    {IN(CANCEL), 2, "request", 'v', 1, UINT64_MAX},
    {IN(CREDIT), 1, "session", 'f', 1, UINT64_MAX},
    {IN(CREDIT), 2, "route", 'f', 1, UINT64_MAX},
    {IN(HEADER), 1, "session", 'f', 1, UINT64_MAX},
    {IN(HEADER), 2, "request", 'v', 1, UINT64_MAX},
    {IN(END), 1, "session", 'f', 1, UINT64_MAX},
    {IN(END), 2, "request", 'v', 1, UINT64_MAX},
    {IN(LEAVE), 1, "session", 'f', 1, UINT64_MAX},
    {IN(BYE), 1, "session", 'f', 1, UINT64_MAX},
    {IN(SEALED_HELLO), 1, "session", 'f', 1, UINT64_MAX},
    {IN(TICKET), 1, "session", 'f', 1, UINT64_MAX},
    {IN(REGISTER), 1, "instance", 'f', 1, UINT64_MAX},
    {IN(REGISTERED), 1, "instance", 'f', 1, UINT64_MAX},
    {IN(REGISTERED), 2, "server", 'f', 1, UINT64_MAX},
    {IN(REGISTER_FIRST), 1, "instance", 'f', 1, UINT64_MAX},
    {IN(HEARTBEAT), 1, "instance", 'f', 1, UINT64_MAX},
    {IN(HEARTBEAT_OK), 1, "instance", 'f', 1, UINT64_MAX},
    {IN(HEARTBEAT_OK), 2, "server", 'f', 1, UINT64_MAX},
    {IN(DEREGISTER), 1, "instance", 'f', 1, UINT64_MAX},
    {IN(JOIN), 1, "session", 'f', 1, UINT64_MAX},
    {IN(JOINED), 1, "session", 'f', 1, UINT64_MAX},
    {IN(JOINED), 2, "server", 'f', 1, UINT64_MAX},
    {IN(JOIN_REFUSED), 1, "session", 'f', 1, UINT64_MAX},
    {IN(JOIN_FIRST), 1, "session", 'f', 1, UINT64_MAX},
    {IN(RENEW), 1, "session", 'f', 1, UINT64_MAX},
    {IN(RENEW), 2, "server", 'f', 1, UINT64_MAX},
    {WORKER_INFO, 1, "instance", 'f', 1, UINT64_MAX},
    {IN(WORKERS), 1, "session", 'f', 1, UINT64_MAX},
    {IN(WORKERS), 2, "server", 'f', 1, UINT64_MAX},
    {IN(UNREACHABLE), 1, "session", 'f', 1, UINT64_MAX},
    {IN(UNREACHABLE), 2, "instance", 'f', 1, UINT64_MAX},
    {IN(QUIT), 1, "session", 'f', 1, UINT64_MAX},
    {IN(SCALE), 1, "session", 'f', 1, UINT64_MAX},
    {IN(SCALED), 1, "session", 'f', 1, UINT64_MAX},
    {IN(SCALED), 2, "server", 'f', 1, UINT64_MAX},
};

static const struct number numbers[] = {
    {IN(HELLO), 3, "version_min", 'v', 1, 255},
    {IN(HELLO), 4, "version_max", 'v', 1, 255},
    {IN(HELLO), 5, "features", 'v', 0, UINT64_MAX},
    {IN(HELLO), 6, "max_bytes", 'v', 1, UINT64_MAX},
    {IN(HELLO), 8, "rank", 'v', 0, 65535},
    {IN(HELLO), 10, "pid", 'v', 0, UINT32_MAX},
    {IN(WELCOME), 4, "version", 'v', 1, 255},
    {IN(WELCOME), 5, "features", 'v', 0, UINT64_MAX},
    {IN(WELCOME), 6, "send_window", 'v', 1, UINT64_MAX},
    {IN(HELLO_FIRST), 3, "features", 'v', 0, UINT64_MAX},
    {IN(REFUSED), 2, "code", 'v', 1, 4},
    {IN(REFUSED), 3, "version_min", 'v', 1, 255},
    {IN(REFUSED), 4, "version_max", 'v', 1, 255},
    {IN(PING), 2, "sequence", 'v', 0, UINT64_MAX},
    {IN(PONG), 3, "sequence", 'v', 0, UINT64_MAX},
    {IN(SCANNING), 3, "shards_done", 'v', 0, UINT32_MAX},
    {IN(SCANNING), 4, "shards_total", 'v', 0, UINT32_MAX},
    {SHARD, 3, "samples", 'v', 0, UINT32_MAX},
    {IN(OPENED), 6, "samples", 'v', 0, UINT64_MAX},
    {IN(OPEN_FAILED), 3, "code", 'v', 1, 7},
    {IN(REQUEST), 6, "seed", 'f', 0, UINT64_MAX},
    {IN(REQUEST), 7, "epoch", 'v', 0, UINT64_MAX},
    {IN(REQUEST), 8, "step", 'v', 0, UINT64_MAX},
    {IN(REQUEST), 9, "first_row", 'v', 0, 65535},
    {IN(REQUEST), 10, "rows", 'v', 1, 65536},
    {IN(REQUEST), 11, "fields", 'v', 0, UINT32_MAX},
    {IN(REQUEST), 12, "max_bytes", 'v', 1, UINT64_MAX},
    {IN(BUSY), 3, "retry_ms", 'v', 0, UINT32_MAX},
    {IN(CANNOT), 3, "code", 'v', 1, 5},
    {IN(CANNOT), 6, "sample", 'v', 0, UINT64_MAX},
    {IN(CANNOT), 7, "offset", 'v', 0, UINT64_MAX},
    {IN(CREDIT), 3, "received", 'v', 0, UINT64_MAX},
    {HEADER_FIELD, 2, "encoding", 'v', 1, 6},
    {HEADER_FIELD, 3, "type", 'v', 1, 8},
    {HEADER_FIELD, 5, "raw_bytes", 'v', 1, UINT64_MAX},
    {HEADER_FIELD, 6, "chunks", 'v', 1, UINT32_MAX},
    {HEADER_FIELD, 10, "classes", 'v', 0, UINT32_MAX},
    {HEADER_FIELD, 12, "max_length", 'v', 0, 33554368},
    {HEADER_FIELD, 17, "maps", 'v', 0, UINT32_MAX},
    {IN(HEADER), 3, "epoch", 'v', 0, UINT64_MAX},
    {IN(HEADER), 4, "step", 'v', 0, UINT64_MAX},
    {IN(HEADER), 5, "first_row", 'v', 0, 65535},
    {IN(HEADER), 6, "rows", 'v', 1, 65536},
    {IN(HEADER), 8, "request_checksum", 'f', 0, UINT64_MAX},
    {SUBSTITUTED, 1, "row", 'v', 0, 65535},
    {SUBSTITUTED, 2, "original", 'v', 0, UINT64_MAX},
    {SUBSTITUTED, 3, "substitute", 'v', 0, UINT64_MAX},
    {IN(END), 3, "wire_bytes", 'v', 1, UINT64_MAX},
    {IN(END), 6, "fetch_ns", 'v', 0, UINT64_MAX},
    {IN(END), 7, "transform_ns", 'v', 0, UINT64_MAX},
    {IN(END), 8, "encode_ns", 'v', 0, UINT64_MAX},
    {IN(END), 9, "wait_ns", 'v', 0, UINT64_MAX},
    {IN(END), 11, "times.cpu", 'v', 0, UINT64_MAX},
    {IN(REGISTER), 4, "pid", 'v', 0, UINT32_MAX},
    {IN(REGISTER), 5, "cores", 'v', 1, UINT32_MAX},
    {IN(REGISTER), 8, "clock_ns", 'v', 0, UINT64_MAX},
    {IN(REGISTERED), 3, "lease_ms", 'v', 1, UINT32_MAX},
    {IN(REGISTERED), 4, "heartbeat_ms", 'v', 1, UINT32_MAX},
    {COUNTER, 2, "value", 'v', 0, UINT64_MAX},
    {IN(HEARTBEAT), 2, "sessions", 'v', 0, UINT32_MAX},
    {IN(HEARTBEAT), 3, "load_permille", 'v', 0, 1000},
    {IN(HEARTBEAT), 5, "clock_ns", 'v', 0, UINT64_MAX},
    {IN(JOIN), 3, "rank", 'v', 0, 65535},
    {IN(JOIN), 4, "world", 'v', 1, 65536},
    {IN(JOIN), 6, "pid", 'v', 0, UINT32_MAX},
    {IN(JOIN), 7, "seed", 'f', 0, UINT64_MAX},
    {IN(JOIN), 11, "epoch", 'v', 0, UINT64_MAX},
    {IN(JOIN), 12, "step", 'v', 0, UINT64_MAX},
    {IN(JOINED), 3, "lease_ms", 'v', 1, UINT32_MAX},
    {IN(JOINED), 4, "heartbeat_ms", 'v', 1, UINT32_MAX},
    {IN(JOIN_REFUSED), 2, "code", 'v', 1, 9},
    {IN(RENEW), 3, "sequence", 'v', 0, UINT64_MAX},
    {IN(RENEW), 6, "pace.span_ms", 'v', 0, UINT32_MAX},
    {IN(RENEW), 7, "pace.rows", 'v', 0, UINT64_MAX},
    {IN(RENEW), 8, "pace.wait_ms", 'v', 0, UINT32_MAX},
    {IN(RENEW), 9, "pace.fetch_ms", 'v', 0, UINT64_MAX},
    {IN(RENEW), 10, "pace.transform_ms", 'v', 0, UINT64_MAX},
    {IN(RENEW), 11, "pace.encode_ms", 'v', 0, UINT64_MAX},
    {IN(RENEW), 12, "pace.cpu_ms", 'v', 0, UINT64_MAX},
    {IN(SCALED), 3, "wait_ms", 'v', 0, UINT32_MAX},
    {IN(SCALED), 4, "wanted", 'v', 0, UINT32_MAX},
    {IN(SCALED), 5, "workers", 'v', 0, UINT32_MAX},
    {IN(SCALED), 6, "jobs", 'v', 0, UINT32_MAX},
    {WORKER_INFO, 6, "secure", 'v', 0, 2},
    {IN(WORKERS), 3, "sequence", 'v', 1, UINT64_MAX},
    {IN(SEALED_HELLO), 4, "cipher", 'v', 1, 2},
};

static struct fby_buffer number(const struct number *n, uint64_t value)
{
    struct fby_buffer more = {0};
    if (n->wire == 'f') {
        put_id(&more, n->field, value);
    } else {
        put_number(&more, n->field, value);
    }
    return more;
}

static void lies_within_its_limits(const struct number *n)
{
    char expected[80];
    snprintf(expected, sizeof(expected),
        "a number from %" PRIu64 " to %" PRIu64, n->least, n->most);
    struct fby_buffer more = number(n, n->least);
    is_accepted(&n->spot, n->column, &more);
    more = number(n, n->most);
    is_accepted(&n->spot, n->column, &more);
    if (n->least > 0) {
        more = number(n, n->least - 1);
        is_refused(&n->spot, n->column, &more, expected);
    }
    bool of_u64 = strcmp(n->column, "fields") == 0;
    if (n->most < UINT32_MAX || of_u64) {
        more = number(n, n->most + 1);
        is_refused(&n->spot, n->column, &more, expected);
    }
}

static void no_id_is_0_but_that_of_a_session_that_could_not_be_read(
    void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        lies_within_its_limits(&ids[i]);
    }
}

static void every_number_lies_within_its_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        lies_within_its_limits(&numbers[i]);
    }
}

/* ---- names, texts and bytes ---------------------------------------------- */

static const char name[]  = "UTF-8 without NUL";
static const char text[]  = "one line of UTF-8";
static const char blob[]  = "bytes";
static const char exact[] = "32 bytes";
static const char maybe[] = "0 or 32 bytes";

struct bytes {
    struct spot spot;
    uint32_t    field;
    const char *column;
    const char *kind;
    size_t      least, most;
};

static const struct bytes names[] = {
    {IN(HELLO), 7, "job", name, 1, 255},
    {IN(HELLO), 9, "host", name, 1, 255},
    {IN(REFUSED), 5, "text", text, 0, 1024},
    {IN(OPEN), 3, "content", blob, 1, 1 << 20},
    {IN(OPEN), 4, "location", name, 1, 4095},
    {SHARD, 1, "name", name, 1, 4095},
    {IN(OPEN_FAILED), 6, "text", text, 0, 1024},
    {IN(CANNOT), 4, "shard", name, 0, 4095},
    {IN(CANNOT), 5, "key", name, 0, 4095},
    {IN(CANNOT), 8, "text", text, 0, 1024},
    {IN(STALE_DATA), 4, "shard", name, 0, 4095},
    {IN(STALE_DATA), 5, "text", text, 0, 1024},
    {HEADER_FIELD, 1, "name", name, 1, 63},
    {HEADER_FIELD, 23, "device", blob, 0, 1024},
    {HEADER_FIELD, 25, "mixed_by", name, 0, 63},
    {SUBSTITUTED, 4, "shard", name, 0, 4095},
    {SUBSTITUTED, 5, "key", name, 0, 4095},
    {SUBSTITUTED, 6, "text", text, 0, 1024},
    {IN(REGISTER), 3, "host", name, 1, 255},
    {COUNTER, 1, "name", name, 1, 63},
    {IN(JOIN), 2, "job", name, 1, 255},
    {IN(JOIN), 5, "host", name, 1, 255},
    {IN(JOIN_REFUSED), 3, "text", text, 0, 1024},
    {WORKER_INFO, 3, "host", name, 1, 255},
    {WORKER_INFO, 4, "ticket", blob, 0, 8192},
    {IN(UNREACHABLE), 3, "text", text, 0, 1024},
    {IN(SEALED_HELLO), 2, "ticket", blob, 1, 8192},
    {IN(SEALED_HELLO), 5, "hello", blob, 1, 32768},
    {IN(TICKET), 2, "ticket", blob, 1, 8192},
};

static const struct bytes digests[] = {
    {IN(OPEN), 5, "data", maybe, 32, 32},
    {IN(OPEN), 6, "fingerprint", maybe, 32, 32},
    {SHARD, 2, "digest", exact, 32, 32},
    {IN(OPENED), 3, "content", exact, 32, 32},
    {IN(OPENED), 4, "data", exact, 32, 32},
    {IN(OPENED), 5, "fingerprint", exact, 32, 32},
    {IN(OPEN_FAILED), 4, "data", maybe, 32, 32},
    {IN(OPEN_FAILED), 5, "fingerprint", maybe, 32, 32},
    {IN(REQUEST), 3, "content", exact, 32, 32},
    {IN(REQUEST), 4, "data", exact, 32, 32},
    {IN(REQUEST), 5, "fingerprint", exact, 32, 32},
    {IN(SEND_CONTENT), 3, "content", exact, 32, 32},
    {IN(STALE_DATA), 3, "data", maybe, 32, 32},
    {IN(WRONG_FINGERPRINT), 3, "fingerprint", exact, 32, 32},
    {HEADER_FIELD, 24, "behaviour", maybe, 32, 32},
    {IN(JOIN), 8, "content", exact, 32, 32},
    {IN(JOIN), 9, "data", maybe, 32, 32},
    {IN(JOIN), 10, "fingerprint", maybe, 32, 32},
    {IN(JOINED), 5, "data", maybe, 32, 32},
    {IN(JOINED), 6, "fingerprint", maybe, 32, 32},
    {IN(RENEW), 4, "data", maybe, 32, 32},
    {IN(RENEW), 5, "fingerprint", maybe, 32, 32},
    {IN(HELLO_FIRST), 2, "nonce", maybe, 32, 32},
    {IN(SEALED_HELLO), 3, "nonce", maybe, 32, 32},
    {IN(REGISTER), 7, "secret", maybe, 32, 32},
    {WORKER_INFO, 5, "session_key", maybe, 32, 32},
};

static struct fby_buffer block(
    const struct bytes *b, const char *data, size_t size)
{
    struct fby_buffer more = {0};
    put_block(&more, b->field, data, size);
    return more;
}

static void every_name_has_its_size(void **state)
{
    (void)state;
    static char data[(1 << 20) + 1];
    memset(data, 'x', sizeof(data));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct bytes *b = &names[i];
        char                expected[80];
        snprintf(expected, sizeof(expected), "%s, %zu to %zu of them", b->kind,
            b->least, b->most);
        struct fby_buffer more = block(b, data, b->least);
        is_accepted(&b->spot, b->column, &more);
        more = block(b, data, b->most);
        is_accepted(&b->spot, b->column, &more);
        more = block(b, data, b->most + 1);
        is_refused(&b->spot, b->column, &more, expected);
        if (b->least > 0) {
            more = block(b, data, b->least - 1);
            is_refused(&b->spot, b->column, &more, expected);
        }
    }
}

static void every_name_is_utf8_and_every_text_one_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct bytes *b = &names[i];
        char                expected[80];
        snprintf(expected, sizeof(expected), "%s, %zu to %zu of them", b->kind,
            b->least, b->most);
        struct fby_buffer broken = block(b, "a\xff", 2);
        struct fby_buffer nul    = block(b, "a\0b", 3);
        struct fby_buffer half   = block(b, "\xed\xa0\x80", 3);
        struct fby_buffer lines  = block(b, "a\nb", 3);
        struct fby_buffer escape = block(b, "\33[2J", 4);
        if (b->kind == blob) {
            is_accepted(&b->spot, b->column, &broken);
            is_accepted(&b->spot, b->column, &nul);
            is_accepted(&b->spot, b->column, &half);
        } else {
            is_refused(&b->spot, b->column, &broken, expected);
            is_refused(&b->spot, b->column, &half, expected);
            fails_to_unpack(&b->spot, b->column, &nul, expected);
        }
        if (b->kind == text) {
            is_refused(&b->spot, b->column, &lines, expected);
            is_refused(&b->spot, b->column, &escape, expected);
        } else {
            is_accepted(&b->spot, b->column, &lines);
            is_accepted(&b->spot, b->column, &escape);
        }
    }
}

static void every_digest_has_32_bytes(void **state)
{
    (void)state;
    static const size_t wrong[] = {1, 16, 31, 33, 64};
    static const char   data[64];
    for (size_t i = 0; i < sizeof(digests) / sizeof(digests[0]); i++) {
        const struct bytes *b    = &digests[i];
        struct fby_buffer   more = block(b, data, 32);
        is_accepted(&b->spot, b->column, &more);
        more = block(b, data, 0);
        if (b->kind == maybe) {
            is_accepted(&b->spot, b->column, &more);
        } else {
            fails_to_unpack(&b->spot, b->column, &more, b->kind);
        }
        for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
            more = block(b, data, wrong[k]);
            fails_to_unpack(&b->spot, b->column, &more, b->kind);
        }
    }
}

/* ---- lists inside the struct, longer than their array -------------------- */

static void put_dims(struct fby_buffer *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        put_number(b, 4, i + 1);
    }
}

static void a_shape_has_at_most_4_dimensions(void **state)
{
    (void)state;
    const struct spot field = HEADER_FIELD;
    for (uint32_t n = 0; n <= 6; n++) {
        struct fby_buffer more = {0};
        put_dims(&more, n);
        if (n <= 4) {
            is_accepted(&field, "shape", &more);
        } else {
            fails_to_unpack(&field, "shape", &more, "");
        }
    }
    struct fby_buffer many = {0};
    uint8_t           ones[60000];
    memset(ones, 1, sizeof(ones));
    put_block(&many, 4, ones, sizeof(ones)); /* packed */
    fails_to_unpack(&field, "shape", &many, "");
}

static void no_dimension_is_0(void **state)
{
    (void)state;
    const struct spot field = HEADER_FIELD;
    for (uint32_t zero = 0; zero < 4; zero++) {
        struct fby_buffer more = {0};
        for (uint32_t i = 0; i < 4; i++) {
            put_number(&more, 4, i == zero ? 0 : 1);
        }
        is_refused(&field, "shape", &more, "0 to 4 dimensions >= 1");
    }
}

static void put_reals(struct fby_buffer *b, uint32_t field, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        put_real(b, field, 1);
    }
}

static void mean_and_std_have_as_many_channels_and_at_most_4(void **state)
{
    (void)state;
    const struct spot field = HEADER_FIELD;
    for (uint32_t mean = 0; mean <= 6; mean++) {
        for (uint32_t std = 0; std <= 6; std++) {
            struct fby_buffer more = {0};
            put_reals(&more, 7, mean);
            put_reals(&more, 8, std);
            if (mean == std && mean <= 4) {
                is_accepted(&field, "std", &more);
            } else {
                fails_to_unpack(&field, "std", &more, "");
            }
        }
    }
    static const double zeros[4000];
    struct fby_buffer   many = {0};
    put_block(&many, 7, zeros, sizeof(zeros)); /* packed */
    put_block(&many, 8, zeros, sizeof(zeros));
    fails_to_unpack(&field, "std", &many, "");
}

static void means_and_stds_are_finite(void **state)
{
    (void)state;
    const struct spot field = HEADER_FIELD;
    for (uint32_t wrong = 0; wrong < 8; wrong++) {
        struct fby_buffer more = {0};
        for (uint32_t i = 0; i < 8; i++) {
            put_real(&more, i < 4 ? 7 : 8, i == wrong ? 1.0 / 0.0 : 1);
        }
        if (wrong < 4) {
            is_refused(&field, "mean", &more, "finite numbers, 0 to 4 of them");
        } else {
            is_refused(&field, "std", &more,
                "as many finite numbers as before it, 0 to 4 of them");
        }
    }
    struct fby_buffer more = {0};
    put_real(&more, 11, 1.0 / 0.0);
    is_refused(&field, "smoothing", &more, "a finite number");
}

static void choices_are_pairs_and_at_most_32(void **state)
{
    (void)state;
    static const uint8_t zeros[60000];
    const struct spot    request = IN(REQUEST);
    for (size_t size = 0; size <= 67; size++) {
        struct fby_buffer more = {0};
        put_number(&more, 11, 0); /* with any number of choices */
        put_block(&more, 13, zeros, size);
        struct fby_buffer frame = with(&request, &more);
        assert_string_equal(decode_error(&frame),
            size % 2 == 0 && size <= 64
                ? ""
                : "REQUEST.choices: expected pairs of bytes, 0 to 32 of them");
        fby_buffer_fini(&frame);
        fby_buffer_fini(&more);
    }
    struct fby_buffer many = {0};
    put_block(&many, 13, zeros, sizeof(zeros));
    is_refused(&request, "choices", &many, "pairs of bytes, 0 to 32 of them");
}

static void nothing_longer_than_its_array_is_sent(void **state)
{
    (void)state;
    struct fby_message      m;
    struct fby_header_field f = example_fields[0];
    example(FBY_MSG_HEADER, &m);
    m.header.fields   = &f;
    m.header.n_fields = 1;
    f.shape.n_dims    = 5;
    memset((char *)(&f.shape + 1), 1, 4); /* the position of a fifth */
    assert_string_equal(
        encode_error(&m), "HeaderField.shape: expected 0 to 4 dimensions >= 1");
    f                   = example_fields[0];
    f.recipe.n_channels = 5;
    assert_string_equal(encode_error(&m),
        "HeaderField.mean: expected finite numbers, 0 to 4 of them");
    example(FBY_MSG_REQUEST, &m);
    m.request.fields    = 0;
    m.request.n_choices = 33;
    assert_string_equal(encode_error(&m),
        "REQUEST.choices: expected pairs of bytes, 0 to 32 of them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            no_id_is_0_but_that_of_a_session_that_could_not_be_read),
        cmocka_unit_test(every_number_lies_within_its_limits),
        cmocka_unit_test(every_name_has_its_size),
        cmocka_unit_test(every_name_is_utf8_and_every_text_one_line),
        cmocka_unit_test(every_digest_has_32_bytes),
        cmocka_unit_test(a_shape_has_at_most_4_dimensions),
        cmocka_unit_test(no_dimension_is_0),
        cmocka_unit_test(mean_and_std_have_as_many_channels_and_at_most_4),
        cmocka_unit_test(means_and_stds_are_finite),
        cmocka_unit_test(choices_are_pairs_and_at_most_32),
        cmocka_unit_test(nothing_longer_than_its_array_is_sent),
    };
    return cmocka_run_group_tests_name("proto.limits", tests, NULL, NULL);
}
