/* messages.h - all control messages, as plain structs.
 *
 * PROTOCOL.md, "Messages", says which peer sends which message when. A decoded
 * message (wire.h) is valid, so these structs can be used without further
 * checks.
 *
 * Names (of fields, shards, hosts, ...) must be UTF-8 without NUL, else the
 * message is refused. A `text` is for users; encoding sanitizes and shortens
 * it. */
#ifndef FBY_PROTO_MESSAGES_H
#define FBY_PROTO_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/bytes.h"
#include "common/err.h"
#include "common/hash.h"
#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "pipeline/types.h"
#include "proto/ids.h"

enum {
    FBY_PROTOCOL_VERSION = 1,
    FBY_MESSAGE_HEAD     = 16,       /* bytes of the head (wire.h) */
    FBY_MESSAGE_MAX      = 8 << 20,  /* bytes of the longest message */
    FBY_MESSAGE_SMALL    = 64 << 10, /* limit of most types, in bytes */

    /* The longest texts, in bytes without a NUL. */
    FBY_TEXT_MAX        = 1024,
    FBY_NAME_MAX        = FBY_NAME_SIZE - 1,
    FBY_DEVICE_LIST_MAX = 1024, /* see struct fby_recipe */
    FBY_HOST_MAX        = 255,
    FBY_JOB_MAX         = 255,
    FBY_KEY_MAX         = 4095, /* shard names and sample keys */
    FBY_ENDPOINT_MAX    = 255,
    FBY_CONTENT_MAX     = FBY_MAX_CONTENT,
    /* The largest numbers of things. */
    FBY_OPEN_REQUESTS = 1024,          /* of a session at one worker */
    FBY_SHARDS_MAX    = 1 << 17,       /* of a dataset */
    FBY_ROWS_MAX      = FBY_MAX_BATCH, /* of a request */
    FBY_SUBSTITUTED   = 1024,          /* substituted rows of a request */
    FBY_ENDPOINTS_MAX = 16,            /* of a worker */
    FBY_ROOTS_MAX     = 256,           /* of a worker */
    FBY_COUNTERS_MAX  = 256,           /* in one HEARTBEAT message */
    FBY_WORKERS_MAX   = 8192,          /* in one WORKERS message */
    FBY_RANKS_MAX     = 1 << 16        /* of a job */
};

/* X(number, NAME, member): the messages, struct fby_<member> for each. The
 * numbers are part of the protocol: add numbers, never change one. */
#define FBY_MESSAGE_MAP(X)                      \
    /* client and worker */                     \
    X(1, HELLO, hello)                          \
    X(2, WELCOME, welcome)                      \
    X(3, HELLO_FIRST, hello_first)              \
    X(4, REFUSED, refused)                      \
    X(5, PING, ping)                            \
    X(6, PONG, pong)                            \
    X(7, OPEN, open)                            \
    X(8, SCANNING, scanning)                    \
    X(9, OPENED, opened)                        \
    X(10, OPEN_FAILED, open_failed)             \
    X(11, REQUEST, request)                     \
    X(12, SEND_CONTENT, send_content)           \
    X(13, BUSY, busy)                           \
    X(14, LOST, lost)                           \
    X(15, CANNOT, cannot)                       \
    X(16, STALE_DATA, stale_data)               \
    X(17, WRONG_FINGERPRINT, wrong_fingerprint) \
    X(18, CANCEL, cancel)                       \
    X(19, CREDIT, credit)                       \
    X(20, HEADER, header)                       \
    X(21, END, end)                             \
    X(22, LEAVE, leave)                         \
    X(23, BYE, bye)                             \
    /* worker and server */                     \
    X(32, REGISTER, registration)               \
    X(33, REGISTERED, registered)               \
    X(34, REGISTER_FIRST, register_first)       \
    X(35, HEARTBEAT, heartbeat)                 \
    X(36, HEARTBEAT_OK, heartbeat_ok)           \
    X(37, DEREGISTER, deregister)               \
    /* client and server */                     \
    X(48, JOIN, join)                           \
    X(49, JOINED, joined)                       \
    X(50, JOIN_REFUSED, join_refused)           \
    X(51, JOIN_FIRST, join_first)               \
    X(52, RENEW, renew)                         \
    X(53, WORKERS, workers)                     \
    X(54, UNREACHABLE, unreachable)             \
    X(55, QUIT, quit)

enum fby_message_type {
#define X(number, NAME, member) FBY_MSG_##NAME = (number),
    FBY_MESSAGE_MAP(X)
#undef X
};

