/* The rules of content at their borders: the last value that is taken and the
 * first that is refused, with what is said of it. */
#include "tests/test.h"

#include <stdio.h>

#include "common/pipeline/check.h"
#include "common/pipeline/derived.h"
#include "common/pipeline/op.h"
#include "tests/common/pipeline/sample.h"

/* The error text for `c`; "" if it is accepted. */
static const char *said_of(const struct fby_content *c)
{
    static struct fby_why why;
    why.text[0] = '\0';
    fby_err err = fby_content_check(c, &why);
    assert_int_equal(err, why.text[0] == '\0' ? FBY_OK : FBY_CONFIG);
    return why.text;
}

static void name_is(char name[FBY_NAME_SIZE], const char *text)
{
    snprintf(name, FBY_NAME_SIZE, "%s", text);
}

static const char every_kind[] =
    "forebay: 1\n"
    "splits: {train: {shards: s.tar}}\n"
    "global_batch: 24\n"
    "fields:\n"
    "  arr: {from: npy, decode: array, shape: [2, 3], wire: f16}\n"
    "  bits: {from: b.npy, decode: array, shape: [4, 12], wire: bits}\n"
    "  blob: {from: bin, decode: bytes, length: 16}\n"
    "  img: {from: [jpg, png], ops: [{center_crop: {size: 64}}],\n"
    "        device: [{normalize: {mean: 0.5, std: 0.25}}]}\n"
    "  lab: {from: cls, classes: 10, one_hot: {smoothing: 0.1}}\n"
    "  maps: {from: [a.png, b.png], decode: maps,\n"
    "         ops: [{center_crop: {size: 64}}]}\n"
    "  mask: {from: m.png, decode: mask8, ops: [{center_crop: {size: 64}}]}\n"
    "  num: {from: json, key: s, wire: f32}\n"
    "  rag: {from: r.npy, decode: array, shape: [5], max_length: 40,\n"
    "        wire: u8}\n"
    "  spa: {from: npz, decode: sparse, shape: [6, 7], max_length: 42,\n"
    "        wire: f16}\n"
    "  txt: {from: txt, decode: text, max_length: 64}\n";

/* A content with a field of each kind, and the one called `name`. */
static struct fby_split *split_with(
    const char *name, struct fby_field_content **f)
{
    struct fby_split *split = split_of(every_kind, "train");
    *f                      = split->content.fields;
    while (strcmp((*f)->name, name) != 0) {
        (*f)++;
    }
    return split;
}

/* The error text for the content with the field as it is now: without the words
 * that name the field. */
static const char *said_with(
    struct fby_split *split, struct fby_field_content *f)
{
    char start[80];
    f->shape         = fby_field_shape(f);
    int         n    = snprintf(start, sizeof(start), "field '%s': ", f->name);
    const char *text = said_of(&split->content);
    return strncmp(text, start, (size_t)n) == 0 ? text + n : text;
}

/* ---- the order ---- */

static void blocks_have_their_numbers_within_limits(void **state)
{
    (void)state;
    struct fby_split   *split = split_of(sample_file, "train");
    struct fby_content *c     = &split->content;
    assert_string_equal(said_of(c), "");
    c->block = 0;
    assert_string_equal(said_of(c), "block is not within 1 to 1048576");
    c->block = 1 << 20;
    assert_string_equal(said_of(c), "");
    c->block++;
    assert_string_equal(said_of(c), "block is not within 1 to 1048576");
    c->block = 1;
    c->lanes = 0;
    assert_string_equal(said_of(c), "lanes is not within 1 to 65536");
    c->lanes = 65536;
    assert_string_equal(said_of(c), "");
    c->lanes++;
    assert_string_equal(said_of(c), "lanes is not within 1 to 65536");
    c->lanes  = 1;
    c->slices = 0;
    assert_string_equal(
        said_of(c), "slices (0) does not divide global_batch (24)");
    c->slices = 24;
    assert_string_equal(said_of(c), "");
    c->slices = 48;
    assert_string_equal(
        said_of(c), "slices (48) does not divide global_batch (24)");
    fby_split_destroy(&split);
}

static void without_blocks_their_numbers_are_0(void **state)
{
    (void)state;
    static const char   wrong[] = "block, lanes and slices belong to shuffle: "
                                  "{block: K}";
    struct fby_split   *split   = split_of(sample_file, "val");
    struct fby_content *c       = &split->content;
    assert_string_equal(said_of(c), "");
    c->block = 1;
    assert_string_equal(said_of(c), wrong);
    c->block = 0;
    c->lanes = 1;
    assert_string_equal(said_of(c), wrong);
    c->lanes  = 0;
    c->slices = 1;
    assert_string_equal(said_of(c), wrong);
    fby_split_destroy(&split);
}

static void a_batch_and_a_source_are_known(void **state)
{
    (void)state;
    struct fby_split   *split = split_of(sample_file, "val");
    struct fby_content *c     = &split->content;
    c->global_batch           = 1;
    assert_string_equal(said_of(c), "");
    c->global_batch = 65536;
    assert_string_equal(said_of(c), "");
    c->global_batch++;
    assert_string_equal(said_of(c), "global_batch is not within 1 to 65536");
    c->global_batch = 0;
    assert_string_equal(said_of(c), "global_batch is not within 1 to 65536");
    c->global_batch = 1;
    c->source       = (enum fby_source_kind)7;
    assert_string_equal(said_of(c), "the source is of no known kind");
    c->source = (enum fby_source_kind)0;
    assert_string_equal(said_of(c), "the source is of no known kind");
    fby_split_destroy(&split);
}

