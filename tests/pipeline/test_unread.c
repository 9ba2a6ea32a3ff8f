/* SPDX-License-Identifier: Apache-2.0 */
/* Formats that are not read yet, by the names of files, and what to do. */
#include "tests/test.h"

#include <string.h>

#include "pipeline/location.h"
#include "pipeline/unread.h"

static void assert_file(const char *name, const char *wanted)
{
    struct fby_unread out;
    assert_true(fby_unread_file(name, &out));
    if (strstr(out.text, wanted) == NULL) {
        fail_msg("%s: %s", name, out.text);
    }
}

static void archives_name_the_command_that_unpacks_them(void **state)
{
    (void)state;
    assert_file("a.tar.gz", "a compressed tar file (a.tar.gz) is not read yet; "
                            "unpack shards to plain tars: gunzip -k a.tar.gz; "
                            "class folders: mkdir a && tar -xf a.tar.gz -C a");
    assert_file("A.TGZ", ": gunzip -k A.TGZ; class folders: mkdir A && ");
    assert_file("a.tar.zst", ": zstd -d a.tar.zst;");
    assert_file("a.7z", "not read yet; unpack it first: 7z x a.7z");
    assert_file("a.z01", "a part of a split zip archive (a.z01) is not read; "
                         "join the parts: zip -s 0 a.zip --out joined.zip");
    assert_file("a.zip.001", ": (set -C; cat a.zip.* > joined.zip)");
    assert_file("a.7z.001", ": (set -C; cat a.7z.* > joined.7z)");
    assert_file("a.zip", "a zip archive (a.zip) is read as a folder of "
                         "pictures (folder: PATH); for other data unpack it "
                         "first: unzip a.zip -d FOLDER");
}

static void a_long_name_is_in_a_message_once(void **state)
{
    (void)state;
    assert_file("0123456789012345678901234567890123456.tgz",
        "file (0123456789012345678901234567890123456.tgz) is not read yet; "
        "unpack shards to plain tars: gunzip -k FILE; class folders: mkdir "
        "FOLDER && tar -xf FILE -C FOLDER");
    assert_file("012345678901234567890123456789012345.tgz",
        "tar -xf 012345678901234567890123456789012345.tgz -C "
        "012345678901234567890123456789012345");
}

static void a_command_has_no_name_that_a_shell_would_run(void **state)
{
    (void)state;
    assert_file("$(touch x).tgz",
        "file ($(touch x).tgz) is not read yet; unpack shards to plain tars: "
        "gunzip -k FILE; class folders: mkdir FOLDER && tar -xf FILE -C "
        "FOLDER");
    assert_file("-rf.tgz", "gunzip -k FILE;");
    assert_file("a@host:b.tgz", "tar -xf FILE -C FOLDER");
    assert_file("my data.7z", "FILE");
}

static void pictures_without_decoder_name_the_command_that_converts(
    void **state)
{
    (void)state;
    static const char *const names[][2] = {{"a.tif", "TIFF"},
        {"a.TIFF", "TIFF"}, {"a.gif", "GIF"}, {"a.bmp", "BMP"},
        {"a.avif", "AVIF"}, {"a.heic", "HEIC"}, {"a.jp2", "JPEG 2000"},
        {"a.jxl", "JPEG XL"}, {"a.dng", "DNG"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_string_equal(fby_unread_picture(names[i][0]), names[i][1]);
        assert_file(names[i][0], names[i][1]);
    }
    assert_file("b/a.tif",
        "TIFF pictures (b/a.tif) are not decoded; convert them with "
        "ImageMagick, in their folder: find . -iname '*.tif' -exec sh -c 'for "
        "f; do t=\"${f%.*}.png\"; if [ -e \"$t\" ]; then echo \"not converted: "
        "$f, since $t is there\"; else mogrify -format png \"$f\"; fi; done' "
        "sh "
        "{} +");
    assert_file("b/a.JFIF",
        "JPEG pictures are read as .jpg and .jpeg (not b/a.JFIF); give them "
        "such a name, too, in their folder: find . -iname '*.JFIF' -exec sh -c "
        "'for f; do t=\"${f%.*}.jpg\"; [ -e \"$t\" ] || ln \"$f\" \"$t\" || "
        "cp \"$f\" \"$t\"; [ \"$f\" -ef \"$t\" ] || cmp -s \"$f\" \"$t\" || "
        "echo \"left out: $f, since $t is there\"; done' sh {} +");
    assert_null(fby_unread_picture("a.png"));
    assert_null(fby_unread_picture("tif"));
}

static void other_formats_say_what_is_read_instead(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"a.parquet", "Parquet"},
        {"a.tfrecord", "TFRecord"}, {"a.tfrecord-00000-of-00010", "TFRecord"},
        {"a.arrow", "Arrow"}, {"a.h5", "HDF5"}, {"data.mdb", "LMDB"},
        {"a.rec", "RecordIO"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_file(names[i][0], names[i][1]);
        assert_file(names[i][0], "tar shards");
    }
    assert_file("a.mp4", "ffmpeg -i a.mp4");
    assert_file("a.xlsx", "a spreadsheet (a.xlsx) is not read yet; save each "
                          "sheet as a .csv file with a header");
}

