/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/descriptors.h"
#include "tests/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/worker/source/sandbox.h"

static const char jpg[][FBY_NAME_SIZE] = {"jpg"};

/* Two shards of ten samples each at data:s/. */
static struct fby_dataset_spec two_shards(const struct sandbox *sb)
{
    sandbox_shard(sb, "data/s/t-0.tar", 0, 10);
    sandbox_shard(sb, "data/s/t-1.tar", 10, 10);
    return sandbox_shards(sb, "data:s/t-{0..1}.tar");
}

/* The jpg member of a sample as text; the error is returned. */
static fby_err read_text(struct fby_dataset *ds, uint64_t sample, char text[64],
    struct fby_error_detail *why)
{
    struct fby_member member;
    assert_ok(fby_dataset_find_member(ds, sample, jpg, 1, &member));
    assert_true(member.size < 64);
    memset(text, 0, 64);
    return fby_dataset_read(ds, &member, text, 64, why);
}

static struct fby_digest digest_of(const struct fby_dataset_spec *spec)
{
    struct fby_dataset *ds     = sandbox_dataset(spec);
    struct fby_digest   digest = fby_dataset_digest(ds);
    fby_dataset_destroy(&ds);
    return digest;
}

static void samples_are_found_by_number_and_extension(void **state)
{
    const struct fby_dataset_spec spec = two_shards(*state);
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    struct fby_member             member;
    char                          text[64];
    static const char             any[][FBY_NAME_SIZE] = {"png", "cls"};
    assert_int_equal(fby_dataset_sample_count(ds), 20);
    assert_int_equal(fby_dataset_shard_count(ds), 2);
    assert_string_equal(fby_dataset_shard_name(ds, 1), "t-1.tar");
    assert_int_equal(fby_dataset_samples_per_shard(ds)[1], 10);
    assert_string_equal(fby_dataset_key(ds, 17, NULL), "0017");
    assert_ok(read_text(ds, 17, text, NULL));
    assert_string_equal(text, "image 17");
    assert_ok(fby_dataset_find_member(ds, 17, any, 2, &member));
    assert_int_equal(member.size, 1);
    assert_int_equal(member.shard, 1);
    assert_int_equal(
        fby_dataset_find_member(ds, 17, any, 1, &member), FBY_NOT_FOUND);
    fby_dataset_destroy(&ds);
    assert_null(ds);
}

static void a_place_names_shard_sample_key_and_offset(void **state)
{
    const struct fby_dataset_spec spec = two_shards(*state);
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    struct fby_member             member;
    struct fby_error_detail       text;
    assert_ok(fby_dataset_find_member(ds, 11, jpg, 1, &member));
    fby_dataset_describe(ds, 11, &member, &text);
    assert_string_equal(
        text.text, "shard t-1.tar, sample 11 (key 0011), offset 2560");
    fby_dataset_describe(ds, 11, NULL, &text);
    assert_says(&text, "members: jpg, cls");
    fby_dataset_destroy(&ds);
}

static void an_unchanged_shard_is_not_scanned_again(void **state)
{
    const struct sandbox         *sb    = *state;
    const struct fby_dataset_spec spec  = two_shards(sb);
    struct fby_digest             first = digest_of(&spec);
    assert_int_equal(sandbox_reused(&spec), 2);
    struct fby_digest again = digest_of(&spec);
    assert_true(fby_digest_equal(&first, &again));
    sandbox_shard(sb, "data/s/t-1.tar", 10, 11);
    assert_int_equal(sandbox_reused(&spec), 1);
    assert_int_equal(sandbox_reused(&spec), 2);
    struct fby_digest changed = digest_of(&spec);
    assert_false(fby_digest_equal(&first, &changed));
}

static void a_shard_of_the_same_size_and_time_is_still_another(void **state)
{
    const struct sandbox         *sb   = *state;
    const struct fby_dataset_spec spec = two_shards(sb);
    struct stat                   st;
    assert_int_equal(sandbox_reused(&spec), 0);
    assert_int_equal(stat(sandbox_path(sb, "data/s/t-0.tar"), &st), 0);
    sandbox_shard(sb, "data/s/other", 0, 10);
    const struct timespec times[2] = {st.st_atim, st.st_mtim};
    assert_int_equal(
        utimensat(AT_FDCWD, sandbox_path(sb, "data/s/other"), times, 0), 0);
    assert_int_equal(rename(sandbox_path(sb, "data/s/other"),
                         sandbox_path(sb, "data/s/t-0.tar")),
        0);
    assert_int_equal(sandbox_reused(&spec), 1);
}

