/* The limits of every column of every message, as the receiver holds the
 * sender to them: least and most are taken, one beyond is refused by name. */
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

/* Behind those of the example in byte order, so that only limits speak. */
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
    uint32_t              list; /* field number; 0: in the message itself */
    const char           *name; /* as errors say it */
    const char *entries; /* said of the list when an entry does not unpack */
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
static bool blames(const char *why, const struct spot *spot, const char *column)
{
    char start[80];
    int  n =
        snprintf(start, sizeof(start), "%s.%s: expected ", spot->name, column);
    return strncmp(why, start, (size_t)n) == 0 ||
           (spot->entries != NULL && strcmp(why, spot->entries) == 0);
}

/* These free `more`. */

static void takes(
    const struct spot *spot, const char *column, struct fby_buffer *more)
{
    struct fby_buffer frame = with(spot, more);
    const char       *why   = refusal(&frame);
    if (blames(why, spot, column)) {
        fail_msg("%s", why);
    }
    fby_buffer_fini(&frame);
    fby_buffer_fini(more);
}

static void refuses(const struct spot *spot, const char *column,
    struct fby_buffer *more, const char *expected)
{
    char              wanted[160];
    struct fby_buffer frame = with(spot, more);
    snprintf(wanted, sizeof(wanted), "%s.%s: expected %s", spot->name, column,
        expected);
    assert_string_equal(refusal(&frame), wanted);
    fby_buffer_fini(&frame);
    fby_buffer_fini(more);
}