/* Bytes that are not interpreted here, such as canonical content. */
struct fby_blob {
    const uint8_t *data;
    size_t         size;
};

/* A digest that may be absent. */
struct fby_maybe_digest {
    bool              known;
    struct fby_digest digest; /* when known */
};

/* Feature bits of HELLO and WELCOME: bit n is filter n (enum fby_filter), bit
 * 16 + n codec n (enum fby_codec), bit 32 + n encoding n. */
#define FBY_FEATURE_FILTER(n)   (UINT64_C(1) << (n))
#define FBY_FEATURE_CODEC(n)    (UINT64_C(1) << (16 + (n)))
#define FBY_FEATURE_ENCODING(n) (UINT64_C(1) << (32 + (n)))

/* The filters and codecs of `features`: bit n is number n. */
#define FBY_FEATURED_FILTERS(features) ((uint32_t)((features)&0xffff))
#define FBY_FEATURED_CODECS(features)  ((uint32_t)((features) >> 16 & 0xffff))

/* Every filter, codec and encoding of this version. */
#define FBY_FEATURES                                                           \
    (FBY_FEATURE_FILTER(FBY_FILTER_NONE) |                                     \
        FBY_FEATURE_FILTER(FBY_FILTER_DELTA) |                                 \
        FBY_FEATURE_FILTER(FBY_FILTER_BYTE_SHUFFLE) |                          \
        FBY_FEATURE_FILTER(FBY_FILTER_BIT_SHUFFLE) |                           \
        FBY_FEATURE_FILTER(FBY_FILTER_PHOTO) |                                 \
        FBY_FEATURE_CODEC(FBY_CODEC_STORE) |                                   \
        FBY_FEATURE_CODEC(FBY_CODEC_LZ4) | FBY_FEATURE_CODEC(FBY_CODEC_PACK) | \
        FBY_FEATURE_ENCODING(FBY_ENCODING_DENSE) |                             \
        FBY_FEATURE_ENCODING(FBY_ENCODING_LABEL) |                             \
        FBY_FEATURE_ENCODING(FBY_ENCODING_BITS) |                              \
        FBY_FEATURE_ENCODING(FBY_ENCODING_SPARSE) |                            \
        FBY_FEATURE_ENCODING(FBY_ENCODING_RAGGED) |                            \
        FBY_FEATURE_ENCODING(FBY_ENCODING_YUV420))

struct fby_hello { /* client > worker */
    struct fby_session_id session;
    struct fby_route_id   route;                    /* new in each HELLO */
    uint32_t              version_min, version_max; /* of the protocol */
    uint64_t              features;  /* FBY_FEATURE_... bits that it has */
    uint64_t              max_bytes; /* raw bytes of the largest batch */
    const char           *job;
    uint32_t              rank;
    const char           *host;
    uint32_t              pid;
};

struct fby_request_ids {
    const struct fby_request_id *at;
    size_t                       n;
};

struct fby_welcome { /* worker > client: the first message of a route */
    struct fby_session_id  session;
    struct fby_route_id    route; /* copied from HELLO */
    struct fby_instance_id instance;
    uint32_t               version;     /* chosen */
    uint64_t               features;    /* that both peers have */
    uint64_t               send_window; /* most bytes sent beyond CREDIT */
    struct fby_request_ids open; /* requests of the session at this worker */
};

struct fby_hello_first {           /* worker > client: unknown routing id */
    struct fby_session_id session; /* of the message that this one answers */
};

enum fby_refused_code {
    FBY_REFUSED_VERSION = 1, /* no version in common */
    FBY_REFUSED_FULL    = 2, /* no budget for one more session */
    FBY_REFUSED_LEAVING = 3  /* the worker takes no new sessions */
};
struct fby_refused {               /* worker > client: no session */
    struct fby_session_id session; /* 0 when it could not be read */
    enum fby_refused_code code;
    uint32_t              version_min, version_max; /* of the worker */
    const char           *text;
};

struct fby_ping { /* client > worker */
    struct fby_session_id session;
    uint64_t              sequence;
};

struct fby_pong { /* worker > client */
    struct fby_session_id  session;
    struct fby_instance_id instance;
    uint64_t               sequence; /* copied from PING */
    struct fby_request_ids open;     /* as in WELCOME */
};

