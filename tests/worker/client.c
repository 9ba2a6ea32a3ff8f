#include "tests/test.h"

#include "tests/worker/client.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

enum { PATIENCE_MS = 20000 };

static void connect_dealer(struct client *client)
{
    const int none = 0;
    client->dealer = zmq_socket(client->zmq, ZMQ_DEALER);
    zmq_setsockopt(client->dealer, ZMQ_LINGER, &none, sizeof(none));
    zmq_setsockopt(client->dealer, ZMQ_RCVHWM, &none, sizeof(none));
    const int patience_ms = PATIENCE_MS;
    zmq_setsockopt(
        client->dealer, ZMQ_RCVTIMEO, &patience_ms, sizeof(patience_ms));
    assert_int_equal(zmq_connect(client->dealer, client->endpoint), 0);
}

void client_open(struct client *client, const char *endpoint)
{
    *client = (struct client){.zmq = zmq_ctx_new(),
        .endpoint                  = endpoint,
        .session                   = fby_session_random(),
        .next_request              = 1,
        .features                  = UINT64_MAX,
        .max_bytes                 = 1 << 20};
    zmq_msg_init(&client->frame);
    connect_dealer(client);
}

static void forget_message(struct client *client)
{
    if (client->message.type != 0) {
        fby_message_fini(&client->message);
        client->message.type = 0;
    }
}

void client_close(struct client *client)
{
    forget_message(client);
    zmq_msg_close(&client->frame);
    zmq_close(client->dealer);
    zmq_ctx_term(client->zmq);
}

void client_reconnect(struct client *client)
{
    zmq_close(client->dealer);
    connect_dealer(client);
}

void client_send(struct client *client, const void *frame, size_t size)
{
    assert_int_equal(zmq_send(client->dealer, frame, size, 0), (int)size);
}

