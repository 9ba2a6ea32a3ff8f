/* SPDX-License-Identifier: Apache-2.0 */
/* Tar headers and the blocks before members, field by field. */
#include "worker/source/shards/tar_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/guard.h"
#include "tests/test.h"
#include "tests/worker/source/tars.h"

static uint8_t *new_header(struct fby_buffer *tar, const char *name, char type)
{
    tar_header(tar, name, type, 0);
    return tar->data + tar->size - 512;
}

static fby_err parse(const uint8_t *header, struct fby_tar_header *out,
    struct fby_error_detail *why)
{
    struct fby_guarded copy = fby_guarded_copy(header, 512);
    fby_err            err  = fby_tar_header_parse(copy.bytes, out, why);
    fby_guarded_free(&copy);
    return err;
}

/* ---- names --------------------------------------------------------------- */

static void a_name_has_its_prefix_before_it(void **state)
{
    (void)state;
    struct fby_buffer     tar    = {0};
    uint8_t              *header = new_header(&tar, "0001.jpg", '0');
    struct fby_tar_header parsed;
    memcpy(header + 345, "deep/dir", sizeof("deep/dir"));
    tar_sum(header);
    assert_ok(parse(header, &parsed, NULL));
    assert_string_equal(parsed.name, "deep/dir/0001.jpg");
    memset(header, 'n', 100); /* neither ends with a NUL */
    memset(header + 345, 'p', 155);
    tar_sum(header);
    assert_ok(parse(header, &parsed, NULL));
    assert_int_equal(strlen(parsed.name), 155 + 1 + 100);
    assert_int_equal(strspn(parsed.name, "p"), 155);
    assert_int_equal(parsed.name[155], '/');
    assert_int_equal(strspn(parsed.name + 156, "n"), 100);
    memcpy(header + 257, "ustar  ", 8); /* GNU's: times stand there */
    tar_sum(header);
    assert_ok(parse(header, &parsed, NULL));
    assert_int_equal(strspn(parsed.name, "n"), 100);
    assert_int_equal(strlen(parsed.name), 100);
    fby_buffer_fini(&tar);
}

/* ---- numbers ------------------------------------------------------------- */

static void a_size_is_octal_or_binary(void **state)
{
    (void)state;
    static const struct {
        const char *field; /* 12 bytes */
        int64_t     size;  /* -1: no number */
    } cases[] = {{"00000000017\0", 15}, {"   17       ", 15},
        {"777777777777", 68719476735}, {"0000000000 1", 0},
        {"17\0 garbage ", 15}, {"            ", -1},
        {"\0\0\0\0\0\0\0\0\0\0\0", -1}, {"00000000018 ", -1},
        {"0000000000x ", -1}, {"\x80\0\0\0\0\0\0\0\0\0\1\2", 258},
        {"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", INT64_MAX},
        {"\x80\0\0\1\0\0\0\0\0\0\0\0", -1}, {"\x81\0\0\0\0\0\0\0\0\0\0\0", -1},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", -1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_buffer     tar    = {0};
        uint8_t              *header = new_header(&tar, "a.jpg", '0');
        struct fby_tar_header parsed;
        memcpy(header + 124, cases[i].field, 12);
        tar_sum(header);
        fby_err err = parse(header, &parsed, NULL);
        assert_int_equal(err, cases[i].size < 0 ? FBY_CONFIG : FBY_OK);
        if (err == FBY_OK) {
            assert_int_equal(parsed.size, cases[i].size);
        }
        fby_buffer_fini(&tar);
    }
}

static void a_sum_is_of_bytes_with_or_without_a_sign(void **state)
{
    (void)state;
    struct fby_buffer       tar    = {0};
    uint8_t                *header = new_header(&tar, "caf\xc3\xa9.jpg", '0');
    struct fby_tar_header   parsed;
    struct fby_error_detail why = {0};
    unsigned sum = (unsigned)strtoul((char *)header + 148, NULL, 8);
    for (int less = 510; less <= 514; less++) { /* of two bytes above 127 */
        char text[8];
        snprintf(text, sizeof(text), "%06o", sum - (unsigned)less);
        memcpy(header + 148, text, 7);
        assert_int_equal(
            parse(header, &parsed, &why), less == 512 ? FBY_OK : FBY_CONFIG);
    }
    assert_says(&why, "this is not a tar header, or a damaged one");
    fby_buffer_fini(&tar);
}

