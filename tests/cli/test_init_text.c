/* SPDX-License-Identifier: Apache-2.0 */
/* The text of pipeline files that `forebay init` writes, and the field that
 * each kind of member becomes. */
#include "tests/test.h"

#include <string.h>

#include "cli/init/names.h"
#include "cli/init/text_state.h"
#include "tests/pipeline/sample.h"

/* The text for `s`, which loads; free() it. */
static char *text_of(const struct fby_init_summary *s)
{
    struct fby_buffer       out      = {0};
    struct fby_error_detail why      = {{0}};
    struct fby_pipeline    *pipeline = NULL;
    if (fby_init_text(s, &out, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    fby_put_u8(&out, 0);
    if (parse_text((char *)out.data, &pipeline, &why) != FBY_OK) {
        fail_msg("%s\n%s", why.text, (char *)out.data);
    }
    fby_pipeline_destroy(&pipeline);
    return (char *)out.data;
}

static void assert_text(const struct fby_init_summary *s, const char *wanted)
{
    char *text = text_of(s);
    assert_string_equal(text, wanted);
    free(text);
}

static void expect_in_notes(
    const struct fby_init_summary *summary, const char *words, bool is_wanted)
{
    struct fby_buffer out = {0};
    fby_init_append_notes(summary, &out);
    fby_put_u8(&out, 0);
    if ((strstr((char *)out.data, words) != NULL) != is_wanted) {
        fail_msg("%s", (char *)out.data);
    }
    fby_buffer_fini(&out);
}

static void assert_notes(
    const struct fby_init_summary *summary, const char *wanted)
{
    expect_in_notes(summary, wanted, true);
}

static void assert_not_in_notes(
    const struct fby_init_summary *summary, const char *words)
{
    expect_in_notes(summary, words, false);
}

#define HEAD                                                           \
    "# A pipeline of Forebay. What each key means: docs/pipeline.md\n" \
    "# Try it: forebay pull --pipeline THIS-FILE\n"
#define VERSION "forebay: 1                  # version of this format\n\n"
#define FULL    "    shuffle: full           # or none\n"
#define FULL_OF_SHARDS                                                   \
    "    shuffle: full           # or none, or {block: 4}: 4 shards at " \
    "a time\n"
#define DROP                                                               \
    "    last: drop              # or pad, or short: what the last batch " \
    "does\n"
#define SHORT                                                             \
    "    last: short             # or pad, or drop: what the last batch " \
    "does\n"
#define VAL(source, path) \
    "  # val: {" source ": " path ", shuffle: none, last: pad}\n\n"
#define REST(batch)                                     \
    "global_batch: " batch "          # shared by all " \
    "ranks\nseed: 0\n"                                  \
    "on_bad_sample: fail         # or {do: substitute, limit: 100}\n\n"
#define OPS                                                               \
    "      - random_resized_crop: {size: 224, scale: [0.08, 1.0], only: " \
    "train}"                                                              \
    "\n"                                                                  \
    "      - horizontal_flip: {p: 0.5, only: train}\n"                    \
    "      # with a split val:\n"                                         \
    "      # - resize: {shorter: 256, only: val}\n"                       \
    "      # - center_crop: {size: 224, only: val}\n"
#define IMAGE(name, from)                                                     \
    "  " name ":\n    from: " from "\n    decode: rgb8\n"                     \
    "    ops:                    # on the workers\n" OPS                      \
    "    device:                 # at the trainer; of values 0..1: the mean " \
    "and std of\n"                                                            \
    "                            # ImageNet, which most pretrained models "   \
    "expect\n"                                                                \
    "      - normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, "   \
    "0.225]}\n"                                                               \
    "    out: {dtype: f32, layout: chw}\n"
#define MASK(name, from, group)                                               \
    "  " name ":\n    from: " from "\n"                                       \
    "    decode: mask8           # class ids, unchanged; for several masks "  \
    "of 0 and 1: decode: maps\n    group: " group "\n"                        \
    "    ops:                    # those of its picture that move pixels, in" \
    " order\n" OPS

static void a_folder_s_file_is_written_whole(void **state)
{
    (void)state;
    static const struct fby_init_member members[] = {{.extension = "jpg"},
        {.extension = "Notes"}, {.extension = "jpeg"},
        {.extension = "en.txt", .always = true}, {.extension = "a b.txt"}};
    struct fby_init_summary             summary   = {.kind = FBY_SOURCE_FOLDER,
                      .path                                = "/d",
                      .samples                             = 64,
                      .classes                             = 300,
                      .members                             = members,
                      .n_members                           = 5};
    assert_text(&summary,
        HEAD "# Found: 64 samples, 300 classes\n"
             "# Names for `from`: jpg, jpeg, en.txt\n" VERSION
             "splits:\n  train:\n    folder: \"/d\"\n" FULL DROP VAL(
                 "folder", "PATH") REST("64  ") "fields:\n" IMAGE("image",
                 "[jpg, jpeg]") "  label:\n    from: folder            # the "
                                "number of the class "
                                "folder, by name\n    classes: 300\n"
                                "    # one_hot: {classes: 300, smoothing: 0.1} "
                                "   # instead of "
                                "numbers\n"
                                "  # left out: text \"en.txt\": choose its "
                                "max_length in the file, and remove the # "
                                "there\n"
                                "  # text: {from: en.txt, decode: text, "
                                "max_length: 256, "
                                "too_long: truncate}\n");
    summary.n_members = 1;
    summary.classes   = 0;
    summary.samples   = 0;
    assert_text(&summary,
        HEAD VERSION "splits:\n  train:\n    folder: \"/d\"\n" FULL DROP VAL(
            "folder", "PATH") REST("64  ") "fields:\n" IMAGE("image",
            "jpg") "  label:\n    from: folder            # the number of the "
                   "class "
                   "folder, by name\n"
                   "    # one_hot: {classes: 1000, smoothing: 0.1}    # "
                   "instead of "
                   "numbers\n");
}

static void a_file_of_shards_is_written_whole(void **state)
{
    (void)state;
    static const struct fby_init_member members[] = {{.extension = "jpg"},
        {.extension = "a b.cls"}, {.extension = "kind.cls"},
        {.extension = "cls"}};
    struct fby_init_summary             summary   = {.kind = FBY_SOURCE_SHARDS,
                      .path                                = "t.tar",
                      .samples                             = 1,
                      .shards                              = 1,
                      .members                             = members,
                      .n_members                           = 4};
    assert_text(&summary, HEAD
        "# Found: 1 sample in 1 shard\n"
        "# Names for `from`: jpg, kind.cls, cls\n" VERSION
        "splits:\n  train:\n    shards: \"t.tar\"\n" FULL_OF_SHARDS SHORT VAL(
            "shards", "PATH") REST("64  ") "fields:\n" IMAGE("image",
            "jpg") "  label:\n    from: kind.cls               # decimal text "
                   "of "
                   "this member\n"
                   "    # one_hot: {classes: 1000, smoothing: 0.1}    # "
                   "instead of "
                   "numbers\n"
                   "  # left out: member \"a b.cls\": no field can have this "
                   "name: rename its files\n"
                   "  # left out: member \"cls\": some samples lack it: add it "
                   "to all of them\n");
    summary.n_members     = 2;
    summary.samples       = 0;
    summary.least_samples = 64;
    assert_text(&summary, HEAD VERSION
        "splits:\n  train:\n    shards: \"t.tar\"\n" FULL_OF_SHARDS DROP VAL(
            "shards", "PATH") REST("64  ") "fields:\n" IMAGE("image",
            "jpg") "  # no label: the shards hold no .cls members\n"
                   "  # left out: member \"a b.cls\": no field can have this "
                   "name: rename its files\n");
}

static void a_list_s_file_is_written_whole(void **state)
{
    (void)state;
    static const char                   files[][FBY_NAME_SIZE] = {"eye", "seg"};
    static const struct fby_init_member members[]              = {
                     {.extension = "eye.jpg", .always = true},
                     {.extension      = "seg.png",
                         .always      = true,
                         .header_read = true,
                         .may_be_ids  = true},
                     {.extension = "kind", .always = true, .value = FBY_INIT_DIGITS},
                     {.extension = "size", .always = true, .value = FBY_INIT_NUMBER},
                     {.extension  = "note",
                         .always  = true,
                         .value   = FBY_INIT_TEXT,
                         .longest = 16},
                     {.extension = "gaps", .count = 60, .value = FBY_INIT_TEXT},
                     {.extension = "A b", .always = true, .value = FBY_INIT_TEXT},
    };
    struct fby_init_summary summary = {.kind = FBY_SOURCE_LIST,
        .path                                = "/d/l.csv",
        .samples                             = 63,
        .members                             = members,
        .n_members                           = 7,
        .files                               = files,
        .n_files                             = 2};
    assert_text(&summary, HEAD
        "# Found: 63 samples\n"
        "# Names for `from`: eye.jpg, seg.png, kind, size, note, gaps\n" VERSION
        "splits:\n  train:\n    list: \"/d/l.csv\"\n"
        "    files: [\"eye\", \"seg\"]      # columns of paths\n" FULL SHORT
            VAL("list", "PATH, files: [...]") REST("64  ") "fields:\n" IMAGE(
                "eye", "eye.jpg") MASK("seg", "seg.png",
                "eye") "  kind: {from: kind, decode: label} # if these are "
                       "class ids: "
                       "classes: N\n"
                       "  size: {from: size, decode: number, key: \".\"}\n"
                       "  note: {from: note, decode: text, max_length: 16, "
                       "too_long: "
                       "truncate}\n"
                       "  # left out: column \"gaps\": it has no value in 3 "
                       "rows "
                       "of 63: write one into each\n"
                       "  # left out: column \"A b\": no field can have this "
                       "name: rename it, as in a_b\n");
}

/* A list with values of every kind but plain ones. */
static const struct fby_init_member objects[] = {
    {.extension     = "cap",
        .always     = true,
        .value      = FBY_INIT_TEXT_LISTS,
        .max_length = 17},
    {.extension     = "box",
        .always     = true,
        .value      = FBY_INIT_NUMBER_LISTS,
        .has_whole  = true,
        .max_length = 1},
    {.extension = "none", .always = true, .value = FBY_INIT_NUMBER_LISTS},
    {.extension         = "m",
        .always         = true,
        .value          = FBY_INIT_OBJECT,
        .keys           = "car.speed, id",
        .first_key_kind = FBY_INIT_NUMBER},
    {.extension         = "n",
        .always         = true,
        .value          = FBY_INIT_OBJECT,
        .keys           = "id",
        .first_key_kind = FBY_INIT_TEXT},
    {.extension         = "o",
        .always         = true,
        .value          = FBY_INIT_OBJECT,
        .keys           = "id",
        .first_key_kind = FBY_INIT_MIXED},
    {.extension = "p", .always = true, .value = FBY_INIT_OBJECT},
    {.extension = "q", .always = true, .value = FBY_INIT_OTHER_LISTS},
    {.extension = "r", .always = true, .value = FBY_INIT_MIXED},
};

static void lists_and_objects_of_a_list_are_written_whole(void **state)
{
    (void)state;
    struct fby_init_summary summary = {.kind = FBY_SOURCE_LIST,
        .path                                = "l.jsonl",
        .members                             = objects,
        .n_members                           = 9};
    assert_text(&summary, HEAD
        "# Names for `from`: cap, box, none, m, n, o, p, q\n" VERSION
        "splits:\n  train:\n    list: \"l.jsonl\"\n" FULL DROP VAL(
            "list", "PATH")
            REST(
                "64  ") "fields:\n"
                        "  cap: {from: cap, decode: text, key: \".\", pick: "
                        "random, "
                        "max_length: 32, too_long: truncate}\n"
                        "  box: {from: box, decode: number, key: \".\", "
                        "max_length: 1, wire: i32, out: {dtype: i64}}\n"
                        "  none: {from: none, decode: number, key: \".\", "
                        "max_length: 1}\n"
                        "  # left out: column \"m\": its values are objects: "
                        "add a field for each member that is needed; the file "
                        "lists them\n"
                        "  #   members: car.speed, id\n"
                        "  #   car: {from: m, decode: number, key: car.speed}\n"
                        "  # left out: column \"n\": its values are objects: "
                        "add a field for each member that is needed; the file "
                        "lists them\n"
                        "  #   members: id\n"
                        "  #   id: {from: n, decode: text, key: id, "
                        "max_length: 256}\n"
                        "  # left out: column \"o\": its values are objects: "
                        "add a field for each member that is needed; the file "
                        "lists them\n"
                        "  #   members: id\n"
                        "  # left out: column \"p\": its values are objects "
                        "without plain keys\n"
                        "  # left out: column \"q\": its lists hold other "
                        "values than texts or numbers: add a field for each "
                        "entry that is needed (key: \"0\" is the first)\n"
                        "  # left out: column \"r\": its values are of several "
                        "kinds: write numbers into all rows, or texts, or "
                        "lists of numbers (also []), or lists of texts\n");
}

static void a_split_for_evaluation_has_no_random_ops(void **state)
{
    (void)state;
    static const struct fby_init_member members[] = {{.extension = "image.jpg"},
        {.extension = "mask.png", .may_be_ids = true, .always = true}};
    static const char       files[][FBY_NAME_SIZE] = {"image", "mask"};
    struct fby_init_summary summary                = {.evaluation_split = "val",
                       .kind                                            = FBY_SOURCE_LIST,
                       .path                                            = "/d/val.csv",
                       .samples                                         = 64,
                       .members                                         = members,
                       .n_members                                       = 2,
                       .files                                           = files,
                       .n_files                                         = 2};
    char                   *text                   = text_of(&summary);
    assert_non_null(strstr(text,
        "splits:\n  val:\n    list: \"/d/val.csv\"\n"
        "    files: [\"image\", \"mask\"]      # columns of paths\n"
        "    shuffle: none\n"
        "    last: pad               # the field `valid` is false for padding\n"
        "\n" REST("64  ")));
    assert_non_null(
        strstr(text, "    ops:                    # on the workers\n"
                     "      - resize: {shorter: 256}\n"
                     "      - center_crop: {size: 224}\n"
                     "    device:"));
    assert_null(strstr(text, "random"));
    assert_null(strstr(text, "only"));
    free(text);
}

static void a_file_of_columns_is_written_whole(void **state)
{
    (void)state;
    static const struct fby_init_column columns[] = {
        {"Dense", FBY_F32, {2, {13, 7}}, 0, false},
        {"click", FBY_U8, {0, {0}}, 0, false},
        {"ids", FBY_I64, {0, {0}}, 64, false},
        {"words", FBY_F32, {1, {300}}, 16, true},
        {"a\"b\x01", FBY_U8, {0, {0}}, 0, false},
        {"cube", (enum fby_type)0, {0, {0}}, 0, false},
    };
    struct fby_init_summary summary  = {.kind = FBY_SOURCE_COLUMNS,
         .path                                = "/d\\x/day-*",
         .samples                             = 4095,
         .shards                              = 24,
         .columns                             = columns,
         .n_columns                           = 6};
    static const char       fields[] = REST(
              "4096") "fields:                     # for a column of class ids: "
                "decode: label, classes: N\n"
                "  dense: {from: dense, decode: array, shape: [13, 7], wire: "
                "f32}\n"
                "  click: {from: click, decode: array, shape: [], wire: u8}\n"
                "  ids: {from: ids, decode: array, shape: [], max_length: 64, "
                "wire: "
                "i64} # 4 times the mean: longer rows are refused\n"
                "  words: {from: words, decode: sparse, shape: [300], "
                "max_length: 16, "
                "wire: f32} # 4 times the mean: longer rows are refused\n"
                "  # left out: column \"a\\\"b\\x01\": no field can have this "
                "name: rename its file in lower-case letters\n"
                "  # left out: column \"cube\": its rows have too many "
                "dimensions or values: store it in another shape\n";
    char *text = text_of(&summary);
    assert_non_null(strstr(text, fields));
    assert_string_equal(strstr(text, fields), fields);
    assert_non_null(strstr(text,
        "# Found: 4095 samples in 24 shards\n" VERSION
        "splits:\n  train:\n    columns: \"/d\\\\x/day-*\"\n" FULL_OF_SHARDS
            SHORT VAL("columns", "PATH")));
    free(text);
    summary.samples = 4096;
    text            = text_of(&summary);
    assert_non_null(strstr(text, DROP));
    free(text);
}

static void a_file_of_tokens_is_written_whole(void **state)
{
    (void)state;
    struct fby_tokens tokens = {
        .format = FBY_TOKENS_MDS, .length = 256, .column = "ids"};
    struct fby_init_summary summary = {
        .kind = FBY_SOURCE_TOKENS, .path = "/d/*", .tokens = &tokens};
#define TOKENS(said, shift)                                                   \
    HEAD VERSION                                                              \
        "splits:\n  train:\n    tokens: \n      files: \"/d/*\"\n"            \
        "      format: " said "      length: 256           # tokens "         \
        "of a sequence\n      shift: " shift                                  \
        "              # 1: with targets, the next tokens\n"                  \
        "      # pack: documents     # whole ones; flat files also "          \
        "need end: ID\n" FULL DROP VAL("tokens", "{files: PATH, ...}") REST(  \
            "64  ") "fields:\n"                                               \
                    "  tokens: {from: input}     # ids; wire: u16 where all " \
                    "are below 65536\n"                                       \
                    "  labels: {from: target}    # or both as one, in half "  \
                    "of "                                                     \
                    "the bytes: {from: sequence}\n"
    tokens.shift = 1;
    assert_text(&summary, TOKENS("mds\n      column: \"ids\"\n", "1"));
    tokens.type = FBY_U32;
    assert_text(
        &summary, TOKENS("mds\n      type: u32\n      column: \"ids\"\n", "1"));
    tokens.format = FBY_TOKENS_FLAT;
    assert_text(&summary, TOKENS("flat\n      type: u32\n", "1"));
    tokens.format = FBY_TOKENS_MEGATRON;
    tokens.type   = (enum fby_type)0;
    assert_text(&summary, TOKENS("megatron\n", "1"));
}

/* ---- which picture is the image ---- */

/* Members from words such as "jpg", "a.png+" (all samples have one), "b.png*"
 * (ids) or "c.png^" (grey of 16 bits). */
static size_t members_of(const char *words, struct fby_init_member out[16])
{
    size_t n = 0;
    while (*words != '\0') {
        size_t length = strcspn(words, " +*^");
        out[n]        = (struct fby_init_member){.header_read = true};
        memcpy(out[n].extension, words, length);
        for (words += length; *words != '\0' && *words != ' '; words++) {
            out[n].always     = out[n].always || *words == '+';
            out[n].may_be_ids = out[n].may_be_ids || *words == '*';
            out[n].is_grey16  = out[n].is_grey16 || *words == '^';
        }
        words += *words == ' ' ? 1 : 0;
        n++;
    }
    return n;
}

/* "image jpg jpeg, mask m.png of image": the pictures and masks of a file. */
static void describe(const struct fby_init_summary *s, char out[512])
{
    char             *text  = text_of(s);
    struct fby_split *split = split_of(text, "train");
    size_t            n     = 0;
    out[0]                  = '\0';
    for (uint32_t i = 0; i < split->content.n_fields; i++) {
        const struct fby_field_content *f = &split->content.fields[i];
        if (f->decode == FBY_DECODE_LABEL) {
            continue;
        }
        n += (size_t)snprintf(
            out + n, 512 - n, "%s%s", n > 0 ? ", " : "", f->name);
        for (uint32_t k = 0; k < f->n_from; k++) {
            n += (size_t)snprintf(out + n, 512 - n, " %s", f->from[k]);
        }
        if (f->decode == FBY_DECODE_MASK8) {
            n += (size_t)snprintf(out + n, 512 - n, " of %s", f->group);
        }
    }
    fby_split_destroy(&split);
    free(text);
}

struct look {
    const char *members, *fields;
};

static void assert_looks(
    enum fby_source_kind kind, const char *path, const struct look *looks)
{
    for (; looks->members != NULL; looks++) {
        struct fby_init_member        members[16];
        const struct fby_init_summary s = {.kind = kind,
            .path                                = path,
            .members                             = members,
            .n_members = members_of(looks->members, members)};
        char                          fields[512];
        describe(&s, fields);
        if (strcmp(fields, looks->fields) != 0) {
            fail_msg("%s: %s, not %s", looks->members, fields, looks->fields);
        }
    }
}

static void the_image_is_the_likeliest_picture(void **state)
{
    (void)state;
    static const struct look looks[] = {
        {"jpg", "image jpg"},
        {"jpg jpeg png", "image jpg jpeg png"},
        {"webp jpg", "image webp jpg"},
        {"jpg+ mask.png*+", "image jpg, mask mask.png of image"},
        {"mask.png*+ jpg+", "image jpg, mask mask.png of image"},
        {"jpg+ mask.png*", "image jpg"},
        {"jpg+ mask.png+", "image jpg"},
        {"jpg+ mask.gif*+", "image jpg"},
        {"png*+ jpg+", "image jpg, mask png of image"},
        {"png*+ jpg", "image png jpg"},
        {"png*+ gif+", "image png"},
        {"png* jpg+", "image png jpg"},
        {"png*+ jpg*+", "image png jpg"},
        {"a.png*+ my_photo.png*+", "a a.png of image, image my_photo.png"},
        {"x.png*+ y.png*+", "image x.png, y y.png of image"},
        {"x.png* y.png*", "image x.png"},
        {"left.png right.png", "image left.png right.png"},
        {"left.png*+ left.jpg*+", "image left.png left.jpg"},
        {"x.png*+ y.jpg+", "image y.jpg, x x.png of image"},
        {"x.png*+ y.jpg", "image y.jpg, x x.png of image"},
        {"photo.png*+ y.jpg", "image y.jpg, photo photo.png of image"},
        {"a.b.png*+ jpg+", "a_b a.b.png of image, image jpg"},
        {"2.png*+ jpg+", "image jpg, mask 2.png of image"},
        {"depth.png^+ rgb.jpg+", "image rgb.jpg"},
        {"annotations.jpg+ images.jpg+", "image images.jpg"},
        {"images.png*+ masks.png+", "image images.png"},
        {"images.png^+ masks.png*+",
            "image images.png, masks masks.png of image"},
        {"png^+ jpg+", "image jpg"},
        {"png^ jpg", "image png jpg"},
        {"A.jpg a.jpg", "image a.jpg"},
        {"1.jpg 2.jpg 3.jpg 4.png 5.jpg 6.jpg 7.jpg 8.jpg 9.jpg",
            "image 1.jpg 2.jpg 3.jpg 4.png 5.jpg 6.jpg 7.jpg 8.jpg"},
        {NULL, NULL},
    };
    assert_looks(FBY_SOURCE_FOLDER, "/d", looks);
    assert_looks(FBY_SOURCE_SHARDS, "/d/x.tar", looks);
}

static void every_mask_has_a_name_of_its_own(void **state)
{
    (void)state;
    static const struct look looks[] = {
        {"jpg+ label.png*+", "image jpg, mask label.png of image"},
        {"jpg+ image.png*+", "image jpg, mask image.png of image"},
        {"jpg+ label.png*+ mask.png*+",
            "image jpg, mask label.png of image, mask_2 mask.png of image"},
        {"jpg+ 2.png*+ 3.png*+ 4.png*+",
            "image jpg, mask 2.png of image, mask_2 3.png of image, mask_3 "
            "4.png of image"},
        {NULL, NULL},
    };
    static const struct look without_label[] = {
        {"jpg+ label.png*+", "image jpg, label label.png of image"},
        {"jpg+ label.png*+ k.cls", "image jpg, mask label.png of image"},
        {NULL, NULL},
    };
    assert_looks(FBY_SOURCE_FOLDER, "/d", looks);
    assert_looks(FBY_SOURCE_SHARDS, "/d/x.tar", without_label);
}

static void a_file_has_no_more_masks_than_fields(void **state)
{
    (void)state;
    struct fby_init_member  members[32] = {{.extension = "jpg"}};
    struct fby_init_summary s           = {.kind = FBY_SOURCE_FOLDER,
                  .path                          = "/d",
                  .members                       = members,
                  .n_members                     = 32};
    for (size_t i = 1; i < 32; i++) {
        snprintf(members[i].extension, FBY_NAME_SIZE, "m%02zu.png", i);
        members[i].always     = true;
        members[i].may_be_ids = true;
    }
    char *text = text_of(&s);
    assert_non_null(strstr(text, "\n  m30:\n"));
    assert_null(strstr(text, "from: m31"));
    free(text);
}

static void pictures_that_are_no_masks_are_left_out_with_the_reason(
    void **state)
{
    (void)state;
    struct fby_init_member        members[16];
    const struct fby_init_summary s    = {.kind = FBY_SOURCE_FOLDER,
           .path                                = "/d",
           .members                             = members,
           .n_members                           = members_of(
                                         "jpg+ mask.png+ seg.jpg+ ids.png*+ depth.png^+", members)};
    char                         *text = text_of(&s);
    assert_non_null(strstr(text,
        "\n  # mask.png is left out: as a mask, its colours, alpha or 16 bits "
        "are no ids.\n"));
    assert_non_null(strstr(text,
        "\n  # seg.jpg is left out: as a mask, its lossy compression changes "
        "ids.\n"));
    assert_null(strstr(text, "# ids.png"));
    assert_null(strstr(text, "from: depth.png"));
    assert_non_null(strstr(text,
        "changes ids.\n"
        "  # A mask is a PNG in grey or with a palette. If it is a second "
        "picture,\n"
        "  # remove the # of its lines:\n"
        "  # seg:\n"
        "  #   from: seg.jpg\n"
        "  #   decode: rgb8\n"
        "  #   group: image\n"
        "  #   ops:                    # on the workers\n"
        "  #     - random_resized_crop: {size: 224, "));
    free(text);
}

/* A picture of 9 x 8, and its mask in sample 3. */
static struct fby_init_summary with_mask(
    struct fby_size mask, struct fby_init_member members[16])
{
    static const char keys[FBY_INIT_SIZES][FBY_NAME_SIZE] = {
        "a", "b", "c", "sub/d"};
    const struct fby_init_summary s = {.kind = FBY_SOURCE_PARALLEL,
        .path                                = "/d/{images,masks}",
        .members                             = members,
        .n_members     = members_of("images.jpg+ masks.png*+", members),
        .measured_keys = keys};
    members[0].sizes[3]             = (struct fby_size){9, 8};
    members[1].sizes[3]             = mask;
    return s;
}

static void masks_of_another_size_are_stretched(void **state)
{
    (void)state;
    static const struct fby_size sizes[] = {
        {4, 4}, {5, 4}, {18, 16}, {900, 786}, {900, 814}, {1, 1}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct fby_init_member  members[16];
        struct fby_init_summary s = with_mask(sizes[i], members);
        char                    line[160];
        snprintf(line, sizeof(line),
            "\n    fit: stretch            # sample 3: the mask has %u x %u "
            "pixels, its picture 9 x 8\n",
            sizes[i].w, sizes[i].h);
        char *text = text_of(&s);
        assert_non_null(strstr(text, line));
        free(text);
        snprintf(line, sizeof(line),
            "note: masks.png: a mask has %u x %u pixels, its picture 9 x 8, "
            "so masks are stretched (fit: stretch)\n",
            sizes[i].w, sizes[i].h);
        assert_notes(&s, line);
    }
}

static void masks_of_the_same_size_are_not_stretched(void **state)
{
    (void)state;
    static const struct fby_size sizes[] = {{9, 8}, {0, 0} /* unknown */};
    for (size_t i = 0; i < 2; i++) {
        struct fby_init_member  members[16];
        struct fby_init_summary s    = with_mask(sizes[i], members);
        char                   *text = text_of(&s);
        assert_null(strstr(text, "fit:"));
        free(text);
        assert_not_in_notes(&s, "stretch");
    }
}

static void a_mask_of_another_aspect_is_refused_by_name(void **state)
{
    (void)state;
    struct fby_init_member  members[16];
    struct fby_init_summary s = with_mask((struct fby_size){20, 12}, members);
    struct fby_buffer       text = {0};
    struct fby_error_detail why  = {{0}};
    assert_int_equal(fby_init_text(&s, &text, &why), FBY_CONFIG);
    assert_string_equal(why.text,
        "masks/sub/d.png has 20 x 12 pixels, its picture images/sub/d.jpg "
        "9 x 8: correct the pairs, or, if both show the same scene, give init "
        "--stretch");
    static const char lines[FBY_INIT_SIZES][FBY_NAME_SIZE] = {
        "2", "3", "5", "7"};
    s.kind          = FBY_SOURCE_LIST;
    s.measured_keys = lines;
    assert_int_equal(fby_init_text(&s, &text, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, "line 7, masks.png has 20 x 12"));
    s.kind = FBY_SOURCE_SHARDS;
    s.measured_keys =
        with_mask((struct fby_size){20, 12}, members).measured_keys;
    assert_int_equal(fby_init_text(&s, &text, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, "sub/d.masks.png has 20 x 12 pixels"));
    s.allow_stretch = true;
    char *all       = text_of(&s);
    assert_non_null(strstr(all, "\n    fit: stretch "));
    free(all);
    s = with_mask((struct fby_size){8, 9}, members);
    assert_int_equal(fby_init_text(&s, &text, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text,
        ".jpg 9 x 8: rotate the masks by the EXIF orientation of the "
        "pictures; if they are masks of other pictures, correct the pairs"));
    fby_buffer_fini(&text);
}

static void columns_and_folders_of_pictures_keep_their_names(void **state)
{
    (void)state;
    static const struct look looks[] = {
        {"eye.jpg+ eye.png+ other.jpg+", "eye eye.jpg eye.png"},
        {"eye.jpg+ ey.jpg+", "eye eye.jpg"},
        {"ids.png*+ eye.jpg+", "eye eye.jpg, ids ids.png of eye"},
        {"valid.jpg+", "image valid.jpg"},
        {"folder.jpg+ m.png*+", "image folder.jpg, m m.png of image"},
        {"7.jpg+", "image 7.jpg"},
        {"a.b.jpg", "a_b a.b.jpg"},
        {NULL, NULL},
    };
    assert_looks(FBY_SOURCE_LIST, "/d/l.csv", looks);
    assert_looks(FBY_SOURCE_PARALLEL, "/d/{a,b}", looks);
}

static void names_tell_pictures_from_their_partners(void **state)
{
    (void)state;
    static const char *const pictures[] = {
        "images", "My_IMG", "photo", "pictures", "rgb8", "inputs"};
    static const char *const partners[] = {"masks", "LABELS", "annotations",
        "segs", "ground_truth", "targets", "depth", "train_ids"};
    for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++) {
        assert_true(fby_init_is_picture_name(pictures[i]));
        assert_false(fby_init_is_partner_name(pictures[i]));
    }
    for (size_t i = 0; i < sizeof(partners) / sizeof(partners[0]); i++) {
        assert_true(fby_init_is_partner_name(partners[i]));
        assert_false(fby_init_is_picture_name(partners[i]));
    }
    assert_false(fby_init_is_picture_name("imag"));
    assert_false(fby_init_is_partner_name(""));
}

/* ---- parts ---- */

static void a_list_of_extensions_ends_where_its_room_does(void **state)
{
    (void)state;
    static const struct fby_init_member members[] = {{.extension = "ab"},
        {.extension = "C"}, {.extension = "cd"}, {.extension = "e"}};
    struct fby_init_summary s = {.members = members, .n_members = 4};
    char                    list[16];
    assert_int_equal(fby_init_list_extensions(&s, list, 16), 3);
    assert_string_equal(list, "ab, cd, e");
    assert_int_equal(fby_init_list_extensions(&s, list, 11), 3);
    assert_int_equal(fby_init_list_extensions(&s, list, 10), 2);
    assert_string_equal(list, "ab, cd");
    assert_int_equal(fby_init_list_extensions(&s, list, 6), 1);
    assert_string_equal(list, "ab");
    assert_int_equal(fby_init_list_extensions(&s, list, 5), 1);
    assert_string_equal(list, "e");
    assert_int_equal(fby_init_list_extensions(&s, list, 4), 0);
    assert_string_equal(list, "");
}

static void a_field_s_name_is_a_short_word_in_lower_case(void **state)
{
    (void)state;
    char out[FBY_NAME_SIZE];
    char long_name[FBY_NAME_SIZE + 1];
    assert_true(fby_init_to_field_name("AZaz_-09", out));
    assert_string_equal(out, "azaz_-09");
    assert_false(fby_init_to_field_name("a.b", out));
    assert_false(fby_init_to_field_name("a@[", out));
    assert_string_equal(out, "a@[");
    assert_false(fby_init_to_field_name("Valid", out));
    assert_false(fby_init_to_field_name("Folder", out));
    assert_false(fby_init_to_field_name("", out));
    memset(long_name, 'A', FBY_NAME_SIZE);
    long_name[FBY_NAME_SIZE] = '\0';
    assert_true(fby_init_to_field_name(long_name, out)); /* cut */
    assert_int_equal(strlen(out), FBY_NAME_SIZE - 1);
    assert_int_equal(strspn(out, "a"), FBY_NAME_SIZE - 1);
}

static void quoted_texts_escape_what_yaml_needs(void **state)
{
    (void)state;
    struct fby_buffer out = {0};
    fby_init_append_quoted(&out, "a\"\\\x1f\x20\x7e\x7f\xc3\xa9\n");
    fby_put_u8(&out, 0);
    assert_string_equal(
        (char *)out.data, "\"a\\\"\\\\\\x1f ~\\x7f\xc3\xa9\\x0a\"");
    fby_buffer_fini(&out);
}

/* The path and the classes of a file that is written come back as they were. */
static void names_with_unusual_characters_are_read_back(void **state)
{
    (void)state;
    static const char *const names[] = {"/d/u\xc2\x85x", "/d/u\xc2\x80x",
        "/d/u\xc2\x9fx", "/d/\xc2\xa0x", "/d/u\xe2\x80\xa8x",
        "/d/u\xe2\x80\xa9x", "/d/u\xef\xbb\xbfx", "/d/u\xef\xbf\xbdx",
        "/d/u\xef\xbf\xbex", "/d/u\xef\xbf\xbfx", "/d/\xf0\x9f\x98\x80",
        "/d/u\x1bx", "/d/u\nx", "/d/ \"\\'# "};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct fby_init_member  member   = {.extension = "jpg", .count = 1};
        struct fby_pipeline    *pipeline = NULL;
        struct fby_error_detail why      = {{0}};
        struct fby_buffer       out      = {0};
        struct fby_init_summary s        = {.kind = FBY_SOURCE_FOLDER,
                   .path                          = names[i],
                   .roots.data                    = names[i],
                   .members                       = &member,
                   .n_members                     = 1};
        assert_ok(fby_init_text(&s, &out, &why));
        fby_put_u8(&out, 0);
        assert_ok(parse_text((char *)out.data, &pipeline, &why));
        struct fby_split *split = NULL;
        assert_ok(fby_pipeline_make_split(pipeline, "train", &split, &why));
        assert_string_equal(split->location.pattern, names[i]);
        fby_split_destroy(&split);
        fby_pipeline_destroy(&pipeline);
        fby_buffer_fini(&out);
    }
}

