/* SPDX-License-Identifier: Apache-2.0 */
/* The rules between members of a message, each at its limit: the last valid
 * value and the first invalid value. */
#include "tests/proto/frames.h"

static void versions_are_a_range(void **state)
{
    (void)state;
    struct fby_message m;
    example(FBY_MSG_HELLO, &m);
    m.hello.version_min = 2;
    m.hello.version_max = 5;
    assert_string_equal(encode_error(&m), "");
    m.hello.version_min = 5;
    assert_string_equal(encode_error(&m), "");
    m.hello.version_min = 6;
    assert_string_equal(
        encode_error(&m), "HELLO: version_min 6 is above version_max 5");
    example(FBY_MSG_REFUSED, &m);
    m.refused.version_min = 2;
    m.refused.version_max = 5;
    assert_string_equal(encode_error(&m), "");
    m.refused.version_min = 6;
    assert_string_equal(
        encode_error(&m), "REFUSED: version_min 6 is above version_max 5");
}

static void each_end_of_a_range_of_versions_arrives(void **state)
{
    (void)state;
    struct fby_message m;
    struct fby_message again;
    struct fby_buffer  frame = {0};
    example(FBY_MSG_HELLO, &m);
    m.hello.version_min = 2;
    m.hello.version_max = 5;
    encode(&m, &frame);
    decode(&frame, &again);
    assert_int_equal(again.hello.version_min, 2);
    assert_int_equal(again.hello.version_max, 5);
    fby_message_fini(&again);
    frame.size = 0;
    example(FBY_MSG_REFUSED, &m);
    m.refused.version_min = 3;
    m.refused.version_max = 4;
    encode(&m, &frame);
    decode(&frame, &again);
    assert_int_equal(again.refused.version_min, 3);
    assert_int_equal(again.refused.version_max, 4);
    fby_message_fini(&again);
    fby_buffer_fini(&frame);
}

static const char *scan_error(uint32_t done, uint32_t total)
{
    struct fby_message m;
    example(FBY_MSG_SCANNING, &m);
    m.scanning.shards_done  = done;
    m.scanning.shards_total = total;
    return encode_error(&m);
}

static void no_more_shards_are_done_than_there_are(void **state)
{
    (void)state;
    assert_string_equal(scan_error(0, 1), "");
    assert_string_equal(scan_error(1, 1), "");
    assert_string_equal(scan_error(1000, 1000), "");
    assert_string_equal(scan_error(2, 1), "SCANNING: 2 of 1 shards done");
    assert_string_equal(scan_error(5, 0), ""); /* not known */
}

static const char *shards_error(
    const char *a, const char *b, const char *c, uint64_t samples)
{
    struct fby_message    m;
    struct fby_shard_info shards[3] = {{.name = a, .samples = UINT32_MAX},
        {.name = b, .samples = 7}, {.name = c, .samples = 80}};
    example(FBY_MSG_OPENED, &m);
    m.opened.shards   = shards;
    m.opened.n_shards = 3;
    m.opened.samples  = samples;
    return encode_error(&m);
}

static void samples_are_those_of_all_shards(void **state)
{
    (void)state;
    const uint64_t right = UINT64_C(4294967295) + 87;
    assert_string_equal(shards_error("a", "b", "c", right), "");
    assert_string_equal(shards_error("a", "b", "c", right - 1),
        "OPENED: 4294967381 samples, but the shards have 4294967382");
    assert_string_equal(shards_error("a", "b", "c", right + 1),
        "OPENED: 4294967383 samples, but the shards have 4294967382");
    assert_string_equal(shards_error("a", "b", "c", 80),
        "OPENED: 80 samples, but the shards have 4294967382");
}

static void names_of_shards_ascend(void **state)
{
    (void)state;
    const uint64_t    sum = UINT64_C(4294967295) + 87;
    static const char second[] =
        "OPENED: shard 1: names must ascend in byte order";
    static const char third[] =
        "OPENED: shard 2: names must ascend in byte order";
    assert_string_equal(shards_error("a", "a", "c", sum), second);
    assert_string_equal(shards_error("b", "a", "c", sum), second);
    assert_string_equal(shards_error("a", "b", "b", sum), third);
    assert_string_equal(shards_error("a", "b", "a", sum), third);
    assert_string_equal(shards_error("B", "a", "\xc3\xa9", sum), "");
    assert_string_equal(shards_error("a", "B", "c", sum), second);
}

