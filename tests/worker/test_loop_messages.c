/* SPDX-License-Identifier: Apache-2.0 */
/* A worker on a thread, and clients of it on real sockets. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "pipeline/canon.h"
#include "tests/worker/table.h"
#include "tests/worker/worker_thread.h"

/* Ops after those of the kit: batches of 1.5 and of 32 MiB. */
#define MEDIUM "      - resize: {size: 256}\n"
#define LARGE  "      - resize: {size: 1183}\n"

/* ---- Batches ------------------------------------------------------------- */

static void batches_arrive_as_they_were_computed(void **state)
{
    struct worker_thread rig;
    worker_thread_start_opened(&rig, state);
    for (uint64_t step = 0; step < KIT_SAMPLES / KIT_BATCH; step++) {
        struct fby_job_spec   spec = worker_thread_spec(&rig, step);
        struct fby_request_id id   = client_request(&rig.client, &spec);
        client_take_batch(&rig.client, &spec, id);
    }
    assert_int_equal(client_ping(&rig.client), 0);
    worker_thread_finish(&rig);
}

static void opened_has_the_digests_and_the_number_of_shards(void **state)
{
    struct worker_thread rig;
    worker_thread_prepare(&rig, state);
    worker_thread_start(&rig);
    client_hello(&rig.client);
    const struct fby_opened *opened    = client_content(&rig.client, &rig.kit);
    const struct fby_dataset_plan *own = rig.kit.dataset_plan;
    assert_true(fby_digest_equal(&opened->data, &own->data_digest));
    assert_true(fby_digest_equal(&opened->content, &own->content_digest));
    assert_true(fby_digest_equal(&opened->fingerprint, &own->fingerprint));
    assert_int_equal(opened->samples, KIT_SAMPLES);
    assert_int_equal(opened->n_shards, fby_dataset_shard_count(own->dataset));
    worker_thread_finish(&rig);
}

static void two_clients_of_the_same_rows_get_the_same_bytes(void **state)
{
    struct worker_thread rig;
    struct client        other;
    worker_thread_start_opened(&rig, state);
    client_open(&other, rig.endpoint);
    client_hello(&other);
    client_content(&other, &rig.kit);
    for (uint64_t step = 0; step < KIT_SAMPLES / KIT_BATCH; step++) {
        struct fby_job_spec   spec   = worker_thread_spec(&rig, step);
        struct fby_request_id first  = client_request(&rig.client, &spec);
        struct fby_request_id second = client_request(&other, &spec);
        client_take_batch(&rig.client, &spec, first);
        client_take_batch(&other, &spec, second);
    }
    client_close(&other);
    worker_thread_finish(&rig);
}

static void one_client_may_ask_twice_for_the_same_rows(void **state)
{
    struct worker_thread rig;
    worker_thread_start_opened(&rig, state);
    rig.client.silent            = true;
    struct fby_job_spec   spec   = worker_thread_spec(&rig, 0);
    struct fby_request_id first  = client_request(&rig.client, &spec);
    struct fby_request_id second = client_request(&rig.client, &spec);
    assert_int_not_equal(first.value, second.value);
    unsigned ends   = 0;
    unsigned chunks = 0;
    while (ends < 2) {
        client_receive(&rig.client);
        const void *frame = zmq_msg_data(&rig.client.frame);
        size_t      size  = zmq_msg_size(&rig.client.frame);
        if (fby_frame_kind(frame, size) == FBY_FRAME_CHUNK) {
            assert_true(fby_chunk_is_intact(frame, size));
            chunks++;
        } else {
            ends += ((const uint8_t *)frame)[5] == FBY_MSG_END ? 1 : 0;
        }
    }
    assert_int_equal(chunks, 4); /* an image and a label each */
    worker_thread_finish(&rig);
}

/* ---- Codings ------------------------------------------------------------- */

static const struct fby_coding_choice automatic = {FBY_AUTO, FBY_AUTO};

/* Receive a batch, and check that its image has this coding. */
static void images_come_in(
    struct worker_thread *rig, uint64_t step, struct fby_coding coding)
{
    struct fby_job_spec   spec = worker_thread_spec(rig, step);
    struct fby_request_id id   = client_request(&rig->client, &spec);
    client_take_batch(&rig->client, &spec, id);
    assert_int_equal(rig->client.coding[0].filter, coding.filter);
    assert_int_equal(rig->client.coding[0].codec, coding.codec);
}

