/* SPDX-License-Identifier: Apache-2.0 */
/* unread.c - formats of data that are not read yet: see unread.h. */
#include "pipeline/unread.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/shell.h"
#include "pipeline/text.h"

struct unread_format {
    const char *ending; /* of a file name */
    /* The message. Each FILE becomes the name of the file, and each STEM that
     * without the ending. */
    const char *text;
};

#define NOT_READ(what)        what " (FILE) is not read yet; "
#define UNPACK(what, command) NOT_READ(what) "unpack it first: " command " FILE"
#define COMPRESSED_TAR(command, unpack)     \
    NOT_READ("a compressed tar file")       \
    "unpack shards to plain tars: " command \
    " FILE; class folders: mkdir STEM "     \
    "&& " unpack " FILE -C STEM"
#define JOIN(what, command) \
    "a part of a split " what " (FILE) is not read; join the parts: " command
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
#define SPREADSHEET           \
    NOT_READ("a spreadsheet") \
    "save each sheet as a .csv file with a header"
#define ZIP                                                                 \
    "a zip archive (FILE) is read as a folder of pictures (folder: PATH); " \
    "for other data unpack it first: unzip FILE -d FOLDER"

static const struct unread_format formats[] = {
    {".nii.gz", SAVE_ARRAYS("a medical volume")},
    {".tar.gz", COMPRESSED_TAR("gunzip -k", "tar -xf")},
    {".tgz", COMPRESSED_TAR("gunzip -k", "tar -xf")},
    {".tar.zst", COMPRESSED_TAR("zstd -d", "tar -xf")},
    {".tar.xz", COMPRESSED_TAR("unxz -k", "tar -xf")},
    {".tar.bz2", COMPRESSED_TAR("bunzip2 -k", "tar -xf")},
    {".tar.lz4", COMPRESSED_TAR("lz4 -d", "tar -I lz4 -xf")},
    {".zip", ZIP},
    {".z01", JOIN("zip archive", "zip -s 0 STEM.zip --out joined.zip")},
    {".zip.001", JOIN("zip archive", "(set -C; cat STEM.zip.* > joined.zip)")},
    {".7z.001", JOIN("7z archive", "(set -C; cat STEM.7z.* > joined.7z)")},
    {".7z", UNPACK("a 7z archive", "7z x")},
    {".rar", UNPACK("a rar archive", "unrar x")},
    {".gz", UNPACK("a compressed file", "gunzip -k")},
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
    {".xlsx", SPREADSHEET},
    {".xls", SPREADSHEET},
    {".ods", SPREADSHEET},
    {".mp4", VIDEO},
    {".mkv", VIDEO},
    {".avi", VIDEO},
    {".mov", VIDEO},
    {".webm", VIDEO},
};

static const struct {
    const char *ending;
    const char *format;
} pictures[] = {
    {".tif", "TIFF"},
    {".tiff", "TIFF"},
    {".gif", "GIF"},
    {".bmp", "BMP"},
    {".avif", "AVIF"},
    {".heic", "HEIC"},
    {".heif", "HEIF"},
    {".jp2", "JPEG 2000"},
    {".j2k", "JPEG 2000"},
    {".jxl", "JPEG XL"},
    {".ppm", "PPM"},
    {".pgm", "PGM"},
    {".tga", "TGA"},
    {".dng", "DNG"},
};

/* Other endings of JPEG files, which are decoded under another name. */
static const char *const jpeg_endings[] = {".jfif", ".jpe", ".jif"};

static bool has_ending(const char *name, const char *ending)
{
    size_t length = strlen(name);
    size_t n      = strlen(ending);
    return length >= n && strcasecmp(name + length - n, ending) == 0;
}

