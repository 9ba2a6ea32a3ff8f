/* SPDX-License-Identifier: Apache-2.0 */
/* HEADER and END are trusted only if they belong to the requested batch. */
#include "trainer_client/receive/assembly.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/device_ops.h"
#include "tests/test.h"
#include "trainer_client/setup/setup.h"

enum { ROWS = 3 };

static const uint64_t numbers[ROWS] = {70, 7, 700};

struct answer {
    struct fby_content *content;
    struct fby_assembly assembly;
    struct fby_checksum sum;
    struct fby_end      end;
};

/* All chunks of three labels are there, and END is on its way. */
static void begin(struct answer *a, uint32_t n_bounds)
{
    struct fby_error_detail why = {{0}};
    *a = (struct answer){.content = fby_zalloc(sizeof(*a->content))};
    a->content->n_fields            = 1;
    a->content->global_batch        = 8;
    a->content->bucket_by.n_bounds  = n_bounds;
    a->content->fields[0].decode    = FBY_DECODE_LABEL;
    a->content->fields[0].wire_type = FBY_U16;
    strcpy(a->content->fields[0].name, "label");
    const struct fby_expected_batch expected = {
        .rows = ROWS, .content = a->content, .selected = 1};
    fby_assembly_init(&a->assembly, 1);
    assert_ok(fby_assembly_begin(&a->assembly, &expected, &why));
    a->sum =
        fby_field_checksum(&a->assembly.layout, 0, a->assembly.chunks_sent);
    a->end = (struct fby_end){.sums = &a->sum, .n_sums = 1};
}

static void done(struct answer *a)
{
    fby_assembly_fini(&a->assembly);
    free(a->content);
}

static void with_buckets_end_names_the_samples_of_the_rows(void **state)
{
    (void)state;
    struct answer           a;
    struct fby_error_detail why = {{0}};
    begin(&a, 1);
    for (size_t n = 0; n < ROWS; n++) {
        a.end.samples   = numbers;
        a.end.n_samples = n;
        assert_false(fby_assembly_accept_end(&a.assembly, &a.end, &why));
    }
    assert_string_equal(why.text, "END: 2 sample numbers, expected 3");
    a.end.n_samples = ROWS;
    assert_true(fby_assembly_accept_end(&a.assembly, &a.end, &why));
    assert_memory_equal(a.assembly.samples, numbers, sizeof(numbers));
    done(&a);
}

static void without_buckets_end_must_not_name_samples(void **state)
{
    (void)state;
    struct answer           a;
    struct fby_error_detail why = {{0}};
    begin(&a, 0);
    a.end.samples   = numbers;
    a.end.n_samples = ROWS;
    assert_false(fby_assembly_accept_end(&a.assembly, &a.end, &why));
    a.end.n_samples = 0;
    assert_true(fby_assembly_accept_end(&a.assembly, &a.end, &why));
    assert_null(a.assembly.samples);
    done(&a);
}

/* Two workers that plan other rows do not pass for equal. */
static void the_samples_are_part_of_the_compared_content(void **state)
{
    (void)state;
    struct answer  a;
    const uint64_t others[ROWS] = {70, 7, 701};
    begin(&a, 1);
    a.end.n_samples         = ROWS;
    a.end.samples           = numbers;
    struct fby_checksum one = fby_end_content_hash(&a.end);
    a.end.samples           = others;
    struct fby_checksum two = fby_end_content_hash(&a.end);
    assert_memory_not_equal(&one, &two, sizeof(one));
    done(&a);
}

/* ---- END's other parts --------------------------------------------------- */

static void every_sum_has_to_be_that_of_its_chunks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(struct fby_checksum); i++) {
        struct answer           a;
        struct fby_error_detail why = {{0}};
        begin(&a, 0);
        a.sum.bytes[i] ^= 1;
        assert_false(fby_assembly_accept_end(&a.assembly, &a.end, &why));
        assert_string_equal(
            why.text, "END: the sum of field 0 is not that of its chunks");
        a.sum.bytes[i] ^= 1;
        a.end.n_sums = 0;
        assert_false(fby_assembly_accept_end(&a.assembly, &a.end, &why));
        assert_string_equal(why.text, "END: 0 sums for 1 fields");
        a.end.n_sums = 2;
        assert_false(fby_assembly_accept_end(&a.assembly, &a.end, &why));
        a.end.n_sums = 1;
        assert_true(fby_assembly_accept_end(&a.assembly, &a.end, &why));
        done(&a);
    }
}