/* The error when unpacking fails: for an entry, it names the list. */
static void cannot_unpack(const struct spot *spot, const char *column,
    struct fby_buffer *more, const char *expected)
{
    if (spot->entries == NULL) {
        refuses(spot, column, more, expected);
        return;
    }
    struct fby_buffer frame = with(spot, more);
    assert_string_equal(refusal(&frame), spot->entries);
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
    {IN(REFUSED), 2, "code", 'v', 1, 3},
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
    {IN(HEADER), 8, "asked", 'f', 0, UINT64_MAX},
    {SUBSTITUTED, 1, "row", 'v', 0, 65535},
    {SUBSTITUTED, 2, "original", 'v', 0, UINT64_MAX},
    {SUBSTITUTED, 3, "substitute", 'v', 0, UINT64_MAX},
    {IN(END), 3, "wire_bytes", 'v', 1, UINT64_MAX},
    {IN(END), 6, "fetch_ns", 'v', 0, UINT64_MAX},
    {IN(END), 7, "transform_ns", 'v', 0, UINT64_MAX},
    {IN(END), 8, "encode_ns", 'v', 0, UINT64_MAX},
    {IN(END), 9, "wait_ns", 'v', 0, UINT64_MAX},
    {IN(REGISTER), 4, "pid", 'v', 0, UINT32_MAX},
    {IN(REGISTER), 5, "cores", 'v', 1, UINT32_MAX},
    {IN(REGISTERED), 3, "lease_ms", 'v', 1, UINT32_MAX},
    {IN(REGISTERED), 4, "heartbeat_ms", 'v', 1, UINT32_MAX},
    {COUNTER, 2, "value", 'v', 0, UINT64_MAX},
    {IN(HEARTBEAT), 2, "sessions", 'v', 0, UINT32_MAX},
    {IN(HEARTBEAT), 3, "load_permille", 'v', 0, 1000},
    {IN(JOIN), 3, "rank", 'v', 0, 65535},
    {IN(JOIN), 4, "world", 'v', 1, 65536},
    {IN(JOIN), 6, "pid", 'v', 0, UINT32_MAX},
    {IN(JOIN), 7, "seed", 'f', 0, UINT64_MAX},
    {IN(JOIN), 11, "epoch", 'v', 0, UINT64_MAX},
    {IN(JOIN), 12, "step", 'v', 0, UINT64_MAX},
    {IN(JOINED), 3, "lease_ms", 'v', 1, UINT32_MAX},
    {IN(JOINED), 4, "heartbeat_ms", 'v', 1, UINT32_MAX},
    {IN(JOIN_REFUSED), 2, "code", 'v', 1, 8},
    {IN(RENEW), 3, "sequence", 'v', 0, UINT64_MAX},
    {IN(WORKERS), 3, "sequence", 'v', 1, UINT64_MAX},
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
    takes(&n->spot, n->column, &more);
    more = number(n, n->most);
    takes(&n->spot, n->column, &more);
    if (n->least > 0) {
        more = number(n, n->least - 1);
        refuses(&n->spot, n->column, &more, expected);
    }
    bool of_u64 = strcmp(n->column, "fields") == 0;
    if (n->most < UINT32_MAX || of_u64) {
        more = number(n, n->most + 1);
        refuses(&n->spot, n->column, &more, expected);
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
    {IN(UNREACHABLE), 3, "text", text, 0, 1024},
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
        takes(&b->spot, b->column, &more);
        more = block(b, data, b->most);
        takes(&b->spot, b->column, &more);
        more = block(b, data, b->most + 1);
        refuses(&b->spot, b->column, &more, expected);
        if (b->least > 0) {
            more = block(b, data, b->least - 1);
            refuses(&b->spot, b->column, &more, expected);
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
        struct fby_buffer lines  = block(b, "a\nb", 3);
        if (b->kind == blob) {
            takes(&b->spot, b->column, &broken);
            takes(&b->spot, b->column, &nul);
        } else {
            refuses(&b->spot, b->column, &broken, expected);
            cannot_unpack(&b->spot, b->column, &nul, expected);
        }
        if (b->kind == text) {
            refuses(&b->spot, b->column, &lines, expected);
        } else {
            takes(&b->spot, b->column, &lines);
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
        takes(&b->spot, b->column, &more);
        more = block(b, data, 0);
        if (b->kind == maybe) {
            takes(&b->spot, b->column, &more);
        } else {
            cannot_unpack(&b->spot, b->column, &more, b->kind);
        }
        for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
            more = block(b, data, wrong[k]);
            cannot_unpack(&b->spot, b->column, &more, b->kind);
        }
    }
}

/* ---- lists --------------------------------------------------------------- */

static void lists_of_numbers_are_bounded(void **state)
{
    (void)state;
    static uint64_t    many[65537];
    struct fby_message m;
    for (size_t i = 0; i < 65537; i++) {
        many[i] = i + 1;
    }
    example(FBY_MSG_WELCOME, &m);
    m.welcome.open.at = (const struct fby_request_id *)many;
    m.welcome.open.n  = 1024;
    assert_string_equal(said_of(&m), "");
    m.welcome.open.n++;
    assert_string_equal(said_of(&m),
        "WELCOME.open: expected ids, none of them 0, 0 to 1024 of them");
    example(FBY_MSG_PONG, &m);
    m.pong.open.at = (const struct fby_request_id *)many;
    m.pong.open.n  = 1024;
    assert_string_equal(said_of(&m), "");
    m.pong.open.n++;
    assert_string_equal(said_of(&m),
        "PONG.open: expected ids, none of them 0, 0 to 1024 of them");
    example(FBY_MSG_WORKERS, &m);
    m.workers.removed.at = (const struct fby_instance_id *)many;
    m.workers.removed.n  = 8192;
    assert_string_equal(said_of(&m), "");
    m.workers.removed.n++;
    assert_string_equal(said_of(&m),
        "WORKERS.removed: expected ids, none of them 0, 0 to 8192 of them");
    example(FBY_MSG_END, &m);
    m.end.samples   = many;
    m.end.n_samples = 65536;
    assert_string_equal(said_of(&m), "");
    m.end.n_samples++;
    assert_string_equal(
        said_of(&m), "END.samples: expected fewer numbers, 0 to 65536 of them");
}

static void no_id_in_a_list_is_0(void **state)
{
    (void)state;
    struct fby_request_id three[3] = {{7}, {8}, {9}};
    struct fby_message    m;
    for (size_t i = 0; i < 3; i++) {
        struct fby_request_id kept = three[i];
        three[i].value             = 0;
        example(FBY_MSG_PONG, &m);
        m.pong.open.at = three;
        m.pong.open.n  = 3;
        assert_string_equal(said_of(&m),
            "PONG.open: expected ids, none of them 0, 0 to 1024 of them");
        three[i] = kept;
    }
    assert_string_equal(said_of(&m), "");
    m.pong.open.n = 0;
    assert_string_equal(said_of(&m), "");
}

static void a_field_has_one_sum_and_a_batch_32(void **state)
{
    (void)state;
    static const char  expected[] = "END.sums: expected sums of 16 bytes, "
                                    "1 to 32 of them";
    struct fby_sum     sums[33]   = {{{1}}};
    struct fby_message m;
    example(FBY_MSG_END, &m);
    m.end.sums = sums;
    for (size_t n = 0; n <= 33; n++) {
        m.end.n_sums = n;
        assert_string_equal(said_of(&m), n == 0 || n == 33 ? expected : "");
    }
    struct fby_buffer frame = example_frame(FBY_MSG_END);
    put_block(&frame, 4, sums, 17);
    assert_string_equal(refusal(seal(&frame)), expected);
    fby_buffer_fini(&frame);
}

static const char *of_endpoints(const char *const *at, size_t n)
{
    struct fby_message m;
    example(FBY_MSG_REGISTER, &m);
    m.enroll.endpoints = (struct fby_names){at, n};
    return said_of(&m);
}

static const char *of_roots(const char *const *at, size_t n)
{
    struct fby_message m;
    example(FBY_MSG_REGISTER, &m);
    m.enroll.roots = (struct fby_names){at, n};
    return said_of(&m);
}

static void a_worker_has_1_to_16_endpoints_and_256_roots(void **state)
{
    (void)state;
    static const char endpoints[] =
        "REGISTER.endpoints: expected names in UTF-8 without NUL, "
        "1 to 16 of them";
    static const char roots[] =
        "REGISTER.roots: expected names in UTF-8 without NUL, 0 to 256 of them";
    const char *many[257];
    for (size_t i = 0; i < 257; i++) {
        many[i] = "a";
    }
    assert_string_equal(of_endpoints(many, 0), endpoints);
    assert_string_equal(of_endpoints(many, 1), "");
    assert_string_equal(of_endpoints(many, 16), "");
    assert_string_equal(of_endpoints(many, 17), endpoints);
    assert_string_equal(of_roots(many, 0), "");
    assert_string_equal(of_roots(many, 256), "");
    assert_string_equal(of_roots(many, 257), roots);
}

static void names_in_lists_have_their_size(void **state)
{
    (void)state;
    static const char endpoints[] =
        "REGISTER.endpoints: expected names in UTF-8 without NUL, "
        "1 to 16 of them";
    char        longest[257];
    const char *two[2] = {"a", longest};
    memset(longest, 'x', sizeof(longest));
    for (int i = 0; i < 2; i++) { /* whichever of the two it is */
        longest[256] = '\0';
        assert_string_equal(of_endpoints(two, 2), endpoints);
        longest[255] = '\0';
        assert_string_equal(of_endpoints(two, 2), "");
        assert_non_null(strstr(of_roots(two, 2), "REGISTER.roots"));
        longest[64] = '\0';
        assert_non_null(strstr(of_roots(two, 2), "REGISTER.roots"));
        longest[63] = '\0';
        assert_string_equal(of_roots(two, 2), "");
        longest[0] = '\0';
        assert_string_equal(of_endpoints(two, 2), endpoints);
        longest[0] = '\xff';
        assert_string_equal(of_endpoints(two, 2), endpoints);
        memset(longest, 'x', sizeof(longest));
        two[0] = longest;
        two[1] = "a";
    }
}

static void no_name_in_a_list_has_a_nul(void **state)
{
    (void)state;
    struct fby_buffer frame = example_frame(FBY_MSG_REGISTER);
    put_block(&frame, 6, "a\0b", 3);
    assert_string_equal(refusal(seal(&frame)),
        "REGISTER.roots: expected names in UTF-8 without NUL, 0 to 256 of "
        "them");
    fby_buffer_fini(&frame);
}

static void endpoints_of_a_worker_in_a_list_are_bounded_too(void **state)
{
    (void)state;
    struct fby_worker_info one = example_workers[0];
    const char            *many[17];
    struct fby_message     m;
    for (size_t i = 0; i < 17; i++) {
        many[i] = "a";
    }
    example(FBY_MSG_WORKERS, &m);
    m.workers.added   = &one;
    m.workers.n_added = 1;
    for (size_t n = 0; n <= 17; n++) {
        one.endpoints = (struct fby_names){many, n};
        assert_string_equal(said_of(&m),
            n == 0 || n == 17 ? "WorkerInfo.endpoints: expected names in UTF-8 "
                                "without NUL, 1 to 16 of them"
                              : "");
    }
}

static void workers_and_counters_are_bounded(void **state)
{
    (void)state;
    struct fby_worker_info *workers = calloc(8193, sizeof(*workers));
    struct fby_counter      counters[257];
    struct fby_message      m;
    for (size_t i = 0; i < 8193; i++) {
        workers[i] = example_workers[1];
    }
    example(FBY_MSG_WORKERS, &m);
    m.workers.added   = workers;
    m.workers.n_added = 8192;
    assert_string_equal(said_of(&m), "");
    m.workers.n_added = 8193;
    assert_string_equal(
        said_of(&m), "WORKERS.added: expected entries, 0 to 8192 of them");
    for (size_t i = 0; i < 257; i++) {
        counters[i] = example_counters[0];
    }
    example(FBY_MSG_HEARTBEAT, &m);
    m.heartbeat.counters   = counters;
    m.heartbeat.n_counters = 256;
    assert_string_equal(said_of(&m), "");
    m.heartbeat.n_counters = 257;
    assert_string_equal(
        said_of(&m), "HEARTBEAT.counters: expected entries, 0 to 256 of them");
    free(workers);
}

static void shards_are_bounded(void **state)
{
    (void)state;
    enum { MOST = 1 << 17 };
    struct fby_shard_info *shards = calloc(MOST + 1, sizeof(*shards));
    char(*shard_names)[8]         = calloc(MOST + 1, sizeof(*shard_names));
    struct fby_message m;
    for (uint32_t i = 0; i <= MOST; i++) {
        snprintf(shard_names[i], sizeof(shard_names[i]), "%07" PRIu32, i);
        shards[i] = (struct fby_shard_info){.name = shard_names[i]};
    }
    example(FBY_MSG_OPENED, &m);
    m.opened.shards   = shards;
    m.opened.samples  = 0;
    m.opened.n_shards = MOST;
    assert_string_equal(said_of(&m), "");
    m.opened.n_shards++;
    assert_string_equal(
        said_of(&m), "OPENED.shards: expected entries, 0 to 131072 of them");
    free(shard_names);
    free(shards);
}

static void fields_and_substituted_rows_are_bounded(void **state)
{
    (void)state;
    struct fby_header_field fields[33];
    struct fby_substituted  rows[1025];
    char                    field_names[33][4];
    struct fby_message      m;
    for (uint32_t i = 0; i < 33; i++) {
        snprintf(field_names[i], sizeof(field_names[i]), "%02" PRIu32, i);
        fields[i]      = example_fields[1];
        fields[i].name = field_names[i];
    }
    example(FBY_MSG_HEADER, &m);
    m.header.fields = fields;
    for (size_t n = 0; n <= 33; n++) {
        m.header.n_fields = n;
        assert_string_equal(said_of(&m),
            n == 0 || n == 33
                ? "HEADER.fields: expected entries, 1 to 32 of them"
                : "");
    }
    for (uint32_t i = 0; i < 1025; i++) {
        rows[i]     = example_substituted[0];
        rows[i].row = i;
    }
    example(FBY_MSG_END, &m);
    m.end.substituted   = rows;
    m.end.n_substituted = 1024;
    assert_string_equal(said_of(&m), "");
    m.end.n_substituted = 1025;
    assert_string_equal(
        said_of(&m), "END.substituted: expected entries, 0 to 1024 of them");
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
            takes(&field, "shape", &more);
        } else {
            cannot_unpack(&field, "shape", &more, "");
        }
    }
    struct fby_buffer many = {0};
    uint8_t           ones[60000];
    memset(ones, 1, sizeof(ones));
    put_block(&many, 4, ones, sizeof(ones)); /* packed */
    cannot_unpack(&field, "shape", &many, "");
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
        refuses(&field, "shape", &more, "0 to 4 dimensions >= 1");
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
                takes(&field, "std", &more);
            } else {
                cannot_unpack(&field, "std", &more, "");
            }
        }
    }
    static const double zeros[4000];
    struct fby_buffer   many = {0};
    put_block(&many, 7, zeros, sizeof(zeros)); /* packed */
    put_block(&many, 8, zeros, sizeof(zeros));
    cannot_unpack(&field, "std", &many, "");
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
            refuses(&field, "mean", &more, "finite numbers, 0 to 4 of them");
        } else {
            refuses(&field, "std", &more,
                "as many finite numbers as before it, 0 to 4 of them");
        }
    }
    struct fby_buffer more = {0};
    put_real(&more, 11, 1.0 / 0.0);
    refuses(&field, "smoothing", &more, "a finite number");
}