struct fby_open { /* client > worker */
    struct fby_session_id   session;
    struct fby_open_id      open;
    struct fby_blob         content;     /* canonical bytes */
    const char             *location;    /* pattern: "NAME:path" */
    struct fby_maybe_digest data;        /* that the client expects */
    struct fby_maybe_digest fingerprint; /* that the client expects */
};

struct fby_scanning { /* worker > client */
    struct fby_session_id session;
    struct fby_open_id    open;
    uint32_t              shards_done, shards_total; /* 0: total not known */
};

struct fby_shard_info {
    const char       *name;
    struct fby_digest digest;
    uint32_t          samples;
};
struct fby_opened { /* worker > client */
    struct fby_session_id        session;
    struct fby_open_id           open;
    struct fby_digest            content; /* of the content in OPEN */
    struct fby_digest            data;
    struct fby_digest            fingerprint;
    uint64_t                     samples; /* of all shards */
    const struct fby_shard_info *shards;  /* in byte order of names */
    size_t                       n_shards;
};

enum fby_open_failed_code {
    FBY_OPEN_BAD_CONTENT  = 1, /* unknown or not canonical */
    FBY_OPEN_BAD_LOCATION = 2, /* no such root, `..`, or a link out of it */
    FBY_OPEN_NOTHING      = 3, /* the location does not exist */
    FBY_OPEN_BAD_DATA     = 4, /* as a truncated tar, or a malformed label */
    FBY_OPEN_IO           = 5, /* reading failed; try another worker */
    FBY_OPEN_DIFFERS      = 6, /* data or fingerprint are not as expected */
    FBY_OPEN_BUSY         = 7  /* too many datasets are being opened: retry */
};
struct fby_open_failed { /* worker > client */
    struct fby_session_id     session;
    struct fby_open_id        open;
    enum fby_open_failed_code code;
    struct fby_maybe_digest   data;        /* found by this worker */
    struct fby_maybe_digest   fingerprint; /* of this worker */
    const char               *text;
};

struct fby_coding_choice { /* the coding requested for a field */
    uint8_t filter;        /* enum fby_filter or FBY_AUTO */
    uint8_t codec;         /* enum fby_codec or FBY_AUTO */
};
struct fby_request { /* client > worker */
    struct fby_session_id session;
    struct fby_request_id request;
    struct fby_digest     content;
    struct fby_digest     data;
    struct fby_digest     fingerprint;
    uint64_t              seed, epoch, step;
    uint32_t              first_row, rows; /* of the batch of all ranks */
    uint64_t              fields;    /* bit i: field i of content; 0: all */
    uint64_t              max_bytes; /* most raw bytes that the client takes */
    uint32_t              n_choices; /* as many as fields; 0: all FBY_AUTO */
    struct fby_coding_choice choices[FBY_MAX_FIELDS];
};

struct fby_send_content { /* worker > client: send OPEN, then request again */
    struct fby_session_id session;
    struct fby_request_id request;
    struct fby_digest     content;
};

struct fby_busy { /* worker > client: request again, after retry_ms */
    struct fby_session_id session;
    struct fby_request_id request;
    uint32_t              retry_ms;
};

struct fby_lost { /* worker > client: dropped; request again from any worker */
    struct fby_session_id session;
    struct fby_request_id request;
};

enum fby_cannot_code {
    FBY_CANNOT_SAMPLE  = 1, /* a bad sample, and the content says `fail` */
    FBY_CANNOT_IO      = 2, /* reading failed */
    FBY_CANNOT_MEMORY  = 3, /* more than this worker may ever use */
    FBY_CANNOT_FIT     = 4, /* larger than the request's max_bytes */
    FBY_CANNOT_REQUEST = 5  /* no such step, row or field */
};
struct fby_cannot { /* worker > client */
    struct fby_session_id session;
    struct fby_request_id request;
    enum fby_cannot_code  code;
    const char           *shard;  /* where the error is; "": no shard */
    const char           *key;    /* of the sample; "": none */
    uint64_t              sample; /* its number, if there is a shard */
    uint64_t              offset; /* in the shard, if there is one */
    const char           *text;
};

struct fby_stale_data { /* worker > client: the shard changed since OPEN */
    struct fby_session_id   session;
    struct fby_request_id   request;
    struct fby_maybe_digest data; /* found by this worker */
    const char             *shard;
    const char             *text;
};

struct fby_wrong_fingerprint { /* worker > client */
    struct fby_session_id session;
    struct fby_request_id request;
    struct fby_digest     fingerprint; /* of this worker */
};

struct fby_cancel { /* client > worker */
    struct fby_session_id session;
    struct fby_request_id request;
};