static void names_of_fields_ascend(void **state)
{
    (void)state;
    static const char   wrong[] = "fields are not in byte order of their names";
    struct fby_split   *split   = split_of(sample_file, "train");
    struct fby_content *c       = &split->content;
    for (uint32_t i = 1; i < c->n_fields; i++) {
        struct fby_field_content kept = c->fields[i];
        memcpy(c->fields[i].name, c->fields[i - 1].name, FBY_NAME_SIZE);
        assert_string_equal(said_of(c), wrong);
        c->fields[i] = kept;
    }
    assert_string_equal(said_of(c), "");
    fby_split_destroy(&split);
}

/* ---- sources ---- */

static void files_are_columns_of_a_list(void **state)
{
    (void)state;
    static const char wrong[] =
        "files are columns of a list, each once, in byte order: lower-case "
        "letters, digits, _ and -";
    struct fby_split *split =
        split_of("forebay: 1\n"
                 "splits: {train: {list: \"p:t.csv\", files: [image, mask]}}\n"
                 "global_batch: 8\n"
                 "fields: {image: {from: image.jpg, ops: [{center_crop: {size: "
                 "32}}]}}\n",
            "train");
    struct fby_content *c = &split->content;
    assert_int_equal(c->n_files, 2);
    assert_string_equal(said_of(c), "");
    name_is(c->files[1], "image");
    assert_string_equal(said_of(c), wrong);
    name_is(c->files[1], "imaga");
    assert_string_equal(said_of(c), wrong);
    name_is(c->files[1], "mask.a");
    assert_string_equal(said_of(c), wrong);
    name_is(c->files[1], "Mask");
    assert_string_equal(said_of(c), wrong);
    name_is(c->files[1], "mask");
    name_is(c->files[0], "Image");
    assert_string_equal(said_of(c), wrong);
    name_is(c->files[0], "image");
    c->source = FBY_SOURCE_SHARDS;
    assert_string_equal(said_of(c), wrong);
    c->n_files = 0;
    assert_string_equal(said_of(c), "");
    fby_split_destroy(&split);
}

/* Packed documents in flat files of u16. */
static struct fby_split *split_of_documents(void)
{
    return split_of(
        "forebay: 1\n"
        "splits: {train: {tokens: {files: t.bin, format: flat, type: u16,\n"
        "  length: 8, shift: 1, pack: documents, end: 7, pad: 9}}}\n"
        "global_batch: 4\n"
        "fields: {a: {from: input}, b: {from: documents}}\n",
        "train");
}

static void a_token_is_one_of_its_type(void **state)
{
    (void)state;
    static const struct {
        enum fby_type type;
        uint32_t      most;
    } types[] = {{FBY_U8, 255}, {FBY_U16, 65535}, {FBY_U32, INT32_MAX},
        {FBY_I32, INT32_MAX}, {FBY_I64, INT32_MAX}};
    struct fby_split   *split = split_of_documents();
    struct fby_content *c     = &split->content;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        char wrong[160];
        c->tokens.type = types[i].type;
        c->tokens.end  = types[i].most;
        assert_string_equal(said_of(c), "");
        c->tokens.end++;
        snprintf(wrong, sizeof(wrong),
            "tokens: end (%u) is a token of the files, 0 to %u; pad (9) is "
            "one, 0 to 2147483647",
            c->tokens.end, types[i].most);
        assert_string_equal(said_of(c), wrong);
    }
    c->tokens.end          = 0;
    c->fields[0].wire_type = FBY_U32;
    c->fields[0].pad       = INT32_MAX;
    c->fields[1].pad       = INT32_MAX;
    c->tokens.pad          = INT32_MAX;
    assert_string_equal(said_of(c), "");
    c->tokens.pad++;
    assert_non_null(strstr(said_of(c), "pad (2147483648) is one"));
    fby_split_destroy(&split);
}

static void pad_and_end_belong_to_packed_documents(void **state)
{
    (void)state;
    static const char wrong[] = "tokens: pad belongs to packed documents, "
                                "end to those of flat files";
    struct fby_split *split   = split_of(
          "forebay: 1\n"
            "splits: {train: {tokens: {files: t.bin, format: flat, type: u16,\n"
            "  length: 8, shift: 1}}}\n"
            "global_batch: 4\n"
            "fields: {a: {from: input}}\n",
          "train");
    struct fby_content *c = &split->content;
    assert_string_equal(said_of(c), "");
    c->tokens.pad = 1;
    assert_string_equal(said_of(c), wrong);
    c->tokens.pad = 0;
    c->tokens.end = 1;
    assert_string_equal(said_of(c), wrong);
    fby_split_destroy(&split);
    split            = split_of_documents();
    c                = &split->content;
    c->tokens.format = FBY_TOKENS_MEGATRON;
    assert_string_equal(said_of(c), wrong);
    c->tokens.end = 0;
    assert_string_equal(said_of(c), "");
    fby_split_destroy(&split);
}

