/* SPDX-License-Identifier: Apache-2.0 */
/* picture_format.c - choose decoders, and name the formats that have none.
 *
 * The name of a file is no evidence: downloaded pictures are often WebP or GIF
 * under the name .jpg. */
#include "worker/transform/picture_format.h"

#include <string.h>

#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "worker/transform/jpeg.h"
#include "worker/transform/png.h"
#include "worker/transform/webp.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Bytes that files of a format have at `offset`. */
struct signature {
    const char *format; /* its name, with an article */
    uint32_t    offset;
    uint32_t    n_bytes;
    const char *bytes;
};

static const struct signature jpeg_signature = {"a JPEG", 0, 2, "\xff\xd8"};

static const struct signature not_decoded[] = {
    {"a GIF", 0, 4, "GIF8"},
    {"a BMP", 0, 2, "BM"},
    {"a TIFF", 0, 4, "II*\0"},
    {"a TIFF", 0, 4, "MM\0*"},
    {"a TIFF", 0, 4, "II+\0"},
    {"a TIFF", 0, 4, "MM\0+"},
    {"an AVIF", 4, 7, "ftypavi"},
    {"a HEIC", 4, 7, "ftyphei"},
    {"a HEIC", 4, 7, "ftyphev"},
    {"a HEIC or AVIF", 4, 8, "ftypmif1"},
    {"a HEIC or AVIF", 4, 8, "ftypmsf1"},
    {"a JPEG XL", 0, 2, "\xff\n"},
    {"a JPEG XL", 4, 8, "JXL \r\n\x87\n"},
    {"a JPEG 2000", 4, 8, "jP  \r\n\x87\n"},
    {"a JPEG 2000", 0, 4, "\xff\x4f\xff\x51"},
};

static bool matches(
    const struct fby_picture_file *file, const struct signature *signature)
{
    size_t end = (size_t)signature->offset + signature->n_bytes;
    return file->size >= end && memcmp(file->bytes + signature->offset,
                                    signature->bytes, signature->n_bytes) == 0;
}

/* Refuse the file if it has a format without a decoder. */
static fby_err check_is_decoded(
    const struct fby_picture_file *file, struct fby_error_detail *why)
{
    for (size_t i = 0; i < COUNT_OF(not_decoded); i++) {
        if (matches(file, &not_decoded[i])) {
            return fby_error_set(why, FBY_BAD_SAMPLE,
                "the file is %s picture by its content, and these are not "
                "decoded: convert it, for example with ImageMagick: 'mogrify "
                "-format png "
                "FILE', and remove the original",
                not_decoded[i].format);
        }
    }
    return FBY_OK;
}

/* Refuse a mask that is not a PNG. */
static fby_err check_mask(
    const struct fby_picture_file *file, struct fby_error_detail *why)
{
    if (fby_picture_is_png(file)) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "%s: store masks as PNG, in grey or with a palette",
        matches(file, &jpeg_signature)
            ? "a mask that is a JPEG, whose lossy compression changes ids"
            : "a mask that is not a PNG: ids do not survive other formats");
}

/* Refuse a file that is no JPEG, PNG or WebP. Where `from` names only JPEG, the
 * JPEG decoder says what is wrong with other files. */
static fby_err check_other(const struct fby_field_content *field,
    const struct fby_picture_file *file, struct fby_error_detail *why)
{
    bool    png  = fby_field_takes_png(field);
    bool    webp = fby_field_takes_webp(field);
    fby_err err  = check_is_decoded(file, why);
    return err == FBY_OK && (png || webp) ? fby_error_set(why, FBY_BAD_SAMPLE,
                                                "the file is not a %s or JPEG",
                                                png && webp ? "PNG, WebP"
                                                : png       ? "PNG"
                                                            : "WebP")
                                          : err;
}

/* Refuse a file whose format the field's `from` does not name. */
static fby_err check_is_named(
    const char *format, bool named, struct fby_error_detail *why)
{
    return named ? FBY_OK
                 : fby_error_set(why, FBY_BAD_SAMPLE,
                       "a %s under another name: add %s to the field's 'from'",
                       format, strcmp(format, "PNG") == 0 ? "png" : "webp");
}

fby_err fby_picture_decoder_for(const struct fby_field_content *field,
    const struct fby_picture_file *file, const struct fby_picture_decoder **out,
    struct fby_error_detail *why)
{
    if (fby_field_values(field) == FBY_VALUES_IDS) {
        *out = &fby_png_mask;
        return check_mask(file, why);
    }
    if (fby_picture_is_png(file)) {
        *out = &fby_png_picture;
        return check_is_named("PNG", fby_field_takes_png(field), why);
    }
    if (fby_picture_is_webp(file)) {
        *out = &fby_webp_picture;
        return check_is_named("WebP", fby_field_takes_webp(field), why);
    }
    *out = &fby_jpeg_picture;
    return matches(file, &jpeg_signature) ? FBY_OK
                                          : check_other(field, file, why);
}
