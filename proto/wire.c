/* SPDX-License-Identifier: Apache-2.0 */
/* The schemas of all messages (schema.h): for each member of a struct of
 * messages.h, the number of its protobuf field and the values allowed. This is
 * the only file that includes the code generated from forebay.proto. */
#include "proto/wire.h"

#include "proto/forebay.pb-c.h"
#include "proto/rules.h"
#include "proto/schema.h"

enum {
    SMALL       = FBY_MESSAGE_SMALL, /* size limit of most messages */
    VERSION_MAX = 255 /* the head of a frame has one byte for the version */
};

/* The offset of `member` in struct fby_<type>. The second term is 0. It has an
 * array of -1 bytes, a compile error, if the member does not have `size`. */
#define MEMBER_OFFSET(type, member, size)                                     \
    (offsetof(struct fby_##type, member) +                                    \
        0 * sizeof(char[sizeof(((struct fby_##type *)NULL)->member) == (size) \
                            ? 1                                               \
                            : -1]))

/* The offset of `list`, which must be a pointer; the second term is 0. */
#define LIST_OFFSET(type, list)          \
    (offsetof(struct fby_##type, list) + \
        0 * sizeof(((struct fby_##type *)NULL)->list[0]))

/* Column of a member of struct fby_<type>: its kind, protobuf field number,
 * member, sizeof the member, and minimum and maximum (enum column_kind). */
#define COLUMN(k, num, type, member, size, low, high)              \
    {                                                              \
        .number = (num), .kind = COLUMN_##k,                       \
        .offset = MEMBER_OFFSET(type, member, size), .min = (low), \
        .max = (high)                                              \
    }
#define U64(num, type, member, min, max) \
    COLUMN(U64, num, type, member, 8, min, max)
#define U32(num, type, member, min, max) \
    COLUMN(U32, num, type, member, 4, min, max)
/* An id (of a session, an OPEN, a request ...), which is never 0. */
#define ID(num, type, member) U64(num, type, member, 1, UINT64_MAX)
#define NAME(num, type, member, min, max) \
    COLUMN(NAME, num, type, member, sizeof(char *), min, max)
#define TEXT(num, type, member) \
    COLUMN(TEXT, num, type, member, sizeof(char *), 0, FBY_TEXT_MAX)
#define BLOB(num, type, member, min, max) \
    COLUMN(BLOB, num, type, member, sizeof(struct fby_blob), min, max)
#define DIGEST(num, type, member) \
    COLUMN(DIGEST, num, type, member, sizeof(struct fby_digest), 0, 0)
#define MAYBE_DIGEST(num, type, member)                                      \
    COLUMN(MAYBE_DIGEST, num, type, member, sizeof(struct fby_maybe_digest), \
        0, 0)
#define DIMS(num, type, member) \
    COLUMN(DIMS, num, type, member, sizeof(struct fby_shape), 0, 0)
#define BOOL(num, type, member) \
    COLUMN(BOOL, num, type, member, sizeof(bool), 0, 0)
#define REAL(num, type, member) \
    COLUMN(REAL, num, type, member, sizeof(double), 0, 0)

/* Column of an array inside the struct. The member `length` (uint32_t) is its
 * number of elements, at most `high`. */
#define ARRAY(k, num, type, member, length, high)                            \
    {                                                                        \
        .number = (num), .kind = COLUMN_##k,                                 \
        .offset        = MEMBER_OFFSET(type, member,                         \
                   sizeof(((struct fby_##type *)NULL)->member[0]) * (high)), \
        .max           = (high),                                             \
        .length_offset = MEMBER_OFFSET(type, length, sizeof(uint32_t))       \
    }

/* Column of a pointer to a list. The member `length` (size_t) is its number of
 * elements, from `low` to `high`. */
#define LIST(k, num, type, list, length, low, high, ...)                \
    {                                                                   \
        .number = (num), .kind = COLUMN_##k,                            \
        .offset = LIST_OFFSET(type, list), .min = (low), .max = (high), \
        .length_offset = MEMBER_OFFSET(type, length, sizeof(size_t)),   \
        __VA_ARGS__                                                     \
    }
#define RECORDS(num, type, list, low, high, record)     \
    LIST(RECORDS, num, type, list, n_##list, low, high, \
        .record_schema = &record##_schema)

/* A schema: struct fby_<type>, name in errors, protobuf message, array of
 * columns (<stem>_columns), max_bytes and rule. */
#define SCHEMA_WITH(type, text, protobuf, stem, limit, check)            \
    {                                                                    \
        .name = (text), .body = &forebay__##protobuf##__descriptor,      \
        .columns   = stem##_columns,                                     \
        .n_columns = sizeof(stem##_columns) / sizeof(stem##_columns[0]), \
        .size = sizeof(struct fby_##type), .max_bytes = (limit),         \
        .rule = (check)                                                  \
    }
#define SCHEMA(type, text, protobuf, limit, check) \
    SCHEMA_WITH(type, text, protobuf, type, limit, check)
#define MESSAGE(NAME, type, limit, check) \
    [FBY_MSG_##NAME] = SCHEMA(type, #NAME, type, limit, check)
/* A message that consists only of ids. Messages with the same ids share the
 * columns ids_up_to_<last>_columns, where `last` is the last id. The array of
 * chars makes compilation fail if struct fby_<type> has not just these ids. */
#define IDS_ONLY(NAME, type, last)                                      \
    [FBY_MSG_##NAME] = SCHEMA_WITH(type, #NAME, type, ids_up_to_##last, \
        SMALL + 0 * sizeof(char[HAS_ONLY_IDS(type, last) ? 1 : -1]), NULL)
#define HAS_ONLY_IDS(type, last)                                           \
    (sizeof(struct fby_##type) == 8 * sizeof(ids_up_to_##last##_columns) / \
                                      sizeof(struct schema_column) &&      \
        MEMBER_OFFSET(type, last, 8) + 8 == sizeof(struct fby_##type))

static const struct schema_column ids_up_to_session_columns[] = {
    ID(1, bye, session),
};

static const struct schema_column ids_up_to_request_columns[] = {
    ID(1, cancel, session),
    ID(2, cancel, request),
};

static const struct schema_column ids_up_to_instance_columns[] = {
    ID(1, deregister, instance),
};

static const struct schema_column hello_columns[] = {
    ID(1, hello, session),
    ID(2, hello, route),
    U32(3, hello, version_min, 1, VERSION_MAX),
    U32(4, hello, version_max, 1, VERSION_MAX),
    U64(5, hello, features, 0, UINT64_MAX),
    U64(6, hello, max_bytes, 1, UINT64_MAX),
    NAME(7, hello, job, 1, FBY_JOB_MAX),
    U32(8, hello, rank, 0, FBY_RANKS_MAX - 1),
    NAME(9, hello, host, 1, FBY_HOST_MAX),
    U32(10, hello, pid, 0, UINT32_MAX),
};

static const struct schema_column welcome_columns[] = {
    ID(1, welcome, session),
    ID(2, welcome, route),
    ID(3, welcome, instance),
    U32(4, welcome, version, 1, VERSION_MAX),
    U64(5, welcome, features, 0, UINT64_MAX),
    U64(6, welcome, send_window, 1, UINT64_MAX),
    LIST(IDS, 7, welcome, requests.at, requests.n, 0, FBY_OPEN_REQUESTS_MAX),
};

static const struct schema_column hello_first_columns[] = {
    ID(1, hello_first, session),
    MAYBE_DIGEST(2, hello_first, nonce),
    U64(3, hello_first, features, 0, UINT64_MAX),
};

static const struct schema_column refused_columns[] = {
    U64(1, refused, session, 0, UINT64_MAX), /* 0: could not be read */
    U32(2, refused, code, FBY_REFUSED_VERSION, FBY_REFUSED_KEY),
    U32(3, refused, version_min, 1, VERSION_MAX),
    U32(4, refused, version_max, 1, VERSION_MAX),
    TEXT(5, refused, text),
};

static const struct schema_column ping_columns[] = {
    ID(1, ping, session),
    U64(2, ping, sequence, 0, UINT64_MAX),
};

static const struct schema_column pong_columns[] = {
    ID(1, pong, session),
    ID(2, pong, instance),
    U64(3, pong, sequence, 0, UINT64_MAX),
    LIST(IDS, 4, pong, requests.at, requests.n, 0, FBY_OPEN_REQUESTS_MAX),
};

static const struct schema_column open_columns[] = {
    ID(1, open, session),
    ID(2, open, open_id),
    BLOB(3, open, content, 1, FBY_CONTENT_MAX),
    NAME(4, open, location, 1, FBY_PATH_SIZE - 1),
    MAYBE_DIGEST(5, open, data),
    MAYBE_DIGEST(6, open, fingerprint),
    NAME(7, open, classes_location, 0, FBY_PATH_SIZE - 1),
};

static const struct schema_column scanning_columns[] = {
    ID(1, scanning, session),
    ID(2, scanning, open_id),
    U32(3, scanning, shards_done, 0, UINT32_MAX),
    U32(4, scanning, shards_total, 0, UINT32_MAX),
};

static const struct schema_column shard_info_columns[] = {
    NAME(1, shard_info, name, 1, FBY_KEY_MAX),
    DIGEST(2, shard_info, digest),
    U32(3, shard_info, samples, 0, UINT32_MAX),
};
static const struct schema shard_info_schema =
    SCHEMA(shard_info, "Shard", shard, 0, NULL);

static const struct schema_column opened_columns[] = {
    ID(1, opened, session),
    ID(2, opened, open_id),
    DIGEST(3, opened, content),
    DIGEST(4, opened, data),
    DIGEST(5, opened, fingerprint),
    U64(6, opened, samples, 0, UINT64_MAX),
    RECORDS(7, opened, shards, 0, FBY_SHARDS_MAX, shard_info),
    BLOB(8, opened, classes, 0, FBY_MESSAGE_MAX),
};

static const struct schema_column open_failed_columns[] = {
    ID(1, open_failed, session),
    ID(2, open_failed, open_id),
    U32(3, open_failed, code, FBY_OPEN_BAD_CONTENT, FBY_OPEN_BUSY),
    MAYBE_DIGEST(4, open_failed, data),
    MAYBE_DIGEST(5, open_failed, fingerprint),
    TEXT(6, open_failed, text),
};

static const struct schema_column request_columns[] = {
    ID(1, request, session),
    ID(2, request, request),
    DIGEST(3, request, content),
    DIGEST(4, request, data),
    DIGEST(5, request, fingerprint),
    U64(6, request, seed, 0, UINT64_MAX),
    U64(7, request, epoch, 0, UINT64_MAX),
    U64(8, request, step, 0, UINT64_MAX),
    U32(9, request, first_row, 0, FBY_ROWS_MAX - 1),
    U32(10, request, rows, 1, FBY_ROWS_MAX),
    U64(11, request, fields, 0, UINT32_MAX), /* a bit for each of 32 fields */
    U64(12, request, max_bytes, 1, UINT64_MAX),
    ARRAY(CODING_CHOICES, 13, request, choices, n_choices, FBY_MAX_FIELDS),
};

static const struct schema_column send_content_columns[] = {
    ID(1, send_content, session),
    ID(2, send_content, request),
    DIGEST(3, send_content, content),
};

static const struct schema_column busy_columns[] = {
    ID(1, busy, session),
    ID(2, busy, request),
    U32(3, busy, retry_ms, 0, UINT32_MAX),
    TEXT(4, busy, text),
};

static const struct schema_column cannot_columns[] = {
    ID(1, cannot, session),
    ID(2, cannot, request),
    U32(3, cannot, code, FBY_CANNOT_SAMPLE, FBY_CANNOT_REQUEST),
    NAME(4, cannot, shard, 0, FBY_KEY_MAX),
    NAME(5, cannot, key, 0, FBY_KEY_MAX),
    U64(6, cannot, sample, 0, UINT64_MAX),
    U64(7, cannot, offset, 0, UINT64_MAX),
    TEXT(8, cannot, text),
};

static const struct schema_column stale_data_columns[] = {
    ID(1, stale_data, session),
    ID(2, stale_data, request),
    MAYBE_DIGEST(3, stale_data, data),
    NAME(4, stale_data, shard, 0, FBY_KEY_MAX),
    TEXT(5, stale_data, text),
};

static const struct schema_column wrong_fingerprint_columns[] = {
    ID(1, wrong_fingerprint, session),
    ID(2, wrong_fingerprint, request),
    DIGEST(3, wrong_fingerprint, fingerprint),
};

static const struct schema_column credit_columns[] = {
    ID(1, credit, session),
    ID(2, credit, route),
    U64(3, credit, received, 0, UINT64_MAX),
};

static const struct schema_column header_field_columns[] = {
    NAME(1, header_field, name, 1, FBY_NAME_MAX),
    U32(2, header_field, encoding, FBY_ENCODING_DENSE, FBY_ENCODING_YUV420),
    U32(3, header_field, type, FBY_U8, FBY_U32),
    DIMS(4, header_field, shape),
    U64(5, header_field, raw_bytes, 1, UINT64_MAX),
    U32(6, header_field, n_chunks, 1, UINT32_MAX),
    ARRAY(REALS, 7, header_field, recipe.mean, recipe.n_channels,
        FBY_MAX_CHANNELS),
    ARRAY(REALS_SAME_LENGTH, 8, header_field, recipe.std, recipe.n_channels,
        FBY_MAX_CHANNELS),
    BOOL(9, header_field, recipe.one_hot),
    U32(10, header_field, recipe.classes, 0, UINT32_MAX),
    REAL(11, header_field, recipe.smoothing),
    U32(12, header_field, max_length, 0, FBY_MAX_RAGGED),
    U32(17, header_field, recipe.maps, 0, UINT32_MAX),
    BLOB(23, header_field, recipe.device, 0, FBY_DEVICE_LIST_MAX),
    MAYBE_DIGEST(24, header_field, recipe.behaviour),
    NAME(25, header_field, recipe.mixed_by, 0, FBY_NAME_MAX),
};
static const struct schema header_field_schema =
    SCHEMA(header_field, "HeaderField", header_field, 0, rule_header_field);

static const struct schema_column header_columns[] = {
    ID(1, header, session),
    ID(2, header, request),
    U64(3, header, epoch, 0, UINT64_MAX),
    U64(4, header, step, 0, UINT64_MAX),
    U32(5, header, first_row, 0, FBY_ROWS_MAX - 1),
    U32(6, header, rows, 1, FBY_ROWS_MAX),
    RECORDS(7, header, fields, 1, FBY_MAX_FIELDS, header_field),
    U64(8, header, request_checksum, 0, UINT64_MAX),
};

static const struct schema_column substituted_columns[] = {
    U32(1, substituted, row, 0, FBY_ROWS_MAX - 1),
    U64(2, substituted, original, 0, UINT64_MAX),
    U64(3, substituted, substitute, 0, UINT64_MAX),
    NAME(4, substituted, shard, 0, FBY_KEY_MAX),
    NAME(5, substituted, key, 0, FBY_KEY_MAX),
    TEXT(6, substituted, text),
};
static const struct schema substituted_schema =
    SCHEMA(substituted, "Substituted", substituted, 0, NULL);

static const struct schema_column end_columns[] = {
    ID(1, end, session),
    ID(2, end, request),
    U64(3, end, wire_bytes, 1, UINT64_MAX),
    LIST(CHECKSUMS, 4, end, sums, n_sums, 1, FBY_MAX_FIELDS),
    RECORDS(5, end, substituted, 0, FBY_SUBSTITUTED_MAX, substituted),
    U64(6, end, times.fetch, 0, UINT64_MAX),
    U64(7, end, times.transform, 0, UINT64_MAX),
    U64(8, end, times.encode, 0, UINT64_MAX),
    U64(9, end, times.wait, 0, UINT64_MAX),
    LIST(NUMBERS, 10, end, samples, n_samples, 0, FBY_ROWS_MAX),
    U64(11, end, times.cpu, 0, UINT64_MAX),
};

static const struct schema_column sealed_hello_columns[] = {
    ID(1, sealed_hello, session),
    BLOB(2, sealed_hello, ticket, 1, FBY_TICKET_BYTES),
    MAYBE_DIGEST(3, sealed_hello, nonce),
    U32(4, sealed_hello, cipher, 1, 2),
    BLOB(5, sealed_hello, hello, 1, SMALL / 2),
};

static const struct schema_column ticket_renewal_columns[] = {
    ID(1, ticket_renewal, session),
    BLOB(2, ticket_renewal, ticket, 1, FBY_TICKET_BYTES),
};

static const struct schema_column registration_columns[] = {
    ID(1, registration, instance),
    LIST(NAMES, 2, registration, endpoints.at, endpoints.n, 1,
        FBY_ENDPOINTS_MAX, .name_max = FBY_ENDPOINT_MAX),
    NAME(3, registration, host, 1, FBY_HOST_MAX),
    U32(4, registration, pid, 0, UINT32_MAX),
    U32(5, registration, cores, 1, UINT32_MAX),
    LIST(NAMES, 6, registration, roots.at, roots.n, 0, FBY_ROOTS_MAX,
        .name_max = FBY_NAME_MAX),
    MAYBE_DIGEST(7, registration, secret),
    U64(8, registration, clock_ns, 0, UINT64_MAX),
};

static const struct schema_column registered_columns[] = {
    ID(1, registered, instance),
    ID(2, registered, server),
    U32(3, registered, lease_ms, 1, UINT32_MAX),
    U32(4, registered, heartbeat_ms, 1, UINT32_MAX),
};

static const struct schema_column counter_columns[] = {
    NAME(1, counter, name, 1, FBY_NAME_MAX),
    U64(2, counter, value, 0, UINT64_MAX),
};
static const struct schema counter_schema =
    SCHEMA(counter, "Counter", counter, 0, NULL);

static const struct schema_column heartbeat_columns[] = {
    ID(1, heartbeat, instance),
    U32(2, heartbeat, sessions, 0, UINT32_MAX),
    U32(3, heartbeat, load_permille, 0, 1000),
    RECORDS(4, heartbeat, counters, 0, FBY_COUNTERS_MAX, counter),
    U64(5, heartbeat, clock_ns, 0, UINT64_MAX),
};

static const struct schema_column heartbeat_ok_columns[] = {
    ID(1, heartbeat_ok, instance),
    ID(2, heartbeat_ok, server),
};

static const struct schema_column join_columns[] = {
    ID(1, join, session),
    NAME(2, join, job, 1, FBY_JOB_MAX),
    U32(3, join, rank, 0, FBY_RANKS_MAX - 1),
    U32(4, join, world, 1, FBY_RANKS_MAX),
    NAME(5, join, host, 1, FBY_HOST_MAX),
    U32(6, join, pid, 0, UINT32_MAX),
    U64(7, join, seed, 0, UINT64_MAX),
    DIGEST(8, join, content),
    MAYBE_DIGEST(9, join, data),
    MAYBE_DIGEST(10, join, fingerprint),
    U64(11, join, epoch, 0, UINT64_MAX),
    U64(12, join, step, 0, UINT64_MAX),
};

static const struct schema_column joined_columns[] = {
    ID(1, joined, session),
    ID(2, joined, server),
    U32(3, joined, lease_ms, 1, UINT32_MAX),
    U32(4, joined, heartbeat_ms, 1, UINT32_MAX),
    MAYBE_DIGEST(5, joined, data),
    MAYBE_DIGEST(6, joined, fingerprint),
};

static const struct schema_column join_refused_columns[] = {
    ID(1, join_refused, session),
    U32(2, join_refused, code, FBY_JOIN_WORLD, FBY_JOIN_KEY),
    TEXT(3, join_refused, text),
};

static const struct schema_column renew_columns[] = {
    ID(1, renew, session),
    ID(2, renew, server),
    U64(3, renew, sequence, 0, UINT64_MAX),
    MAYBE_DIGEST(4, renew, data),
    MAYBE_DIGEST(5, renew, fingerprint),
    U32(6, renew, pace.span_ms, 0, UINT32_MAX),
    U64(7, renew, pace.rows, 0, UINT64_MAX),
    U32(8, renew, pace.wait_ms, 0, UINT32_MAX),
    U64(9, renew, pace.fetch_ms, 0, UINT64_MAX),
    U64(10, renew, pace.transform_ms, 0, UINT64_MAX),
    U64(11, renew, pace.encode_ms, 0, UINT64_MAX),
    U64(12, renew, pace.cpu_ms, 0, UINT64_MAX),
    LIST(IDS, 13, renew, unusable.at, unusable.n, 0, FBY_UNUSABLE_MAX),
};

static const struct schema_column worker_info_columns[] = {
    ID(1, worker_info, instance),
    LIST(NAMES, 2, worker_info, endpoints.at, endpoints.n, 1, FBY_ENDPOINTS_MAX,
        .name_max = FBY_ENDPOINT_MAX),
    NAME(3, worker_info, host, 1, FBY_HOST_MAX),
    BLOB(4, worker_info, ticket, 0, FBY_TICKET_BYTES),
    MAYBE_DIGEST(5, worker_info, session_key),
    U32(6, worker_info, secure, 0, 2),
};
static const struct schema worker_info_schema =
    SCHEMA(worker_info, "WorkerInfo", worker_info, 0, NULL);

static const struct schema_column workers_columns[] = {
    ID(1, workers, session),
    ID(2, workers, server),
    U64(3, workers, sequence, 1, UINT64_MAX),
    BOOL(4, workers, is_complete),
    RECORDS(5, workers, added, 0, FBY_WORKERS_MAX, worker_info),
    LIST(IDS, 6, workers, removed.at, removed.n, 0, FBY_WORKERS_MAX),
};

static const struct schema_column unreachable_columns[] = {
    ID(1, unreachable, session),
    ID(2, unreachable, instance),
    TEXT(3, unreachable, text),
};

static const struct schema_column scaled_columns[] = {
    ID(1, scaled, session),
    ID(2, scaled, server),
    U32(3, scaled, wait_ms, 0, UINT32_MAX),
    U32(4, scaled, wanted, 0, UINT32_MAX),
    U32(5, scaled, workers, 0, UINT32_MAX),
    U32(6, scaled, jobs, 0, UINT32_MAX),
    LIST(NAMES, 7, scaled, reasons.at, reasons.n, 0, FBY_REASONS_MAX,
        .name_max = FBY_REASON_MAX),
};

static const struct schema schemas[] = {
    MESSAGE(HELLO, hello, SMALL, rule_hello),
    MESSAGE(WELCOME, welcome, SMALL, NULL),
    MESSAGE(HELLO_FIRST, hello_first, SMALL, NULL),
    MESSAGE(REFUSED, refused, SMALL, rule_refused),
    MESSAGE(PING, ping, SMALL, NULL),
    MESSAGE(PONG, pong, SMALL, NULL),
    MESSAGE(OPEN, open, FBY_CONTENT_MAX + SMALL, NULL),
    MESSAGE(SCANNING, scanning, SMALL, rule_scanning),
    MESSAGE(OPENED, opened, FBY_MESSAGE_MAX, rule_opened),
    MESSAGE(OPEN_FAILED, open_failed, SMALL, NULL),
    MESSAGE(REQUEST, request, SMALL, rule_request),
    MESSAGE(SEND_CONTENT, send_content, SMALL, NULL),
    MESSAGE(BUSY, busy, SMALL, NULL),
    IDS_ONLY(LOST, lost, request),
    MESSAGE(CANNOT, cannot, SMALL, NULL),
    MESSAGE(STALE_DATA, stale_data, SMALL, NULL),
    MESSAGE(WRONG_FINGERPRINT, wrong_fingerprint, SMALL, NULL),
    IDS_ONLY(CANCEL, cancel, request),
    MESSAGE(CREDIT, credit, SMALL, NULL),
    MESSAGE(HEADER, header, SMALL, rule_header),
    MESSAGE(END, end, FBY_MESSAGE_MAX, rule_end),
    IDS_ONLY(LEAVE, leave, session),
    IDS_ONLY(BYE, bye, session),
    MESSAGE(SEALED_HELLO, sealed_hello, SMALL, rule_sealed_hello),
    [FBY_MSG_TICKET]   = SCHEMA(ticket_renewal, "TICKET", ticket, SMALL, NULL),
    [FBY_MSG_REGISTER] = /* the struct is not `register`, a C keyword */
    SCHEMA(registration, "REGISTER", register, SMALL, NULL),
    MESSAGE(REGISTERED, registered, SMALL, NULL),
    IDS_ONLY(REGISTER_FIRST, register_first, instance),
    MESSAGE(HEARTBEAT, heartbeat, SMALL, NULL),
    MESSAGE(HEARTBEAT_OK, heartbeat_ok, SMALL, NULL),
    IDS_ONLY(DEREGISTER, deregister, instance),
    MESSAGE(JOIN, join, SMALL, rule_join),
    MESSAGE(JOINED, joined, SMALL, NULL),
    MESSAGE(JOIN_REFUSED, join_refused, SMALL, NULL),
    IDS_ONLY(JOIN_FIRST, join_first, session),
    MESSAGE(RENEW, renew, SMALL, NULL),
    MESSAGE(WORKERS, workers, FBY_MESSAGE_MAX, NULL),
    MESSAGE(UNREACHABLE, unreachable, SMALL, NULL),
    IDS_ONLY(QUIT, quit, session),
    IDS_ONLY(SCALE, scale, session),
    MESSAGE(SCALED, scaled, SMALL, NULL),
};

const struct schema *schema_of_message(unsigned type)
{
    if (type >= sizeof(schemas) / sizeof(schemas[0]) ||
        schemas[type].name == NULL) { /* a number without a message */
        return NULL;
    }
    return &schemas[type];
}
