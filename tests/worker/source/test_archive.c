/* SPDX-License-Identifier: Apache-2.0 */
/* Zip archives as folders: the same samples, digests and bytes as the folder
 * that they were made of, and hostile archives, which are refused. */
#include "tests/test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/worker/source/sandbox.h"
#include "tests/worker/source/zip_writer.h"
#include "worker/source/listing.h"
#include "worker/source/object.h"
#include "worker/source/zip/archive.h"

static const struct fby_root *root_of(const struct sandbox *sb)
{
    const struct fby_root *root = NULL;
    assert_ok(fby_roots_find(sb->roots, "data", &root, NULL));
    return root;
}

static struct fby_archive *open_archive(
    const struct sandbox *sb, const char *path)
{
    struct fby_archive     *archive = NULL;
    struct fby_error_detail why     = {{0}};
    if (fby_archive_open(root_of(sb), path, NULL, &archive, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    return archive;
}

/* Opening data:x.zip fails and says these words, and the archive's path. */
static void refuses(const struct sandbox *sb, const char *words)
{
    struct fby_archive     *archive = NULL;
    struct fby_error_detail why     = {{0}};
    assert_int_equal(
        fby_archive_open(root_of(sb), "x.zip", NULL, &archive, &why),
        FBY_CONFIG);
    assert_null(archive);
    assert_says(&why, "data:x.zip: ");
    assert_says(&why, words);
}

static void refuses_entry(
    const struct sandbox *sb, struct zip_entry entry, const char *words)
{
    struct zip_writer zip = {.bytes = {0}};
    zip_add_text(&zip, "a/1.jpg", "one");
    zip_add(&zip, entry);
    zip_write(&zip, sb, "data/x.zip");
    refuses(sb, words);
}

/* ---- the same samples ---- */

static const char *const files[][2] = {{"b/2.jpg", "two"}, {"a/1.jpg", "one"},
    {"a/1.cls", "1"}, {"a-b/x/3.jpg", "three"}, {"notes.txt", "no sample"},
    {"a/.hidden.jpg", "x"}, {"a/Thumbs.db", "x"}, {"__MACOSX/a/._1.jpg", "x"}};
enum { N_FILES = sizeof(files) / sizeof(files[0]) };

/* Write the files to the folder data/f, and to an archive below `top`. */
static void write_both(
    const struct sandbox *sb, const char *top, uint16_t method)
{
    struct zip_writer zip = {.bytes = {0}};
    for (size_t i = 0; i < N_FILES; i++) {
        char name[80];
        snprintf(name, sizeof(name), "%s%s", top, files[i][0]);
        zip_add(&zip, (struct zip_entry){.name = name,
                          .data                = files[i][1],
                          .size                = strlen(files[i][1]),
                          .head_extra          = (uint16_t)(i * 40),
                          .method              = method});
        snprintf(name, sizeof(name), "data/f/%s", files[i][0]);
        sandbox_write_text(sb, name, files[i][1]);
    }
    zip_write(&zip, sb, "data/dir/X.ZIP");
}

static void assert_same_member(
    struct fby_dataset *a, struct fby_dataset *b, uint64_t sample)
{
    static const char jpg[1][FBY_NAME_SIZE] = {"jpg"};
    struct fby_member x;
    struct fby_member y;
    uint8_t           x_bytes[16] = {0};
    uint8_t           y_bytes[16] = {0};
    assert_string_equal(
        fby_dataset_key(a, sample, NULL), fby_dataset_key(b, sample, NULL));
    assert_int_equal(
        fby_dataset_class(a, sample), fby_dataset_class(b, sample));
    assert_ok(fby_dataset_find_member(a, sample, jpg, 1, &x));
    assert_ok(fby_dataset_find_member(b, sample, jpg, 1, &y));
    assert_int_equal(x.size, y.size);
    assert_ok(fby_dataset_read(a, &x, x_bytes, sizeof(x_bytes), NULL));
    assert_ok(fby_dataset_read(b, &y, y_bytes, sizeof(y_bytes), NULL));
    assert_memory_equal(x_bytes, y_bytes, sizeof(x_bytes));
}

static void assert_same_data(
    const struct sandbox *sb, const char *path, bool hash)
{
    struct fby_dataset_spec folder = sandbox_folder(sb, "data:f");
    struct fby_dataset_spec zip    = sandbox_folder(sb, path);
    folder.hash                    = hash;
    zip.hash                       = hash;
    struct fby_dataset *a          = sandbox_dataset(&folder);
    struct fby_dataset *b          = sandbox_dataset(&zip);
    struct fby_digest   digests[2] = {
          fby_dataset_digest(a), fby_dataset_digest(b)};
    assert_int_equal(fby_dataset_sample_count(b), 3);
    assert_int_equal(fby_dataset_class_count(b), 3);
    assert_true(fby_digest_equal(&digests[0], &digests[1]));
    for (uint64_t i = 0; i < 3; i++) {
        assert_same_member(a, b, i);
    }
    fby_dataset_destroy(&a);
    fby_dataset_destroy(&b);
}

static void an_archive_is_the_folder_that_it_was_made_of(void **state)
{
    write_both(*state, "", ZIP_STORED);
    assert_same_data(*state, "data:dir/X.ZIP", false);
    assert_same_data(*state, "data:dir/X.ZIP", true);
    write_both(*state, "", ZIP_DEFLATED);
    assert_same_data(*state, "data:dir/X.ZIP", false);
    assert_same_data(*state, "data:dir/X.ZIP", true);
    write_both(*state, "./", ZIP_STORED);
    assert_same_data(*state, "data:dir/X.ZIP", true);
}

/* `bsdtar --format zip -cf x.zip .` writes an entry for the folder itself. */
static void the_entry_of_the_folder_itself_is_skipped(void **state)
{
    struct zip_writer zip = {.bytes = {0}};
    zip_add_text(&zip, "./", "");
    zip_add_text(&zip, "./a/", "");
    zip_add_text(&zip, "./a/1.jpg", "one");
    zip_write(&zip, *state, "data/x.zip");
    const struct fby_dataset_spec spec = sandbox_folder(*state, "data:x.zip");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 1);
    assert_string_equal(fby_dataset_key(ds, 0, NULL), "a/1");
    fby_dataset_destroy(&ds);
}

static void a_source_may_be_a_folder_in_an_archive(void **state)
{
    write_both(*state, "photos/train/", ZIP_DEFLATED);
    assert_same_data(*state, "data:dir/X.ZIP/photos/train", true);
    const struct fby_dataset_spec spec =
        sandbox_folder(*state, "data:dir/X.ZIP/photos/val");
    sandbox_refuses(
        &spec, FBY_NOT_FOUND, "data:dir/X.ZIP/photos/val is not there");
    const struct fby_dataset_spec file =
        sandbox_folder(*state, "data:dir/X.ZIP/photos/train/notes.txt");
    sandbox_refuses(&file, FBY_NOT_FOUND, "notes.txt is not a directory");
}

static void a_folder_may_be_named_like_an_archive(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/x.zip/a/1.jpg", "one");
    const struct fby_dataset_spec spec = sandbox_folder(sb, "data:x.zip");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    assert_string_equal(fby_dataset_key(ds, 0, NULL), "a/1");
    fby_dataset_destroy(&ds);
}

static void checksums_of_an_archive_come_from_the_cache(void **state)
{
    write_both(*state, "", ZIP_DEFLATED);
    struct fby_dataset_spec spec = sandbox_folder(*state, "data:dir/X.ZIP");
    spec.hash                    = true;
    assert_int_equal(sandbox_reused(&spec), 0);
    assert_int_equal(sandbox_reused(&spec), 1);
    sandbox_append(*state, "data/dir/X.ZIP", "", 0);
    write_both(*state, "", ZIP_DEFLATED); /* the same bytes, another stamp */
    assert_int_equal(sandbox_reused(&spec), 0);
}

static void parallel_folders_may_be_in_an_archive(void **state)
{
    struct zip_writer zip = {.bytes = {0}};
    zip_add_text(&zip, "images/1.jpg", "one");
    zip_add_text(&zip, "masks/1.png", "mask");
    zip_write(&zip, *state, "data/x.zip");
    const struct fby_dataset_spec spec = sandbox_source(
        *state, FBY_SOURCE_PARALLEL, "data:x.zip/{images,masks}");
    struct fby_dataset *ds                    = sandbox_dataset(&spec);
    static const char   png[1][FBY_NAME_SIZE] = {"masks.png"};
    struct fby_member   member;
    char                bytes[4];
    assert_ok(fby_dataset_find_member(ds, 0, png, 1, &member));
    assert_ok(fby_dataset_read(ds, &member, bytes, sizeof(bytes), NULL));
    assert_memory_equal(bytes, "mask", 4);
    fby_dataset_destroy(&ds);
}

static void links_are_skipped(void **state)
{
    struct zip_writer zip = {.bytes = {0}};
    zip_add_text(&zip, "a/1.jpg", "one");
    zip_add(&zip,
        (struct zip_entry){
            .name = "a/2.jpg", .data = "1.jpg", .size = 5, .mode = 0120777});
    zip_write(&zip, *state, "data/x.zip");
    const struct fby_dataset_spec spec = sandbox_folder(*state, "data:x.zip");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 1);
    fby_dataset_destroy(&ds);
}

