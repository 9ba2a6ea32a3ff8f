/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "pipeline/canon.h"
#include "pipeline/op.h"
#include "pipeline/plan/order.h"
#include "tests/pipeline/sample.h"

/* ---- what is right ---- */

static const struct fby_field_content *field_of(
    const struct fby_split *split, const char *name)
{
    for (size_t i = 0; i < split->content.n_fields; i++) {
        if (strcmp(split->content.fields[i].name, name) == 0) {
            return &split->content.fields[i];
        }
    }
    print_error("there is no field %s\n", name);
    abort();
}

static const struct fby_field_delivery *delivery_of(
    const struct fby_split *split, const char *name)
{
    return &split->delivery
                .fields[field_of(split, name) - split->content.fields];
}

static void a_file_with_every_key_becomes_content(void **state)
{
    (void)state;
    struct fby_split         *split = split_of(sample_file, "train");
    const struct fby_content *c     = &split->content;
    assert_int_equal(c->source, FBY_SOURCE_SHARDS);
    assert_int_equal(c->shuffle, FBY_SHUFFLE_BLOCK);
    assert_int_equal(c->block, 4);
    assert_int_equal(c->lanes, 16);
    assert_int_equal(c->slices, 4);
    assert_int_equal(c->last, FBY_LAST_SHORT);
    assert_int_equal(c->global_batch, 24);
    assert_int_equal(c->on_bad_sample, FBY_BAD_SUBSTITUTE);
    assert_int_equal(c->n_fields, 6);
    assert_string_equal(split->location.pattern, "in1k:t-{000..127}.tar");
    assert_int_equal(split->delivery.bad_sample_limit, 100);
    fby_split_destroy(&split);
}

static void fields_stand_in_byte_order_of_their_names(void **state)
{
    (void)state;
    struct fby_split *split = split_of(sample_file, "train");
    const char *right[] = {"blob", "image", "kind", "label", "score", "table"};
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(split->content.fields[i].name, right[i]);
    }
    fby_split_destroy(&split);
}

static void ops_with_only_belong_to_their_split(void **state)
{
    (void)state;
    struct fby_split               *train = split_of(sample_file, "train");
    struct fby_split               *val   = split_of(sample_file, "val");
    const struct fby_field_content *a     = field_of(train, "image");
    const struct fby_field_content *b     = field_of(val, "image");
    assert_int_equal(a->n_ops, 2);
    assert_int_equal(a->ops[0].op->id, FBY_OP_RANDOM_RESIZED_CROP);
    assert_int_equal(a->ops[1].op->id, FBY_OP_HORIZONTAL_FLIP);
    assert_int_equal(b->n_ops, 2);
    assert_int_equal(b->ops[0].op->id, FBY_OP_RESIZE);
    assert_int_equal(b->ops[1].op->id, FBY_OP_CENTER_CROP);
    assert_int_equal(a->shape.dims[0], 176);
    assert_int_equal(a->shape.dims[1], 176);
    assert_int_equal(b->shape.dims[0], 224);
    assert_int_equal(b->shape.dims[1], 192);
    fby_split_destroy(&train);
    fby_split_destroy(&val);
}

static void labels_travel_in_the_smallest_type(void **state)
{
    (void)state;
    struct fby_split *train = split_of(sample_file, "train");
    struct fby_split *val   = split_of(sample_file, "val");
    assert_int_equal(field_of(train, "label")->wire_type, FBY_U16);
    assert_int_equal(field_of(train, "kind")->wire_type, FBY_U8);
    assert_true(field_of(train, "label")->as.label.one_hot);
    assert_false(field_of(val, "label")->as.label.one_hot);
    assert_int_equal(delivery_of(train, "label")->dtype, FBY_F32);
    assert_int_equal(delivery_of(val, "label")->dtype, FBY_I64);
    assert_int_equal(delivery_of(val, "kind")->dtype, FBY_I32);
    fby_split_destroy(&train);
    fby_split_destroy(&val);
}

static void an_array_has_the_shape_and_type_that_are_said(void **state)
{
    (void)state;
    struct fby_split               *split = split_of(sample_file, "train");
    const struct fby_field_content *table = field_of(split, "table");
    assert_int_equal(table->decode, FBY_DECODE_ARRAY);
    assert_int_equal(table->wire_type, FBY_F16);
    assert_int_equal(table->shape.n_dims, 2);
    assert_int_equal(table->shape.dims[0], 2);
    assert_int_equal(table->shape.dims[1], 3);
    assert_int_equal(delivery_of(split, "table")->dtype, FBY_F16);
    fby_split_destroy(&split);
}

