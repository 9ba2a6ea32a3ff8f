/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "tests/worker/source/sandbox.h"

static void assert_refused(
    const struct sandbox *sb, const char *path, fby_err err, const char *words)
{
    const struct fby_dataset_spec spec = sandbox_folder(sb, path);
    sandbox_refuses(&spec, err, words);
}

static void classes_are_folders_in_byte_order(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/f/zebra/1.jpg", "z");
    sandbox_write_text(sb, "data/f/Ant/1.jpg", "a");
    sandbox_write_text(sb, "data/f/bee/1.jpg", "b");
    sandbox_write_text(sb, "data/f/bee/1.json", "{}");
    sandbox_write_text(sb, "data/f/README.md", "beside the classes");
    const struct fby_dataset_spec spec = sandbox_folder(sb, "data:f");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 3);
    assert_string_equal(fby_dataset_key(ds, 0, NULL), "Ant/1");
    assert_int_equal(fby_dataset_class(ds, 0), 0);
    assert_string_equal(fby_dataset_key(ds, 1, NULL), "bee/1");
    assert_int_equal(fby_dataset_class(ds, 1), 1);
    assert_int_equal(fby_dataset_class(ds, 2), 2);
    assert_string_equal(fby_dataset_shard_name(ds, 0), "part-0000000");
    assert_int_equal(fby_dataset_class_count(ds), 3);
    assert_string_equal(fby_dataset_class_name(ds, 0), "Ant");
    assert_string_equal(fby_dataset_class_name(ds, 2), "zebra");
    fby_dataset_destroy(&ds);
}

/* Two workers with the same data digest therefore have the same class names. */
static void another_name_of_a_class_is_another_digest(void **state)
{
    const struct sandbox *sb = *state;
    struct fby_digest     digests[3];
    for (uint32_t i = 0; i < 3; i++) {
        static const char *const names[] = {"ant", "ant", "bee"};
        char                     path[64];
        char                     file[80];
        snprintf(path, sizeof(path), "data:%u", i);
        snprintf(file, sizeof(file), "data/%u/%s/1.jpg", i, names[i]);
        sandbox_write_text(sb, file, "a");
        const struct fby_dataset_spec spec = sandbox_folder(sb, path);
        struct fby_dataset           *ds   = sandbox_dataset(&spec);
        digests[i]                         = fby_dataset_digest(ds);
        fby_dataset_destroy(&ds);
    }
    assert_true(fby_digest_equal(&digests[0], &digests[1]));
    assert_false(fby_digest_equal(&digests[0], &digests[2]));
}

static void fewer_classes_than_folders_are_refused(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/f/a/1.jpg", "1");
    sandbox_write_text(sb, "data/f/b/1.jpg", "2");
    sandbox_write_text(sb, "data/f/c/1.jpg", "3");
    const struct fby_dataset_spec spec    = sandbox_folder(sb, "data:f");
    struct fby_dataset           *ds      = sandbox_dataset(&spec);
    struct fby_content           *content = fby_zalloc(sizeof(*content));
    struct fby_field_content     *label   = &content->fields[1];
    struct fby_error_detail       why     = {0};
    content->source                       = FBY_SOURCE_FOLDER;
    content->n_fields                     = 2;
    label->decode                         = FBY_DECODE_LABEL;
    strcpy(label->name, "label");
    strcpy(label->from[0], "folder");
    assert_ok(fby_dataset_check_fields(ds, content, &why)); /* none are said */
    label->as.label.classes = 3;
    assert_ok(fby_dataset_check_fields(ds, content, &why));
    label->as.label.classes = 2;
    assert_int_equal(fby_dataset_check_fields(ds, content, &why), FBY_CONFIG);
    assert_string_equal(why.text,
        "field label: classes is 2, and there are 3 class folders; raise "
        "classes to at least 3");
    strcpy(label->from[0], "cls");
    assert_ok(fby_dataset_check_fields(ds, content, &why));
    free(content);
    fby_dataset_destroy(&ds);
}

static void files_are_ordered_by_key_not_by_name(void **state)
{
    static const char *const keys[] = {"c/a", "c/a b", "c/a-b", "c/a/x", "c/b"};
    const struct sandbox    *sb     = *state;
    sandbox_write_text(sb, "data/f/c/a.jpg", "1");
    sandbox_write_text(sb, "data/f/c/a b.jpg", "2");
    sandbox_write_text(sb, "data/f/c/a-b.jpg", "3");
    sandbox_write_text(sb, "data/f/c/a/x.jpg", "nested");
    sandbox_write_text(sb, "data/f/c/b.jpg", "4");
    sandbox_write_text(sb, "data/f/c/a.cls", "1");
    sandbox_write_text(sb, "data/f/c/.hidden.jpg", "x");
    sandbox_write_text(sb, "data/f/c/Makefile", "no extension");
    const struct fby_dataset_spec spec = sandbox_folder(sb, "data:f");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 5);
    for (uint64_t i = 0; i < 5; i++) {
        assert_string_equal(fby_dataset_key(ds, i, NULL), keys[i]);
    }
    fby_dataset_destroy(&ds);
}

