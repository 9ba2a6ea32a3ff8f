/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>

#include "common/mem.h"
#include "pipeline/canon.h"
#include "pipeline/op.h"
#include "pipeline/record.h"
#include "tests/pipeline/sample.h"

static struct fby_digest digest_of(const char *text, const char *split_name)
{
    struct fby_split *split  = split_of(text, split_name);
    struct fby_digest digest = fby_content_digest(&split->content);
    fby_split_destroy(&split);
    return digest;
}

struct change {
    const char *old;
    const char *new;
    const char *split;
};

static bool keeps_digest(const struct change *change)
{
    struct fby_digest before = digest_of(sample_file, change->split);
    char             *text   = changed(change->old, change->new);
    struct fby_digest after  = digest_of(text, change->split);
    free(text);
    return fby_digest_equal(&before, &after);
}

static void check_changes(const struct change *changes, size_t n, bool keep)
{
    for (size_t i = 0; i < n; i++) {
        if (keeps_digest(&changes[i]) != keep) {
            fail_msg("'%s' -> '%s' %s the digest", changes[i].old,
                changes[i].new, keep ? "changes" : "keeps");
        }
    }
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void every_key_of_the_order_changes_the_digest(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {"shuffle: {block: 4}", "shuffle: {block: 5}", "train"},
        {"lanes: 16", "lanes: 8", "train"},
        {"slices: 4", "slices: 2", "train"},
        {"last: short", "last: drop", "train"},
        {"shuffle: none", "shuffle: full", "val"},
        {"last: pad", "last: short", "val"},
        {"global_batch: 24", "global_batch: 48", "train"},
        {"{do: substitute, limit: 100}", "fail", "train"},
    };
    check_changes(changes, COUNT(changes), false);
}

static void every_key_of_a_picture_changes_the_digest(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {"[jpg, jpeg]", "[jpeg, jpg]", "train"},
        {"[jpg, jpeg]", "jpg", "train"},
        {"group: view", "group: other", "train"},
        {"dct_scale: off", "dct_scale: faithful", "train"},
        {"dct_scale: off", "dct_scale: fast", "train"},
        {"type: u8, filter: delta", "type: yuv420, filter: delta", "train"},
        {"  image:", "  picture:", "train"},
        {"size: 176", "size: 177", "train"},
        {"size: 176", "size: [176, 177]", "train"},
        {"scale: [0.08, 1]", "scale: [0.09, 1]", "train"},
        {"ratio: [0.75, 1.3333]", "ratio: [0.75, 1.3334]", "train"},
        {"p: 0.25", "p: 0.26", "train"},
        {"shorter: 232", "shorter: 233", "val"},
        {"- resize: {shorter: 232", "- resize: {size: 232", "val"},
        {"size: [224, 192]", "size: [192, 224]", "val"},
        {"- center_crop", "- random_crop", "val"},
        {"only: [train]", "only: [train, val]", "val"},
        {"      - horizontal_flip: {p: 0.25, only: [train]}\n", "", "train"},
        {"mean: [0.4, 0.5, 0.6]", "mean: [0.4, 0.5, 0.7]", "train"},
        {"std: 0.25", "std: 0.5", "train"},
        {"    device:\n"
         "      - normalize: {mean: [0.4, 0.5, 0.6], std: 0.25}\n",
            "", "train"},
    };
    check_changes(changes, COUNT(changes), false);
}

