/* SPDX-License-Identifier: Apache-2.0 */
/* examples.h - a message of each type with all its members set. */
#ifndef FBY_TESTS_PROTO_EXAMPLES_H
#define FBY_TESTS_PROTO_EXAMPLES_H

#include <string.h>

#include "proto/wire.h"

#define EXAMPLE_SESSION    \
    {                      \
        0x1122334455667788 \
    }
#define EXAMPLE_ROUTE      \
    {                      \
        0x99aabbccddeeff01 \
    }
#define EXAMPLE_INSTANCE   \
    {                      \
        0x0123456789abcdef \
    }
#define EXAMPLE_SERVER     \
    {                      \
        0xfedcba9876543210 \
    }

static inline struct fby_digest example_digest(uint8_t first)
{
    struct fby_digest d;
    for (unsigned i = 0; i < sizeof(d.bytes); i++) {
        d.bytes[i] = (uint8_t)(first + i);
    }
    return d;
}

static inline struct fby_maybe_digest example_maybe(uint8_t first)
{
    return (struct fby_maybe_digest){
        .known = true, .digest = example_digest(first)};
}

static const struct fby_request_id  example_requests[]  = {{7}, {9}, {4000000}};
static const struct fby_instance_id example_gone[]      = {{5}, {0xffff}};
static const char *const            example_endpoints[] = {
               "tcp://127.0.0.1:5555", "tcp://[::1]:5555"};
static const char *const        example_roots[]    = {"in1k", "coco"};
static const struct fby_counter example_counters[] = {
    {"fetch.tasks", 12}, {"fetch.busy_ns", UINT64_C(1) << 60}};
static const char *const example_reasons[] = {
    "job resnet-50: 4 ranks, 900 samples/s", "no job waits"};
static const struct fby_worker_info example_workers[] = {
    {.instance     = EXAMPLE_INSTANCE,
        .endpoints = {example_endpoints, 2},
        .host      = "n1"},
    {.instance = {6}, .endpoints = {example_endpoints, 1}, .host = "n2"}};
static const struct fby_substituted example_substituted[] = {
    {.row           = 3,
        .original   = 17,
        .substitute = 4711,
        .shard      = "train-0001.tar",
        .key        = "c00/0017",
        .text       = "JPEG: premature end"},
    {.row = 4, .original = 18, .substitute = 0, .shard = "", .key = "k"}};
static const struct fby_checksum example_sums[] = {
    {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}}, {{255}}};
static const struct fby_header_field example_fields[] = {
    {.name         = "image",
        .encoding  = FBY_ENCODING_DENSE,
        .type      = FBY_U8,
        .shape     = {3, {224, 224, 3}},
        .raw_bytes = UINT64_C(9633792),
        .n_chunks  = 5,
        .recipe    = {.n_channels = 3,
               .mean              = {0.485, 0.456, 0.406},
               .std               = {0.229, 0.224, 0.225}}},
    {.name         = "label",
        .encoding  = FBY_ENCODING_LABEL,
        .type      = FBY_U16,
        .raw_bytes = 128,
        .n_chunks  = 1,
        .recipe    = {.one_hot = true, .classes = 1000, .smoothing = 0.1}}};

static inline void example_shards(struct fby_opened *m)
{
    static struct fby_shard_info shards[2];
    shards[0] = (struct fby_shard_info){"a-0000.tar", example_digest(1), 1000};
    shards[1] = (struct fby_shard_info){"a-0001.tar", example_digest(2), 24};
    m->shards = shards;
    m->n_shards = 2;
}

static inline void example_request(struct fby_request *m)
{
    *m = (struct fby_request){
        .session     = EXAMPLE_SESSION,
        .request     = {300},
        .content     = example_digest(10),
        .data        = example_digest(20),
        .fingerprint = example_digest(30),
        .seed        = 42,
        .epoch       = 2,
        .step        = 1000000,
        .first_row   = 64,
        .rows        = 64,
        .fields      = 3,
        .max_bytes   = 16 << 20,
        .n_choices   = 2,
        .choices     = {{FBY_FILTER_BIT_SHUFFLE, FBY_CODEC_LZ4},
                {FBY_AUTO, FBY_AUTO}},
    };
}