static void an_archive_of_links_alone_is_refused_for_them(void **state)
{
    struct zip_writer zip = {.bytes = {0}};
    zip_add(&zip,
        (struct zip_entry){
            .name = "a/2.jpg", .data = "1.jpg", .size = 5, .mode = 0120777});
    zip_write(&zip, *state, "data/x.zip");
    refuses(*state, "the archive has only links, which are not followed; pack "
                    "their files: zip without -y");
}

static void an_empty_folder_is_an_empty_class(void **state)
{
    struct zip_writer zip = {.bytes = {0}};
    zip_add_text(&zip, "a/1.jpg", "one");
    zip_add_text(&zip, "b/", "");
    zip_write(&zip, *state, "data/x.zip");
    const struct fby_dataset_spec spec = sandbox_folder(*state, "data:x.zip");
    sandbox_refuses(&spec, FBY_CONFIG, "the class folder b has no files");
}

/* The directory is read in parts of 1 MiB. */
static void a_directory_may_have_any_size(void **state)
{
    enum { N = 30000 };
    struct zip_writer zip = {.bytes = {0}};
    for (unsigned i = 0; i < N; i++) {
        char name[40];
        snprintf(name, sizeof(name), "class%u/%08u.jpg", i % 3, N - i);
        zip_add_text(&zip, name, name);
    }
    assert_true(zip.directory.size > 1 << 20);
    zip_write(&zip, *state, "data/x.zip");
    const struct fby_dataset_spec spec = sandbox_folder(*state, "data:x.zip");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), N);
    assert_string_equal(fby_dataset_key(ds, N - 1, NULL), "class2/00029998");
    fby_dataset_destroy(&ds);
}