static void every_key_of_other_fields_changes_the_digest(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {"    from: cls\n", "    from: class.cls\n", "train"},
        {"one_hot: {classes: 1000", "one_hot: {classes: 999", "train"},
        {"smoothing: 0.1", "smoothing: 0.2", "train"},
        {"only: train}\n  score", "only: val}\n  score", "train"},
        {"key: s", "key: t", "train"},
        {"key: s", "key: s.0", "train"},
        {"key: s", "key: s, pick: random", "train"},
        {"from: cls, classes: 10", "from: cls, key: c, classes: 10", "train"},
        {"wire: f32, out: {dtype: f32}", "wire: i32", "train"},
        {"length: 16", "length: 17", "train"},
        {"decode: bytes, length: 16", "decode: number", "train"},
        {"classes: 10,", "classes: 11,", "train"},
        {"  kind: {from: cls, classes: 10, out: {dtype: i32}}\n", "", "train"},
        {"shape: [2, 3]", "shape: [3, 2]", "train"},
        {"shape: [2, 3]", "shape: [6]", "train"},
        {"shape: [2, 3]", "shape: []", "train"},
        {"wire: f16", "wire: bf16", "train"},
        {"wire: f16", "wire: bits", "train"},
        {"from: npy", "from: b.npy", "train"},
    };
    check_changes(changes, COUNT(changes), false);
}

static void pictures_are_scaled_faithfully_unless_said_otherwise(void **state)
{
    (void)state;
    char             *said = changed("dct_scale: off", "dct_scale: faithful");
    char             *not_said = changed("    dct_scale: off\n", "");
    struct fby_digest a        = digest_of(said, "train");
    struct fby_digest b        = digest_of(not_said, "train");
    assert_true(fby_digest_equal(&a, &b));
    free(said);
    free(not_said);
}

static void masks_fit_their_pictures_unless_said_otherwise(void **state)
{
    (void)state;
#define MASK "  blob: {from: png, decode: mask8, ops: [{resize: {size: 8}}]"
    static const char blob[] =
        "  blob: {from: bin, decode: bytes, length: 16}\n";
    char             *said     = changed(blob, MASK ", fit: refuse}\n");
    char             *not_said = changed(blob, MASK "}\n");
    char             *other    = changed(blob, MASK ", fit: stretch}\n");
    struct fby_digest a        = digest_of(said, "train");
    struct fby_digest b        = digest_of(not_said, "train");
    struct fby_digest c        = digest_of(other, "train");
    assert_true(fby_digest_equal(&a, &b));
    assert_false(fby_digest_equal(&a, &c));
    free(said);
    free(not_said);
    free(other);
#undef MASK
}

static void what_decides_no_value_keeps_the_digest(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {"seed: 42\n", "", "train"},
        {"seed: 42\n", "seed: 43 # a comment\n", "train"},
        {"limit: 100", "limit: 7", "train"},
        {"wire: f16", "wire: f16, out: {dtype: f32, scale: 2}", "train"},
        {"in1k:t-{000..127}.tar", "/data/t-{000..127}.tar", "train"},
        {"filter: delta, codec: lz4", "codec: store", "train"},
        {"filter: delta, codec: lz4", "codec: pack", "train"},
        {"wire: {type: u8, filter: delta, codec: lz4}\n", "wire: u8\n",
            "train"},
        {"dtype: bf16, layout: channels_last", "dtype: f16, layout: chw",
            "train"},
        {"out: {dtype: i32}", "out: {dtype: u8}", "train"},
        {"    decode: rgb8\n", "", "train"},
        {"{type: u8, filter: delta, codec: lz4}",
            "{codec: lz4, filter: delta, type: u8}", "train"},
        {"last: short, lanes: 16, slices: 4",
            "slices: 4, last: short, lanes: 16", "train"},
        {"lanes: 16, ", "", "train"},
        {"size: 176", "size: [176, 176]", "train"},
        {"std: 0.25", "std: [0.25, 2.5e-1, 0.250]", "train"},
        {"smoothing: 0.1", "smoothing: 0.1, dtype: f16", "train"},
        {"shorter: 232", "shorter: 999", "train"},
        {"last: pad", "last: short", "train"},
        {"key: s,", "\"key\": 's',", "train"},
        {"only: [train]", "only: train", "train"},
    };
    check_changes(changes, COUNT(changes), true);
}

/* ---- bytes ---- */

static void encode(const char *split_name, struct fby_buffer *out)
{
    struct fby_split *split = split_of(sample_file, split_name);
    fby_content_encode(&split->content, out);
    fby_split_destroy(&split);
}