static void a_damaged_cache_is_ignored_and_rebuilt(void **state)
{
    const struct sandbox         *sb   = *state;
    const struct fby_dataset_spec spec = two_shards(sb);
    char                          command[256];
    assert_int_equal(sandbox_reused(&spec), 0);
    snprintf(command, sizeof(command),
        "for f in %s/*.manifest; do printf X >>$f; done", sb->cache);
    assert_int_equal(system(command), 0); /* NOLINT: a test's own shell */
    assert_int_equal(sandbox_reused(&spec), 0);
    assert_int_equal(sandbox_reused(&spec), 2);
}

static void without_a_cache_everything_is_scanned(void **state)
{
    struct fby_dataset_spec spec = two_shards(*state);
    spec.cache_dir               = "";
    assert_int_equal(sandbox_reused(&spec), 0);
    assert_int_equal(sandbox_reused(&spec), 0);
    spec.cache_dir = "/proc/no-such-place";
    assert_int_equal(sandbox_reused(&spec), 0);
}

static void hashing_shows_bytes_that_sizes_do_not(void **state)
{
    const struct sandbox   *sb    = *state;
    struct fby_dataset_spec spec  = two_shards(sb);
    struct fby_digest       plain = digest_of(&spec);
    spec.hash                     = true;
    struct fby_digest hashed      = digest_of(&spec);
    assert_false(fby_digest_equal(&plain, &hashed));
    spec.hash                = false; /* once indexed so, it stays so */
    struct fby_digest stayed = digest_of(&spec);
    assert_true(fby_digest_equal(&hashed, &stayed));
    int fd = open(sandbox_path(sb, "data/s/t-1.tar"), O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "X", 1, 512), 1);
    close(fd);
    struct fby_digest differs = digest_of(&spec);
    assert_false(fby_digest_equal(&hashed, &differs));
    spec.cache_dir           = "";
    struct fby_digest unseen = digest_of(&spec);
    assert_true(fby_digest_equal(&plain, &unseen));
}

static void a_hashed_folder_reads_unchanged_files_once(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/f/c/1.jpg", "photo");
    struct fby_dataset_spec spec  = sandbox_folder(sb, "data:f");
    struct fby_digest       plain = digest_of(&spec);
    spec.hash                     = true;
    struct fby_digest hashed      = digest_of(&spec);
    assert_false(fby_digest_equal(&plain, &hashed));
    assert_int_equal(sandbox_reused(&spec), 1);
    sandbox_write_text(sb, "data/f/c/1.jpg", "PHOTO");
    assert_int_equal(sandbox_reused(&spec), 0);
    struct fby_digest changed = digest_of(&spec);
    assert_false(fby_digest_equal(&hashed, &changed));
}

static void another_place_of_the_same_data_has_the_same_digest(void **state)
{
    const struct sandbox         *sb    = *state;
    const struct fby_dataset_spec spec  = two_shards(sb);
    struct fby_digest             first = digest_of(&spec);
    sandbox_shard(sb, "data/copy/deep/t-0.tar", 0, 10);
    sandbox_shard(sb, "data/copy/deep/t-1.tar", 10, 10);
    const struct fby_dataset_spec glob =
        sandbox_shards(sb, "data:copy/deep/*.tar");
    struct fby_digest copy = digest_of(&glob);
    assert_true(fby_digest_equal(&first, &copy));
}

static void a_missing_shard_is_named(void **state)
{
    const struct sandbox   *sb   = *state;
    struct fby_dataset_spec spec = two_shards(sb);
    spec.pattern                 = "data:s/t-{0..3}.tar";
    sandbox_refuses(&spec, FBY_NOT_FOUND, "shard t-2.tar: data:s/t-2.tar");
}