static void at_most_16_values_of_a_list_become_fields(void **state)
{
    (void)state;
    struct fby_init_member  members[18] = {0};
    struct fby_init_summary s           = {.kind = FBY_SOURCE_LIST,
                  .path                          = "l.csv",
                  .members                       = members,
                  .n_members                     = 18};
    for (size_t i = 0; i < 18; i++) {
        snprintf(members[i].extension, FBY_NAME_SIZE, "c%02zu", i);
        members[i].always = true;
        members[i].value  = FBY_INIT_DIGITS;
    }
    members[3].always = false; /* left out, and not counted */
    char *text        = text_of(&s);
    assert_non_null(strstr(text, "\n  c16: "));
    assert_null(strstr(text, "\n  c17: "));
    assert_non_null(strstr(text, "  # left out: further values (c17): init "
                                 "writes 16 fields of values at "
                                 "most: add those that are needed\n"));
    free(text);
}

static void assert_nothing(const struct fby_init_summary *s, const char *wanted)
{
    struct fby_buffer       out = {0};
    struct fby_error_detail why = {{0}};
    assert_int_equal(fby_init_text(s, &out, &why), FBY_CONFIG);
    assert_string_equal(why.text, wanted);
    assert_null(out.data);
}

static void data_without_a_possible_field_is_named(void **state)
{
    (void)state;
    struct fby_init_member members[2] = {
        {.extension = "a", .always = true, .value = FBY_INIT_MIXED},
        {.extension = "b", .always = true, .value = FBY_INIT_OTHER_LISTS}};
    struct fby_init_summary s = {.kind = FBY_SOURCE_LIST,
        .path                          = "l.csv",
        .members                       = members,
        .n_members                     = 2};
    assert_nothing(&s,
        "l.csv: no column can be a field as it is; found: a, b. A field needs "
        "a value in each row; of an object it reads one member: {from: COLUMN, "
        "decode: number, key: MEMBER}");
    s.n_members = 0;
    assert_nothing(&s,
        "l.csv: no picture among the files (.jpg, .jpeg, .png, .webp); "
        "found: nothing");
    s.path = "\xff";
    assert_nothing(
        &s, "the path is not UTF-8 text, as a pipeline file must be");
    s.path = "x\n";
    s.kind = FBY_SOURCE_COLUMNS;
    assert_nothing(&s,
        "x?: no column can be a field: a column is one .npy file of all rows, "
        "with at most 4 dimensions each and a lower-case word as its name; "
        "write arrays of one sample each into tar shards, as 7.npy and 7.cls");
}