static void tokens_say_their_type_length_and_column(void **state)
{
    (void)state;
    static const char type[] = "tokens: the type is u8, u16, u32, i32 or i64, "
                               "and of flat files it is said";
    static const char length[] = "tokens: length is not within 1 to 16777216";
    static const char column[] = "tokens: the column belongs to format: mds, "
                                 "which has one";
    struct fby_split *split    = split_of_documents();
    struct fby_content *c      = &split->content;
    c->tokens.type             = (enum fby_type)0;
    assert_string_equal(said_of(c), type);
    c->tokens.end    = 0;
    c->tokens.format = FBY_TOKENS_MEGATRON;
    assert_string_equal(said_of(c), "");
    c->tokens.type = FBY_BF16;
    assert_string_equal(said_of(c), type);
    c->tokens.type   = FBY_U16;
    c->tokens.length = (1 << 24) + 1;
    assert_string_equal(said_of(c), length);
    c->tokens.length = 0;
    assert_string_equal(said_of(c), length);
    c->tokens.length = 1 << 24; /* then the field's is another one */
    assert_string_equal(said_of(c),
        "field 'a': 8 tokens, but a sequence of the source has 16777216");
    c->tokens.length = 8;
    name_is(c->tokens.column, "x");
    assert_string_equal(said_of(c), column);
    c->tokens.format = FBY_TOKENS_MDS;
    assert_string_equal(said_of(c), "");
    c->tokens.column[0] = '\0';
    assert_string_equal(said_of(c), column);
    fby_split_destroy(&split);
}

static void pad_is_held_by_the_type_that_travels(void **state)
{
    (void)state;
    struct fby_split   *split = split_of_documents();
    struct fby_content *c     = &split->content;
    for (uint32_t pad = 65535; pad <= 65536; pad++) {
        c->tokens.pad    = pad;
        c->fields[0].pad = pad;
        c->fields[1].pad = pad;
        assert_string_equal(said_of(c),
            pad <= 65535 ? ""
                         : "field 'a': its wire type u16 does not hold pad: "
                           "65536");
    }
    c->fields[0].wire_type = FBY_U32;
    assert_string_equal(said_of(c), "");
    fby_split_destroy(&split);
}

static void tokens_come_from_one_part_of_a_sequence(void **state)
{
    (void)state;
    static const char tokens[] = "field 'a': tokens come from input, target "
                                 "or sequence, one";
    static const char documents[] =
        "field 'b': lengths of documents come from documents, as many as a "
        "sequence has, and travel as the smaller of u16 and u32 that holds its "
        "length";
    struct fby_split         *split = split_of_documents();
    struct fby_field_content *f     = split->content.fields;
    f[0].n_from                     = 2;
    name_is(f[0].from[1], "x");
    assert_string_equal(said_of(&split->content), tokens);
    f[0].n_from = 1;
    name_is(f[0].from[0], "documents");
    assert_string_equal(said_of(&split->content), tokens);
    name_is(f[0].from[0], "target");
    assert_string_equal(said_of(&split->content), "");
    f[1].n_from = 2;
    name_is(f[1].from[1], "x");
    assert_string_equal(said_of(&split->content), documents);
    f[1].n_from   = 1;
    f[1].too_long = FBY_TOO_LONG_TRUNCATE;
    assert_string_equal(said_of(&split->content), documents);
    f[1].too_long  = FBY_TOO_LONG_REFUSE;
    f[1].wire_type = FBY_U32;
    assert_string_equal(said_of(&split->content), documents);
    f[1].wire_type = FBY_U16;
    name_is(f[1].from[0], "input");
    assert_string_equal(said_of(&split->content), documents);
    fby_split_destroy(&split);
}

static void a_packed_field_is_as_its_source(void **state)
{
    (void)state;
    static const char wrong[]      = "field 'a': from: documents needs pack: "
                                     "documents of the source";
    struct fby_split *split        = split_of_documents();
    struct fby_field_content *a    = &split->content.fields[0];
    struct fby_field_content  kept = *a;
    a->packed                      = false;
    assert_string_equal(said_of(&split->content), wrong);
    *a = kept;
    a->pad++;
    assert_string_equal(said_of(&split->content), wrong);
    *a       = kept;
    a->shift = 0;
    assert_string_equal(said_of(&split->content), wrong);
    *a = kept;
    assert_string_equal(said_of(&split->content), "");
    fby_split_destroy(&split);
}

static void a_field_fits_its_source(void **state)
{
    (void)state;
    struct fby_field_content *f;
    struct fby_split         *split = split_with("lab", &f);
    name_is(f->from[0], "folder");
    assert_string_equal(said_with(split, f),
        "only a folder source has class folders; use from: cls, or a column");
    split->content.source = FBY_SOURCE_FOLDER;
    assert_string_equal(said_with(split, f), "");
    fby_split_destroy(&split);
    split                 = split_of_documents();
    f                     = split->content.fields;
    split->content.source = FBY_SOURCE_FOLDER;
    assert_string_equal(said_with(split, f),
        "decode: tokens and a source of tokens belong together");
    fby_split_destroy(&split);
}

/* ---- buckets ---- */

static void bounds_ascend_from_1_to_2_to_the_40(void **state)
{
    (void)state;
    static const char wrong[] =
        "bucket_by: bounds are within 1 to 2^40, and ascend";
    static const struct {
        int64_t     bounds[3];
        const char *says;
    } cases[] = {{{1, 2, INT64_C(1) << 40}, ""}, {{0, 2, 3}, wrong},
        {{-1, 2, 3}, wrong}, {{1, 1, 2}, wrong}, {{1, 2, 2}, wrong},
        {{2, 1, 3}, wrong}, {{1, 2, (INT64_C(1) << 40) + 1}, wrong}};
    struct fby_field_content *f;
    struct fby_split         *split = split_with("txt", &f);
    name_is(split->content.bucket_by.field, "txt");
    split->content.bucket_by.n_bounds = 3;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        memcpy(split->content.bucket_by.bounds, cases[i].bounds,
            sizeof(cases[i].bounds));
        assert_string_equal(said_of(&split->content), cases[i].says);
    }
    split->content.bucket_by.field[0] = '\0';
    assert_string_equal(
        said_of(&split->content), "bucket_by: there is no field ''");
    fby_split_destroy(&split);
}

