/* SPDX-License-Identifier: Apache-2.0 */
/* Shards of a source of each kind: the bytes of their members, what is cached,
 * and that no file stays open. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/descriptors.h"
#include "tests/test.h"
#include "tests/worker/source/sandbox.h"
#include "tests/worker/transform/npz_file.h"
#include "worker/source/row_reader.h"

/* The member of a sample as text, and what the dataset calls its place. */
static const char *text_of(
    struct fby_dataset *ds, uint64_t sample, const char *extension)
{
    static char             text[200];
    char                    bytes[64] = "";
    char                    exts[1][FBY_NAME_SIZE];
    struct fby_member       member;
    struct fby_error_detail place;
    snprintf(exts[0], sizeof(exts[0]), "%s", extension);
    if (fby_dataset_find_member(ds, sample, exts, 1, &member) != FBY_OK) {
        return "none";
    }
    assert_ok(fby_dataset_read(ds, &member, bytes, member.size, NULL));
    fby_dataset_describe(ds, sample, &member, &place);
    snprintf(text, sizeof(text), "%.60s (%.120s)", bytes, place.text);
    return text;
}

/* ---- parallel folders ---------------------------------------------------- */

/* One folder's name begins as another one's does. */
static void a_side_is_the_folder_of_its_whole_name(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/p/ab/x/train/0.txt", "ab 0");
    sandbox_write_text(sb, "data/p/ab/x/train/1.txt", "ab 1");
    sandbox_write_text(sb, "data/p/a/x/train/0.txt", "a 0");
    sandbox_write_text(sb, "data/p/a/x/train/0.md", "a note");
    sandbox_write_text(sb, "data/p/a/x/train/1.txt", "a 1");
    const struct fby_dataset_spec spec =
        sandbox_source(sb, FBY_SOURCE_PARALLEL, "data:p/{ab,a}/x");
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 2);
    assert_string_equal(fby_dataset_key(ds, 1, NULL), "train/1");
    assert_string_equal(
        text_of(ds, 0, "ab.txt"), "ab 0 (file ab/train/0.txt, sample 0)");
    assert_string_equal(
        text_of(ds, 1, "ab.txt"), "ab 1 (file ab/train/1.txt, sample 1)");
    assert_string_equal(
        text_of(ds, 0, "a.txt"), "a 0 (file a/train/0.txt, sample 0)");
    assert_string_equal(
        text_of(ds, 0, "a.md"), "a note (file a/train/0.md, sample 0)");
    assert_string_equal(
        text_of(ds, 1, "a.txt"), "a 1 (file a/train/1.txt, sample 1)");
    assert_string_equal(text_of(ds, 1, "a.md"), "none");
    assert_false(fby_dataset_has_extension(ds, "ab.md"));
    assert_true(fby_dataset_has_extension(ds, "a.md"));
    assert_int_equal(fby_dataset_class_count(ds), 0);
    fby_dataset_destroy(&ds);
}

static void missing_files_of_a_side_are_counted_and_named(void **state)
{
    const struct sandbox         *sb = *state;
    const struct fby_dataset_spec spec =
        sandbox_source(sb, FBY_SOURCE_PARALLEL, "data:p/{a,b}");
    sandbox_write_text(sb, "data/p/a/README", "no member");
    sandbox_mkdir(sb, "data/p/b");
    sandbox_refuses(&spec, FBY_CONFIG,
        "the folders have no files with an extension, such as 7.jpg: correct "
        "the path, or add "
        "files");
    sandbox_write_text(sb, "data/p/a/10.txt", "");
    sandbox_write_text(sb, "data/p/b/1.txt", "");
    sandbox_write_text(sb, "data/p/b/10.txt", "");
    sandbox_refuses(
        &spec, FBY_CONFIG, "1 file missing: 1.* in a; each folder has");
    sandbox_remove(sb, "data/p/b/10.txt");
    sandbox_write_text(sb, "data/p/a/1.txt", "");
    sandbox_write_text(sb, "data/p/b/2.txt", "");
    sandbox_write_text(sb, "data/p/b/3.txt", "");
    sandbox_refuses(&spec, FBY_CONFIG,
        "3 files missing: 10.* in b, 2.* in a, 3.* in a; each folder has");
    sandbox_write_text(sb, "data/p/b/4.txt", "");
    sandbox_refuses(&spec, FBY_CONFIG,
        "4 files missing: 10.* in b, 2.* in a, 3.* in a, ...; each");
}

