/* SPDX-License-Identifier: Apache-2.0 */
/* Sending of chunks: in flight, for later requests, waiting for memory, and on
 * routes that break at any part of a message. */
#include "tests/test.h"

#include <string.h>

#include "common/clock.h"
#include "pipeline/device_ops.h"
#include "tests/worker/loop_rig.h"

static void batches_are_sent_in_the_order_of_epochs_and_steps(void **state)
{
    struct rig          rig;
    static const int    order[][2] = {{3, 0}, {2, 2}, {2, 0}, {2, 1}};
    struct fby_job_spec specs[4];
    rig_open(&rig, state);
    struct party a = party_of(&rig, 1);
    party_open(&a);
    for (int i = 0; i < 4; i++) {
        specs[i]       = rig_spec(&rig, (uint64_t)order[i][1]);
        specs[i].epoch = (uint64_t)order[i][0];
        party_request(&a, &specs[i]);
    }
    rig_make(&rig);
    fby_loop_send_ready(&rig.loop); /* one call sends all */
    assert_int_equal(rig.loop.counts.batches, 4);
    wire_expect_batch(&a, &specs[2], (struct fby_request_id){3});
    wire_expect_batch(&a, &specs[3], (struct fby_request_id){4});
    wire_expect_batch(&a, &specs[1], (struct fby_request_id){2});
    wire_expect_batch(&a, &specs[0], (struct fby_request_id){1});
    rig_close(&rig);
}

static void check_device_list(
    const struct rig *rig, const struct fby_recipe *recipe)
{
    const struct fby_field_content *image =
        &rig->kit.dataset_plan->content.fields[0];
    struct fby_digest behaviour = fby_device_list_hash(image);
    struct fby_buffer list      = {0};
    fby_device_list_encode(image, &list);
    assert_true(list.size > 0);
    assert_int_equal(recipe->device.size, list.size);
    assert_memory_equal(recipe->device.data, list.data, list.size);
    assert_true(recipe->behaviour.known);
    assert_true(fby_digest_equal(&recipe->behaviour.digest, &behaviour));
    fby_buffer_fini(&list);
}

static void check_image_field(
    const struct rig *rig, const struct fby_header_field *f)
{
    static const double mean[] = {0.25, 0.5, 0.75};
    static const double std[]  = {0.5, 1, 2};
    assert_string_equal(f->name, "image");
    assert_int_equal(f->encoding, FBY_ENCODING_DENSE);
    assert_int_equal(f->type, FBY_U8);
    assert_int_equal(f->shape.n_dims, 3);
    assert_int_equal(f->shape.dims[2], 3);
    assert_int_equal(f->raw_bytes, KIT_BATCH * 32 * 32 * 3);
    assert_int_equal(f->n_chunks, 1);
    assert_int_equal(f->max_length, 0);
    assert_int_equal(f->recipe.n_channels, 3);
    assert_memory_equal(f->recipe.mean, mean, sizeof(mean));
    assert_memory_equal(f->recipe.std, std, sizeof(std));
    assert_string_equal(f->recipe.mixed_by, "");
    check_device_list(rig, &f->recipe);
}

static void check_label_field(const struct fby_header_field *f)
{
    assert_string_equal(f->name, "kind");
    assert_int_equal(f->encoding, FBY_ENCODING_LABEL);
    assert_int_equal(f->raw_bytes, KIT_BATCH);
    assert_int_equal(f->recipe.n_channels, 0);
    assert_true(f->recipe.one_hot);
    assert_int_equal(f->recipe.classes, 3);
    assert_true(f->recipe.smoothing == 0.25);
    assert_string_equal(f->recipe.mixed_by, "image");
    assert_int_equal(f->recipe.device.size, 0);
    assert_false(f->recipe.behaviour.known);
}