/* The error for bytes that are not a content. */
static struct fby_error_detail why_refused(
    const struct fby_buffer *bytes, size_t size)
{
    struct fby_content     *out = fby_zalloc(sizeof(*out));
    struct fby_error_detail why = {{0}};
    assert_int_equal(
        fby_content_decode(bytes->data, size, out, &why), FBY_PROTO);
    free(out);
    return why;
}

static void content_that_is_cut_anywhere_is_refused(void **state)
{
    (void)state;
    struct fby_buffer bytes = {0};
    encode("train", &bytes);
    for (size_t size = 0; size < bytes.size; size++) {
        assert_int_not_equal(why_refused(&bytes, size).text[0], '\0');
    }
    fby_buffer_fini(&bytes);
}

/* Returns whether the bytes are accepted; then they are the one encoding of
 * what they decode to. */
static bool accepts(
    const struct fby_buffer *bytes, size_t size, struct fby_content *out)
{
    if (fby_content_decode(bytes->data, size, out, NULL) != FBY_OK) {
        return false;
    }
    struct fby_digest a = fby_content_digest(out);
    struct fby_digest b = fby_digest_of(bytes->data, size);
    assert_true(fby_digest_equal(&a, &b));
    return true;
}

static void a_content_with_a_changed_bit_is_refused_or_another_one(void **state)
{
    (void)state;
    struct fby_buffer   bytes = {0};
    struct fby_content *out   = fby_zalloc(sizeof(*out));
    size_t              taken = 0;
    encode("train", &bytes);
    for (size_t i = 0; i < bytes.size * 8; i++) {
        bytes.data[i / 8] ^= (uint8_t)(1U << (i % 8));
        taken += accepts(&bytes, bytes.size, out);
        bytes.data[i / 8] ^= (uint8_t)(1U << (i % 8));
    }
    assert_true(taken > 0 && taken < bytes.size * 8);
    fby_buffer_fini(&bytes);
    free(out);
}

static void bytes_behind_the_content_are_refused(void **state)
{
    (void)state;
    struct fby_buffer bytes = {0};
    encode("val", &bytes);
    fby_record_put_i64(&bytes, 65535, 1);
    assert_string_equal(why_refused(&bytes, bytes.size).text,
        "content: 14 bytes follow the last known key (next key 65535)");
    fby_buffer_fini(&bytes);
}

/* A content has one encoding: bytes that decode to it but hold more entries
 * than it needs are refused. */
static void entries_that_say_nothing_are_refused(void **state)
{
    (void)state;
    static const char wrong[] = "content: the bytes are not in canonical form";
    struct fby_buffer bytes   = {0};
    encode("train", &bytes);
    size_t size = bytes.size;
    fby_record_close(&bytes, fby_record_open(&bytes, 19)); /* no files */
    assert_string_equal(why_refused(&bytes, bytes.size).text,
        "content: 6 bytes follow the last known key (next key 19)");
    bytes.size  = size;
    size_t mark = fby_record_open(&bytes, 12); /* no bounds between buckets */
    fby_record_put_text(&bytes, 1, "");
    fby_record_put_i64s(&bytes, 2, NULL, 0);
    fby_record_close(&bytes, mark);
    assert_string_equal(why_refused(&bytes, bytes.size).text, wrong);
    bytes.size = size;
    mark       = fby_record_open(&bytes, 14); /* packing of no tokens */
    fby_record_put_i64(&bytes, 1, 1);
    fby_record_put_i64(&bytes, 3, 0);
    fby_record_close(&bytes, mark);
    assert_string_equal(why_refused(&bytes, bytes.size).text,
        "content: 34 bytes follow the last known key (next key 14)");
    fby_buffer_fini(&bytes);
}

/* Set the last number of that key which is 0 to 1. */
static void set_last(struct fby_buffer *bytes, uint8_t key)
{
    const uint8_t zero[14] = {key, 0, 8};
    size_t        at       = bytes->size - sizeof(zero);
    while (memcmp(bytes->data + at, zero, sizeof(zero)) != 0) {
        assert_true(at-- > 0);
    }
    bytes->data[at + 6] = 1;
}

