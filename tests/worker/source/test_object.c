/* SPDX-License-Identifier: Apache-2.0 */
/* The interface to the bytes of data: local files, which the system may return
 * in parts, and a second implementation in memory. */
#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include "tests/descriptors.h"
#include "tests/worker/source/memory_object.h"
#include "tests/worker/source/sandbox.h"
#include "worker/source/object_file.h"
#include "worker/source/shards/tar.h"
#include "worker/source/tokens/token_file.h"

static enum { WHOLE, PIECES, BROKEN } how;
static unsigned calls;

/* NOLINTBEGIN(readability-identifier-naming): what the linker calls them */
ssize_t __real_pread(int fd, void *out, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *out, size_t size, off_t offset);
/* NOLINTEND(readability-identifier-naming) */

/* In PIECES every other call is interrupted, the rest hand out 3 bytes. */
ssize_t __wrap_pread(int fd, void *out, size_t size, off_t offset)
{
    errno = how == BROKEN ? EIO : EINTR;
    if (how == BROKEN || (how == PIECES && calls++ % 2 == 0)) {
        return -1;
    }
    return __real_pread(fd, out, how == PIECES && size > 3 ? 3 : size, offset);
}

static const struct fby_root *root_of(const struct sandbox *sb)
{
    const struct fby_root *root = NULL;
    assert_ok(fby_roots_find(sb->roots, "data", &root, NULL));
    return root;
}

/* "ten bytes!" in the root, open. */
static struct fby_object ten_bytes(
    const struct sandbox *sb, struct fby_stamp *stamp)
{
    struct fby_object object;
    how = WHOLE;
    sandbox_write_text(sb, "data/ten", "ten bytes!");
    assert_ok(
        fby_object_open_stamped(root_of(sb), "ten", &object, stamp, NULL));
    return object;
}

static void a_file_is_opened_with_its_size(void **state)
{
    struct fby_stamp  stamp;
    struct fby_object object = ten_bytes(*state, &stamp);
    assert_true(fby_object_is_open(&object));
    assert_true(fby_object_local_fd(&object) >= 0);
    assert_int_equal(stamp.size, 10);
    assert_ok(fby_stamp_check(&object, &stamp, NULL));
    assert_true(fby_object_exists(root_of(*state), "ten"));
    fby_object_close(&object);
}

static void what_is_no_file_is_not_opened(void **state)
{
    struct fby_object       object;
    struct fby_stamp        stamp;
    struct fby_error_detail why    = {{0}};
    unsigned                before = open_descriptors();
    sandbox_mkdir(*state, "data/dir");
    assert_int_equal(
        fby_object_open(root_of(*state), "dir", &object, &why), FBY_NOT_FOUND);
    assert_says(&why, "data:dir is not a plain file");
    assert_false(fby_object_is_open(&object));
    assert_int_equal(
        fby_object_open_stamped(root_of(*state), "none", &object, &stamp, &why),
        FBY_NOT_FOUND);
    assert_false(fby_object_is_open(&object));
    assert_false(fby_object_exists(root_of(*state), "none"));
    assert_int_equal(open_descriptors(), before);
}

static void bytes_that_come_in_pieces_are_read_whole(void **state)
{
    struct fby_stamp  stamp;
    struct fby_object object   = ten_bytes(*state, &stamp);
    char              bytes[9] = "";
    how                        = PIECES;
    calls                      = 0;
    assert_ok(fby_object_read(&object, 2, bytes, 8, NULL));
    assert_string_equal(bytes, "n bytes!");
    assert_int_equal(calls, 6);
    fby_object_close(&object);
}

static void the_end_of_the_file_is_where_it_is(void **state)
{
    struct fby_stamp        stamp;
    struct fby_error_detail why    = {{0}};
    struct fby_object       object = ten_bytes(*state, &stamp);
    char                    bytes[8];
    for (how = WHOLE; how <= PIECES; how++) {
        for (uint64_t at = 0; at <= 12; at++) {
            size_t left = at < 10 ? 10 - (size_t)at : 0;
            size_t n    = 8;
            assert_ok(fby_object_read_some(&object, at, bytes, &n, &why));
            assert_int_equal(n, left < 8 ? left : 8);
        }
        assert_int_equal(fby_object_read(&object, 3, bytes, 8, &why), FBY_IO);
        assert_says(&why, "cannot read: the file became shorter");
    }
    assert_ok(fby_object_read(&object, 12, bytes, 0, NULL));
    fby_object_close(&object);
}

static void a_failed_read_says_why(void **state)
{
    struct fby_stamp        stamp;
    struct fby_error_detail why    = {{0}};
    struct fby_object       object = ten_bytes(*state, &stamp);
    char                    bytes[8];
    how = BROKEN;
    assert_int_equal(fby_object_read(&object, 0, bytes, 8, &why), FBY_IO);
    assert_string_equal(why.text, "cannot read: Input/output error");
    fby_object_close(&object);
}

static void a_file_that_changed_is_stale(void **state)
{
    struct fby_stamp        stamp;
    struct fby_stamp        now;
    struct fby_error_detail why    = {{0}};
    struct fby_object       object = ten_bytes(*state, &stamp);
    sandbox_append(*state, "data/ten", "?", 1);
    assert_int_equal(fby_stamp_check(&object, &stamp, &why), FBY_STALE);
    assert_string_equal(
        why.text, "was appended to: 10 bytes when it was indexed, 11 now");
    assert_ok(fby_object_stamp(&object, &now, NULL));
    assert_int_equal(now.size, 11);
    sandbox_remove(*state, "data/ten");
    assert_int_equal(fby_stamp_check(&object, &now, &why), FBY_STALE);
    assert_string_equal(
        why.text, "was replaced or removed since it was opened");
    fby_object_close(&object);
}

