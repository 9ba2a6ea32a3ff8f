/* SPDX-License-Identifier: Apache-2.0 */
/* messages.h - all control messages, as plain structs.
 *
 * Clients (in trainers), workers and the server exchange these messages.
 * PROTOCOL.md, "Messages", says who sends which one, and when. Decoding checks
 * every value (wire.h), so the structs can be used without further checks.
 *
 * `content` is the settings of the pipeline file that decide values, `data` a
 * digest of the dataset, `fingerprint` a digest of results of decoders and ops.
 * Names (of fields, shards, hosts, ...) must be UTF-8 without NUL, else the
 * message is refused. A `text` is for users; encoding sanitizes and shortens
 * such texts. */
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
    FBY_MESSAGE_MAX      = 8 << 20,  /* size limit of all messages, in bytes */
    FBY_MESSAGE_SMALL    = 64 << 10, /* size limit of most messages, in bytes */

    /* Maximum lengths of texts, in bytes without a NUL. */
    FBY_TEXT_MAX        = 1024,
    FBY_NAME_MAX        = FBY_NAME_SIZE - 1,
    FBY_DEVICE_LIST_MAX = 1024, /* see struct fby_recipe */
    FBY_HOST_MAX        = 255,
    FBY_JOB_MAX         = 255,
    FBY_KEY_MAX         = 4095, /* shard names and sample keys */
    FBY_ENDPOINT_MAX    = 255,
    FBY_CLASS_NAME_MAX  = 255,
    FBY_TICKET_BYTES    = 8192,
    FBY_CONTENT_MAX     = FBY_MAX_CONTENT,
    /* Maximum counts. */
    FBY_OPEN_REQUESTS_MAX = 1024,    /* not finished, per session and worker */
    FBY_SHARDS_MAX        = 1 << 17, /* per dataset */
    FBY_ROWS_MAX          = FBY_MAX_BATCH, /* per request */
    FBY_SUBSTITUTED_MAX   = 1024,          /* substituted rows per request */
    FBY_ENDPOINTS_MAX     = 16,            /* per worker */
    FBY_ROOTS_MAX         = 256,           /* per worker: --data NAME=PATH */
    FBY_COUNTERS_MAX      = 256,           /* per HEARTBEAT message */
    FBY_WORKERS_MAX       = 8192,          /* per WORKERS message */
    FBY_UNUSABLE_MAX      = 256,           /* workers per RENEW message */
    FBY_REASONS_MAX       = 32,            /* per SCALED message */
    FBY_REASON_MAX        = 511,           /* bytes of one */
    FBY_RANKS_MAX         = 1 << 16        /* per job */
};

/* X(number, NAME, member): message NAME is struct fby_<member>. The numbers are
 * part of the protocol: add numbers, never change one. */
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
    X(24, SEALED_HELLO, sealed_hello)           \
    X(25, TICKET, ticket_renewal)               \
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
    X(55, QUIT, quit)                           \
    X(56, SCALE, scale)                         \
    X(57, SCALED, scaled)

enum fby_message_type {
#define X(number, NAME, member) FBY_MSG_##NAME = (number),
    FBY_MESSAGE_MAP(X)
#undef X
};

/* Bytes that proto/ does not interpret, such as the canonical content. */
struct fby_blob {
    const uint8_t *data;
    size_t         size;
};

/* A digest that may be absent. */
struct fby_maybe_digest {
    bool              known;
    struct fby_digest digest; /* set only if known */
};

/* Feature bits of HELLO and WELCOME. Bits 0 to 15: filters (enum fby_filter);
 * 16 to 31: codecs (enum fby_codec); 32 on: encodings (enum fby_encoding). */
#define FBY_FEATURE_FILTER(n)   (UINT64_C(1) << (n))
#define FBY_FEATURE_CODEC(n)    (UINT64_C(1) << (16 + (n)))
#define FBY_FEATURE_ENCODING(n) (UINT64_C(1) << (32 + (n)))
/* In HELLO_FIRST: the CPU has instructions for AES. */
#define FBY_FEATURE_AES (UINT64_C(1) << 48)