static inline void example_data_plane(struct fby_message *m)
{
    struct fby_session_id session = EXAMPLE_SESSION;
    m->hello.session              = session; /* the first member of all types */
    switch ((int)m->type) {
    case FBY_MSG_HELLO:
        m->hello = (struct fby_hello){.session = session,
            .route                             = EXAMPLE_ROUTE,
            .version_min                       = 1,
            .version_max                       = 1,
            .features  = FBY_FEATURE_FILTER(1) | FBY_FEATURE_ENCODING(2),
            .max_bytes = 64 << 20,
            .job       = "resnet-50",
            .rank      = 3,
            .host      = "trainer-7",
            .pid       = 4242};
        break;
    case FBY_MSG_WELCOME:
        m->welcome = (struct fby_welcome){.session = session,
            .route                                 = EXAMPLE_ROUTE,
            .instance                              = EXAMPLE_INSTANCE,
            .version                               = 1,
            .features                              = FBY_FEATURE_CODEC(1),
            .send_window                           = 16 << 20,
            .requests                              = {example_requests, 3}};
        break;
    case FBY_MSG_REFUSED:
        m->refused = (struct fby_refused){.session = session,
            .code                                  = FBY_REFUSED_FULL,
            .version_min                           = 1,
            .version_max                           = 1,
            .text = "all 64 MiB are entitled to 8 sessions"};
        break;
    case FBY_MSG_PING:
        m->ping.sequence = 12345;
        break;
    case FBY_MSG_PONG:
        m->pong = (struct fby_pong){.session = session,
            .instance                        = EXAMPLE_INSTANCE,
            .sequence                        = 12345,
            .requests                        = {example_requests, 3}};
        break;
    case FBY_MSG_OPEN:
        m->open = (struct fby_open){.session = session,
            .open_id                         = {1},
            .content  = {(const uint8_t *)"\1\0canonical", 11},
            .location = "in1k:train-{0000..1023}.tar",
            .data     = example_maybe(20)};
        break;
    case FBY_MSG_SCANNING:
        m->scanning.open_id      = (struct fby_open_id){1};
        m->scanning.shards_done  = 3;
        m->scanning.shards_total = 1024;
        break;
    case FBY_MSG_OPENED:
        m->opened = (struct fby_opened){.session = session,
            .open_id                             = {1},
            .content                             = example_digest(10),
            .data                                = example_digest(20),
            .fingerprint                         = example_digest(30),
            .samples                             = 1024};
        example_shards(&m->opened);
        break;
    case FBY_MSG_OPEN_FAILED:
        m->open_failed = (struct fby_open_failed){.session = session,
            .open_id                                       = {1},
            .code                                          = FBY_OPEN_DIFFERS,
            .data                                          = example_maybe(21),
            .text = "other data lies here"};
        break;
    case FBY_MSG_SEALED_HELLO:
        m->sealed_hello.ticket = (struct fby_blob){(const uint8_t *)"FBYT", 4};
        m->sealed_hello.nonce  = example_maybe(40);
        m->sealed_hello.cipher = 1;
        m->sealed_hello.hello  = (struct fby_blob){(const uint8_t *)"FBYS", 4};
        break;
    case FBY_MSG_TICKET:
        m->ticket_renewal.ticket =
            (struct fby_blob){(const uint8_t *)"FBYT", 4};
        break;
    case FBY_MSG_CREDIT:
        m->credit.route    = (struct fby_route_id)EXAMPLE_ROUTE;
        m->credit.received = UINT64_C(1) << 40;
        break;
    default:
        break; /* LEAVE, BYE, HELLO_FIRST: only the session */
    }
}

static inline void example_of_request(struct fby_message *m)
{
    struct fby_session_id session = EXAMPLE_SESSION;
    m->lost = (struct fby_lost){.session = session, .request = {300}};
    switch ((int)m->type) {
    case FBY_MSG_REQUEST:
        example_request(&m->request);
        break;
    case FBY_MSG_SEND_CONTENT:
        m->send_content.content = example_digest(10);
        break;
    case FBY_MSG_BUSY:
        m->busy.retry_ms = 50;
        break;
    case FBY_MSG_CANNOT:
        m->cannot.code   = FBY_CANNOT_SAMPLE;
        m->cannot.shard  = "train-0001.tar";
        m->cannot.key    = "c00/0017";
        m->cannot.sample = 17;
        m->cannot.offset = 512;
        m->cannot.text   = "JPEG: premature end";
        break;
    case FBY_MSG_STALE_DATA:
        m->stale_data.data  = example_maybe(22);
        m->stale_data.shard = "train-0001.tar";
        m->stale_data.text  = "size is 513, was 512";
        break;
    case FBY_MSG_WRONG_FINGERPRINT:
        m->wrong_fingerprint.fingerprint = example_digest(31);
        break;
    case FBY_MSG_HEADER:
        m->header.epoch            = 2;
        m->header.step             = 1000000;
        m->header.first_row        = 64;
        m->header.rows             = 64;
        m->header.fields           = example_fields;
        m->header.n_fields         = 2;
        m->header.request_checksum = UINT64_C(0x0123456789abcdef);
        break;
    case FBY_MSG_END:
        m->end.wire_bytes    = 9634000;
        m->end.sums          = example_sums;
        m->end.n_sums        = 2;
        m->end.substituted   = example_substituted;
        m->end.n_substituted = 2;
        m->end.times = (struct fby_stage_times){1000, 2000, 3000, 4000, 0};
        break;
    default:
        break; /* LOST, CANCEL: only the ids */
    }
}