static void any_byte_that_changed_is_seen_by_the_sum(void **state)
{
    (void)state;
    struct fby_buffer     tar    = {0};
    uint8_t              *header = new_header(&tar, "a.jpg", '0');
    struct fby_tar_header parsed;
    for (int i = 0; i < 512; i++) {
        header[i] ^= 1;
        bool is_text = i >= 148 && i < 156; /* of the sum: NUL, blank */
        assert_true(is_text || parse(header, &parsed, NULL) == FBY_CONFIG);
        header[i] ^= 1;
    }
    assert_ok(parse(header, &parsed, NULL));
    fby_buffer_fini(&tar);
}

static void a_block_of_zeros_has_no_other_byte(void **state)
{
    (void)state;
    uint8_t block[512] = {0};
    assert_true(fby_tar_is_zero(block));
    for (int i = 0; i < 512; i += 511) {
        block[i] = 1;
        assert_false(fby_tar_is_zero(block));
        block[i] = 0;
    }
}

/* ---- pax records --------------------------------------------------------- */

static fby_err parse_pax(
    const char *text, struct fby_tar_extras *out, struct fby_error_detail *why)
{
    struct fby_guarded copy = fby_guarded_copy(text, strlen(text));
    *out                    = (struct fby_tar_extras){0};
    fby_err err =
        fby_tar_pax_parse((const char *)copy.bytes, copy.size, out, why);
    fby_guarded_free(&copy);
    return err;
}

static void records_give_what_they_name(void **state)
{
    (void)state;
    struct fby_tar_extras *e = fby_zalloc(sizeof(*e));
    assert_ok(parse_pax("13 path=a=b\n\n", e, NULL));
    assert_true(e->has_name && !e->has_size && !e->sparse);
    assert_string_equal(e->name, "a=b\n");
    assert_ok(parse_pax("9 path=a\n9 size=7\n9 path=b\n", e, NULL));
    assert_string_equal(e->name, "b");
    assert_true(e->has_size);
    assert_int_equal(e->size, 7);
    assert_ok(parse_pax("11 paths=a\n9 siz=17\n8 PATH=\n", e, NULL));
    assert_true(!e->has_name && !e->has_size);
    assert_ok(parse_pax("17 GNU.sparse.=1\n", e, NULL));
    assert_true(e->sparse);
    assert_ok(parse_pax("16 GNU.sparse=1\n", e, NULL));
    assert_false(e->sparse);
    assert_ok(parse_pax("29 size=18446744073709551609\n", e, NULL));
    assert_int_equal(e->size, UINT64_C(18446744073709551609));
    free(e);
}

static void records_that_are_damaged_are_named_by_their_byte(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *words;
    } cases[] = {
        {"9path=a\n", "byte 0"},
        {"9 path=a\n11 path=b\n", "byte 9"},
        {"9 path=a\n8 path=b\n", "byte 9"},
        {"9 path=a\n 9 path=b\n", "byte 9"},
        {"9 path=ab", "byte 0"},
        {"2 \n", "byte 0"},
        {"3 \n", "byte 0"},
        {"0 path=a\n", "byte 0"},
        {"7 path\n", "byte 0"},
        {"18446744073709551625 path=a\n", "byte 0"},
        {"8 path=\n", "is empty or holds a NUL"},
        {"8 size=\n", "not a number, or too large"},
        {"10 size=1x\n", "byte 0"},
        {"10 size=x\n", "not a number, or too large"},
        {"11 size=1:\n", "not a number, or too large"},
        {"29 size=18446744073709551610\n", "or too large"},
        {"30 size=184467440737095516000\n", "or too large"},
    };
    struct fby_tar_extras *e = fby_zalloc(sizeof(*e));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_error_detail why = {0};
        if (parse_pax(cases[i].text, e, &why) != FBY_CONFIG) {
            fail_msg("'%s' was taken", cases[i].text);
        }
        assert_says(&why, cases[i].words);
    }
    free(e);
}

static void a_name_has_at_most_4095_bytes(void **state)
{
    (void)state;
    struct fby_tar_extras *e    = fby_zalloc(sizeof(*e));
    char                  *name = fby_zalloc(FBY_TAR_NAME_SIZE + 1);
    memset(name, 'x', FBY_TAR_NAME_SIZE);
    assert_int_equal(
        fby_tar_long_name(name, FBY_TAR_NAME_SIZE, e, NULL), FBY_CONFIG);
    assert_ok(fby_tar_long_name(name, FBY_TAR_NAME_SIZE - 1, e, NULL));
    assert_int_equal(strlen(e->name), FBY_TAR_NAME_SIZE - 1);
    name[7] = '\0';
    assert_ok(fby_tar_long_name(name, FBY_TAR_NAME_SIZE, e, NULL));
    assert_string_equal(e->name, "xxxxxxx");
    assert_int_equal(fby_tar_long_name("", 1, e, NULL), FBY_CONFIG);
    free(name);
    free(e);
}

