/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a shard: its members and limits, and the stamps that distinguish
 * files. */
#include "worker/source/shard.h"

#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "tests/test.h"
#include "tests/worker/source/sandbox.h"

/* ---- stamps -------------------------------------------------------------- */

static const struct stat indexed_stat = {
    .st_dev   = 1,
    .st_ino   = 2,
    .st_nlink = 1,
    .st_size  = 3,
    .st_mtim  = {4, 5},
    .st_ctim  = {6, 7},
};

static void a_stamp_has_its_members_of_the_file(void **state)
{
    (void)state;
    struct fby_stamp stamp = fby_stamp_of(&indexed_stat);
    assert_int_equal(stamp.device, 1);
    assert_int_equal(stamp.inode, 2);
    assert_int_equal(stamp.size, 3);
    assert_int_equal(stamp.mtime_ns, 4000000005);
    assert_int_equal(stamp.ctime_ns, 6000000007);
}

static void stamps_are_equal_in_all_members_or_not_at_all(void **state)
{
    (void)state;
    const struct fby_stamp one = fby_stamp_of(&indexed_stat);
    assert_true(fby_stamps_equal(&one, &one, 1));
    for (size_t i = 0; i < sizeof(one); i++) {
        struct fby_stamp other = one;
        ((uint8_t *)&other)[i] ^= 1;
        assert_false(fby_stamps_equal(&one, &other, 1));
        assert_false(fby_stamps_equal(&other, &one, 1));
    }
}

static void a_change_is_named_by_what_changed(void **state)
{
    (void)state;
    const struct fby_stamp was = fby_stamp_of(&indexed_stat);
    struct fby_stamp       now = was;
    assert_string_equal(
        fby_stamp_change(&was, &now), "had its links, owner or mode changed");
    now.mtime_ns++;
    assert_string_equal(fby_stamp_change(&was, &now), "was written to");
    now.size = 2;
    assert_string_equal(fby_stamp_change(&was, &now), "was cut short");
    now.size = 4;
    assert_string_equal(fby_stamp_change(&was, &now), "was appended to");
    now.inode = 9;
    assert_string_equal(fby_stamp_change(&was, &now), "was replaced");
    now        = was;
    now.device = 9;
    assert_string_equal(fby_stamp_change(&was, &now), "was replaced");
}

/* ---- names --------------------------------------------------------------- */

static void a_name_is_cut_at_the_first_dot_of_its_last_part(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *suffix; /* NULL: no member of a sample */
    } cases[] = {{"a.jpg", "jpg"}, {"a.b.jpg", "b.jpg"}, {"x.y/a.jpg", "jpg"},
        {"x/a", NULL}, {"a.", NULL}, {".a.jpg", NULL}, {"x/.a.jpg", NULL},
        {".x/a.jpg", NULL}, {"x.y/a", NULL}, {"", NULL}, {"a..jpg", ".jpg"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_name_parts parts = {0};
        const char           *name  = cases[i].name;
        bool                  is    = fby_name_split(name, &parts);
        assert_int_equal(is, cases[i].suffix != NULL);
        if (is) {
            assert_string_equal(parts.suffix, cases[i].suffix);
            assert_ptr_equal(parts.suffix, name + parts.key_size + 1);
        }
    }
}

static fby_err check_name(const char *name, struct fby_error_detail *why)
{
    struct fby_name_parts parts = {0};
    assert_true(fby_name_split(name, &parts));
    return fby_name_check(name, &parts, why);
}

static void a_name_is_one_line_of_text_with_a_short_extension(void **state)
{
    (void)state;
    struct fby_error_detail why      = {0};
    char                    name[80] = "a.";
    assert_ok(check_name("a ~\xc3\xa9.jpg", &why));
    assert_int_equal(check_name("a\x1f.jpg", &why), FBY_CONFIG);
    assert_int_equal(check_name("a\x7f.jpg", &why), FBY_CONFIG);
    assert_int_equal(check_name("a\xc3.jpg", &why), FBY_CONFIG);
    memset(name + 2, 'x', FBY_NAME_SIZE - 1);
    assert_ok(check_name(name, &why));
    name[2 + FBY_NAME_SIZE - 1] = 'x';
    assert_int_equal(check_name(name, &why), FBY_CONFIG);
    assert_says(&why, "is longer than 63 bytes");
}