/* HEADER has all that a client needs before the first chunk. */
static void header_describes_each_field(void **state)
{
    struct rig rig;
    rig_open_content(&rig, state,
        "    device:\n"
        "      - normalize: {mean: [0.25, 0.5, 0.75], std: [0.5, 1, 2]}\n"
        "      - mixup: {alpha: 0.8, label: kind}\n"
        "  kind: {from: folder, classes: 3, one_hot: {smoothing: 0.25}}\n",
        "");
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    party_request(&a, &spec);
    const struct fby_header *header  = &wire_expect(&a, FBY_MSG_HEADER)->header;
    const struct fby_header_field *f = header->fields;
    assert_int_equal(header->n_fields, 3);
    check_image_field(&rig, &f[0]);
    check_label_field(&f[1]);
    assert_false(f[2].recipe.one_hot);
    assert_int_equal(f[2].recipe.classes, 3);
    assert_string_equal(f[2].recipe.mixed_by, "");
    rig_close(&rig);
}

static void requests_that_differ_in_anything_share_no_work(void **state)
{
    enum { N = 7 };
    struct rig rig;
    rig_open(&rig, state);
    struct party        a        = party_of(&rig, 1);
    struct fby_job_spec spec     = rig_spec(&rig, 0);
    spec.first_row               = 2;
    spec.rows                    = 4;
    struct fby_job_spec specs[N] = {spec, spec, spec, spec, spec, spec, spec};
    specs[1].seed++;
    specs[2].first_row++;
    specs[3].rows++;
    specs[4].fields = 1;
    specs[5].step++;
    specs[6].epoch++;
    party_open(&a);
    for (int i = 0; i < N; i++) {
        party_request(&a, &specs[i]);
    }
    rig_make(&rig);
    for (int i = 0; i < N; i++) {
        wire_expect_batch(
            &a, &specs[i], (struct fby_request_id){(uint64_t)i + 1});
    }
    assert_int_equal(rig.loop.counts.joined, 0);
    assert_int_equal(rig.loop.counts.batches, N);
    rig_close(&rig);
}

/* A list of all fields means the same as no list. */
static void the_same_rows_are_made_once(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    struct fby_request_id first  = party_request(&a, &spec);
    spec.fields                  = 3;
    struct fby_request_id second = party_request(&a, &spec);
    assert_int_equal(rig.loop.counts.joined, 1);
    assert_int_equal(rig.loop.counts.requests, 2);
    assert_null(rig.loop.works->next);
    rig_make(&rig);
    spec.fields = 0;
    struct fby_request_id third =
        party_request(&a, &spec); /* all chunks are ready */
    assert_int_equal(rig.loop.counts.joined, 2);
    wire_expect_batch(&a, &spec, first);
    spec.fields = 3;
    wire_expect_batch(&a, &spec, second);
    spec.fields = 0;
    wire_expect_batch(&a, &spec, third);
    assert_null(rig.loop.works);
    assert_int_equal(rig.loop.counts.copied_chunks, 4);
    assert_int_equal(rig.loop.counts.chunks, 6);
    rig_close(&rig);
}

/* ---- In flight ----------------------------------------------------------- */

static void expect_chunk(
    const struct party *to, struct fby_request_id id, uint16_t field)
{
    struct fby_chunk chunk = wire_expect_chunk(to);
    assert_int_equal(chunk.request.value, id.value);
    assert_int_equal(chunk.field, field);
}

struct two { /* clients that requested the same rows, which are made */
    struct party          a, b;
    struct fby_request_id of_a, of_b;
};

static void request_two(struct two *two, struct rig *rig)
{
    struct fby_job_spec spec = rig_spec(rig, 0);
    two->b                   = party_of(rig, 2);
    two->a                   = party_of(rig, 1);
    party_open(&two->b);
    party_open(&two->a);
    two->of_a = party_request(&two->a, &spec);
    two->of_b = party_request(&two->b, &spec);
    rig_make(rig);
}

static void open_two(struct two *two, struct rig *rig)
{
    request_two(two, rig);
    wire_expect(&two->a, FBY_MSG_HEADER);
    wire_expect(&two->b, FBY_MSG_HEADER);
}

