/* SPDX-License-Identifier: Apache-2.0 */
/* Directories and members of zip files: each number is refused if it is one too
 * large or too small. A guard page follows the input. */
#include "tests/guard.h"
#include "tests/says.h"
#include "tests/test.h"

#include <string.h>

#include "worker/zip/zip.h"

enum {
    END     = 22, /* bytes of the end record without its comment */
    LOCATOR = 20,
    END64   = 56
};

/* ---- the end of a file --------------------------------------------------- */

struct end_record {
    uint16_t disk, first;
    uint32_t size, offset;
    size_t   comment;
};

static void put_end(struct fby_buffer *out, struct end_record end)
{
    fby_put_u32(out, 0x06054b50);
    fby_put_u16(out, end.disk);
    fby_put_u16(out, end.first);
    fby_put_u32(out, 0x00010001);
    fby_put_u32(out, end.size);
    fby_put_u32(out, end.offset);
    fby_put_u16(out, (uint16_t)end.comment);
    for (size_t i = 0; i < end.comment; i++) {
        fby_put_u8(out, 'c');
    }
}

/* `file_size` bytes of which `tail` are the last. */
static fby_err find(const struct fby_buffer *tail, uint64_t file_size,
    struct fby_zip_directory *out, struct fby_error_detail *why)
{
    struct fby_guarded bytes = fby_guarded_copy(tail->data, tail->size);
    *out                     = (struct fby_zip_directory){0};
    fby_err err =
        fby_zip_find_directory(bytes.bytes, bytes.size, file_size, out, why);
    fby_guarded_free(&bytes);
    return err;
}

