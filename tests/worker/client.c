/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "tests/worker/client.h"

#include <string.h>

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

void client_send_message(
    struct client *client, const struct fby_message *message)
{
    struct fby_buffer       frame = {0};
    struct fby_error_detail why   = {{0}};
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
    struct fby_error_detail why = {{0}};
    forget_message(client);
    if (fby_message_decode(zmq_msg_data(&client->frame),
            zmq_msg_size(&client->frame), &client->message, &why) != FBY_OK) {
        client->message.type = 0;
        fail_msg("%s", why.text);
    }
}

const struct fby_message *client_expect(
    struct client *client, enum fby_message_type type)
{
    client_receive(client);
    decode(client);
    assert_string_equal(
        fby_message_name(client->message.type), fby_message_name(type));
    return &client->message;
}

const struct fby_message *client_wait_for(
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
    client_send_message(client, &(struct fby_message){.type = FBY_MSG_HELLO,
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
        &client_expect(client, FBY_MSG_WELCOME)->welcome;
    assert_int_equal(welcome->route.value, client->route.value);
    return welcome;
}

size_t client_ping(struct client *client)
{
    client_send_message(client, &(struct fby_message){.type = FBY_MSG_PING,
                                    .ping = {client->session, 7}});
    const struct fby_pong *pong = &client_expect(client, FBY_MSG_PONG)->pong;
    assert_int_equal(pong->sequence, 7);
    return pong->requests.n;
}

const struct fby_opened *client_content(
    struct client *client, const struct kit *kit)
{
    client_send_message(
        client, &(struct fby_message){
                    .type = FBY_MSG_OPEN,
                    .open = {.session = client->session,
                        .open_id      = {1},
                        .content      = {kit->content.data, kit->content.size},
                        .location     = kit->location},
                });
    return &client_wait_for(client, FBY_MSG_OPENED)->opened;
}

struct fby_request_id client_request(
    struct client *client, const struct fby_job_spec *spec)
{
    struct fby_request_id id      = {client->next_request++};
    struct fby_message    message = {
           .type    = FBY_MSG_REQUEST,
           .request = {.session = client->session,
               .request         = id,
               .content         = spec->dataset_plan->content_digest,
               .data            = spec->dataset_plan->data_digest,
               .fingerprint     = spec->dataset_plan->fingerprint,
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
    client_send_message(client, &message);
    return id;
}

static void give_credit(struct client *client)
{
    if (!client->silent) {
        client_send_message(client,
            &(struct fby_message){.type = FBY_MSG_CREDIT,
                .credit = {client->session, client->route, client->received}});
    }
}

static void take_chunk(
    struct client *client, struct kit_batch *batch, struct fby_request_id id)
{
    struct fby_chunk        chunk;
    struct fby_error_detail why   = {{0}};
    const uint8_t          *frame = zmq_msg_data(&client->frame);
    size_t                  size  = zmq_msg_size(&client->frame);
    assert_ok(fby_chunk_read_prefix(frame, size, &chunk, &why));
    assert_true(fby_chunk_is_intact(frame, size));
    assert_int_equal(size, FBY_CHUNK_PREFIX + chunk.wire_bytes);
    assert_int_equal(chunk.session.value, client->session.value);
    assert_int_equal(chunk.request.value, id.value);
    kit_batch_chunk(batch, &chunk, frame + FBY_CHUNK_PREFIX);
    client->coding[chunk.field] =
        (struct fby_coding){chunk.filter, chunk.codec};
    client->received += size;
    give_credit(client);
}

void client_take_batch(struct client *client, const struct fby_job_spec *spec,
    struct fby_request_id id)
{
    struct kit_batch         batch;
    const struct fby_header *header =
        &client_expect(client, FBY_MSG_HEADER)->header;
    assert_int_equal(header->request.value, id.value);
    kit_batch_begin(&batch, spec, header);
    for (uint32_t i = 0; i < batch.layout.n_chunks; i++) {
        client_receive(client);
        take_chunk(client, &batch, id);
    }
    kit_batch_end(&batch, &client_expect(client, FBY_MSG_END)->end);
}