static void peers_take_turns(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party        b    = party_of(&rig, 2);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&b);
    party_open(&a);
    struct fby_request_id of_a = party_request(&a, &spec);
    spec.step                  = 1;
    struct fby_request_id of_b = party_request(&b, &spec);
    rig_make(&rig);
    wire_expect(&a, FBY_MSG_HEADER);
    expect_chunk(&a, of_a, 0);
    unsigned position = wire_position();
    wire_expect(&b, FBY_MSG_HEADER);
    expect_chunk(&b, of_b, 0);
    assert_int_equal(wire_position(), position + 1);
    rig_close(&rig);
}

static void bytes_in_flight_do_not_change(void **state)
{
    struct rig rig;
    struct two two;
    uint8_t    kept[FBY_CHUNK_PREFIX];
    rig_open(&rig, state);
    open_two(&two, &rig);
    expect_chunk(&two.a, two.of_a, 0);
    const uint8_t *frame = wire_frame();
    memcpy(kept, frame, sizeof(kept));
    expect_chunk(&two.b, two.of_b, 0);
    assert_true(wire_frame() != frame);
    assert_memory_equal(kept, frame, sizeof(kept));
    assert_memory_equal(
        frame + FBY_CHUNK_PREFIX, wire_frame() + FBY_CHUNK_PREFIX, 1000);
    expect_chunk(&two.a, two.of_a, 1);
    expect_chunk(&two.b, two.of_b, 1);
    assert_int_equal(rig.loop.counts.copied_chunks, 2);
    wire_expect(&two.a, FBY_MSG_END);
    wire_expect(&two.b, FBY_MSG_END);
    wire_expect_nothing(&rig);
    rig_close(&rig);
}

/* One chunk is sent, and the next needs CREDIT. */
static const struct rig_limits one_by_one = {.window = 1};

static void a_chunk_no_longer_in_flight_is_not_copied(void **state)
{
    struct rig rig;
    rig_open_limited(&rig, state, one_by_one);
    struct party        a    = party_of(&rig, 1);
    struct party        b    = party_of(&rig, 2);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    party_open(&b);
    struct fby_request_id of_a = party_request(&a, &spec);
    rig_make(&rig);
    wire_expect(&a, FBY_MSG_HEADER);
    expect_chunk(&a, of_a, 0);
    const uint8_t *frame = wire_frame();
    wire_release();
    struct fby_request_id of_b = party_request(&b, &spec);
    wire_expect(&b, FBY_MSG_HEADER);
    expect_chunk(&b, of_b, 0);
    assert_ptr_equal(wire_frame(), frame);
    assert_int_equal(rig.loop.counts.copied_chunks, 0);
    rig_close(&rig);
}

/* A request that is sent again needs no copy, even if its chunks of the first
 * time are still in flight. */
static void the_same_request_is_sent_again_in_place(void **state)
{
    struct rig rig;
    rig_open_limited(&rig, state, one_by_one);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    struct fby_request_id id = party_request(&a, &spec);
    rig_make(&rig);
    wire_expect(&a, FBY_MSG_HEADER);
    expect_chunk(&a, id, 0);
    const uint8_t *frame = wire_frame();
    party_hello(&a);
    wire_expect(&a, FBY_MSG_WELCOME);
    wire_expect(&a, FBY_MSG_HEADER);
    expect_chunk(&a, id, 0);
    assert_ptr_equal(wire_frame(), frame);
    assert_int_equal(rig.loop.counts.copied_chunks, 0);
    rig_close(&rig);
}

/* ---- Prefixes ------------------------------------------------------------ */

/* Change a bit of the hash in the prefix of a chunk. Returns the chunk's frame,
 * which an encode thread must have completed. */
static uint8_t *change_hash(const struct fby_job_chunk *chunk)
{
    uint8_t *frame = chunk->payload - FBY_CHUNK_PREFIX;
    assert_true(
        fby_chunk_is_intact(frame, FBY_CHUNK_PREFIX + chunk->wire_bytes));
    frame[FBY_CHUNK_PREFIX - 1] ^= 1U;
    return frame;
}

/* The loop has one thread for all clients, so it must not read each payload to
 * hash it. A prefix that it wrote again would have the right hash. */
