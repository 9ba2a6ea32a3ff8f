/* SPDX-License-Identifier: Apache-2.0 */
/* Names of folders that look like splits, and names of classes that do not. */
#include "cli/init/split_names.h"
#include "tests/test.h"

enum { MAX_NAMES = 4 };

static void names_of_splits_are_told_from_names_of_classes(void **state)
{
    (void)state;
    static const struct {
        const char *names[MAX_NAMES];
        int         train; /* the first name with train, or a split; -1: none */
    } rows[] = {
        {{"testA", "testB", "trainA", "trainB"}, 2},
        {{"train_a", "train_b"}, 0},
        {{"train2017", "val2017"}, 0},
        {{"Training-1", "Validation 1"}, 0},
        {{"DIV2K_train_HR", "DIV2K_train_LR", "DIV2K_valid_HR"}, 0},
        {{"seg_pred", "seg_test", "seg_train"}, 2},
        {{"cars_test", "cars_train", "devkit"}, 1},
        {{"trainers", "boots"}, -1},
        {{"trainers", "test_tube"}, -1},
        {{"test_tube", "valley"}, -1},
        {{"train", "bus", "test_tube"}, -1},
        {{"freight_train", "passenger_train"}, -1},
        {{"strain_a", "contest_a"}, -1},
        {{"car_training", "car_testing", "x"}, 0},
        {{"train_a", "test_b", "x"}, -1},
        {{"train_"}, -1},
        {{"test", "val"}, 0},
        {{"docs", "cars_test", "cars_val"}, 1},
        {{"test_a", "test_b"}, -1},
        {{"valley", "testing"}, -1},
        {{"train_a", "train_b", "validity"}, 0},
        {{"a", "b"}, -1},
        {{"data_256", "val_256"}, 0},
        {{"data", "val2017x"}, 0},
        {{"images_background", "images_evaluation"}, 0},
        {{"eval15", "our485"}, 1},
        {{"bus", "val_a"}, -1},
        {{"bus", "blood_test"}, -1},
        {{"blood_test", "urine_test"}, -1},
        {{"test1", "test2"}, -1},
        {{""}, -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t n = 0;
        uint32_t train;
        while (n < MAX_NAMES && rows[i].names[n] != NULL) {
            n++;
        }
        assert_int_equal(
            fby_are_split_names(rows[i].names, n, &train), rows[i].train >= 0);
        if (rows[i].train >= 0) {
            assert_int_equal(train, rows[i].train);
        }
    }
}

static void a_word_of_a_name_is_a_split_in_any_case(void **state)
{
    (void)state;
    static const struct {
        const char *name, *split; /* "": none */
    } rows[] = {
        {"in1k-train-", "train"},
        {"Coffee_TRAIN", "train"},
        {"Train", "train"},
        {"trainLabels", "train"},
        {"dataTest", "test"},
        {"MY-VALIDATION", "validation"},
        {"Dev_set", "val"},
        {"Flickr_8k.devImages.txt", "val"},
        {"DEVICE", ""},
        {"Device", ""},
        {"latest", ""},
        {"LATEST", ""},
        {"interVAL", "val"},
        {"interval", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *split = fby_split_word(rows[i].name);
        assert_string_equal(split != NULL ? split : "", rows[i].split);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_splits_are_told_from_names_of_classes),
        cmocka_unit_test(a_word_of_a_name_is_a_split_in_any_case),
    };
    return cmocka_run_group_tests_name("cli.split_names", tests, NULL, NULL);
}
