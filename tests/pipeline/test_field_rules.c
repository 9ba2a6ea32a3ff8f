/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for one field and its ops, and for pictures, masks and maps, at
 * their limits. */
#include "tests/pipeline/contents.h"

/* ---- every field ---- */

static void a_field_has_a_name_and_a_group(void **state)
{
    (void)state;
    static const char wrong[] =
        "field 'txt': the name of the field or of its group is not valid";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("txt", &f);
    name_is(f->group, "1");
    assert_string_equal(content_error(&split->content), wrong);
    name_is(f->group, "");
    assert_string_equal(content_error(&split->content), wrong);
    name_is(f->group, "other");
    assert_string_equal(content_error(&split->content),
        "field 'txt': holds a value that its decoder does not use");
    name_is(f->group, "valid");
    name_is(f->name, "valid");
    assert_string_equal(content_error(&split->content),
        "field 'valid': the name of the field or of its group is not valid");
    name_is(f->name, "txu-9");
    name_is(f->group, "txu-9");
    assert_string_equal(content_error(&split->content), "");
    name_is(f->name, "tx u");
    assert_string_equal(content_error(&split->content),
        "field 'tx u': the name of the field or of its group is not valid");
    fby_split_destroy(&split);
}

/* A value for each member that all fields have and only some decoders use. */
static const struct fby_field_content odd = {
    .n_ops = 1, .n_device = 1, .group = "together"};

#define MEMBER(name)                                                 \
    {                                                                \
        offsetof(struct fby_field_content, name), sizeof((odd).name) \
    }

static const struct {
    size_t offset, size;
} members[] = {MEMBER(n_ops), MEMBER(n_device), MEMBER(group)};

enum { N_MEMBERS = sizeof(members) / sizeof(members[0]) };

static void refuses_member(const char *name, int member)
{
    struct fby_field_content *f;
    struct fby_split         *split  = split_with(name, &f);
    size_t                    offset = members[member].offset;
    memcpy(
        (char *)f + offset, (const char *)&odd + offset, members[member].size);
    const char *text = content_error(&split->content);
    if (strstr(text, "': holds a value that its decoder does not use") ==
        NULL) {
        fail_msg("%s with %d: \"%s\"", name, member, text);
    }
    fby_split_destroy(&split);
}

static void no_field_holds_what_its_decoder_does_not_use(void **state)
{
    (void)state;
    /* By `members`: x is refused in a field of the kind; . is not, or for
     * another reason. */
    static const char *const kinds[][2] = {
        {"arr", "xxx"},
        {"blob", "xxx"},
        {"lab", "xxx"},
        {"maps", ".x."},
        {"num", "xxx"},
        {"spa", "xxx"},
        {"txt", "xxx"},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        for (int member = 0; member < N_MEMBERS; member++) {
            if (kinds[i][1][member] == 'x') {
                refuses_member(kinds[i][0], member);
            }
        }
    }
}

static void what_a_decoder_uses_is_taken(void **state)
{
    (void)state;
    struct fby_field_content *f;
    struct fby_split         *split = split_with("txt", &f);
    name_is(f->as.text.key, "k");
    assert_string_equal(field_error(split, f), "");
    f->as.text.pick = FBY_PICK_RANDOM;
    assert_string_equal(field_error(split, f), "");
    fby_split_destroy(&split);
    split = split_with("lab", &f);
    name_is(f->as.label.json.key, "k");
    f->as.label.json.pick = FBY_PICK_RANDOM;
    assert_string_equal(field_error(split, f), "");
    f->as.label.one_hot = false;
    assert_string_equal(
        field_error(split, f), "holds a value that its decoder does not use");
    f->as.label.smoothing = 0;
    assert_string_equal(field_error(split, f), "");
    fby_split_destroy(&split);
    split = split_with("mask", &f);
    name_is(f->group, "together");
    assert_string_equal(field_error(split, f), "");
    fby_split_destroy(&split);
    split = split_with("maps", &f);
    name_is(f->group, "together");
    assert_string_equal(field_error(split, f), "");
    fby_split_destroy(&split);
}