/* The filters or the codecs in `features`, as bits: bit n is number n. */
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
    uint32_t              version_min, version_max; /* protocol versions, both
                                                       included */
    uint64_t              features;  /* FBY_FEATURE_... that the client has */
    uint64_t              max_bytes; /* maximum raw bytes of a batch */
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
    uint32_t               version;  /* highest one of both peers */
    uint64_t               features; /* those of both peers */
    uint64_t send_window; /* limit for bytes of chunk frames beyond CREDIT */
    struct fby_request_ids requests; /* the session's requests without END */
};

struct fby_hello_first {              /* worker > client: send HELLO first */
    struct fby_session_id   session;  /* copied from the answered message */
    struct fby_maybe_digest nonce;    /* of a worker with keys: random */
    uint64_t                features; /* of a worker with keys */
};

enum fby_refused_code {
    FBY_REFUSED_VERSION = 1, /* no version in common */
    FBY_REFUSED_FULL    = 2, /* no room for one more; the text says why */
    FBY_REFUSED_LEAVING = 3, /* the worker takes no new sessions */
    FBY_REFUSED_KEY     = 4  /* a key or ticket is not accepted */
};
struct fby_refused { /* worker > client, server > both: no session */
    struct fby_session_id session; /* 0: could not be read */
    enum fby_refused_code code;
    uint32_t              version_min, version_max; /* the worker's */
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
    struct fby_request_ids requests; /* as in WELCOME */
};

struct fby_open { /* client > worker */
    struct fby_session_id   session;
    struct fby_open_id      open_id;
    struct fby_blob         content;  /* canonical bytes */
    const char             *location; /* "NAME:path", which may be a pattern */
    struct fby_maybe_digest data;     /* expected by the client */
    struct fby_maybe_digest fingerprint; /* expected by the client */
    const char *classes_location;        /* whose class folders number those of
                                     `location`; "": its own */
};

struct fby_scanning { /* worker > client */
    struct fby_session_id session;
    struct fby_open_id    open_id;
    uint32_t              shards_done, shards_total; /* total 0: unknown */
};

struct fby_shard_info {
    const char       *name;
    struct fby_digest digest;
    uint32_t          samples;
};
struct fby_opened { /* worker > client */
    struct fby_session_id        session;
    struct fby_open_id           open_id;
    struct fby_digest            content; /* digest of the content in OPEN */
    struct fby_digest            data;
    struct fby_digest            fingerprint;
    uint64_t                     samples; /* number in all shards */
    const struct fby_shard_info *shards;  /* in byte order of names */
    size_t                       n_shards;
    struct fby_blob classes; /* names of classes in order of ids, a NUL after
                                each; empty: no names, or they do not fit */
};

enum fby_open_failed_code {
    FBY_OPEN_BAD_CONTENT  = 1, /* unknown or not canonical */
    FBY_OPEN_BAD_LOCATION = 2, /* unknown root, or a path out of its root */
    FBY_OPEN_NOT_FOUND    = 3, /* the location does not exist */
    FBY_OPEN_BAD_DATA     = 4, /* such as a truncated tar, a malformed label */
    FBY_OPEN_IO           = 5, /* reading failed; try another worker */
    FBY_OPEN_DIFFERS      = 6, /* data or fingerprint is not as expected */
    FBY_OPEN_BUSY         = 7  /* too many datasets are being opened: retry */
};
struct fby_open_failed { /* worker > client */
    struct fby_session_id     session;
    struct fby_open_id        open_id;
    enum fby_open_failed_code code;
    struct fby_maybe_digest   data;        /* digest found by this worker */
    struct fby_maybe_digest   fingerprint; /* this worker's */
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
    uint32_t              first_row, rows; /* rows of the batch of all ranks */
    uint64_t              fields;    /* bit i: field i of content; 0: all */
    uint64_t              max_bytes; /* limit for the answer, in raw bytes */
    uint32_t              n_choices; /* one per field; 0: FBY_AUTO for all */
    struct fby_coding_choice choices[FBY_MAX_FIELDS];
};