static void choices_are_pairs_and_at_most_32(void **state)
{
    (void)state;
    static const uint8_t zeros[60000];
    const struct spot    request = IN(REQUEST);
    for (size_t size = 0; size <= 67; size++) {
        struct fby_buffer more = {0};
        put_number(&more, 11, 0); /* any number of choices will do */
        put_block(&more, 13, zeros, size);
        struct fby_buffer frame = with(&request, &more);
        assert_string_equal(refusal(&frame),
            size % 2 == 0 && size <= 64
                ? ""
                : "REQUEST.choices: expected pairs of bytes, 0 to 32 of them");
        fby_buffer_fini(&frame);
        fby_buffer_fini(&more);
    }
    struct fby_buffer many = {0};
    put_block(&many, 13, zeros, sizeof(zeros));
    refuses(&request, "choices", &many, "pairs of bytes, 0 to 32 of them");
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
    memset((char *)(&f.shape + 1), 1, 4); /* where a fifth would stand */
    assert_string_equal(
        said_of(&m), "HeaderField.shape: expected 0 to 4 dimensions >= 1");
    f                   = example_fields[0];
    f.recipe.n_channels = 5;
    assert_string_equal(said_of(&m),
        "HeaderField.mean: expected finite numbers, 0 to 4 of them");
    example(FBY_MSG_REQUEST, &m);
    m.request.fields    = 0;
    m.request.n_choices = 33;
    assert_string_equal(said_of(&m),
        "REQUEST.choices: expected pairs of bytes, 0 to 32 of them");
}