static void extensions_are_those_of_the_decoder(void **state)
{
    (void)state;
    static const char npy[] =
        "an array comes from npy; no other files hold one here";
    static const char png[] =
        "a mask comes from png; other formats do not keep its values";
    static const char *const cases[][3] = {{"arr", "x.npy", ""},
        {"arr", "npz", npy}, {"mask", "x.png", ""}, {"mask", "jpg", png},
        {"maps", "jpg", png}, {"spa", "x.npz", ""},
        {"spa", "npy",
            "sparse rows come from npz, as scipy.sparse.save_npz writes them"},
        {"img", "webp", ""},
        {"img", "x.gif",
            "gif pictures are not decoded; convert them, for example with "
            "ImageMagick: 'mogrify -format png *.gif'"},
        {"img", "anything", ""},
        {"img", ".jpg", "'.jpg' is not a valid extension"},
        {"img", "", "'' is not a valid extension"},
        {"img", "folder",
            "folder is the number of the class folder: a label, alone"},
        {"txt", "gif", ""}, {"img", "png", "'png' is given twice"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_field_content *f;
        struct fby_split         *split = split_with(cases[i][0], &f);
        name_is(f->from[0], cases[i][1]);
        assert_string_equal(field_error(split, f), cases[i][2]);
        fby_split_destroy(&split);
    }
}

static void kinds_of_pictures_that_are_not_decoded_are_named(void **state)
{
    (void)state;
    static const char *const none[] = {
        "gif", "bmp", "tif", "tiff", "avif", "heic"};
    struct fby_field_content *f;
    struct fby_split         *split = split_with("img", &f);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        char wrong[120];
        snprintf(wrong, sizeof(wrong),
            "%s pictures are not decoded; convert them, for example with "
            "ImageMagick: 'mogrify -format png *.%s'",
            none[i], none[i]);
        name_is(f->from[0], none[i]);
        assert_string_equal(field_error(split, f), wrong);
    }
    name_is(f->from[0], "webp.jpeg");
    assert_string_equal(field_error(split, f), "");
    fby_split_destroy(&split);
}

static void set_froms(struct fby_field_content *f, uint32_t n, const char *kind)
{
    f->n_from = n;
    for (uint32_t i = 0; i < n && i < FBY_MAX_MAPS; i++) {
        snprintf(f->from[i], FBY_NAME_SIZE, "m%u.%s", i, kind);
    }
}

static void a_field_comes_from_1_to_8_extensions_and_maps_from_32(void **state)
{
    (void)state;
    struct fby_field_content *f;
    struct fby_split         *split = split_with("img", &f);
    for (uint32_t n = 0; n <= 9; n++) {
        set_froms(f, n, "jpg");
        assert_string_equal(field_error(split, f),
            n == 0   ? "expected 1 to 8 extensions, not 0"
            : n == 9 ? "expected 1 to 8 extensions, not 9"
                     : "");
    }
    fby_split_destroy(&split);
    split = split_with("maps", &f);
    for (uint32_t n = 1; n <= 32; n++) {
        set_froms(f, n, "png");
        f->as.maps.n = n;
        assert_string_equal(field_error(split, f), "");
    }
    f->as.maps.n--;
    assert_string_equal(field_error(split, f), "32 masks travel as 31 bits");
    fby_split_destroy(&split);
}

static void columns_hold_arrays_labels_numbers_and_sparse_rows(void **state)
{
    (void)state;
#define NO_COLUMN(kind) \
    "a column is decoded as array, label, number or sparse, not as " kind
    static const char *const kinds[][2] = {{"arr", ""},
        {"blob", NO_COLUMN("bytes")}, {"img", NO_COLUMN("rgb8")}, {"lab", ""},
        {"maps", NO_COLUMN("maps")}, {"mask", NO_COLUMN("mask8")}, {"rag", ""},
        {"spa", ""}, {"txt", NO_COLUMN("text")},
        {"num", "key 'key' is not used by columns"}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct fby_field_content *f;
        struct fby_split         *split = split_with(kinds[i][0], &f);
        struct fby_content       *c     = &split->content;
        c->source                       = FBY_SOURCE_COLUMNS;
        c->fields[0]                    = *f;
        c->n_fields                     = 1;
        assert_string_equal(field_error(split, c->fields), kinds[i][1]);
        if (strcmp(kinds[i][0], "num") == 0) { /* without its key it may */
            c->fields[0].as.number.key[0] = '\0';
            assert_string_equal(field_error(split, c->fields), "");
            c->fields[0].max_length = 4;
            c->fields[0].too_long   = FBY_TOO_LONG_REFUSE;
            assert_string_equal(field_error(split, c->fields),
                "a ragged column needs decode: array, and the shape of an "
                "entry ([] for a number)");
        }
        fby_split_destroy(&split);
    }
}

