/* SPDX-License-Identifier: Apache-2.0 */
/* Contents that no pipeline file produces, but a peer may send: the decoder
 * applies the same rules. test_rules.c and similar tests have the rules of
 * single members. */
#include "tests/test.h"

#include <stdio.h>

#include "common/mem.h"
#include "pipeline/canon.h"
#include "pipeline/op.h"
#include "tests/pipeline/sample.h"

/* Encode it, and decode the bytes as those of a peer. */
static void refused(const struct fby_content *content, const char *text)
{
    struct fby_content     *out   = fby_zalloc(sizeof(*out));
    struct fby_buffer       bytes = {0};
    struct fby_error_detail why   = {{0}};
    fby_content_encode(content, &bytes);
    assert_int_equal(
        fby_content_decode(bytes.data, bytes.size, out, &why), FBY_PROTO);
    assert_string_equal(why.text, text);
    fby_buffer_fini(&bytes);
    free(out);
}

static void a_content_from_a_peer_obeys_the_rules_of_files(void **state)
{
    (void)state;
    struct fby_split         *split = split_of(sample_file, "train");
    struct fby_content       *c     = &split->content;
    struct fby_field_content *image = &c->fields[1];
    struct fby_field_content  kept  = *image;

    image->ops[0].params[0].i[0] = 0;
    refused(c, "content: field 'image': random_resized_crop: size is not one "
               "or two integers, 1 to 16384 ([height, width])");
    *image = kept;
    memcpy(image->from[0], "../x", 5);
    refused(c, "content: field 'image': '../x' is not a valid extension");
    memcpy(image->from[0], image->from[1], FBY_NAME_SIZE);
    refused(c, "content: field 'image': 'jpeg' is given twice");
    *image = kept;
    memcpy(image->name, "aaaaa", 6);
    refused(c, "content: fields are not in byte order of their names");
    fby_split_destroy(&split);
}

/* Fields of a file of tokens; `more` of its source begins with ", ". */
static struct fby_split *split_of_tokens(const char *fields, const char *more)
{
    char text[512];
    snprintf(text, sizeof(text),
        "forebay: 1\n"
        "splits: {train: {tokens: {files: t.bin, format: flat, type: u16, "
        "length: 8, shift: 1%s}}}\n"
        "global_batch: 4\n"
        "fields: {%s}\n",
        more, fields);
    return split_of(text, "train");
}

static struct fby_split *split_of_pairs(void)
{
    return split_of_tokens("a: {from: input}, b: {from: target}", "");
}

static struct fby_split *split_of_sequence(void)
{
    return split_of_tokens("a: {from: sequence}", "");
}

static void packing_belongs_to_its_source(void **state)
{
    (void)state;
    struct fby_split *split =
        split_of_tokens("a: {from: input}, b: {from: documents}",
            ", pack: documents, end: 7, pad: 9");
    struct fby_content *c = &split->content;
    c->tokens.pad         = 65536;
    refused(c, "content: field 'a': wire type u16 does not hold pad: 65536");
    c->tokens.pad           = 9;
    c->fields[1].max_length = 9;
    refused(c, "content: field 'b': 9 tokens, but a sequence of the source has "
               "8");
    c->fields[1].wire_type  = FBY_U32;
    c->fields[1].max_length = 8388593;
    refused(c, "content: field 'b': 8388593 tokens, but a sequence of the "
               "source has 8");
    c->fields[1].max_length = 8;
    c->fields[1].wire_type  = FBY_U16;
    c->tokens.packed        = false;
    c->tokens.end           = 0;
    c->tokens.pad           = 0;
    refused(c, "content: field 'b': from: documents needs pack: documents in "
               "the tokens of the source");
    fby_split_destroy(&split);
}

static void sequences_and_their_source_belong_together(void **state)
{
    (void)state;
    struct fby_split   *split = split_of_pairs();
    struct fby_content *c     = &split->content;
    c->tokens.shift           = 0;
    refused(c, "content: field 'b': from: target needs shift: 1 in the tokens "
               "of the source");
    c->tokens.shift  = 1;
    c->tokens.length = 9;
    refused(c, "content: field 'a': 8 tokens, but a sequence of the source "
               "has 9");
    c->tokens.length       = 8;
    c->fields[0].wire_type = FBY_I64;
    refused(c, "content: field 'a': tokens travel as u16 or as u32");
    c->fields[0].wire_type  = FBY_U16;
    c->fields[0].from[0][0] = 'o';
    refused(c, "content: field 'a': tokens come from input, from target (the "
               "tokens after those of input) or from sequence (both in one)");
    fby_split_destroy(&split);
}