static void a_first_request_is_sent_the_prefixes_of_the_encode_thread(
    void **state)
{
    enum { CHUNKS = 2 };
    struct rig     rig;
    const uint8_t *frames[CHUNKS];
    uint8_t        changed[CHUNKS][FBY_CHUNK_PREFIX];
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    (void)party_request(&a, &spec);
    rig_make(&rig);
    assert_int_equal(rig.loop.works->job->layout.n_chunks, CHUNKS);
    for (int i = 0; i < CHUNKS; i++) {
        frames[i] = change_hash(&rig.loop.works->job->chunks[i]);
        memcpy(changed[i], frames[i], FBY_CHUNK_PREFIX);
    }
    wire_expect(&a, FBY_MSG_HEADER);
    for (int i = 0; i < CHUNKS; i++) {
        assert_ptr_equal(zmq_msg_data(wire_expect_frame(&a)), frames[i]);
        assert_memory_equal(frames[i], changed[i], FBY_CHUNK_PREFIX);
    }
    wire_expect(&a, FBY_MSG_END);
    rig_close(&rig);
}

/* ---- Later requests ------------------------------------------------------ */

/* Send the chunks of both clients while the encode thread is busy. Those of `b`
 * need other prefixes, so it is sent HEADER alone. */
static void send_blocked(struct two *two, struct rig *rig)
{
    struct fby_job_spec spec = rig_spec(rig, 0);
    rig_block_thread(rig);
    wire_expect_batch(&two->a, &spec, two->of_a);
    wire_expect(&two->b, FBY_MSG_HEADER);
    wire_expect_nothing(rig);
}

/* All that follows the copied chunks waits for them, also chunks that need no
 * copy. */
static void an_encode_thread_copies_the_chunks_of_a_later_request(void **state)
{
    struct rig rig;
    struct two two;
    rig_open(&rig, state);
    request_two(&two, &rig);
    struct fby_job_spec   spec = rig_spec(&rig, 1);
    struct fby_request_id next = party_request(&two.b, &spec);
    rig_make(&rig);
    send_blocked(&two, &rig);
    party_send(&two.b, &(struct fby_message){
                           .type = FBY_MSG_PING, .ping = {two.b.session, 7}});
    wire_expect_nothing(&rig);
    rig_free_thread(&rig);
    expect_chunk(&two.b, two.of_b, 0);
    expect_chunk(&two.b, two.of_b, 1);
    assert_int_equal(
        wire_expect(&two.b, FBY_MSG_END)->end.request.value, two.of_b.value);
    wire_expect_batch(&two.b, &spec, next);
    assert_int_equal(wire_expect(&two.b, FBY_MSG_PONG)->pong.sequence, 7);
    assert_int_equal(rig.loop.counts.copied_chunks, 2);
    rig_close(&rig);
}

/* Open clients of which the first one is sent a chunk of the batch that it
 * requests. Returns the chunk's frame, which is no longer in flight. */
static const uint8_t *send_first_chunk(
    struct rig *rig, struct party *parties, uint64_t n)
{
    const struct fby_job_spec spec = rig_spec(rig, 0);
    for (uint64_t i = 0; i < n; i++) {
        parties[i] = party_of(rig, i + 1);
        party_open(&parties[i]);
    }
    struct fby_request_id id = party_request(&parties[0], &spec);
    rig_make(rig);
    wire_expect(&parties[0], FBY_MSG_HEADER);
    expect_chunk(&parties[0], id, 0);
    wire_release();
    return wire_frame();
}

/* Until the chunk is sent, any other request needs a copy of it, also the one
 * whose prefix it had. */