static void delivery_keeps_what_decides_no_value(void **state)
{
    (void)state;
    struct fby_split                *split = split_of(sample_file, "train");
    const struct fby_field_delivery *image = delivery_of(split, "image");
    const struct fby_field_content  *field = field_of(split, "image");
    assert_int_equal(image->dtype, FBY_BF16);
    assert_int_equal(image->layout, FBY_LAYOUT_CHANNELS_LAST);
    assert_int_equal(image->filter, FBY_FILTER_DELTA);
    assert_int_equal(image->codec, FBY_CODEC_LZ4);
    assert_true(field->as.rgb8.normalize);
    assert_true(fabs(field->as.rgb8.mean[1] - 0.5) < 1e-12);
    assert_true(fabs(field->as.rgb8.std[2] - 0.25) < 1e-12);
    fby_split_destroy(&split);
}

static void photo_and_pack_may_be_said_by_either_word(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        uint8_t     filter, codec;
    } said[] = {
        {"filter: photo", FBY_FILTER_PHOTO, FBY_AUTO},
        {"filter: photo, codec: auto", FBY_FILTER_PHOTO, FBY_AUTO},
        {"codec: pack", FBY_AUTO, FBY_CODEC_PACK},
        {"filter: photo, codec: pack", FBY_FILTER_PHOTO, FBY_CODEC_PACK},
    };
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        char *text = changed("filter: delta, codec: lz4", said[i].words);
        struct fby_split                *split = split_of(text, "train");
        const struct fby_field_delivery *image = delivery_of(split, "image");
        assert_int_equal(image->filter, said[i].filter);
        assert_int_equal(image->codec, said[i].codec);
        fby_split_destroy(&split);
        free(text);
    }
    struct fby_split *mask =
        split_of("forebay: 1\n"
                 "splits: {only: {folder: data}}\n"
                 "global_batch: 6\n"
                 "fields:\n"
                 "  x: {from: png, decode: mask8, wire: {filter: photo},\n"
                 "      ops: [{resize: {size: 8}}]}\n",
            NULL);
    assert_int_equal(mask->delivery.fields[0].filter, FBY_FILTER_PHOTO);
    fby_split_destroy(&mask);
}

static void what_is_not_said_has_a_default(void **state)
{
    (void)state;
    static const char text[] =
        "forebay: 1\n"
        "splits: {only: {folder: data}}\n"
        "global_batch: 6\n"
        "fields:\n"
        "  x: {from: jpg, ops: [{resize: {size: 8}}, horizontal_flip]}\n";
    struct fby_split               *split = split_of(text, NULL);
    const struct fby_content       *c     = &split->content;
    const struct fby_field_content *x     = &c->fields[0];
    assert_int_equal(c->shuffle, FBY_SHUFFLE_FULL);
    assert_int_equal(c->last, FBY_LAST_DROP);
    assert_int_equal(c->on_bad_sample, FBY_BAD_FAIL);
    assert_int_equal(c->block + c->lanes + c->slices, 0);
    assert_string_equal(x->group, "x");
    assert_true(fabs(x->ops[1].params[0].r[0] - 0.5) < 1e-12);
    assert_int_equal(split->delivery.fields[0].dtype, FBY_U8);
    assert_int_equal(split->delivery.fields[0].codec, FBY_AUTO);
    assert_int_equal(split->delivery.fields[0].filter, FBY_AUTO);
    assert_string_equal(split->location.pattern, "/home/me/data");
    fby_split_destroy(&split);
}

static void blocks_get_their_lanes_and_slices_from_the_batch(void **state)
{
    (void)state;
    char *text = changed("last: short, lanes: 16, slices: 4", "last: short");
    struct fby_split *split = split_of(text, "train");
    assert_int_equal(split->content.slices, 8);
    assert_int_equal(split->content.lanes, 8);
    assert_int_equal(fby_default_slices(14), 7);
    assert_int_equal(fby_default_slices(13), 1);
    assert_int_equal(fby_default_lanes(7), 9);
    assert_int_equal(fby_default_lanes(100), 1);
    fby_split_destroy(&split);
    free(text);
}