struct fby_send_content { /* worker > client: content unknown, send OPEN */
    struct fby_session_id session;
    struct fby_request_id request;
    struct fby_digest     content;
};

struct fby_busy { /* worker > client: request again after retry_ms */
    struct fby_session_id session;
    struct fby_request_id request;
    uint32_t              retry_ms;
    const char           *text; /* what the worker lacks; "": not said */
};

struct fby_lost { /* worker > client: request dropped; send it again */
    struct fby_session_id session;
    struct fby_request_id request;
};

enum fby_cannot_code {
    FBY_CANNOT_SAMPLE  = 1, /* a bad sample, and the content says `fail` */
    FBY_CANNOT_IO      = 2, /* reading failed */
    FBY_CANNOT_MEMORY  = 3, /* needs more memory than this worker may use */
    FBY_CANNOT_FIT     = 4, /* the answer exceeds max_bytes of the request */
    FBY_CANNOT_REQUEST = 5  /* no such step, row or field */
};
struct fby_cannot { /* worker > client */
    struct fby_session_id session;
    struct fby_request_id request;
    enum fby_cannot_code  code;
    const char           *shard;  /* shard of the error; "": in no shard */
    const char           *key;    /* key of the bad sample; "": none */
    uint64_t              sample; /* its number; valid if `shard` is not "" */
    uint64_t              offset; /* byte offset of the error in `shard` */
    const char           *text;
};

struct fby_stale_data { /* worker > client: `shard` changed since OPEN */
    struct fby_session_id   session;
    struct fby_request_id   request;
    struct fby_maybe_digest data; /* found by this worker */
    const char             *shard;
    const char             *text;
};

struct fby_wrong_fingerprint { /* worker > client */
    struct fby_session_id session;
    struct fby_request_id request;
    struct fby_digest     fingerprint; /* this worker's */
};

struct fby_cancel { /* client > worker */
    struct fby_session_id session;
    struct fby_request_id request;
};

struct fby_credit { /* client > worker */
    struct fby_session_id session;
    struct fby_route_id   route;
    uint64_t received; /* total bytes of chunk frames on the route */
};

enum fby_encoding {
    FBY_ENCODING_DENSE  = 1,
    FBY_ENCODING_LABEL  = 2,
    FBY_ENCODING_BITS   = 3,
    FBY_ENCODING_SPARSE = 4,
    FBY_ENCODING_RAGGED = 5,
    FBY_ENCODING_YUV420 = 6 /* planes of a picture, see common/yuv420.h */
};

/* Returns the encoding of a field, from its content. */
static inline enum fby_encoding fby_encoding_of(
    const struct fby_field_content *field)
{
    if (fby_field_form(field) != FBY_FORM_DENSE) {
        return fby_field_form(field) == FBY_FORM_SPARSE ? FBY_ENCODING_SPARSE
                                                        : FBY_ENCODING_RAGGED;
    }
    if (fby_field_packed_bits(field) > 0) {
        return FBY_ENCODING_BITS;
    }
    if (fby_field_is_yuv420(field)) {
        return FBY_ENCODING_YUV420;
    }
    return fby_field_values(field) == FBY_VALUES_CLASSES ? FBY_ENCODING_LABEL
                                                         : FBY_ENCODING_DENSE;
}