static void what_no_field_reads_is_noted_for_the_terminal(void **state)
{
    (void)state;
    struct fby_init_member members[] = {
        {.extension = "images.jpg", .always = true},
        {.extension = "masks.png", .always = true}};
    struct fby_init_summary s = {.kind = FBY_SOURCE_PARALLEL,
        .path                          = "/my data/{images,masks}",
        .members                       = members,
        .n_members                     = 2};
    assert_notes(&s,
        "left out: masks.png: its colours are no class ids; if it is a second "
        "picture, remove the # of its field in the file; to number them: "
        "(cd '/my data' && python3 -c \"import sys; "
        "sys.path[:] = filter(None, sys.path); O = ");
    const struct fby_init_split val = {
        "val", "/d/val/{images,masks}", NULL, 0, NULL};
    s.path     = "/d/train/{images,masks}";
    s.others   = &val;
    s.n_others = 1;
    assert_notes(&s, "(cd /d && python3");
    assert_notes(&s, "\" /d-numbered) && forebay init /d-numbered\n");
    s.n_others = 0;
    s.path     = "/it's/{images,masks}";
    assert_notes(&s, "(cd '/it'\\''s' && python3");
    members[1].is_grey16 = true;
    assert_notes(&s, "left out: masks.png: ids of masks have 8 bits, not 16; "
                     "save other values as .npy files, and read these with "
                     "decode: array\n");
    strcpy(members[1].extension, "masks.jpg");
    members[1].is_grey16 = false;
    assert_notes(&s, "left out: masks.jpg: its compression changes class ids; "
                     "save masks as PNG in grey or with a palette; if it is a "
                     "second picture, remove the # of its field in the file\n");
}