/* ---- sizes of messages and of what they unpack to ------------------------ */

static size_t most_bytes(enum fby_message_type type)
{
    switch ((int)type) {
    case FBY_MSG_OPENED:
    case FBY_MSG_END:
    case FBY_MSG_WORKERS:
        return 8 << 20;
    case FBY_MSG_OPEN:
        return (1 << 20) + (64 << 10);
    default:
        return 64 << 10;
    }
}

static void a_message_has_its_size_at_most(void **state)
{
    (void)state;
    char *fill = calloc(1, 9 << 20);
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        enum fby_message_type type  = example_types[i];
        size_t                most  = most_bytes(type);
        struct fby_buffer     frame = example_frame(type);
        char                  wanted[80];
        struct fby_buffer     more = example_frame(type);
        size_t room = most - frame.size - 5; /* two of the tag, the length 3 */
        room -= room >= (1 << 21);
        put_block(&frame, 1000, fill, room);
        assert_int_equal(frame.size, most);
        assert_string_equal(refusal(seal(&frame)), "");
        put_block(&more, 1000, fill, room + 1);
        snprintf(wanted, sizeof(wanted), "%s: %zu bytes, more than %zu",
            fby_message_name(type), most + 1, most);
        assert_string_equal(refusal(seal(&more)), wanted);
        fby_buffer_fini(&more);
        fby_buffer_fini(&frame);
    }
    free(fill);
}