static struct fby_substituted bad_row(uint32_t row)
{
    return (struct fby_substituted){
        .row        = row,
        .original   = 70 + row,
        .substitute = 170 + row,
        .shard      = "a.tar",
        .key        = "0001",
        .text       = "cut short",
    };
}

static void only_rows_of_the_batch_can_be_substituted(void **state)
{
    (void)state;
    for (uint32_t row = 0; row <= ROWS + 1; row++) {
        struct answer                a;
        struct fby_error_detail      why    = {{0}};
        const struct fby_substituted rows[] = {bad_row(0), bad_row(row)};
        begin(&a, 0);
        a.content->on_bad_sample = FBY_BAD_SUBSTITUTE;
        a.end.substituted        = rows;
        a.end.n_substituted      = 2;
        assert_int_equal(
            fby_assembly_accept_end(&a.assembly, &a.end, &why), row < ROWS);
        assert_int_equal(a.assembly.n_substituted, row < ROWS ? 2 : 0);
        if (row == ROWS) {
            assert_string_equal(why.text, "END: row 3 cannot be substituted");
        }
        done(&a);
    }
}

static void no_row_can_be_substituted_where_the_content_says_fail(void **state)
{
    (void)state;
    struct answer                a;
    struct fby_error_detail      why = {{0}};
    const struct fby_substituted one = bad_row(1);
    begin(&a, 0);
    a.content->on_bad_sample = FBY_BAD_FAIL;
    a.end.substituted        = &one;
    a.end.n_substituted      = 1;
    assert_false(fby_assembly_accept_end(&a.assembly, &a.end, &why));
    assert_string_equal(why.text, "END: row 1 cannot be substituted");
    a.end.n_substituted = 0;
    assert_true(fby_assembly_accept_end(&a.assembly, &a.end, &why));
    done(&a);
}

/* Its texts live on; the next request has none of it. */
static void substitutes_are_kept_until_the_next_request(void **state)
{
    (void)state;
    struct answer           a;
    struct fby_error_detail why     = {{0}};
    char                    text[9] = "cut";
    struct fby_substituted  one     = bad_row(2);
    begin(&a, 1);
    a.content->on_bad_sample = FBY_BAD_SUBSTITUTE;
    one.text                 = text;
    a.end.substituted        = &one;
    a.end.n_substituted      = 1;
    a.end.samples            = numbers;
    a.end.n_samples          = ROWS;
    a.end.times              = (struct fby_stage_times){1, 2, 3, 4, 5};
    assert_true(fby_assembly_accept_end(&a.assembly, &a.end, &why));
    strcpy(text, "other");
    one.row             = 0;
    a.end.times.fetch   = 9;
    a.end.n_substituted = 0;
    assert_true(
        fby_assembly_accept_end(&a.assembly, &a.end, &why)); /* changes none */
    assert_int_equal(a.assembly.n_substituted, 1);
    assert_int_equal(a.assembly.substituted[0].row, 2);
    assert_int_equal(a.assembly.substituted[0].original, 72);
    assert_int_equal(a.assembly.substituted[0].substitute, 172);
    assert_string_equal(a.assembly.substituted[0].text, "cut");
    assert_string_equal(a.assembly.substituted[0].shard, "a.tar");
    assert_string_equal(a.assembly.substituted[0].key, "0001");
    assert_int_equal(a.assembly.times.fetch, 1);
    assert_int_equal(a.assembly.times.wait, 4);
    const struct fby_expected_batch again = a.assembly.expected;
    assert_ok(fby_assembly_begin(&a.assembly, &again, &why));
    assert_int_equal(a.assembly.n_substituted, 0);
    assert_null(a.assembly.samples);
    assert_int_equal(a.assembly.times.fetch, 0);
    assert_false(a.assembly.ended);
    done(&a);
}

static void assert_other_content(
    struct fby_end *end, struct fby_checksum before)
{
    struct fby_checksum after = fby_end_content_hash(end);
    assert_memory_not_equal(&before, &after, sizeof(before));
}