static void the_same_op_twice_has_two_occurrences(void **state)
{
    (void)state;
    struct fby_split *split =
        split_of("forebay: 1\n"
                 "splits: {a: {folder: d}, b: {folder: d}}\n"
                 "global_batch: 4\n"
                 "fields: {x: {from: jpg, ops: [{random_crop: {size: 9, "
                 "only: b}}, {random_crop: {size: 8}}, {random_crop: {size: "
                 "7}}]}}\n",
            "a");
    assert_int_equal(split->content.fields[0].n_ops, 2);
    assert_int_equal(split->content.fields[0].ops[0].occurrence, 0);
    assert_int_equal(split->content.fields[0].ops[1].occurrence, 1);
    fby_split_destroy(&split);
}

static void a_split_is_asked_for_by_name(void **state)
{
    (void)state;
    struct fby_pipeline    *pipeline = NULL;
    struct fby_split       *split    = NULL;
    struct fby_error_detail why      = {{0}};
    assert_ok(parse_text(sample_file, &pipeline, &why));
    assert_int_equal(fby_pipeline_n_splits(pipeline), 2);
    assert_string_equal(fby_pipeline_split_name(pipeline, 1), "val");
    assert_int_equal(fby_pipeline_seed(pipeline), 42);
    assert_int_equal(
        fby_pipeline_make_split(pipeline, "vla", &split, &why), FBY_USAGE);
    assert_string_equal(why.text,
        "the pipeline has no split 'vla'; did you mean 'val'?; it has train, "
        "val");
    assert_ok(fby_pipeline_make_split(pipeline, NULL, &split, &why));
    assert_int_equal(split->content.shuffle, FBY_SHUFFLE_BLOCK);
    fby_split_destroy(&split);
    fby_pipeline_destroy(&pipeline);
    fby_pipeline_destroy(&pipeline);
}

static void a_file_gives_its_folder_to_relative_paths(void **state)
{
    (void)state;
    char dir[] = "/tmp/fby-parse-XXXXXX";
    char path[64];
    char wanted[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/p.yaml", dir);
    snprintf(wanted, sizeof(wanted), "%s/photos", dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("forebay: 1\nsplits: {train: {folder: ./photos/}}\n"
          "global_batch: 2\nfields: {label: {from: folder}}\n",
        file);
    assert_int_equal(fclose(file), 0);
    struct fby_pipeline    *pipeline = NULL;
    struct fby_split       *split    = NULL;
    struct fby_error_detail why      = {{0}};
    assert_ok(fby_pipeline_load(path, &pipeline, &why));
    assert_ok(fby_pipeline_make_split(pipeline, NULL, &split, &why));
    assert_string_equal(split->location.pattern, wanted);
    fby_split_destroy(&split);
    fby_pipeline_destroy(&pipeline);
    unlink(path);
    assert_int_equal(fby_pipeline_load(path, &pipeline, &why), FBY_IO);
    assert_non_null(strstr(why.text, "No such file"));
    rmdir(dir);
}

/* ---- what is wrong ---- */

struct wrong {
    const char *old; /* part of sample_file; NULL: the whole text */
    const char *new;
    const char *why;
};

#define FOUR(x)    x x x x
#define SIXTEEN(x) FOUR(x) FOUR(x) FOUR(x) FOUR(x)
static const struct wrong wrong_files[] = {
#include "tests/pipeline/wrong.inc"
};

static void check_wrong(const struct wrong *wrong)
{
    struct fby_pipeline    *pipeline = NULL;
    struct fby_error_detail why      = {{0}};
    char   *text = wrong->old != NULL ? changed(wrong->old, wrong->new)
                                      : fby_strdup(wrong->new);
    fby_err err  = parse_text(text, &pipeline, &why);
    if (err != FBY_CONFIG || strcmp(why.text, wrong->why) != 0) {
        fail_msg("%s\nexpected: %s\n     got: %s (%s)", wrong->new, wrong->why,
            why.text, fby_strerror(err));
    }
    assert_null(pipeline);
    free(text);
}

static void every_mistake_is_named_with_its_place_and_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(wrong_files) / sizeof(wrong_files[0]); i++) {
        check_wrong(&wrong_files[i]);
    }
}