static void an_empty_dataset_has_no_samples(void **state)
{
    (void)state;
    struct fby_message m;
    example(FBY_MSG_OPENED, &m);
    m.opened.n_shards = 0;
    assert_string_equal(
        encode_error(&m), "OPENED: 1024 samples, but the shards have 0");
    m.opened.samples = 0;
    assert_string_equal(encode_error(&m), "");
}

/* Encoding and decoding give the same error. */
static const char *classes_error(const char *names, size_t size)
{
    static char        sent[sizeof(((struct fby_error_detail *)0)->text)];
    struct fby_message m;
    struct fby_buffer  frame = example_frame(FBY_MSG_OPENED);
    example(FBY_MSG_OPENED, &m);
    m.opened.classes = (struct fby_blob){(const uint8_t *)names, size};
    snprintf(sent, sizeof(sent), "%s", encode_error(&m));
    put_block(&frame, 8, names, size);
    assert_string_equal(decode_error(seal(&frame)), sent);
    fby_buffer_fini(&frame);
    return sent;
}

#define REFUSED_CLASS(id)                                                     \
    "OPENED: class " #id ": expected a name in UTF-8, 1 to 255 bytes, and a " \
    "NUL"

static void names_of_classes_are_utf8_and_end_with_a_nul(void **state)
{
    (void)state;
    char longest[3 + 257] = "a\0";
    memset(longest + 2, 'x', 256);
    assert_string_equal(classes_error("", 0), "");
    assert_string_equal(classes_error("a", 2), "");
    assert_string_equal(classes_error("a\0\xc3\xa9\0a", 7), "");
    assert_string_equal(classes_error("", 1), REFUSED_CLASS(0));
    assert_string_equal(classes_error("a", 1), REFUSED_CLASS(0));
    assert_string_equal(classes_error("a\0b", 3), REFUSED_CLASS(1));
    assert_string_equal(classes_error("a\0\0b", 5), REFUSED_CLASS(1));
    assert_string_equal(classes_error("a\0b\0", 5), REFUSED_CLASS(2));
    assert_string_equal(classes_error("\xff", 2), REFUSED_CLASS(0));
    assert_string_equal(classes_error("a\0\xc3\0\xa9", 6), REFUSED_CLASS(1));
    assert_string_equal(classes_error(longest, 2 + 257), REFUSED_CLASS(1));
    longest[2 + 255] = '\0';
    assert_string_equal(classes_error(longest, 2 + 256), "");
}

static const char *rows_error(uint32_t first, uint32_t rows)
{
    struct fby_message m;
    example(FBY_MSG_REQUEST, &m);
    m.request.first_row = first;
    m.request.rows      = rows;
    return encode_error(&m);
}

static const char *header_rows_error(uint32_t first, uint32_t rows)
{
    struct fby_message m;
    example(FBY_MSG_HEADER, &m);
    m.header.first_row = first;
    m.header.rows      = rows;
    return encode_error(&m);
}

static void rows_end_with_the_largest_batch(void **state)
{
    (void)state;
    assert_string_equal(rows_error(0, 65536), "");
    assert_string_equal(rows_error(65535, 1), "");
    assert_string_equal(rows_error(65000, 536), "");
    assert_string_equal(rows_error(65000, 537),
        "REQUEST: 537 rows from 65000 on: more than 65536");
    assert_string_equal(
        rows_error(1, 65536), "REQUEST: 65536 rows from 1 on: more than 65536");
    assert_string_equal(
        rows_error(0, 0), "REQUEST.rows: expected a number from 1 to 65536");
    assert_string_equal(header_rows_error(0, 65536), "");
    assert_string_equal(header_rows_error(65535, 1), "");
    assert_string_equal(header_rows_error(65000, 536), "");
    assert_string_equal(header_rows_error(65000, 537),
        "HEADER: 537 rows from 65000 on: more than 65536");
}

static const char *choices_error(uint64_t fields, uint32_t n)
{
    struct fby_message m;
    example(FBY_MSG_REQUEST, &m);
    m.request.fields    = fields;
    m.request.n_choices = n;
    for (uint32_t i = 0; i < n; i++) {
        m.request.choices[i] = (struct fby_coding_choice){FBY_AUTO, FBY_AUTO};
    }
    return encode_error(&m);
}

