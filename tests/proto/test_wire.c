/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/proto/frames.h"
#include "tests/proto/golden.h"

static void every_type_has_a_golden_frame(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        struct fby_buffer frame = example_frame(example_types[i]);
        golden_equal(fby_message_name(example_types[i]), &frame);
        fby_buffer_fini(&frame);
    }
}

static void a_golden_frame_decodes_and_encodes_to_itself(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        struct fby_message m;
        struct fby_buffer  again  = {0};
        struct fby_buffer  golden = {0};
        golden_read(fby_message_name(example_types[i]), &golden);
        decode(&golden, &m);
        assert_int_equal(m.type, example_types[i]);
        encode(&m, &again);
        assert_int_equal(again.size, golden.size);
        assert_memory_equal(again.data, golden.data, golden.size);
        fby_message_fini(&m);
        fby_buffer_fini(&again);
        fby_buffer_fini(&golden);
    }
}

static void every_number_of_a_request_arrives(void **state)
{
    (void)state;
    struct fby_message m;
    struct fby_request wanted;
    struct fby_buffer  frame = example_frame(FBY_MSG_REQUEST);
    example_request(&wanted);
    decode(&frame, &m);
    assert_int_equal(m.request.session.value, wanted.session.value);
    assert_int_equal(m.request.request.value, 300);
    assert_true(fby_digest_equal(&m.request.data, &wanted.data));
    assert_int_equal(m.request.step, 1000000);
    assert_int_equal(m.request.n_choices, 2);
    assert_int_equal(m.request.choices[0].filter, FBY_FILTER_BIT_SHUFFLE);
    assert_int_equal(m.request.choices[1].codec, FBY_AUTO);
    fby_message_fini(&m);
    fby_buffer_fini(&frame);
}

static void a_recipe_arrives_bit_by_bit(void **state)
{
    (void)state;
    struct fby_message m;
    struct fby_buffer  frame = example_frame(FBY_MSG_HEADER);
    decode(&frame, &m);
    const struct fby_header_field *image = &m.header.fields[0];
    const struct fby_header_field *label = &m.header.fields[1];
    assert_string_equal(image->name, "image");
    assert_int_equal(image->shape.n_dims, 3);
    assert_int_equal(image->shape.dims[2], 3);
    assert_int_equal(image->recipe.n_channels, 3);
    assert_memory_equal(image->recipe.mean, example_fields[0].recipe.mean, 24);
    assert_memory_equal(image->recipe.std, example_fields[0].recipe.std, 24);
    assert_true(label->recipe.one_hot);
    assert_memory_equal(&label->recipe.smoothing,
        &example_fields[1].recipe.smoothing, sizeof(double));
    fby_message_fini(&m);
    fby_buffer_fini(&frame);
}

static struct fby_message *there_and_back(
    const struct fby_message *m, struct fby_message *out)
{
    struct fby_buffer frame = {0};
    encode(m, &frame);
    memset(out, 0xa5, sizeof(*out));
    decode(&frame, out);
    fby_buffer_fini(&frame);
    return out;
}

static void lists_of_any_length_arrive(void **state)
{
    (void)state;
    static const uint64_t    numbers[3] = {0, 70000, UINT64_MAX};
    static const char *const roots[3]   = {"one", "two", "three"};
    struct fby_message       m;
    struct fby_message       back;
    for (size_t n = 0; n <= 3; n++) {
        example(FBY_MSG_END, &m);
        m.end.samples   = numbers;
        m.end.n_samples = n;
        there_and_back(&m, &back);
        assert_int_equal(back.end.n_samples, n);
        assert_true(n == 0 || memcmp(back.end.samples, numbers, 8 * n) == 0);
        fby_message_fini(&back);
        example(FBY_MSG_REGISTER, &m);
        m.registration.roots = (struct fby_name_list){roots, n};
        there_and_back(&m, &back);
        assert_int_equal(back.registration.roots.n, n);
        for (size_t i = 0; i < n; i++) {
            assert_string_equal(back.registration.roots.at[i], roots[i]);
        }
        fby_message_fini(&back);
    }
}