struct fby_credit { /* client > worker */
    struct fby_session_id session;
    struct fby_route_id   route;
    uint64_t              received; /* bytes of chunk frames on this route */
};

enum fby_encoding {
    FBY_ENCODING_DENSE  = 1,
    FBY_ENCODING_LABEL  = 2,
    FBY_ENCODING_BITS   = 3,
    FBY_ENCODING_SPARSE = 4,
    FBY_ENCODING_RAGGED = 5,
    FBY_ENCODING_YUV420 = 6 /* planes of a picture, see common/yuv420.h */
};

/* The encoding of a field, from its content. */
static inline enum fby_encoding fby_encoding_of(
    const struct fby_field_content *field)
{
    if (fby_field_form(field) != FBY_FORM_DENSE) {
        return fby_field_form(field) == FBY_FORM_SPARSE ? FBY_ENCODING_SPARSE
                                                        : FBY_ENCODING_RAGGED;
    }
    if (fby_field_maps(field) > 0) {
        return FBY_ENCODING_BITS;
    }
    if (fby_field_is_yuv420(field)) {
        return FBY_ENCODING_YUV420;
    }
    return fby_field_values(field) == FBY_VALUES_CLASSES ? FBY_ENCODING_LABEL
                                                         : FBY_ENCODING_DENSE;
}

/* How the receiver expands a field to the values that it delivers. */
struct fby_recipe {
    uint32_t        n_channels; /* entries of mean, std; 0: not normalised */
    double          mean[FBY_MAX_CHANNELS]; /* result: (v/255 - mean) / std */
    double          std[FBY_MAX_CHANNELS];  /* > 0 */
    bool            one_hot;
    uint32_t        classes;   /* of a label; 0: unknown, never with one_hot */
    double          smoothing; /* one_hot: 0 <= smoothing < 1 */
    struct fby_blob device;    /* canonical list of device ops; or empty */
    struct fby_maybe_digest behaviour; /* of the ops in `device`, if any */
    const char
            *mixed_by; /* one_hot: the field of pictures whose device op mixes
                             these labels too; or "" */
    uint32_t maps; /* FBY_ENCODING_BITS: maps in the last dimension; else 0 */
};

struct fby_header_field {
    const char       *name;
    enum fby_encoding encoding;
    enum fby_type     type;
    struct fby_shape  shape;     /* of one row; every dimension >= 1 */
    uint64_t          raw_bytes; /* of all rows, maximum */
    uint32_t          n_chunks;
    uint32_t          max_length; /* entries of a row; 0: all rows alike */
    struct fby_recipe recipe;
};
struct fby_header { /* worker > client: before the first chunk */
    struct fby_session_id          session;
    struct fby_request_id          request;
    uint64_t                       epoch, step;
    uint32_t                       first_row, rows;
    const struct fby_header_field *fields; /* in byte order of names */
    size_t                         n_fields;
    uint64_t asked; /* fby_request_checksum of the answered REQUEST */
};

struct fby_substituted {    /* a row that has another sample's values */
    uint32_t    row;        /* in the request */
    uint64_t    original;   /* sample number */
    uint64_t    substitute; /* sample number */
    const char *shard;      /* of the original */
    const char *key;        /* of the original */
    const char *text;       /* why the original was refused */
};
struct fby_stage_times { /* ns, sums over all tasks of the batch */
    uint64_t fetch, transform, encode;
    uint64_t wait; /* time from request to END, minus the other three */
};
struct fby_end { /* worker > client: after the last chunk */
    struct fby_session_id         session;
    struct fby_request_id         request;
    uint64_t                      wire_bytes; /* of all chunk frames */
    const struct fby_checksum    *sums; /* fby_field_checksum of each field */
    size_t                        n_sums;
    const struct fby_substituted *substituted; /* by row, ascending */
    size_t                        n_substituted;
    struct fby_stage_times        times;
    const uint64_t *samples;   /* sample of each row, before substitution */
    size_t          n_samples; /* rows, if samples are in buckets; else 0 */
};

struct fby_leave { /* worker > client: send no more requests */
    struct fby_session_id session;
};

struct fby_bye { /* client > worker: the session ends */
    struct fby_session_id session;
};

struct fby_name_list {
    const char *const *at;
    size_t             n;
};

struct fby_registration { /* worker > server */
    struct fby_instance_id instance;
    struct fby_name_list   endpoints; /* numeric, "tcp://address:port" */
    const char            *host;
    uint32_t               pid;
    uint32_t               cores;
    struct fby_name_list   roots; /* the NAMEs of --data NAME=PATH */
};