static void each_chosen_field_has_a_choice_or_none_has(void **state)
{
    (void)state;
    assert_string_equal(choices_error(0, 0), "");
    assert_string_equal(choices_error(0, 1), "");
    assert_string_equal(choices_error(0, 32), "");
    assert_string_equal(choices_error(1, 0), "");
    assert_string_equal(choices_error(1, 1), "");
    assert_string_equal(
        choices_error(1, 2), "REQUEST: 1 fields, but 2 choices");
    assert_string_equal(choices_error(0xffffffff, 0), "");
    assert_string_equal(choices_error(0xffffffff, 32), "");
    assert_string_equal(
        choices_error(0xffffffff, 31), "REQUEST: 32 fields, but 31 choices");
    assert_string_equal(choices_error(UINT64_C(0x80000001), 2), "");
}

static void every_choice_is_a_pair(void **state)
{
    (void)state;
    struct fby_message m;
    for (uint32_t i = 0; i < 3; i++) {
        example(FBY_MSG_REQUEST, &m);
        m.request.fields    = 0;
        m.request.n_choices = 3;
        m.request.choices[2] =
            (struct fby_coding_choice){FBY_FILTER_NONE, FBY_CODEC_STORE};
        assert_string_equal(encode_error(&m), "");
        m.request.choices[i] = (struct fby_coding_choice){5, FBY_CODEC_STORE};
        assert_string_equal(encode_error(&m),
            "REQUEST: filter 5 and codec 0 are unknown, or cannot be combined");
    }
    static const struct fby_coding_choice wrong[] = {{99, FBY_CODEC_STORE},
        {FBY_FILTER_PHOTO, FBY_CODEC_LZ4}, {FBY_AUTO, 3},
        {FBY_FILTER_DELTA, FBY_CODEC_PACK}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        example(FBY_MSG_REQUEST, &m);
        m.request.choices[1] = wrong[i];
        assert_text_says(
            encode_error(&m), "are unknown, or cannot be combined");
    }
    example(FBY_MSG_REQUEST, &m); /* the third is not one of its choices */
    m.request.choices[2] = (struct fby_coding_choice){99, 99};
    assert_string_equal(encode_error(&m), "");
}

/* ---- fields of a header -------------------------------------------------- */

static struct fby_header_field image(void)
{
    return example_fields[0];
}

static struct fby_header_field label(void)
{
    return example_fields[1];
}

/* The error for a header whose only field is `f`, without its prefix. */
static const char *field_error(struct fby_header_field f)
{
    struct fby_message m;
    example(FBY_MSG_HEADER, &m);
    m.header.fields   = &f;
    m.header.n_fields = 1;
    char start[80];
    int  n = snprintf(start, sizeof(start), "HEADER: field %s: ", f.name);
    const char *text = encode_error(&m);
    return strncmp(text, start, (size_t)n) == 0 ? text + n : text;
}

static void std_is_above_0_in_each_channel(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        struct fby_header_field f = image();
        f.recipe.std[i]           = 0;
        assert_string_equal(field_error(f), "std must be above 0");
        f.recipe.std[i] = -1;
        assert_string_equal(field_error(f), "std must be above 0");
        f.recipe.std[i] = 1e-300;
        assert_string_equal(field_error(f), "");
    }
    struct fby_header_field f = image();
    f.recipe.std[3]           = -1; /* no channel of it */
    assert_string_equal(field_error(f), "");
}

static void mean_and_std_are_of_the_channels_of_a_u8_image(void **state)
{
    (void)state;
    static const char wrong[] =
        "mean and std belong to the channels of a u8 image";
    struct fby_header_field f = image();
    f.shape                   = (struct fby_shape){3, {8, 8, 4}};
    assert_string_equal(field_error(f), wrong);
    f.shape = (struct fby_shape){3, {3, 3, 2}};
    assert_string_equal(field_error(f), wrong);
    f.shape = (struct fby_shape){2, {8, 3}};
    assert_string_equal(field_error(f), wrong);
    f.shape = (struct fby_shape){4, {8, 8, 3, 3}};
    assert_string_equal(field_error(f), wrong);
    f.shape = (struct fby_shape){3, {8, 8, 3}};
    f.type  = FBY_U16;
    assert_string_equal(field_error(f), wrong);
    f.recipe.n_channels = 0;
    assert_string_equal(field_error(f), "");
    f.type              = FBY_U8;
    f.shape             = (struct fby_shape){3, {8, 8, 1}};
    f.recipe.n_channels = 1;
    assert_string_equal(field_error(f), "");
    f.type = FBY_U16;
    assert_string_equal(field_error(f), wrong);
}