static void choices_of_any_number_arrive(void **state)
{
    (void)state;
    struct fby_message m;
    struct fby_message back;
    for (uint32_t n = 0; n <= FBY_MAX_FIELDS; n++) {
        example(FBY_MSG_REQUEST, &m);
        m.request.fields    = 0;
        m.request.n_choices = n;
        memset(m.request.choices, 0, sizeof(m.request.choices));
        for (uint32_t i = 0; i < n; i++) {
            m.request.choices[i] =
                (struct fby_coding_choice){(uint8_t)(i % 4), 1};
        }
        there_and_back(&m, &back);
        assert_int_equal(back.request.n_choices, n);
        assert_memory_equal(
            back.request.choices, m.request.choices, sizeof(m.request.choices));
        fby_message_fini(&back);
    }
}

static void shapes_and_channels_of_any_number_arrive(void **state)
{
    (void)state;
    struct fby_message      m;
    struct fby_message      back;
    struct fby_header_field f = example_fields[0];
    for (uint32_t n = 0; n <= 4; n++) {
        f.shape             = (struct fby_shape){.n_dims = n};
        f.recipe.n_channels = 0;
        for (uint32_t i = 0; i < n; i++) {
            f.shape.dims[i] = 10 + i;
        }
        if (n == 3) {
            f.shape.dims[2]     = 1;
            f.recipe.n_channels = 1;
        }
        example(FBY_MSG_HEADER, &m);
        m.header.fields   = &f;
        m.header.n_fields = 1;
        there_and_back(&m, &back);
        const struct fby_header_field *got = &back.header.fields[0];
        assert_memory_equal(&got->shape, &f.shape, sizeof(f.shape));
        assert_int_equal(got->recipe.n_channels, f.recipe.n_channels);
        assert_memory_equal(
            got->recipe.mean, f.recipe.mean, (size_t)8 * f.recipe.n_channels);
        assert_memory_equal(
            got->recipe.std, f.recipe.std, (size_t)8 * f.recipe.n_channels);
        fby_message_fini(&back);
    }
}

static void absent_digests_arrive_as_absent(void **state)
{
    (void)state;
    struct fby_message m;
    struct fby_message back;
    for (int known = 0; known < 4; known++) {
        struct fby_maybe_digest one = example_maybe(40);
        struct fby_maybe_digest two = example_maybe(50);
        one.known                   = (known & 1) != 0;
        two.known                   = (known & 2) != 0;
        example(FBY_MSG_OPEN_FAILED, &m);
        m.open_failed.data        = one;
        m.open_failed.fingerprint = two;
        there_and_back(&m, &back);
        assert_int_equal(back.open_failed.data.known, one.known);
        assert_int_equal(back.open_failed.fingerprint.known, two.known);
        assert_true(!one.known || fby_digest_equal(&one.digest,
                                      &back.open_failed.data.digest));
        assert_true(!two.known || fby_digest_equal(&two.digest,
                                      &back.open_failed.fingerprint.digest));
        fby_message_fini(&back);
    }
}

static void members_of_one_type_are_not_mixed_up(void **state)
{
    (void)state;
    struct fby_message m;
    struct fby_message back;
    example(FBY_MSG_JOINED, &m);
    m.joined.fingerprint = example_maybe(60);
    there_and_back(&m, &back);
    assert_int_equal(back.joined.data.digest.bytes[0], 20);
    assert_int_equal(back.joined.fingerprint.digest.bytes[0], 60);
    assert_int_equal(back.joined.lease_ms, 10000);
    assert_int_equal(back.joined.heartbeat_ms, 1000);
    fby_message_fini(&back);
    example(FBY_MSG_OPEN, &m);
    m.open.fingerprint = example_maybe(70);
    there_and_back(&m, &back);
    assert_int_equal(back.open.data.digest.bytes[0], 20);
    assert_int_equal(back.open.fingerprint.digest.bytes[0], 70);
    fby_message_fini(&back);
}

