/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped files: the number of mapped files, and the bytes that readers see when
 * a file changes. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/descriptors.h"
#include "tests/worker/source/sandbox.h"
#include "worker/source/mapped_files.h"

enum { FILES = 3, PAGES = 2 };

struct bench {
    const struct sandbox    *sb;
    struct fby_mapped_files *maps;
    const struct fby_root   *root;
    struct fby_stamp         stamps[FILES];
    unsigned                 descriptors; /* that were open before */
};

struct reader { /* what one thread has in use */
    struct fby_mapping_use  at[FILES];
    struct fby_mapping_uses uses;
};

static const char *const names[FILES] = {"m/0", "m/1", "m/2"};

static size_t file_bytes(void)
{
    return PAGES * (size_t)sysconf(_SC_PAGESIZE);
}

static struct reader reader_of(void)
{
    return (struct reader){.uses = {.n = 0}};
}

static const char *path_of(const struct bench *bench, uint64_t id)
{
    char path[32];
    snprintf(path, sizeof(path), "data/%s", names[id]);
    return sandbox_path(bench->sb, path);
}

static void index_again(struct bench *bench, uint64_t id)
{
    struct stat st;
    assert_int_equal(stat(path_of(bench, id), &st), 0);
    bench->stamps[id] = fby_stamp_of(&st);
}

/* Files of 'a', 'b', 'c'. */
static void bench_open(struct bench *bench, void **state, uint32_t max_kept)
{
    char                    bytes[1 << 16];
    struct fby_error_detail why = {{0}};
    *bench                      = (struct bench){.sb = *state};
    assert_true(file_bytes() <= sizeof(bytes));
    assert_ok(fby_roots_find(bench->sb->roots, "data", &bench->root, &why));
    for (uint64_t id = 0; id < FILES; id++) {
        char path[32];
        snprintf(path, sizeof(path), "data/%s", names[id]);
        memset(bytes, 'a' + (int)id, sizeof(bytes));
        sandbox_write(bench->sb, path, bytes, file_bytes());
        index_again(bench, id);
    }
    bench->descriptors = open_descriptors();
    bench->maps        = fby_mapped_files_create(FILES, max_kept);
}

static void bench_close(struct bench *bench)
{
    fby_mapped_files_destroy(&bench->maps);
    assert_null(bench->maps);
    fby_mapped_files_destroy(&bench->maps);
    assert_int_equal(open_descriptors(), bench->descriptors);
}

static fby_err map(struct bench *bench, uint64_t id, struct reader *reader,
    struct fby_error_detail *why)
{
    const struct fby_file file = {
        id, bench->root, names[id], &bench->stamps[id]};
    reader->uses.list = reader->at;
    return fby_mapped_files_open(bench->maps, &file, &reader->uses, why);
}

static bool use(struct bench *bench, uint64_t id, struct reader *reader)
{
    reader->uses.list = reader->at;
    return fby_mapped_files_try_use(
        bench->maps, id, &bench->stamps[id], &reader->uses);
}

static void map_well(struct bench *bench, uint64_t id, struct reader *reader)
{
    struct fby_error_detail why = {{0}};
    assert_ok(map(bench, id, reader, &why));
}

static fby_err end(
    struct bench *bench, struct reader *reader, struct fby_error_detail *why)
{
    *why        = (struct fby_error_detail){{0}};
    fby_err err = fby_mapped_files_end_uses(bench->maps, &reader->uses, why);
    assert_int_equal(reader->uses.n, 0);
    return err;
}

static void end_well(struct bench *bench, struct reader *reader)
{
    struct fby_error_detail why;
    assert_ok(end(bench, reader, &why));
}

static bool is_mapped(struct bench *bench, uint64_t id)
{
    struct reader reader = reader_of();
    bool          mapped = use(bench, id, &reader);
    end_well(bench, &reader);
    return mapped;
}

