/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "tests/worker/source/tars.h"
#include "worker/source/object_file.h"

/* The file at `path` of the sandbox, beneath no root. */
static struct fby_object open_path(const struct sandbox *sb, const char *path)
{
    int fd = open(sandbox_path(sb, path), O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return (struct fby_object){.ops = &fby_local_file_ops, .fd = fd};
}

static fby_err scan_path(const struct sandbox *sb, const char *path,
    struct fby_shard *shard, struct fby_error_detail *why)
{
    struct fby_stamp  stamp;
    struct fby_object object = open_path(sb, path);
    assert_ok(fby_object_stamp(&object, &stamp, NULL));
    struct fby_tar_file file = {.object = &object, .size = stamp.size};
    fby_shard_init(shard, path, FBY_SOURCE_SHARDS);
    fby_err err = fby_tar_scan(&file, shard, why);
    fby_object_close(&object);
    return err;
}

static void members_are_grouped_by_key_with_their_offsets(void **state)
{
    (void)state;
    struct fby_buffer tar   = {0};
    struct fby_shard  shard = {0};
    tar_file(&tar, "0001.jpg", "photo");
    tar_file(&tar, "0001.cls", "7");
    tar_file(&tar, "sub/0002.SEG.png", "mask");
    tar_end(&tar);
    assert_ok(scan(&tar, &shard, NULL));
    assert_int_equal(shard.n_samples, 2);
    assert_int_equal(shard.n_members, 3);
    assert_string_equal(fby_shard_key(&shard, 0), "0001");
    assert_string_equal(fby_shard_key(&shard, 1), "sub/0002");
    assert_int_equal(shard.first_member[1], 2);
    assert_string_equal(fby_shard_suffix(&shard, 1), "cls");
    assert_true(
        fby_equal_ignoring_case(fby_shard_suffix(&shard, 2), "seg.png"));
    assert_int_equal(fby_shard_offset(&shard, 0), 512);
    assert_int_equal(fby_shard_offset(&shard, 1), 3 * 512);
    assert_int_equal(shard.member_bytes[2], 4);
    fby_shard_fini(&shard);
}

static void what_is_no_member_is_passed_over(void **state)
{
    (void)state;
    struct fby_buffer tar   = {0};
    struct fby_shard  shard = {0};
    tar_header(&tar, "./", '5', 0);
    tar_header(&tar, "./sub/", '5', 0);
    tar_file(&tar, "./._0001.jpg", "AppleDouble");
    tar_file(&tar, "./.hidden/0001.jpg", "x");
    tar_file(&tar, "./README", "no extension");
    tar_file(&tar, "./0001.jpg", "photo");
    tar_header(&tar, "pipe.jpg", '6', 0);
    tar_end(&tar);
    assert_ok(scan(&tar, &shard, NULL));
    assert_int_equal(shard.n_samples, 1);
    assert_int_equal(shard.n_members, 1);
    assert_string_equal(fby_shard_key(&shard, 0), "0001");
    fby_shard_fini(&shard);
}

static void pax_records_give_path_and_size(void **state)
{
    (void)state;
    struct fby_buffer tar   = {0};
    struct fby_shard  shard = {0};
    char              name[300];
    memset(name, 'k', sizeof(name));
    memcpy(name + sizeof(name) - 5, ".jpg", 5);
    tar_pax(&tar, "path", name);
    tar_pax(&tar, "size", "5");
    tar_header(&tar, "short.jpg", '0', 0);
    tar_payload(&tar, "photo", 5);
    tar_file(&tar, "next.jpg", "x");
    tar_end(&tar);
    assert_ok(scan(&tar, &shard, NULL));
    assert_int_equal(shard.n_samples, 2);
    assert_int_equal(strlen(fby_shard_key(&shard, 0)), sizeof(name) - 5);
    assert_int_equal(shard.member_bytes[0], 5);
    assert_string_equal(fby_shard_key(&shard, 1), "next");
    fby_shard_fini(&shard);
}

static void gnu_long_names_and_binary_sizes_are_read(void **state)
{
    (void)state;
    struct fby_buffer tar   = {0};
    struct fby_shard  shard = {0};
    char              name[200];
    memset(name, 'k', sizeof(name));
    memcpy(name + sizeof(name) - 5, ".jpg", 5);
    tar_header(&tar, "././@LongLink", 'L', sizeof(name));
    tar_payload(&tar, name, sizeof(name));
    tar_header(&tar, "cut.jpg", '0', 5);
    uint8_t *header = tar.data + tar.size - 512;
    memset(header + 124, 0, 12);
    header[124] = 0x80;
    header[135] = 5;
    tar_sum(header);
    tar_payload(&tar, "photo", 5);
    tar_end(&tar);
    assert_ok(scan(&tar, &shard, NULL));
    assert_int_equal(strlen(fby_shard_key(&shard, 0)), sizeof(name) - 5);
    assert_int_equal(shard.member_bytes[0], 5);
    fby_shard_fini(&shard);
}

/* libarchive is another program's idea of the formats. */
static void write_with_libarchive(
    const char *path, int (*format)(struct archive *), const char *name)
{
    struct archive       *a     = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    assert_int_equal(format(a), ARCHIVE_OK);
    assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, 5);
    assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
    assert_int_equal(archive_write_data(a, "photo", 5), 5);
    archive_entry_free(entry);
    assert_int_equal(archive_write_free(a), ARCHIVE_OK);
}