static void a_message_is_appended_to_what_is_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        struct fby_message m;
        struct fby_buffer  alone  = example_frame(example_types[i]);
        struct fby_buffer  behind = {0};
        fby_put_bytes(&behind, "before", 6);
        example(example_types[i], &m);
        encode(&m, &behind);
        assert_int_equal(behind.size, 6 + alone.size);
        assert_memory_equal(behind.data, "before", 6);
        assert_memory_equal(behind.data + 6, alone.data, alone.size);
        fby_buffer_fini(&behind);
        fby_buffer_fini(&alone);
    }
}

/* An END of 1024 rows, whose keys are so long that it has `size` bytes. */
static void end_of(
    size_t size, struct fby_message *m, struct fby_substituted rows[1024])
{
    static char       longest[FBY_KEY_MAX + 1];
    struct fby_buffer frame = {0};
    memset(longest, 'x', FBY_KEY_MAX);
    for (uint32_t i = 0; i < 1024; i++) {
        rows[i] = (struct fby_substituted){
            .row = i, .shard = longest, .key = longest + 95, .text = ""};
    }
    example(FBY_MSG_END, m);
    m->end.substituted   = rows;
    m->end.n_substituted = 1024;
    encode(m, &frame);
    size_t more = size - frame.size;
    for (size_t i = 0; i < 1024; i++) {
        rows[i].key -= more / 1024 + (i < more % 1024);
    }
    fby_buffer_fini(&frame);
}

static void a_message_beyond_its_size_is_not_sent(void **state)
{
    (void)state;
    struct fby_substituted  rows[1024];
    struct fby_message      m;
    struct fby_message      back;
    struct fby_buffer       frame = {0};
    struct fby_error_detail why   = {{0}};
    end_of(FBY_MESSAGE_MAX, &m, rows);
    fby_put_bytes(&frame, "before", 6);
    assert_ok(fby_message_encode(&m, &frame, &why));
    assert_int_equal(frame.size, 6 + FBY_MESSAGE_MAX);
    assert_ok(fby_message_decode(frame.data + 6, FBY_MESSAGE_MAX, &back, &why));
    assert_string_equal(back.end.substituted[1023].key, rows[1023].key);
    fby_message_fini(&back);
    rows[1023].key--;
    frame.size = 6;
    assert_int_equal(fby_message_encode(&m, &frame, &why), FBY_USAGE);
    assert_string_equal(why.text, "END: 8388609 bytes, more than 8388608");
    assert_int_equal(frame.size, 6);
    assert_memory_equal(frame.data, "before", 6);
    fby_buffer_fini(&frame);
}

static void the_sum_of_a_request_is_golden(void **state)
{
    (void)state;
    struct fby_request r;
    uint8_t            bytes[136] = {0};
    example_request(&r);
    for (uint8_t i = 0; i < 32; i++) {
        bytes[i]      = (uint8_t)(10 + i);
        bytes[32 + i] = (uint8_t)(20 + i);
        bytes[64 + i] = (uint8_t)(30 + i);
    }
    fby_store_le(bytes + 96, 42, 8);
    fby_store_le(bytes + 104, 2, 8);
    fby_store_le(bytes + 112, 1000000, 8);
    fby_store_le(bytes + 120, 64, 4);
    fby_store_le(bytes + 124, 64, 4);
    fby_store_le(bytes + 128, 3, 8);
    assert_true(fby_request_checksum(&r) == fby_xxh3_64(bytes, sizeof(bytes)));
    assert_int_equal(fby_request_checksum(&r), UINT64_C(0x0b85a62d89930d3d));
}