static void files_of_a_type_that_no_sample_has_are_no_samples(void **state)
{
    const struct sandbox         *sb = *state;
    const struct fby_dataset_spec spec =
        sandbox_source(sb, FBY_SOURCE_PARALLEL, "data:p/{a,b}");
    sandbox_write_text(sb, "data/p/a/notes.txt", "no sample");
    sandbox_write_text(sb, "data/p/b/1.txt", "a text");
    sandbox_write_text(sb, "data/p/b/README.md", "no sample");
    sandbox_write_text(sb, "data/p/a/1.jpg", "a picture");
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 1);
    assert_string_equal(
        text_of(ds, 0, "b.txt"), "a text (file b/1.txt, sample 0)");
    assert_false(fby_dataset_has_extension(ds, "a.txt"));
    fby_dataset_destroy(&ds);
    sandbox_write_text(sb, "data/p/b/2.txt", "a text");
    sandbox_write_text(sb, "data/p/a/3.png", "a picture");
    sandbox_refuses(&spec, FBY_CONFIG,
        "2 files missing: 2.* in a, 3.* in b; each folder has");
}

static void the_name_of_a_side_and_an_extension_have_63_bytes(void **state)
{
    const struct sandbox         *sb = *state;
    const struct fby_dataset_spec spec =
        sandbox_source(sb, FBY_SOURCE_PARALLEL, "data:p/{a,b}");
    char path[100];
    sandbox_write_text(sb, "data/p/a/0.txt", "");
    snprintf(path, sizeof(path), "data/p/b/0.%061d", 0);
    sandbox_write_text(sb, path, "");
    struct fby_dataset *ds = sandbox_dataset(&spec);
    fby_dataset_destroy(&ds);
    sandbox_remove(sb, path);
    snprintf(path, sizeof(path), "data/p/b/0.%062d", 0);
    sandbox_write_text(sb, path, "");
    sandbox_refuses(&spec, FBY_CONFIG,
        "00: the folder's name and the extension have more than 63 bytes");
}

/* ---- lists --------------------------------------------------------------- */

static const char image[1][FBY_NAME_SIZE] = {"image"};

static struct fby_dataset_spec list_of(
    const struct sandbox *sb, const char *pattern)
{
    struct fby_dataset_spec spec = sandbox_source(sb, FBY_SOURCE_LIST, pattern);
    spec.file_columns            = image;
    spec.n_file_columns          = 1;
    return spec;
}

static void rows_of_a_list_have_files_and_values(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/l/i/1.jpg", "one");
    sandbox_write_text(sb, "data/l/i/2.jpg", "two!");
    sandbox_write_text(
        sb, "data/l/a.csv", "image,label\ni/2.jpg,17\ni/1.jpg,4\n,x\n");
    const struct fby_dataset_spec spec = list_of(sb, "data:l/a.csv");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    struct fby_error_detail       place;
    assert_int_equal(fby_dataset_sample_count(ds), 3);
    assert_string_equal(text_of(ds, 0, "image.jpg"),
        "two! (list a.csv, line 2, sample 0, file i/2.jpg)");
    assert_string_equal(text_of(ds, 1, "image.jpg"),
        "one (list a.csv, line 3, sample 1, file i/1.jpg)");
    assert_string_equal(text_of(ds, 2, "image.jpg"), "none");
    assert_string_equal(
        text_of(ds, 0, "label"), "17 (list a.csv, line 2, sample 0)");
    assert_string_equal(
        text_of(ds, 2, "label"), "x (list a.csv, line 4, sample 2)");
    fby_dataset_describe(ds, 1, NULL, &place);
    assert_string_equal(
        place.text, "list a.csv, line 3, sample 1 (columns: image.jpg, label)");
    fby_dataset_destroy(&ds);
}

static void a_list_in_json_lines_is_told_by_its_name(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/l/1.jpg", "one");
    sandbox_write_text(
        sb, "data/l/a.jsonl", "\n{\"image\": \"1.jpg\", \"label\": 1.50}\n");
    const struct fby_dataset_spec spec = list_of(sb, "data:l/a.jsonl");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 1);
    assert_string_equal(text_of(ds, 0, "image.jpg"),
        "one (list a.jsonl, line 2, sample 0, file 1.jpg)");
    assert_string_equal(
        text_of(ds, 0, "label"), "1.50 (list a.jsonl, line 2, sample 0)");
    fby_dataset_destroy(&ds);
}