/* How often the file is mapped into this process. */
static unsigned mappings(uint64_t id)
{
    char     line[512];
    char     end[64];
    unsigned n    = 0;
    FILE    *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    snprintf(end, sizeof(end), "/data/%s\n", names[id]);
    while (fgets(line, sizeof(line), maps) != NULL) {
        n += strstr(line, end) != NULL ? 1 : 0;
    }
    fclose(maps);
    return n;
}

/* ---- what stays ---------------------------------------------------------- */

static void a_file_is_mapped_once_for_all_its_readers(void **state)
{
    struct bench  bench;
    struct reader a = reader_of();
    struct reader b = reader_of();
    bench_open(&bench, state, 2);
    assert_false(use(&bench, 1, &a));
    assert_int_equal(a.uses.n, 0);
    map_well(&bench, 1, &a);
    assert_false(use(&bench, 0, &b));
    assert_int_equal(a.at[0].size, file_bytes());
    assert_int_equal(a.at[0].data[file_bytes() - 1], 'b');
    map_well(&bench, 1, &b); /* another was faster */
    assert_ptr_equal(b.at[0].data, a.at[0].data);
    assert_true(use(&bench, 1, &b));
    assert_ptr_equal(b.at[1].data, a.at[0].data);
    assert_int_equal(b.at[1].size, file_bytes());
    assert_int_equal(b.uses.n, 2);
    assert_int_equal(mappings(1), 1);
    end_well(&bench, &a);
    end_well(&bench, &b);
    assert_int_equal(mappings(1), 1);
    assert_true(is_mapped(&bench, 1));
    bench_close(&bench);
    assert_int_equal(mappings(1), 0);
}

static void only_maps_without_readers_are_evicted(void **state)
{
    struct bench  bench;
    struct reader a = reader_of();
    struct reader b = reader_of();
    bench_open(&bench, state, 2);
    map_well(&bench, 0, &a);
    map_well(&bench, 1, &b);
    end_well(&bench, &b);
    map_well(&bench, 2, &b);
    assert_int_equal(mappings(1), 0);
    assert_int_equal(a.at[0].data[0], 'a');
    assert_int_equal(b.at[0].data[0], 'c');
    map_well(&bench, 1, &b); /* all are read: it is one too many */
    assert_int_equal(mappings(0) + mappings(1) + mappings(2), 3);
    assert_int_equal(b.at[1].data[0], 'b');
    end_well(&bench, &a);
    end_well(&bench, &b);
    assert_true(is_mapped(&bench, 0));
    bench_close(&bench);
}

/* In turn, so that the one that was used longest ago is unmapped. */
static void a_map_too_many_unmaps_another(void **state)
{
    struct bench  bench;
    struct reader a = reader_of();
    bench_open(&bench, state, 2);
    static const uint64_t asked[] = {0, 1, 2, 0, 1};
    static const uint64_t gone[]  = {2, 2, 0, 1, 2};
    for (size_t i = 0; i < 5; i++) {
        map_well(&bench, asked[i], &a);
        assert_int_equal(a.at[0].data[0], 'a' + (int)asked[i]);
        end_well(&bench, &a);
        assert_false(is_mapped(&bench, gone[i]));
        assert_int_equal(mappings(gone[i]), 0);
        unsigned kept = i == 0 ? 1 : 2;
        assert_int_equal(mappings(0) + mappings(1) + mappings(2), kept);
        assert_int_equal(open_descriptors(), bench.descriptors + kept);
    }
    bench_close(&bench);
}

/* ---- what changes -------------------------------------------------------- */