/* Instructions for the client to expand a field to the values of a tensor. */
struct fby_recipe {
    uint32_t n_channels; /* entries of mean and std; 0: no normalize */
    double   mean[FBY_MAX_CHANNELS]; /* result: (v/255 - mean) / std */
    double   std[FBY_MAX_CHANNELS];  /* > 0 */
    bool     one_hot;
    uint32_t classes;   /* classes of a label; 0: unknown (not if one_hot) */
    double   smoothing; /* label smoothing; one_hot: 0 <= smoothing < 1 */
    struct fby_blob         device; /* canonical list of device ops, or empty */
    struct fby_maybe_digest behaviour; /* digest of results of these ops */
    /* one_hot: the picture field whose device op mixes these labels; or "" */
    const char *mixed_by;
    uint32_t    maps; /* FBY_ENCODING_BITS: number of maps, each of which has a
                         bit in the last dimension */
};

struct fby_header_field {
    const char       *name;
    enum fby_encoding encoding;
    enum fby_type     type;
    struct fby_shape  shape;     /* shape of one row; every dimension >= 1 */
    uint64_t          raw_bytes; /* maximum for all rows */
    uint32_t          n_chunks;
    uint32_t          max_length; /* entries of a row; 0: equally long rows */
    struct fby_recipe recipe;
};
struct fby_header { /* worker > client: before the first chunk */
    struct fby_session_id          session;
    struct fby_request_id          request;
    uint64_t                       epoch, step;
    uint32_t                       first_row, rows;
    const struct fby_header_field *fields; /* in byte order of names */
    size_t                         n_fields;
    uint64_t request_checksum; /* fby_request_checksum of the REQUEST */
};

struct fby_substituted {    /* a row that has another sample's values */
    uint32_t    row;        /* index in the request */
    uint64_t    original;   /* sample number */
    uint64_t    substitute; /* sample number */
    const char *shard;      /* the original sample's */
    const char *key;        /* the original sample's */
    const char *text;       /* why the original was refused */
};
struct fby_stage_times { /* ns, summed over all tasks of the batch */
    uint64_t fetch, transform, encode;
    uint64_t wait; /* ns from REQUEST to END minus the other three, >= 0 */
    uint64_t cpu;  /* CPU time of the stages; 0: not known */
};
struct fby_end { /* worker > client: after the last chunk */
    struct fby_session_id         session;
    struct fby_request_id         request;
    uint64_t                      wire_bytes; /* sum over all chunk frames */
    const struct fby_checksum    *sums; /* fby_field_checksum of each field */
    size_t                        n_sums;
    const struct fby_substituted *substituted; /* rows ascend */
    size_t                        n_substituted;
    struct fby_stage_times        times;
    const uint64_t *samples;   /* sample of each row, before substitution */
    size_t          n_samples; /* rows if samples are in buckets, else 0 */
};

struct fby_leave { /* worker > client: send no new requests */
    struct fby_session_id session;
};

struct fby_bye { /* client > worker: the session ends */
    struct fby_session_id session;
};

/* Instead of HELLO, to a worker with keys (docs/security.md). */
struct fby_sealed_hello { /* client > worker */
    struct fby_session_id   session;
    struct fby_blob         ticket;
    struct fby_maybe_digest nonce;  /* the client's; required */
    uint32_t                cipher; /* enum fby_cipher */
    struct fby_blob         hello;  /* HELLO as a sealed frame */
};

struct fby_ticket_renewal { /* client > worker: a newer ticket */
    struct fby_session_id session;
    struct fby_blob       ticket;
};

struct fby_name_list {
    const char *const *at; /* n names */
    size_t             n;
};

struct fby_registration { /* worker > server */
    struct fby_instance_id instance;
    struct fby_name_list   endpoints; /* numeric, "tcp://address:port" */
    const char            *host;
    uint32_t               pid;
    uint32_t               cores;
    struct fby_name_list   roots; /* the NAMEs of --data NAME=PATH */
    /* If the worker has keys: the secret that seals its tickets, and the time
     * of its monotonic clock. */
    struct fby_maybe_digest secret;
    uint64_t                clock_ns;
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
    uint64_t                  clock_ns; /* as in REGISTER */
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
    uint64_t                epoch, step; /* start of the stream */
};