void client_say(struct client *client, const struct fby_message *message)
{
    struct fby_buffer frame = {0};
    struct fby_why    why   = {{0}};
    if (fby_message_encode(message, &frame, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    client_send(client, frame.data, frame.size);
    fby_buffer_fini(&frame);
}

void client_receive(struct client *client)
{
    if (zmq_msg_recv(&client->frame, client->dealer, 0) < 0) {
        fail_msg("no answer: %s", zmq_strerror(zmq_errno()));
    }
}

static void decode(struct client *client)
{
    struct fby_why why = {{0}};
    forget_message(client);
    if (fby_message_decode(zmq_msg_data(&client->frame),
            zmq_msg_size(&client->frame), &client->message, &why) != FBY_OK) {
        client->message.type = 0;
        fail_msg("%s", why.text);
    }
}

const struct fby_message *client_hear(
    struct client *client, enum fby_message_type type)
{
    client_receive(client);
    decode(client);
    assert_string_equal(
        fby_message_name(client->message.type), fby_message_name(type));
    return &client->message;
}

const struct fby_message *client_hear_at_last(
    struct client *client, enum fby_message_type type)
{
    do {
        client_receive(client);
        if (fby_frame_kind(zmq_msg_data(&client->frame),
                zmq_msg_size(&client->frame)) == FBY_FRAME_MESSAGE) {
            decode(client);
        }
    } while (client->message.type != type);
    return &client->message;
}

const struct fby_welcome *client_hello(struct client *client)
{
    client->route    = (struct fby_route_id){fby_id_random()};
    client->received = 0;
    client_say(client, &(struct fby_message){.type = FBY_MSG_HELLO,
                           .hello = {.session = client->session,
                               .route         = client->route,
                               .version_min   = 1,
                               .version_max   = 1,
                               .features      = client->features,
                               .max_bytes     = client->max_bytes,
                               .job           = "test",
                               .host          = "here",
                               .pid           = 1}});
    const struct fby_welcome *welcome =
        &client_hear(client, FBY_MSG_WELCOME)->welcome;
    assert_int_equal(welcome->route.value, client->route.value);
    return welcome;
}

size_t client_ping(struct client *client)
{
    client_say(client, &(struct fby_message){
                           .type = FBY_MSG_PING, .ping = {client->session, 7}});
    const struct fby_pong *pong = &client_hear(client, FBY_MSG_PONG)->pong;
    assert_int_equal(pong->sequence, 7);
    return pong->open.n;
}

const struct fby_opened *client_content(
    struct client *client, const struct kit *kit)
{
    client_say(
        client, &(struct fby_message){
                    .type = FBY_MSG_OPEN,
                    .open = {.session = client->session,
                        .open         = {1},
                        .content      = {kit->content.data, kit->content.size},
                        .location     = kit->location},
                });
    return &client_hear_at_last(client, FBY_MSG_OPENED)->opened;
}

struct fby_request_id client_request(
    struct client *client, const struct fby_job_spec *spec)
{
    struct fby_request_id id      = {client->next_request++};
    struct fby_message    message = {
           .type    = FBY_MSG_REQUEST,
           .request = {.session = client->session,
               .request         = id,
               .content         = spec->prepared->content_digest,
               .data            = spec->prepared->data_digest,
               .fingerprint     = spec->prepared->fingerprint,
               .seed            = spec->seed,
               .epoch           = spec->epoch,
               .step            = spec->step,
               .first_row       = spec->first_row,
               .rows            = spec->rows,
               .fields          = spec->fields,
               .max_bytes       = client->max_bytes,
               .n_choices       = client->n_choices},
    };
    memcpy(message.request.choices, client->choices, sizeof(client->choices));
    client_say(client, &message);
    return id;
}

static void give_credit(struct client *client)
{
    if (!client->silent) {
        client_say(client,
            &(struct fby_message){.type = FBY_MSG_CREDIT,
                .credit = {client->session, client->route, client->received}});
    }
}

struct taking { /* a batch on its way in */
    struct fby_raw_layout  layout;
    struct fby_buffer      expected;
    struct fby_chunk_sent *sent; /* by index */
    uint64_t               wire_bytes;
};

static void take_chunk(
    struct client *client, struct taking *taking, struct fby_request_id id)
{
    struct fby_chunk chunk;
    struct fby_why   why   = {{0}};
    const uint8_t   *frame = zmq_msg_data(&client->frame);
    size_t           size  = zmq_msg_size(&client->frame);
    assert_ok(fby_chunk_read(frame, size, &chunk, &why));
    assert_true(fby_chunk_intact(frame, size));
    assert_ok(fby_chunk_check(&chunk, &taking->layout, &why));
    assert_int_equal(chunk.session.value, client->session.value);
    assert_int_equal(chunk.request.value, id.value);
    kit_check_chunk(
        &taking->layout, &taking->expected, &chunk, frame + FBY_CHUNK_PREFIX);
    struct fby_chunk_sent *sent = &taking->sent[fby_layout_index(
        &taking->layout, chunk.field, chunk.number)];
    assert_int_equal(sent->raw_bytes, 0); /* each once */
    *sent = (struct fby_chunk_sent){chunk.raw_hash, chunk.raw_bytes};
    client->coding[chunk.field] =
        (struct fby_coding){chunk.filter, chunk.codec};
    taking->wire_bytes += size;
    client->received += size;
    give_credit(client);
}

static void check_end(const struct fby_end *end, const struct taking *taking)
{
    uint32_t first = 0;
    assert_int_equal(end->wire_bytes, taking->wire_bytes);
    assert_int_equal(end->n_sums, taking->layout.n_fields);
    for (uint32_t f = 0; f < taking->layout.n_fields; f++) {
        struct fby_sum sum =
            fby_field_sum(&taking->layout, f, taking->sent + first);
        assert_true(fby_sum_equal(&sum, &end->sums[f]));
        first += taking->layout.fields[f].n_chunks;
    }
}

/* The layout follows from content and rows; HEADER must say the same. */
static void lay_out(const struct fby_header *header,
    const struct fby_job_spec *spec, struct fby_raw_layout *out)
{
    assert_ok(fby_layout_of_content(
        &spec->prepared->content, spec->fields, header->rows, out, NULL));
    assert_int_equal(header->n_fields, out->n_fields);
    for (uint32_t i = 0; i < out->n_fields; i++) {
        assert_int_equal(header->fields[i].type, out->fields[i].type);
        assert_int_equal(header->fields[i].raw_bytes, out->fields[i].raw_bytes);
        assert_int_equal(header->fields[i].n_chunks, out->fields[i].n_chunks);
    }
}

void client_take_batch(struct client *client, const struct fby_job_spec *spec,
    struct fby_request_id id)
{
    struct taking            taking = {0};
    const struct fby_header *header =
        &client_hear(client, FBY_MSG_HEADER)->header;
    assert_int_equal(header->request.value, id.value);
    assert_int_equal(header->step, spec->step);
    lay_out(header, spec, &taking.layout);
    taking.expected = kit_expect(spec, &taking.layout);
    taking.sent     = fby_zalloc(taking.layout.n_chunks * sizeof(*taking.sent));
    for (uint32_t i = 0; i < taking.layout.n_chunks; i++) {
        client_receive(client);
        take_chunk(client, &taking, id);
    }
    check_end(&client_hear(client, FBY_MSG_END)->end, &taking);
    fby_buffer_fini(&taking.expected);
    free(taking.sent);
}