/* ---- bytes ---- */

enum { BIG = 700000 }; /* bytes: more than is read at once */

static uint8_t *make_bytes(size_t size, bool is_random)
{
    uint8_t *bytes = malloc(size + 1);
    uint32_t x     = 1;
    for (size_t i = 0; i < size; i++) {
        x        = x * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(is_random ? x >> 24 : i / 1000);
    }
    return bytes;
}

/* Read bytes of x.zip/a.bin as the object `object`. */
static void assert_range(const struct fby_object *object, const uint8_t *bytes,
    uint64_t offset, size_t size)
{
    uint8_t *read = malloc(size + 1);
    assert_ok(fby_object_read(object, offset, read, size, NULL));
    assert_memory_equal(read, bytes + offset, size);
    free(read);
}

static void assert_reads(
    const struct sandbox *sb, size_t size, bool is_random, uint16_t method)
{
    struct zip_writer zip   = {.bytes = {0}};
    uint8_t          *bytes = make_bytes(size, is_random);
    zip_add(&zip, (struct zip_entry){.name = "a.bin",
                      .data                = bytes,
                      .size                = size,
                      .head_extra          = is_random ? 300 : 0,
                      .method              = method});
    zip_write(&zip, sb, "data/x.zip");
    struct fby_archive *archive = open_archive(sb, "x.zip");
    struct fby_object   object;
    struct fby_stamp    stamp;
    uint8_t             after[4];
    size_t              n = sizeof(after);
    assert_ok(fby_object_open_stamped(
        fby_archive_root(archive), "x.zip/a.bin", &object, &stamp, NULL));
    assert_int_equal(stamp.size, size);
    assert_range(&object, bytes, 0, size);
    assert_range(&object, bytes, 0, size / 2);
    assert_range(&object, bytes, size / 3, size - size / 3);
    assert_range(&object, bytes, size / 3, size / 3);
    assert_range(&object, bytes, size - 1, 1);
    assert_ok(fby_object_read_some(&object, size, after, &n, NULL));
    assert_int_equal(n, 0);
    fby_object_close(&object);
    fby_archive_destroy(&archive);
    free(bytes);
}