static void a_picture_with_coordinates_is_only_resized(void **state)
{
    (void)state;
    struct fby_init_member members[] = {
        {.extension = "image.jpg", .always = true},
        {.extension = "mask.png", .always = true, .may_be_ids = true},
        {.extension     = "bbox",
            .always     = true,
            .value      = FBY_INIT_NUMBER_LISTS,
            .max_length = 8},
        {.extension          = "kp",
            .always          = true,
            .value           = FBY_INIT_OTHER_LISTS,
            .has_inner_lists = true}};
    const struct fby_init_split   val  = {"val", "/d/val.csv", NULL, 0, NULL};
    const struct fby_init_summary s    = {.kind = FBY_SOURCE_LIST,
           .path                                = "/d/a.csv",
           .files     = (const char[1][FBY_NAME_SIZE]){"image"},
           .n_files   = 1,
           .members   = members,
           .n_members = 4,
           .others    = &val,
           .n_others  = 1};
    char                         *text = text_of(&s);
    assert_non_null(strstr(text,
        "    # No crop and no flip, because no op moves coordinates (bbox, "
        "kp)\n"
        "    # with the picture. They must be relative to it (0 to 1); others "
        "are those of\n    # the original picture.\n"
        "    decode: rgb8\n    ops:                    # on the workers\n"
        "      - resize: {size: 224}        # or [HEIGHT, WIDTH]\n"
        "    device:"));
    assert_non_null(strstr(text,
        "in order\n      - resize: {size: 224}        # or [HEIGHT, WIDTH]\n"
        "  bbox: {"));
    assert_non_null(strstr(text,
        "left out: column \"kp\": its lists hold lists: write one list of "
        "numbers into each row, as [1, 2, 3, 4, 5, 6, 7, 8] for two boxes and "
        "[] for none\n"));
    free(text);
    assert_notes(&s,
        "note: no op moves bbox, kp with the picture, so it is only resized: "
        "coordinates must be relative to the picture (0 to 1); others are "
        "those of the original picture\n");
}

