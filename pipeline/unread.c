/* SPDX-License-Identifier: Apache-2.0 */
/* unread.c - formats of data that are not read yet: see unread.h. */
#include "pipeline/unread.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pipeline/text.h"

struct unread_format {
    const char *ending; /* of a file name */
    const char *text; /* the message; each FILE becomes the name of the file */
};

#define NOT_READ(what)        what " (FILE) is not read yet; "
#define UNPACK(what, command) NOT_READ(what) "unpack it first: " command " FILE"
#define WRITE_SHARDS(what)                                                   \
    NOT_READ(what)                                                           \
    "write its samples as files into tar shards first (0001.jpg, 0001.cls, " \
    "0001.json; for example with webdataset.ShardWriter)"
#define WRITE_SHARDS_OR_TOKENS(what) \
    WRITE_SHARDS(what) "; token ids into .bin files (numpy's tofile)"
#define SAVE_ARRAYS(what)                                                     \
    NOT_READ(what)                                                            \
    "save its arrays as NumPy files first, in a folder for each split: "      \
    "numpy.save('train/x.npy', x), numpy.save('train/label.npy', label); or " \
    "each sample's array as 0001.npy in tar shards"
#define VIDEO                                               \
    NOT_READ("video")                                       \
    "extract pictures into a folder for each class first: " \
    "ffmpeg -i FILE FOLDER/%06d.jpg"
#define ZIP                                                                 \
    "a zip archive (FILE) is read as a folder of pictures (folder: PATH); " \
    "for other data unpack it first: unzip FILE -d FOLDER"

static const struct unread_format formats[] = {
    {".nii.gz", SAVE_ARRAYS("a medical volume")},
    {".tar.gz", UNPACK("a compressed tar file", "gunzip")},
    {".tgz", UNPACK("a compressed tar file", "gunzip")},
    {".tar.zst", UNPACK("a compressed tar file", "zstd -d")},
    {".tar.xz", UNPACK("a compressed tar file", "unxz")},
    {".tar.bz2", UNPACK("a compressed tar file", "bunzip2")},
    {".tar.lz4", UNPACK("a compressed tar file", "lz4 -d")},
    {".zip", ZIP},
    {".7z", UNPACK("a 7z archive", "7z x")},
    {".rar", UNPACK("a rar archive", "unrar x")},
    {".gz", UNPACK("a compressed file", "gunzip")},
    {".zst", UNPACK("a compressed file", "zstd -d")},
    {".parquet", WRITE_SHARDS_OR_TOKENS("Parquet")},
    {".tfrecord", WRITE_SHARDS("TFRecord")},
    {".tfrecords", WRITE_SHARDS("TFRecord")},
    {".arrow", WRITE_SHARDS_OR_TOKENS("Arrow")},
    {".feather", WRITE_SHARDS("Arrow")},
    {".h5", WRITE_SHARDS("HDF5")},
    {".hdf5", WRITE_SHARDS("HDF5")},
    {".mdb", WRITE_SHARDS("LMDB")},
    {".lmdb", WRITE_SHARDS("LMDB")},
    {".rec", WRITE_SHARDS("RecordIO")},
    {".pkl", SAVE_ARRAYS("a pickle")},
    {".pickle", SAVE_ARRAYS("a pickle")},
    {".pt", SAVE_ARRAYS("a file of torch.save")},
    {".pth", SAVE_ARRAYS("a file of torch.save")},
    {".mat", SAVE_ARRAYS("a file of MATLAB")},
    {".nii", SAVE_ARRAYS("a medical volume")},
    {".nrrd", SAVE_ARRAYS("a medical volume")},
    {".mha", SAVE_ARRAYS("a medical volume")},
    {".dcm", SAVE_ARRAYS("a medical picture")},
    {".wav", SAVE_ARRAYS("audio")},
    {".flac", SAVE_ARRAYS("audio")},
    {".mp3", SAVE_ARRAYS("audio")},
    {".ogg", SAVE_ARRAYS("audio")},
    {".mp4", VIDEO},
    {".mkv", VIDEO},
    {".avi", VIDEO},
    {".mov", VIDEO},
    {".webm", VIDEO},
};

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name);
    size_t n      = strlen(ending);
    return length >= n && strcasecmp(name + length - n, ending) == 0;
}

/* The message for the ending of a name; NULL: the table lacks it. */
static const char *find_ending(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (has_ending(name, formats[i].ending)) {
            return formats[i].text;
        }
    }
    return NULL;
}

/* True for the files of CIFAR, and only for them: a name such as
 * data_batch_001.tar is the name of a shard. */
static bool is_cifar_batch(const char *name)
{
    static const char *const batches[] = {"data_batch_1", "data_batch_2",
        "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"};
    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
        size_t n = strlen(batches[i]);
        if (strncmp(name, batches[i], n) == 0 &&
            (name[n] == '\0' || strcmp(name + n, ".bin") == 0)) {
            return true;
        }
    }
    return false;
}

/* True for x.tfrecord-00000-of-00010, also with wildcards for the digits. */
static bool is_numbered_tfrecord(const char *name)
{
    static const char ending[] = ".tfrecord-";
    const char       *number   = strstr(name, ending);
    if (number == NULL) {
        return false;
    }
    number += strlen(ending);
    return number[strspn(number, "0123456789-of{.,}*?")] == '\0';
}

/* The message for a file; NULL: its format is read, or not known. */
static const char *find_text(const char *name)
{
    if (has_ending(name, "-idx3-ubyte") || has_ending(name, "-idx1-ubyte") ||
        has_ending(name, "-idx3-ubyte.gz") ||
        has_ending(name, "-idx1-ubyte.gz")) {
        return SAVE_ARRAYS("MNIST's idx format");
    }
    if (is_cifar_batch(name)) {
        return SAVE_ARRAYS("a batch of CIFAR");
    }
    return is_numbered_tfrecord(name) ? WRITE_SHARDS("TFRecord")
                                      : find_ending(name);
}

/* Write `text` with `name` in the place of each FILE. */
static void write_text(
    const char *text, const char *name, struct fby_unread *out)
{
    static const char mark[] = "FILE";
    const char       *at     = text;
    size_t            length = 0;
    while (*at != '\0' && length < sizeof(out->text)) {
        const char *next   = strstr(at, mark);
        size_t      before = next != NULL ? (size_t)(next - at) : strlen(at);
        length +=
            (size_t)snprintf(out->text + length, sizeof(out->text) - length,
                "%.*s%s", (int)before, at, next != NULL ? name : "");
        at += before + (next != NULL ? strlen(mark) : 0);
    }
}

bool fby_unread_file(const char *name, struct fby_unread *out)
{
    const char *text = find_text(name);
    if (text != NULL) {
        write_text(text, fby_text_show(name).text, out);
    }
    return text != NULL;
}

bool fby_unread_url(const char *path, struct fby_unread *out)
{
    const char *colon = strstr(path, "://");
    if (colon == NULL || colon == path || strchr(path, '/') < colon) {
        return false;
    }
    snprintf(out->text, sizeof(out->text),
        "%.*s:// is not read yet; mount it or copy it, and give the path of "
        "the files",
        (int)strcspn(path, ":"), path);
    return true;
}