static void a_member_is_the_whole_file_with_its_spelling(void **state)
{
    static const char             exts[][FBY_NAME_SIZE] = {"png", "jpg"};
    const struct sandbox         *sb                    = *state;
    struct fby_member             member;
    struct fby_error_detail       text;
    char                          bytes[6] = "";
    const struct fby_dataset_spec spec     = sandbox_folder(sb, "data:f");
    sandbox_write_text(sb, "data/f/c/one.JPG", "photo");
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_ok(fby_dataset_find_member(ds, 0, exts, 2, &member));
    assert_int_equal(member.size, 5);
    assert_ok(fby_dataset_read(ds, &member, bytes, sizeof(bytes), NULL));
    assert_string_equal(bytes, "photo");
    fby_dataset_describe(ds, 0, &member, &text);
    assert_string_equal(text.text, "file c/one.JPG, sample 0");
    fby_dataset_describe(ds, 0, NULL, &text);
    assert_string_equal(text.text, "sample 0 (key c/one; files: JPG)");
    fby_dataset_destroy(&ds);
}

static void every_1024_samples_make_a_shard(void **state)
{
    const struct sandbox *sb = *state;
    for (unsigned i = 0; i < 1030; i++) {
        char path[64];
        snprintf(path, sizeof(path), "data/f/c%u/%04u.jpg", i % 2, i);
        sandbox_write_text(sb, path, "x");
    }
    const struct fby_dataset_spec spec = sandbox_folder(sb, "data:f");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_shard_count(ds), 2);
    assert_int_equal(fby_dataset_samples_per_shard(ds)[0], 1024);
    assert_int_equal(fby_dataset_samples_per_shard(ds)[1], 6);
    assert_string_equal(fby_dataset_key(ds, 1024, NULL), "c1/1019");
    assert_int_equal(fby_dataset_class(ds, 1024), 1);
    fby_dataset_destroy(&ds);
}

static void an_empty_folder_says_what_was_expected(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_mkdir(sb, "data/empty");
    assert_refused(sb, "data:empty", FBY_CONFIG, "it is empty");
    sandbox_write_text(sb, "data/flat/1.jpg", "x");
    assert_refused(sb, "data:flat", FBY_CONFIG, "CLASS/0001.jpg");
    assert_refused(sb, "data:none", FBY_NOT_FOUND, "data:none is not there");
}

static void an_empty_class_folder_is_named(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/f/a/1.jpg", "x");
    sandbox_mkdir(sb, "data/f/b");
    assert_refused(sb, "data:f", FBY_CONFIG, "class folder b");
}

static void paths_out_of_the_root_are_refused_by_name(void **state)
{
    const struct sandbox *sb = *state;
    assert_refused(sb, "/etc", FBY_USAGE, "/etc is a plain path");
    assert_refused(sb, "data:../x", FBY_USAGE, "..");
    assert_refused(sb, "data:/etc", FBY_USAGE, "/etc");
    assert_refused(sb, "other:f", FBY_USAGE, "other");
    sandbox_write_text(sb, "outside/1.jpg", "x");
    sandbox_write_text(sb, "data/f/a/1.jpg", "x");
    sandbox_link(sb, sandbox_path(sb, "outside"), "data/f/b");
    assert_refused(sb, "data:f", FBY_CONFIG, "data:f/b is outside the root");
    sandbox_remove(sb, "data/f/b");
    sandbox_link(sb, "../../../outside/1.jpg", "data/f/a/2.jpg");
    assert_refused(sb, "data:f", FBY_CONFIG, "data:f/a/2.jpg is outside");
}

static void links_within_the_root_are_classes_and_files(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/pool/1.jpg", "photo");
    sandbox_mkdir(sb, "data/f");
    sandbox_link(sb, "../pool", "data/f/linked");
    sandbox_write_text(sb, "data/f/own/2.jpg", "x");
    sandbox_link(sb, "../../pool/1.jpg", "data/f/own/3.jpg");
    const struct fby_dataset_spec spec = sandbox_folder(sb, "data:f");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 3);
    assert_string_equal(fby_dataset_key(ds, 0, NULL), "linked/1");
    fby_dataset_destroy(&ds);
}

static struct fby_content *one_picture_field(void)
{
    struct fby_content *content = fby_zalloc(sizeof(*content));
    content->source             = FBY_SOURCE_FOLDER;
    content->n_fields           = 2;
    content->fields[0].n_from   = 2;
    content->fields[1].n_from   = 1;
    strcpy(content->fields[0].from[0], "jpg");
    strcpy(content->fields[0].from[1], "png");
    strcpy(content->fields[1].from[0], "folder");
    return content;
}