static void a_file_of_a_list_that_is_not_there_is_named_by_its_line(
    void **state)
{
    const struct sandbox         *sb   = *state;
    const struct fby_dataset_spec spec = list_of(sb, "data:l/a.csv");
    sandbox_write_text(sb, "data/l/1.jpg", "one");
    sandbox_write_text(sb, "data/l/a.csv", "image\n1.jpg\ni/2.jpg\n");
    sandbox_refuses(&spec, FBY_NOT_FOUND,
        "a.csv, line 3: there is no file i/2.jpg: correct its path, or remove "
        "the line");
    char words[200];
    snprintf(words, sizeof(words),
        "a.csv, line 2: there is no file %s: ", sandbox_path(sb, "data/3.jpg"));
    sandbox_write_text(sb, "data/l/a.csv", "image\n../3.jpg\n");
    sandbox_refuses(&spec, FBY_NOT_FOUND, words);
}

/* ---- columns ------------------------------------------------------------- */

/* Four rows of `name` in the run, each of which is a byte: base, base + 1, ...
 * in the first shard, base + 10, ... in the second. */
static void assert_rows(struct fby_dataset *ds, const char *name, uint8_t base)
{
    static const uint64_t    samples[] = {3, 0, 2, 1};
    static const uint8_t     right[]   = {11, 0, 10, 1};
    struct fby_field_content field = {.decode = FBY_DECODE_ARRAY, .n_from = 1};
    struct fby_row_reader   *run   = fby_row_reader_create();
    uint16_t                *pick  = NULL;
    snprintf(field.from[0], sizeof(field.from[0]), "%s", name);
    assert_ok(fby_dataset_pick_columns(ds, &field, &pick, NULL));
    fby_row_reader_begin_run(run, ds, samples, 4);
    assert_ok(fby_row_reader_open_column(run, ds, pick, NULL));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(run->at[i][0], base + right[i]);
    }
    assert_ok(fby_row_reader_close(run, ds, NULL));
    fby_row_reader_destroy(&run);
    free(pick);
}

static void write_npz(const struct sandbox *sb, const char *path, uint8_t more)
{
    struct npz_file file = {0};
    const uint8_t   b[]  = {(uint8_t)(50 + more), (uint8_t)(51 + more)};
    const uint8_t   a[]  = {more, (uint8_t)(1 + more)};
    put_npz_array(&file, "b", "|u1", "(2,)", b, sizeof(b));
    put_npz_array(&file, "a", "|u1", "(2,)", a, sizeof(a));
    end_npz(&file);
    sandbox_write(sb, path, file.bytes.data, file.bytes.size);
    npz_fini(&file);
}

static void rows_of_an_npz_lie_in_their_members(void **state)
{
    const struct sandbox *sb = *state;
    write_npz(sb, "data/d-0.npz", 0);
    write_npz(sb, "data/d-1.npz", 10);
    const struct fby_dataset_spec spec =
        sandbox_source(sb, FBY_SOURCE_COLUMNS, "data:d-*.npz");
    struct fby_dataset     *ds = sandbox_dataset(&spec);
    struct fby_error_detail place;
    assert_rows(ds, "a", 0);
    assert_rows(ds, "b", 50);
    fby_dataset_describe(ds, 3, NULL, &place);
    assert_string_equal(place.text, "shard d-1.npz, row 1 (sample 3)");
    fby_dataset_destroy(&ds);
}

static void write_npy(const struct sandbox *sb, const char *path, uint8_t first)
{
    struct fby_buffer file = {0};
    put_npy_header(&file, "|u1", "(2,)");
    fby_put_u8(&file, first);
    fby_put_u8(&file, (uint8_t)(first + 1));
    sandbox_write(sb, path, file.data, file.size);
    fby_buffer_fini(&file);
}