struct fby_joined { /* server > client */
    struct fby_session_id  session;
    struct fby_instance_id server;
    uint32_t               lease_ms, heartbeat_ms;
    /* All ranks of the job must have these, once one rank has sent them. */
    struct fby_maybe_digest data;
    struct fby_maybe_digest fingerprint;
};

enum fby_join_refused_code {
    /* Codes 1 to 6: this value differs from that of the other ranks. */
    FBY_JOIN_WORLD       = 1,
    FBY_JOIN_SEED        = 2,
    FBY_JOIN_CONTENT     = 3,
    FBY_JOIN_DATA        = 4,
    FBY_JOIN_FINGERPRINT = 5,
    FBY_JOIN_START       = 6,
    FBY_JOIN_TAKEN       = 7, /* the rank has a live session */
    FBY_JOIN_FULL        = 8, /* the server has too many sessions */
    FBY_JOIN_KEY         = 9  /* the key does not permit the job */
};
struct fby_join_refused { /* server > client */
    struct fby_session_id      session;
    enum fby_join_refused_code code;
    const char                *text; /* names both values and both hosts */
};

struct fby_join_first { /* server > client: unknown session */
    struct fby_session_id session;
};

struct fby_instance_ids {
    const struct fby_instance_id *at;
    size_t                        n;
};

/* How fast a trainer took its last steps, and how long it waited for them. */
struct fby_pace {
    uint32_t span_ms; /* the length of these steps; 0: nothing is known */
    uint64_t rows;    /* taken in this time, without padding */
    uint32_t wait_ms; /* of this time, spent waiting for batches */
    /* The time that workers spent on these rows in each stage, summed over
     * threads; from END. cpu_ms is 0 if workers do not send it. */
    uint64_t fetch_ms, transform_ms, encode_ms;
    uint64_t cpu_ms;
};

struct fby_renew { /* client > server */
    struct fby_session_id   session;
    struct fby_instance_id  server;   /* from its last answer */
    uint64_t                sequence; /* from the last WORKERS; 0: none */
    struct fby_maybe_digest data;
    struct fby_maybe_digest fingerprint;
    struct fby_pace         pace;     /* of the trainer */
    struct fby_instance_ids unusable; /* workers that the client has set aside:
                                         other data, build or version */
};

struct fby_worker_info {
    struct fby_instance_id instance;
    struct fby_name_list   endpoints;
    const char            *host;
    /* To a trainer with a key: what it shows the worker, the key of its routes
     * to it, and enum fby_secure_mode. */
    struct fby_blob         ticket;
    struct fby_maybe_digest session_key;
    uint32_t                secure;
};
struct fby_workers { /* server > client */
    struct fby_session_id  session;
    struct fby_instance_id server;
    uint64_t               sequence; /* version of the list; a change adds 1 */
    bool is_complete; /* `added` has all workers; false: `added` and `removed`
                         change the previous list */
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

struct fby_scale { /* client > server: how many workers are wanted? */
    struct fby_session_id session; /* any number: SCALED repeats it */
};

struct fby_scaled { /* server > client */
    struct fby_session_id  session;
    struct fby_instance_id server;
    uint32_t wait_ms; /* until the number is known after a start; 0: it is */
    uint32_t wanted;  /* workers; the next two are those there are */
    uint32_t workers;
    uint32_t jobs;
    struct fby_name_list reasons; /* in sentences */
};

/* One message. Encoding borrows all pointers for the call. The pointers of a
 * decoded message may point into the struct itself, so never copy or move the
 * struct. Release a decoded message with fby_message_fini. */
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

/* Example: FBY_MESSAGE(BYE, bye, .session = id). Yields a pointer to a message
 * that lives as long as the enclosing block. */
#define FBY_MESSAGE(NAME, member, ...) \
    (&(struct fby_message){.type = FBY_MSG_##NAME, .member = {__VA_ARGS__}})

#endif