static void each_member_that_is_asked_for_changes_the_sum(void **state)
{
    (void)state;
    struct fby_request base;
    uint64_t           sums[40];
    size_t             n = 0;
    example_request(&base);
    sums[n++] = fby_request_checksum(&base);
#define CHANGED(member, bit)                  \
    do {                                      \
        struct fby_request r = base;          \
        r.member ^= (bit);                    \
        sums[n++] = fby_request_checksum(&r); \
    } while (0)
    CHANGED(content.bytes[0], 1);
    CHANGED(content.bytes[31], 0x80);
    CHANGED(data.bytes[0], 1);
    CHANGED(data.bytes[31], 0x80);
    CHANGED(fingerprint.bytes[0], 1);
    CHANGED(fingerprint.bytes[31], 0x80);
    CHANGED(seed, 1);
    CHANGED(seed, UINT64_C(1) << 63);
    CHANGED(epoch, 1);
    CHANGED(epoch, UINT64_C(1) << 63);
    CHANGED(step, 1);
    CHANGED(step, UINT64_C(1) << 63);
    CHANGED(first_row, 1);
    CHANGED(first_row, UINT32_C(1) << 31);
    CHANGED(rows, 1);
    CHANGED(rows, UINT32_C(1) << 31);
    CHANGED(fields, 1);
    CHANGED(fields, UINT64_C(1) << 63);
#undef CHANGED
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_true(sums[i] != sums[k]);
        }
    }
}

static void ids_limits_and_choices_are_not_in_the_sum(void **state)
{
    (void)state;
    struct fby_request r;
    example_request(&r);
    uint64_t sum = fby_request_checksum(&r);
    r.session.value++;
    r.request.value++;
    r.max_bytes++;
    r.n_choices--;
    r.choices[0].codec ^= 1;
    assert_true(fby_request_checksum(&r) == sum);
}

static void messages_of_the_hot_path_allocate_nothing(void **state)
{
    (void)state;
    static const enum fby_message_type hot[] = {
        FBY_MSG_REQUEST, FBY_MSG_CREDIT, FBY_MSG_PING, FBY_MSG_PONG};
    for (size_t i = 0; i < sizeof(hot) / sizeof(hot[0]); i++) {
        struct fby_message m;
        struct fby_buffer  frame = example_frame(hot[i]);
        decode(&frame, &m);
        assert_null(m.owned.blocks);
        fby_message_fini(&m);
        fby_buffer_fini(&frame);
    }
}

static void a_client_message_names_its_session(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        struct fby_message    m;
        struct fby_session_id session = EXAMPLE_SESSION;
        enum fby_message_type type    = example_types[i];
        bool of_worker = type >= FBY_MSG_REGISTER && type <= FBY_MSG_DEREGISTER;
        example(type, &m);
        assert_int_equal(
            fby_message_session(&m).value, of_worker ? 0 : session.value);
    }
}

static void the_sender_makes_a_text_one_valid_line(void **state)
{
    (void)state;
    struct fby_message m;
    struct fby_message arrived;
    struct fby_buffer  frame = {0};
    char               words[FBY_TEXT_MAX + 9];
    memset(words, 'w', sizeof(words));
    memcpy(words, "two\nlines\xff", 10);
    words[sizeof(words) - 1] = '\0';
    example(FBY_MSG_UNREACHABLE, &m);
    m.unreachable.text = words;
    encode(&m, &frame);
    decode(&frame, &arrived);
    assert_int_equal(strlen(arrived.unreachable.text), FBY_TEXT_MAX);
    assert_memory_equal(arrived.unreachable.text, "two lines?www", 13);
    fby_message_fini(&arrived);
    fby_buffer_fini(&frame);
}

static void a_dataset_of_many_shards_fits(void **state)
{
    (void)state;
    enum { SHARDS = 100000 };
    struct fby_shard_info *shards = calloc(SHARDS, sizeof(*shards));
    char(*names)[24]              = calloc(SHARDS, sizeof(*names));
    struct fby_message m;
    struct fby_message arrived;
    struct fby_buffer  frame = {0};
    for (int i = 0; i < SHARDS; i++) {
        snprintf(names[i], sizeof(names[i]), "train-%06d.tar", i);
        shards[i] = (struct fby_shard_info){names[i], example_digest(0), 10000};
    }
    example(FBY_MSG_OPENED, &m);
    m.opened.shards   = shards;
    m.opened.n_shards = SHARDS;
    m.opened.samples  = UINT64_C(10000) * SHARDS;
    encode(&m, &frame);
    decode(&frame, &arrived);
    assert_int_equal(arrived.opened.n_shards, SHARDS);
    assert_string_equal(arrived.opened.shards[99999].name, "train-099999.tar");
    fby_message_fini(&arrived);
    fby_buffer_fini(&frame);
    free(names);
    free(shards);
}