static void a_value_that_its_decoder_does_not_use_is_refused(void **state)
{
    (void)state;
    static const uint8_t keys[] = {5, 8, 9, 10, 11, 13};
    struct fby_split    *split =
        split_of("forebay: 1\n"
                 "splits: {train: {shards: s.tar}}\n"
                 "global_batch: 8\n"
                 "fields: {a: {from: txt, decode: text, max_length: 9}}\n",
            "train");
    for (size_t i = 0; i < COUNT(keys); i++) {
        struct fby_buffer bytes = {0};
        char              wrong[80];
        fby_content_encode(&split->content, &bytes);
        set_last(&bytes, keys[i]);
        snprintf(wrong, sizeof(wrong),
            "content: key %u holds a value that its decoder does not use",
            keys[i]);
        assert_string_equal(why_refused(&bytes, bytes.size).text, wrong);
        fby_buffer_fini(&bytes);
    }
    fby_split_destroy(&split);
}

static void content_is_bounded(void **state)
{
    (void)state;
    struct fby_buffer bytes = {0};
    encode("train", &bytes);
    size_t mark = fby_record_open(&bytes, 65535);
    while (bytes.size <= FBY_MAX_CONTENT) {
        fby_put_u8(&bytes, 0);
    }
    fby_record_close(&bytes, mark);
    assert_string_equal(why_refused(&bytes, FBY_MAX_CONTENT + 1).text,
        "content: 1048577 bytes, more than the limit of 1048576");
    assert_non_null(strstr(why_refused(&bytes, FBY_MAX_CONTENT).text,
        "bytes follow the last known key (next key 65535)"));
    fby_buffer_fini(&bytes);
}

/* ---- golden ---- */

static const char *const goldens[] = {"small", "full", "array", "bits",
    "columns", "list", "ragged", "sparse", "tokens", "packed", "yuv420",
    "device", "flat", "deep", "names", "fit"};

/* tests/golden/content/NAME.KIND */
static char *read_text(const char *name, const char *kind)
{
    char path[512];
    char text[8192];
    snprintf(path, sizeof(path), FBY_TEST_DATA "/content/%s.%s", name, kind);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[n] = '\0';
    return fby_strdup(text);
}

static struct fby_split *golden_split(const char *name)
{
    char             *text  = read_text(name, "yaml");
    struct fby_split *split = split_of(text, "train");
    free(text);
    return split;
}

/* "BYTES-IN-HEX\nDIGEST-IN-HEX\n" */
static void check_golden(const char *name)
{
    char             *golden = read_text(name, "hex");
    struct fby_split *split  = golden_split(name);
    struct fby_buffer bytes  = {0};
    struct fby_digest digest = fby_content_digest(&split->content);
    fby_content_encode(&split->content, &bytes);
    char *hex = fby_zalloc(2 * bytes.size + 2 * sizeof(digest) + 3);
    fby_hex(bytes.data, bytes.size, hex);
    hex[2 * bytes.size] = '\n';
    fby_hex(digest.bytes, sizeof(digest), hex + 2 * bytes.size + 1);
    hex[strlen(hex)] = '\n'; /* the memory behind is zero */
    assert_string_equal(hex, golden);
    free(hex);
    fby_buffer_fini(&bytes);
    fby_split_destroy(&split);
    free(golden);
}

static void the_bytes_are_those_that_were_recorded(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(goldens); i++) {
        check_golden(goldens[i]);
    }
}

static bool same_value(const struct fby_value *a, const struct fby_value *b)
{
    return a->n == b->n &&
           (a->n == 0 || (a->real == b->real &&
                             memcmp(a->i, b->i, a->n * sizeof(a->i[0])) == 0 &&
                             memcmp(a->r, b->r, a->n * sizeof(a->r[0])) == 0));
}