static void an_encode_thread_writes_a_prefix_in_place(void **state)
{
    enum { FIRST, IN_PLACE, N = 3 };
    struct rig   rig;
    struct party parties[N];
    rig_open_limited(&rig, state, one_by_one);
    const struct fby_job_spec spec  = rig_spec(&rig, 0);
    const uint8_t            *frame = send_first_chunk(&rig, parties, N);
    rig_block_thread(&rig);
    for (int i = IN_PLACE; i < N; i++) {
        party_request(&parties[i], &spec);
        wire_expect(&parties[i], FBY_MSG_HEADER);
    }
    party_hello(&parties[FIRST]); /* its batch is sent again */
    wire_expect(&parties[FIRST], FBY_MSG_WELCOME);
    wire_expect(&parties[FIRST], FBY_MSG_HEADER);
    wire_expect_nothing(&rig);
    rig_free_thread(&rig);
    for (int i = 0; i < N; i++) {
        expect_chunk(&parties[i], (struct fby_request_id){1}, 0);
        assert_int_equal(wire_frame() == frame, i == IN_PLACE);
    }
    assert_int_equal(rig.loop.counts.copied_chunks, N - 1);
    rig_close(&rig);
}

static void a_new_route_is_not_sent_the_copies_for_the_last(void **state)
{
    struct rig rig;
    struct two two;
    rig_open(&rig, state);
    request_two(&two, &rig);
    send_blocked(&two, &rig);
    party_hello(&two.b);
    assert_int_equal(/* END was about to be sent */
        wire_expect(&two.b, FBY_MSG_WELCOME)->welcome.requests.n, 0);
    rig_free_thread(&rig);
    wire_release();
    rig_collect_all(&rig);
    wire_expect_nothing(&rig);
    rig_close(&rig);
}

static void a_client_may_leave_while_its_chunks_are_copied(void **state)
{
    struct rig rig;
    struct two two;
    rig_open(&rig, state);
    request_two(&two, &rig);
    send_blocked(&two, &rig);
    party_bye(&two.b);
    rig_free_thread(&rig);
    wire_release();
    rig_collect_all(&rig);
    fby_loop_peers_sweep(&rig.loop);
    assert_null(fby_loop_find_peer(&rig.loop, two.b.session));
    wire_expect_nothing(&rig);
    rig_close(&rig);
}

/* ---- END ----------------------------------------------------------------- */

static const struct fby_end *make_and_expect_end(
    struct rig *rig, struct party *a, int64_t took_ns, uint32_t bounds)
{
    struct fby_job_spec spec = rig_spec(rig, 1);
    party_request(a, &spec);
    rig_make(rig);
    struct fby_job *job                                = rig->loop.works->job;
    job->spec.dataset_plan->content.bucket_by.n_bounds = bounds;
    atomic_store(&job->fetch_ns, 100);
    atomic_store(&job->transform_ns, 20);
    atomic_store(&job->encode_ns, 3);
    atomic_store(&job->cpu_ns, 7);
    job->begun_ns = rig->loop.now_ns - took_ns;
    wire_expect(a, FBY_MSG_HEADER);
    expect_chunk(a, (struct fby_request_id){a->newest}, 0);
    expect_chunk(a, (struct fby_request_id){a->newest}, 1);
    return &wire_expect(a, FBY_MSG_END)->end;
}

static void end_reports_the_time_of_each_stage(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party a = party_of(&rig, 1);
    party_open(&a);
    const struct fby_end *end = make_and_expect_end(&rig, &a, 1123, 0);
    assert_int_equal(end->times.fetch, 100);
    assert_int_equal(end->times.transform, 20);
    assert_int_equal(end->times.encode, 3);
    assert_int_equal(end->times.cpu, 7);
    assert_int_equal(end->times.wait, 1000);
    assert_int_equal(end->n_samples, 0);
    /* Several threads work on a batch at the same time. */
    assert_int_equal(make_and_expect_end(&rig, &a, 122, 0)->times.wait, 0);
    rig_close(&rig);
}

static void end_names_the_samples_of_a_batch_of_buckets(void **state)
{
    struct rig              rig;
    const struct fby_order *order = NULL;
    struct fby_error_detail why   = {{0}};
    uint64_t                samples[KIT_BATCH];
    rig_open(&rig, state);
    const struct fby_job_spec spec = rig_spec(&rig, 1);
    struct party              a    = party_of(&rig, 1);
    party_open(&a);
    assert_ok(fby_dataset_plan_order(
        spec.dataset_plan, spec.seed, spec.epoch, &order, &why));
    fby_order_fill_samples(order, spec.step, 0, KIT_BATCH, samples);
    const struct fby_end *end = make_and_expect_end(&rig, &a, 0, 1);
    assert_int_equal(end->n_samples, KIT_BATCH);
    assert_memory_equal(end->samples, samples, sizeof(samples));
    rig_close(&rig);
}