static void a_request_without_choices_is_not_that_with_choices(void **state)
{
    struct worker_thread rig;
    worker_thread_start_opened(&rig, state);
    rig.client.n_choices = 2;
    rig.client.choices[0] =
        (struct fby_coding_choice){FBY_AUTO, FBY_CODEC_STORE};
    rig.client.choices[1] = automatic;
    images_come_in(
        &rig, 0, (struct fby_coding){FBY_FILTER_NONE, FBY_CODEC_STORE});
    rig.client.n_choices = 0;
    images_come_in(
        &rig, 1, (struct fby_coding){FBY_FILTER_PHOTO, FBY_CODEC_PACK});
    worker_thread_finish(&rig);
}

static void codings_that_a_client_does_not_know_are_not_sent(void **state)
{
    struct worker_thread rig;
    worker_thread_prepare(&rig, state);
    worker_thread_start(&rig);
    rig.client.features &= ~FBY_FEATURE_CODEC(FBY_CODEC_PACK);
    client_hello(&rig.client);
    client_content(&rig.client, &rig.kit);
    rig.client.n_choices = 2;
    rig.client.choices[0] =
        (struct fby_coding_choice){FBY_FILTER_PHOTO, FBY_AUTO};
    rig.client.choices[1] = automatic;
    images_come_in(
        &rig, 0, (struct fby_coding){FBY_FILTER_NONE, FBY_CODEC_STORE});
    rig.client.choices[0] =
        (struct fby_coding_choice){FBY_FILTER_DELTA, FBY_AUTO};
    images_come_in(
        &rig, 1, (struct fby_coding){FBY_FILTER_DELTA, FBY_CODEC_LZ4});
    worker_thread_finish(&rig);
}

/* ---- Clients without a session ------------------------------------------- */

/* Send a valid BYE, but as the first or the last of two parts. */
static void send_bye_in_parts(struct client *client)
{
    struct fby_buffer        bye     = {0};
    const struct fby_message message = {
        .type = FBY_MSG_BYE, .bye = {.session = client->session}};
    assert_ok(fby_message_encode(&message, &bye, NULL));
    zmq_send(client->dealer, bye.data, bye.size, ZMQ_SNDMORE);
    zmq_send(client->dealer, "b", 1, 0);
    zmq_send(client->dealer, "a", 1, ZMQ_SNDMORE);
    zmq_send(client->dealer, bye.data, bye.size, 0);
    fby_buffer_fini(&bye);
}

static void garbage_is_dropped_and_the_worker_goes_on(void **state)
{
    struct worker_thread rig;
    worker_thread_start_opened(&rig, state);
    client_send(&rig.client, "", 0);
    client_send(&rig.client, "hello", 5);
    client_send(&rig.client, "FBYM\1\13\0\0\377\377\377", 11);
    client_send(&rig.client, "FBYM\1\310\0\0", 8);
    client_send(&rig.client, "FBYC\1\0\0\0", 8);
    send_bye_in_parts(&rig.client);
    client_send_message(&rig.client, /* a message that only workers send */
        &(struct fby_message){
            .type = FBY_MSG_LOST, .lost = {rig.client.session, {9}}});
    struct fby_job_spec   spec = worker_thread_spec(&rig, 0);
    struct fby_request_id id   = client_request(&rig.client, &spec);
    client_take_batch(&rig.client, &spec, id);
    worker_thread_finish(&rig);
}

/* Each answer has both numbers, and the client can ask another worker. */
static void a_batch_this_worker_can_never_hold_names_both_numbers(void **state)
{
    struct worker_thread rig;
    worker_thread_prepare(&rig, state);
    kit_close(&rig.kit);
    kit_open(&rig.kit, *state, LARGE, "");
    worker_thread_start(&rig);
    rig.client.max_bytes = UINT64_MAX;
    client_hello(&rig.client);
    client_content(&rig.client, &rig.kit);
    struct fby_job_spec      spec = worker_thread_spec(&rig, 0);
    struct fby_request_id    id   = client_request(&rig.client, &spec);
    const struct fby_cannot *cannot =
        &client_expect(&rig.client, FBY_MSG_CANNOT)->cannot;
    assert_int_equal(cannot->request.value, id.value);
    assert_int_equal(cannot->code, FBY_CANNOT_MEMORY);
    assert_non_null(strstr(cannot->text, "takes 33"));
    assert_non_null(strstr(cannot->text, "this worker has "));
    assert_non_null(strstr(cannot->text, "--memory"));
    worker_thread_finish(&rig);
}

/* ---- Requests that cannot be served -------------------------------------- */