static void any_range_of_an_entry_is_read(void **state)
{
    static const size_t sizes[] = {1, 1000, 262144, BIG};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_reads(*state, sizes[i], true, ZIP_STORED);
        assert_reads(*state, sizes[i], true, ZIP_DEFLATED);
        assert_reads(*state, sizes[i], false, ZIP_DEFLATED);
    }
}

/* The whole entry x.zip/a.bin is refused as a bad sample with these words. */
static void assert_bad(const struct sandbox *sb, const char *words)
{
    struct fby_archive     *archive = open_archive(sb, "x.zip");
    struct fby_error_detail why     = {{0}};
    struct fby_object       object;
    struct fby_stamp        stamp;
    assert_ok(fby_object_open_stamped(
        fby_archive_root(archive), "x.zip/a.bin", &object, &stamp, NULL));
    uint8_t *bytes = malloc(stamp.size);
    assert_int_equal(
        fby_object_read(&object, 0, bytes, stamp.size, &why), FBY_BAD_SAMPLE);
    assert_says(&why, "the entry of the archive is damaged: ");
    assert_says(&why, words);
    free(bytes);
    fby_object_close(&object);
    fby_archive_destroy(&archive);
}

static void write_entry(const struct sandbox *sb, struct zip_entry entry)
{
    struct zip_writer zip = {.bytes = {0}};
    zip_add(&zip, entry);
    zip_write(&zip, sb, "data/x.zip");
}

static void a_damaged_entry_is_a_bad_sample(void **state)
{
    struct zip_entry entry = {
        .name = "a.bin", .data = "some text", .size = 9, .said_sum = 1};
    write_entry(*state, entry);
    assert_bad(*state, "its CRC-32 is not that of the directory");
    entry.method = ZIP_DEFLATED;
    write_entry(*state, entry);
    assert_bad(*state, "its CRC-32 is not that of the directory");
    entry.said_sum  = 0;
    entry.said_size = 8;
    write_entry(*state, entry);
    assert_bad(*state, "it does not inflate to its size");
    entry.said_size = 10;
    write_entry(*state, entry);
    assert_bad(*state, "it does not inflate to its size");
    entry.said_size   = 0;
    entry.said_packed = 5;
    write_entry(*state, entry);
    assert_bad(*state, "it does not inflate to its size");
    entry.said_packed = 0;
    entry.said_head   = 3;
    write_entry(*state, entry);
    assert_bad(*state, "its local header is invalid");
}

/* An entry that is larger than a step of reading is hashed in one pass. */
static void hashing_checks_the_sum_of_a_large_entry(void **state)
{
    enum { SIZE = 3 << 20 };
    static const uint16_t methods[] = {ZIP_STORED, ZIP_DEFLATED};
    uint8_t              *bytes     = make_bytes(SIZE, true);
    struct zip_entry      entry     = {
                 .name = "a/1.jpg", .data = bytes, .size = SIZE, .said_sum = 1};
    for (size_t i = 0; i < 2; i++) {
        entry.method = methods[i];
        write_entry(*state, entry);
        struct fby_dataset_spec spec = sandbox_folder(*state, "data:x.zip");
        spec.hash                    = true;
        sandbox_refuses(
            &spec, FBY_CONFIG, "its CRC-32 is not that of the directory");
    }
    free(bytes);
}