static void compressed_files_are_known_by_their_whole_magic(void **state)
{
    (void)state;
    static const struct {
        const char *mark;
        const char *name;
    } known[] = {{"\x1f\x8b", "gzip"}, {"BZh", "bzip2"},
        {"\xfd"
         "7zXZ",
            "xz"},
        {"\x28\xb5\x2f\xfd", "zstd"}, {"\x04\x22\x4d\x18", "lz4"},
        {"PK\x03\x04", "zip"}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        size_t             n    = strlen(known[i].mark);
        struct fby_guarded copy = fby_guarded_copy(known[i].mark, n);
        assert_string_equal(
            fby_tar_detect_compression(copy.bytes, n), known[i].name);
        assert_null(fby_tar_detect_compression(copy.bytes, n - 1));
        for (size_t k = 0; k < n; k++) {
            copy.bytes[k] ^= 0x40;
            assert_null(fby_tar_detect_compression(copy.bytes, n));
            copy.bytes[k] ^= 0x40;
        }
        fby_guarded_free(&copy);
    }
}

/* ---- whole archives ------------------------------------------------------ */

/* The keys, extensions and offsets of all members: "0001.jpg@512 ". */
static void assert_scans(struct fby_buffer *tar, const char *expected)
{
    struct fby_shard        shard     = {0};
    struct fby_error_detail why       = {0};
    char                    text[400] = "";
    if (scan(tar, &shard, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    for (uint32_t m = 0; m < shard.n_members; m++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%s.%s@%d+%d",
            m > 0 ? " " : "",
            fby_shard_key(&shard, fby_shard_sample_of(&shard, m)),
            fby_shard_suffix(&shard, m), (int)shard.member_offset[m],
            (int)shard.member_bytes[m]);
    }
    assert_string_equal(text, expected);
    fby_shard_fini(&shard);
}

static void only_files_have_bytes_behind_their_headers(void **state)
{
    (void)state;
    struct fby_buffer tar = {0};
    tar_header(&tar, "0.jpg", '3', 512); /* a device, */
    tar_header(&tar, "1.jpg", '4', 512);
    tar_header(&tar, "2.jpg/", '5', 512); /* a folder, */
    tar_header(&tar, "3.jpg", '6', 512);  /* and a pipe: no bytes */
    tar_header(&tar, "README", '2', 512); /* a link, but no member */
    tar_header(&tar, "README", '1', 512);
    tar_header(&tar, "4.jpg", '\0', 3);
    tar_payload(&tar, "old", 3);
    tar_header(&tar, "5.jpg", '7', 3);
    tar_payload(&tar, "dense", 3);
    tar_header(&tar, "6.jpg", 'Z', 3); /* of no known type: passed over */
    tar_payload(&tar, "...", 3);
    tar_file(&tar, "7.jpg", "x");
    tar_end(&tar);
    assert_scans(&tar, "4.jpg@3584+3 5.jpg@4608+3 7.jpg@6656+1");
}

static void keys_that_begin_alike_are_two_samples(void **state)
{
    (void)state;
    struct fby_buffer tar   = {0};
    struct fby_shard  shard = {0};
    tar_file(&tar, ".//./00.jpg", "x");
    tar_file(&tar, "000.jpg", "x");
    tar_file(&tar, "0.jpg", "x");
    tar_file(&tar, "0.cls", "x");
    tar_end(&tar);
    assert_ok(scan(&tar, &shard, NULL));
    assert_int_equal(shard.n_samples, 3);
    assert_string_equal(fby_shard_key(&shard, 0), "00");
    assert_string_equal(fby_shard_key(&shard, 2), "0");
    assert_int_equal(shard.first_member[2], 2);
    assert_int_equal(shard.size, 9 * 512 + 512);
    fby_shard_fini(&shard);
}

static void extended_headers_apply_to_the_next_member_alone(void **state)
{
    (void)state;
    struct fby_buffer tar = {0};
    tar_pax(&tar, "path", "a.jpg");
    tar_pax(&tar, "size", "2");
    tar_header(&tar, "././@LongLink", 'K', 5); /* of a link's target */
    tar_payload(&tar, "x.png", 5);
    tar_header(&tar, "cut.jpg", '0', 0);
    tar_payload(&tar, "ab", 2);
    tar_header(&tar, "b.jpg", '0', 1);
    tar_payload(&tar, "c", 1);
    tar_end(&tar);
    assert_scans(&tar, "a.jpg@3584+2 b.jpg@4608+1");
    tar_pax(&tar, "path", "README"); /* of what is no member, too */
    tar_header(&tar, "cut.jpg", '0', 0);
    tar_header(&tar, "b.jpg", '0', 0);
    tar_end(&tar);
    assert_scans(&tar, "b.jpg@2048+0");
}

static void global_records_may_only_comment(void **state)
{
    (void)state;
    static const char *const keys[] = {"comment", "path", "size"};
    for (size_t i = 0; i < 3; i++) {
        struct fby_buffer tar = {0};
        tar_pax(&tar, keys[i], "5");
        tar.data[156] = 'g';
        tar_sum(tar.data);
        tar_file(&tar, "0.jpg", "photo");
        tar_end(&tar);
        if (i == 0) {
            assert_scans(&tar, "0.jpg@1536+5");
        } else {
            assert_refused(&tar, "offset 0: a global pax header gives one path "
                                 "or size to all members");
        }
    }
}

static void an_extended_header_has_at_most_a_mebibyte(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        struct fby_buffer tar  = {0};
        size_t            size = (1 << 20) + more;
        char             *text = fby_zalloc(size + 1);
        memset(text, 'x', size - 1);
        int n          = snprintf(text, 32, "%zu comment=", size);
        text[n]        = 'x';
        text[size - 1] = '\n';
        tar_header(&tar, "PaxHeaders/0", 'x', size);
        tar_payload(&tar, text, size);
        tar_file(&tar, "0.jpg", "x");
        tar_end(&tar);
        free(text);
        if (more == 0) {
            assert_scans(&tar, "0.jpg@1049600+1");
        } else {
            assert_refused(&tar, "an extended header of 1048577 bytes; at most "
                                 "1048576 are read");
        }
    }
}