static inline void example_of_worker(struct fby_message *m)
{
    m->deregister.instance = (struct fby_instance_id)EXAMPLE_INSTANCE;
    switch ((int)m->type) {
    case FBY_MSG_REGISTER:
        m->registration.endpoints =
            (struct fby_name_list){example_endpoints, 2};
        m->registration.host  = "n1";
        m->registration.pid   = 99;
        m->registration.cores = 16;
        m->registration.roots = (struct fby_name_list){example_roots, 2};
        break;
    case FBY_MSG_REGISTERED:
        m->registered.server       = (struct fby_instance_id)EXAMPLE_SERVER;
        m->registered.lease_ms     = 10000;
        m->registered.heartbeat_ms = 1000;
        break;
    case FBY_MSG_HEARTBEAT:
        m->heartbeat.sessions      = 2;
        m->heartbeat.load_permille = 875;
        m->heartbeat.counters      = example_counters;
        m->heartbeat.n_counters    = 2;
        break;
    case FBY_MSG_HEARTBEAT_OK:
        m->heartbeat_ok.server = (struct fby_instance_id)EXAMPLE_SERVER;
        break;
    default:
        break; /* REGISTER_FIRST, DEREGISTER: only the instance */
    }
}

static inline void example_of_trainer(struct fby_message *m)
{
    struct fby_session_id  session = EXAMPLE_SESSION;
    struct fby_instance_id server  = EXAMPLE_SERVER;
    m->quit.session                = session;
    switch ((int)m->type) {
    case FBY_MSG_JOIN:
        m->join = (struct fby_join){.session = session,
            .job                             = "resnet-50",
            .rank                            = 3,
            .world                           = 4,
            .host                            = "trainer-7",
            .pid                             = 4242,
            .seed                            = 42,
            .content                         = example_digest(10),
            .data                            = example_maybe(20),
            .fingerprint                     = example_maybe(30),
            .epoch                           = 1,
            .step                            = 77};
        break;
    case FBY_MSG_JOINED:
        m->joined = (struct fby_joined){.session = session,
            .server                              = server,
            .lease_ms                            = 10000,
            .heartbeat_ms                        = 1000,
            .data                                = example_maybe(20)};
        break;
    case FBY_MSG_JOIN_REFUSED:
        m->join_refused.code = FBY_JOIN_SEED;
        m->join_refused.text = "seed 1 on n1, seed 2 on n2";
        break;
    case FBY_MSG_RENEW:
        m->renew.server      = server;
        m->renew.sequence    = 5;
        m->renew.data        = example_maybe(20);
        m->renew.fingerprint = example_maybe(30);
        break;
    case FBY_MSG_WORKERS:
        m->workers = (struct fby_workers){.session = session,
            .server                                = server,
            .sequence                              = 6,
            .is_complete                           = true,
            .added                                 = example_workers,
            .n_added                               = 2,
            .removed                               = {example_gone, 2}};
        break;
    case FBY_MSG_UNREACHABLE:
        m->unreachable.instance = (struct fby_instance_id)EXAMPLE_INSTANCE;
        m->unreachable.text     = "no answer in 3 s";
        break;
    case FBY_MSG_SCALED:
        m->scaled = (struct fby_scaled){.session = session,
            .server                              = server,
            .wanted                              = 7,
            .workers                             = 4,
            .jobs                                = 1,
            .reasons                             = {example_reasons, 2}};
        break;
    default:
        break; /* JOIN_FIRST, QUIT, SCALE: only the session */
    }
}

/* Write the example of this type to *m; its pointers lead to static memory. */
static inline void example(enum fby_message_type type, struct fby_message *m)
{
    memset(m, 0, sizeof(*m));
    m->type = type;
    if (type >= FBY_MSG_JOIN) {
        example_of_trainer(m);
    } else if (type >= FBY_MSG_REGISTER) {
        example_of_worker(m);
    } else if (type >= FBY_MSG_REQUEST && type <= FBY_MSG_END &&
               type != FBY_MSG_CREDIT) {
        example_of_request(m);
    } else {
        example_data_plane(m);
    }
}

static const enum fby_message_type example_types[] = {
#define X(number, NAME, member) FBY_MSG_##NAME,
    FBY_MESSAGE_MAP(X)
#undef X
};
enum { N_EXAMPLES = sizeof(example_types) / sizeof(example_types[0]) };

#endif