static void the_names_of_classes_arrive(void **state)
{
    (void)state;
    static const char  names[] = "Ant\0b\xc3\xa9\0c c";
    struct fby_message m;
    struct fby_message arrived;
    struct fby_buffer  frame  = {0};
    struct fby_buffer  golden = {0};
    example(FBY_MSG_OPENED, &m);
    m.opened.classes = (struct fby_blob){(const uint8_t *)names, sizeof(names)};
    encode(&m, &frame);
    golden_equal("OPENED_classes", &frame);
    golden_read("OPENED_classes", &golden);
    decode(&golden, &arrived);
    assert_int_equal(arrived.opened.classes.size, sizeof(names));
    assert_memory_equal(arrived.opened.classes.data, names, sizeof(names));
    assert_int_equal(arrived.opened.n_shards, 2);
    fby_message_fini(&arrived);
    golden.size = 0;
    golden_read("OPENED", &golden); /* of a worker that sends no names */
    decode(&golden, &arrived);
    assert_int_equal(arrived.opened.classes.size, 0);
    fby_message_fini(&arrived);
    fby_buffer_fini(&golden);
    fby_buffer_fini(&frame);
}

static void what_a_busy_worker_lacks_arrives(void **state)
{
    (void)state;
    struct fby_message m;
    struct fby_message arrived;
    struct fby_buffer  frame  = {0};
    struct fby_buffer  golden = {0};
    example(FBY_MSG_BUSY, &m);
    m.busy.text = "its memory for batches (--memory) is in use";
    encode(&m, &frame);
    golden_equal("BUSY_text", &frame);
    golden_read("BUSY_text", &golden);
    decode(&golden, &arrived);
    assert_string_equal(arrived.busy.text, m.busy.text);
    assert_int_equal(arrived.busy.retry_ms, 50);
    fby_message_fini(&arrived);
    golden.size = 0;
    golden_read("BUSY", &golden); /* of a worker that sends no text */
    decode(&golden, &arrived);
    assert_string_equal(arrived.busy.text, "");
    fby_message_fini(&arrived);
    fby_buffer_fini(&golden);
    fby_buffer_fini(&frame);
}

static void the_location_of_the_classes_arrives(void **state)
{
    (void)state;
    struct fby_message m;
    struct fby_message arrived;
    struct fby_buffer  frame  = {0};
    struct fby_buffer  golden = {0};
    example(FBY_MSG_OPEN, &m);
    m.open.location         = "in1k:val";
    m.open.classes_location = "in1k:train";
    encode(&m, &frame);
    golden_equal("OPEN_classes", &frame);
    golden_read("OPEN_classes", &golden);
    decode(&golden, &arrived);
    assert_string_equal(arrived.open.location, "in1k:val");
    assert_string_equal(arrived.open.classes_location, "in1k:train");
    fby_message_fini(&arrived);
    golden.size = 0;
    golden_read("OPEN", &golden); /* of a client that names none */
    decode(&golden, &arrived);
    assert_string_equal(arrived.open.classes_location, "");
    fby_message_fini(&arrived);
    fby_buffer_fini(&golden);
    fby_buffer_fini(&frame);
}

/* Record the message as a golden frame of its own, and decode that. */
static void through_golden(
    const char *name, const struct fby_message *m, struct fby_message *arrived)
{
    struct fby_buffer frame  = {0};
    struct fby_buffer golden = {0};
    encode(m, &frame);
    golden_equal(name, &frame);
    golden_read(name, &golden);
    decode(&golden, arrived);
    fby_buffer_fini(&golden);
    fby_buffer_fini(&frame);
}