/* ---- Waiting for memory -------------------------------------------------- */

/* Memory for the batch alone: nothing can be copied. */
static const struct rig_limits narrow = {.memory = 7 << 12};

static void open_deferred(struct two *two, struct rig *rig, void **state)
{
    rig_open_limited(rig, state, narrow);
    open_two(two, rig);
    expect_chunk(&two->a, two->of_a, 0);
    expect_chunk(&two->a, two->of_a, 1);
    wire_expect(&two->a, FBY_MSG_END);
    wire_expect_nothing(rig);
    wire_expect_nothing(rig); /* the retry loses no chunk */
    assert_int_equal(rig->loop.counts.chunks, 2);
}

static void a_chunk_that_cannot_be_copied_waits_until_it_can_be_sent(
    void **state)
{
    struct rig rig;
    struct two two;
    open_deferred(&two, &rig, state);
    wire_release();
    expect_chunk(&two.b, two.of_b, 0);
    expect_chunk(&two.b, two.of_b, 1);
    const struct fby_end *end = &wire_expect(&two.b, FBY_MSG_END)->end;
    assert_int_equal(end->request.value, two.of_b.value);
    assert_int_equal(rig.loop.counts.copied_chunks, 0);
    assert_int_equal(rig.loop.counts.chunks, 4);
    assert_int_equal(rig.loop.counts.lost + rig.loop.counts.busy, 0);
    rig_close(&rig);
}

static void a_request_that_waits_for_memory_can_be_cancelled(void **state)
{
    struct rig rig;
    struct two two;
    open_deferred(&two, &rig, state);
    party_cancel(&two.b, (struct fby_request_id){77});
    party_cancel(&two.b, two.of_b);
    assert_null(rig.loop.works);
    wire_release();
    rig_collect_all(&rig);
    wire_expect_nothing(&rig);
    struct fby_job_spec spec = rig_spec(&rig, 1);
    two.of_b                 = party_request(&two.b, &spec);
    rig_make(&rig);
    wire_expect_batch(&two.b, &spec, two.of_b);
    rig_close(&rig);
}

static void cancelling_another_request_leaves_the_waiting_chunk(void **state)
{
    struct rig          rig;
    struct two          two;
    struct fby_job_spec spec;
    rig_open_limited(&rig, state, (struct rig_limits){.memory = 8 << 12});
    spec = rig_spec(&rig, 1);
    open_two(&two, &rig);
    spec.fields                 = 2; /* the label, for which a page is enough */
    struct fby_request_id other = party_request(&two.b, &spec);
    expect_chunk(&two.a, two.of_a, 0);
    assert_true(fby_loop_find_peer(&rig.loop, two.b.session)->is_deferred);
    party_cancel(&two.b, other);
    wire_expect_chunk(&two.a);
    wire_expect(&two.a, FBY_MSG_END);
    wire_release();
    expect_chunk(&two.b, two.of_b, 0);
    rig_close(&rig);
}

static void a_client_that_leaves_while_a_chunk_waits_is_sent_no_more(
    void **state)
{
    struct rig rig;
    struct two two;
    open_deferred(&two, &rig, state);
    party_bye(&two.b);
    wire_release();
    wire_expect_nothing(&rig);
    rig_collect_all(&rig);
    fby_loop_peers_sweep(&rig.loop);
    assert_null(fby_loop_find_peer(&rig.loop, two.b.session));
    rig_close(&rig);
}