static struct fby_digest digest_of(const struct fby_dataset_spec *spec)
{
    struct fby_dataset *ds     = sandbox_dataset(spec);
    struct fby_digest   digest = fby_dataset_digest(ds);
    fby_dataset_destroy(&ds);
    return digest;
}

static void files_that_no_field_reads_are_no_samples(void **state)
{
    const struct sandbox *sb      = *state;
    struct fby_content   *content = one_picture_field();
    sandbox_write_text(sb, "data/f/a/1.JPG", "1");
    sandbox_write_text(sb, "data/f/a/1.json", "{}");
    sandbox_write_text(sb, "data/f/b/2.png", "2");
    struct fby_dataset_spec spec   = sandbox_folder(sb, "data:f");
    struct fby_digest       before = digest_of(&spec);
    sandbox_write_text(sb, "data/f/a/0.gif", "0");
    sandbox_write_text(sb, "data/f/a/notes.txt", "n");
    sandbox_write_text(sb, "data/f/a/thumbs.DB", "t");
    sandbox_write_text(sb, "data/f/b/Desktop.ini", "d");
    sandbox_write_text(sb, "data/f/__MACOSX/3.png", "m");
    spec.content             = content;
    struct fby_digest behind = digest_of(&spec);
    assert_true(fby_digest_equal(&before, &behind));
    content->n_fields      = 1; /* labels alone: every file is a sample */
    content->fields[0]     = content->fields[1];
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 4);
    fby_dataset_destroy(&ds);
    free(content);
}

static void a_folder_without_a_file_that_a_field_reads_is_named(void **state)
{
    const struct sandbox *sb      = *state;
    struct fby_content   *content = one_picture_field();
    sandbox_write_text(sb, "data/f/a/1.jpg", "1");
    sandbox_write_text(sb, "data/f/docs/readme.txt", "2");
    struct fby_dataset_spec spec = sandbox_folder(sb, "data:f");
    spec.content                 = content;
    sandbox_refuses(&spec, FBY_CONFIG,
        "class folder docs has no file that a field reads (jpg, png), only "
        "files such as docs/readme.txt");
    free(content);
}

static void a_folder_without_classes_has_the_files_below_it(void **state)
{
    const struct sandbox   *sb      = *state;
    struct fby_content     *content = fby_zalloc(sizeof(*content));
    struct fby_dataset_spec spec    = sandbox_folder(sb, "data:f");
    struct fby_member       member;
    static const char       exts[][FBY_NAME_SIZE] = {"jpg"};
    char                    bytes[6]              = "";
    sandbox_mkdir(sb, "data/f");
    content->flat = true;
    spec.content  = content;
    sandbox_refuses(&spec, FBY_CONFIG,
        "the folder data:f has no files with an extension, such as 7.jpg: "
        "correct the path, or "
        "add files");
    sandbox_write_text(sb, "data/f/b/1.jpg", "photo");
    sandbox_write_text(sb, "data/f/a.jpg", "x");
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 2);
    assert_int_equal(fby_dataset_class_count(ds), 0);
    assert_string_equal(fby_dataset_key(ds, 0, NULL), "a");
    assert_string_equal(fby_dataset_key(ds, 1, NULL), "b/1");
    assert_ok(fby_dataset_find_member(ds, 1, exts, 1, &member));
    assert_ok(fby_dataset_read(ds, &member, bytes, sizeof(bytes), NULL));
    assert_string_equal(bytes, "photo");
    fby_dataset_destroy(&ds);
    free(content);
}

static void classes_may_lie_deeper(void **state)
{
    const struct sandbox   *sb      = *state;
    struct fby_content     *content = fby_zalloc(sizeof(*content));
    struct fby_dataset_spec spec    = sandbox_folder(sb, "data:f");
    sandbox_write_text(sb, "data/f/a/z/1.jpg", "1");
    sandbox_write_text(sb, "data/f/a-b/y/2.jpg", "2");
    sandbox_write_text(sb, "data/f/a-b/y/deep/3.jpg", "3");
    sandbox_write_text(sb, "data/f/a/beside.jpg", "x");
    content->class_depth   = 2;
    spec.content           = content;
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 3);
    assert_int_equal(fby_dataset_class_count(ds), 2);
    assert_string_equal(fby_dataset_class_name(ds, 0), "a-b/y");
    assert_string_equal(fby_dataset_class_name(ds, 1), "a/z");
    assert_string_equal(fby_dataset_key(ds, 2, NULL), "a/z/1");
    assert_int_equal(fby_dataset_class(ds, 2), 1);
    fby_dataset_destroy(&ds);
    content->class_depth = 4;
    sandbox_refuses(&spec, FBY_CONFIG, "has no class folders");
    free(content);
}