static void a_parameter_is_within_its_limits(void **state)
{
    (void)state;
    static const char wrong[] = "center_crop: size is not one or two integers, "
                                "1 to 16384 ([height, width])";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("img", &f);
    struct fby_value         *size  = &f->ops[0].params[0];
    for (int k = 0; k < 2; k++) {
        size->i[k]     = 16384;
        size->i[1 - k] = 16;
        assert_string_equal(field_error(split, f), "");
        size->i[k] = 16385;
        assert_string_equal(field_error(split, f), wrong);
        size->i[k] = 0;
        assert_string_equal(field_error(split, f), wrong);
        size->i[k] = 1;
        assert_string_equal(field_error(split, f), "");
    }
    size->n = 3;
    assert_string_equal(field_error(split, f), wrong);
    size->n = 1;
    assert_string_equal(field_error(split, f), wrong);
    size->n = 0;
    assert_string_equal(field_error(split, f), wrong);
    size->n    = 2;
    size->real = true;
    assert_string_equal(field_error(split, f), wrong);
    fby_split_destroy(&split);
}

static struct fby_split *split_with_device(void)
{
    return split_of("forebay: 1\n"
                    "splits: {train: {shards: s.tar}}\n"
                    "global_batch: 24\n"
                    "fields:\n"
                    "  img: {from: jpg, ops: [{center_crop: {size: 64}}],\n"
                    "        device: [{horizontal_flip: {p: 0.5}},\n"
                    "                 {normalize: {mean: 0.5, std: 0.25}},\n"
                    "                 {random_erasing: {p: 0.5}}]}\n",
        "train");
}

static void ops_of_the_device_obey_their_limits(void **state)
{
    (void)state;
    struct fby_split         *split = split_with_device();
    struct fby_field_content *f     = split->content.fields;
    assert_int_equal(f->n_device, 3);
    assert_string_equal(field_error(split, f), "");
    f->device[0].params[0].r[0] = 1.5;
    assert_string_equal(field_error(split, f),
        "horizontal_flip: p is not a number, 0 to 1 (how often)");
    f->device[0].params[0].r[0] = 1;
    assert_string_equal(field_error(split, f), "");
    f->device[2].params[0].r[0] = -0.5;
    assert_string_equal(field_error(split, f),
        "random_erasing: p is not a number, 0 to 1 (how often)");
    f->device[2].params[0].r[0] = 0;
    assert_string_equal(field_error(split, f), "");
    f->device[2].params[1].r[0] = 0.9;
    assert_string_equal(field_error(split, f),
        "scale: [0.9, 0.33] is the wrong way round; write the lower first");
    fby_split_destroy(&split);
}

static void the_list_of_the_device_and_normalize_agree(void **state)
{
    (void)state;
    static const char wrong[] =
        "the list under device is not that of a normalised picture";
    struct fby_split         *split = split_with_device();
    struct fby_field_content *f     = split->content.fields;
    f->as.rgb8.normalize            = false;
    assert_string_equal(field_error(split, f), wrong);
    f->as.rgb8.normalize = true;
    f->n_device          = 1; /* the flip */
    assert_string_equal(field_error(split, f), wrong);
    f->device[0] = f->device[1]; /* normalize, alone: needs no list */
    assert_string_equal(field_error(split, f), wrong);
    f->n_device = 0;
    assert_string_equal(field_error(split, f), "");
    fby_split_destroy(&split);
}

/* ---- pictures, masks and maps ---- */

