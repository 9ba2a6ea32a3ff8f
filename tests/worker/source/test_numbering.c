/* SPDX-License-Identifier: Apache-2.0 */
/* Class folders with the ids of another split's. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/class_names.h"
#include "tests/worker/source/sandbox.h"
#include "tests/worker/source/zip_writer.h"
#include "worker/source/folder/numbering.h"

static struct fby_dataset_spec numbered_by(
    const struct sandbox *sb, const char *path, const char *classes)
{
    struct fby_dataset_spec spec = sandbox_folder(sb, path);
    spec.classes                 = classes;
    return spec;
}

/* data:train has the classes a, b and c; data:val only b and c. */
static void write_splits(const struct sandbox *sb)
{
    sandbox_write_text(sb, "data/train/a/1.jpg", "1");
    sandbox_write_text(sb, "data/train/b/1.jpg", "2");
    sandbox_write_text(sb, "data/train/c/1.jpg", "3");
    sandbox_write_text(sb, "data/val/b/9.jpg", "4");
    sandbox_write_text(sb, "data/val/c/9.jpg", "5");
}

/* The directory of the archive is not read again: the file is gone. */
static void splits_in_one_archive_share_its_directory(void **state)
{
    struct zip_writer          zip     = {.bytes = {0}};
    struct fby_class_numbering classes = {0};
    struct fby_index           index;
    zip_add_text(&zip, "train/a/1.jpg", "1");
    zip_add_text(&zip, "train/b/1.jpg", "2");
    zip_add_text(&zip, "val/b/9.jpg", "3");
    zip_write(&zip, *state, "data/x.zip");
    const struct fby_dataset_spec spec =
        numbered_by(*state, "data:x.zip/val", "data:x.zip/train");
    assert_ok(fby_index_build(&spec, (struct fby_progress){0}, &index, NULL));
    sandbox_remove(*state, "data/x.zip");
    assert_ok(fby_class_numbering_open(
        &spec, (struct fby_progress){0}, &index, &classes, NULL));
    assert_int_equal(classes.n, 2);
    assert_int_equal(classes.ids[0], 1);
    fby_class_numbering_fini(&classes);
    fby_index_fini(&index);
}

static void another_archive_may_number_the_classes(void **state)
{
    struct zip_writer zip = {.bytes = {0}};
    zip_add_text(&zip, "a/1.jpg", "1");
    zip_add_text(&zip, "b/1.jpg", "2");
    zip_write(&zip, *state, "data/x.zip");
    zip_add_text(&zip, "b/9.jpg", "3");
    zip_write(&zip, *state, "data/x.zip2.zip");
    const struct fby_dataset_spec spec =
        numbered_by(*state, "data:x.zip2.zip", "data:x.zip");
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_class(ds, 0), 1);
    fby_dataset_destroy(&ds);
}

static struct fby_digest digest_of(const struct fby_dataset_spec *spec)
{
    struct fby_dataset *ds     = sandbox_dataset(spec);
    struct fby_digest   digest = fby_dataset_digest(ds);
    fby_dataset_destroy(&ds);
    return digest;
}

#define CLASS(text)      \
    {                    \
        .name = (char[]) \
        {                \
            text         \
        }                \
    }

static void ids_are_positions_among_the_classes(void **state)
{
    (void)state;
    const struct fby_folder classes[] = {
        CLASS("a"), CLASS("b"), CLASS("c"), CLASS("e")};
    const struct fby_folder some[]  = {CLASS("b"), CLASS("e")};
    const struct fby_folder other[] = {CLASS("a"), CLASS("d"), CLASS("e")};
    const struct fby_folder last[]  = {CLASS("f")};
    uint32_t                ids[4]  = {9, 9, 9, 9};
    assert_int_equal(fby_class_ids_find(some, 2, classes, 4, ids), 2);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[1], 3);
    assert_int_equal(fby_class_ids_find(classes, 4, classes, 4, ids), 4);
    assert_int_equal(ids[3], 3);
    assert_int_equal(fby_class_ids_find(other, 3, classes, 4, ids), 1);
    assert_int_equal(fby_class_ids_find(last, 1, classes, 4, ids), 0);
    assert_int_equal(fby_class_ids_find(some, 2, classes, 0, ids), 0);
}

static void a_subset_has_the_ids_of_the_whole(void **state)
{
    write_splits(*state);
    const struct fby_dataset_spec spec =
        numbered_by(*state, "data:val", "data:train");
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_class(ds, 0), 1);
    assert_int_equal(fby_dataset_class(ds, 1), 2);
    assert_int_equal(fby_dataset_class_count(ds), 3);
    assert_string_equal(fby_dataset_class_name(ds, 0), "a");
    assert_string_equal(fby_dataset_class_name(ds, 2), "c");
    assert_string_equal(fby_dataset_key(ds, 0, NULL), "b/9");
    fby_dataset_destroy(&ds);
}

static void an_unknown_class_is_refused_by_name(void **state)
{
    write_splits(*state);
    sandbox_write_text(*state, "data/val/bb/1.jpg", "6");
    const struct fby_dataset_spec spec =
        numbered_by(*state, "data:val", "data:train");
    sandbox_refuses(&spec, FBY_CONFIG,
        "the class folder 'bb' of data:val is not in data:train, which numbers "
        "the classes: remove or rename it, add it there, list all classes in "
        "`names` of the label, or say `classes_from: SPLIT`");
}