static void hashing_a_large_entry_stops_within_it(void **state)
{
    enum { SIZE = 3 << 20 };
    uint8_t         *bytes = make_bytes(SIZE, true);
    struct zip_entry entry = {.name = "a.bin",
        .data                       = bytes,
        .size                       = SIZE,
        .method                     = ZIP_DEFLATED,
        .said_sum                   = 1}; /* found at the end */
    write_entry(*state, entry);
    struct fby_archive       *archive = open_archive(*state, "x.zip");
    struct fby_object         object;
    struct fby_stamp          stamp;
    struct fby_checksum_state sum;
    atomic_bool               stop = true;
    assert_ok(fby_object_open_stamped(
        fby_archive_root(archive), "x.zip/a.bin", &object, &stamp, NULL));
    fby_checksum_begin(&sum);
    assert_int_equal(
        fby_checksum_add_file(&sum, &object, &stamp, &stop, NULL), FBY_GONE);
    fby_object_close(&object);
    fby_archive_destroy(&archive);
    free(bytes);
}

static void a_changed_archive_is_stale(void **state)
{
    const struct sandbox *sb = *state;
    write_both(sb, "", ZIP_STORED);
    const struct fby_dataset_spec spec = sandbox_folder(sb, "data:dir/X.ZIP");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    static const char             jpg[1][FBY_NAME_SIZE] = {"jpg"};
    struct fby_member             member;
    struct fby_error_detail       why = {{0}};
    char                          bytes[16];
    assert_ok(fby_dataset_find_member(ds, 0, jpg, 1, &member));
    sandbox_append(sb, "data/dir/X.ZIP", "x", 1);
    assert_int_equal(
        fby_dataset_read(ds, &member, bytes, sizeof(bytes), &why), FBY_STALE);
    assert_says(&why, "was written to since it was indexed");
    sandbox_remove(sb, "data/dir/X.ZIP");
    assert_int_equal(
        fby_dataset_read(ds, &member, bytes, sizeof(bytes), &why), FBY_STALE);
    fby_dataset_destroy(&ds);
}

struct reader_thread {
    const struct fby_root *root;
    const uint8_t         *bytes;
};

static void *read_often(void *arg)
{
    const struct reader_thread *self = arg;
    for (unsigned i = 0; i < 20; i++) {
        char              path[32];
        struct fby_object object;
        uint8_t           read[1000];
        unsigned          k = i % 10;
        snprintf(path, sizeof(path), "x.zip/%u.bin", k);
        if (fby_object_open(self->root, path, &object, NULL) != FBY_OK ||
            fby_object_read(&object, 0, read, 1000, NULL) != FBY_OK ||
            memcmp(read, self->bytes + k, 1000) != 0) {
            return arg; /* not NULL: failed */
        }
        fby_object_close(&object);
    }
    return NULL;
}

static void many_threads_read_one_archive(void **state)
{
    struct zip_writer zip   = {.bytes = {0}};
    uint8_t          *bytes = make_bytes(1010, true);
    pthread_t         threads[4];
    for (unsigned i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%u.bin", i);
        zip_add(&zip, (struct zip_entry){.name = name,
                          .data                = bytes + i,
                          .size                = 1000,
                          .method              = i % 2 * ZIP_DEFLATED});
    }
    zip_write(&zip, *state, "data/x.zip");
    struct fby_archive  *archive = open_archive(*state, "x.zip");
    struct reader_thread arg     = {fby_archive_root(archive), bytes};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, read_often, &arg), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        void *failed = NULL;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    fby_archive_destroy(&archive);
    free(bytes);
}

/* ---- hostile archives ---- */