static void mean_and_std_are_within_limits_in_each_channel(void **state)
{
    (void)state;
    static const char wrong[] = "normalize: a mean is within -1000000 to "
                                "1000000, a std within 0.000001 to 1000000";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("img", &f);
    for (int k = 0; k < 3; k++) {
        static const double means[] = {1e6, -1e6, 1000001, -1000001};
        static const double stds[]  = {1e6, 1e-6, 1000001, 0.9e-6};
        for (int i = 0; i < 4; i++) {
            f->as.rgb8.mean[k] = means[i];
            assert_string_equal(field_error(split, f), i < 2 ? "" : wrong);
            f->as.rgb8.mean[k] = 0;
            f->as.rgb8.std[k]  = stds[i];
            assert_string_equal(field_error(split, f), i < 2 ? "" : wrong);
            f->as.rgb8.std[k] = 1;
        }
    }
    f->as.rgb8.normalize = false;
    f->as.rgb8.mean[0]   = 1e7;
    assert_string_equal(field_error(split, f), "");
    fby_split_destroy(&split);
}

static void a_picture_is_u8_and_scaled_in_a_known_way(void **state)
{
    (void)state;
    struct fby_field_content *f;
    struct fby_split         *split = split_with("img", &f);
    for (int scale = 0; scale <= 4; scale++) {
        f->as.rgb8.dct_scale = (enum fby_dct_scale)scale;
        assert_string_equal(field_error(split, f),
            scale == 0 || scale == 4 ? "dct_scale is off, faithful or fast"
                                     : "");
    }
    f->as.rgb8.dct_scale = FBY_DCT_OFF;
    f->wire_type         = FBY_U16;
    assert_string_equal(field_error(split, f),
        "rgb8 pictures travel as u8, or as yuv420; use type: u8");
    f->wire_type = FBY_U8;
    f->n_from    = 1;
    name_is(f->from[0], "folder");
    assert_string_equal(field_error(split, f),
        "folder is the number of the class folder: a label, alone");
    fby_split_destroy(&split);
    split        = split_with("mask", &f);
    f->wire_type = FBY_U16;
    assert_string_equal(
        field_error(split, f), "masks travel as u8; use type: u8");
    fby_split_destroy(&split);
    split        = split_with("maps", &f);
    f->wire_type = FBY_U16;
    assert_string_equal(
        field_error(split, f), "maps travel as bits; use type: bits");
    fby_split_destroy(&split);
}

static void pictures_masks_and_maps_have_a_fixed_size(void **state)
{
    (void)state;
    static const char *const kinds[] = {"img", "mask", "maps"};
    for (size_t i = 0; i < 3; i++) {
        struct fby_field_content *f;
        struct fby_split         *split = split_with(kinds[i], &f);
        f->n_ops                        = 0;
        assert_string_equal(field_error(split, f),
            "the pictures have no fixed size; end ops with one that gives it, "
            "such as resize: {size: 224} or center_crop: {size: 224}");
        fby_split_destroy(&split);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_has_a_name_and_a_group),
        cmocka_unit_test(no_field_holds_what_its_decoder_does_not_use),
        cmocka_unit_test(what_a_decoder_uses_is_taken),
        cmocka_unit_test(extensions_are_those_of_the_decoder),
        cmocka_unit_test(kinds_of_pictures_that_are_not_decoded_are_named),
        cmocka_unit_test(a_field_comes_from_1_to_8_extensions_and_maps_from_32),
        cmocka_unit_test(columns_hold_arrays_labels_numbers_and_sparse_rows),
        cmocka_unit_test(a_parameter_is_within_its_limits),
        cmocka_unit_test(ops_of_the_device_obey_their_limits),
        cmocka_unit_test(the_list_of_the_device_and_normalize_agree),
        cmocka_unit_test(mean_and_std_are_within_limits_in_each_channel),
        cmocka_unit_test(a_picture_is_u8_and_scaled_in_a_known_way),
        cmocka_unit_test(pictures_masks_and_maps_have_a_fixed_size),
    };
    return cmocka_run_group_tests_name(
        "pipeline.field_rules", tests, NULL, NULL);
}