static void extensions_match_but_for_the_case_of_letters(void **state)
{
    (void)state;
    assert_true(fby_equal_ignoring_case("AzZa.1", "aZza.1"));
    assert_true(fby_equal_ignoring_case("", ""));
    assert_false(fby_equal_ignoring_case("jp", "jpg"));
    assert_false(fby_equal_ignoring_case("jpg", "jp"));
    assert_false(fby_equal_ignoring_case("@", "`")); /* beside A and a, */
    assert_false(fby_equal_ignoring_case("[", "{")); /* and Z and z */
    assert_true(fby_is_npz("a.npz"));
    assert_false(fby_is_npz(".npz"));
    assert_false(fby_is_npz("a.npy"));
}

/* ---- samples and members ------------------------------------------------- */

static void add_sample(struct fby_shard *shard, const char *key)
{
    assert_ok(fby_shard_add_sample(
        shard, key, strlen(key), FBY_SHARD_NO_CLASS, NULL));
}

static void add_member(
    struct fby_shard *shard, const char *suffix, uint64_t offset)
{
    assert_ok(fby_shard_add_member(shard, suffix, offset, 1, NULL));
}

static void a_member_is_found_in_its_own_sample_in_order_of_wish(void **state)
{
    (void)state;
    static const char exts[][FBY_NAME_SIZE] = {"png", "jpg", "txt"};
    struct fby_shard  shard;
    uint32_t          m = 99;
    fby_shard_init(&shard, "t.tar", FBY_SOURCE_SHARDS);
    add_sample(&shard, "1");
    add_member(&shard, "cls", 0);
    add_sample(&shard, "2");
    add_member(&shard, "JPG", 0);
    add_member(&shard, "png", 0);
    add_member(&shard, "cls", 0);
    add_sample(&shard, "3");
    add_member(&shard, "txt", 0);
    assert_ok(fby_shard_finish(&shard, NULL));
    assert_false(fby_shard_find_member(&shard, 0, exts, 3, &m));
    assert_int_equal(m, 99);
    assert_true(fby_shard_find_member(&shard, 1, exts, 3, &m));
    assert_int_equal(m, 2);
    assert_true(fby_shard_find_member(&shard, 1, exts + 1, 2, &m));
    assert_int_equal(m, 1);
    assert_false(fby_shard_find_member(&shard, 2, exts, 2, &m));
    assert_true(fby_shard_find_member(&shard, 2, exts, 3, &m));
    assert_int_equal(m, 4);
    static const uint32_t sample_of[] = {0, 1, 1, 1, 2};
    for (m = 0; m < 5; m++) {
        assert_int_equal(fby_shard_sample_of(&shard, m), sample_of[m]);
    }
    fby_shard_fini(&shard);
}

static void keys_may_come_in_any_order_but_only_once(void **state)
{
    (void)state;
    static const char *const keys[] = {"4", "2", "3", "1"};
    for (int again = -1; again < 4; again++) {
        struct fby_shard        shard;
        struct fby_error_detail why = {0};
        char                    words[64];
        fby_shard_init(&shard, "t.tar", FBY_SOURCE_SHARDS);
        for (unsigned i = 0; i < 4; i++) {
            add_sample(&shard, keys[i]);
            add_member(&shard, "jpg", 100 * i + 512);
        }
        if (again >= 0) {
            add_sample(&shard, keys[again]);
            add_member(&shard, "cls", 7000);
        }
        fby_err err = fby_shard_finish(&shard, &why);
        assert_int_equal(err, again < 0 ? FBY_OK : FBY_CONFIG);
        snprintf(words, sizeof(words), "is at offset %d and again",
            again * 100 + 512);
        assert_int_equal(strstr(why.text, words) != NULL, again >= 0);
        fby_shard_fini(&shard);
    }
}

static void the_257th_extension_is_refused(void **state)
{
    (void)state;
    struct fby_shard        shard;
    struct fby_error_detail why      = {0};
    char                    text[16] = "";
    fby_shard_init(&shard, "t.tar", FBY_SOURCE_SHARDS);
    for (unsigned i = 0; i < 256; i++) {
        snprintf(text, sizeof(text), "e%u", i);
        add_sample(&shard, text);
        add_member(&shard, text, 0);
    }
    add_sample(&shard, "last");
    assert_int_equal(
        fby_shard_add_member(&shard, "e256", 0, 1, &why), FBY_CONFIG);
    assert_says(&why, "more than 256 different extensions (the next is .e256)");
    add_member(&shard, "e255", 0);
    assert_int_equal(shard.n_suffixes, 256);
    for (uint32_t m = 0; m < 256; m++) {
        snprintf(text, sizeof(text), "e%u", m);
        assert_string_equal(fby_shard_suffix(&shard, m), text);
    }
    assert_string_equal(fby_shard_suffix(&shard, 256), "e255");
    fby_shard_fini(&shard);
}