static void a_number_is_read_only_if_it_is_wholly_one(void **state)
{
    (void)state;
    static const char *const numbers[] = {"4x", "x4", "0x10", "010", "1_000",
        "+4", "4.0", "1e3", "\"4\"", "'4'", "", "~", "null", "true", "4 5",
        "-4", "0", "99999999999999999999", "65537", ".inf", "[4]", "{a: 4}"};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        char  line[64];
        char *text = NULL;
        snprintf(line, sizeof(line), "global_batch: %s\n", numbers[i]);
        text                             = changed("global_batch: 24\n", line);
        struct fby_pipeline    *pipeline = NULL;
        struct fby_error_detail why      = {{0}};
        assert_int_equal(parse_text(text, &pipeline, &why), FBY_CONFIG);
        assert_non_null(strstr(why.text, "p.yaml:6:"));
        assert_non_null(strstr(why.text, "expected an integer, 1 to 65536"));
        free(text);
    }
}

static void reals_are_json_numbers_in_range(void **state)
{
    (void)state;
    static const char *const right[] = {"0", "1", "0.5", "1e-3", "5E-1", "-0"};
    static const char *const wrong[] = {".5", "5.", "nan", ".nan", "1,5",
        "0.5f", "-0.1", "1.01", "1e999", "00.5", "+0.5", "\"0.5\"", "0x1p-1",
        "1e", "--1"};
    char                     line[64];
    for (size_t i = 0; i < 6; i++) {
        snprintf(line, sizeof(line), "p: %s,", right[i]);
        char             *text  = changed("p: 0.25,", line);
        struct fby_split *split = split_of(text, "train");
        fby_split_destroy(&split);
        free(text);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        snprintf(line, sizeof(line), "p: %s, ", wrong[i]);
        char                *text     = changed("p: 0.25, ", line);
        struct fby_pipeline *pipeline = NULL;
        assert_int_equal(parse_text(text, &pipeline, NULL), FBY_CONFIG);
        free(text);
    }
}

static void bytes_that_are_no_text_are_refused_with_their_line(void **state)
{
    (void)state;
    static const char        nul[]  = "forebay: 1\nseed: \0\n";
    struct fby_pipeline     *p      = NULL;
    struct fby_error_detail  why    = {{0}};
    struct fby_pipeline_text with   = {nul, sizeof(nul) - 1, "p.yaml", "/"};
    struct fby_pipeline_text latin1 = {"forebay: 1 # \xe9\n", 15, "p", "/"};
    struct fby_pipeline_text none   = {NULL, 0, "p.yaml", "/"};
    assert_int_equal(fby_pipeline_parse(&with, &p, &why), FBY_CONFIG);
    assert_string_equal(
        why.text, "p.yaml:2:1: this line is not UTF-8 text without NUL");
    assert_int_equal(fby_pipeline_parse(&latin1, &p, &why), FBY_CONFIG);
    assert_string_equal(
        why.text, "p:1:1: this line is not UTF-8 text without NUL");
    assert_int_equal(fby_pipeline_parse(&none, &p, &why), FBY_CONFIG);
    assert_string_equal(why.text, "p.yaml:1:1: the file is empty");
}

static void a_byte_order_mark_is_passed_over(void **state)
{
    (void)state;
    struct fby_pipeline    *p   = NULL;
    struct fby_error_detail why = {{0}};
    static const char       with_mark[] =
        "\xef\xbb\xbf"
        "forebay: 1\nsplits: {a: {folder: b}}\nglobal_batch: 1\n"
        "fields: {l: {from: folder}}\n";
    static const char        wrong[] = "\xef\xbb\xbf"
                                       "forebax: 1\n";
    struct fby_pipeline_text good    = {
           with_mark, sizeof(with_mark) - 1, "p", "/"};
    struct fby_pipeline_text bad = {wrong, sizeof(wrong) - 1, "p", "/"};
    assert_int_equal(fby_pipeline_parse(&good, &p, &why), FBY_OK);
    fby_pipeline_destroy(&p);
    assert_int_equal(fby_pipeline_parse(&bad, &p, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, "p:1:1: key 'forebax'"));

    static const char        twice[] = "\xef\xbb\xbf\xef\xbb\xbf"
                                       "forebay: 1\nsplits: {}\n";
    struct fby_pipeline_text second  = {twice, sizeof(twice) - 1, "p", "/"};
    assert_int_equal(fby_pipeline_parse(&second, &p, &why), FBY_CONFIG);
    assert_string_equal(
        why.text, "p:2:1: did not find expected <document start>");
}