static void same_ops(
    const struct fby_op_use *a, const struct fby_op_use *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        assert_ptr_equal(a[i].op, b[i].op);
        assert_int_equal(a[i].occurrence, b[i].occurrence);
        for (uint32_t k = 0; k < FBY_MAX_PARAMS; k++) {
            assert_true(same_value(&a[i].params[k], &b[i].params[k]));
        }
    }
}

/* Zero the padding of `*s` between two neighbouring members. */
#define CLEAR_BETWEEN(s, member, next)                        \
    memset((char *)&(s)->member + sizeof((s)->member), 0,     \
        (size_t)((char *)&(s)->next - (char *)&(s)->member) - \
            sizeof((s)->member))

static void clear_padding_of_field(struct fby_field_content *f)
{
    if (f->decode == FBY_DECODE_RGB8) {
        CLEAR_BETWEEN(&f->as.rgb8, normalize, mean);
    } else if (f->decode == FBY_DECODE_LABEL) {
        CLEAR_BETWEEN(&f->as.label, one_hot, smoothing);
    } else if (f->decode == FBY_DECODE_TOKENS) {
        CLEAR_BETWEEN(&f->as.tokens, packed, pad);
    }
}

static void same_field(
    const struct fby_field_content *a, const struct fby_field_content *b)
{
    struct fby_field_content x = *a;
    struct fby_field_content y = *b;
    assert_int_equal(a->n_ops, b->n_ops);
    assert_int_equal(a->n_device, b->n_device);
    same_ops(a->ops, b->ops, a->n_ops);
    same_ops(a->device, b->device, a->n_device);
    memset(x.ops, 0, sizeof(x.ops)); /* the rest bit by bit */
    memset(y.ops, 0, sizeof(y.ops));
    memset(x.device, 0, sizeof(x.device));
    memset(y.device, 0, sizeof(y.device));
    clear_padding_of_field(&x);
    clear_padding_of_field(&y);
    assert_memory_equal(&x, &y, offsetof(struct fby_field_content, shape));
    assert_memory_equal(&x.shape, &y.shape, sizeof(x.shape));
}

static void same_content(struct fby_content *a, struct fby_content *b)
{
    struct fby_content *both[] = {a, b};
    for (size_t i = 0; i < 2; i++) {
        CLEAR_BETWEEN(both[i], on_bad_sample, bucket_by);
        CLEAR_BETWEEN(&both[i]->bucket_by, n_bounds, bounds);
        CLEAR_BETWEEN(&both[i]->tokens, packed, end);
    }
    assert_int_equal(a->n_fields, b->n_fields);
    for (uint32_t i = 0; i < a->n_fields; i++) {
        same_field(&a->fields[i], &b->fields[i]);
    }
    assert_memory_equal(a, b, offsetof(struct fby_content, n_fields));
}

/* Encoded and decoded into `out`, it is the same. */
static void comes_back(struct fby_split *split, struct fby_content *out)
{
    struct fby_buffer bytes = {0};
    fby_content_encode(&split->content, &bytes);
    assert_ok(fby_content_decode(bytes.data, bytes.size, out, NULL));
    same_content(out, &split->content);
    fby_buffer_fini(&bytes);
}

static void all_of_a_content_comes_back(void **state)
{
    (void)state;
    struct fby_content *out   = fby_zalloc(sizeof(*out));
    struct fby_split   *train = split_of(sample_file, "train");
    struct fby_split   *val   = split_of(sample_file, "val");
    comes_back(train, out);
    comes_back(val, out);
    for (size_t i = 0; i < COUNT(goldens); i++) {
        struct fby_split *split = golden_split(goldens[i]);
        comes_back(split, out);
        fby_split_destroy(&split);
    }
    fby_split_destroy(&val);
    fby_split_destroy(&train);
    free(out);
}