static void one_hot_needs_a_label_and_classes(void **state)
{
    (void)state;
    static const char wrong[] =
        "one-hot needs a label and its number of classes";
    struct fby_header_field f = label();
    f.recipe.classes          = 0;
    assert_string_equal(field_error(f), wrong);
    f.recipe.classes = 1;
    assert_string_equal(field_error(f), "");
    f.encoding = FBY_ENCODING_DENSE;
    assert_string_equal(field_error(f), wrong);
    f.recipe = (struct fby_recipe){.classes = 0};
    assert_string_equal(field_error(f), "");
}

static void smoothing_is_0_to_below_1_and_of_one_hot(void **state)
{
    (void)state;
    static const char wrong[] =
        "smoothing must be 0 or more, below 1, and needs one-hot";
    struct fby_header_field f = label();
    f.recipe.smoothing        = 0;
    assert_string_equal(field_error(f), "");
    f.recipe.smoothing = 0.9999999;
    assert_string_equal(field_error(f), "");
    f.recipe.smoothing = 1;
    assert_string_equal(field_error(f), wrong);
    f.recipe.smoothing = -1e-9;
    assert_string_equal(field_error(f), wrong);
    f.recipe.one_hot   = false;
    f.recipe.smoothing = 0;
    assert_string_equal(field_error(f), "");
    f.recipe.smoothing = 0.1;
    assert_string_equal(field_error(f), wrong);
}

static void ops_of_the_device_have_a_behaviour_and_a_u8_image(void **state)
{
    (void)state;
    static const char wrong[] =
        "ops of the device and a behaviour need each other, and a u8 image";
    struct fby_header_field f = image();
    f.recipe.behaviour.known  = true;
    assert_string_equal(field_error(f), wrong);
    f.recipe.device = (struct fby_blob){(const uint8_t *)"l", 1};
    assert_string_equal(field_error(f), "");
    f.recipe.behaviour.known = false;
    assert_string_equal(field_error(f), wrong);
    f.recipe.behaviour.known = true;
    f.recipe.n_channels      = 0;
    f.type                   = FBY_U16;
    assert_string_equal(field_error(f), wrong);
    f.type  = FBY_U8;
    f.shape = (struct fby_shape){2, {8, 3}};
    assert_string_equal(field_error(f), wrong);
    f.recipe.device          = (struct fby_blob){0};
    f.recipe.behaviour.known = false;
    assert_string_equal(field_error(f), "");
    f                        = label();
    f.recipe.device          = (struct fby_blob){(const uint8_t *)"l", 1};
    f.recipe.behaviour.known = true;
    assert_string_equal(field_error(f), wrong);
}

static void only_one_hot_labels_are_mixed(void **state)
{
    (void)state;
    struct fby_header_field f = label();
    f.recipe.mixed_by         = "i";
    assert_string_equal(field_error(f), "");
    f.recipe.one_hot   = false;
    f.recipe.smoothing = 0;
    assert_string_equal(field_error(f), "only one-hot labels are mixed");
    f.recipe.mixed_by = "";
    assert_string_equal(field_error(f), "");
    f.recipe.mixed_by = NULL;
    assert_string_equal(field_error(f), "");
    f                 = image();
    f.recipe.mixed_by = "label";
    assert_string_equal(field_error(f), "only one-hot labels are mixed");
}

static void a_label_is_one_small_number(void **state)
{
    (void)state;
    for (uint32_t type = FBY_U8; type <= FBY_U32; type++) {
        struct fby_header_field f = label();
        f.type                    = (enum fby_type)type;
        bool fits = type == FBY_U8 || type == FBY_U16 || type == FBY_U32;
        assert_string_equal(
            field_error(f), fits ? "" : "a label is a single u8, u16 or u32");
        f.shape = (struct fby_shape){1, {1}};
        assert_string_equal(
            field_error(f), "a label is a single u8, u16 or u32");
    }
}

static struct fby_header_field bits(uint32_t maps, uint32_t bytes)
{
    return (struct fby_header_field){.name = "mask",
        .encoding                          = FBY_ENCODING_BITS,
        .type                              = FBY_U8,
        .shape                             = {3, {9, 2, bytes}},
        .raw_bytes                         = 1,
        .n_chunks                          = 1,
        .recipe                            = {.maps = maps}};
}