/* The format by the ending of a name; NULL: the table lacks it. */
static const struct unread_format *find_ending(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (has_ending(name, formats[i].ending)) {
            return &formats[i];
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

/* True for MNIST's files, as train-images-idx3-ubyte.gz; some copies have a dot before
 * idx3. */
static bool is_idx(const char *name)
{
    static const char *const words[] = {"idx3-ubyte", "idx1-ubyte"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const char *word = strstr(name, words[i]);
        size_t      n    = strlen(words[i]);
        if (word != NULL && word > name && strchr("-.", word[-1]) != NULL &&
            (word[n] == '\0' || strcmp(word + n, ".gz") == 0)) {
            return true;
        }
    }
    return false;
}

/* The format of a file; NULL: its format is read, or not known. */
static const struct unread_format *find_format(const char *name)
{
    static const struct unread_format idx = {
        "", SAVE_ARRAYS("MNIST's idx format")};
    static const struct unread_format cifar = {
        "", SAVE_ARRAYS("a batch of CIFAR")};
    static const struct unread_format tfrecord = {"", WRITE_SHARDS("TFRecord")};
    if (is_idx(name)) {
        return &idx;
    }
    if (is_cifar_batch(name)) {
        return &cifar;
    }
    return is_numbered_tfrecord(name) ? &tfrecord : find_ending(name);
}

/* Append the text up to the next FILE or STEM, and `name` or `stem` in its
 * place. Returns the rest of the text. */
static const char *append_text(const char *text, const char *name,
    const char *stem, struct fby_unread *out)
{
    enum { MARK = 4 /* bytes of FILE, and of STEM */ };
    size_t      used    = strlen(out->text);
    const char *file    = strstr(text, "FILE");
    const char *other   = strstr(text, "STEM");
    bool        is_stem = other != NULL && (file == NULL || other < file);
    const char *mark    = is_stem ? other : file;
    size_t      before  = mark != NULL ? (size_t)(mark - text) : strlen(text);
    snprintf(out->text + used, sizeof(out->text) - used, "%.*s%s", (int)before,
        text,
        mark == NULL ? ""
        : is_stem    ? stem
                     : name);
    return text + before + (mark != NULL ? MARK : 0);
}

/* Write the message. In it, a name that is long, or that a shell or tar would not
 * take as it is, is there once only, and then FILE. */
static void write_text(const struct unread_format *format, const char *name,
    struct fby_unread *out)
{
    enum { LONG_NAME = 40 /* bytes */ };
    struct fby_shown shown = fby_text_show(name);
    struct fby_shown stem  = shown;
    bool is_once = strlen(name) > LONG_NAME || !fby_shell_is_plain(name) ||
                   strchr(name, ':') != NULL;
    const char *rest = format->text;
    if (!is_once) {
        stem.text[strlen(name) - strlen(format->ending)] = '\0';
    }
    out->text[0] = '\0';
    for (const char *word = shown.text; *rest != '\0';) {
        rest = append_text(rest, word, is_once ? "FOLDER" : stem.text, out);
        word = is_once ? "FILE" : word;
    }
}

const char *fby_unread_picture(const char *name)
{
    for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++) {
        if (has_ending(name, pictures[i].ending)) {
            return pictures[i].format;
        }
    }
    return NULL;
}

bool fby_unread_is_jpeg(const char *name)
{
    for (size_t i = 0; i < sizeof(jpeg_endings) / sizeof(jpeg_endings[0]);
         i++) {
        if (has_ending(name, jpeg_endings[i])) {
            return true;
        }
    }
    return false;
}

bool fby_unread_file(const char *name, struct fby_unread *out)
{
    const struct unread_format *format  = find_format(name);
    const char                 *picture = fby_unread_picture(name);
    if (picture != NULL) {
        snprintf(out->text, sizeof(out->text),
            "%s pictures (%s) are not decoded; convert them with ImageMagick, "
            "in their folder: find . -iname '*%s' -exec %s",
            picture, fby_text_show(name).text, strrchr(name, '.'),
            FBY_UNREAD_CONVERT);
        return true;
    }
    if (fby_unread_is_jpeg(name)) {
        snprintf(out->text, sizeof(out->text),
            "JPEG pictures are read as .jpg and .jpeg (not %s); give them such "
            "a name, too, in their folder: find . -iname '*%s' -exec %s",
            fby_text_show(name).text, strrchr(name, '.'), FBY_UNREAD_LINK);
        return true;
    }
    if (format != NULL) {
        write_text(format, name, out);
    }
    return format != NULL;
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
