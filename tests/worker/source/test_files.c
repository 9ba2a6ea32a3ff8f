/* Files that are read and files that are mapped: how many stay open, which one
 * gives way, and that all are given back. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"
#include "tests/worker/source/sandbox.h"
#include "worker/source/files.h"
#include "worker/source/maps.h"

enum { FILES = 5 };

/* Files 0 .. FILES - 1 of the root, whose bytes are "file 0" and so on. */
struct some_files {
    const struct fby_root *root;
    char                   paths[FILES][16];
    struct fby_stamp       stamps[FILES];
};

static void stamp(const struct sandbox *sb, struct some_files *some, int i)
{
    struct stat st;
    char        path[32];
    snprintf(path, sizeof(path), "data/%s", some->paths[i]);
    assert_int_equal(stat(sandbox_path(sb, path), &st), 0);
    some->stamps[i] = fby_stamp_of(&st);
}

static void make_files(const struct sandbox *sb, struct some_files *some)
{
    assert_ok(fby_roots_named(sb->roots, "data", &some->root, NULL));
    for (int i = 0; i < FILES; i++) {
        char path[32];
        char text[16];
        snprintf(some->paths[i], sizeof(some->paths[i]), "f%d", i);
        snprintf(path, sizeof(path), "data/f%d", i);
        snprintf(text, sizeof(text), "file %d", i);
        sandbox_write_text(sb, path, text);
        stamp(sb, some, i);
    }
}

static struct fby_file file(const struct some_files *some, int i)
{
    return (struct fby_file){.id = (uint64_t)i,
        .root                    = some->root,
        .path                    = some->paths[i],
        .stamp                   = &some->stamps[i]};
}

static unsigned open_descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++) {
        n += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    }
    return n;
}

/* ---- reading ------------------------------------------------------------- */

static void read_file(
    struct fby_files *files, const struct some_files *some, int i)
{
    struct fby_file   one      = file(some, i);
    char              bytes[8] = "??????";
    char              right[8];
    struct fby_extent part = {.offset = 1, .size = 5};
    snprintf(right, sizeof(right), "ile %d?", i);
    assert_ok(fby_files_read(files, &one, part, bytes, NULL));
    assert_string_equal(bytes, right);
}

/* Is file i among those that are open? */
static bool is_open(const struct some_files *some, int i)
{
    bool found = false;
    for (int fd = 3; fd < 256; fd++) {
        struct stat st;
        found = found ||
                (fstat(fd, &st) == 0 && st.st_ino == some->stamps[i].inode);
    }
    return found;
}

static void the_file_that_was_read_longest_ago_is_closed(void **state)
{
    struct some_files some;
    unsigned          before = open_descriptors();
    struct fby_files *files  = fby_files_create(3);
    make_files(*state, &some);
    for (int i = 0; i < 3; i++) {
        read_file(files, &some, i);
        assert_int_equal(open_descriptors(), before + (unsigned)i + 1);
    }
    read_file(files, &some, 0);
    read_file(files, &some, 3); /* in place of 1 */
    assert_int_equal(open_descriptors(), before + 3);
    assert_true(is_open(&some, 0) && is_open(&some, 2) && is_open(&some, 3));
    assert_false(is_open(&some, 1));
    read_file(files, &some, 4); /* in place of 2 */
    assert_true(is_open(&some, 0) && !is_open(&some, 2));
    fby_files_destroy(&files);
    assert_null(files);
    assert_int_equal(open_descriptors(), before);
}

static void a_file_that_failed_is_closed_and_looked_at_anew(void **state)
{
    struct some_files some;
    struct fby_why    why = {0};
    char              bytes[16];
    unsigned          before = open_descriptors();
    struct fby_files *files  = fby_files_create(2);
    make_files(*state, &some);
    struct fby_file   one  = file(&some, 0);
    struct fby_extent past = {.offset = 3, .size = 4};
    assert_int_equal(fby_files_read(files, &one, past, bytes, &why), FBY_STALE);
    assert_says(&why, "ended at offset 6 since it was indexed");
    assert_int_equal(open_descriptors(), before);
    read_file(files, &some, 0);
    sandbox_append(*state, "data/f0", "!", 1);
    struct fby_extent all = {.size = 6};
    assert_int_equal(fby_files_read(files, &one, all, bytes, &why), FBY_STALE);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(fby_files_read(files, &one, all, bytes, &why), FBY_STALE);
    assert_says(&why, "was appended to: 6 bytes when it was indexed, 7 now");
    assert_int_equal(open_descriptors(), before);
    stamp(*state, &some, 0);
    read_file(files, &some, 0);
    fby_files_destroy(&files);
    assert_int_equal(open_descriptors(), before);
}

/* ---- mapping ------------------------------------------------------------- */

/* Mappings of files of the sandbox. */
static unsigned mappings(const struct sandbox *sb)
{
    char     line[512];
    unsigned n    = 0;
    FILE    *maps = fopen("/proc/self/maps", "re");
    while (fgets(line, sizeof(line), maps) != NULL) {
        n += strstr(line, sb->dir) != NULL ? 1 : 0;
    }
    fclose(maps);
    return n;
}

static void use_file(struct fby_maps *maps, const struct some_files *some,
    int i, struct fby_map_uses *uses)
{
    struct fby_file one = file(some, i);
    char            right[8];
    uint32_t        n = uses->n;
    snprintf(right, sizeof(right), "file %d", i);
    if (!fby_maps_use(maps, one.id, one.stamp, uses)) {
        assert_ok(fby_maps_open(maps, &one, uses, NULL));
    }
    assert_int_equal(uses->n, n + 1);
    assert_int_equal(uses->at[n].size, 6);
    assert_memory_equal(uses->at[n].data, right, 6);
}