static void sequences_take_the_type_of_their_files(void **state)
{
    (void)state;
    struct fby_split *split = split_of_pairs();
    assert_int_equal(split->content.fields[0].wire_type, FBY_U16);
    assert_int_equal(split->delivery.fields[0].dtype, FBY_I64);
    assert_int_equal(split->content.fields[1].shape.n_dims, 1);
    assert_int_equal(split->content.fields[1].shape.dims[0], 8);
    fby_split_destroy(&split);
}

static void a_sequence_has_one_token_more_than_its_inputs(void **state)
{
    (void)state;
    struct fby_split   *split = split_of_sequence();
    struct fby_content *c     = &split->content;
    assert_int_equal(c->fields[0].as.tokens.length, 9);
    assert_int_equal(c->fields[0].shape.dims[0], 9);
    assert_int_equal(c->fields[0].wire_type, FBY_U16);
    c->tokens.length = 9;
    refused(c, "content: field 'a': 9 tokens, but a sequence of the source "
               "has 10");
    c->tokens.length = 9;
    c->tokens.shift  = 0;
    refused(c, "content: field 'a': from: sequence needs shift: 1 in the "
               "tokens of the source");
    c->tokens.length              = 8;
    c->tokens.shift               = 1;
    c->tokens.packed              = true;
    c->tokens.end                 = 7;
    c->fields[0].as.tokens.packed = true;
    refused(c, "content: field 'a': packed documents have targets that are not "
               "the next token of the sequence; use from: input and from: "
               "target");
    fby_split_destroy(&split);
}

static void yuv420_is_for_pictures_whose_colours_stay(void **state)
{
    (void)state;
    struct fby_split         *split = split_of(sample_file, "train");
    struct fby_content       *c     = &split->content;
    struct fby_field_content *image = &c->fields[1];
    image->as.rgb8.yuv420           = true;
    image->ops[image->n_ops++] =
        (struct fby_op_use){.op = fby_op_by_id(FBY_OP_GRAYSCALE)};
    refused(c, "content: field 'image': grayscale needs red, green and blue, "
               "which a picture that travels as yuv420 gets on the device "
               "only; leave it out, or use wire: u8");
    fby_split_destroy(&split);
}

static void buckets_obey_their_rules(void **state)
{
    (void)state;
    struct fby_split *split = split_of(
        "forebay: 1\n"
        "splits: {train: {folder: x, bucket_by: {field: a, bounds: [8, 9]}}}\n"
        "global_batch: 4\n"
        "fields: {a: {from: json}, b: {from: folder}}\n",
        "train");
    struct fby_content *c     = &split->content;
    struct fby_content *again = fby_zalloc(sizeof(*again));
    struct fby_buffer   bytes = {0};
    fby_content_encode(c, &bytes);
    assert_ok(fby_content_decode(bytes.data, bytes.size, again, NULL));
    assert_memory_equal(&again->bucket_by, &c->bucket_by, sizeof(c->bucket_by));
    c->bucket_by.field[0] = 'b';
    refused(c, "content: bucket_by: field 'b' has no members of different "
               "lengths");
    c->bucket_by.n_bounds = 0;
    fby_split_destroy(&split);
    split                  = split_of_sequence();
    c                      = &split->content;
    c->bucket_by.n_bounds  = 1;
    c->bucket_by.field[0]  = 'a';
    c->bucket_by.bounds[0] = 1;
    refused(
        c, "content: bucket_by: the rows of field 'a' are all of one length");
    fby_buffer_fini(&bytes);
    free(again);
    fby_split_destroy(&split);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_content_from_a_peer_obeys_the_rules_of_files),
        cmocka_unit_test(packing_belongs_to_its_source),
        cmocka_unit_test(sequences_and_their_source_belong_together),
        cmocka_unit_test(sequences_take_the_type_of_their_files),
        cmocka_unit_test(a_sequence_has_one_token_more_than_its_inputs),
        cmocka_unit_test(yuv420_is_for_pictures_whose_colours_stay),
        cmocka_unit_test(buckets_obey_their_rules),
    };
    return cmocka_run_group_tests_name("pipeline.check", tests, NULL, NULL);
}