/* The counts are set as if so many were there: nothing is read of them. */
static void one_more_than_the_limits_is_refused(void **state)
{
    (void)state;
    struct fby_shard        shard;
    struct fby_error_detail why = {0};
    fby_shard_init(&shard, "t", FBY_SOURCE_FOLDER);
    shard.n_samples = FBY_SHARD_MAX_SAMPLES;
    assert_int_equal(fby_shard_add_sample(&shard, "k", 1, 0, &why), FBY_CONFIG);
    shard.n_samples = 0;
    shard.keys.size = FBY_SHARD_MAX_KEYS - 1;
    assert_int_equal(fby_shard_add_sample(&shard, "k", 1, 0, &why), FBY_CONFIG);
    assert_says(
        &why, "more than 16777216 samples, or 1073741824 bytes of keys");
    shard.keys.size = 0;
    shard.n_members = FBY_SHARD_MAX_MEMBERS;
    assert_int_equal(fby_shard_add_member(&shard, "x", 0, 1, &why), FBY_CONFIG);
    assert_says(&why, "more than 67108864 members");
    shard.texts.size = FBY_SHARD_MAX_TEXTS;
    assert_int_equal(
        fby_shard_add_text(&shard, "x", 1, true, &why), FBY_CONFIG);
    assert_says(&why, "more than 1073741824 bytes of texts");
    shard.texts.size = 0;
    fby_shard_fini(&shard);
}

static void members_of_a_folder_have_a_size_and_no_offset(void **state)
{
    (void)state;
    struct fby_shard shard;
    fby_shard_init(&shard, "part-0000000", FBY_SOURCE_FOLDER);
    assert_ok(fby_shard_add_sample(&shard, "a/1", 3, 7, NULL));
    assert_ok(fby_shard_add_member(&shard, "jpg", 0, 11, NULL));
    assert_ok(fby_shard_add_member(&shard, "cls", 0, 12, NULL));
    assert_ok(fby_shard_finish(&shard, NULL));
    assert_int_equal(shard.kind, FBY_SOURCE_FOLDER);
    assert_int_equal(fby_shard_count_stamps(&shard), 2);
    assert_int_equal(shard.stamps[1].size, 12);
    assert_int_equal(shard.member_bytes[0], 11);
    assert_int_equal(fby_shard_offset(&shard, 1), 0);
    assert_int_equal(shard.class_ids[0], 7);
    assert_false(fby_shard_is_value(&shard, 0));
    fby_shard_fini(&shard);
}

/* ---- sequences ----------------------------------------------------------- */

static void a_file_has_at_most_as_many_sequences_as_a_number_says(void **state)
{
    (void)state;
    for (uint64_t more = 0; more < 2; more++) {
        const struct fby_tokens how = {
            .type = FBY_U8, .format = FBY_TOKENS_MEGATRON, .length = 2};
        struct fby_shard        shard;
        struct fby_error_detail why = {0};
        fby_shard_init(&shard, "a.bin", FBY_SOURCE_TOKENS);
        shard.sequences = fby_sequences_create(&how);
        assert_ok(fby_sequences_add_run(
            shard.sequences, 0, 2 * (UINT32_MAX + more), NULL));
        fby_err err = fby_shard_finish_sequences(&shard, &why);
        assert_int_equal(err, more == 0 ? FBY_OK : FBY_CONFIG);
        assert_int_equal(shard.n_samples, more == 0 ? UINT32_MAX : 0);
        assert_int_equal(shard.kind, FBY_SOURCE_TOKENS);
        assert_int_equal(fby_shard_count_stamps(&shard), 2);
        shard.sequences->format = FBY_TOKENS_FLAT;
        assert_int_equal(fby_shard_count_stamps(&shard), 1);
        fby_shard_fini(&shard);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stamp_has_its_members_of_the_file),
        cmocka_unit_test(stamps_are_equal_in_all_members_or_not_at_all),
        cmocka_unit_test(a_change_is_named_by_what_changed),
        cmocka_unit_test(a_name_is_cut_at_the_first_dot_of_its_last_part),
        cmocka_unit_test(a_name_is_one_line_of_text_with_a_short_extension),
        cmocka_unit_test(extensions_match_but_for_the_case_of_letters),
        cmocka_unit_test(a_member_is_found_in_its_own_sample_in_order_of_wish),
        cmocka_unit_test(keys_may_come_in_any_order_but_only_once),
        cmocka_unit_test(the_257th_extension_is_refused),
        cmocka_unit_test(one_more_than_the_limits_is_refused),
        cmocka_unit_test(members_of_a_folder_have_a_size_and_no_offset),
        cmocka_unit_test(a_file_has_at_most_as_many_sequences_as_a_number_says),
    };
    return cmocka_run_group_tests_name(
        "worker.source.shard", tests, NULL, NULL);
}