static void a_file_that_changed_stays_for_those_who_read_it(void **state)
{
    struct bench            bench;
    struct fby_error_detail why;
    struct reader           a = reader_of();
    struct reader           b = reader_of();
    struct reader           c = reader_of();
    bench_open(&bench, state, 2);
    map_well(&bench, 2, &a);
    map_well(&bench, 0, &a);
    assert_true(use(&bench, 0, &b));
    sandbox_append(bench.sb, "data/m/0", "more", 4);
    assert_int_equal(end(&bench, &a, &why), FBY_STALE);
    assert_int_equal(a.uses.failed, 1);
    assert_says(&why, "was appended to");
    assert_int_equal(b.at[0].data[file_bytes() - 1], 'a'); /* is there */
    assert_false(use(&bench, 0, &c));
    assert_int_equal(map(&bench, 0, &c, &why), FBY_STALE);
    struct fby_stamp before = bench.stamps[0];
    index_again(&bench, 0);
    assert_int_equal(map(&bench, 0, &c, &why), FBY_AGAIN);
    assert_says(&why, "try again");
    assert_int_equal(c.uses.n, 0);
    assert_int_equal(mappings(0), 1);
    bench.stamps[0] = before;
    assert_int_equal(end(&bench, &b, &why), FBY_STALE);
    assert_int_equal(mappings(0), 0);
    assert_int_equal(open_descriptors(), bench.descriptors + 1);
    assert_true(is_mapped(&bench, 2));
    index_again(&bench, 0);
    map_well(&bench, 0, &c);
    assert_int_equal(c.at[0].size, file_bytes() + 4);
    end_well(&bench, &c);
    bench_close(&bench);
}

/* Its last page is gone: zeros are read, and both uses fail. */
static void a_file_that_became_shorter_reads_as_zeros_and_fails(void **state)
{
    struct bench            bench;
    struct fby_error_detail why;
    struct reader           a    = reader_of();
    struct reader           b    = reader_of();
    size_t                  page = (size_t)sysconf(_SC_PAGESIZE);
    bench_open(&bench, state, 2);
    map_well(&bench, 1, &a);
    map_well(&bench, 0, &a);
    assert_true(use(&bench, 0, &b));
    assert_int_equal(truncate(path_of(&bench, 0), (off_t)page), 0);
    assert_int_equal(b.at[0].data[page], 0);
    assert_int_equal(b.at[0].data[2 * page - 1], 0);
    assert_int_equal(b.at[0].data[page - 1], 'a');
    assert_int_equal(end(&bench, &b, &why), FBY_STALE);
    assert_false(use(&bench, 0, &b));
    assert_int_equal(a.at[1].data[page], 0);
    assert_int_equal(end(&bench, &a, &why), FBY_STALE);
    assert_int_equal(a.uses.failed, 1);
    assert_int_equal(mappings(0), 0);
    assert_true(is_mapped(&bench, 1));
    bench_close(&bench);
}

static void a_file_that_is_gone_or_replaced_is_refused(void **state)
{
    struct bench            bench;
    struct fby_error_detail why = {{0}};
    struct reader           a   = reader_of();
    bench_open(&bench, state, 0);
    sandbox_remove(bench.sb, "data/m/1");
    assert_int_equal(map(&bench, 1, &a, &why), FBY_STALE);
    assert_says(
        &why, "was removed or replaced since it was indexed: it is not there");
    sandbox_mkdir(bench.sb, "data/m/1");
    assert_int_equal(map(&bench, 1, &a, &why), FBY_STALE);
    sandbox_append(bench.sb, "data/m/2", "x", 1);
    assert_int_equal(map(&bench, 2, &a, &why), FBY_STALE);
    assert_int_equal(a.uses.n, 0);
    assert_int_equal(open_descriptors(), bench.descriptors);
    map_well(&bench, 0, &a);
    end_well(&bench, &a);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_file_is_mapped_once_for_all_its_readers),
        IN_SANDBOX(only_maps_without_readers_are_evicted),
        IN_SANDBOX(a_map_too_many_unmaps_another),
        IN_SANDBOX(a_file_that_changed_stays_for_those_who_read_it),
        IN_SANDBOX(a_file_that_became_shorter_reads_as_zeros_and_fails),
        IN_SANDBOX(a_file_that_is_gone_or_replaced_is_refused),
    };
    return cmocka_run_group_tests_name(
        "worker.source.mapped_files", tests, NULL, NULL);
}
