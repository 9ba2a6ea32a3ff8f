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
    static const uint64_t    numbers[3] = {11, 22, 33};
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
        m.enroll.roots = (struct fby_names){roots, n};
        there_and_back(&m, &back);
        assert_int_equal(back.enroll.roots.n, n);
        for (size_t i = 0; i < n; i++) {
            assert_string_equal(back.enroll.roots.at[i], roots[i]);
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
            m.request.choices[i] = (struct fby_choice){(uint8_t)(i % 4), 1};
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
    struct fby_substituted rows[1024];
    struct fby_message     m;
    struct fby_message     back;
    struct fby_buffer      frame = {0};
    struct fby_why         why   = {{0}};
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
    assert_true(fby_request_sum(&r) == fby_xxh64(bytes, sizeof(bytes)));
    assert_int_equal(fby_request_sum(&r), UINT64_C(0x0b85a62d89930d3d));
}

static void each_member_that_is_asked_for_changes_the_sum(void **state)
{
    (void)state;
    struct fby_request base;
    uint64_t           sums[40];
    size_t             n = 0;
    example_request(&base);
    sums[n++] = fby_request_sum(&base);
#define CHANGED(member, bit)             \
    do {                                 \
        struct fby_request r = base;     \
        r.member ^= (bit);               \
        sums[n++] = fby_request_sum(&r); \
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

static void how_a_request_travels_is_not_in_its_sum(void **state)
{
    (void)state;
    struct fby_request r;
    example_request(&r);
    uint64_t sum = fby_request_sum(&r);
    r.session.value++;
    r.request.value++;
    r.max_bytes++;
    r.n_choices--;
    r.choices[0].codec ^= 1;
    assert_true(fby_request_sum(&r) == sum);
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

static void unknown_fields_are_passed_over(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        struct fby_message m;
        struct fby_buffer  frame = example_frame(example_types[i]);
        put_number(&frame, 1000, 5);
        put_block(&frame, 1001, "later", 5);
        decode(seal(&frame), &m);
        fby_message_fini(&m);
        fby_buffer_fini(&frame);
    }
}

static void an_unknown_type_is_refused(void **state)
{
    (void)state;
    static const int none[] = {0, 24, 31, 38, 47, 56, 255};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        struct fby_buffer b = head((enum fby_message_type)none[i]);
        put_id(&b, 1, 1);
        refused(seal(&b), "no type of message");
        fby_buffer_fini(&b);
    }
}

static void the_kind_of_a_frame_is_told_from_its_head(void **state)
{
    (void)state;
    uint8_t frame[] = {'F', 'B', 'Y', 'M', 1, 5, 0, 0};
    assert_int_equal(fby_frame_kind(frame, 8), FBY_FRAME_MESSAGE);
    assert_int_equal(fby_frame_kind(frame, 5), FBY_FRAME_MESSAGE);
    assert_int_equal(fby_frame_kind(frame, 4), FBY_FRAME_GARBAGE);
    assert_int_equal(fby_frame_kind(NULL, 0), FBY_FRAME_GARBAGE);
    frame[4] = 2;
    assert_int_equal(fby_frame_kind(frame, 8), FBY_FRAME_OTHER_VERSION);
    frame[4] = 1;
    frame[3] = 'C';
    assert_int_equal(fby_frame_kind(frame, 8), FBY_FRAME_CHUNK);
    frame[0] = 'G';
    assert_int_equal(fby_frame_kind(frame, 8), FBY_FRAME_GARBAGE);
}

static void a_head_cut_short_or_not_zeroed_is_refused(void **state)
{
    (void)state;
    struct fby_buffer frame = example_frame(FBY_MSG_PING);
    size_t            whole = frame.size;
    for (frame.size = 0; frame.size < FBY_MESSAGE_HEAD; frame.size++) {
        refused(&frame, "do not begin as a message");
    }
    frame.size    = whole;
    frame.data[6] = 1;
    refused(seal(&frame), "not 0");
    fby_buffer_fini(&frame);
}

static void a_bit_that_changes_anywhere_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        struct fby_buffer frame = example_frame(example_types[i]);
        for (size_t bit = 0; bit < 8 * frame.size; bit++) {
            struct fby_message m;
            frame.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
            assert_int_equal(
                fby_message_decode(frame.data, frame.size, &m, NULL),
                FBY_PROTO);
            frame.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
        fby_buffer_fini(&frame);
    }
}