static void what_only_a_cluster_with_keys_sends_arrives(void **state)
{
    (void)state;
    struct fby_message     m;
    struct fby_message     arrived;
    struct fby_worker_info worker = example_workers[1];
    example(FBY_MSG_HELLO_FIRST, &m);
    m.hello_first.nonce    = example_maybe(50);
    m.hello_first.features = FBY_FEATURE_AES;
    through_golden("HELLO_FIRST_keys", &m, &arrived);
    assert_memory_equal(
        &arrived.hello_first.nonce.digest, &m.hello_first.nonce.digest, 32);
    assert_true(arrived.hello_first.features == FBY_FEATURE_AES);
    fby_message_fini(&arrived);

    example(FBY_MSG_REGISTER, &m);
    m.registration.secret   = example_maybe(60);
    m.registration.clock_ns = 5000000000;
    through_golden("REGISTER_keys", &m, &arrived);
    assert_true(arrived.registration.secret.known);
    assert_true(arrived.registration.clock_ns == 5000000000);
    fby_message_fini(&arrived);

    example(FBY_MSG_HEARTBEAT, &m);
    m.heartbeat.clock_ns = 6000000000;
    through_golden("HEARTBEAT_keys", &m, &arrived);
    assert_true(arrived.heartbeat.clock_ns == 6000000000);
    fby_message_fini(&arrived);

    example(FBY_MSG_WORKERS, &m);
    worker.ticket       = (struct fby_blob){(const uint8_t *)"FBYT", 4};
    worker.session_key  = example_maybe(70);
    worker.secure       = 2;
    m.workers.added     = &worker;
    m.workers.n_added   = 1;
    m.workers.removed.n = 0;
    through_golden("WORKERS_keys", &m, &arrived);
    assert_int_equal(arrived.workers.added[0].ticket.size, 4);
    assert_true(arrived.workers.added[0].session_key.known);
    assert_int_equal(arrived.workers.added[0].secure, 2);
    fby_message_fini(&arrived);
}

static void the_demand_of_a_trainer_arrives(void **state)
{
    (void)state;
    static const struct fby_pace pace = {.span_ms = 29990,
        .rows                                     = 300000,
        .wait_ms                                  = 7000,
        .fetch_ms                                 = 12000,
        .transform_ms                             = 900000,
        .encode_ms                                = 80000,
        .cpu_ms                                   = 960000};
    struct fby_message           m;
    struct fby_message           arrived;
    example(FBY_MSG_END, &m);
    m.end.times.cpu = 6000;
    through_golden("END_cpu", &m, &arrived);
    assert_true(arrived.end.times.cpu == 6000);
    fby_message_fini(&arrived);

    example(FBY_MSG_RENEW, &m);
    m.renew.pace     = pace;
    m.renew.unusable = (struct fby_instance_ids){example_gone, 2};
    through_golden("RENEW_pace", &m, &arrived);
    assert_memory_equal(&arrived.renew.pace, &pace, sizeof(pace));
    assert_int_equal(arrived.renew.unusable.n, 2);
    assert_true(arrived.renew.unusable.at[1].value == example_gone[1].value);
    fby_message_fini(&arrived);
}

/* Many short names, each in a field of its own, would unpack to more memory
 * than allowed; all names in one field do not, also in a client that does not
 * know the field (number 1000 here). */
static void many_short_names_of_classes_fit(void **state)
{
    (void)state;
    enum { CLASSES = 1000000 };
    struct fby_message arrived;
    char              *names = calloc(CLASSES, 2);
    for (size_t i = 0; i < CLASSES; i++) {
        names[2 * i] = 'a';
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct fby_buffer frame = example_frame(FBY_MSG_OPENED);
        put_block(&frame, i == 0 ? 8 : 1000, names, (size_t)2 * CLASSES);
        decode(seal(&frame), &arrived);
        assert_int_equal(arrived.opened.classes.size, i == 0 ? 2 * CLASSES : 0);
        fby_message_fini(&arrived);
        fby_buffer_fini(&frame);
    }
    free(names);
}