static void few_files_stay_mapped_but_as_many_as_are_used(void **state)
{
    struct some_files   some;
    struct fby_map_use  room[FILES];
    struct fby_map_uses uses   = {.at = room};
    unsigned            before = open_descriptors();
    struct fby_maps    *maps   = fby_maps_create(FILES, 2);
    make_files(*state, &some);
    for (int i = 0; i < 3 * FILES; i++) { /* one at a time */
        use_file(maps, &some, i % FILES, &uses);
        assert_ok(fby_maps_end(maps, &uses, NULL));
        assert_int_equal(uses.n, 0);
        assert_int_equal(mappings(*state), i == 0 ? 1 : 2);
        assert_int_equal(open_descriptors(), before + mappings(*state));
    }
    for (int i = 0; i < FILES; i++) { /* all at once */
        use_file(maps, &some, i, &uses);
    }
    assert_int_equal(mappings(*state), FILES);
    assert_ok(fby_maps_end(maps, &uses, NULL));
    fby_maps_destroy(&maps);
    assert_null(maps);
    assert_int_equal(mappings(*state), 0);
    assert_int_equal(open_descriptors(), before);
}

static void a_mapped_file_is_used_again_without_opening_it(void **state)
{
    struct some_files   some;
    struct fby_map_use  room[2];
    struct fby_map_uses uses = {.at = room};
    struct fby_maps    *maps = fby_maps_create(FILES, 2);
    make_files(*state, &some);
    assert_false(fby_maps_use(maps, 1, &some.stamps[1], &uses));
    assert_int_equal(uses.n, 0);
    use_file(maps, &some, 1, &uses);
    const uint8_t *data = uses.at[0].data;
    assert_true(fby_maps_use(maps, 1, &some.stamps[1], &uses));
    assert_ptr_equal(uses.at[1].data, data);
    assert_false(fby_maps_use(maps, 0, &some.stamps[0], &uses));
    assert_ok(fby_maps_end(maps, &uses, NULL));
    struct fby_file one = file(&some, 1); /* as if another was faster */
    assert_ok(fby_maps_open(maps, &one, &uses, NULL));
    assert_ptr_equal(uses.at[0].data, data);
    assert_int_equal(mappings(*state), 1);
    assert_ok(fby_maps_end(maps, &uses, NULL));
    fby_maps_destroy(&maps);
}

static void a_map_of_a_changed_file_is_dropped_when_its_last_use_ends(
    void **state)
{
    struct some_files   some;
    struct fby_map_use  room[2];
    struct fby_map_use  other_room[1];
    struct fby_map_uses uses   = {.at = room};
    struct fby_map_uses other  = {.at = other_room};
    struct fby_why      why    = {0};
    unsigned            before = open_descriptors();
    struct fby_maps    *maps   = fby_maps_create(FILES, 2);
    make_files(*state, &some);
    use_file(maps, &some, 0, &uses);
    use_file(maps, &some, 1, &uses);
    use_file(maps, &some, 1, &other);
    sandbox_append(*state, "data/f1", "!", 1);
    assert_int_equal(fby_maps_end(maps, &uses, &why), FBY_STALE);
    assert_int_equal(uses.failed, 1);
    assert_says(&why, "was appended to");
    assert_int_equal(mappings(*state), 2); /* `other` still reads it */
    assert_false(fby_maps_use(maps, 1, &some.stamps[1], &uses));
    assert_int_equal(fby_maps_end(maps, &other, &why), FBY_STALE);
    assert_int_equal(mappings(*state), 1);
    assert_int_equal(open_descriptors(), before + 1);
    struct fby_file one = file(&some, 1);
    assert_int_equal(fby_maps_open(maps, &one, &uses, &why), FBY_STALE);
    assert_int_equal(open_descriptors(), before + 1);
    fby_maps_destroy(&maps);
    assert_int_equal(mappings(*state), 0);
}

static void a_file_that_is_gone_is_stale_and_no_map(void **state)
{
    struct some_files   some;
    struct fby_map_use  room[2];
    struct fby_map_uses uses   = {.at = room};
    struct fby_why      why    = {0};
    unsigned            before = open_descriptors();
    struct fby_maps    *maps   = fby_maps_create(FILES, 0);
    struct fby_files   *files  = fby_files_create(0);
    char                bytes[8];
    make_files(*state, &some);
    sandbox_remove(*state, "data/f2");
    struct fby_file   one = file(&some, 2);
    struct fby_extent all = {.size = 6};
    assert_int_equal(fby_maps_open(maps, &one, &uses, &why), FBY_STALE);
    assert_says(&why, "was removed or replaced since it was indexed: data:f2");
    assert_int_equal(fby_files_read(files, &one, all, bytes, &why), FBY_STALE);
    assert_says(&why, "was removed or replaced since it was indexed: data:f2");
    sandbox_mkdir(*state, "data/f2");
    assert_int_equal(fby_maps_open(maps, &one, &uses, &why), FBY_STALE);
    assert_int_equal(uses.n, 0);
    assert_int_equal(open_descriptors(), before);
    fby_maps_destroy(&maps);
    fby_files_destroy(&files);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, sandbox_open, sandbox_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_file_that_was_read_longest_ago_is_closed),
        TEST(a_file_that_failed_is_closed_and_looked_at_anew),
        TEST(few_files_stay_mapped_but_as_many_as_are_used),
        TEST(a_mapped_file_is_used_again_without_opening_it),
        TEST(a_map_of_a_changed_file_is_dropped_when_its_last_use_ends),
        TEST(a_file_that_is_gone_is_stale_and_no_map),
    };
    return cmocka_run_group_tests_name(
        "worker.source.files", tests, NULL, NULL);
}