/* Is a picture beside columns of numbers with these names only resized? */
static bool is_only_resized(const char *first, const char *second)
{
    struct fby_init_member members[] = {
        {.extension = "image.jpg", .always = true},
        {.always = true, .value = FBY_INIT_DIGITS},
        {.always = true, .value = FBY_INIT_NUMBER}};
    strcpy(members[1].extension, first);
    strcpy(members[2].extension, second);
    const struct fby_init_summary s    = {.kind = FBY_SOURCE_LIST,
           .path                                = "/d/a.csv",
           .files     = (const char[1][FBY_NAME_SIZE]){"image"},
           .n_files   = 1,
           .members   = members,
           .n_members = 3};
    char                         *text = text_of(&s);
    bool is_moved = strstr(text, "horizontal_flip") != NULL;
    free(text);
    return !is_moved;
}

static void columns_are_coordinates_only_together(void **state)
{
    (void)state;
    assert_true(is_only_resized("nose_x", "nose_y"));
    assert_true(is_only_resized("Nose X", "Nose Y"));
    assert_true(is_only_resized("x12", "y12"));
    assert_true(is_only_resized("cx", "cy"));
    assert_false(is_only_resized("nose_x", "mouth_y"));
    assert_false(is_only_resized("x", "y")); /* may be a label */
    assert_false(is_only_resized("left", "top"));
    assert_false(is_only_resized("region", "segmentation"));
    assert_false(is_only_resized("x_train", "y"));
    assert_false(is_only_resized("sex", "sey"));
}