static void the_first_of_several_damaged_shards_is_named(void **state)
{
    const struct sandbox   *sb   = *state;
    struct fby_dataset_spec spec = two_shards(sb);
    sandbox_write_text(sb, "data/s/t-0.tar", "no tar");
    sandbox_write_text(sb, "data/s/t-1.tar", "no tar");
    spec.threads = 8;
    sandbox_refuses(&spec, FBY_CONFIG, "shard t-0.tar: offset 0");
}

static void a_shard_that_was_appended_to_is_stale(void **state)
{
    const struct sandbox         *sb   = *state;
    const struct fby_dataset_spec spec = two_shards(sb);
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    struct fby_error_detail       why  = {0};
    char                          text[64];
    assert_ok(read_text(ds, 17, text, &why)); /* the file is open now */
    sandbox_append(sb, "data/s/t-1.tar", "more", 4);
    assert_int_equal(read_text(ds, 17, text, &why), FBY_STALE);
    assert_says(&why, "was appended to");
    assert_int_equal(read_text(ds, 18, text, &why), FBY_STALE);
    assert_ok(read_text(ds, 3, text, &why));
    fby_dataset_destroy(&ds);
}

static void a_shard_that_was_replaced_is_stale_open_or_not(void **state)
{
    const struct sandbox         *sb   = *state;
    const struct fby_dataset_spec spec = two_shards(sb);
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    struct fby_error_detail       why  = {0};
    char                          text[64];
    assert_ok(read_text(ds, 3, text, &why)); /* t-0 is open, t-1 is not */
    for (int i = 0; i < 2; i++) {
        char name[32];
        snprintf(name, sizeof(name), "data/s/t-%d.tar", i);
        sandbox_shard(sb, "data/s/new", 0, 10);
        assert_int_equal(
            rename(sandbox_path(sb, "data/s/new"), sandbox_path(sb, name)), 0);
    }
    assert_int_equal(read_text(ds, 3, text, &why), FBY_STALE);
    assert_says(&why, "was replaced");
    assert_int_equal(read_text(ds, 13, text, &why), FBY_STALE);
    assert_says(&why, "was replaced");
    fby_dataset_destroy(&ds);
}

static void a_shard_that_was_written_to_or_cut_is_stale(void **state)
{
    const struct sandbox         *sb   = *state;
    const struct fby_dataset_spec spec = two_shards(sb);
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    struct fby_error_detail       why  = {0};
    char                          text[64];
    const struct timespec         times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(
        utimensat(AT_FDCWD, sandbox_path(sb, "data/s/t-0.tar"), times, 0), 0);
    assert_int_equal(read_text(ds, 3, text, &why), FBY_STALE);
    assert_says(&why, "was written to");
    assert_ok(read_text(ds, 13, text, &why));
    assert_int_equal(truncate(sandbox_path(sb, "data/s/t-1.tar"), 600), 0);
    assert_int_equal(read_text(ds, 13, text, &why), FBY_STALE);
    assert_says(&why, "was cut short");
    fby_dataset_destroy(&ds);
}

static void a_shard_that_was_removed_is_stale(void **state)
{
    const struct sandbox         *sb   = *state;
    const struct fby_dataset_spec spec = two_shards(sb);
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    struct fby_error_detail       why  = {0};
    char                          text[64];
    sandbox_remove(sb, "data/s/t-0.tar");
    assert_int_equal(read_text(ds, 3, text, &why), FBY_STALE);
    assert_says(&why, "was removed");
    fby_dataset_destroy(&ds);
}

static void a_file_of_a_folder_that_changed_is_stale(void **state)
{
    const struct sandbox   *sb  = *state;
    struct fby_error_detail why = {0};
    char                    text[64];
    sandbox_write_text(sb, "data/f/c/1.jpg", "photo");
    sandbox_write_text(sb, "data/f/c/2.jpg", "photo");
    const struct fby_dataset_spec spec = sandbox_folder(sb, "data:f");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    sandbox_append(sb, "data/f/c/2.jpg", "!", 1);
    assert_ok(read_text(ds, 0, text, &why));
    assert_int_equal(read_text(ds, 1, text, &why), FBY_STALE);
    assert_says(&why, "was appended to");
    fby_dataset_destroy(&ds);
}