/* Beside columns there may be anything. */
static void only_npy_and_npz_files_are_columns(void **state)
{
    const struct sandbox *sb = *state;
    write_npy(sb, "data/d-0/a.npy", 20);
    write_npy(sb, "data/d-1/a.npy", 30);
    sandbox_write_text(sb, "data/d-0/.npy", "hidden");
    sandbox_write_text(sb, "data/d-0/npy", "no NumPy file");
    sandbox_write_text(sb, "data/d-0/b.npy.txt", "no NumPy file");
    sandbox_write_text(sb, "data/d-0/bnpy", "no NumPy file");
    sandbox_write_text(sb, "data/d-0/b.npx", "no NumPy file");
    sandbox_mkdir(sb, "data/d-0/b.npy");
    sandbox_mkdir(sb, "data/d-0/b.npz");
    sandbox_mkdir(sb, "data/d-2.npz.d");
    const struct fby_dataset_spec spec =
        sandbox_source(sb, FBY_SOURCE_COLUMNS, "data:d-{0,1}");
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_rows(ds, "a", 20);
    fby_dataset_destroy(&ds);
}

/* "a-b.npy" comes before "a.npy", but column a before a-b. */
static void columns_keep_their_own_files_and_stamps(void **state)
{
    const struct sandbox *sb = *state;
    write_npy(sb, "data/d-0/a-b.npy", 80);
    write_npy(sb, "data/d-0/a.npy", 20);
    write_npy(sb, "data/d-1/a-b.npy", 90);
    write_npy(sb, "data/d-1/a.npy", 30);
    const struct fby_dataset_spec spec =
        sandbox_source(sb, FBY_SOURCE_COLUMNS, "data:d-*");
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_rows(ds, "a", 20);
    assert_rows(ds, "a-b", 80);
    sandbox_append(sb, "data/d-1/a.npy", "x", 1);
    assert_rows(ds, "a-b", 80);
    fby_dataset_destroy(&ds);
}

/* ---- what is kept -------------------------------------------------------- */

/* Manifests in the cache; the number of the last one's file in *inode. */
static unsigned kept(const struct sandbox *sb, ino_t *inode)
{
    unsigned       n   = 0;
    DIR           *dir = opendir(sb->cache);
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        n += strstr(entry->d_name, ".manifest") != NULL ? 1 : 0;
        *inode = entry->d_name[0] != '.' ? entry->d_ino : *inode;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return n;
}

static void sources_without_a_scan_are_cached_with_sums_only(void **state)
{
    const struct sandbox *sb    = *state;
    ino_t                 inode = 0;
    sandbox_write_text(sb, "data/l/i/1.jpg", "one");
    sandbox_write_text(sb, "data/l/j/1.jpg", "one");
    sandbox_write_text(sb, "data/l.csv", "image\nl/i/1.jpg\n");
    write_npy(sb, "data/d/a.npy", 20);
    struct fby_dataset_spec specs[] = {
        sandbox_source(sb, FBY_SOURCE_FOLDER, "data:l"),
        sandbox_source(sb, FBY_SOURCE_PARALLEL, "data:l/{i,j}"),
        sandbox_source(sb, FBY_SOURCE_COLUMNS, "data:d"),
        list_of(sb, "data:l.csv"),
    };
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(sandbox_reused(&specs[i]), 0);
        assert_int_equal(kept(sb, &inode), i);
        specs[i].hash = true;
        assert_int_equal(sandbox_reused(&specs[i]), 0);
        assert_int_equal(kept(sb, &inode), i + 1);
        assert_int_equal(sandbox_reused(&specs[i]), 1);
    }
    specs[1].cache_dir = "";
    assert_int_equal(sandbox_reused(&specs[1]), 0);
}

static void a_manifest_is_written_when_it_changed_and_else_not(void **state)
{
    const struct sandbox *sb     = *state;
    ino_t                 first  = 0;
    ino_t                 second = 0;
    sandbox_shard(sb, "data/t-0.tar", 0, 2);
    sandbox_shard(sb, "data/t-1.tar", 2, 2);
    sandbox_shard(sb, "data/t-2.tar", 4, 2);
    struct fby_dataset_spec spec =
        sandbox_source(sb, FBY_SOURCE_SHARDS, "data:t-*");
    assert_int_equal(sandbox_reused(&spec), 0);
    assert_int_equal(kept(sb, &first), 1);
    assert_int_equal(sandbox_reused(&spec), 3);
    assert_int_equal(kept(sb, &second), 1);
    assert_int_equal(first, second);
    sandbox_remove(sb, "data/t-1.tar"); /* nothing new is read */
    assert_int_equal(sandbox_reused(&spec), 2);
    assert_int_equal(kept(sb, &second), 1);
    assert_int_not_equal(first, second);
    spec.hash = true; /* nothing is scanned again, but all is read */
    assert_int_equal(sandbox_reused(&spec), 2);
    assert_int_equal(kept(sb, &first), 1);
    assert_int_not_equal(first, second);
    spec.hash              = false;
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_true(fby_dataset_has_checksums(ds));
    fby_dataset_destroy(&ds);
}