static void found(const struct fby_buffer *tail, uint64_t file_size,
    uint64_t offset, uint64_t size)
{
    struct fby_zip_directory directory;
    struct fby_error_detail  why = {{0}};
    if (find(tail, file_size, &directory, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_int_equal(directory.offset, offset);
    assert_int_equal(directory.size, size);
}

static void not_found(
    const struct fby_buffer *tail, uint64_t file_size, const char *words)
{
    struct fby_zip_directory directory;
    struct fby_error_detail  why = {{0}};
    assert_int_equal(find(tail, file_size, &directory, &why), FBY_CONFIG);
    assert_says(&why, words);
}

static void found_at_end(
    struct end_record end, uint64_t file_size, bool is_there)
{
    struct fby_buffer tail = {0};
    put_end(&tail, end);
    if (is_there) {
        found(&tail, file_size, end.offset, end.size);
    } else {
        not_found(&tail, file_size, "the directory is outside the file");
    }
    fby_buffer_fini(&tail);
}

static void a_directory_lies_within_its_file(void **state)
{
    (void)state;
    found_at_end((struct end_record){0, 0, 46, 100, 0}, 168, true);
    found_at_end((struct end_record){0, 0, 68, 100, 0}, 168, true);
    found_at_end((struct end_record){0, 0, 69, 100, 0}, 168, false);
    found_at_end((struct end_record){0, 0, 68, 101, 0}, 168, false);
    found_at_end((struct end_record){0, 0, 0, 168, 0}, 168, true);
    found_at_end((struct end_record){0, 0, 0, 169, 0}, 168, false);
    found_at_end((struct end_record){0, 0, 168, 0, 0}, 168, true);
    found_at_end((struct end_record){0, 0, 169, 0, 0}, 168, false);
}

static void an_archive_has_one_part(void **state)
{
    (void)state;
    static const uint16_t disks[][3] = {{0, 0, 1}, {0xffff, 0xffff, 1},
        {1, 1, 0}, {0, 1, 0}, {1, 0, 0}, {0xffff, 0, 0}, {0xfffe, 0xfffe, 0}};
    for (size_t i = 0; i < sizeof(disks) / sizeof(*disks); i++) {
        struct fby_buffer tail = {0};
        put_end(
            &tail, (struct end_record){disks[i][0], disks[i][1], 46, 10, 0});
        if (disks[i][2] != 0) {
            found(&tail, 100, 10, 46);
        } else {
            not_found(&tail, 100, "several parts");
        }
        fby_buffer_fini(&tail);
    }
}

static void an_end_record_is_followed_by_its_comment_alone(void **state)
{
    (void)state;
    static const size_t comments[] = {0, 1, 255, 256, 65535};
    for (size_t i = 0; i < sizeof(comments) / sizeof(*comments); i++) {
        struct fby_buffer tail = {0};
        put_end(&tail, (struct end_record){0, 0, 46, 10, comments[i]});
        found(&tail, 70000, 10, 46);
        for (size_t less = 1; less <= END && less <= tail.size; less++) {
            struct fby_buffer cut = {tail.data, tail.size - less, 0};
            not_found(&cut, 70000, "does not end as a zip");
        }
        fby_put_u8(&tail, 'x');
        not_found(&tail, 70000, "does not end as a zip");
        fby_buffer_fini(&tail);
    }
}

/* A comment may hold what looks like the beginning of a record. */
static void the_last_end_record_that_fits_counts(void **state)
{
    (void)state;
    struct fby_buffer tail = {0};
    fby_put_bytes(&tail, "before", 6);
    put_end(&tail, (struct end_record){0, 0, 46, 10, (size_t)2 * END});
    tail.size -= (size_t)2 * END;
    put_end(&tail, (struct end_record){0, 0, 47, 11, 1});
    tail.size--; /* so its comment is beyond the end */
    put_end(&tail, (struct end_record){0, 0, 48, 12, 7});
    tail.size -= 7;
    found(&tail, 1000, 10, 46);
    tail.data[tail.size - 2] = 0; /* now this one has no comment */
    found(&tail, 1000, 12, 48);
    fby_buffer_fini(&tail);
}

/* ---- zip64 --------------------------------------------------------------- */

struct zip64 {
    uint64_t begins; /* of the tail in the file */
    uint64_t at;     /* where the locator says the record is */
    uint32_t marks[2];
    uint32_t size, offset; /* of the old record */
    size_t   gap;          /* bytes between record and locator */
};

static struct zip64 usual_zip64(void)
{
    return (struct zip64){.begins = 5000000000,
        .at                       = 5000000000 + 4,
        .marks                    = {0x06064b50, 0x07064b50},
        .size                     = UINT32_MAX,
        .offset                   = UINT32_MAX};
}

/* Four bytes, the record of zip64, its locator, the old record. */
static struct fby_buffer tail64(const struct zip64 *zip)
{
    struct fby_buffer out = {0};
    fby_put_bytes(&out, "last", 4);
    fby_put_u32(&out, zip->marks[0]);
    for (int i = 0; i < (END64 - 4 - 16) / 4; i++) {
        fby_put_u32(&out, 0x01020304);
    }
    fby_put_u64(&out, 777);        /* size */
    fby_put_u64(&out, 4300000000); /* offset */
    for (size_t i = 0; i < zip->gap; i++) {
        fby_put_u8(&out, 0);
    }
    fby_put_u32(&out, zip->marks[1]);
    fby_put_u32(&out, 0);
    fby_put_u64(&out, zip->at);
    fby_put_u32(&out, 1);
    put_end(&out, (struct end_record){0, 0, zip->size, zip->offset, 0});
    return out;
}

static void finds64(const struct zip64 *zip, bool is_there)
{
    struct fby_buffer tail = tail64(zip);
    if (is_there) {
        found(&tail, zip->begins + tail.size, 4300000000, 777);
    } else {
        not_found(&tail, zip->begins + tail.size, "no zip64 end record");
    }
    fby_buffer_fini(&tail);
}

static void a_large_file_s_directory_is_found_by_the_locator(void **state)
{
    (void)state;
    struct zip64 zip = usual_zip64();
    finds64(&zip, true);
    zip.size = 46; /* one of the two is enough */
    finds64(&zip, true);
    zip.size   = UINT32_MAX;
    zip.offset = 46;
    finds64(&zip, true);
    zip.gap = 9;
    finds64(&zip, true);
    zip          = usual_zip64();
    zip.marks[0] = 0x06064b51;
    finds64(&zip, false);
    zip          = usual_zip64();
    zip.marks[1] = 0x07064b51;
    finds64(&zip, false);
}

static void a_locator_points_into_the_tail_before_itself(void **state)
{
    (void)state;
    static const int64_t wrong[] = {-5, -4, -1, 1, END64, END64 + LOCATOR,
        END64 + LOCATOR + END, INT32_MAX, -5000000004};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct zip64 zip = usual_zip64();
        zip.at           = (uint64_t)((int64_t)zip.at + wrong[i]);
        finds64(&zip, false);
    }
    struct zip64 zip       = usual_zip64();
    zip.begins             = 0;
    zip.at                 = 4;
    struct fby_buffer tail = tail64(&zip);
    not_found(&tail, tail.size, "is outside the file"); /* 4300000000 */
    fby_buffer_fini(&tail);
}

/* A tail of several lengths: with four bytes less it begins with the record. */
static void a_zip64_record_that_is_cut_is_none(void **state)
{
    (void)state;
    struct zip64      zip   = usual_zip64();
    struct fby_buffer tail  = tail64(&zip);
    struct fby_buffer whole = {tail.data + 4, tail.size - 4, 0};
    found(&whole, zip.begins + tail.size, 4300000000, 777);
    for (size_t less = 5; less < 4 + END64 + LOCATOR; less++) {
        struct fby_buffer cut = {tail.data + less, tail.size - less, 0};
        not_found(&cut, zip.begins + tail.size, "no zip64 end record");
    }
    fby_buffer_fini(&tail);
}

static bool has_count(const struct fby_zip_directory *directory, uint64_t n)
{
    struct fby_error_detail why = {{0}};
    fby_err                 err = fby_zip_check_count(directory, n, &why);
    if (err != FBY_OK) {
        assert_int_equal(err, FBY_CONFIG);
        assert_says(&why, "damaged zip file: the number of members is ");
    }
    return err == FBY_OK;
}

static void a_count_of_16_bits_may_overflow(void **state)
{
    (void)state;
    struct fby_zip_directory directory = {.n_members = 4};
    assert_true(has_count(&directory, 4));
    assert_false(has_count(&directory, 2));
    assert_false(has_count(&directory, 5));
    assert_true(has_count(&directory, 65536 + 4));
    directory.n_members = UINT16_MAX; /* zip64 has it */
    assert_true(has_count(&directory, 70000));
    directory =
        (struct fby_zip_directory){.n_members = 70000, .is_zip64_count = true};
    assert_true(has_count(&directory, 70000));
    assert_false(has_count(&directory, 70000 - 65536));
}

static void the_count_of_zip64_replaces_one_of_65535(void **state)
{
    (void)state;
    struct zip64             zip       = usual_zip64();
    const uint64_t           zip64     = 0x0102030401020304;
    struct fby_zip_directory directory = {0};
    struct fby_error_detail  why       = {{0}};
    for (int is_large = 0; is_large < 2; is_large++) {
        for (int is_65535 = 0; is_65535 < 2; is_65535++) {
            zip.size               = is_large ? UINT32_MAX : 46;
            zip.offset             = is_large ? UINT32_MAX : 10;
            struct fby_buffer tail = tail64(&zip);
            fby_store_le(
                tail.data + tail.size - END + 10, is_65535 ? UINT16_MAX : 7, 2);
            assert_ok(find(&tail, zip.begins + tail.size, &directory, &why));
            assert_int_equal(directory.is_zip64_count, is_large || is_65535);
            assert_int_equal(
                directory.n_members, is_large || is_65535 ? zip64 : 7);
            assert_int_equal(directory.size, is_large ? 777 : 46);
            fby_buffer_fini(&tail);
        }
    }
}

static void without_large_numbers_the_locator_is_not_asked(void **state)
{
    (void)state;
    struct zip64 zip       = usual_zip64();
    zip.size               = 46;
    zip.offset             = 10;
    struct fby_buffer tail = tail64(&zip);
    found(&tail, zip.begins + tail.size, 10, 46);
    fby_buffer_fini(&tail);
}

/* ---- members ------------------------------------------------------------- */

struct entry {
    uint16_t    flags, method;
    uint32_t    packed, size, head;
    const char *name;
    const void *extra;
    uint16_t    n_extra, n_remark;
};

static void put_entry(struct fby_buffer *out, struct entry entry)
{
    fby_put_u32(out, 0x02014b50);
    fby_put_u32(out, 0x00140014);
    fby_put_u16(out, entry.flags);
    fby_put_u16(out, entry.method);
    fby_put_u32(out, 0x11223344); /* time */
    fby_put_u32(out, 0xa1b2c3d4); /* sum */
    fby_put_u32(out, entry.packed);
    fby_put_u32(out, entry.size);
    fby_put_u16(out, (uint16_t)strlen(entry.name));
    fby_put_u16(out, entry.n_extra);
    fby_put_u16(out, entry.n_remark);
    fby_put_u64(out, 0x5566778899aabbcc); /* disk, attributes */
    fby_put_u32(out, entry.head);
    fby_put_bytes(out, entry.name, strlen(entry.name));
    fby_put_bytes(out, entry.extra, entry.n_extra);
    for (uint16_t i = 0; i < entry.n_remark; i++) {
        fby_put_u8(out, 'r');
    }
}

/* The only entry of a directory. */
static fby_err read_entry(struct entry entry, struct fby_zip_member *out,
    struct fby_error_detail *why)
{
    struct fby_buffer directory = {0};
    put_entry(&directory, entry);
    struct fby_guarded bytes = fby_guarded_copy(directory.data, directory.size);
    struct fby_reader  in    = fby_reader(bytes.bytes, bytes.size);
    fby_err            err   = fby_zip_next_member(&in, out, NULL, why);
    assert_true(err != FBY_OK || in.left == 0);
    fby_guarded_free(&bytes);
    fby_buffer_fini(&directory);
    return err;
}

static void refuses(struct entry entry, const char *words)
{
    struct fby_zip_member   member;
    struct fby_error_detail why = {{0}};
    assert_int_equal(read_entry(entry, &member, &why), FBY_CONFIG);
    assert_says(&why, words);
}

/* An entry has its whole name, its method, and whether it is a link. */
static void an_entry_may_be_a_link(void **state)
{
    (void)state;
    static const struct {
        uint16_t version;
        uint32_t attributes;
        bool     is_link;
    } entries[] = {{3 << 8 | 20, 0120777U << 16, true},
        {19 << 8 | 20, 0120777U << 16, true},
        {3 << 8 | 20, 0100644U << 16, false},
        {3 << 8 | 20, 0160777U << 16, false}, {20, 0120777U << 16, false},
        {10 << 8, 0120777U << 16, false}};
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        struct fby_buffer     directory = {0};
        struct fby_zip_member member;
        struct fby_zip_name   name = {NULL, 0};
        put_entry(
            &directory, (struct entry){0, 99, 7, 90, 0, "ab", NULL, 0, 0});
        fby_store_le(directory.data + 4, entries[i].version, 2);
        fby_store_le(directory.data + 38, entries[i].attributes, 4);
        struct fby_reader in = fby_reader(directory.data, directory.size);
        assert_ok(fby_zip_next_member(&in, &member, &name, NULL));
        assert_int_equal(member.is_link, entries[i].is_link);
        assert_int_equal(member.method, 99);
        assert_int_equal(name.size, 2);
        assert_memory_equal(name.text, "ab", 2);
        fby_buffer_fini(&directory);
    }
}