static void ops_of_the_device_arrive_as_they_were_sent(void **state)
{
    (void)state;
    struct fby_message      m;
    struct fby_header_field f[2];
    example(FBY_MSG_HEADER, &m);
    m.header.fields = f;
    memcpy(f, example_fields, sizeof(f));
    f[0].recipe.device = (struct fby_blob){(const uint8_t *)"list", 4};
    f[0].recipe.behaviour =
        (struct fby_maybe_digest){.known = true, .digest = example_digest(7)};
    f[1].recipe.mixed_by = "image";
    struct fby_message back;
    struct fby_buffer  frame = {0};
    encode(&m, &frame);
    decode(&frame, &back);
    const struct fby_recipe *image = &back.header.fields[0].recipe;
    assert_int_equal(image->device.size, 4);
    assert_memory_equal(image->device.data, "list", 4);
    assert_true(image->behaviour.known);
    assert_true(fby_digest_equal(
        &image->behaviour.digest, &f[0].recipe.behaviour.digest));
    assert_string_equal(image->mixed_by, "");
    assert_string_equal(back.header.fields[1].recipe.mixed_by, "image");
    fby_message_fini(&back);
    fby_buffer_fini(&frame);
}

static void a_ragged_field_arrives_with_its_max_length(void **state)
{
    (void)state;
    struct fby_message      m;
    struct fby_message      back;
    struct fby_header_field f[2];
    example(FBY_MSG_HEADER, &m);
    m.header.fields = f;
    memcpy(f, example_fields, sizeof(f));
    f[1].recipe     = (struct fby_recipe){0};
    f[1].encoding   = FBY_ENCODING_RAGGED;
    f[1].type       = FBY_F16;
    f[1].shape      = (struct fby_shape){2, {40, 3}};
    f[1].max_length = 40;
    there_and_back(&m, &back);
    assert_int_equal(back.header.fields[1].encoding, FBY_ENCODING_RAGGED);
    assert_int_equal(back.header.fields[1].max_length, 40);
    fby_message_fini(&back);
}

static void a_type_that_is_none_is_not_sent(void **state)
{
    (void)state;
    struct fby_message m;
    example(FBY_MSG_BYE, &m);
    m.type = (enum fby_message_type)200;
    assert_text_says(encode_error(&m), "200 is not a message type");
    assert_string_equal(fby_message_name(m.type), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_a_golden_frame),
        cmocka_unit_test(a_golden_frame_decodes_and_encodes_to_itself),
        cmocka_unit_test(every_number_of_a_request_arrives),
        cmocka_unit_test(a_recipe_arrives_bit_by_bit),
        cmocka_unit_test(lists_of_any_length_arrive),
        cmocka_unit_test(choices_of_any_number_arrive),
        cmocka_unit_test(shapes_and_channels_of_any_number_arrive),
        cmocka_unit_test(absent_digests_arrive_as_absent),
        cmocka_unit_test(members_of_one_type_are_not_mixed_up),
        cmocka_unit_test(a_message_is_appended_to_what_is_there),
        cmocka_unit_test(a_message_beyond_its_size_is_not_sent),
        cmocka_unit_test(the_sum_of_a_request_is_golden),
        cmocka_unit_test(each_member_that_is_asked_for_changes_the_sum),
        cmocka_unit_test(ids_limits_and_choices_are_not_in_the_sum),
        cmocka_unit_test(messages_of_the_hot_path_allocate_nothing),
        cmocka_unit_test(a_client_message_names_its_session),
        cmocka_unit_test(the_sender_makes_a_text_one_valid_line),
        cmocka_unit_test(a_dataset_of_many_shards_fits),
        cmocka_unit_test(the_names_of_classes_arrive),
        cmocka_unit_test(what_a_busy_worker_lacks_arrives),
        cmocka_unit_test(the_location_of_the_classes_arrives),
        cmocka_unit_test(what_only_a_cluster_with_keys_sends_arrives),
        cmocka_unit_test(the_demand_of_a_trainer_arrives),
        cmocka_unit_test(many_short_names_of_classes_fit),
        cmocka_unit_test(ops_of_the_device_arrive_as_they_were_sent),
        cmocka_unit_test(a_ragged_field_arrives_with_its_max_length),
        cmocka_unit_test(a_type_that_is_none_is_not_sent),
    };
    return cmocka_run_group_tests_name("proto.wire", tests, NULL, NULL);
}