static void classes_that_cannot_be_listed_are_refused(void **state)
{
    write_splits(*state);
    struct fby_dataset_spec spec = numbered_by(*state, "data:val", "data:gone");
    sandbox_refuses(&spec, FBY_NOT_FOUND,
        "data:gone numbers the classes, but cannot be listed: ");
    spec.classes = "other:train";
    sandbox_refuses(&spec, FBY_USAGE, "say `classes_from: SPLIT`");
    spec.classes = "data:../train";
    sandbox_refuses(&spec, FBY_USAGE, "say `classes_from: SPLIT`");
}

/* A data set that was read before `classes_from` existed keeps its digest. */
static void equal_classes_change_no_digest(void **state)
{
    write_splits(*state);
    sandbox_write_text(*state, "data/val/a/9.jpg", "6");
    const struct fby_dataset_spec own = sandbox_folder(*state, "data:val");
    const struct fby_dataset_spec same =
        numbered_by(*state, "data:val", "data:train");
    const struct fby_digest a = digest_of(&own);
    const struct fby_digest b = digest_of(&same);
    assert_true(fby_digest_equal(&a, &b));
}

static void assert_hex(const struct fby_digest *digest, const char *right)
{
    char hex[65];
    assert_string_equal(fby_hex(digest->bytes, 32, hex), right);
}

/* PROTOCOL.md, "Data digest", has this example. Recorded: never change. */
static void other_classes_are_in_the_digest(void **state)
{
    write_splits(*state);
    const struct fby_dataset_spec own = sandbox_folder(*state, "data:val");
    const struct fby_dataset_spec spec =
        numbered_by(*state, "data:val", "data:train");
    struct fby_digest digest = digest_of(&own);
    assert_hex(&digest,
        "4003ef56da10d9ed8d1da92900e51fcdd2b866ae8b9cb167a2f6a51bef89ee98");
    digest = digest_of(&spec);
    assert_hex(&digest,
        "ef2ba51dd3f343551e8530bda6a75c58fdef8aa1b844d9045df440a89d046b67");
    sandbox_write_text(*state, "data/train/d/1.jpg", "7");
    struct fby_digest more = digest_of(&spec);
    assert_false(fby_digest_equal(&digest, &more));
}

static void a_folder_without_classes_has_no_numbering(void **state)
{
    write_splits(*state);
    struct fby_dataset_spec spec = numbered_by(*state, "data:val", "data:gone");
    static struct fby_content content;
    content.flat           = true;
    spec.content           = &content;
    struct fby_dataset *ds = sandbox_dataset(&spec);
    assert_int_equal(fby_dataset_class_count(ds), 0);
    fby_dataset_destroy(&ds);
}

/* A content with one label from folder, whose classes have these names. */
static struct fby_content *content_with_names(
    const char *const *names, uint32_t n)
{
    struct fby_content       *content = fby_zalloc(sizeof(*content));
    struct fby_field_content *label   = &content->fields[0];
    content->source                   = FBY_SOURCE_FOLDER;
    content->n_fields                 = 1;
    label->decode                     = FBY_DECODE_LABEL;
    label->as.label.classes           = n;
    strcpy(label->name, "label");
    strcpy(label->from[0], "folder");
    for (uint32_t i = 0; i < n; i++) {
        assert_ok(fby_class_names_add(&content->class_names,
            &label->as.label.names, names[i], strlen(names[i]), NULL));
    }
    return content;
}

static void names_of_a_label_are_its_numbering(void **state)
{
    static const char *const all[]  = {"c", "x", "b"};
    static const char *const some[] = {"c", "x"};
    struct fby_error_detail  why    = {{0}};
    write_splits(*state);
    const struct fby_dataset_spec spec = sandbox_folder(*state, "data:val");
    struct fby_dataset           *ds   = sandbox_dataset(&spec);
    struct fby_content           *with = content_with_names(all, 3);
    assert_ok(fby_dataset_check_fields(ds, with, NULL));
    assert_int_equal(
        fby_dataset_folder_label(ds, 0, with, &with->fields[0]), 2);
    assert_int_equal(
        fby_dataset_folder_label(ds, 1, with, &with->fields[0]), 0);
    struct fby_content *without = content_with_names(NULL, 0);
    assert_int_equal(
        fby_dataset_folder_label(ds, 1, without, &without->fields[0]), 1);
    struct fby_content *less = content_with_names(some, 2);
    assert_int_equal(fby_dataset_check_fields(ds, less, &why), FBY_CONFIG);
    assert_says(&why, "class 'b' is not in names of field label");
    free(with);
    free(without);
    free(less);
    fby_dataset_destroy(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_positions_among_the_classes),
        IN_SANDBOX(a_subset_has_the_ids_of_the_whole),
        IN_SANDBOX(splits_in_one_archive_share_its_directory),
        IN_SANDBOX(another_archive_may_number_the_classes),
        IN_SANDBOX(an_unknown_class_is_refused_by_name),
        IN_SANDBOX(classes_that_cannot_be_listed_are_refused),
        IN_SANDBOX(equal_classes_change_no_digest),
        IN_SANDBOX(other_classes_are_in_the_digest),
        IN_SANDBOX(names_of_a_label_are_its_numbering),
        IN_SANDBOX(a_folder_without_classes_has_no_numbering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
