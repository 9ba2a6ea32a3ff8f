/* SPDX-License-Identifier: Apache-2.0 */
/* Masks that have the size of their picture, and masks that have another. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "tests/worker/table.h"
#include "worker/plan/mask_size.h"

#define CROP "ops: [{center_crop: {size: 8}}]"

/* The name of the first mask of another size; "": none. `sizes` are those of
 * the fields in byte order of their names. */
static const char *other(
    const char *fields, const struct fby_size sizes[FBY_MAX_FIELDS])
{
    static char name[FBY_NAME_SIZE];
    char        text[1024];
    snprintf(text, sizeof(text),
        "{forebay: 1, splits: {s: {folder: d}}, global_batch: 9, fields: "
        "{%s}}",
        fields);
    struct fby_content *content = content_of(text);
    int                 i =
        fby_mask_size_find_mismatch(content->fields, content->n_fields, sizes);
    snprintf(name, sizeof(name), "%s", i < 0 ? "" : content->fields[i].name);
    free(content);
    return name;
}

#define IMAGE "image: {from: jpg, " CROP "}, "
#define MASK  "mask: {from: a.png, decode: mask8, " CROP

static void a_mask_has_the_size_of_the_picture_of_its_group(void **state)
{
    (void)state;
    static const struct fby_size same[FBY_MAX_FIELDS]    = {{9, 8}, {9, 8}};
    static const struct fby_size smaller[FBY_MAX_FIELDS] = {{9, 8}, {9, 7}};
    static const struct fby_size wider[FBY_MAX_FIELDS]   = {{9, 8}, {10, 8}};
    static const char in_group[] = IMAGE MASK ", group: image}";
    assert_string_equal(other(in_group, same), "");
    assert_string_equal(other(in_group, smaller), "mask");
    assert_string_equal(other(in_group, wider), "mask");
    assert_string_equal(other(IMAGE MASK "}", smaller), ""); /* no picture */
    assert_string_equal(
        other(IMAGE MASK ", group: image, fit: stretch}", smaller), "");
    assert_string_equal(
        other("image: {from: jpg, group: mask, " CROP "}, " MASK "}", smaller),
        "mask");
}

static void maps_follow_a_picture_too(void **state)
{
    (void)state;
    static const struct fby_size sizes[FBY_MAX_FIELDS] = {{9, 8}, {8, 9}};
    static const char            maps[] =
        "maps: {from: [a.png, b.png], decode: maps, group: image, " CROP;
    char fields[256];
    snprintf(fields, sizeof(fields), "%s%s}", IMAGE, maps);
    assert_string_equal(other(fields, sizes), "maps");
    snprintf(fields, sizeof(fields), "%s%s, fit: stretch}", IMAGE, maps);
    assert_string_equal(other(fields, sizes), "");
}

static void fields_that_were_not_decoded_are_not_compared(void **state)
{
    (void)state;
    static const struct fby_size image[FBY_MAX_FIELDS] = {{9, 8}, {0, 0}};
    static const struct fby_size mask[FBY_MAX_FIELDS]  = {{0, 0}, {9, 8}};
    static const char fields[] = IMAGE MASK ", group: image}";
    assert_string_equal(other(fields, image), "");
    assert_string_equal(other(fields, mask), "");
}

static void of_two_pictures_the_one_that_names_the_group_counts(void **state)
{
    (void)state;
    static const struct fby_size sizes[FBY_MAX_FIELDS] = {
        {1, 1}, {2, 2}, {2, 2}}; /* a, image, mask */
    static const char two[] = "a: {from: jpg, group: image, " CROP "}, " IMAGE;
    static const char none[] =
        "a: {from: jpg, group: g, " CROP "}, b: {from: jpg, group: g, " CROP
        "}, " MASK ", group: g}";
    char fields[512];
    snprintf(fields, sizeof(fields), "%s%s", two, MASK ", group: image}");
    assert_string_equal(other(fields, sizes), "");
    assert_string_equal(other(none, sizes), "mask"); /* the first one counts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mask_has_the_size_of_the_picture_of_its_group),
        cmocka_unit_test(maps_follow_a_picture_too),
        cmocka_unit_test(fields_that_were_not_decoded_are_not_compared),
        cmocka_unit_test(of_two_pictures_the_one_that_names_the_group_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
