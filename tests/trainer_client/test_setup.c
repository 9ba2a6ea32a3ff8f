/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cores.h"
#include "trainer_client/setup/setup.h"

static const char pipeline_text[] =
    "forebay: 1\n"
    "splits: {train: {shards: \"in1k:t-{0..3}.tar\", shuffle: full,"
    " last: drop}}\n"
    "global_batch: 24\n"
    "seed: 7\n"
    "fields:\n"
    "  image: {from: jpg, decode: rgb8, dct_scale: off,\n"
    "    ops: [random_resized_crop: {size: 16}],\n"
    "    out: {dtype: bf16, layout: channels_last}}\n"
    "  label: {from: cls, classes: 10}\n";

static struct forebay_options usable(void)
{
    struct forebay_options o = forebay_options();
    o.server                 = "127.0.0.1:7070";
    o.pipeline_text          = pipeline_text;
    return o;
}

static void accepted(const struct forebay_options *o, struct fby_setup *out)
{
    struct fby_error_detail why = {""};
    *out                        = (struct fby_setup){0};
    if (fby_setup_init(out, o, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
}

static void refused(const struct forebay_options *o, const char *word)
{
    struct fby_setup        setup = {0};
    struct fby_error_detail why   = {""};
    assert_int_not_equal(fby_setup_init(&setup, o, &why), FBY_OK);
    if (strstr(why.text, word) == NULL) {
        fail_msg("'%s' lacks '%s'", why.text, word);
    }
    fby_setup_fini(&setup);
}

static void defaults_make_a_usable_setup(void **state)
{
    (void)state;
    struct forebay_options o = usable();
    struct fby_setup       setup;
    accepted(&o, &setup);
    assert_int_equal(setup.world, 1);
    assert_int_equal(setup.max_rows, 24);
    assert_int_equal(setup.n_fields, 2);
    assert_int_equal(setup.seed, 7);
    assert_int_equal(setup.layout.raw_bytes, 24 * (16 * 16 * 3 + 1));
    assert_true(setup.out_bytes >= UINT64_C(24) * (16 * 16 * 3 * 2 + 8 + 1));
    assert_non_null(strstr(setup.server, ":7070"));
    assert_int_equal(strlen(setup.job), 16);
    fby_setup_fini(&setup);
}

static void outputs_of_fields_can_be_changed(void **state)
{
    (void)state;
    struct forebay_output  output = forebay_output("image");
    struct forebay_options o      = usable();
    output.dtype                  = FOREBAY_DTYPE_F32;
    output.layout                 = FOREBAY_LAYOUT_CHW;
    struct fby_setup setup;
    o.outputs   = &output;
    o.n_outputs = 1;
    accepted(&o, &setup);
    assert_int_equal(setup.expansions[0].to, FBY_F32);
    assert_int_equal(setup.expansions[0].layout, FBY_LAYOUT_CHW);
    fby_setup_fini(&setup);
}

static void wrong_ranks_are_refused_by_name(void **state)
{
    (void)state;
    struct forebay_options o = usable();
    o.rank                   = 1;
    refused(&o, "rank 1");
    o.world = 2;
    refused(&o, "job");
    o.job = "\xff";
    refused(&o, "UTF-8");
    o.job   = "j";
    o.world = 5;
    refused(&o, "24");
}

static void wrong_names_are_refused_by_name(void **state)
{
    (void)state;
    const char *const      fields[] = {"label", "depth"};
    const char *const      none[]   = {NULL};
    struct forebay_options o        = usable();
    o.device                        = "abacus";
    refused(&o, "abacus");
    o          = usable();
    o.fields   = none;
    o.n_fields = 1;
    refused(&o, "without a name");
    o.fields   = fields;
    o.n_fields = 2;
    refused(&o, "depth");
    o       = usable();
    o.split = "test";
    refused(&o, "test");
}

static void wrong_sizes_and_texts_are_refused_by_name(void **state)
{
    (void)state;
    struct forebay_options o = usable();
    o.window_bytes           = 100;
    refused(&o, "window_bytes is 100");
    o                = usable();
    o.max_held_bytes = 100;
    refused(&o, "max_held_bytes is 100");
    o        = usable();
    o.server = NULL;
    refused(&o, "server");
    o               = usable();
    o.pipeline_path = "p.yaml";
    refused(&o, "pipeline_path");
    o       = usable();
    o.token = "fby1-nonsense";
    refused(&o, "token");
}

static void a_token_of_another_pipeline_or_seed_is_refused(void **state)
{
    (void)state;
    char                   text[FBY_TOKEN_TEXT_SIZE];
    struct forebay_options o = usable();
    struct fby_setup       setup;
    accepted(&o, &setup);
    struct fby_token token = {.content = setup.content_digest, .seed = 9};
    fby_setup_fini(&setup);
    o.token = fby_token_encode(&token, text);
    refused(&o, "the pipeline has seed: 7, but the token has seed 9: restore");
    o.has_seed = true; /* as when the run began */
    o.seed     = 9;
    accepted(&o, &setup);
    assert_int_equal(setup.seed, 9);
    fby_setup_fini(&setup);
    o.seed = 10;
    refused(&o, "seed 9");
    token.content.bytes[0] ^= 1;
    o.has_seed = false;
    fby_token_encode(&token, text);
    refused(&o, "start without a token");
}

/* The pipeline with the path of a file in place of its source; for free(). */
static char *text_of_a_path(void)
{
    static const char path[] = "/data/sets/aa.tar";
    char             *text   = strdup(pipeline_text);
    memcpy(strstr(text, "in1k:t-{0..3}.tar"), path, sizeof(path) - 1);
    return text;
}

static void the_data_is_named_without_a_colon_at_the_end(void **state)
{
    (void)state;
    struct forebay_options  o = usable();
    struct fby_setup        setup;
    static struct fby_split whole = {.location.pattern = "photos:"};
    accepted(&o, &setup);
    assert_string_equal(fby_setup_data_name(&setup).text, "in1k:t-{0..3}.tar");
    const struct fby_setup other = {.split = &whole};
    assert_string_equal(fby_setup_data_name(&other).text, "photos");
    fby_setup_fini(&setup);
}

static void plain_paths_need_a_root(void **state)
{
    (void)state;
    char                     *text = text_of_a_path();
    const struct forebay_root root = {"photos", "/data/sets"};
    struct forebay_options    o    = usable();
    struct fby_setup          setup;
    o.pipeline_text = text;
    refused(&o, "/data/sets");
    o.roots   = &root;
    o.n_roots = 1;
    accepted(&o, &setup);
    assert_string_equal(setup.location.pattern, "photos:aa.tar");
    fby_setup_fini(&setup);
    free(text);
}

static void refused_so(
    const struct forebay_options *o, fby_err err, const char *words);

static void a_root_that_only_the_numbers_of_classes_need_is_named(void **state)
{
    (void)state;
    const struct forebay_root root = {"sets", "/sets/val"};
    struct forebay_options    o    = usable();
    o.pipeline_text                = "forebay: 1\n"
                                     "splits: {train: {folder: /sets/train}, "
                                     "val: {folder: /sets/val, shuffle: none, last: pad}}\n"
                                     "global_batch: 8\n"
                                     "fields: {label: {from: folder}}\n";
    o.split                        = "val";
    o.roots                        = &root;
    o.n_roots                      = 1;
    refused_so(&o, FBY_NOT_FOUND,
        "split train numbers the classes of val (classes_from): '/sets/train' "
        "is not below any of the roots; add one to options.roots");
}

/* ---- At the edges -------------------------------------------------------- */

static void limits_may_be_reached_and_not_passed(void **state)
{
    (void)state;
    struct forebay_options o = usable();
    struct fby_setup       setup;
    accepted(&o, &setup);
    uint64_t raw = setup.layout.raw_bytes;
    uint64_t out = setup.out_bytes;
    assert_int_equal(setup.window_bytes, 256 << 20);
    assert_int_equal(setup.window_batches, 16);
    assert_int_equal(setup.max_held_bytes, 1 << 30);
    assert_int_equal(setup.open_timeout_ns, INT64_C(60000000000));
    fby_setup_fini(&setup);
    o.window_bytes = raw - 1;
    refused(&o, "raise it or make the batch smaller");
    o.window_bytes   = raw;
    o.max_held_bytes = out - 1;
    refused(&o, "max_held_bytes is");
    o.max_held_bytes = out;
    o.decode_threads = 257;
    refused(&o, "at most 256 decode_threads and 4096 window_batches");
    o.decode_threads = 256;
    o.window_batches = 4097;
    refused(&o, "at most 256 decode_threads and 4096 window_batches");
    o.window_batches  = 4096;
    o.open_timeout_ns = INT64_MAX;
    o.audit           = 5;
    accepted(&o, &setup);
    assert_int_equal(setup.decode_threads, 256);
    assert_int_equal(setup.window_batches, 4096);
    assert_int_equal(setup.open_timeout_ns, INT64_MAX / 2);
    assert_int_equal(setup.audit, 5);
    assert_int_equal(fby_setup_max_batches(&setup), 1);
    fby_setup_fini(&setup);
}

static void a_window_has_as_many_batches_as_fit(void **state)
{
    (void)state;
    struct forebay_options o = usable();
    struct fby_setup       setup;
    accepted(&o, &setup);
    uint64_t raw = setup.layout.raw_bytes;
    fby_setup_fini(&setup);
    for (uint32_t n = 1; n < 5; n++) {
        o.window_batches = 3;
        o.window_bytes   = (n + 1) * raw - 1;
        accepted(&o, &setup);
        assert_int_equal(fby_setup_max_batches(&setup), n < 3 ? n : 3);
        fby_setup_fini(&setup);
    }
}

static void a_job_has_a_name_of_1_to_255_bytes(void **state)
{
    (void)state;
    char                   name[257];
    struct forebay_options o = usable();
    struct fby_setup       setup;
    memset(name, 'j', sizeof(name) - 1);
    name[256] = '\0';
    o.job     = name;
    refused(&o, "job: a name of 1 to 255 bytes of UTF-8");
    name[255] = '\0';
    accepted(&o, &setup);
    assert_string_equal(setup.job, name);
    fby_setup_fini(&setup);
    o.job = "";
    refused(&o, "job: a name of 1 to 255 bytes of UTF-8");
    o.job   = "j";
    o.world = 4;
    o.rank  = 4;
    refused(&o, "rank 4 is not below world 4");
    o.rank = 3;
    accepted(&o, &setup);
    assert_int_equal(setup.rank, 3);
    assert_int_equal(setup.world, 4);
    assert_int_equal(setup.max_rows, 6);
    assert_int_equal(setup.layout.rows, 6);
    fby_setup_fini(&setup);
}

static void jobs_without_a_name_are_alone(void **state)
{
    (void)state;
    struct forebay_options o = usable();
    struct fby_setup       one;
    struct fby_setup       other;
    accepted(&o, &one);
    accepted(&o, &other);
    assert_string_not_equal(one.job, other.job);
    fby_setup_fini(&one);
    fby_setup_fini(&other);
}

static void all_fields_are_asked_for_as_0_and_some_by_their_bits(void **state)
{
    (void)state;
    const char *const      label = "label";
    struct forebay_options o     = usable();
    struct fby_setup       setup;
    accepted(&o, &setup);
    assert_int_equal(setup.selected, 0);
    assert_int_equal(setup.content_index[0], 0);
    assert_int_equal(setup.content_index[1], 1);
    assert_int_equal(setup.n_tensors, 2);
    assert_int_equal(setup.out_offset[0], 0);
    assert_int_equal(setup.out_offset[1], 24 * 16 * 16 * 3 * 2);
    assert_int_equal(setup.out_offset[2], setup.out_offset[1] + 192);
    assert_int_equal(setup.out_bytes, setup.out_offset[2] + 64);
    fby_setup_fini(&setup);
    o.fields   = &label;
    o.n_fields = 1;
    o.epochs   = 3;
    o.steps    = 4;
    accepted(&o, &setup);
    assert_int_equal(setup.selected, 2);
    assert_int_equal(setup.n_fields, 1);
    assert_int_equal(setup.content_index[0], 1);
    assert_int_equal(setup.layout.n_fields, 1);
    assert_int_equal(setup.layout.raw_bytes, 24);
    assert_int_equal(setup.out_bytes, 192 + 64);
    assert_int_equal(setup.epochs, 3);
    assert_int_equal(setup.steps, 4);
    fby_setup_fini(&setup);
}

static void a_seed_is_the_callers_else_the_pipelines(void **state)
{
    (void)state;
    struct forebay_options o = usable();
    struct fby_setup       setup;
    o.seed = 12; /* not said to be set */
    accepted(&o, &setup);
    assert_int_equal(setup.seed, 7);
    fby_setup_fini(&setup);
    o.has_seed = true;
    o.seed     = 0;
    accepted(&o, &setup);
    assert_int_equal(setup.seed, 0);
    fby_setup_fini(&setup);
}

/* A token says its seed, which may be said again. */
static void a_token_brings_place_and_seed(void **state)
{
    (void)state;
    char                   text[FBY_TOKEN_TEXT_SIZE];
    struct forebay_options o = usable();
    struct fby_setup       setup;
    accepted(&o, &setup);
    assert_false(setup.has_token);
    struct fby_token token = {
        .content = setup.content_digest, .seed = 9, .epoch = 4, .step = 5};
    fby_setup_fini(&setup);
    o.token    = fby_token_encode(&token, text);
    o.has_seed = true;
    o.seed     = 9;
    accepted(&o, &setup);
    assert_true(setup.has_token);
    assert_int_equal(setup.seed, 9);
    assert_int_equal(setup.token.epoch, 4);
    assert_int_equal(setup.token.step, 5);
    fby_setup_fini(&setup);
}

/* A batch's offsets of 32 bits reach 2^31 - 1 entries. */
static void offsets_of_32_bits_have_to_reach(void **state)
{
    (void)state;
    static const char many[] =
        "forebay: 1\n"
        "splits: {train: {shards: \"in1k:t-{0..3}.tar\", shuffle: full,"
        " last: drop}}\n"
        "global_batch: %u\n"
        "seed: 7\n"
        "fields:\n"
        "  words: {from: txt, decode: text, max_length: %u,\n"
        "          too_long: refuse, out: {as: ragged}}\n";
    char                   text[500];
    struct fby_setup       setup;
    struct forebay_options o = usable();
    o.pipeline_text          = text;
    o.window_bytes           = UINT64_C(1) << 40;
    o.max_held_bytes         = UINT64_C(1) << 40;
    snprintf(text, sizeof(text), many, 2048, 1048575);
    struct forebay_output output = forebay_output("words");
    output.offsets               = FOREBAY_DTYPE_I32;
    o.outputs                    = &output;
    o.n_outputs                  = 1;
    accepted(&o, &setup);
    fby_setup_fini(&setup);
    snprintf(text, sizeof(text), many, 2048, 1048576);
    refused(&o, "a batch may have 2147483648 entries");
    output.offsets = FOREBAY_DTYPE_I64;
    accepted(&o, &setup);
    fby_setup_fini(&setup);
}

static void at_most_256_roots_are_taken(void **state)
{
    (void)state;
    struct forebay_root    roots[257];
    struct forebay_options o    = usable();
    char                  *text = text_of_a_path();
    struct fby_setup       setup;
    for (int i = 0; i < 257; i++) {
        roots[i] = (struct forebay_root){"photos", "/data/sets"};
    }
    o.pipeline_text = text;
    o.roots         = roots;
    o.n_roots       = 257;
    refused(&o, "more than 256 roots");
    o.n_roots = 256;
    accepted(&o, &setup);
    fby_setup_fini(&setup);
    free(text);
}

/* ---- whole answers ------------------------------------------------------- */

static void refused_so(
    const struct forebay_options *o, fby_err err, const char *words)
{
    struct fby_setup        setup = {0};
    struct fby_error_detail why   = {""};
    assert_int_equal(fby_setup_init(&setup, o, &why), err);
    assert_string_equal(why.text, words);
    fby_setup_fini(&setup);
}

static void what_is_asked_of_whom_is_said(void **state)
{
    (void)state;
    struct forebay_options o = usable();
    o.rank                   = 1;
    refused_so(&o, FBY_USAGE, "rank 1 is not below world 1");
    o.world = 2;
    refused_so(&o, FBY_USAGE, "ranks find each other by their job: set job");
    o               = usable();
    o.pipeline_path = "p.yaml";
    refused_so(&o, FBY_USAGE, "give either pipeline_path or pipeline_text");
    o.pipeline_path = NULL;
    o.pipeline_text = NULL;
    refused_so(&o, FBY_USAGE, "give either pipeline_path or pipeline_text");
    o        = usable();
    o.device = "abacus";
    refused_so(
        &o, FBY_USAGE, "no device abacus; there are: host, cuda, cuda:N, auto");
    o        = usable();
    o.server = NULL;
    refused_so(&o, FBY_USAGE, "server: where to find workers, HOST:PORT");
}

static void limits_that_are_too_low_are_said_with_what_is_needed(void **state)
{
    (void)state;
    struct forebay_options o = usable();
    o.window_bytes           = 24 * (16 * 16 * 3 + 1) - 1;
    refused_so(&o, FBY_CONFIG,
        "a batch has 18456 bytes, window_bytes is 18455; raise it or make the "
        "batch smaller");
    o.window_bytes   = 0;
    o.max_held_bytes = 1;
    refused_so(&o, FBY_CONFIG,
        "a batch expands to 37120 bytes, max_held_bytes is 1; raise it");
    o.max_held_bytes = 0;
    o.window_batches = 4097;
    refused_so(
        &o, FBY_USAGE, "at most 256 decode_threads and 4096 window_batches");
}

/* The first 8 bytes of both contents, and both seeds. */
static void a_token_that_does_not_fit_is_told_with_what_would(void **state)
{
    (void)state;
    char                   text[FBY_TOKEN_TEXT_SIZE];
    char                   words[300];
    char                   hex[17];
    struct forebay_options o = usable();
    struct fby_setup       setup;
    accepted(&o, &setup);
    struct fby_token token = {.content = setup.content_digest, .seed = 9};
    fby_hex(setup.content_digest.bytes, 8, hex);
    fby_setup_fini(&setup);
    o.token    = fby_token_encode(&token, text);
    o.has_seed = true;
    o.seed     = 10;
    refused_so(
        &o, FBY_USAGE, "seed 10, but the token has seed 9; leave the seed out");
    memset(token.content.bytes, 0x5a, sizeof(token.content.bytes));
    fby_token_encode(&token, text);
    snprintf(words, sizeof(words),
        "the token is of content 5a5a5a5a5a5a5a5a, the pipeline's split is "
        "%s: use the file and split that the token was taken from, or "
        "start without a token",
        hex);
    refused_so(&o, FBY_CONFIG, words);
}

static void options_of_a_stream_are_taken_over(void **state)
{
    (void)state;
    struct forebay_options o = usable();
    struct fby_setup       setup;
    o.split           = "train";
    o.digests         = true;
    o.open_timeout_ns = 1;
    o.decode_threads  = 5;
    o.window_batches  = 1;
    accepted(&o, &setup);
    assert_true(setup.digests);
    assert_false(setup.verify_decoded);
    assert_int_equal(setup.open_timeout_ns, 1);
    assert_int_equal(setup.decode_threads, 5);
    assert_int_equal(setup.window_batches, 1);
    assert_int_equal(setup.audit, forebay_options().audit);
    assert_string_equal(setup.server, "tcp://127.0.0.1:7070");
    assert_string_equal(setup.location.pattern, "in1k:t-{0..3}.tar");
    assert_null(setup.cuda);
    assert_int_equal(setup.arena_bytes, 0);
    assert_false(setup.fixed_outputs);
    assert_ptr_equal(setup.device, fby_device_named("host"));
    fby_setup_fini(&setup);
    o.digests         = false;
    o.verify_decoded  = true;
    o.open_timeout_ns = -1;
    o.decode_threads  = 0;
    accepted(&o, &setup);
    assert_false(setup.digests);
    assert_true(setup.verify_decoded);
    assert_int_equal(setup.open_timeout_ns, INT64_C(60000000000));
    assert_int_equal(
        setup.decode_threads, fby_usable_cores() < 4 ? fby_usable_cores() : 4);
    fby_setup_fini(&setup);
}

/* Of rows of several lengths, each part of a batch begins at a multiple of
 * 64. */
static void parts_of_rows_lie_one_after_another(void **state)
{
    (void)state;
    static const char text[] =
        "forebay: 1\n"
        "splits: {train: {shards: \"in1k:t-{0..3}.tar\", shuffle: full,"
        " last: drop}}\n"
        "global_batch: 24\n"
        "seed: 7\n"
        "fields:\n"
        "  label: {from: cls, classes: 10}\n"
        "  words: {from: txt, decode: text, max_length: 9, too_long: refuse,\n"
        "          out: {as: ragged, offsets: i32}}\n";
    struct forebay_options o = usable();
    struct fby_setup       setup;
    o.pipeline_text = text;
    accepted(&o, &setup);
    assert_int_equal(setup.n_tensors, 1 + 2);
    assert_int_equal(setup.out_offset[1], 192); /* 24 of i64 */
    assert_int_equal(setup.tensor_offset[1][0], 192);
    assert_int_equal(setup.tensor_offset[1][1], 192 + 256); /* 24 of 9 bytes */
    assert_int_equal(setup.out_offset[2], 192 + 256 + 128); /* 25 of i32 */
    assert_int_equal(setup.out_bytes, 192 + 256 + 128 + 64);
    fby_setup_fini(&setup);
}

static void offsets_of_documents_have_to_reach(void **state)
{
    (void)state;
    static const char many[] =
        "forebay: 1\n"
        "splits: {train: {tokens: {files: \"c4:*.bin\", format: flat, type:"
        " u16,\n  length: %u, shift: 0, pack: documents, end: 7}, last:"
        " drop}}\n"
        "global_batch: %u\n"
        "fields:\n"
        "  starts: {from: documents, out: {as: cu_seqlens%s}}\n";
    char                   text[500];
    struct fby_setup       setup;
    struct forebay_options o = usable();
    o.pipeline_text          = text;
    o.window_bytes           = UINT64_C(1) << 40;
    o.max_held_bytes         = UINT64_C(1) << 40;
    snprintf(text, sizeof(text), many, 1048575, 2048, "");
    accepted(&o, &setup);
    fby_setup_fini(&setup);
    snprintf(text, sizeof(text), many, 1048576, 2048, "");
    refused_so(&o, FBY_CONFIG,
        "field starts: a batch may have 2147483648 entries, more than offsets "
        "of i32 reach; ask for i64");
    snprintf(text, sizeof(text), many, 1048576, 2048, ", dtype: i64");
    accepted(&o, &setup);
    fby_setup_fini(&setup);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_make_a_usable_setup),
        cmocka_unit_test(outputs_of_fields_can_be_changed),
        cmocka_unit_test(wrong_ranks_are_refused_by_name),
        cmocka_unit_test(wrong_names_are_refused_by_name),
        cmocka_unit_test(wrong_sizes_and_texts_are_refused_by_name),
        cmocka_unit_test(a_token_of_another_pipeline_or_seed_is_refused),
        cmocka_unit_test(the_data_is_named_without_a_colon_at_the_end),
        cmocka_unit_test(plain_paths_need_a_root),
        cmocka_unit_test(limits_may_be_reached_and_not_passed),
        cmocka_unit_test(a_window_has_as_many_batches_as_fit),
        cmocka_unit_test(a_job_has_a_name_of_1_to_255_bytes),
        cmocka_unit_test(jobs_without_a_name_are_alone),
        cmocka_unit_test(all_fields_are_asked_for_as_0_and_some_by_their_bits),
        cmocka_unit_test(a_seed_is_the_callers_else_the_pipelines),
        cmocka_unit_test(a_token_brings_place_and_seed),
        cmocka_unit_test(offsets_of_32_bits_have_to_reach),
        cmocka_unit_test(a_root_that_only_the_numbers_of_classes_need_is_named),
        cmocka_unit_test(at_most_256_roots_are_taken),
        cmocka_unit_test(what_is_asked_of_whom_is_said),
        cmocka_unit_test(limits_that_are_too_low_are_said_with_what_is_needed),
        cmocka_unit_test(a_token_that_does_not_fit_is_told_with_what_would),
        cmocka_unit_test(options_of_a_stream_are_taken_over),
        cmocka_unit_test(parts_of_rows_lie_one_after_another),
        cmocka_unit_test(offsets_of_documents_have_to_reach),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.setup", tests, NULL, NULL);
}