static void pictures_of_16_bits_in_grey_are_noted(void **state)
{
    (void)state;
    struct fby_init_member member = {
        .extension = "png", .always = true, .is_grey16 = true};
    struct fby_init_summary s = {.kind = FBY_SOURCE_FOLDER,
        .path                          = "/d",
        .members                       = &member,
        .n_members                     = 1};
    assert_notes(&s,
        "note: the pictures are grey of 16 bits: all above 255 becomes white, "
        "as Pillow's convert(\"RGB\") does; scale them to 8 bits: (cd "
        "/d && python3 -c \"import sys; sys.path[:] = filter(None, sys.path); "
        "O");
    s.kind = FBY_SOURCE_SHARDS;
    assert_notes(&s, "does; scale them to 8 bits\n");
    member.is_grey16  = false;
    member.has_grey16 = true;
    assert_notes(&s, "note: some pictures are grey of 16 bits: all above 255 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_s_file_is_written_whole),
        cmocka_unit_test(a_file_of_shards_is_written_whole),
        cmocka_unit_test(a_list_s_file_is_written_whole),
        cmocka_unit_test(lists_and_objects_of_a_list_are_written_whole),
        cmocka_unit_test(a_split_for_evaluation_has_no_random_ops),
        cmocka_unit_test(a_file_of_columns_is_written_whole),
        cmocka_unit_test(a_file_of_tokens_is_written_whole),
        cmocka_unit_test(the_image_is_the_likeliest_picture),
        cmocka_unit_test(every_mask_has_a_name_of_its_own),
        cmocka_unit_test(a_file_has_no_more_masks_than_fields),
        cmocka_unit_test(masks_of_another_size_are_stretched),
        cmocka_unit_test(masks_of_the_same_size_are_not_stretched),
        cmocka_unit_test(a_mask_of_another_aspect_is_refused_by_name),
        cmocka_unit_test(
            pictures_that_are_no_masks_are_left_out_with_the_reason),
        cmocka_unit_test(columns_and_folders_of_pictures_keep_their_names),
        cmocka_unit_test(names_tell_pictures_from_their_partners),
        cmocka_unit_test(a_list_of_extensions_ends_where_its_room_does),
        cmocka_unit_test(a_field_s_name_is_a_short_word_in_lower_case),
        cmocka_unit_test(quoted_texts_escape_what_yaml_needs),
        cmocka_unit_test(names_with_unusual_characters_are_read_back),
        cmocka_unit_test(at_most_16_values_of_a_list_become_fields),
        cmocka_unit_test(what_no_field_reads_is_noted_for_the_terminal),
        cmocka_unit_test(a_picture_with_coordinates_is_only_resized),
        cmocka_unit_test(columns_are_coordinates_only_together),
        cmocka_unit_test(pictures_of_16_bits_in_grey_are_noted),
        cmocka_unit_test(data_without_a_possible_field_is_named),
    };
    return cmocka_run_group_tests_name("pipeline.init_text", tests, NULL, NULL);
}
