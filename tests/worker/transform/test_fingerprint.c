/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/worker/transform/pictures.h"

#include <pthread.h>

#include "pipeline/op.h"
#include "worker/transform/fingerprint.h"

static struct fby_content content;

static int clear(void **state)
{
    (void)state;
    memset(&content, 0, sizeof(content));
    return 0;
}

static struct fby_field_content *add_field(enum fby_decode decode)
{
    struct fby_field_content *field = &content.fields[content.n_fields++];
    field->decode                   = decode;
    return field;
}

static void add_op(struct fby_field_content *field, const char *name)
{
    field->ops[field->n_ops].op = fby_op_named(name);
    assert_non_null(field->ops[field->n_ops].op);
    field->n_ops++;
}

static struct fby_digest fingerprint(void)
{
    struct fby_digest       out = {{0}};
    struct fby_error_detail why = {0};
    if (fby_fingerprint(&content, &out, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    return out;
}

/* If a hash changes, raise the op's or the decoder's version. */
static void the_first_decoders_and_ops_have_the_recorded_fingerprint(
    void **state)
{
    (void)state;
    static const char recorded[] =
        "a846e9c0e1b6f2075dc338194576f911d95b703d4d6624f83e9930f554c8b215";
    char hex[65];
    for (int decode = FBY_DECODE_RGB8; decode <= FBY_DECODE_BYTES; decode++) {
        add_field((enum fby_decode)decode);
    }
    for (uint32_t id = 1; id <= FBY_OP_HORIZONTAL_FLIP; id++) {
        add_op(&content.fields[0], fby_op_by_id(id)->name);
    }
    struct fby_digest all = fingerprint();
    assert_string_equal(fby_hex(all.bytes, sizeof(all.bytes), hex), recorded);
}

/* The hashes of the decoders up to `last`, and of all ops. */
static void assert_recorded(enum fby_decode last, const char *recorded)
{
    struct fby_digest all;
    char              hex[65];
    clear(NULL);
    for (int scale = FBY_DCT_OFF; scale <= FBY_DCT_FAST; scale++) {
        struct fby_field_content *field = add_field(FBY_DECODE_RGB8);
        field->as.rgb8.dct_scale        = (enum fby_dct_scale)scale;
        field->n_from                   = 1;
        strcpy(field->from[0], "png");
    }
    for (int decode = FBY_DECODE_LABEL; decode <= (int)last; decode++) {
        add_field((enum fby_decode)decode);
    }
    for (size_t i = 0; i < fby_n_ops; i++) {
        add_op(&content.fields[i % 2], fby_ops[i]->name);
    }
    all = fingerprint();
    assert_string_equal(fby_hex(all.bytes, sizeof(all.bytes), hex), recorded);
}

static void planes_have_the_recorded_fingerprint(void **state)
{
    char hex[65];
    (void)state;
    struct fby_field_content *field = add_field(FBY_DECODE_RGB8);
    field->as.rgb8.dct_scale        = FBY_DCT_OFF;
    field->n_from                   = 1;
    strcpy(field->from[0], "png");
    struct fby_digest pixels = fingerprint();
    field->as.rgb8.yuv420    = true;
    struct fby_digest planes = fingerprint();
    assert_false(fby_digest_equal(&pixels, &planes));
    assert_string_equal(fby_hex(planes.bytes, sizeof(planes.bytes), hex),
        "768fc0a3240d47cf497304f29c726309d8c4f5802eb32bcdf888762256032f11");
}

static void all_decoders_and_ops_have_the_recorded_fingerprint(void **state)
{
    (void)state;
    assert_recorded(FBY_DECODE_MASK8,
        "448ed53198b56729f409c13d18a782394c5fa6421a25adc316b0e529cef2531a");
    assert_recorded(FBY_DECODE_ARRAY,
        "1d65cc9f9ad72889efe1e194ebc79018eac77ec1e288977e75667fc65b0df300");
}

static void bits_have_the_recorded_fingerprint(void **state)
{
    (void)state;
    static const char recorded[] =
        "b492d5279a181006c5dd350c4ffddc74c7f9a6fcc543a7902ca280cfd273bc02";
    char              hex[65];
    struct fby_digest array = {{0}};
    add_field(FBY_DECODE_ARRAY);
    array = fingerprint();
    clear(NULL);
    add_field(FBY_DECODE_ARRAY)->as.array.n_bits = 8;
    struct fby_digest bits                       = fingerprint();
    assert_false(fby_digest_equal(&array, &bits));
    add_field(FBY_DECODE_MAPS)->as.maps.n = 1;
    struct fby_digest all                 = fingerprint();
    assert_string_equal(fby_hex(all.bytes, sizeof(all.bytes), hex), recorded);
}

static void paths_into_json_have_the_recorded_fingerprint(void **state)
{
    (void)state;
    static const char recorded[] =
        "de4d8e94f070048d4f961012dc8a1a275c5b40dca46c5d043bb8e96e434ff4d5";
    char                      hex[65];
    struct fby_field_content *field = add_field(FBY_DECODE_NUMBER);
    struct fby_digest         none  = fingerprint();
    strcpy(field->as.number.key, "plain");
    struct fby_digest plain = fingerprint();
    strcpy(field->as.number.key, "a.b");
    struct fby_digest path = fingerprint();
    strcpy(field->as.number.key, "plain");
    field->as.number.pick   = FBY_PICK_RANDOM;
    struct fby_digest picks = fingerprint();
    assert_true(fby_digest_equal(&none, &plain));
    assert_false(fby_digest_equal(&none, &path));
    assert_true(fby_digest_equal(&path, &picks));
    assert_string_equal(fby_hex(path.bytes, sizeof(path.bytes), hex), recorded);
}

static void texts_in_json_have_the_recorded_fingerprint(void **state)
{
    (void)state;
    char                      hex[65];
    struct fby_field_content *field = add_field(FBY_DECODE_TEXT);
    field->max_length               = 3;
    struct fby_digest member        = fingerprint();
    strcpy(field->as.text.key, "k");
    struct fby_digest json = fingerprint();
    assert_false(fby_digest_equal(&member, &json));
    assert_string_equal(fby_hex(json.bytes, sizeof(json.bytes), hex),
        "19f460cbd6a1a32b0191804e10696ea299737adf8bc6ebc01479c258c1a74e12");
}

static void tokens_have_the_recorded_fingerprint(void **state)
{
    (void)state;
    char hex[65];
    add_field(FBY_DECODE_TOKENS);
    struct fby_digest tokens = fingerprint();
    assert_string_equal(fby_hex(tokens.bytes, sizeof(tokens.bytes), hex),
        "048ff74e0b0c7349b4720cd94808de3e6f7a1a3febffd82fea2bc10b606a8b2b");
}

static void packed_documents_have_the_recorded_fingerprint(void **state)
{
    (void)state;
    char hex[65];
    add_field(FBY_DECODE_DOCUMENTS);
    struct fby_digest packed = fingerprint();
    assert_string_equal(fby_hex(packed.bytes, sizeof(packed.bytes), hex),
        "17eebf85eda530d1bcf240b0b7151da52b3aedc3bc92e054a2c0c2a8693a98da");
    clear(NULL);
    add_field(FBY_DECODE_TOKENS)->as.tokens.packed = true;
    struct fby_digest tokens                       = fingerprint();
    assert_false(fby_digest_equal(&packed, &tokens));
}

static void parameters_names_and_order_of_fields_do_not_matter(void **state)
{
    (void)state;
    struct fby_field_content *image = add_field(FBY_DECODE_RGB8);
    add_op(image, "resize");
    add_op(image, "horizontal_flip");
    add_field(FBY_DECODE_LABEL);
    struct fby_digest before = fingerprint();
    clear(NULL);
    add_field(FBY_DECODE_LABEL);
    image = add_field(FBY_DECODE_RGB8);
    strcpy(image->name, "picture");
    add_op(image, "horizontal_flip");
    add_op(image, "resize");
    add_op(image, "resize");
    image->ops[1].params[0].n    = 1;
    image->ops[1].params[0].i[0] = 99;
    struct fby_digest after      = fingerprint();
    assert_true(fby_digest_equal(&before, &after));
}

static void sparse_rows_have_the_recorded_fingerprint(void **state)
{
    (void)state;
    char hex[65];
    add_field(FBY_DECODE_SPARSE)->max_length = 3;
    struct fby_digest sparse                 = fingerprint();
    assert_string_equal(fby_hex(sparse.bytes, sizeof(sparse.bytes), hex),
        "0fb40ab1a0b3e9aa09bb63dfb9667b374d2426a6952402d2d7c04c735b119dbd");
}

/* Normalize draws nothing, and a flip on the device is another op. */
static void ops_of_the_device_have_the_recorded_fingerprint(void **state)
{
    (void)state;
    static const char recorded[] =
        "a8db53e8551f23f082fbb9f73bf4d3a66276e6fe5dad37fa34c659a3fb06a9ad";
    char                      hex[65];
    struct fby_field_content *field     = add_field(FBY_DECODE_RGB8);
    struct fby_digest         none      = fingerprint();
    field->device[field->n_device++].op = fby_device_op_named("normalize");
    struct fby_digest normal            = fingerprint();
    assert_true(fby_digest_equal(&none, &normal));
    for (size_t i = 1; i < fby_n_device_ops; i++) {
        struct fby_digest before            = fingerprint();
        field->device[field->n_device++].op = fby_device_ops[i];
        struct fby_digest after             = fingerprint();
        assert_false(fby_digest_equal(&before, &after));
    }
    struct fby_digest all = fingerprint();
    assert_string_equal(fby_hex(all.bytes, sizeof(all.bytes), hex), recorded);
}

static void each_decoder_and_op_in_use_counts(void **state)
{
    (void)state;
    struct fby_digest seen[32];
    size_t            n = 0;
    for (int decode = FBY_DECODE_RGB8; decode <= FBY_DECODE_BYTES; decode++) {
        clear(NULL);
        add_field((enum fby_decode)decode);
        seen[n++] = fingerprint();
    }
    for (size_t i = 0; i < fby_n_ops; i++) {
        clear(NULL);
        add_op(add_field(FBY_DECODE_RGB8), fby_ops[i]->name);
        seen[n++] = fingerprint();
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_false(fby_digest_equal(&seen[i], &seen[k]));
        }
    }
}

static void rows_of_several_lengths_are_known_apart(void **state)
{
    (void)state;
    static const enum fby_decode decoders[] = {
        FBY_DECODE_NUMBER, FBY_DECODE_BYTES, FBY_DECODE_ARRAY};
    for (size_t i = 0; i < sizeof(decoders) / sizeof(decoders[0]); i++) {
        clear(NULL);
        struct fby_field_content *field = add_field(decoders[i]);
        struct fby_digest         one   = fingerprint();
        field->max_length               = 3;
        struct fby_digest several       = fingerprint();
        assert_false(fby_digest_equal(&one, &several));
    }
}

static void scaling_is_known_apart_and_off_is_as_it_was(void **state)
{
    (void)state;
    /* Tokens contain the hash: it must not change for the default. */
    static const char recorded[] =
        "8f64530a0d0c3f1e8647ee52b817a85d1f5f8aa754eec3eb1e02ed6d46e4d4af";
    struct fby_field_content *image = add_field(FBY_DECODE_RGB8);
    struct fby_digest         of[FBY_DCT_FAST + 1];
    char                      hex[65];
    for (int scale = FBY_DCT_OFF; scale <= FBY_DCT_FAST; scale++) {
        image->as.rgb8.dct_scale = (enum fby_dct_scale)scale;
        of[scale]                = fingerprint();
    }
    assert_string_equal(
        fby_hex(of[FBY_DCT_OFF].bytes, sizeof(of[0].bytes), hex), recorded);
    assert_false(fby_digest_equal(&of[FBY_DCT_OFF], &of[FBY_DCT_FAITHFUL]));
    assert_false(fby_digest_equal(&of[FBY_DCT_OFF], &of[FBY_DCT_FAST]));
    assert_false(fby_digest_equal(&of[FBY_DCT_FAST], &of[FBY_DCT_FAITHFUL]));
}

static void png_and_masks_are_known_where_they_may_come(void **state)
{
    (void)state;
    struct fby_field_content *image = add_field(FBY_DECODE_RGB8);
    struct fby_digest         jpeg  = fingerprint();
    image->n_from                   = 1;
    strcpy(image->from[0], "jpg");
    struct fby_digest named = fingerprint();
    strcpy(image->from[0], "png");
    struct fby_digest png  = fingerprint();
    image->decode          = FBY_DECODE_MASK8;
    struct fby_digest mask = fingerprint();
    assert_true(fby_digest_equal(&jpeg, &named));
    assert_false(fby_digest_equal(&jpeg, &png));
    assert_false(fby_digest_equal(&mask, &png));
    assert_false(fby_digest_equal(&mask, &jpeg));
}

static void webp_has_the_recorded_fingerprint_where_it_may_come(void **state)
{
    (void)state;
    char                      hex[65];
    struct fby_field_content *image = add_field(FBY_DECODE_RGB8);
    struct fby_digest         jpeg  = fingerprint();
    image->as.rgb8.dct_scale        = FBY_DCT_OFF;
    image->n_from                   = 1;
    strcpy(image->from[0], "webp");
    struct fby_digest webp = fingerprint();
    assert_false(fby_digest_equal(&jpeg, &webp));
    assert_string_equal(fby_hex(webp.bytes, sizeof(webp.bytes), hex),
        "d15a360a857c3116a88c3c11bd10b71c5bfa0c3648a7f362c0b2f52c02313610");
}

static void names_of_classes_have_the_recorded_fingerprint(void **state)
{
    (void)state;
    char                      hex[65];
    struct fby_field_content *label = add_field(FBY_DECODE_LABEL);
    struct fby_digest         ids   = fingerprint();
    label->as.label.names           = (struct fby_name_range){.n = 2};
    struct fby_digest names         = fingerprint();
    assert_false(fby_digest_equal(&ids, &names));
    assert_string_equal(fby_hex(names.bytes, sizeof(names.bytes), hex),
        "830b0aef93f82976d4cd780357c4254748d0a95be1228b11fdd67c5d41d24c99");
}

static void what_this_worker_lacks_is_refused_by_name(void **state)
{
    (void)state;
    static const struct fby_op foreign = {.name = "solarize"};
    struct fby_digest          out     = {{0}};
    struct fby_error_detail    why     = {0};
    struct fby_field_content  *field   = add_field(FBY_DECODE_RGB8);
    field->ops[field->n_ops++].op      = &foreign;
    assert_int_equal(fby_fingerprint(&content, &out, &why), FBY_USAGE);
    assert_non_null(strstr(why.text, "solarize"));
    clear(NULL);
    add_field((enum fby_decode)99);
    assert_int_equal(fby_fingerprint(&content, &out, &why), FBY_USAGE);
    assert_non_null(strstr(why.text, "kind 99"));
}

static void *take_fingerprint(void *out)
{
    *(struct fby_digest *)out = fingerprint();
    return NULL;
}

static void threads_that_ask_at_once_hear_the_same(void **state)
{
    (void)state;
    pthread_t         threads[4];
    struct fby_digest digests[4];
    add_op(add_field(FBY_DECODE_RGB8), "resize");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, take_fingerprint, &digests[i]),
            0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(fby_digest_equal(&digests[0], &digests[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(threads_that_ask_at_once_hear_the_same, clear),
        cmocka_unit_test_setup(
            the_first_decoders_and_ops_have_the_recorded_fingerprint, clear),
        cmocka_unit_test_setup(planes_have_the_recorded_fingerprint, clear),
        cmocka_unit_test_setup(
            all_decoders_and_ops_have_the_recorded_fingerprint, clear),
        cmocka_unit_test_setup(bits_have_the_recorded_fingerprint, clear),
        cmocka_unit_test_setup(
            texts_in_json_have_the_recorded_fingerprint, clear),
        cmocka_unit_test_setup(tokens_have_the_recorded_fingerprint, clear),
        cmocka_unit_test_setup(
            sparse_rows_have_the_recorded_fingerprint, clear),
        cmocka_unit_test_setup(
            packed_documents_have_the_recorded_fingerprint, clear),
        cmocka_unit_test_setup(
            paths_into_json_have_the_recorded_fingerprint, clear),
        cmocka_unit_test_setup(
            parameters_names_and_order_of_fields_do_not_matter, clear),
        cmocka_unit_test_setup(
            ops_of_the_device_have_the_recorded_fingerprint, clear),
        cmocka_unit_test_setup(each_decoder_and_op_in_use_counts, clear),
        cmocka_unit_test_setup(rows_of_several_lengths_are_known_apart, clear),
        cmocka_unit_test_setup(
            scaling_is_known_apart_and_off_is_as_it_was, clear),
        cmocka_unit_test_setup(
            png_and_masks_are_known_where_they_may_come, clear),
        cmocka_unit_test_setup(
            webp_has_the_recorded_fingerprint_where_it_may_come, clear),
        cmocka_unit_test_setup(
            names_of_classes_have_the_recorded_fingerprint, clear),
        cmocka_unit_test_setup(
            what_this_worker_lacks_is_refused_by_name, clear),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.fingerprint", tests, NULL, NULL);
}