static void a_closed_object_stays_closed(void **state)
{
    struct fby_stamp  stamp;
    unsigned          before = open_descriptors();
    struct fby_object object = ten_bytes(*state, &stamp);
    assert_int_equal(open_descriptors(), before + 1);
    fby_object_close(&object);
    fby_object_close(&object);
    assert_false(fby_object_is_open(&object));
    assert_int_equal(fby_object_local_fd(&object), -1);
    assert_int_equal(open_descriptors(), before);
}

/* ---- another implementation ---------------------------------------------- */

static void objects_in_memory_are_read_and_closed(void **state)
{
    (void)state;
    char                    bytes[8] = "";
    struct fby_error_detail why      = {{0}};
    struct memory           memory   = memory_of("memory", 6);
    struct fby_object       object   = memory_object(&memory);
    memory.most                      = 2;
    assert_int_equal(fby_object_local_fd(&object), -1);
    assert_ok(fby_object_read(&object, 1, bytes, 5, NULL));
    assert_string_equal(bytes, "emory");
    assert_int_equal(memory.reads, 3);
    struct fby_stamp stamp = memory.stamp;
    assert_ok(fby_stamp_check(&object, &stamp, NULL));
    memory.stamp.mtime_ns++;
    assert_int_equal(fby_stamp_check(&object, &stamp, &why), FBY_STALE);
    assert_string_equal(why.text, "was written to since it was indexed");
    memory.data = NULL;
    assert_int_equal(fby_object_read(&object, 0, bytes, 1, &why), FBY_IO);
    assert_string_equal(why.text, "cannot read: it was forgotten");
    fby_object_close(&object);
    assert_int_equal(memory.closes, 1);
}

static void a_tar_is_scanned_in_any_object(void **state)
{
    (void)state;
    struct fby_shard  shard;
    struct fby_buffer tar = {0};
    tar_file(&tar, "0001.jpg", "photo");
    tar_file(&tar, "0002.jpg", "another");
    tar_end(&tar);
    struct memory       memory = memory_of(tar.data, tar.size);
    struct fby_object   object = memory_object(&memory);
    struct fby_tar_file file   = {.object = &object, .size = tar.size};
    memory.most                = 100;
    fby_shard_init(&shard, "x.tar", FBY_SOURCE_SHARDS);
    assert_ok(fby_tar_scan(&file, &shard, NULL));
    assert_int_equal(shard.n_samples, 2);
    assert_int_equal(shard.member_bytes[1], 7);
    fby_shard_fini(&shard);
    fby_buffer_fini(&tar);
}

static void tokens_are_read_in_any_object(void **state)
{
    (void)state;
    static const atomic_bool go_on;
    const struct fby_tokens  how_cut = {.format = FBY_TOKENS_FLAT,
         .type                                  = FBY_U8,
         .length                                = 4,
         .packed                                = true,
         .end                                   = '.'};
    struct memory            memory  = memory_of("one.two.three.", 14);
    struct fby_object        object  = memory_object(&memory);
    struct fby_token_file    file    = {&object, 14, &go_on};
    struct fby_sequences    *all     = fby_sequences_create(&how_cut);
    memory.most                      = 1;
    assert_ok(fby_flat_read(&file, how_cut.end, all, NULL));
    assert_int_equal(all->tokens, 14);
    assert_int_equal(all->packed->documents, 3);
    fby_sequences_free(&all);
}

static void sums_are_the_same_in_any_object(void **state)
{
    static const atomic_bool go_on;
    struct fby_stamp         stamp;
    struct memory            memory    = memory_of("ten bytes!", 10);
    struct fby_object        objects[] = {
               ten_bytes(*state, &stamp), memory_object(&memory)};
    struct fby_checksum sums[2];
    memory.stamp = stamp;
    memory.most  = 4;
    for (int i = 0; i < 2; i++) {
        struct fby_checksum_state sum;
        fby_checksum_begin(&sum);
        assert_ok(
            fby_checksum_add_file(&sum, &objects[i], &stamp, &go_on, NULL));
        sums[i] = fby_checksum_end(&sum);
        fby_object_close(&objects[i]);
    }
    assert_memory_equal(&sums[0], &sums[1], sizeof(sums[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_file_is_opened_with_its_size),
        IN_SANDBOX(what_is_no_file_is_not_opened),
        IN_SANDBOX(bytes_that_come_in_pieces_are_read_whole),
        IN_SANDBOX(the_end_of_the_file_is_where_it_is),
        IN_SANDBOX(a_failed_read_says_why),
        IN_SANDBOX(a_file_that_changed_is_stale),
        IN_SANDBOX(a_closed_object_stays_closed),
        cmocka_unit_test(objects_in_memory_are_read_and_closed),
        cmocka_unit_test(a_tar_is_scanned_in_any_object),
        cmocka_unit_test(tokens_are_read_in_any_object),
        IN_SANDBOX(sums_are_the_same_in_any_object),
    };
    return cmocka_run_group_tests_name(
        "worker.source.object", tests, NULL, NULL);
}