static void unknown_content_is_asked_for(void **state)
{
    struct worker_thread rig;
    worker_thread_prepare(&rig, state);
    worker_thread_start(&rig);
    client_hello(&rig.client);
    struct fby_job_spec       spec = worker_thread_spec(&rig, 0);
    struct fby_request_id     id   = client_request(&rig.client, &spec);
    const struct fby_message *answer =
        client_expect(&rig.client, FBY_MSG_SEND_CONTENT);
    assert_int_equal(answer->send_content.request.value, id.value);
    client_content(&rig.client, &rig.kit);
    id = client_request(&rig.client, &spec);
    client_take_batch(&rig.client, &spec, id);
    worker_thread_finish(&rig);
}

static void a_step_that_does_not_exist_is_named(void **state)
{
    struct worker_thread rig;
    worker_thread_start_opened(&rig, state);
    struct fby_job_spec spec = worker_thread_spec(&rig, 3);
    client_request(&rig.client, &spec);
    const struct fby_cannot *cannot =
        &client_expect(&rig.client, FBY_MSG_CANNOT)->cannot;
    assert_int_equal(cannot->code, FBY_CANNOT_REQUEST);
    assert_non_null(strstr(cannot->text, "step 3"));
    worker_thread_finish(&rig);
}

static void a_changed_file_is_stale_data_with_its_shard(void **state)
{
    struct worker_thread rig;
    worker_thread_start_opened(&rig, state);
    kit_corrupt_all(&rig.kit);
    struct fby_job_spec          spec = worker_thread_spec(&rig, 0);
    struct fby_request_id        id   = client_request(&rig.client, &spec);
    const struct fby_stale_data *stale =
        &client_wait_for(&rig.client, FBY_MSG_STALE_DATA)->stale_data;
    assert_int_equal(stale->request.value, id.value);
    assert_true(strlen(stale->shard) > 0);
    assert_int_equal(client_ping(&rig.client), 0);
    worker_thread_finish(&rig);
}

static enum fby_open_failed_code open_fails(
    struct client *client, struct fby_blob content, const char *location)
{
    client_send_message(client, &(struct fby_message){.type = FBY_MSG_OPEN,
                                    .open = {.session = client->session,
                                        .open_id      = {3},
                                        .content      = content,
                                        .location     = location}});
    const struct fby_open_failed *failed =
        &client_wait_for(client, FBY_MSG_OPEN_FAILED)->open_failed;
    assert_true(strlen(failed->text) > 0);
    return failed->code;
}

static void bad_locations_and_contents_are_refused(void **state)
{
    struct worker_thread rig;
    worker_thread_prepare(&rig, state);
    worker_thread_start(&rig);
    client_hello(&rig.client);
    struct fby_blob content  = {rig.kit.content.data, rig.kit.content.size};
    struct fby_blob nonsense = {(const uint8_t *)"nonsense", 8};
    assert_int_equal(
        open_fails(&rig.client, content, "/etc"), FBY_OPEN_BAD_LOCATION);
    assert_int_equal(open_fails(&rig.client, content, "data:../cache"),
        FBY_OPEN_BAD_LOCATION);
    assert_int_equal(
        open_fails(&rig.client, content, "data:nowhere"), FBY_OPEN_NOT_FOUND);
    assert_int_equal(
        open_fails(&rig.client, nonsense, "data:photos"), FBY_OPEN_BAD_CONTENT);
    worker_thread_finish(&rig);
}

/* Wait for OPEN_FAILED or OPENED. */
static bool is_refused(struct client *client)
{
    uint8_t type = 0;
    while (type != FBY_MSG_OPENED && type != FBY_MSG_OPEN_FAILED) {
        client_receive(client);
        type = ((const uint8_t *)zmq_msg_data(&client->frame))[5];
    }
    return type == FBY_MSG_OPEN_FAILED;
}

/* A load takes a moment, so some of many OPENs wait. */
static void the_opens_a_client_waits_for_are_limited(void **state)
{
    enum { BURST = 32, ENOUGH = 100 * BURST };
    struct worker_thread rig;
    bool                 refused = false;
    worker_thread_prepare(&rig, state);
    worker_thread_start(&rig);
    client_hello(&rig.client);
    for (uint64_t id = 1; !refused && id < ENOUGH; id += BURST) {
        for (uint64_t i = 0; i < BURST; i++) {
            client_send_message(&rig.client,
                &(struct fby_message){.type = FBY_MSG_OPEN,
                    .open                   = {.session = rig.client.session,
                                          .open_id      = {id + i},
                                          .content = {rig.kit.content.data, rig.kit.content.size},
                                          .location = rig.kit.location}});
        }
        for (uint64_t i = 0; i < BURST; i++) {
            refused = is_refused(&rig.client) || refused;
        }
    }
    assert_true(refused);
    client_content(&rig.client, &rig.kit);
    worker_thread_finish(&rig);
}