static void a_damaged_message_is_called_so(void **state)
{
    (void)state;
    struct fby_buffer frame = example_frame(FBY_MSG_END);
    frame.data[frame.size - 1] ^= 1;
    refused(&frame, "END: damaged on its way");
    fby_buffer_fini(&frame);
}

static void a_frame_cut_anywhere_is_refused_or_still_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EXAMPLES; i++) {
        struct fby_buffer frame = example_frame(example_types[i]);
        for (size_t size = 0; size < frame.size; size++) {
            struct fby_message m;
            struct fby_buffer  again = {0};
            uint8_t           *cut   = malloc(size + 1);
            memcpy(cut, frame.data, size);
            if (size >= FBY_MESSAGE_HEAD) {
                struct fby_buffer part = {.data = cut, .size = size};
                seal(&part);
            }
            if (fby_message_decode(cut, size, &m, NULL) == FBY_OK) {
                encode(&m, &again);
                fby_message_fini(&m);
            }
            fby_buffer_fini(&again);
            free(cut);
        }
        fby_buffer_fini(&frame);
    }
}

static void ids_are_never_zero(void **state)
{
    (void)state;
    struct fby_buffer ping = head(FBY_MSG_PING);
    refused(seal(&ping), "PING.session: expected a number from 1");
    struct fby_buffer pong = head(FBY_MSG_PONG);
    put_id(&pong, 1, 1);
    put_id(&pong, 2, 1);
    put_id(&pong, 4, 0);
    refused(seal(&pong), "PONG.open: expected ids");
    fby_buffer_fini(&ping);
    fby_buffer_fini(&pong);
}

static void digests_have_their_exact_size(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 31, 33};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct fby_digest digest[2] = {{{0}}};
        struct fby_buffer b         = head(FBY_MSG_SEND_CONTENT);
        put_id(&b, 1, 1);
        put_number(&b, 2, 1);
        put_block(&b, 3, digest, sizes[i]);
        refused(seal(&b), "SEND_CONTENT.content: expected 32 bytes");
        fby_buffer_fini(&b);
    }
}

static void a_digest_may_be_absent_but_not_short(void **state)
{
    (void)state;
    struct fby_message m;
    struct fby_buffer  b = head(FBY_MSG_STALE_DATA);
    put_id(&b, 1, 1);
    put_number(&b, 2, 1);
    decode(seal(&b), &m);
    assert_false(m.stale_data.data.known);
    assert_string_equal(m.stale_data.shard, "");
    fby_message_fini(&m);
    put_block(&b, 3, "short", 5);
    refused(seal(&b), "STALE_DATA.data: expected 0 or 32 bytes");
    fby_buffer_fini(&b);
}

static void refuses_name(const char *name, size_t size)
{
    struct fby_buffer b = head(FBY_MSG_STALE_DATA);
    put_id(&b, 1, 1);
    put_number(&b, 2, 1);
    put_block(&b, 4, name, size);
    refused(seal(&b), "STALE_DATA.shard: expected UTF-8 without NUL");
    fby_buffer_fini(&b);
}

static void names_are_utf8_without_nul_and_bounded(void **state)
{
    (void)state;
    char *large = calloc(1, FBY_KEY_MAX + 1);
    memset(large, 'x', FBY_KEY_MAX + 1);
    refuses_name("a\0b", 3);
    refuses_name("\xff", 1);
    refuses_name("\xed\xa0\x80", 3);
    refuses_name(large, FBY_KEY_MAX + 1);
    free(large);
}

static void a_text_for_people_is_mended_by_the_sender(void **state)
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

