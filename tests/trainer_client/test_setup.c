#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "trainer_client/setup.h"

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
    struct fby_why why = {""};
    *out               = (struct fby_setup){0};
    if (fby_setup_init(out, o, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
}

static void refused(const struct forebay_options *o, const char *word)
{
    struct fby_setup setup = {0};
    struct fby_why   why   = {""};
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

static void wrong_options_are_refused_by_name(void **state)
{
    (void)state;
    const char *const      fields[] = {"label", "depth"};
    const char *const      none[]   = {NULL};
    struct forebay_options o        = usable();
    o.rank                          = 1;
    refused(&o, "rank 1");
    o.world = 2;
    refused(&o, "job");
    o.job = "\xff";
    refused(&o, "UTF-8");
    o.job   = "j";
    o.world = 5;
    refused(&o, "24");
    o        = usable();
    o.device = "abacus";
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
    o              = usable();
    o.window_bytes = 100;
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
    accepted(&o, &setup);
    assert_int_equal(setup.seed, 9);
    fby_setup_fini(&setup);
    o.has_seed = true;
    o.seed     = 10;
    refused(&o, "seed 9");
    token.content.bytes[0] ^= 1;
    o.has_seed = false;
    fby_token_encode(&token, text);
    refused(&o, "begin anew without a token");
}

static void plain_paths_need_a_root(void **state)
{
    (void)state;
    char                     *text = strdup(pipeline_text);
    const struct forebay_root root = {"photos", "/data/sets"};
    struct forebay_options    o    = usable();
    struct fby_setup          setup;
    char                     *at = strstr(text, "in1k:t-{0..3}.tar");
    for (const char *c = "/data/sets/aa.tar"; *c != '\0'; c++) {
        *at++ = *c;
    }
    o.pipeline_text = text;
    refused(&o, "/data/sets");
    o.roots   = &root;
    o.n_roots = 1;
    accepted(&o, &setup);
    assert_string_equal(setup.location.pattern, "photos:aa.tar");
    fby_setup_fini(&setup);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_make_a_usable_setup),
        cmocka_unit_test(outputs_of_fields_can_be_changed),
        cmocka_unit_test(wrong_options_are_refused_by_name),
        cmocka_unit_test(a_token_of_another_pipeline_or_seed_is_refused),
        cmocka_unit_test(plain_paths_need_a_root),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.setup", tests, NULL, NULL);
}