static void a_payload_without_its_padding_is_truncated(void **state)
{
    (void)state;
    static const char types[] = {'0', 'x', 'L'};
    for (size_t i = 0; i < sizeof(types); i++) {
        struct fby_buffer tar = {0};
        tar_header(&tar, "0.jpg", types[i], 513);
        tar_payload(&tar, "x", 1);
        fby_put_u8(&tar, 'x');
        assert_refused(&tar, "the file is truncated: member 0.jpg has 513 "
                             "bytes, and 513 are left");
    }
}

static void zeros_behind_the_end_are_fine_however_many(void **state)
{
    (void)state;
    static const size_t zeros[] = {0, 1, 511, 512, 65535, 65536, 65537};
    for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++) {
        struct fby_buffer tar = {0};
        tar_file(&tar, "0.jpg", "x");
        for (size_t k = 0; k < 512 + zeros[i]; k++) {
            fby_put_u8(&tar, 0);
        }
        assert_scans(&tar, "0.jpg@512+1");
    }
}

static void the_first_byte_behind_the_end_is_named(void **state)
{
    (void)state;
    static const size_t behind[] = {0, 511, 65535, 65536, 70000, 131071};
    for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
        struct fby_buffer tar = {0};
        char              words[80];
        tar_file(&tar, "0.jpg", "x");
        while (tar.size < 1536 + 131072) {
            fby_put_u8(&tar, 0);
        }
        tar.data[1536 + behind[i]] = 1;
        snprintf(words, sizeof(words),
            "offset 1024: the archive ends here, "
            "but more follows at offset %zu;",
            1536 + behind[i]);
        assert_refused(&tar, words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_its_prefix_before_it),
        cmocka_unit_test(a_size_is_octal_or_binary),
        cmocka_unit_test(a_sum_is_of_bytes_with_or_without_a_sign),
        cmocka_unit_test(any_byte_that_changed_is_seen_by_the_sum),
        cmocka_unit_test(a_block_of_zeros_has_no_other_byte),
        cmocka_unit_test(records_give_what_they_name),
        cmocka_unit_test(records_that_are_damaged_are_named_by_their_byte),
        cmocka_unit_test(a_name_has_at_most_4095_bytes),
        cmocka_unit_test(compressed_files_are_known_by_their_whole_magic),
        cmocka_unit_test(only_files_have_bytes_behind_their_headers),
        cmocka_unit_test(keys_that_begin_alike_are_two_samples),
        cmocka_unit_test(extended_headers_apply_to_the_next_member_alone),
        cmocka_unit_test(global_records_may_only_comment),
        cmocka_unit_test(an_extended_header_has_at_most_a_mebibyte),
        cmocka_unit_test(a_payload_without_its_padding_is_truncated),
        cmocka_unit_test(zeros_behind_the_end_are_fine_however_many),
        cmocka_unit_test(the_first_byte_behind_the_end_is_named),
    };
    return cmocka_run_group_tests_name(
        "worker.source.tar_header", tests, NULL, NULL);
}