static void a_file_beyond_one_mebibyte_is_refused(void **state)
{
    (void)state;
    size_t                   size = FBY_PIPELINE_MAX_BYTES + 1;
    char                    *text = fby_zalloc(size);
    struct fby_pipeline_text big  = {text, size, "p.yaml", "/"};
    struct fby_pipeline     *p    = NULL;
    struct fby_error_detail  why  = {{0}};
    memset(text, '\n', size);
    assert_int_equal(fby_pipeline_parse(&big, &p, &why), FBY_CONFIG);
    assert_string_equal(
        why.text, "p.yaml: 1048577 bytes; a pipeline file has at most 1048576");
    free(text);
}

/* ---- columns ---- */

#define COLUMNS                                               \
    "forebay: 1\n"                                            \
    "splits: {train: {columns: \"rec:day-{00..22}\"},\n"      \
    "         val: {columns: rec:last.npz, last: pad}}\n"     \
    "global_batch: 65536\n"                                   \
    "fields:\n"                                               \
    "  x: {from: x, decode: array, shape: [13], wire: f32}\n" \
    "  n: {from: [n, m], decode: number}\n"

static void fields_of_columns_need_no_extension_and_no_key(void **state)
{
    (void)state;
    struct fby_split *split = split_of(COLUMNS, "train");
    assert_int_equal(split->content.source, FBY_SOURCE_COLUMNS);
    assert_string_equal(split->location.pattern, "rec:day-{00..22}");
    assert_int_equal(field_of(split, "x")->decode, FBY_DECODE_ARRAY);
    assert_string_equal(field_of(split, "n")->as.number.key, "");
    assert_string_equal(field_of(split, "n")->from[1], "m");
    struct fby_buffer  bytes = {0};
    struct fby_content back;
    fby_content_encode(&split->content, &bytes);
    assert_ok(fby_content_decode(bytes.data, bytes.size, &back, NULL));
    assert_int_equal(back.source, FBY_SOURCE_COLUMNS);
    fby_buffer_fini(&bytes);
    fby_split_destroy(&split);
}

static void what_no_column_can_be_is_named(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"  y: {from: y}\n",
            "p.yaml:8:3: field 'y' comes from a column: say decode: array, "
            "label, number or sparse"},
        {"  y: {from: y, decode: rgb8}\n",
            "p.yaml:8:24: a column is decoded as array, label, number or "
            "sparse, not as rgb8"},
        {"  y: {from: y, decode: number, key: a}\n",
            "p.yaml:8:37: key 'key' is not used by columns"},
        {"  y: {from: y, decode: number, max_length: 3}\n",
            "p.yaml:8:44: a ragged column needs decode: array, and the shape "
            "of an entry ([] for a number)"},
        {"  y: {from: folder, decode: label}\n",
            "p.yaml:8:13: columns have no class folders; use from: COLUMN "
            "(split 'train')"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char                    text[1024];
        struct fby_pipeline    *pipeline = NULL;
        struct fby_error_detail why      = {{0}};
        snprintf(text, sizeof(text), "%s%s", COLUMNS, wrong[i][0]);
        assert_int_equal(parse_text(text, &pipeline, &why), FBY_CONFIG);
        assert_string_equal(why.text, wrong[i][1]);
    }
}

static void splits_of_columns_and_of_samples_do_not_mix(void **state)
{
    (void)state;
    struct fby_pipeline    *pipeline = NULL;
    struct fby_error_detail why      = {{0}};
    assert_int_equal(
        parse_text("forebay: 1\n"
                   "splits: {a: {columns: rec:x}, b: {shards: rec:t.tar}}\n"
                   "global_batch: 8\n"
                   "fields: {x: {from: x, decode: number}}\n",
            &pipeline, &why),
        FBY_CONFIG);
    assert_string_equal(why.text,
        "p.yaml:2:31: split 'a' has columns, and split 'b' does not; either "
        "all splits of a pipeline have columns, or none");
}

/* ---- the numbering of class folders ---- */

/* Assert that `classes` is the location that numbers the class folders of the
 * split `name`: "": they are numbered by themselves. */
static void assert_numbered_by(const char *splits, const char *field,
    const char *name, const char *classes)
{
    char text[512];
    snprintf(text, sizeof(text),
        "forebay: 1\nsplits:\n%sglobal_batch: 4\nfields:\n  x: {%s}\n", splits,
        field);
    struct fby_split *split = split_of(text, name);
    assert_string_equal(split->classes.pattern, classes);
    fby_split_destroy(&split);
}