static void rows_of_columns_have_lengths_where_they_vary(void **state)
{
    (void)state;
    struct fby_split *split = split_of(
        "forebay: 1\n"
        "splits: {train: {columns: \"r:d\"}}\n"
        "global_batch: 8\n"
        "fields:\n"
        "  a: {from: a, decode: array, shape: [], max_length: 5, wire: f32}\n"
        "  b: {from: b, decode: array, shape: [5], wire: f32}\n",
        "train");
    struct fby_content *c  = &split->content;
    c->bucket_by.n_bounds  = 1;
    c->bucket_by.bounds[0] = 3;
    name_is(c->bucket_by.field, "a");
    assert_string_equal(said_of(c), "");
    name_is(c->bucket_by.field, "b");
    assert_string_equal(
        said_of(c), "bucket_by: the rows of field 'b' are all of one length");
    name_is(c->bucket_by.field, "a");
    c->shuffle = FBY_SHUFFLE_BLOCK;
    c->block   = 1;
    c->lanes   = 1;
    c->slices  = 1;
    assert_string_equal(said_of(c),
        "bucket_by goes with shuffle: full or none; buckets are not cut into "
        "blocks");
    fby_split_destroy(&split);
}

/* ---- every field ---- */

static void a_field_has_a_name_and_a_group(void **state)
{
    (void)state;
    static const char wrong[] = "field 'txt': is no name for a field or group";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("txt", &f);
    name_is(f->group, "1");
    assert_string_equal(said_of(&split->content), wrong);
    name_is(f->group, "");
    assert_string_equal(said_of(&split->content), wrong);
    name_is(f->group, "other");
    assert_string_equal(said_of(&split->content),
        "field 'txt': holds a value that its decoder does not use");
    name_is(f->group, "valid");
    name_is(f->name, "valid");
    assert_string_equal(said_of(&split->content),
        "field 'valid': is no name for a field or group");
    name_is(f->name, "txu-9");
    name_is(f->group, "txu-9");
    assert_string_equal(said_of(&split->content), "");
    name_is(f->name, "tx u");
    assert_string_equal(said_of(&split->content),
        "field 'tx u': is no name for a field or group");
    fby_split_destroy(&split);
}

enum strange {
    OPS,
    DEVICE,
    GROUP,
    NORMALIZE,
    DCT_SCALE,
    YUV420,
    CLASSES,
    ONE_HOT,
    SMOOTHING,
    KEY,
    PICK,
    LENGTH,
    ARRAY,
    MAPS,
    N_STRANGE
};

static void add(struct fby_field_content *f, enum strange what)
{
    static const struct fby_op_use flip = {0};
    switch (what) {
    case OPS:
        f->ops[f->n_ops++] = flip;
        break;
    case DEVICE:
        f->device[f->n_device++] = flip;
        break;
    case GROUP:
        name_is(f->group, "together");
        break;
    case NORMALIZE:
        f->normalize = true;
        break;
    case DCT_SCALE:
        f->dct_scale = FBY_DCT_FAST;
        break;
    case YUV420:
        f->yuv420 = true;
        break;
    case CLASSES:
        f->classes = 1;
        break;
    case ONE_HOT:
        f->one_hot = true;
        break;
    case SMOOTHING:
        f->smoothing = 0.5;
        break;
    case KEY:
        name_is(f->json_key, "k");
        break;
    case PICK:
        f->pick = FBY_PICK_RANDOM;
        break;
    case LENGTH:
        f->length = 1;
        break;
    case ARRAY:
        f->array = (struct fby_shape){1, {1}};
        break;
    case MAPS:
        f->maps = 1;
        break;
    case N_STRANGE:
        break;
    }
}

static void no_field_holds_what_its_decoder_does_not_use(void **state)
{
    (void)state;
    /* By enum strange: x is refused with a field of the kind, . is not, or not
     * for being strange. */
    static const struct {
        const char *name;
        const char *strange;
    } kinds[] = {
        {"arr", "xxxxxxxxxxxx.."},
        {"blob", "xxxxxxxxxxx.xx"},
        {"img", "......xxxxxxxx"},
        {"maps", "...xxxxxxxxxx."},
        {"mask", "...xxxxxxxxxxx"},
        {"num", "xxxxxxxxx..xxx"},
        {"spa", "xxxxxxxxxxxx.x"},
        {"txt", "xxxxxxxxx.xxxx"},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        for (int what = 0; what < N_STRANGE; what++) {
            struct fby_field_content *f;
            struct fby_split         *split = split_with(kinds[i].name, &f);
            if (kinds[i].strange[what] == 'x') {
                add(f, (enum strange)what);
                const char *text = said_of(&split->content);
                if (strstr(text, "': holds a value that its decoder does not "
                                 "use") == NULL) {
                    fail_msg("%s with %d: \"%s\"", kinds[i].name, what, text);
                }
            }
            fby_split_destroy(&split);
        }
    }
}

static void what_a_decoder_uses_is_no_stranger(void **state)
{
    (void)state;
    struct fby_field_content *f;
    struct fby_split         *split = split_with("txt", &f);
    add(f, KEY);
    assert_string_equal(said_with(split, f), "");
    add(f, PICK);
    assert_string_equal(said_with(split, f), "");
    fby_split_destroy(&split);
    split = split_with("lab", &f);
    add(f, KEY);
    add(f, PICK);
    assert_string_equal(said_with(split, f), "");
    f->one_hot = false;
    assert_string_equal(
        said_with(split, f), "holds a value that its decoder does not use");
    f->smoothing = 0;
    assert_string_equal(said_with(split, f), "");
    fby_split_destroy(&split);
    split = split_with("mask", &f);
    add(f, GROUP);
    assert_string_equal(said_with(split, f), "");
    fby_split_destroy(&split);
    split = split_with("maps", &f);
    add(f, GROUP);
    assert_string_equal(said_with(split, f), "");
    fby_split_destroy(&split);
}