static void sums_and_substitutes_are_compared_too(void **state)
{
    (void)state;
    struct fby_checksum    sums[2] = {{{1}}, {{2}}};
    struct fby_substituted one     = bad_row(1);
    struct fby_end         end     = {
                    .sums = sums, .n_sums = 2, .substituted = &one, .n_substituted = 1};
    struct fby_checksum before = fby_end_content_hash(&end);
    sums[1].bytes[15]          = 1;
    assert_other_content(&end, before);
    sums[1].bytes[15] = 0;
    one.row++;
    assert_other_content(&end, before);
    one = bad_row(1);
    one.original++;
    assert_other_content(&end, before);
    one = bad_row(1);
    one.substitute++;
    assert_other_content(&end, before);
    one               = bad_row(1);
    end.n_substituted = 0;
    assert_other_content(&end, before);
    end.n_substituted         = 1;
    one.text                  = "said in other words";
    one.shard                 = "b.tar";
    end.times.fetch           = 5;
    end.wire_bytes            = 6;
    struct fby_checksum after = fby_end_content_hash(&end);
    assert_memory_equal(&before, &after, sizeof(before));
}

static void a_batch_without_rows_needs_no_layout(void **state)
{
    (void)state;
    struct answer           a;
    struct fby_error_detail why = {{0}};
    begin(&a, 0);
    struct fby_expected_batch none = a.assembly.expected;
    none.rows                      = 0;
    none.selected                  = 1U << 9; /* no such field */
    assert_ok(fby_assembly_begin(&a.assembly, &none, &why));
    none.rows = 1;
    assert_int_equal(fby_assembly_begin(&a.assembly, &none, &why), FBY_CONFIG);
    done(&a);
}

/* ---- HEADER -------------------------------------------------------------- */

static const char pipeline_text[] =
    "forebay: 1\n"
    "splits: {train: {shards: \"in1k:t-{0..3}.tar\", shuffle: full,"
    " last: drop}}\n"
    "global_batch: 24\n"
    "seed: 7\n"
    "fields:\n"
    "  image:\n"
    "    from: jpg\n"
    "    ops: [random_crop: {size: [8, 9]}]\n"
    "    device:\n"
    "      - horizontal_flip\n"
    "      - normalize: {mean: [0.1, 0.2, 0.3], std: [0.4, 0.5, 0.6]}\n"
    "      - mixup: {alpha: 0.2, label: label}\n"
    "  label: {from: cls, classes: 10, one_hot: {smoothing: 0.1}}\n"
    "  words: {from: txt, decode: text, max_length: 64, too_long: refuse}\n";

enum { IMAGE, LABEL, WORDS, FIELDS };

struct asked { /* and the HEADER that answers it */
    struct fby_setup        setup;
    struct fby_assembly     assembly;
    struct fby_header_field fields[FIELDS];
    struct fby_buffer       device; /* of the image */
    struct fby_header       header;
};

static void put_field(struct asked *a, uint32_t i)
{
    const struct fby_content       *content = &a->setup.split->content;
    const struct fby_field_content *c       = &content->fields[i];
    const struct fby_field_content *by = fby_mixing_field_of_label(content, i);
    a->fields[i]              = (struct fby_header_field){.name = c->name,
                     .encoding                                  = fby_encoding_of(c),
                     .type                                      = c->wire_type,
                     .shape                                     = c->shape,
                     .raw_bytes  = a->assembly.layout.fields[i].raw_bytes,
                     .n_chunks   = a->assembly.layout.fields[i].n_chunks,
                     .max_length = c->max_length,
                     .recipe     = {
                             .maps     = fby_field_packed_bits(c),
                             .mixed_by = by != NULL ? by->name : "",
        }};
    struct fby_recipe *recipe = &a->fields[i].recipe;
    if (fby_field_is_normalized(c)) {
        recipe->n_channels = c->shape.dims[2];
        memcpy(recipe->mean, c->as.rgb8.mean, sizeof(recipe->mean));
        memcpy(recipe->std, c->as.rgb8.std, sizeof(recipe->std));
    }
    if (c->decode == FBY_DECODE_LABEL) {
        recipe->one_hot   = c->as.label.one_hot;
        recipe->classes   = c->as.label.classes;
        recipe->smoothing = c->as.label.smoothing;
    }
}