static void archives_of_libarchive_are_read_in_each_format(void **state)
{
    static int (*const formats[])(struct archive *) = {
        archive_write_set_format_ustar,
        archive_write_set_format_pax,
        archive_write_set_format_gnutar,
    };
    const struct sandbox *sb = *state;
    char                  name[160];
    memset(name, 'd', sizeof(name));
    snprintf(name + 90, sizeof(name) - 90, "/0001.jpg");
    for (size_t i = 0; i < 3; i++) {
        struct fby_shard shard   = {0};
        char             text[6] = "";
        write_with_libarchive(sandbox_path(sb, "x.tar"), formats[i], name);
        assert_ok(scan_path(sb, "x.tar", &shard, NULL));
        assert_int_equal(shard.n_samples, 1);
        assert_int_equal(strlen(fby_shard_key(&shard, 0)), 95);
        struct fby_object object = open_path(sb, "x.tar");
        assert_ok(fby_object_read(
            &object, fby_shard_offset(&shard, 0), text, 5, NULL));
        fby_object_close(&object);
        assert_string_equal(text, "photo");
        fby_shard_fini(&shard);
    }
}

static void a_damaged_header_is_named_with_its_offset(void **state)
{
    (void)state;
    struct fby_buffer tar = {0};
    tar_file(&tar, "0001.jpg", "photo");
    tar_file(&tar, "0002.jpg", "photo");
    tar_end(&tar);
    tar.data[1024 + 3] ^= 1;
    assert_refused(&tar, "offset 1024: this is not a tar header");
}

static void a_file_cut_anywhere_is_truncated(void **state)
{
    (void)state;
    for (size_t size = 0; size < 2048; size += 128) {
        struct fby_buffer tar = {0};
        tar_file(&tar, "0001.jpg", "photo");
        tar_file(&tar, "0002.jpg", "photo");
        tar.size = size;
        assert_refused(&tar, size == 0 ? "empty" : "truncated");
    }
}