static void a_new_route_does_not_begin_with_the_waiting_chunk(void **state)
{
    struct rig rig;
    struct two two;
    open_deferred(&two, &rig, state);
    party_hello(&two.b);
    const struct fby_welcome *welcome =
        &wire_expect(&two.b, FBY_MSG_WELCOME)->welcome;
    assert_int_equal(welcome->requests.n, 1);
    assert_int_equal(welcome->requests.at[0].value, two.of_b.value);
    wire_release();
    struct fby_job_spec spec = rig_spec(&rig, 0);
    wire_expect_batch(&two.b, &spec, two.of_b);
    rig_close(&rig);
}

/* ---- Routes that break --------------------------------------------------- */

enum {
    PARTS = 8
}; /* of HEADER, two chunks and END: a routing id and a frame each */

/* Let the n-th part of a batch's messages fail: the route is lost, and the next
 * route gets all open batches from their start. */
static void break_at(struct rig *rig, struct party *a, int n)
{
    struct fby_job_spec   spec = rig_spec(rig, (uint64_t)n % 3);
    struct fby_request_id id   = party_request(a, &spec);
    uint64_t              lost = rig->loop.counts.routes_lost;
    rig_make(rig);
    wire_fail(n);
    fby_loop_send_ready(&rig->loop);
    assert_int_equal(rig->loop.counts.routes_lost, lost + 1);
    for (int i = 0; i < n / 2; i++) {
        if (i == 0) {
            wire_expect(a, FBY_MSG_HEADER);
        } else {
            expect_chunk(a, id, (uint16_t)(i - 1));
        }
    }
    wire_expect_nothing(rig);
    party_credit(a, 0);
    wire_expect(a, FBY_MSG_HELLO_FIRST);
    party_hello(a);
    bool open = n < PARTS - 2; /* its END counts as sent */
    assert_int_equal(
        wire_expect(a, FBY_MSG_WELCOME)->welcome.requests.n, open ? 1 : 0);
    if (open) {
        wire_expect_batch(a, &spec, id);
    }
    wire_expect_nothing(rig);
    wire_release();
    rig_collect_all(rig);
}

static void a_send_that_fails_at_any_part_loses_the_route_alone(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party a = party_of(&rig, 1);
    party_open(&a);
    for (int n = 0; n < PARTS; n++) {
        break_at(&rig, &a, n);
    }
    rig_close(&rig);
}

static void a_route_that_breaks_forgets_the_waiting_chunk(void **state)
{
    struct rig rig;
    struct two two;
    open_deferred(&two, &rig, state);
    wire_fail(0);
    party_send(&two.b, &(struct fby_message){
                           .type = FBY_MSG_PING, .ping = {two.b.session, 1}});
    wire_release();
    wire_expect_nothing(&rig);
    party_hello(&two.b);
    wire_expect(&two.b, FBY_MSG_WELCOME);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    wire_expect_batch(&two.b, &spec, two.of_b);
    rig_close(&rig);
}

/* ---- Ends ---------------------------------------------------------------- */

static void a_client_that_left_is_recorded_until_its_memory_is_free(
    void **state)
{
    struct rig rig;
    rig_open_limited(&rig, state, one_by_one);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    struct fby_request_id id = party_request(&a, &spec);
    rig_make(&rig);
    wire_expect(&a, FBY_MSG_HEADER);
    expect_chunk(&a, id, 0);
    party_bye(&a);
    assert_null(rig.loop.works);
    assert_int_equal(rig.loop.budget.entitled, 0);
    rig_collect(&rig);
    fby_loop_peers_sweep(&rig.loop);
    assert_non_null(fby_loop_find_peer(&rig.loop, a.session));
    party_hello(&a);
    const struct fby_refused *refused =
        &wire_expect(&a, FBY_MSG_REFUSED)->refused;
    assert_int_equal(refused->code, FBY_REFUSED_FULL);
    assert_string_equal(
        refused->text, "the last session of this client still holds memory");
    wire_release();
    rig_collect_all(&rig);
    fby_loop_peers_sweep(&rig.loop);
    assert_null(rig.loop.peers);
    party_hello(&a);
    wire_expect(&a, FBY_MSG_WELCOME);
    rig_close(&rig);
}