static void ask(struct asked *a)
{
    struct fby_error_detail why     = {{0}};
    struct forebay_options  options = forebay_options();
    options.server                  = "127.0.0.1:7070";
    options.pipeline_text           = pipeline_text;
    *a                              = (struct asked){.setup = {.rank = 0}};
    if (fby_setup_init(&a->setup, &options, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    const struct fby_expected_batch expected = {
        .epoch            = 3,
        .step             = 5,
        .first_row        = 7,
        .rows             = 24,
        .content          = &a->setup.split->content,
        .request_checksum = 99,
    };
    fby_assembly_init(&a->assembly, a->setup.layout.n_chunks);
    assert_ok(fby_assembly_begin(&a->assembly, &expected, &why));
    for (uint32_t i = 0; i < FIELDS; i++) {
        put_field(a, i);
    }
    const struct fby_field_content *image = &expected.content->fields[IMAGE];
    fby_device_list_encode(image, &a->device);
    a->fields[IMAGE].recipe.device =
        (struct fby_blob){a->device.data, a->device.size};
    a->fields[IMAGE].recipe.behaviour =
        (struct fby_maybe_digest){true, fby_device_list_hash(image)};
    a->header = (struct fby_header){.epoch = 3,
        .step                              = 5,
        .first_row                         = 7,
        .rows                              = 24,
        .fields                            = a->fields,
        .n_fields                          = FIELDS,
        .request_checksum                  = 99};
}

static void asked_for(struct asked *a)
{
    fby_assembly_fini(&a->assembly);
    fby_setup_fini(&a->setup);
    fby_buffer_fini(&a->device);
}

static void assert_refused(struct asked *a, const char *text)
{
    struct fby_error_detail why = {{0}};
    assert_int_equal(
        fby_assembly_check_header(&a->assembly, &a->header, &why), FBY_PROTO);
    assert_string_equal(why.text, text);
    asked_for(a);
}

#define REFUSES(change, text)                              \
    do {                                                   \
        struct asked             a;                        \
        struct fby_header       *h     = &a.header;        \
        struct fby_header_field *image = &a.fields[IMAGE]; \
        struct fby_header_field *label = &a.fields[LABEL]; \
        struct fby_header_field *words = &a.fields[WORDS]; \
        ask(&a);                                           \
        (void)h, (void)image, (void)label, (void)words;    \
        change;                                            \
        assert_refused(&a, text);                          \
    } while (0)

static void a_header_as_asked_for_is_taken(void **state)
{
    (void)state;
    struct asked            a;
    struct fby_error_detail why = {{0}};
    ask(&a);
    assert_int_equal(
        fby_assembly_check_header(&a.assembly, &a.header, &why), FBY_OK);
    assert_int_equal(a.fields[IMAGE].recipe.n_channels, 3);
    assert_true(a.device.size > 0);
    a.fields[WORDS].recipe.classes = 5; /* of no meaning there */
    assert_int_equal(
        fby_assembly_check_header(&a.assembly, &a.header, &why), FBY_OK);
    asked_for(&a);
}

static void a_header_of_another_step_or_request_is_refused(void **state)
{
    (void)state;
    REFUSES(h->epoch++,
        "HEADER: epoch 4 step 5, 24 rows from row 7 on: not as requested");
    REFUSES(h->step--,
        "HEADER: epoch 3 step 4, 24 rows from row 7 on: not as requested");
    REFUSES(h->first_row++,
        "HEADER: epoch 3 step 5, 24 rows from row 8 on: not as requested");
    REFUSES(h->rows--,
        "HEADER: epoch 3 step 5, 23 rows from row 7 on: not as requested");
    REFUSES(h->request_checksum ^= UINT64_C(1) << 63,
        "HEADER: the worker answers another request than was sent");
    REFUSES(h->n_fields--, "HEADER: 2 fields, expected 3");
}

static void a_header_with_another_field_is_refused(void **state)
{
    (void)state;
    static const char other[] =
        "HEADER: field words has another type, encoding, shape or layout";
    REFUSES(words->name = "word", "HEADER: field 2 is word, expected words");
    REFUSES(image->name = "words", "HEADER: field 0 is words, expected image");
    REFUSES(words->type = FBY_U16, other);
    REFUSES(words->encoding = FBY_ENCODING_DENSE, other);
    REFUSES(words->shape.n_dims++, other);
    REFUSES(words->max_length++, other);
    REFUSES(words->raw_bytes--, other);
    REFUSES(words->n_chunks++, other);
    REFUSES(image->shape.dims[0]++,
        "HEADER: field image has another type, encoding, shape or layout");
    REFUSES(image->shape.dims[2]--,
        "HEADER: field image has another type, encoding, shape or layout");
}

static void a_header_with_another_recipe_is_refused(void **state)
{
    (void)state;
    static const char of_image[] =
        "HEADER: field image has another recipe than the content";
    static const char of_label[] =
        "HEADER: field label has another recipe than the content";
    static const char of_words[] =
        "HEADER: field words has another recipe than the content";
    REFUSES(image->recipe.n_channels = 0, of_image);
    REFUSES(words->recipe.n_channels = 3, of_words);
    for (int c = 0; c < 3; c++) {
        REFUSES(image->recipe.mean[c] += 0.001, of_image);
        REFUSES(image->recipe.std[c] += 0.001, of_image);
    }
    REFUSES(label->recipe.one_hot = false, of_label);
    REFUSES(label->recipe.classes++, of_label);
    REFUSES(label->recipe.smoothing = 0, of_label);
    REFUSES(label->recipe.maps = 1, of_label);
    REFUSES(label->recipe.mixed_by = "", of_label);
    REFUSES(words->recipe.mixed_by = "image", of_words);
    REFUSES(image->recipe.device.size--, of_image);
    REFUSES(image->recipe.device.size = 0, of_image);
    REFUSES(a.device.data[a.device.size - 1] ^= 1, of_image);
    REFUSES(image->recipe.behaviour.digest.bytes[31] ^= 1, of_image);
    REFUSES(words->recipe.device = image->recipe.device, of_words);
}

/* The requested ones of several fields, in their order. */
static void a_header_of_selected_fields_has_those_alone(void **state)
{
    (void)state;
    struct asked            a;
    struct fby_error_detail why = {{0}};
    ask(&a);
    struct fby_expected_batch expected = a.assembly.expected;
    expected.selected                  = 1U << LABEL | 1U << WORDS;
    assert_ok(fby_assembly_begin(&a.assembly, &expected, &why));
    a.header.fields   = a.fields + LABEL;
    a.header.n_fields = 2;
    assert_int_equal(
        fby_assembly_check_header(&a.assembly, &a.header, &why), FBY_OK);
    a.header.fields = a.fields;
    assert_refused(&a, "HEADER: field 0 is image, expected label");
}

static void a_batch_of_more_chunks_than_there_is_room_for_is_refused(
    void **state)
{
    (void)state;
    struct asked            a;
    struct fby_error_detail why = {{0}};
    ask(&a);
    const struct fby_expected_batch expected = a.assembly.expected;
    fby_assembly_fini(&a.assembly);
    fby_assembly_init(&a.assembly, FIELDS - 1);
    assert_int_equal(
        fby_assembly_begin(&a.assembly, &expected, &why), FBY_CONFIG);
    assert_string_equal(why.text, "the batch has 3 chunks, the limit is 2");
    asked_for(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_buckets_end_names_the_samples_of_the_rows),
        cmocka_unit_test(without_buckets_end_must_not_name_samples),
        cmocka_unit_test(the_samples_are_part_of_the_compared_content),
        cmocka_unit_test(every_sum_has_to_be_that_of_its_chunks),
        cmocka_unit_test(only_rows_of_the_batch_can_be_substituted),
        cmocka_unit_test(no_row_can_be_substituted_where_the_content_says_fail),
        cmocka_unit_test(substitutes_are_kept_until_the_next_request),
        cmocka_unit_test(sums_and_substitutes_are_compared_too),
        cmocka_unit_test(a_batch_without_rows_needs_no_layout),
        cmocka_unit_test(a_header_as_asked_for_is_taken),
        cmocka_unit_test(a_header_of_another_step_or_request_is_refused),
        cmocka_unit_test(a_header_with_another_field_is_refused),
        cmocka_unit_test(a_header_with_another_recipe_is_refused),
        cmocka_unit_test(a_header_of_selected_fields_has_those_alone),
        cmocka_unit_test(
            a_batch_of_more_chunks_than_there_is_room_for_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