static void files_of_arrays_say_how_to_save_them_with_numpy(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"train-images-idx3-ubyte", "MNIST's idx format (train-images-"},
        {"t10k-labels-idx1-ubyte.gz", "MNIST's idx format"},
        {"train-images.idx3-ubyte", "MNIST's idx format"},
        {"data_batch_1", "a batch of CIFAR (data_batch_1)"},
        {"data_batch_5.bin", "a batch of CIFAR"},
        {"test_batch", "a batch of CIFAR"},
        {"test_batch.bin", "a batch of CIFAR"}, {"a.pkl", "a pickle (a.pkl)"},
        {"a.pt", "a file of torch.save"}, {"a.mat", "a file of MATLAB"},
        {"a.nii.gz", "a medical volume (a.nii.gz)"}, {"a.wav", "audio (a."}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_file(names[i][0], names[i][1]);
        assert_file(names[i][0],
            ") is not read yet; save its arrays as NumPy files first");
    }
}

static void files_that_are_read_are_not_named(void **state)
{
    (void)state;
    static const char *const names[] = {"a.tar", "a.csv", "a.npz", "a.jpg",
        "gz", "README", "", "data_batch_1.tar", "data_batch_6", "data_batch_12",
        "data_batches.csv", "test_batch.tar", "test_batches",
        "mnist-idx3-ubyte.tar", "mnist-idx1-ubyte-{0..9}.tar",
        "train.tfrecord-{00..09}.tar"};
    struct fby_unread        out;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_false(fby_unread_file(names[i], &out));
    }
}

static void urls_are_mounted_or_copied(void **state)
{
    (void)state;
    struct fby_unread out;
    assert_true(fby_unread_url("s3://bucket/a.tar", &out));
    assert_string_equal(out.text, "s3:// is not read yet; mount it or copy it, "
                                  "and give the path of the files");
    assert_false(fby_unread_url("/data/x://y", &out));
    assert_false(fby_unread_url("://", &out));
    assert_false(fby_unread_url("in1k:a.tar", &out));
}

static void a_split_of_them_is_refused(void **state)
{
    (void)state;
    struct fby_location_parts parts;
    struct fby_error_detail   why = {{0}};
    assert_int_equal(fby_location_split("in1k:t-{0..3}.tar.gz",
                         FBY_SOURCE_SHARDS, &parts, &why),
        FBY_CONFIG);
    assert_non_null(strstr(why.text, ": gunzip -k FILE"));
    assert_int_equal(
        fby_location_split("gs://b/t.csv", FBY_SOURCE_LIST, &parts, &why),
        FBY_CONFIG);
    assert_non_null(strstr(why.text, "gs:// is not read yet"));
}

static void tar_files_may_have_names_of_such_files(void **state)
{
    (void)state;
    static const char *const  patterns[] = {"/d/data_batch_{000..099}.tar",
         "d:test_batch.tar", "/d/test_batch/{000..099}.tar",
         "d:train-images-idx3-ubyte-{0..9}.tar",
         "d:train.tfrecord-{00000..00009}-of-00010.tar"};
    struct fby_location_parts parts;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        assert_ok(
            fby_location_split(patterns[i], FBY_SOURCE_SHARDS, &parts, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archives_name_the_command_that_unpacks_them),
        cmocka_unit_test(a_long_name_is_in_a_message_once),
        cmocka_unit_test(a_command_has_no_name_that_a_shell_would_run),
        cmocka_unit_test(
            pictures_without_decoder_name_the_command_that_converts),
        cmocka_unit_test(other_formats_say_what_is_read_instead),
        cmocka_unit_test(files_of_arrays_say_how_to_save_them_with_numpy),
        cmocka_unit_test(files_that_are_read_are_not_named),
        cmocka_unit_test(urls_are_mounted_or_copied),
        cmocka_unit_test(a_split_of_them_is_refused),
        cmocka_unit_test(tar_files_may_have_names_of_such_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