/* It was longer when its size was asked for. */
static void a_file_that_became_shorter_is_an_io_error(void **state)
{
    const struct sandbox *sb  = *state;
    struct fby_buffer     tar = {0};
    tar_file(&tar, "0001.jpg", "photo");
    uint64_t whole = tar.size;
    sandbox_tar(sb, "x.tar", &tar);
    struct fby_object object = open_path(sb, "x.tar");
    for (uint64_t more = 512; more <= 2048; more += 512) {
        struct fby_shard        shard = {0};
        struct fby_error_detail why   = {0};
        struct fby_tar_file file = {.object = &object, .size = whole + more};
        char                words[80];
        snprintf(words, sizeof(words),
            "offset %llu: cannot read: the file became shorter",
            (unsigned long long)whole);
        fby_shard_init(&shard, "x.tar", FBY_SOURCE_SHARDS);
        assert_int_equal(fby_tar_scan(&file, &shard, &why), FBY_IO);
        assert_says(&why, words);
        fby_shard_fini(&shard);
    }
    fby_object_close(&object);
}

static void a_size_beyond_the_file_is_truncated(void **state)
{
    (void)state;
    struct fby_buffer tar = {0};
    tar_header(&tar, "0001.jpg", '0', 0);
    memcpy(tar.data + 124, "\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12);
    tar_sum(tar.data);
    tar_end(&tar);
    assert_refused(&tar, "9223372036854775807 bytes");
    tar_header(&tar, "0001.jpg", '0', 0);
    memset(tar.data + 124, 0xff, 12);
    tar_sum(tar.data);
    tar_end(&tar);
    assert_refused(&tar, "size field is not a number");
    tar_pax(&tar, "size", "18446744073709551615");
    tar_header(&tar, "0001.jpg", '0', 0);
    tar_end(&tar);
    assert_refused(&tar, "size of the next member is not a number");
}

static void names_that_are_too_long_are_refused_with_the_limit(void **state)
{
    (void)state;
    struct fby_buffer tar = {0};
    char              name[5001];
    memset(name, 'k', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    tar_pax(&tar, "path", name);
    tar_file(&tar, "short.jpg", "x");
    tar_end(&tar);
    assert_refused(&tar, "has 5000 bytes; at most 4095 are read");
    tar_header(&tar, "././@LongLink", 'L', sizeof(name));
    tar_payload(&tar, name, sizeof(name));
    tar_file(&tar, "short.jpg", "x");
    tar_end(&tar);
    assert_refused(&tar, "has 5000 bytes; at most 4095 are read");
}

static void links_sparse_files_and_volumes_are_refused_by_name(void **state)
{
    (void)state;
    struct fby_buffer tar = {0};
    tar_header(&tar, "0001.jpg", '1', 0);
    tar_end(&tar);
    assert_refused(&tar, "member 0001.jpg is a link");
    tar_header(&tar, "0002.jpg", 'S', 0);
    tar_end(&tar);
    assert_refused(&tar, "member 0002.jpg is a sparse file");
    tar_pax(&tar, "GNU.sparse.major", "1");
    tar_file(&tar, "0003.jpg", "x");
    tar_end(&tar);
    assert_refused(&tar, "member 0003.jpg is a sparse file");
    tar_header(&tar, "0004.jpg", 'M', 0);
    tar_end(&tar);
    assert_refused(&tar, "another volume");
}

static void compressed_archives_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const magic[] = {"\x1f\x8b", "BZh", "\x28\xb5\x2f\xfd"};
    static const char *const name[]  = {"gzip", "bzip2", "zstd"};
    for (size_t i = 0; i < 3; i++) {
        struct fby_buffer tar = {0};
        tar_payload(&tar, magic[i], strlen(magic[i]));
        tar_end(&tar);
        assert_refused(&tar, name[i]);
    }
}

static void a_key_that_comes_back_is_refused_with_both_offsets(void **state)
{
    (void)state;
    struct fby_buffer tar = {0};
    tar_file(&tar, "0002.jpg", "photo");
    tar_file(&tar, "0001.jpg", "photo");
    tar_file(&tar, "0002.cls", "7");
    tar_end(&tar);
    assert_refused(&tar,
        "key 0002 is at offset 512 and again at offset 2560, with other "
        "samples between");
}

static void a_sample_has_one_member_of_an_extension(void **state)
{
    (void)state;
    struct fby_buffer tar = {0};
    tar_file(&tar, "0001.jpg", "photo");
    tar_file(&tar, "0001.JPG", "photo");
    tar_end(&tar);
    assert_refused(&tar, "sample 0001 has two members named .JPG");
}

static void a_tar_without_samples_says_what_was_expected(void **state)
{
    (void)state;
    struct fby_buffer tar = {0};
    tar_file(&tar, "README", "x");
    tar_end(&tar);
    assert_refused(&tar,
        "it has no samples: pack files such as 0001.jpg into it, or remove it");
}

static void names_that_cannot_be_keys_are_refused(void **state)
{
    (void)state;
    struct fby_buffer tar = {0};
    char              name[100];
    tar_file(&tar, "caf\xe9.jpg", "x");
    tar_end(&tar);
    assert_refused(&tar, "not UTF-8");
    tar_file(&tar, "a\nb.jpg", "x");
    tar_end(&tar);
    assert_refused(&tar, "control characters");
    memset(name, 'x', sizeof(name));
    memcpy(name, "0001.", 5);
    name[99] = '\0';
    tar_file(&tar, name, "x");
    tar_end(&tar);
    assert_refused(&tar, "longer than 63");
}

static void dates_as_names_are_told_where_the_extension_begins(void **state)
{
    (void)state;
    struct fby_buffer tar = {0};
    for (unsigned i = 0; i < 300; i++) {
        char name[32];
        snprintf(name, sizeof(name), "IMG.%03u.jpg", i);
        tar_file(&tar, name, "x");
    }
    tar_end(&tar);
    assert_refused(&tar, "the extension begins at the first dot");
}

static void a_scan_stops_when_told(void **state)
{
    const struct sandbox *sb    = *state;
    struct fby_shard      shard = {0};
    atomic_bool           stop  = true;
    sandbox_shard(sb, "x.tar", 0, 3);
    struct fby_object   object = open_path(sb, "x.tar");
    struct fby_tar_file file   = {
          .object = &object, .size = 100000, .stop = &stop};
    fby_shard_init(&shard, "x.tar", FBY_SOURCE_SHARDS);
    assert_int_equal(fby_tar_scan(&file, &shard, NULL), FBY_GONE);
    fby_shard_fini(&shard);
    fby_object_close(&object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_grouped_by_key_with_their_offsets),
        cmocka_unit_test(what_is_no_member_is_passed_over),
        cmocka_unit_test(pax_records_give_path_and_size),
        cmocka_unit_test(gnu_long_names_and_binary_sizes_are_read),
        IN_SANDBOX(archives_of_libarchive_are_read_in_each_format),
        cmocka_unit_test(a_damaged_header_is_named_with_its_offset),
        cmocka_unit_test(a_file_cut_anywhere_is_truncated),
        IN_SANDBOX(a_file_that_became_shorter_is_an_io_error),
        cmocka_unit_test(a_size_beyond_the_file_is_truncated),
        cmocka_unit_test(names_that_are_too_long_are_refused_with_the_limit),
        cmocka_unit_test(links_sparse_files_and_volumes_are_refused_by_name),
        cmocka_unit_test(compressed_archives_are_refused_by_name),
        cmocka_unit_test(a_key_that_comes_back_is_refused_with_both_offsets),
        cmocka_unit_test(a_sample_has_one_member_of_an_extension),
        cmocka_unit_test(a_tar_without_samples_says_what_was_expected),
        cmocka_unit_test(names_that_cannot_be_keys_are_refused),
        cmocka_unit_test(dates_as_names_are_told_where_the_extension_begins),
        IN_SANDBOX(a_scan_stops_when_told),
    };
    return cmocka_run_group_tests_name("worker.source.tar", tests, NULL, NULL);
}