static void extensions_are_those_of_the_decoder(void **state)
{
    (void)state;
    static const char *const cases[][3] = {{"arr", "x.npy", ""},
        {"arr", "npz", "npz"}, {"mask", "x.png", ""}, {"mask", "jpg", "jpg"},
        {"maps", "jpg", "jpg"}, {"spa", "x.npz", ""}, {"spa", "npy", "npy"},
        {"img", "webp", "webp"}, {"img", "x.gif", "x.gif"},
        {"img", "anything", ""}, {"img", ".jpg", ".jpg"}, {"img", "", ""},
        {"img", "folder", "folder"}, {"txt", "gif", ""}, {"img", "png", "png"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_field_content *f;
        struct fby_split         *split     = split_with(cases[i][0], &f);
        char                      wrong[96] = "";
        name_is(f->from[0], cases[i][1]);
        if (cases[i][2][0] != '\0' || cases[i][1][0] == '\0') {
            snprintf(wrong, sizeof(wrong),
                "from: '%s' is no extension to look for here", cases[i][2]);
        }
        assert_string_equal(said_with(split, f), wrong);
        fby_split_destroy(&split);
    }
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
        assert_string_equal(said_with(split, f),
            n == 0 || n == 9 ? "from is not 1 to 8 extensions" : "");
    }
    fby_split_destroy(&split);
    split = split_with("maps", &f);
    for (uint32_t n = 1; n <= 32; n++) {
        set_froms(f, n, "png");
        f->maps = n;
        assert_string_equal(said_with(split, f), "");
    }
    f->maps--;
    assert_string_equal(said_with(split, f),
        "a maps field has the wire type bits, and one for each of its members");
    fby_split_destroy(&split);
}

static void columns_hold_arrays_labels_numbers_and_sparse_rows(void **state)
{
    (void)state;
    static const char wrong[] =
        "comes from a column: an array, a label, a number or a sparse row";
    static const char *const kinds[][2] = {{"arr", ""}, {"blob", wrong},
        {"img", wrong}, {"lab", ""}, {"maps", wrong}, {"mask", wrong},
        {"rag", ""}, {"spa", ""}, {"txt", wrong}, {"num", wrong}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct fby_field_content *f;
        struct fby_split         *split = split_with(kinds[i][0], &f);
        struct fby_content       *c     = &split->content;
        c->source                       = FBY_SOURCE_COLUMNS;
        c->fields[0]                    = *f;
        c->n_fields                     = 1;
        assert_string_equal(said_with(split, c->fields), kinds[i][1]);
        if (strcmp(kinds[i][0], "num") == 0) { /* without its key it may */
            c->fields[0].json_key[0] = '\0';
            assert_string_equal(said_with(split, c->fields), "");
            c->fields[0].max_length = 4;
            c->fields[0].too_long   = FBY_TOO_LONG_REFUSE;
            assert_string_equal(said_with(split, c->fields), wrong);
        }
        fby_split_destroy(&split);
    }
}

static void the_shape_follows_from_the_ops(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fby_field_content *f;
        struct fby_split         *split = split_with("img", &f);
        f->shape.dims[i]++;
        assert_string_equal(said_of(&split->content),
            "field 'img': its shape is not what its ops make");
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
        assert_string_equal(said_with(split, f), "");
        size->i[k] = 16385;
        assert_string_equal(said_with(split, f), wrong);
        size->i[k] = 0;
        assert_string_equal(said_with(split, f), wrong);
        size->i[k] = 1;
        assert_string_equal(said_with(split, f), "");
    }
    size->n = 3;
    assert_string_equal(said_with(split, f), wrong);
    size->n = 1;
    assert_string_equal(said_with(split, f), wrong);
    size->n = 0;
    assert_string_equal(said_with(split, f), wrong);
    size->n    = 2;
    size->real = true;
    assert_string_equal(said_with(split, f), wrong);
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
    assert_string_equal(said_with(split, f), "");
    f->device[0].params[0].r[0] = 1.5;
    assert_string_equal(said_with(split, f),
        "horizontal_flip: p is not a number, 0 to 1 (how often)");
    f->device[0].params[0].r[0] = 1;
    assert_string_equal(said_with(split, f), "");
    f->device[2].params[0].r[0] = -0.5;
    assert_string_equal(said_with(split, f),
        "random_erasing: p is not a number, 0 to 1 (how often)");
    f->device[2].params[0].r[0] = 0;
    assert_string_equal(said_with(split, f), "");
    f->device[2].params[1].r[0] = 0.9;
    assert_string_equal(said_with(split, f),
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
    f->normalize                    = false;
    assert_string_equal(said_with(split, f), wrong);
    f->normalize = true;
    f->n_device  = 1; /* the flip */
    assert_string_equal(said_with(split, f), wrong);
    f->device[0] = f->device[1]; /* normalize, alone: needs no list */
    assert_string_equal(said_with(split, f), wrong);
    f->n_device = 0;
    assert_string_equal(said_with(split, f), "");
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
            f->mean[k] = means[i];
            assert_string_equal(said_with(split, f), i < 2 ? "" : wrong);
            f->mean[k] = 0;
            f->std[k]  = stds[i];
            assert_string_equal(said_with(split, f), i < 2 ? "" : wrong);
            f->std[k] = 1;
        }
    }
    f->normalize = false;
    f->mean[0]   = 1e7;
    assert_string_equal(said_with(split, f), "");
    fby_split_destroy(&split);
}