static void names_that_lead_elsewhere_are_refused(void **state)
{
    static const struct {
        const char *name;
        size_t      size;
        const char *words;
    } wrong[] = {{"/etc/1.jpg", 0, "is empty, '.' or '..'"},
        {"../1.jpg", 0, "is empty, '.' or '..'"},
        {"a/../1.jpg", 0, "is empty, '.' or '..'"},
        {"a/..", 0, "is empty, '.' or '..'"}, {"a/./b.jpg", 0, "'.' or '..'"},
        {"a//b.jpg", 0, "is empty, '.' or '..'"},
        {"a\\b.jpg", 0, "has a backslash in its name"},
        {"a/\xff.jpg", 0, "is not UTF-8"},
        {"a/1\0.jpg", 8, "a NUL character in its name"}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        refuses_entry(*state,
            (struct zip_entry){
                .name = wrong[i].name, .name_size = wrong[i].size},
            wrong[i].words);
    }
    char long_name[FBY_PATH_SIZE + 1];
    memset(long_name, 'n', FBY_PATH_SIZE);
    long_name[FBY_PATH_SIZE] = '\0';
    refuses_entry(
        *state, (struct zip_entry){.name = long_name}, "is empty or too long");
}

/* A file system has no longer names, and neither have buffers of names. */
static void a_component_has_at_most_255_bytes(void **state)
{
    char name[FBY_PATH_SIZE] = "a/";
    memset(name + 2, 'n', 256);
    refuses_entry(*state, (struct zip_entry){.name = name},
        "a component of more than 255 bytes");
    name[257]             = '/'; /* 255 bytes, then a folder's end */
    struct zip_writer zip = {.bytes = {0}};
    zip_add_text(&zip, name, "");
    zip_write(&zip, *state, "data/x.zip");
    struct fby_archive *archive = open_archive(*state, "x.zip");
    fby_archive_destroy(&archive);
}

static void what_is_not_read_names_the_command_that_repacks(void **state)
{
    struct zip_entry      entry = {.name = "a/2.jpg", .data = "two", .size = 3};
    static const uint16_t methods[]  = {1, 6, 9, 12, 14, 93, 95, 98, 77};
    static const char *const names[] = {"Shrink (1)", "Implode (6)",
        "Deflate64 (9)", "bzip2 (12)", "LZMA (14)", "Zstandard (93)", "xz (95)",
        "PPMd (98)", "an unknown method (77)"};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        entry.method = methods[i];
        refuses_entry(*state, entry, names[i]);
    }
    refuses_entry(*state, entry,
        "unpack the archive and pack it again: 7z x x.zip -oFOLDER && cd "
        "FOLDER && zip -r0 ../NEW.zip .");
    entry.method = ZIP_STORED;
    entry.flags  = 1;
    refuses_entry(*state, entry, "the entry a/2.jpg is encrypted; unpack");
}

static void names_are_unique(void **state)
{
    refuses_entry(*state, (struct zip_entry){.name = "a/1.jpg"},
        "it has two entries named a/1.jpg");
    struct zip_writer zip = {.bytes = {0}};
    zip_add_text(&zip, "a", "a file");
    zip_add_text(&zip, "a-", "between them in byte order");
    zip_add_text(&zip, "a/1.jpg", "in a folder");
    zip_write(&zip, *state, "data/x.zip");
    const struct fby_dataset_spec spec = sandbox_folder(*state, "data:x.zip");
    sandbox_refuses(&spec, FBY_CONFIG, "has a file and a folder named a;");
}

static void bytes_of_entries_lie_in_the_archive_and_do_not_overlap(void **state)
{
    struct zip_entry entry = {.name = "b/2.jpg", .data = "two", .size = 3};
    entry.said_head        = 1; /* within the first entry */
    refuses_entry(*state, entry, "the entry b/2.jpg shares bytes with another");
    entry.said_head = 0xfffffff0;
    refuses_entry(*state, entry, "the entry b/2.jpg lies outside the archive");
    entry.said_head = 81; /* its bytes end after the directory begins */
    refuses_entry(*state, entry, "lies outside the archive");
    entry.said_head   = 0;
    entry.said_packed = 0x7fffffff;
    entry.said_size   = 0x7fffffff;
    refuses_entry(*state, entry, "lies outside the archive");
    entry.said_packed = 0;
    entry.method      = ZIP_DEFLATED;
    refuses_entry(*state, entry, "has more bytes than it can inflate to");
}

