/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/token.h"

static struct fby_token sample_token(void)
{
    struct fby_token token = {
        .seed = 42, .epoch = 3, .step = UINT64_C(0x0102030405060708)};
    for (uint8_t i = 0; i < 32; i++) {
        token.content.bytes[i]     = i;
        token.data.bytes[i]        = (uint8_t)(i + 32);
        token.fingerprint.bytes[i] = (uint8_t)(255 - i);
    }
    return token;
}

static void a_token_survives_its_text(void **state)
{
    (void)state;
    struct fby_token        token = sample_token();
    struct fby_token        back;
    struct fby_error_detail why = {{0}};
    char                    text[FBY_TOKEN_TEXT_SIZE];
    assert_ok(fby_token_decode(fby_token_encode(&token, text), &back, &why));
    assert_true(fby_digest_equal(&token.content, &back.content));
    assert_true(fby_digest_equal(&token.data, &back.data));
    assert_true(fby_digest_equal(&token.fingerprint, &back.fingerprint));
    assert_true(token.seed == back.seed && token.epoch == back.epoch &&
                token.step == back.step);
}

static void a_token_is_one_word_that_a_shell_leaves_alone(void **state)
{
    (void)state;
    struct fby_token token = sample_token();
    char             text[FBY_TOKEN_TEXT_SIZE];
    fby_token_encode(&token, text);
    assert_int_equal(strlen(text), FBY_TOKEN_TEXT_SIZE - 1);
    assert_int_equal(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789-_"),
        FBY_TOKEN_TEXT_SIZE - 1);
}

static void white_space_around_a_token_does_no_harm(void **state)
{
    (void)state;
    struct fby_token token = sample_token();
    struct fby_token back;
    char             text[FBY_TOKEN_TEXT_SIZE];
    char             line[FBY_TOKEN_TEXT_SIZE + 8];
    fby_token_encode(&token, text);
    snprintf(line, sizeof(line), " \t%s\r\n", text);
    assert_ok(fby_token_decode(line, &back, NULL));
    assert_int_equal(back.step, token.step);
}

static void every_changed_letter_is_found(void **state)
{
    (void)state;
    struct fby_token token = sample_token();
    struct fby_token back;
    char             text[FBY_TOKEN_TEXT_SIZE];
    for (size_t i = 0; i < FBY_TOKEN_TEXT_SIZE - 1; i++) {
        fby_token_encode(&token, text);
        text[i] = text[i] == 'A' ? 'B' : 'A';
        assert_int_equal(fby_token_decode(text, &back, NULL), FBY_USAGE);
    }
}

static void refused(const char *text, const char *why_text)
{
    struct fby_token        back;
    struct fby_error_detail why = {{0}};
    assert_int_equal(fby_token_decode(text, &back, &why), FBY_USAGE);
    assert_string_equal(why.text, why_text);
}

static void what_is_wrong_with_a_token_is_said_in_words(void **state)
{
    (void)state;
    struct fby_token token = sample_token();
    char             text[FBY_TOKEN_TEXT_SIZE];
    refused(
        "", "'' is not a token: a token is one word that begins with fby1-");
    refused("@file", "'@file' is not a token: a token is one word that begins "
                     "with fby1-");
    refused("fby2-", "this token is of format 2; this program reads format 1");
    refused("fby1",
        "'fby1' is not a token: a token is one word that begins with "
        "fby1-");
    refused("fby1-", "the token has 5 letters instead of 177: is it cut off?");
    refused(
        "fby2-abc", "this token is of format 2; this program reads format 1");
    refused(
        "fby1-abc", "the token has 8 letters instead of 177: is it cut off?");
    fby_token_encode(&token, text);
    text[50] = '+';
    refused(
        text, "the token holds something other than letters, digits, - and _");
    fby_token_encode(&token, text);
    text[50] = text[50] == 'A' ? 'B' : 'A';
    refused(text, "the token's checksum is wrong: a letter of it was changed");
}

static void the_text_is_that_which_was_recorded(void **state)
{
    (void)state;
    struct fby_token token = sample_token();
    char             text[FBY_TOKEN_TEXT_SIZE];
    char             golden[256] = "";
    FILE            *file        = fopen(FBY_TEST_DATA "/token/token.txt", "r");
    assert_non_null(file);
    assert_non_null(fgets(golden, sizeof(golden), file));
    fclose(file);
    golden[strcspn(golden, "\n")] = '\0';
    assert_string_equal(fby_token_encode(&token, text), golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_survives_its_text),
        cmocka_unit_test(a_token_is_one_word_that_a_shell_leaves_alone),
        cmocka_unit_test(white_space_around_a_token_does_no_harm),
        cmocka_unit_test(every_changed_letter_is_found),
        cmocka_unit_test(what_is_wrong_with_a_token_is_said_in_words),
        cmocka_unit_test(the_text_is_that_which_was_recorded),
    };
    return cmocka_run_group_tests_name("pipeline.token", tests, NULL, NULL);
}