/* An entry of 2 bytes takes about 150 to unpack. */
static struct fby_buffer empty_entries(uint32_t n)
{
    struct fby_buffer b = example_frame(FBY_MSG_END);
    for (uint32_t i = 0; i < n; i++) {
        put_block(&b, 5, NULL, 0);
    }
    seal(&b);
    return b;
}

static void what_unpacks_to_much_more_than_it_is_is_refused(void **state)
{
    (void)state;
    struct fby_buffer few  = empty_entries(300);
    struct fby_buffer many = empty_entries(900);
    assert_string_equal(
        refusal(&few), "END: substituted row 0: rows must ascend");
    assert_string_equal(refusal(&many), "END: the body is no protobuf");
    fby_buffer_fini(&many);
    fby_buffer_fini(&few);
}

/* 20,000 entries of 2 bytes; as so many they are refused in any case, but later
 * than where memory ends. They take 16 times what they and 162,000 bytes of a
 * field that is passed over have. */
static const char *entries_beside(size_t passed_over)
{
    static const char zeros[170000];
    struct fby_buffer b = empty_entries(20000);
    put_block(&b, 1000, zeros, passed_over);
    const char *why = refusal(seal(&b));
    fby_buffer_fini(&b);
    return why;
}

static void a_message_unpacks_to_16_times_its_size(void **state)
{
    (void)state;
    assert_string_equal(entries_beside(156000), "END: the body is no protobuf");
    assert_string_equal(entries_beside(169000),
        "END.substituted: expected entries, 0 to 1024 of them");
}