/* None displaces another one, whichever setting differs. */
static void each_source_has_a_manifest_of_its_own(void **state)
{
    static const char                     other[1][FBY_NAME_SIZE] = {"mask"};
    static const struct fby_field_content lengths_of_a            = {
                   .decode     = FBY_DECODE_ARRAY,
                   .from       = {"a"},
                   .n_from     = 1,
                   .max_length = 9};
    static const struct fby_field_content lengths_of_b = {
        .decode     = FBY_DECODE_ARRAY,
        .from       = {"b"},
        .n_from     = 1,
        .max_length = 9};
    const struct sandbox *sb    = *state;
    struct fby_roots     *roots = fby_roots_create();
    char                  option[128];
    sandbox_shard(sb, "data/t/t-0.tar", 0, 2);
    sandbox_shard(sb, "data/u/t-0.tar", 0, 2);
    sandbox_shard(sb, "other/t/t-0.tar", 0, 2);
    sandbox_shard(sb, "data/t/t-1.tar", 0, 2);
    sandbox_write_text(sb, "data/l.csv", "image,mask\nt/t-0.tar,u/t-0.tar\n");
    snprintf(option, sizeof(option), "data=%s/other", sb->dir);
    assert_ok(fby_roots_add(roots, option, NULL));
    struct fby_dataset_spec specs[] = {
        sandbox_source(sb, FBY_SOURCE_SHARDS, "data:t/t-0.tar"),
        sandbox_source(sb, FBY_SOURCE_SHARDS, "data:u/t-0.tar"),
        sandbox_source(sb, FBY_SOURCE_SHARDS, "data:t/t-1.tar"),
        sandbox_source(sb, FBY_SOURCE_SHARDS, "data:t/t-0.tar"),
        sandbox_source(sb, FBY_SOURCE_SHARDS, "data:t/t-0.tar"),
        sandbox_source(sb, FBY_SOURCE_SHARDS, "data:t/t-0.tar"),
        list_of(sb, "data:l.csv"),
        list_of(sb, "data:l.csv"),
    };
    specs[3].roots        = roots;
    specs[4].length_field = &lengths_of_a;
    specs[5].length_field = &lengths_of_b;
    specs[6].hash         = true;
    specs[7].hash         = true;
    specs[7].file_columns = other;
    for (uint32_t again = 0; again < 2; again++) {
        for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
            assert_int_equal(sandbox_reused(&specs[i]), again);
        }
    }
    fby_roots_destroy(&roots);
}

/* ---- descriptors --------------------------------------------------------- */

static const struct {
    enum fby_source_kind kind;
    const char          *pattern;
} wrong_sources[] = {{FBY_SOURCE_SHARDS, "data:bad.tar"},
    {FBY_SOURCE_SHARDS, "data:none.tar"}, {FBY_SOURCE_SHARDS, "data:d"},
    {FBY_SOURCE_SHARDS, "data:bad.*"}, {FBY_SOURCE_FOLDER, "data:d"},
    {FBY_SOURCE_FOLDER, "data:bad.tar"}, {FBY_SOURCE_FOLDER, "data:none"},
    {FBY_SOURCE_COLUMNS, "data:d"}, {FBY_SOURCE_COLUMNS, "data:bad.npz"},
    {FBY_SOURCE_COLUMNS, "data:e"}, {FBY_SOURCE_COLUMNS, "data:none"},
    {FBY_SOURCE_LIST, "data:bad.csv"}, {FBY_SOURCE_LIST, "data:miss.csv"},
    {FBY_SOURCE_LIST, "data:d"}, {FBY_SOURCE_PARALLEL, "data:{d,e}"},
    {FBY_SOURCE_PARALLEL, "data:{d,none}"}, {FBY_SOURCE_TOKENS, "data:bad.tar"},
    {FBY_SOURCE_TOKENS, "data:none"}};