static void a_buffer_that_is_too_small_is_refused(void **state)
{
    const struct fby_dataset_spec spec = two_shards(*state);
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    struct fby_member             member;
    char                          text[4];
    assert_ok(fby_dataset_find_member(ds, 0, jpg, 1, &member));
    assert_int_equal(
        fby_dataset_read(ds, &member, text, sizeof(text), NULL), FBY_FULL);
    fby_dataset_destroy(&ds);
}

static bool give_up(void *arg, uint64_t done, uint64_t total)
{
    (void)done;
    *(uint64_t *)arg = total;
    return false;
}

static void opening_can_be_given_up(void **state)
{
    const struct fby_dataset_spec spec     = two_shards(*state);
    struct fby_dataset           *ds       = NULL;
    uint64_t                      total    = 0;
    const struct fby_progress     progress = {.fn = give_up, .arg = &total};
    assert_int_equal(fby_dataset_open(&spec, progress, &ds, NULL), FBY_GONE);
    assert_int_equal(total, 2);
    assert_null(ds);
}

/* ---- Many readers -------------------------------------------------------- */

struct readers {
    struct fby_dataset *ds;
    atomic_uint         wrong;
};

static void *read_everything(void *arg)
{
    struct readers *r = arg;
    for (unsigned i = 0; i < 400; i++) {
        uint64_t sample = (uint64_t)i * 7 % fby_dataset_sample_count(r->ds);
        struct fby_member member;
        char              text[64]     = "";
        char              expected[64] = "";
        snprintf(expected, sizeof(expected), "image %u", (unsigned)sample);
        if (fby_dataset_find_member(r->ds, sample, jpg, 1, &member) != FBY_OK ||
            fby_dataset_read(r->ds, &member, text, 64, NULL) != FBY_OK ||
            strcmp(text, expected) != 0) {
            atomic_fetch_add(&r->wrong, 1U);
        }
    }
    return NULL;
}

static void many_readers_share_few_descriptors(void **state)
{
    const struct sandbox *sb = *state;
    pthread_t             threads[4];
    for (unsigned i = 0; i < 8; i++) {
        char path[64];
        snprintf(path, sizeof(path), "data/s/t-%u.tar", i);
        sandbox_shard(sb, path, 10 * i, 10);
    }
    struct fby_dataset_spec spec = sandbox_shards(sb, "data:s/*.tar");
    spec.max_open                = 2;
    unsigned       before        = open_descriptors();
    struct readers r             = {.ds = sandbox_dataset(&spec)};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, read_everything, &r), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&r.wrong), 0);
    assert_int_equal(open_descriptors(), before + 2);
    fby_dataset_destroy(&r.ds);
    assert_int_equal(open_descriptors(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(samples_are_found_by_number_and_extension),
        IN_SANDBOX(a_place_names_shard_sample_key_and_offset),
        IN_SANDBOX(an_unchanged_shard_is_not_scanned_again),
        IN_SANDBOX(a_shard_of_the_same_size_and_time_is_still_another),
        IN_SANDBOX(a_damaged_cache_is_ignored_and_rebuilt),
        IN_SANDBOX(without_a_cache_everything_is_scanned),
        IN_SANDBOX(hashing_shows_bytes_that_sizes_do_not),
        IN_SANDBOX(a_hashed_folder_reads_unchanged_files_once),
        IN_SANDBOX(another_place_of_the_same_data_has_the_same_digest),
        IN_SANDBOX(a_missing_shard_is_named),
        IN_SANDBOX(the_first_of_several_damaged_shards_is_named),
        IN_SANDBOX(a_shard_that_was_appended_to_is_stale),
        IN_SANDBOX(a_shard_that_was_replaced_is_stale_open_or_not),
        IN_SANDBOX(a_shard_that_was_written_to_or_cut_is_stale),
        IN_SANDBOX(a_shard_that_was_removed_is_stale),
        IN_SANDBOX(a_file_of_a_folder_that_changed_is_stale),
        IN_SANDBOX(a_buffer_that_is_too_small_is_refused),
        IN_SANDBOX(opening_can_be_given_up),
        IN_SANDBOX(many_readers_share_few_descriptors),
    };
    return cmocka_run_group_tests_name(
        "worker.source.dataset", tests, NULL, NULL);
}