/* An op that stands twice draws twice, so its number counts. */
static void ops_of_one_name_are_numbered_on_both_sides(void **state)
{
    (void)state;
    struct fby_split *split = split_of(
        "forebay: 1\n"
        "splits: {train: {shards: s.tar}}\n"
        "global_batch: 8\n"
        "fields:\n"
        "  x: {from: jpg, ops: [horizontal_flip, vertical_flip,\n"
        "        {center_crop: {size: 8}}, horizontal_flip, vertical_flip,\n"
        "        horizontal_flip],\n"
        "      device: [horizontal_flip, {normalize: {mean: 0, std: 1}},\n"
        "        random_erasing]}\n",
        "train");
    static const uint32_t     worker[] = {0, 0, 0, 1, 1, 2};
    struct fby_content       *out      = fby_zalloc(sizeof(*out));
    struct fby_field_content *f        = out->fields;
    comes_back(split, out);
    for (size_t i = 0; i < COUNT(worker); i++) {
        assert_int_equal(f->ops[i].occurrence, worker[i]);
    }
    assert_int_equal(f->device[0].occurrence, 3);
    assert_int_equal(f->device[1].occurrence, 0);
    assert_int_equal(f->device[2].occurrence, 0);
    fby_split_destroy(&split);
    free(out);
}

/* Bytes of every source and decoder, with one bit of each byte changed, and
 * cut behind each byte. */
static void a_damaged_golden_content_is_refused_or_another_one(void **state)
{
    (void)state;
    struct fby_content *out = fby_zalloc(sizeof(*out));
    for (size_t g = 0; g < COUNT(goldens); g++) {
        struct fby_buffer bytes = {0};
        struct fby_split *split = golden_split(goldens[g]);
        fby_content_encode(&split->content, &bytes);
        for (size_t i = 0; i < bytes.size; i++) {
            uint8_t bit = (uint8_t)(1U << (i + g) % 8);
            bytes.data[i] ^= bit;
            (void)accepts(&bytes, bytes.size, out);
            bytes.data[i] ^= bit;
            (void)accepts(&bytes, i, out);
        }
        fby_buffer_fini(&bytes);
        fby_split_destroy(&split);
    }
    free(out);
}

static void says_of_version(uint16_t key, const char *wanted)
{
    struct fby_buffer bytes = {0};
    encode("train", &bytes);
    fby_store_le(bytes.data + (key == 1 ? 0 : 14) + 6, 2, 8);
    assert_string_equal(why_refused(&bytes, bytes.size).text, wanted);
    fby_buffer_fini(&bytes);
}

static void other_versions_are_named(void **state)
{
    (void)state;
    says_of_version(1, "content: key 1 is not format 1");
    says_of_version(2, "content: key 2 is not version 1 of the order");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_the_order_changes_the_digest),
        cmocka_unit_test(every_key_of_a_picture_changes_the_digest),
        cmocka_unit_test(every_key_of_other_fields_changes_the_digest),
        cmocka_unit_test(pictures_are_scaled_faithfully_unless_said_otherwise),
        cmocka_unit_test(masks_fit_their_pictures_unless_said_otherwise),
        cmocka_unit_test(what_decides_no_value_keeps_the_digest),
        cmocka_unit_test(content_that_is_cut_anywhere_is_refused),
        cmocka_unit_test(
            a_content_with_a_changed_bit_is_refused_or_another_one),
        cmocka_unit_test(bytes_behind_the_content_are_refused),
        cmocka_unit_test(all_of_a_content_comes_back),
        cmocka_unit_test(ops_of_one_name_are_numbered_on_both_sides),
        cmocka_unit_test(a_damaged_golden_content_is_refused_or_another_one),
        cmocka_unit_test(other_versions_are_named),
        cmocka_unit_test(entries_that_say_nothing_are_refused),
        cmocka_unit_test(a_value_that_its_decoder_does_not_use_is_refused),
        cmocka_unit_test(content_is_bounded),
        cmocka_unit_test(the_bytes_are_those_that_were_recorded),
    };
    return cmocka_run_group_tests_name("pipeline.canon", tests, NULL, NULL);
}