static void a_picture_is_u8_and_scaled_in_a_known_way(void **state)
{
    (void)state;
    static const char wrong[] = "an rgb8 field comes from a member, with a "
                                "dct_scale and wire type u8";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("img", &f);
    for (int scale = 0; scale <= 4; scale++) {
        f->dct_scale = (enum fby_dct_scale)scale;
        assert_string_equal(
            said_with(split, f), scale == 0 || scale == 4 ? wrong : "");
    }
    f->dct_scale = FBY_DCT_OFF;
    f->wire_type = FBY_U16;
    assert_string_equal(said_with(split, f), wrong);
    f->wire_type = FBY_U8;
    f->n_from    = 1;
    name_is(f->from[0], "folder");
    assert_string_equal(said_with(split, f), wrong);
    fby_split_destroy(&split);
    split        = split_with("mask", &f);
    f->wire_type = FBY_U16;
    assert_string_equal(
        said_with(split, f), "a mask8 field has the wire type u8");
    fby_split_destroy(&split);
    split        = split_with("maps", &f);
    f->wire_type = FBY_U16;
    assert_string_equal(said_with(split, f),
        "a maps field has the wire type bits, and one for each of its members");
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
        assert_string_equal(said_with(split, f),
            "the pictures have no fixed size; end ops with one that gives it, "
            "such as resize: {size: 224} or center_crop: {size: 224}");
        fby_split_destroy(&split);
    }
}

/* ---- labels, numbers, bytes and texts ---- */

static void classes_decide_a_label_s_type(void **state)
{
    (void)state;
    static const struct {
        uint32_t      classes;
        enum fby_type type;
    } cases[] = {{0, FBY_U32}, {1, FBY_U8}, {256, FBY_U8}, {257, FBY_U16},
        {65536, FBY_U16}, {65537, FBY_U32}, {INT32_MAX, FBY_U32}};
    struct fby_field_content *f;
    struct fby_split         *split = split_with("lab", &f);
    f->one_hot                      = false;
    f->smoothing                    = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        f->classes = cases[i].classes;
        for (uint32_t type = FBY_U8; type <= FBY_U32; type++) {
            f->wire_type = (enum fby_type)type;
            assert_string_equal(said_with(split, f),
                type == cases[i].type
                    ? ""
                    : "a label's wire type is the smallest of u8, u16, u32 "
                      "that holds the classes");
        }
    }
    f->classes = UINT32_C(1) << 31;
    assert_string_equal(said_with(split, f), "classes is more than 2147483647");
    fby_split_destroy(&split);
}

static void one_hot_has_1_to_65536_classes(void **state)
{
    (void)state;
    static const char         wrong[] = "one_hot needs classes, 1 to 65536";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("lab", &f);
    f->classes                      = 1;
    assert_string_equal(said_with(split, f), "");
    f->classes   = 65536;
    f->wire_type = FBY_U16;
    assert_string_equal(said_with(split, f), "");
    f->classes++;
    f->wire_type = FBY_U32;
    assert_string_equal(said_with(split, f), wrong);
    f->classes = 0;
    assert_string_equal(said_with(split, f), wrong);
    fby_split_destroy(&split);
}

static void smoothing_is_0_to_below_1(void **state)
{
    (void)state;
    static const struct {
        double      smoothing;
        const char *says;
    } cases[] = {{0, ""}, {0.999999, ""},
        {1, "smoothing is not at least 0 and below 1"},
        {-1e-9, "smoothing is not at least 0 and below 1"}};
    struct fby_field_content *f;
    struct fby_split         *split = split_with("lab", &f);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        f->smoothing = cases[i].smoothing;
        assert_string_equal(said_with(split, f), cases[i].says);
    }
    split->content.source = FBY_SOURCE_FOLDER;
    name_is(f->from[0], "folder");
    name_is(f->json_key, "k");
    assert_string_equal(
        said_with(split, f), "a class folder's number has no key");
    fby_split_destroy(&split);
}

static void a_number_has_a_key_and_a_type(void **state)
{
    (void)state;
    struct fby_field_content *f;
    struct fby_split         *split = split_with("num", &f);
    for (uint32_t type = FBY_U8; type <= FBY_U32; type++) {
        f->wire_type = (enum fby_type)type;
        assert_string_equal(said_with(split, f),
            type == FBY_F16 || type == FBY_BF16
                ? "a number travels as u8, u16, u32, i32, i64 or f32"
                : "");
    }
    f->json_key[0] = '\0';
    assert_string_equal(said_with(split, f),
        "a number comes from a key of a JSON member, or from a column");
    name_is(f->json_key, "k");
    name_is(f->from[0], "folder");
    split->content.source = FBY_SOURCE_FOLDER;
    assert_string_equal(said_with(split, f),
        "a number comes from a key of a JSON member, or from a column");
    fby_split_destroy(&split);
}

static void bytes_have_a_length(void **state)
{
    (void)state;
    static const char wrong[] = "length is not within 1 to 1073741824";
    static const char other[] = "bytes come from a member and travel as u8";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("blob", &f);
    f->length                       = 1 << 30;
    assert_string_equal(said_with(split, f), "");
    f->length++;
    assert_string_equal(said_with(split, f), wrong);
    f->length = 0;
    assert_string_equal(said_with(split, f), wrong);
    f->max_length = 1;
    f->too_long   = FBY_TOO_LONG_REFUSE;
    assert_string_equal(said_with(split, f), "");
    f->length = 1;
    assert_string_equal(said_with(split, f), wrong);
    f->max_length = 0;
    f->too_long   = (enum fby_too_long)0;
    assert_string_equal(said_with(split, f), "");
    f->wire_type = FBY_U16;
    assert_string_equal(said_with(split, f), other);
    f->wire_type          = FBY_U8;
    split->content.source = FBY_SOURCE_FOLDER;
    name_is(f->from[0], "folder");
    assert_string_equal(said_with(split, f), other);
    fby_split_destroy(&split);
}