static void bits_have_a_byte_for_every_8_maps(void **state)
{
    (void)state;
    static const char wrong[] = "bits are u8, a byte for every 8 maps";
    for (uint32_t maps = 1; maps <= 32; maps++) {
        uint32_t bytes = (maps + 7) / 8;
        assert_string_equal(field_error(bits(maps, bytes)), "");
        assert_string_equal(field_error(bits(maps, bytes + 1)), wrong);
    }
    assert_string_equal(field_error(bits(0, 1)), wrong);
    assert_string_equal(field_error(bits(9, 1)), wrong);
    assert_string_equal(field_error(bits(UINT32_MAX, 1 << 29)), "");
    struct fby_header_field f = bits(8, 1);
    f.type                    = FBY_U16;
    assert_string_equal(field_error(f), wrong);
    f       = bits(8, 1);
    f.shape = (struct fby_shape){1, {1}};
    assert_string_equal(field_error(f), "");
    f.shape = (struct fby_shape){0, {1}};
    assert_string_equal(field_error(f), wrong);
    f          = bits(8, 1);
    f.encoding = FBY_ENCODING_DENSE;
    assert_string_equal(field_error(f), "only bits have a number of maps");
}

static void planes_are_of_a_picture_in_u8(void **state)
{
    (void)state;
    static const char       wrong[] = "yuv420 is a picture, u8 [h, w, 3]";
    struct fby_header_field f       = image();
    f.encoding                      = FBY_ENCODING_YUV420;
    assert_string_equal(field_error(f), "");
    f.recipe = (struct fby_recipe){0};
    assert_string_equal(field_error(f), "");
    f.type = FBY_U16;
    assert_string_equal(field_error(f), wrong);
    f.type  = FBY_U8;
    f.shape = (struct fby_shape){3, {3, 3, 1}};
    assert_string_equal(field_error(f), wrong);
    f.shape = (struct fby_shape){2, {8, 3, 3}};
    assert_string_equal(field_error(f), wrong);
    f.shape = (struct fby_shape){4, {8, 8, 3, 3}};
    assert_string_equal(field_error(f), wrong);
}

static struct fby_header_field rows_of(
    enum fby_encoding encoding, struct fby_shape shape, uint32_t max_length)
{
    return (struct fby_header_field){.name = "rows",
        .encoding                          = encoding,
        .type                              = FBY_F32,
        .shape                             = shape,
        .raw_bytes                         = 1,
        .n_chunks                          = 1,
        .max_length                        = max_length};
}

static void a_sparse_row_has_at_most_the_values_of_its_shape(void **state)
{
    (void)state;
    static const char wrong[]      = "a sparse field needs a max_length, and a "
                                     "shape of as many values or more";
    const enum fby_encoding sparse = FBY_ENCODING_SPARSE;
    const struct fby_shape  six    = {2, {2, 3}};
    assert_string_equal(field_error(rows_of(sparse, six, 0)), wrong);
    assert_string_equal(field_error(rows_of(sparse, six, 1)), "");
    assert_string_equal(field_error(rows_of(sparse, six, 6)), "");
    assert_string_equal(field_error(rows_of(sparse, six, 7)), wrong);
    const struct fby_shape huge = {2, {65536, 65536}};
    assert_string_equal(field_error(rows_of(sparse, huge, 6)), wrong);
}

static void the_longest_of_ragged_rows_is_the_first_dimension(void **state)
{
    (void)state;
    static const char wrong[] =
        "max_length is for ragged fields, and is their first dimension";
    const enum fby_encoding ragged = FBY_ENCODING_RAGGED;
    const struct fby_shape  two    = {2, {5, 7}};
    assert_string_equal(field_error(rows_of(ragged, two, 5)), "");
    assert_string_equal(field_error(rows_of(ragged, two, 7)), wrong);
    assert_string_equal(field_error(rows_of(ragged, two, 4)), wrong);
    assert_string_equal(field_error(rows_of(ragged, two, 6)), wrong);
    assert_string_equal(field_error(rows_of(ragged, two, 0)), wrong);
    const struct fby_shape unit = {1, {1}};
    assert_string_equal(field_error(rows_of(ragged, unit, 1)), "");
    assert_string_equal(
        field_error(rows_of(FBY_ENCODING_DENSE, unit, 1)), wrong);
    const struct fby_shape none = {0};
    assert_string_equal(field_error(rows_of(ragged, none, 0)), wrong);
    assert_string_equal(field_error(rows_of(ragged, none, 40)), wrong);
    const struct fby_shape one = {1, {5}};
    assert_string_equal(field_error(rows_of(ragged, one, 5)), "");
    assert_string_equal(
        field_error(rows_of(FBY_ENCODING_DENSE, one, 5)), wrong);
    assert_string_equal(field_error(rows_of(FBY_ENCODING_DENSE, one, 0)), "");
}