static void class_folders_are_numbered_by_those_of_train(void **state)
{
    (void)state;
    static const char splits[] = "  train: {folder: a:t}\n"
                                 "  val: {folder: a:v}\n"
                                 "  same: {folder: a:t}\n"
                                 "  deep: {folder: a:d, class_depth: 2}\n"
                                 "  own: {folder: a:o, classes_from: own}\n"
                                 "  other: {folder: a:x, classes_from: own}\n";
    assert_numbered_by(splits, "from: folder", "train", "");
    assert_numbered_by(splits, "from: folder", "val", "a:t");
    assert_numbered_by(splits, "from: folder", "same", "");
    assert_numbered_by(splits, "from: folder", "deep", "");
    assert_numbered_by(splits, "from: folder", "own", "");
    assert_numbered_by(splits, "from: folder", "other", "a:o");
    assert_numbered_by(splits, "from: folder, names: [a, b]", "val", "");
    assert_numbered_by(
        splits, "from: jpg, decode: bytes, max_length: 8", "val", "");
    assert_numbered_by("  train: {shards: a:t.tar}\n  val: {folder: a:v}\n",
        "from: cls", "val", "");
}

/* Else ids of `val` would be those of `train`, which are those of `all`, only
 * if all three have the same folders. */
static void a_split_that_numbers_others_may_be_numbered_too(void **state)
{
    (void)state;
    static const char by_all[] = "  val: {folder: a:v}\n"
                                 "  train: {folder: a:t, classes_from: all}\n"
                                 "  all: {folder: a:a, classes_from: all}\n";
    static const char by_val[] = "  val: {folder: a:v}\n"
                                 "  train: {folder: a:t, classes_from: val}\n"
                                 "  test: {folder: a:s}\n";
    static const char by_default[] =
        "  train: {folder: a:t}\n"
        "  val: {folder: a:v}\n"
        "  test: {folder: a:s, classes_from: val}\n"
        "  own: {folder: a:o, classes_from: own}\n"
        "  other: {folder: a:x, classes_from: own}\n";
    assert_numbered_by(by_all, "from: folder", "val", "a:a");
    assert_numbered_by(by_all, "from: folder", "train", "a:a");
    assert_numbered_by(by_all, "from: folder", "all", "");
    assert_numbered_by(by_val, "from: folder", "val", "");
    assert_numbered_by(by_val, "from: folder", "train", "a:v");
    assert_numbered_by(by_val, "from: folder", "test", "a:v");
    assert_numbered_by(by_default, "from: folder", "val", "a:t");
    assert_numbered_by(by_default, "from: folder", "test", "a:t");
    assert_numbered_by(by_default, "from: folder", "other", "a:o");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_with_every_key_becomes_content),
        cmocka_unit_test(fields_stand_in_byte_order_of_their_names),
        cmocka_unit_test(ops_with_only_belong_to_their_split),
        cmocka_unit_test(labels_travel_in_the_smallest_type),
        cmocka_unit_test(an_array_has_the_shape_and_type_that_are_said),
        cmocka_unit_test(delivery_keeps_what_decides_no_value),
        cmocka_unit_test(photo_and_pack_may_be_said_by_either_word),
        cmocka_unit_test(what_is_not_said_has_a_default),
        cmocka_unit_test(blocks_get_their_lanes_and_slices_from_the_batch),
        cmocka_unit_test(the_same_op_twice_has_two_occurrences),
        cmocka_unit_test(a_split_is_asked_for_by_name),
        cmocka_unit_test(a_file_gives_its_folder_to_relative_paths),
        cmocka_unit_test(every_mistake_is_named_with_its_place_and_remedy),
        cmocka_unit_test(a_number_is_read_only_if_it_is_wholly_one),
        cmocka_unit_test(reals_are_json_numbers_in_range),
        cmocka_unit_test(bytes_that_are_no_text_are_refused_with_their_line),
        cmocka_unit_test(a_byte_order_mark_is_passed_over),
        cmocka_unit_test(a_file_beyond_one_mebibyte_is_refused),
        cmocka_unit_test(fields_of_columns_need_no_extension_and_no_key),
        cmocka_unit_test(what_no_column_can_be_is_named),
        cmocka_unit_test(splits_of_columns_and_of_samples_do_not_mix),
        cmocka_unit_test(class_folders_are_numbered_by_those_of_train),
        cmocka_unit_test(a_split_that_numbers_others_may_be_numbered_too),
    };
    return cmocka_run_group_tests_name("pipeline.parse", tests, NULL, NULL);
}