static void a_text_with_control_characters_is_refused(void **state)
{
    (void)state;
    struct fby_buffer b = head(FBY_MSG_UNREACHABLE);
    put_id(&b, 1, 1);
    put_id(&b, 2, 1);
    put_block(&b, 3, "\33[2J", 4);
    refused(seal(&b), "UNREACHABLE.text: expected one line");
    fby_buffer_fini(&b);
}

static void a_short_body_cannot_claim_much_memory(void **state)
{
    (void)state;
    struct fby_buffer b = head(FBY_MSG_END);
    put_id(&b, 1, 1);
    put_number(&b, 2, 1);
    while (b.size < (1 << 20)) {
        put_block(&b, 5, NULL, 0);
    }
    refused(seal(&b), "END");
    fby_buffer_fini(&b);
}

static void a_message_beyond_its_size_is_refused(void **state)
{
    (void)state;
    struct fby_buffer b    = example_frame(FBY_MSG_PING);
    char             *fill = calloc(1, FBY_MESSAGE_SMALL);
    put_block(&b, 1000, fill, FBY_MESSAGE_SMALL);
    refused(seal(&b), "more than 65536");
    free(fill);
    fby_buffer_fini(&b);
}

static void lists_are_bounded(void **state)
{
    (void)state;
    struct fby_buffer pong = example_frame(FBY_MSG_PONG);
    for (int i = 0; i < FBY_OPEN_REQUESTS - 2; i++) {
        put_id(&pong, 4, 1);
    }
    refused(seal(&pong), "PONG.open");
    struct fby_buffer beat = example_frame(FBY_MSG_HEARTBEAT);
    for (int i = 0; i < FBY_COUNTERS_MAX - 1; i++) {
        put_block(&beat, 4, "\12\1a", 3);
    }
    refused(seal(&beat), "HEARTBEAT.counters");
    fby_buffer_fini(&pong);
    fby_buffer_fini(&beat);
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

/* Values that no table row can forbid by itself; the sender hears of them. */

static void rows_of_a_request_lie_in_a_batch(void **state)
{
    (void)state;
    struct fby_message m;
    example(FBY_MSG_REQUEST, &m);
    m.request.rows = 0;
    unsendable(&m, "REQUEST.rows");
    m.request.rows      = FBY_ROWS_MAX;
    m.request.first_row = 1;
    unsendable(&m, "rows from 1 on");
    example(FBY_MSG_REQUEST, &m);
    m.request.n_choices = 1;
    unsendable(&m, "2 fields, but 1 choices");
    example(FBY_MSG_REQUEST, &m);
    m.request.choices[1].filter = 99;
    unsendable(&m, "filter 99");
    m.request.choices[1] = (struct fby_choice){FBY_FILTER_PHOTO, FBY_CODEC_LZ4};
    unsendable(&m, "no pair");
    m.request.choices[1] = (struct fby_choice){FBY_AUTO, FBY_CODEC_PACK};
    m.request.choices[0] = (struct fby_choice){FBY_FILTER_DELTA, 2};
    unsendable(&m, "filter 1 and codec 2");
}

static void shards_ascend_and_their_samples_add_up(void **state)
{
    (void)state;
    struct fby_message    m;
    struct fby_shard_info shards[2];
    example(FBY_MSG_OPENED, &m);
    m.opened.samples++;
    unsendable(&m, "1025 samples, but the shards have 1024");
    m.opened.samples--;
    memcpy(shards, m.opened.shards, sizeof(shards));
    shards[1].name  = "a";
    m.opened.shards = shards;
    unsendable(&m, "names must ascend");
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

static void a_recipe_fits_its_field(void **state)
{
    (void)state;
    struct fby_message      m;
    struct fby_header_field f[2];
    example(FBY_MSG_HEADER, &m);
    m.header.fields = f;
    memcpy(f, example_fields, sizeof(f));
    f[0].recipe.std[1] = 0;
    unsendable(&m, "std must be above 0");
    f[0].recipe.std[1] = 1.0 / 0.0;
    unsendable(&m, "finite");
    memcpy(f, example_fields, sizeof(f));
    f[0].recipe.n_channels = 1;
    unsendable(&m, "belong to the channels");
    memcpy(f, example_fields, sizeof(f));
    f[1].recipe.classes = 0;
    unsendable(&m, "number of classes");
    memcpy(f, example_fields, sizeof(f));
    f[1].recipe.smoothing = 1;
    unsendable(&m, "smoothing");
    memcpy(f, example_fields, sizeof(f));
    f[0].recipe.mixed_by = "label";
    unsendable(&m, "only one-hot labels are mixed");
    f[0].recipe.mixed_by        = "";
    f[0].recipe.behaviour.known = true;
    unsendable(&m, "a list of the device's ops has a behaviour");
    static const uint8_t list[FBY_DEVICE_LIST_MAX + 1];
    f[0].recipe.device = (struct fby_blob){list, sizeof(list)};
    unsendable(&m, "device");
    f[0].recipe.device          = (struct fby_blob){list, 4};
    f[0].recipe.behaviour.known = false;
    unsendable(&m, "a list of the device's ops has a behaviour");
    memcpy(f, example_fields, sizeof(f));
    f[1].recipe.device          = (struct fby_blob){list, 4};
    f[1].recipe.behaviour.known = true;
    unsendable(&m, "and a u8 image");
    memcpy(f, example_fields, sizeof(f));
    f[1].shape.n_dims  = 1;
    f[1].shape.dims[0] = 2;
    unsendable(&m, "a single u8");
    memcpy(f, example_fields, sizeof(f));
    f[1].name = "hue";
    unsendable(&m, "must ascend");
    memcpy(f, example_fields, sizeof(f));
    f[1].encoding    = FBY_ENCODING_BITS;
    f[1].recipe.maps = 9;
    unsendable(&m, "one-hot needs a label");
    f[1].recipe = (struct fby_recipe){.maps = 9};
    unsendable(&m, "a byte for every 8 maps");
    f[1].type  = FBY_U8;
    f[1].shape = (struct fby_shape){1, {1}};
    unsendable(&m, "a byte for every 8 maps");
    f[1].encoding = FBY_ENCODING_DENSE;
    unsendable(&m, "only bits have a number of maps");
    f[1].recipe   = (struct fby_recipe){0};
    f[1].encoding = FBY_ENCODING_SPARSE;
    f[1].shape    = (struct fby_shape){2, {2, 3}};
    unsendable(&m, "a sparse one has a max_length");
    f[1].max_length = 7;
    unsendable(&m, "a shape of as many values or more");
    f[1].max_length = 6;
    f[1].shape      = (struct fby_shape){2, {65536, 65536}};
    unsendable(&m, "a shape of as many values or more");
}

static void rows_that_vary_say_how_long_they_may_be(void **state)
{
    (void)state;
    struct fby_message      m;
    struct fby_message      back;
    struct fby_header_field f[2];
    struct fby_buffer       frame = {0};
    static const char wrong[]     = "has a max_length, and it is the first dim";
    example(FBY_MSG_HEADER, &m);
    m.header.fields = f;
    memcpy(f, example_fields, sizeof(f));
    f[1].recipe     = (struct fby_recipe){0};
    f[1].encoding   = FBY_ENCODING_RAGGED;
    f[1].type       = FBY_F16;
    f[1].shape      = (struct fby_shape){2, {40, 3}};
    f[1].max_length = 40;
    encode(&m, &frame);
    decode(&frame, &back);
    assert_int_equal(back.header.fields[1].encoding, FBY_ENCODING_RAGGED);
    assert_int_equal(back.header.fields[1].max_length, 40);
    fby_message_fini(&back);
    fby_buffer_fini(&frame);
    f[1].max_length = 39;
    unsendable(&m, wrong);
    f[1].max_length = 0;
    unsendable(&m, wrong);
    f[1].max_length = 40;
    f[1].shape      = (struct fby_shape){0};
    unsendable(&m, wrong);
    f[1].shape    = (struct fby_shape){1, {40}};
    f[1].encoding = FBY_ENCODING_DENSE;
    unsendable(&m, wrong);
    f[1].encoding   = FBY_ENCODING_RAGGED;
    f[1].max_length = UINT32_C(33554369);
    unsendable(&m, "max_length");
}

static void numbers_that_belong_together_agree(void **state)
{
    (void)state;
    struct fby_message     m;
    struct fby_substituted rows[2];
    example(FBY_MSG_JOIN, &m);
    m.join.rank = 4;
    unsendable(&m, "rank 4 of a world of 4");
    example(FBY_MSG_HELLO, &m);
    m.hello.version_min = 2;
    unsendable(&m, "versions 2 to 1");
    example(FBY_MSG_SCANNING, &m);
    m.scanning.shards_done = 1025;
    unsendable(&m, "1025 of 1024");
    example(FBY_MSG_END, &m);
    memcpy(rows, example_substituted, sizeof(rows));
    rows[1].row       = 3;
    m.end.substituted = rows;
    unsendable(&m, "rows must ascend");
}

static void an_end_may_name_the_samples_of_its_rows(void **state)
{
    (void)state;
    const uint64_t     samples[3] = {0, 70000, UINT64_MAX};
    struct fby_message m;
    struct fby_message again;
    struct fby_buffer  frame = {0};
    struct fby_why     why   = {{0}};
    example(FBY_MSG_END, &m);
    m.end.samples   = samples;
    m.end.n_samples = 3;
    assert_ok(fby_message_encode(&m, &frame, &why));
    assert_ok(fby_message_decode(frame.data, frame.size, &again, &why));
    assert_int_equal(again.end.n_samples, 3);
    assert_memory_equal(again.end.samples, samples, sizeof(samples));
    fby_message_fini(&again);
    fby_buffer_fini(&frame);
    m.end.n_samples = FBY_ROWS_MAX + 1;
    unsendable(&m, "END.samples");
}

static void a_type_that_is_none_is_not_sent(void **state)
{
    (void)state;
    struct fby_message m;
    example(FBY_MSG_BYE, &m);
    m.type = (enum fby_message_type)200;
    unsendable(&m, "200 is no type");
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
        cmocka_unit_test(how_a_request_travels_is_not_in_its_sum),
        cmocka_unit_test(messages_of_the_hot_path_allocate_nothing),
        cmocka_unit_test(a_client_message_names_its_session),
        cmocka_unit_test(unknown_fields_are_passed_over),
        cmocka_unit_test(an_unknown_type_is_refused),
        cmocka_unit_test(the_kind_of_a_frame_is_told_from_its_head),
        cmocka_unit_test(a_head_cut_short_or_not_zeroed_is_refused),
        cmocka_unit_test(a_bit_that_changes_anywhere_is_refused),
        cmocka_unit_test(a_damaged_message_is_called_so),
        cmocka_unit_test(a_frame_cut_anywhere_is_refused_or_still_valid),
        cmocka_unit_test(ids_are_never_zero),
        cmocka_unit_test(digests_have_their_exact_size),
        cmocka_unit_test(a_digest_may_be_absent_but_not_short),
        cmocka_unit_test(names_are_utf8_without_nul_and_bounded),
        cmocka_unit_test(a_text_for_people_is_mended_by_the_sender),
        cmocka_unit_test(a_text_with_control_characters_is_refused),
        cmocka_unit_test(a_short_body_cannot_claim_much_memory),
        cmocka_unit_test(a_message_beyond_its_size_is_refused),
        cmocka_unit_test(lists_are_bounded),
        cmocka_unit_test(a_dataset_of_many_shards_fits),
        cmocka_unit_test(rows_of_a_request_lie_in_a_batch),
        cmocka_unit_test(shards_ascend_and_their_samples_add_up),
        cmocka_unit_test(ops_of_the_device_arrive_as_they_were_sent),
        cmocka_unit_test(a_recipe_fits_its_field),
        cmocka_unit_test(rows_that_vary_say_how_long_they_may_be),
        cmocka_unit_test(numbers_that_belong_together_agree),
        cmocka_unit_test(an_end_may_name_the_samples_of_its_rows),
        cmocka_unit_test(a_type_that_is_none_is_not_sent),
    };
    return cmocka_run_group_tests_name("proto.wire", tests, NULL, NULL);
}