struct fby_registered {              /* server > worker */
    struct fby_instance_id instance; /* the worker's */
    struct fby_instance_id server;
    uint32_t               lease_ms, heartbeat_ms;
};

struct fby_register_first {          /* server > worker: unknown instance */
    struct fby_instance_id instance; /* the worker's */
};

struct fby_counter {
    const char *name;
    uint64_t    value;
};
struct fby_heartbeat { /* worker > server */
    struct fby_instance_id    instance;
    uint32_t                  sessions;
    uint32_t                  load_permille; /* load of the busiest stage */
    const struct fby_counter *counters;
    size_t                    n_counters;
};

struct fby_heartbeat_ok {            /* server > worker */
    struct fby_instance_id instance; /* the worker's */
    struct fby_instance_id server;
};

struct fby_deregister { /* worker > server */
    struct fby_instance_id instance;
};

struct fby_join { /* client > server */
    struct fby_session_id   session;
    const char             *job;
    uint32_t                rank, world;
    const char             *host;
    uint32_t                pid;
    uint64_t                seed;
    struct fby_digest       content;
    struct fby_maybe_digest data;
    struct fby_maybe_digest fingerprint;
    uint64_t                epoch, step; /* where the stream starts */
};

struct fby_joined { /* server > client */
    struct fby_session_id   session;
    struct fby_instance_id  server;
    uint32_t                lease_ms, heartbeat_ms;
    struct fby_maybe_digest data;        /* pinned by the job, if known */
    struct fby_maybe_digest fingerprint; /* pinned by the job, if known */
};

enum fby_join_refused_code {
    /* Codes 1 to 6: a fact that must be equal in all ranks. */
    FBY_JOIN_WORLD       = 1,
    FBY_JOIN_SEED        = 2,
    FBY_JOIN_CONTENT     = 3,
    FBY_JOIN_DATA        = 4,
    FBY_JOIN_FINGERPRINT = 5,
    FBY_JOIN_START       = 6,
    FBY_JOIN_TAKEN       = 7, /* the rank has a live session */
    FBY_JOIN_FULL        = 8  /* the server has too many sessions */
};
struct fby_join_refused { /* server > client */
    struct fby_session_id      session;
    enum fby_join_refused_code code;
    const char                *text; /* has both values and hosts */
};

struct fby_join_first { /* server > client: unknown session */
    struct fby_session_id session;
};

struct fby_renew { /* client > server */
    struct fby_session_id   session;
    struct fby_instance_id  server;   /* of the last answer */
    uint64_t                sequence; /* of the last WORKERS; 0: none */
    struct fby_maybe_digest data;
    struct fby_maybe_digest fingerprint;
};

struct fby_worker_info {
    struct fby_instance_id instance;
    struct fby_name_list   endpoints;
    const char            *host;
};
struct fby_instance_ids {
    const struct fby_instance_id *at;
    size_t                        n;
};
struct fby_workers { /* server > client */
    struct fby_session_id         session;
    struct fby_instance_id        server;
    uint64_t                      sequence; /* one more than the last one */
    bool                          full; /* all workers; else only the changes */
    const struct fby_worker_info *added;
    size_t                        n_added;
    struct fby_instance_ids       removed;
};

struct fby_unreachable { /* client > server */
    struct fby_session_id  session;
    struct fby_instance_id instance; /* the worker's */
    const char            *text;
};

struct fby_quit { /* client > server */
    struct fby_session_id session;
};

/* One message. Encoding borrows all pointers for the call. A decoded message
 * owns the memory of its pointers, some of which is inside the struct. So it
 * must not be copied or moved. Release it with fby_message_fini. */
struct fby_message {
    enum fby_message_type type;
    union {
#define X(number, NAME, member) struct fby_##member member;
        FBY_MESSAGE_MAP(X)
#undef X
    };
    struct {
        void *blocks; /* heap memory, freed by fby_message_fini */
        _Alignas(16) uint8_t inline_memory[1024]; /* used before the heap */
    } owned; /* memory of a decoded message; private to message.c */
};

/* A pointer to a new message, which lives as long as the enclosing block:
 *     FBY_MESSAGE(BYE, bye, .session = id) */
#define FBY_MESSAGE(NAME, member, ...) \
    (&(struct fby_message){.type = FBY_MSG_##NAME, .member = {__VA_ARGS__}})

#endif