static void entries_may_be_in_any_order(void **state)
{
    struct zip_writer zip = {.bytes = {0}};
    zip_add(&zip,
        (struct zip_entry){
            .name = "a/1.jpg", .data = "one", .size = 3, .said_head = 40});
    zip_add(&zip, (struct zip_entry){.name = "a/2.jpg",
                      .data                = "two",
                      .size                = 3,
                      .said_head           = UINT32_MAX});
    /* Let the second entry of the directory be the first of the archive. */
    size_t second = zip.directory.size / 2;
    fby_store_le(zip.directory.data + second + 42, 0, 4);
    zip_write(&zip, *state, "data/x.zip");
    struct fby_archive *archive = open_archive(*state, "x.zip");
    fby_archive_destroy(&archive);
}

static void what_is_no_archive_is_refused(void **state)
{
    struct zip_writer zip = {.bytes = {0}};
    zip_write(&zip, *state, "data/x.zip");
    refuses(*state, "the archive is empty");
    zip_add_text(&zip, "./", "");
    zip_write(&zip, *state, "data/x.zip");
    refuses(*state, "the archive is empty");
    sandbox_write_text(*state, "data/x.zip", "");
    refuses(*state, "does not end as a zip file: it is none, or was cut short");
    sandbox_write_text(*state, "data/x.zip", "PK\3\4 and no more of it");
    refuses(*state, "does not end as a zip file");
}

/* The end record counts an entry more, or one less, than the directory has. */
static void a_shortened_directory_is_refused(void **state)
{
    for (int i = 0; i < 2; i++) {
        struct zip_writer zip = {.n_missing = i == 0 ? 1 : UINT16_MAX};
        zip_add_text(&zip, "a/1.jpg", "one");
        zip_add_text(&zip, "a/2.jpg", "two");
        zip_write(&zip, *state, "data/x.zip");
        refuses(*state, i == 0 ? "members is 1 in its end record and 2 in"
                               : "members is 3 in its end record and 2 in");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(an_archive_is_the_folder_that_it_was_made_of),
        IN_SANDBOX(the_entry_of_the_folder_itself_is_skipped),
        IN_SANDBOX(a_source_may_be_a_folder_in_an_archive),
        IN_SANDBOX(a_folder_may_be_named_like_an_archive),
        IN_SANDBOX(checksums_of_an_archive_come_from_the_cache),
        IN_SANDBOX(parallel_folders_may_be_in_an_archive),
        IN_SANDBOX(links_are_skipped),
        IN_SANDBOX(an_archive_of_links_alone_is_refused_for_them),
        IN_SANDBOX(an_empty_folder_is_an_empty_class),
        IN_SANDBOX(a_directory_may_have_any_size),
        IN_SANDBOX(any_range_of_an_entry_is_read),
        IN_SANDBOX(a_damaged_entry_is_a_bad_sample),
        IN_SANDBOX(hashing_checks_the_sum_of_a_large_entry),
        IN_SANDBOX(hashing_a_large_entry_stops_within_it),
        IN_SANDBOX(a_changed_archive_is_stale),
        IN_SANDBOX(many_threads_read_one_archive),
        IN_SANDBOX(names_that_lead_elsewhere_are_refused),
        IN_SANDBOX(a_component_has_at_most_255_bytes),
        IN_SANDBOX(what_is_not_read_names_the_command_that_repacks),
        IN_SANDBOX(names_are_unique),
        IN_SANDBOX(bytes_of_entries_lie_in_the_archive_and_do_not_overlap),
        IN_SANDBOX(entries_may_be_in_any_order),
        IN_SANDBOX(what_is_no_archive_is_refused),
        IN_SANDBOX(a_shortened_directory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