/* `n` shards with one sample each and names of thousands of bytes. */
static void make_long_names(const struct sandbox *sandbox, int n)
{
    char dir[4096] = "data/d0";
    for (int i = 0; i < 14; i++) {
        size_t used = strlen(dir);
        dir[used++] = '/';
        memset(dir + used, 'a', 250);
        dir[used + 250] = '\0';
    }
    sandbox_shard(sandbox, "data/one.tar", 0, 1);
    sandbox_mkdir(sandbox, dir);
    for (int i = 0; i < n; i++) {
        char path[4200];
        snprintf(path, sizeof(path), "%s/%04d.tar", dir, i);
        assert_int_equal(link(sandbox_path(sandbox, "data/one.tar"),
                             sandbox_path(sandbox, path)),
            0);
    }
}

/* The client is refused, because OPENED would be longer than a message may
 * be. */
static void a_list_of_shards_that_no_message_holds_is_refused(void **state)
{
    static const char    location[] = "data:d*"
                                      "/*/*/*/*/*/*/*/*/*/*/*/*/*/*"
                                      "/*.tar";
    struct worker_thread rig;
    struct fby_buffer    bytes = {0};
    struct fby_content  *content =
        content_of("{forebay: 1, global_batch: 1, splits: {s: {shards: a.tar}},"
                   " fields: {x: {from: cls}}}");
    fby_content_encode(content, &bytes);
    free(content);
    worker_thread_prepare(&rig, state);
    make_long_names(*state, 2400);
    worker_thread_start(&rig);
    client_hello(&rig.client);
    assert_int_equal(open_fails(&rig.client,
                         (struct fby_blob){bytes.data, bytes.size}, location),
        FBY_OPEN_BAD_DATA);
    fby_buffer_fini(&bytes);
    worker_thread_finish(&rig);
}

/* ---- Flow, routes, ends -------------------------------------------------- */

/* A client that stops reading is answered BUSY once its window and the memory
 * are full; it is served again when it goes on. */
static void a_client_that_stops_reading_is_answered_busy(void **state)
{
    struct worker_thread rig;
    worker_thread_prepare(&rig, state);
    kit_close(&rig.kit);
    kit_open(&rig.kit, *state, MEDIUM, "");
    rig.options.memory_bytes      = FBY_WORKER_MIN_MEMORY;
    rig.options.send_window_bytes = 1000;
    rig.options.drain_ns          = 1; /* the client never reads the rest */
    worker_thread_start(&rig);
    rig.client.max_bytes = 4 << 20;
    client_hello(&rig.client);
    client_content(&rig.client, &rig.kit);
    bool busy = false;
    for (uint64_t epoch = 0; !busy && epoch < 30; epoch++) {
        struct fby_job_spec spec = worker_thread_spec(&rig, 0);
        spec.epoch               = epoch;
        client_request(&rig.client, &spec);
        client_send_message(
            &rig.client, &(struct fby_message){.type = FBY_MSG_PING,
                             .ping = {rig.client.session, epoch}});
        const void *frame = NULL;
        do { /* HEADERs and first chunks may come first */
            client_receive(&rig.client);
            frame = zmq_msg_data(&rig.client.frame);
            busy  = busy || ((const uint8_t *)frame)[5] == FBY_MSG_BUSY;
        } while (memcmp(frame, "FBYM", 4) != 0 ||
                 ((const uint8_t *)frame)[5] != FBY_MSG_PONG);
    }
    assert_true(busy);
    worker_thread_finish(&rig);
}

static void a_cancelled_request_is_no_longer_open(void **state)
{
    struct worker_thread rig;
    worker_thread_prepare(&rig, state);
    rig.options.send_window_bytes = 1;
    worker_thread_open(&rig);
    struct fby_job_spec   spec = worker_thread_spec(&rig, 0);
    struct fby_request_id id   = client_request(&rig.client, &spec);
    client_expect(&rig.client, FBY_MSG_HEADER);
    client_send_message(
        &rig.client, &(struct fby_message){.type = FBY_MSG_CANCEL,
                         .cancel                 = {rig.client.session, id}});
    client_send_message(&rig.client, &(struct fby_message){.type = FBY_MSG_PING,
                                         .ping = {rig.client.session, 3}});
    const struct fby_message *pong = /* a chunk may come first */
        client_wait_for(&rig.client, FBY_MSG_PONG);
    assert_int_equal(pong->pong.requests.n, 0);
    worker_thread_finish(&rig);
}