static void dangling_links_are_skipped_and_change_no_digest(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/f/a/1.jpg", "1");
    sandbox_write_text(sb, "data/f/b/2.jpg", "2");
    const struct fby_dataset_spec spec   = sandbox_folder(sb, "data:f");
    struct fby_digest             before = digest_of(&spec);
    sandbox_link(sb, "nowhere.jpg", "data/f/a/3.jpg");
    sandbox_link(sb, "../2.jpg/x.jpg", "data/f/b/4.jpg");
    sandbox_link(sb, "5.jpg", "data/f/b/5.jpg");
    sandbox_link(sb, "nowhere", "data/f/c");
    struct fby_digest behind = digest_of(&spec);
    assert_true(fby_digest_equal(&before, &behind));
}

static void links_beneath_another_root_give_the_digest_of_files(void **state)
{
    const struct sandbox *sb = *state;
    char                  option[128];
    sandbox_write_text(sb, "data/f/a/1.jpg", "1");
    sandbox_write_text(sb, "data/f/b/2.jpg", "2");
    sandbox_write_text(sb, "pool/x/1.jpg", "1");
    sandbox_write_text(sb, "pool/y.jpg", "2");
    sandbox_mkdir(sb, "data/g/b");
    sandbox_link(sb, "../../pool/x", "data/g/a");
    sandbox_link(sb, sandbox_path(sb, "pool/y.jpg"), "data/g/b/2.jpg");
    const struct fby_dataset_spec files = sandbox_folder(sb, "data:f");
    const struct fby_dataset_spec links = sandbox_folder(sb, "data:g");
    snprintf(option, sizeof(option), "--data links0=%s/pool", sb->dir);
    sandbox_refuses(&links, FBY_CONFIG, option);
    snprintf(option, sizeof(option), "more=%s/pool", sb->dir);
    assert_ok(fby_roots_add(sb->roots, option, NULL));
    struct fby_digest a = digest_of(&files);
    struct fby_digest b = digest_of(&links);
    assert_true(fby_digest_equal(&a, &b));
}

static void a_folder_linked_into_itself_is_named(void **state)
{
    const struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/f/a/sub/1.jpg", "x");
    sandbox_link(sb, "../sub", "data/f/a/sub/again");
    assert_refused(sb, "data:f", FBY_CONFIG, "a/sub/again is a link");
}

static void a_class_has_sixteen_folders_below_one_another(void **state)
{
    const struct sandbox *sb = *state;
    char   path[128]         = "data/f/c/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d";
    size_t n                 = strlen(path);
    sandbox_write_text(sb, "data/f/c/1.jpg", "1");
    snprintf(path + n, sizeof(path) - n, "/2.jpg");
    sandbox_write_text(sb, path, "2");
    const struct fby_dataset_spec spec = sandbox_folder(sb, "data:f");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_sample_count(ds), 2);
    assert_string_equal(
        fby_dataset_key(ds, 1, NULL), "c/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/2");
    fby_dataset_destroy(&ds);
    snprintf(path + n, sizeof(path) - n, "/e");
    sandbox_mkdir(sb, path);
    assert_refused(sb, "data:f", FBY_CONFIG, "/e lies more than 16 folders");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(classes_are_folders_in_byte_order),
        IN_SANDBOX(another_name_of_a_class_is_another_digest),
        IN_SANDBOX(fewer_classes_than_folders_are_refused),
        IN_SANDBOX(files_are_ordered_by_key_not_by_name),
        IN_SANDBOX(a_member_is_the_whole_file_with_its_spelling),
        IN_SANDBOX(every_1024_samples_make_a_shard),
        IN_SANDBOX(an_empty_folder_says_what_was_expected),
        IN_SANDBOX(an_empty_class_folder_is_named),
        IN_SANDBOX(paths_out_of_the_root_are_refused_by_name),
        IN_SANDBOX(links_within_the_root_are_classes_and_files),
        IN_SANDBOX(files_that_no_field_reads_are_no_samples),
        IN_SANDBOX(a_folder_without_a_file_that_a_field_reads_is_named),
        IN_SANDBOX(a_folder_without_classes_has_the_files_below_it),
        IN_SANDBOX(classes_may_lie_deeper),
        IN_SANDBOX(dangling_links_are_skipped_and_change_no_digest),
        IN_SANDBOX(links_beneath_another_root_give_the_digest_of_files),
        IN_SANDBOX(a_folder_linked_into_itself_is_named),
        IN_SANDBOX(a_class_has_sixteen_folders_below_one_another),
    };
    return cmocka_run_group_tests_name(
        "worker.source.folder", tests, NULL, NULL);
}