static void a_text_has_a_max_length(void **state)
{
    (void)state;
    static const char wrong[] =
        "a text comes from a member, has a max_length and travels as u8";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("txt", &f);
    struct fby_field_content  kept  = *f;
    f->max_length                   = 1;
    assert_string_equal(said_with(split, f), "");
    f->wire_type = FBY_U16;
    assert_string_equal(said_with(split, f), wrong);
    *f                    = kept;
    split->content.source = FBY_SOURCE_FOLDER;
    name_is(f->from[0], "folder");
    assert_string_equal(said_with(split, f), wrong);
    *f            = kept;
    f->max_length = 0;
    f->too_long   = (enum fby_too_long)0;
    assert_string_equal(said_with(split, f), wrong);
    fby_split_destroy(&split);
}

/* ---- arrays, and what varies ---- */

static void an_array_has_at_most_1_gib(void **state)
{
    (void)state;
    static const char wrong[] =
        "an array has a wire type, up to 4 dimensions of at least 1, and at "
        "most 1073741824 bytes";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("arr", &f);
    f->array                        = (struct fby_shape){1, {1 << 29}};
    assert_string_equal(said_with(split, f), ""); /* of f16 */
    f->array.dims[0]++;
    assert_string_equal(said_with(split, f), wrong);
    f->array = (struct fby_shape){4, {1, 2, 3, 4}};
    assert_string_equal(said_with(split, f), "");
    f->array.dims[3] = 0;
    assert_string_equal(said_with(split, f), wrong);
    f->array = (struct fby_shape){4, {65536, 65536, 65536, 65536}};
    assert_string_equal(said_with(split, f), wrong);
    fby_split_destroy(&split);
}

static void bits_are_packed_along_the_last_dimension(void **state)
{
    (void)state;
    static const char wrong[] =
        "bits are packed along the last dimension of an array";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("bits", &f);
    assert_string_equal(said_with(split, f), "");
    f->maps = 11;
    assert_string_equal(said_with(split, f), wrong);
    f->maps = 4;
    assert_string_equal(said_with(split, f), wrong);
    f->maps      = 12;
    f->wire_type = FBY_U16;
    assert_string_equal(said_with(split, f), wrong);
    f->wire_type = FBY_U8;
    f->array     = (struct fby_shape){0, {12}};
    assert_string_equal(said_with(split, f), wrong);
    f->array = (struct fby_shape){1, {12}};
    assert_string_equal(said_with(split, f), "");
    fby_split_destroy(&split);
}

static void a_sparse_row_has_room_for_its_values(void **state)
{
    (void)state;
    static const char member[] =
        "a sparse row comes from a member and has a max_length; longer ones "
        "are refused";
    static const char         shape[] = "its shape has no values, more than "
                                        "2147483648, or fewer than max_length";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("spa", &f);
    assert_string_equal(said_with(split, f), ""); /* 42 of 6 x 7 */
    f->max_length = 43;
    assert_string_equal(said_with(split, f), shape);
    f->max_length = 1;
    assert_string_equal(said_with(split, f), "");
    f->array = (struct fby_shape){2, {65536, 32768}};
    assert_string_equal(said_with(split, f), "");
    f->array.dims[1]++;
    assert_string_equal(said_with(split, f), shape);
    f->array = (struct fby_shape){1, {1}};
    assert_string_equal(said_with(split, f), "");
    f->array = (struct fby_shape){0};
    assert_string_equal(said_with(split, f), shape);
    f->array      = (struct fby_shape){1, {1 << 24}};
    f->max_length = 33554368 / 6; /* 2 bytes of value, 4 of index */
    assert_string_equal(said_with(split, f), "");
    f->max_length++;
    assert_string_equal(said_with(split, f),
        "max_length values and their indices have more than 33554368 bytes");
    f->max_length = 1;
    f->too_long   = FBY_TOO_LONG_TRUNCATE;
    assert_string_equal(said_with(split, f), member);
    f->too_long   = (enum fby_too_long)0;
    f->max_length = 0;
    assert_string_equal(said_with(split, f), member);
    fby_split_destroy(&split);
}

static void ragged_rows_have_entries_of_at_most_3_dimensions(void **state)
{
    (void)state;
    static const char wrong[] =
        "an entry has at most 3 dimensions; too_long is refuse or truncate";
    struct fby_field_content *f;
    struct fby_split         *split = split_with("rag", &f);
    f->array                        = (struct fby_shape){3, {2, 3, 4}};
    assert_string_equal(said_with(split, f), "");
    f->array = (struct fby_shape){4, {2, 3, 4, 5}};
    assert_string_equal(said_with(split, f), wrong);
    f->array = (struct fby_shape){0};
    for (int too_long = 0; too_long <= 3; too_long++) {
        f->too_long = (enum fby_too_long)too_long;
        assert_string_equal(
            said_with(split, f), too_long == 0 || too_long == 3 ? wrong : "");
    }
    f->too_long   = FBY_TOO_LONG_REFUSE;
    f->max_length = 33554368;
    assert_string_equal(said_with(split, f), "");
    f->max_length++;
    assert_string_equal(said_with(split, f),
        "max_length entries have more than 33554368 bytes");
    f->max_length = 0;
    assert_string_equal(said_with(split, f), "too_long goes with max_length");
    fby_split_destroy(&split);
}