static void names_of_fields_ascend(void **state)
{
    (void)state;
    struct fby_message       m;
    struct fby_header_field  f[3]       = {label(), label(), label()};
    static const char *const wrong[][3] = {
        {"b", "a", "c"}, {"a", "a", "c"}, {"a", "c", "b"}, {"a", "b", "b"}};
    static const char *const named[] = {"a", "a", "b", "b"};
    example(FBY_MSG_HEADER, &m);
    m.header.fields   = f;
    m.header.n_fields = 3;
    for (size_t i = 0; i < 4; i++) {
        char expected[80];
        for (size_t k = 0; k < 3; k++) {
            f[k].name = wrong[i][k];
        }
        snprintf(expected, sizeof(expected),
            "HEADER: field %s: names must ascend in byte order", named[i]);
        assert_string_equal(encode_error(&m), expected);
    }
    f[2].name = "c";
    assert_string_equal(encode_error(&m), "");
}

/* ---- the end, and joining ------------------------------------------------ */

static void substituted_rows_ascend(void **state)
{
    (void)state;
    struct fby_message     m;
    struct fby_substituted rows[3] = {
        example_substituted[0], example_substituted[0], example_substituted[0]};
    example(FBY_MSG_END, &m);
    m.end.substituted   = rows;
    m.end.n_substituted = 3;
    rows[0].row         = 0;
    rows[1].row         = 1;
    rows[2].row         = 2;
    assert_string_equal(encode_error(&m), "");
    rows[2].row = 1;
    assert_string_equal(
        encode_error(&m), "END: substituted row 1: rows must ascend");
    rows[2].row = 0;
    assert_string_equal(
        encode_error(&m), "END: substituted row 0: rows must ascend");
    rows[2].row = 65535;
    rows[1].row = 0;
    assert_string_equal(
        encode_error(&m), "END: substituted row 0: rows must ascend");
}

static const char *rank_error(uint32_t rank, uint32_t world)
{
    struct fby_message m;
    example(FBY_MSG_JOIN, &m);
    m.join.rank  = rank;
    m.join.world = world;
    return encode_error(&m);
}

static void a_rank_lies_in_its_world(void **state)
{
    (void)state;
    assert_string_equal(rank_error(0, 1), "");
    assert_string_equal(rank_error(1, 1), "JOIN: rank 1 of a world of 1");
    assert_string_equal(rank_error(65535, 65536), "");
    assert_string_equal(rank_error(4, 3), "JOIN: rank 4 of a world of 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_a_range),
        cmocka_unit_test(each_end_of_a_range_of_versions_arrives),
        cmocka_unit_test(no_more_shards_are_done_than_there_are),
        cmocka_unit_test(samples_are_those_of_all_shards),
        cmocka_unit_test(names_of_shards_ascend),
        cmocka_unit_test(an_empty_dataset_has_no_samples),
        cmocka_unit_test(names_of_classes_are_utf8_and_end_with_a_nul),
        cmocka_unit_test(rows_end_with_the_largest_batch),
        cmocka_unit_test(each_chosen_field_has_a_choice_or_none_has),
        cmocka_unit_test(every_choice_is_a_pair),
        cmocka_unit_test(std_is_above_0_in_each_channel),
        cmocka_unit_test(mean_and_std_are_of_the_channels_of_a_u8_image),
        cmocka_unit_test(one_hot_needs_a_label_and_classes),
        cmocka_unit_test(smoothing_is_0_to_below_1_and_of_one_hot),
        cmocka_unit_test(ops_of_the_device_have_a_behaviour_and_a_u8_image),
        cmocka_unit_test(only_one_hot_labels_are_mixed),
        cmocka_unit_test(a_label_is_one_small_number),
        cmocka_unit_test(bits_have_a_byte_for_every_8_maps),
        cmocka_unit_test(planes_are_of_a_picture_in_u8),
        cmocka_unit_test(a_sparse_row_has_at_most_the_values_of_its_shape),
        cmocka_unit_test(the_longest_of_ragged_rows_is_the_first_dimension),
        cmocka_unit_test(names_of_fields_ascend),
        cmocka_unit_test(substituted_rows_ascend),
        cmocka_unit_test(a_rank_lies_in_its_world),
    };
    return cmocka_run_group_tests_name("proto.rules", tests, NULL, NULL);
}