static void after_a_reset_open_batches_start_again(void **state)
{
    struct worker_thread rig;
    worker_thread_prepare(&rig, state);
    rig.options.send_window_bytes = 1;
    worker_thread_open(&rig);
    struct fby_job_spec   spec = worker_thread_spec(&rig, 2);
    struct fby_request_id id   = client_request(&rig.client, &spec);
    client_expect(&rig.client, FBY_MSG_HEADER);
    client_receive(&rig.client); /* its first chunk; the rest has no credit */
    client_reconnect(&rig.client);
    client_send_message(&rig.client, &(struct fby_message){.type = FBY_MSG_PING,
                                         .ping = {rig.client.session, 1}});
    client_expect(&rig.client, FBY_MSG_HELLO_FIRST);
    const struct fby_welcome *welcome = client_hello(&rig.client);
    assert_int_equal(welcome->requests.n, 1);
    assert_int_equal(welcome->requests.at[0].value, id.value);
    client_take_batch(&rig.client, &spec, id);
    worker_thread_finish(&rig);
}

static void a_leaving_worker_finishes_what_is_open(void **state)
{
    struct worker_thread rig;
    worker_thread_prepare(&rig, state);
    rig.options.send_window_bytes = 1;
    worker_thread_open(&rig);
    struct fby_job_spec   spec = worker_thread_spec(&rig, 2);
    struct fby_request_id id   = client_request(&rig.client, &spec);
    assert_int_equal(
        client_expect(&rig.client, FBY_MSG_HEADER)->type, FBY_MSG_HEADER);
    client_receive(&rig.client); /* one chunk, no credit: it stays open */
    rig.client.received += zmq_msg_size(&rig.client.frame);
    worker_thread_ask_to_stop(&rig);
    client_expect(&rig.client, FBY_MSG_LEAVE);
    client_send_message(
        &rig.client, &(struct fby_message){.type = FBY_MSG_CREDIT,
                         .credit = {rig.client.session, rig.client.route,
                             rig.client.received}});
    client_receive(&rig.client); /* its second chunk */
    const struct fby_end *end = &client_expect(&rig.client, FBY_MSG_END)->end;
    assert_int_equal(end->request.value, id.value);
    worker_thread_finish(&rig);
}

static void batches_not_finished_in_time_are_given_back(void **state)
{
    struct worker_thread rig;
    worker_thread_prepare(&rig, state);
    rig.options.send_window_bytes = 1;
    rig.options.drain_ns          = 50 * FBY_NS_PER_MS;
    worker_thread_open(&rig);
    struct fby_job_spec   spec = worker_thread_spec(&rig, 2);
    struct fby_request_id id   = client_request(&rig.client, &spec);
    client_expect(&rig.client, FBY_MSG_HEADER);
    client_receive(&rig.client); /* a chunk; without credit no more come */
    worker_thread_ask_to_stop(&rig);
    client_expect(&rig.client, FBY_MSG_LEAVE);
    const struct fby_lost *lost =
        &client_expect(&rig.client, FBY_MSG_LOST)->lost;
    assert_int_equal(lost->request.value, id.value);
    worker_thread_finish(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(batches_arrive_as_they_were_computed),
        IN_SANDBOX(opened_has_the_digests_and_the_number_of_shards),
        IN_SANDBOX(two_clients_of_the_same_rows_get_the_same_bytes),
        IN_SANDBOX(one_client_may_ask_twice_for_the_same_rows),
        IN_SANDBOX(a_request_without_choices_is_not_that_with_choices),
        IN_SANDBOX(codings_that_a_client_does_not_know_are_not_sent),
        IN_SANDBOX(garbage_is_dropped_and_the_worker_goes_on),
        IN_SANDBOX(a_batch_this_worker_can_never_hold_names_both_numbers),
        IN_SANDBOX(unknown_content_is_asked_for),
        IN_SANDBOX(a_step_that_does_not_exist_is_named),
        IN_SANDBOX(a_changed_file_is_stale_data_with_its_shard),
        IN_SANDBOX(bad_locations_and_contents_are_refused),
        IN_SANDBOX(the_opens_a_client_waits_for_are_limited),
        IN_SANDBOX(a_list_of_shards_that_no_message_holds_is_refused),
        IN_SANDBOX(a_client_that_stops_reading_is_answered_busy),
        IN_SANDBOX(a_cancelled_request_is_no_longer_open),
        IN_SANDBOX(after_a_reset_open_batches_start_again),
        IN_SANDBOX(a_leaving_worker_finishes_what_is_open),
        IN_SANDBOX(batches_not_finished_in_time_are_given_back),
    };
    return cmocka_run_group_tests_name(
        "worker.loop_messages", tests, NULL, NULL);
}