static void only_some_kinds_vary_in_length(void **state)
{
    (void)state;
    static const char *const kinds[] = {"bits", "img", "lab", "maps", "mask"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct fby_field_content *f;
        struct fby_split         *split = split_with(kinds[i], &f);
        f->max_length                   = 5;
        f->too_long                     = FBY_TOO_LONG_REFUSE;
        assert_string_equal(
            said_with(split, f), "its rows are all of one length");
        fby_split_destroy(&split);
    }
    struct fby_field_content *f;
    struct fby_split         *split = split_with("bits", &f);
    f->array                        = (struct fby_shape){1, {1}};
    f->maps                         = 1;
    assert_string_equal(said_with(split, f), "");
    f->max_length = 5;
    f->too_long   = FBY_TOO_LONG_REFUSE;
    assert_string_equal(said_with(split, f), "its rows are all of one length");
    fby_split_destroy(&split);
    split         = split_with("num", &f);
    f->max_length = 5;
    f->too_long   = FBY_TOO_LONG_TRUNCATE;
    assert_string_equal(said_with(split, f), "");
    fby_split_destroy(&split);
}

/* ---- what follows ---- */

static void a_type_takes_what_lies_in_its_range(void **state)
{
    (void)state;
    static const struct {
        enum fby_type type;
        double        least, most, less, more;
    } ranges[] = {
        {FBY_U8, 0, 255, -1, 256},
        {FBY_U16, 0, 65535, -1, 65536},
        {FBY_U32, 0, 4294967295, -1, 4294967296},
        {FBY_I32, -2147483648.0, 2147483647, -2147483649.0, 2147483648},
        {FBY_I64, -0x1p53, 0x1p53, -0x1.0000000000001p53, 0x1.0000000000001p53},
        {FBY_BOOL, 0, 1, -1, 2},
        {FBY_F16, -65504, 65504, -65504.5, 65504.5},
        {FBY_BF16, -1e30, 1e30, -1.1e30, 1.1e30},
        {FBY_F32, -1e30, 1e30, -1.1e30, 1.1e30},
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        enum fby_type type = ranges[i].type;
        assert_true(fby_type_takes(type, ranges[i].least));
        assert_true(fby_type_takes(type, ranges[i].most));
        assert_false(fby_type_takes(type, ranges[i].less));
        assert_false(fby_type_takes(type, ranges[i].more));
        assert_int_equal(fby_type_takes(type, 0.5), fby_is_real(type));
        assert_false(fby_type_takes(type, 0.0 / 0.0));
    }
    assert_false(fby_type_takes((enum fby_type)0, 0));
    assert_false(fby_type_takes((enum fby_type)10, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_their_numbers_within_limits),
        cmocka_unit_test(without_blocks_their_numbers_are_0),
        cmocka_unit_test(a_batch_and_a_source_are_known),
        cmocka_unit_test(names_of_fields_ascend),
        cmocka_unit_test(files_are_columns_of_a_list),
        cmocka_unit_test(a_token_is_one_of_its_type),
        cmocka_unit_test(pad_and_end_belong_to_packed_documents),
        cmocka_unit_test(tokens_say_their_type_length_and_column),
        cmocka_unit_test(pad_is_held_by_the_type_that_travels),
        cmocka_unit_test(tokens_come_from_one_part_of_a_sequence),
        cmocka_unit_test(a_packed_field_is_as_its_source),
        cmocka_unit_test(a_field_fits_its_source),
        cmocka_unit_test(bounds_ascend_from_1_to_2_to_the_40),
        cmocka_unit_test(rows_of_columns_have_lengths_where_they_vary),
        cmocka_unit_test(a_field_has_a_name_and_a_group),
        cmocka_unit_test(no_field_holds_what_its_decoder_does_not_use),
        cmocka_unit_test(what_a_decoder_uses_is_no_stranger),
        cmocka_unit_test(extensions_are_those_of_the_decoder),
        cmocka_unit_test(a_field_comes_from_1_to_8_extensions_and_maps_from_32),
        cmocka_unit_test(columns_hold_arrays_labels_numbers_and_sparse_rows),
        cmocka_unit_test(the_shape_follows_from_the_ops),
        cmocka_unit_test(a_parameter_is_within_its_limits),
        cmocka_unit_test(ops_of_the_device_obey_their_limits),
        cmocka_unit_test(the_list_of_the_device_and_normalize_agree),
        cmocka_unit_test(mean_and_std_are_within_limits_in_each_channel),
        cmocka_unit_test(a_picture_is_u8_and_scaled_in_a_known_way),
        cmocka_unit_test(pictures_masks_and_maps_have_a_fixed_size),
        cmocka_unit_test(classes_decide_a_label_s_type),
        cmocka_unit_test(one_hot_has_1_to_65536_classes),
        cmocka_unit_test(smoothing_is_0_to_below_1),
        cmocka_unit_test(a_number_has_a_key_and_a_type),
        cmocka_unit_test(bytes_have_a_length),
        cmocka_unit_test(a_text_has_a_max_length),
        cmocka_unit_test(an_array_has_at_most_1_gib),
        cmocka_unit_test(bits_are_packed_along_the_last_dimension),
        cmocka_unit_test(a_sparse_row_has_room_for_its_values),
        cmocka_unit_test(ragged_rows_have_entries_of_at_most_3_dimensions),
        cmocka_unit_test(only_some_kinds_vary_in_length),
        cmocka_unit_test(a_type_takes_what_lies_in_its_range),
    };
    return cmocka_run_group_tests_name(
        "common.pipeline.rules", tests, NULL, NULL);
}