/* It was charged with the memory, which the other request still needs. */
static void the_first_client_of_a_batch_may_leave_before_one_that_joined(
    void **state)
{
    struct rig rig;
    struct two two;
    rig_open_limited(&rig, state, one_by_one);
    open_two(&two, &rig);
    expect_chunk(&two.a, two.of_a, 0);
    expect_chunk(&two.b, two.of_b, 0);
    size_t first = FBY_CHUNK_PREFIX + rig.loop.works->job->chunks[0].wire_bytes;
    party_bye(&two.a);
    wire_release();
    rig_collect(&rig);
    fby_loop_peers_sweep(&rig.loop);
    struct fby_loop_peer *a = fby_loop_find_peer(&rig.loop, two.a.session);
    assert_non_null(a);
    assert_true(rig.loop.budget.charged > 0);
    assert_int_equal(
        fby_session_state(a->session).charged, rig.loop.budget.charged);
    party_credit(&two.b, first);
    expect_chunk(&two.b, two.of_b, 1);
    wire_expect(&two.b, FBY_MSG_END);
    wire_release();
    rig_collect_all(&rig);
    fby_loop_peers_sweep(&rig.loop);
    assert_null(fby_loop_find_peer(&rig.loop, two.a.session));
    assert_non_null(fby_loop_find_peer(&rig.loop, two.b.session));
    rig_close(&rig);
}

static void a_cancelled_batch_gives_its_memory_back(void **state)
{
    struct rig rig;
    struct two two;
    rig_open_limited(&rig, state, one_by_one);
    open_two(&two, &rig);
    expect_chunk(&two.a, two.of_a, 0);
    expect_chunk(&two.b, two.of_b, 0);
    party_cancel(&two.a, two.of_a);
    assert_non_null(rig.loop.works);
    party_cancel(&two.b, two.of_b);
    assert_null(rig.loop.works);
    wire_expect_nothing(&rig);
    wire_release();
    rig_collect_all(&rig);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(batches_are_sent_in_the_order_of_epochs_and_steps),
        IN_SANDBOX(header_describes_each_field),
        IN_SANDBOX(requests_that_differ_in_anything_share_no_work),
        IN_SANDBOX(the_same_rows_are_made_once),
        IN_SANDBOX(peers_take_turns),
        IN_SANDBOX(bytes_in_flight_do_not_change),
        IN_SANDBOX(a_chunk_no_longer_in_flight_is_not_copied),
        IN_SANDBOX(the_same_request_is_sent_again_in_place),
        IN_SANDBOX(a_first_request_is_sent_the_prefixes_of_the_encode_thread),
        IN_SANDBOX(an_encode_thread_copies_the_chunks_of_a_later_request),
        IN_SANDBOX(an_encode_thread_writes_a_prefix_in_place),
        IN_SANDBOX(a_new_route_is_not_sent_the_copies_for_the_last),
        IN_SANDBOX(a_client_may_leave_while_its_chunks_are_copied),
        IN_SANDBOX(end_reports_the_time_of_each_stage),
        IN_SANDBOX(end_names_the_samples_of_a_batch_of_buckets),
        IN_SANDBOX(a_chunk_that_cannot_be_copied_waits_until_it_can_be_sent),
        IN_SANDBOX(a_request_that_waits_for_memory_can_be_cancelled),
        IN_SANDBOX(cancelling_another_request_leaves_the_waiting_chunk),
        IN_SANDBOX(a_client_that_leaves_while_a_chunk_waits_is_sent_no_more),
        IN_SANDBOX(a_new_route_does_not_begin_with_the_waiting_chunk),
        IN_SANDBOX(a_send_that_fails_at_any_part_loses_the_route_alone),
        IN_SANDBOX(a_route_that_breaks_forgets_the_waiting_chunk),
        IN_SANDBOX(a_client_that_left_is_recorded_until_its_memory_is_free),
        IN_SANDBOX(
            the_first_client_of_a_batch_may_leave_before_one_that_joined),
        IN_SANDBOX(a_cancelled_batch_gives_its_memory_back),
    };
    return cmocka_run_group_tests_name("worker.deliver", tests, NULL, NULL);
}