/* The memory limit is reached at a number of entries: in the protobuf, in
 * the array of entries, or in what one of them needs. How many of the frames
 * with 200 to 1,000 times `one` behind an example are told each of `says`. */
static void told(enum fby_message_type type, const struct fby_buffer *one,
    const char *const says[3], int n_told[3])
{
    struct fby_buffer frame = example_frame(type);
    for (uint32_t n = 1; n <= 1000; n++) {
        fby_put_bytes(&frame, one->data, one->size);
        const char *why = n >= 200 ? refusal(seal(&frame)) : "";
        for (int i = 0; i < 3; i++) {
            n_told[i] += strcmp(why, says[i]) == 0;
        }
    }
    fby_buffer_fini(&frame);
}

static void memory_may_end_at_any_place(void **state)
{
    (void)state;
    static const char *const of_end[]     = {"END: the body is no protobuf",
            "END.substituted: expected entries, 0 to 1024 of them",
            "END: substituted row 0: rows must ascend"};
    static const char *const of_workers[] = {"WORKERS: the body is no protobuf",
        "WORKERS.added: expected entries, 0 to 8192 of them",
        "WorkerInfo.instance: expected a number from 1 to "
        "18446744073709551615"};
    for (int i = 0; i < 2; i++) {
        int               n[3] = {0};
        struct fby_buffer one  = {0};
        if (i == 0) { /* with the name of a shard */
            put_block(&one, 5, "\42\1k", 3);
            told(FBY_MSG_END, &one, of_end, n);
        } else { /* with an endpoint */
            put_block(&one, 5, "\22\1a", 3);
            told(FBY_MSG_WORKERS, &one, of_workers, n);
        }
        assert_int_equal(n[0] + n[1] + n[2], 801);
        assert_true(n[0] > 0 && n[1] > 0 && n[2] > 0);
        fby_buffer_fini(&one);
    }
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
        cmocka_unit_test(lists_of_numbers_are_bounded),
        cmocka_unit_test(no_id_in_a_list_is_0),
        cmocka_unit_test(a_field_has_one_sum_and_a_batch_32),
        cmocka_unit_test(a_worker_has_1_to_16_endpoints_and_256_roots),
        cmocka_unit_test(names_in_lists_have_their_size),
        cmocka_unit_test(no_name_in_a_list_has_a_nul),
        cmocka_unit_test(endpoints_of_a_worker_in_a_list_are_bounded_too),
        cmocka_unit_test(workers_and_counters_are_bounded),
        cmocka_unit_test(shards_are_bounded),
        cmocka_unit_test(fields_and_substituted_rows_are_bounded),
        cmocka_unit_test(a_shape_has_at_most_4_dimensions),
        cmocka_unit_test(no_dimension_is_0),
        cmocka_unit_test(mean_and_std_have_as_many_channels_and_at_most_4),
        cmocka_unit_test(means_and_stds_are_finite),
        cmocka_unit_test(choices_are_pairs_and_at_most_32),
        cmocka_unit_test(nothing_longer_than_its_array_is_sent),
        cmocka_unit_test(a_message_has_its_size_at_most),
        cmocka_unit_test(what_unpacks_to_much_more_than_it_is_is_refused),
        cmocka_unit_test(a_message_unpacks_to_16_times_its_size),
        cmocka_unit_test(memory_may_end_at_any_place),
    };
    return cmocka_run_group_tests_name("proto.limits", tests, NULL, NULL);
}