static void a_source_that_cannot_be_opened_leaves_no_file_open(void **state)
{
    static const struct fby_tokens flat = {
        .format = FBY_TOKENS_FLAT, .type = FBY_U16, .length = 3};
    static const struct fby_tokens megatron = {
        .format = FBY_TOKENS_MEGATRON, .length = 3};
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/bad.tar", "this is not a tar");
    sandbox_write_text(sb, "data/bad.npz", "this is no zip file, is it");
    sandbox_write_text(sb, "data/bad.csv", "image\n\n");
    sandbox_write_text(sb, "data/miss.csv", "image\nnone.jpg\n");
    sandbox_write_text(sb, "data/d/a.npy", "no NumPy file");
    sandbox_write_text(sb, "data/e/b.npz", "no zip file");
    unsigned before = open_descriptors();
    for (size_t i = 0; i < sizeof(wrong_sources) / sizeof(wrong_sources[0]);
         i++) {
        for (int pass = 0; pass < 2; pass++) {
            struct fby_dataset     *ds   = NULL;
            struct fby_dataset_spec spec = sandbox_source(
                sb, wrong_sources[i].kind, wrong_sources[i].pattern);
            spec.file_columns   = image;
            spec.n_file_columns = 1;
            spec.tokens         = pass == 0 ? &flat : &megatron;
            assert_int_not_equal(
                fby_dataset_open(&spec, (struct fby_progress){0}, &ds, NULL),
                FBY_OK);
            assert_null(ds);
            assert_int_equal(open_descriptors(), before);
        }
    }
}

static void an_open_dataset_holds_its_few_files_and_no_more(void **state)
{
    const struct sandbox *sb     = *state;
    unsigned              before = open_descriptors();
    sandbox_write_text(sb, "data/l/i/1.jpg", "one");
    sandbox_write_text(sb, "data/l/j/1.jpg", "one");
    sandbox_write_text(sb, "data/l.csv", "image\nl/i/1.jpg\n");
    write_npy(sb, "data/d-0/a.npy", 20);
    write_npy(sb, "data/d-1/a.npy", 30);
    write_npz(sb, "data/d-2.npz", 0);
    struct fby_dataset_spec specs[] = {
        sandbox_source(sb, FBY_SOURCE_FOLDER, "data:l"),
        sandbox_source(sb, FBY_SOURCE_PARALLEL, "data:l/{i,j}"),
        sandbox_source(sb, FBY_SOURCE_COLUMNS, "data:d-{0,1}"),
        sandbox_source(sb, FBY_SOURCE_COLUMNS, "data:d-2.npz"),
        list_of(sb, "data:l.csv"),
    };
    for (int i = 0; i < 10; i++) {
        specs[i % 5].hash      = i >= 5;
        struct fby_dataset *ds = sandbox_dataset(&specs[i % 5]);
        assert_int_equal(open_descriptors(), before);
        if (i % 5 == 2) {
            assert_rows(ds, "a", 20);
            assert_int_equal(open_descriptors(), before + 2);
        }
        fby_dataset_destroy(&ds);
        assert_int_equal(open_descriptors(), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_side_is_the_folder_of_its_whole_name),
        IN_SANDBOX(missing_files_of_a_side_are_counted_and_named),
        IN_SANDBOX(rows_of_a_list_have_files_and_values),
        IN_SANDBOX(a_list_in_json_lines_is_told_by_its_name),
        IN_SANDBOX(a_file_of_a_list_that_is_not_there_is_named_by_its_line),
        IN_SANDBOX(rows_of_an_npz_lie_in_their_members),
        IN_SANDBOX(only_npy_and_npz_files_are_columns),
        IN_SANDBOX(columns_keep_their_own_files_and_stamps),
        IN_SANDBOX(sources_without_a_scan_are_cached_with_sums_only),
        IN_SANDBOX(a_manifest_is_written_when_it_changed_and_else_not),
        IN_SANDBOX(each_source_has_a_manifest_of_its_own),
        IN_SANDBOX(a_source_that_cannot_be_opened_leaves_no_file_open),
        IN_SANDBOX(an_open_dataset_holds_its_few_files_and_no_more),
        IN_SANDBOX(files_of_a_type_that_no_sample_has_are_no_samples),
        IN_SANDBOX(the_name_of_a_side_and_an_extension_have_63_bytes),
    };
    return cmocka_run_group_tests_name(
        "worker.source.index", tests, NULL, NULL);
}