static void entries_follow_each_other(void **state)
{
    (void)state;
    struct fby_buffer     directory = {0};
    struct fby_zip_member member;
    put_entry(&directory,
        (struct entry){0, 0, 12, 12, 100, "a.npy", "\2\0\1\0z", 5, 3});
    put_entry(&directory, (struct entry){2, 8, 7, 90, 0, "", NULL, 0, 0});
    struct fby_reader in = fby_reader(directory.data, directory.size);
    assert_ok(fby_zip_next_member(&in, &member, NULL, NULL));
    assert_string_equal(member.short_name, "a.npy");
    assert_int_equal(member.size, 12);
    assert_int_equal(member.packed_bytes, 12);
    assert_int_equal(member.head_offset, 100);
    assert_int_equal(member.sum, 0xa1b2c3d4);
    assert_ok(fby_zip_next_member(&in, &member, NULL, NULL));
    assert_string_equal(member.short_name, "");
    assert_int_equal(member.size, 90);
    assert_int_equal(member.packed_bytes, 7);
    assert_int_equal(member.head_offset, 0);
    assert_int_equal(in.left, 0);
    fby_buffer_fini(&directory);
}

static void the_storage_of_a_member_is_known(void **state)
{
    (void)state;
    static const struct {
        uint16_t flags, method;
        bool     stored, deflated, encrypted;
    } cases[] = {{0, 0, true, false, false}, {0, 8, false, true, false},
        {0, 9, false, false, false}, {0, 1, false, false, false},
        {1, 0, false, false, true}, {1, 8, false, false, true},
        {0x806, 8, false, true, false}, {0x801, 8, false, false, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct fby_zip_member member;
        assert_ok(read_entry((struct entry){cases[i].flags, cases[i].method, 5,
                                 5, 0, "n", NULL, 0, 0},
            &member, NULL));
        assert_int_equal(member.is_stored, cases[i].stored);
        assert_int_equal(member.is_deflated, cases[i].deflated);
        assert_int_equal(member.is_encrypted, cases[i].encrypted);
    }
    refuses((struct entry){0, 0, 5, 6, 0, "n", NULL, 0, 0}, "two sizes");
    refuses((struct entry){0, 0, 6, 5, 0, "n", NULL, 0, 0}, "two sizes");
}

/* The zip64 field has size, packed size and offset in this order, each only if
 * it is too large. */
static void large_numbers_come_from_the_zip64_part(void **state)
{
    (void)state;
    static const uint64_t right[3] = {
        UINT64_C(1) << 33, UINT64_C(1) << 34, UINT64_C(1) << 35};
    for (unsigned which = 0; which < 8; which++) {
        struct fby_buffer     extra = {0};
        struct fby_zip_member member;
        uint64_t              all[3] = {40, 30, 20};
        fby_put_bytes(&extra, "\x75\x70\3\0abc", 7); /* another part */
        fby_put_u16(&extra, 1);
        fby_put_u16(&extra, (uint16_t)(8 * __builtin_popcount(which)));
        for (unsigned i = 0; i < 3; i++) {
            if ((which >> i & 1) != 0) {
                fby_put_u64(&extra, right[i]);
                all[i] = UINT32_MAX;
            }
        }
        assert_ok(read_entry(
            (struct entry){0, 8, (uint32_t)all[1], (uint32_t)all[0],
                (uint32_t)all[2], "n", extra.data, (uint16_t)extra.size, 2},
            &member, NULL));
        assert_int_equal(member.size, which & 1 ? right[0] : 40);
        assert_int_equal(member.packed_bytes, which & 2 ? right[1] : 30);
        assert_int_equal(member.head_offset, which & 4 ? right[2] : 20);
        fby_buffer_fini(&extra);
    }
}

static void large_numbers_without_their_part_are_refused(void **state)
{
    (void)state;
    static const uint8_t seven[]  = {1, 0, 7, 0, 1, 2, 3, 4, 5, 6, 7};
    static const uint8_t beyond[] = {1, 0, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    const uint32_t       large    = UINT32_MAX;
    refuses((struct entry){0, 8, large, 5, 5, "n", NULL, 0, 0}, "sizes");
    refuses((struct entry){0, 8, 5, large, 5, "n", NULL, 0, 0}, "sizes");
    refuses((struct entry){0, 8, 5, 5, large, "n", NULL, 0, 0}, "sizes");
    refuses((struct entry){0, 8, large, 5, 5, "n", seven, 11, 0}, "sizes");
    refuses((struct entry){0, 8, 5, large, 5, "n", seven, 11, 0}, "sizes");
    refuses((struct entry){0, 8, 5, 5, large, "n", seven, 11, 0}, "sizes");
    refuses((struct entry){0, 8, 5, 5, 5, "n", beyond, 12, 0}, "sizes");
    struct fby_zip_member member;
    assert_ok(read_entry((struct entry){0, 8, 5, 6, 7, "n", "\1\0\1", 3, 0},
        &member, NULL)); /* too short to be a part */
    assert_int_equal(member.size, 6);
}

static void an_entry_that_is_cut_is_refused(void **state)
{
    (void)state;
    struct fby_buffer directory = {0};
    put_entry(
        &directory, (struct entry){0, 8, 5, 6, 7, "name", "\2\0\1\0z", 5, 3});
    for (size_t size = 0; size < directory.size; size++) {
        struct fby_guarded    cut = fby_guarded_copy(directory.data, size);
        struct fby_reader     in  = fby_reader(cut.bytes, size);
        struct fby_zip_member member;
        assert_int_equal(
            fby_zip_next_member(&in, &member, NULL, NULL), FBY_CONFIG);
        fby_guarded_free(&cut);
    }
    directory.data[0]++;
    struct fby_reader     in = fby_reader(directory.data, directory.size);
    struct fby_zip_member member;
    assert_int_equal(fby_zip_next_member(&in, &member, NULL, NULL), FBY_CONFIG);
    fby_buffer_fini(&directory);
}

static void a_long_name_is_cut(void **state)
{
    (void)state;
    for (size_t n = FBY_ZIP_NAME_SIZE - 2; n <= FBY_ZIP_NAME_SIZE + 40; n++) {
        char                  name[FBY_ZIP_NAME_SIZE + 41] = "";
        struct fby_zip_member member;
        memset(name, 'n', n);
        assert_ok(read_entry(
            (struct entry){0, 0, 5, 5, 1, name, NULL, 0, 0}, &member, NULL));
        size_t kept = n < FBY_ZIP_NAME_SIZE ? n : FBY_ZIP_NAME_SIZE - 1;
        assert_int_equal(strlen(member.short_name), kept);
        assert_memory_equal(member.short_name, name, kept);
    }
}

static void an_array_is_its_name_and_npy(void **state)
{
    (void)state;
    static const char *const names[] = {"data.npy", "data", "data.npy2",
        "datas.npy", "dat.npy", "a/data.npy", "DATA.npy", ".npy", ""};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct fby_zip_member member = {.short_name = ""};
        memcpy(member.short_name, names[i], strlen(names[i]) + 1);
        assert_int_equal(fby_zip_is_array(&member, "data"), i == 0);
    }
}

/* A head of 30 bytes, a name of 4 and an extra of 7, from `head` on. */
static fby_err begin(
    const struct fby_zip_member *member, uint64_t file_size, uint64_t *out)
{
    uint8_t bytes[FBY_ZIP_HEAD];
    memset(bytes, 0x7e, sizeof(bytes));
    fby_store_le(bytes, 0x04034b50, 4);
    fby_store_le(bytes + 26, 4, 2);
    fby_store_le(bytes + 28, 7, 2);
    struct fby_guarded head = fby_guarded_copy(bytes, sizeof(bytes));
    fby_err err = fby_zip_data_offset(head.bytes, member, file_size, out, NULL);
    head.bytes[0]++;
    assert_int_equal(fby_zip_data_offset(
                         head.bytes, member, file_size, &(uint64_t){0}, NULL),
        FBY_CONFIG);
    fby_guarded_free(&head);
    return err;
}

static void a_member_lies_behind_its_head_and_within_the_file(void **state)
{
    (void)state;
    struct fby_zip_member member = {
        .head_offset = 100, .packed_bytes = 50, .size = 999};
    uint64_t at = 0;
    assert_ok(begin(&member, 191, &at));
    assert_int_equal(at, 141);
    assert_int_equal(begin(&member, 190, &at), FBY_CONFIG);
    assert_int_equal(begin(&member, 141, &at), FBY_CONFIG);
    assert_int_equal(begin(&member, 140, &at), FBY_CONFIG);
    assert_int_equal(begin(&member, 99, &at), FBY_CONFIG);
    assert_int_equal(begin(&member, 100, &at), FBY_CONFIG);
    member.packed_bytes = 0;
    assert_ok(begin(&member, 141, &at));
    assert_int_equal(begin(&member, 140, &at), FBY_CONFIG);
    member.packed_bytes = UINT64_MAX - 20;
    assert_int_equal(begin(&member, 191, &at), FBY_CONFIG);
    member.head_offset = UINT64_MAX - 20;
    assert_int_equal(begin(&member, 191, &at), FBY_CONFIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_lies_within_its_file),
        cmocka_unit_test(an_archive_has_one_part),
        cmocka_unit_test(an_end_record_is_followed_by_its_comment_alone),
        cmocka_unit_test(the_last_end_record_that_fits_counts),
        cmocka_unit_test(a_large_file_s_directory_is_found_by_the_locator),
        cmocka_unit_test(a_locator_points_into_the_tail_before_itself),
        cmocka_unit_test(a_zip64_record_that_is_cut_is_none),
        cmocka_unit_test(a_count_of_16_bits_may_overflow),
        cmocka_unit_test(the_count_of_zip64_replaces_one_of_65535),
        cmocka_unit_test(without_large_numbers_the_locator_is_not_asked),
        cmocka_unit_test(an_entry_may_be_a_link),
        cmocka_unit_test(entries_follow_each_other),
        cmocka_unit_test(the_storage_of_a_member_is_known),
        cmocka_unit_test(large_numbers_come_from_the_zip64_part),
        cmocka_unit_test(large_numbers_without_their_part_are_refused),
        cmocka_unit_test(an_entry_that_is_cut_is_refused),
        cmocka_unit_test(a_long_name_is_cut),
        cmocka_unit_test(an_array_is_its_name_and_npy),
        cmocka_unit_test(a_member_lies_behind_its_head_and_within_the_file),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.zip", tests, NULL, NULL);
}
