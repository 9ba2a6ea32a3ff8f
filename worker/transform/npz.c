#define ZLIB_CONST
#include "worker/transform/npz.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

/* A deflate symbol has at least 2 bits and makes at most 258 bytes. */
enum { DEFLATE_MAX_RATIO = 8 / 2 * 258 };

struct npz_bytes {
    const uint8_t *data;
    size_t         size;
};

/* ---- finding members ---- */

/* The packed bytes of a member; NULL if they are not inside the file. */
static const uint8_t *locate(const struct npz_bytes *file,
    const struct fby_zip_member *entry, struct fby_why *why)
{
    uint64_t at = 0;
    if (file->size < FBY_ZIP_HEAD || entry->head > file->size - FBY_ZIP_HEAD) {
        (void)fby_because(why, FBY_BAD_SAMPLE,
            "damaged zip file: a member is outside the file");
        return NULL;
    }
    return fby_zip_begin(
               file->data + entry->head, entry, file->size, &at, why) == FBY_OK
               ? file->data + at
               : NULL;
}

static bool can_have_size(const struct fby_zip_member *entry)
{
    return !entry->is_deflated ||
           entry->size / DEFLATE_MAX_RATIO <= entry->packed;
}

/* If the entry has the member's name, set the member. Returns false if the
 * entry is damaged. */
static bool match(const struct npz_bytes *file,
    const struct fby_zip_member *entry, struct fby_npz_member *member,
    struct fby_why *why)
{
    if (!fby_zip_is_array(entry, member->name)) {
        return true;
    }
    member->entry  = *entry;
    member->packed = locate(file, entry, why);
    if (member->packed != NULL && !can_have_size(entry)) {
        (void)fby_because(why, FBY_BAD_SAMPLE,
            "its %s.npy is damaged: %" PRIu64 " bytes deflated to %" PRIu64
            "; a byte inflates to at most %d",
            member->name, entry->size, entry->packed, DEFLATE_MAX_RATIO);
        return false;
    }
    return member->packed != NULL;
}

fby_err fby_npz_find(const uint8_t *bytes, size_t size,
    struct fby_npz_member *members, size_t n, struct fby_why *why)
{
    const struct npz_bytes   file = {bytes, size};
    size_t                   tail = size < FBY_ZIP_TAIL ? size : FBY_ZIP_TAIL;
    struct fby_zip_directory directory = {0};
    if (fby_zip_find(bytes + (size - tail), tail, size, &directory, why) !=
        FBY_OK) {
        return FBY_BAD_SAMPLE;
    }
    struct fby_reader in =
        fby_reader(bytes + directory.offset, (size_t)directory.size);
    bool good = true;
    while (in.left > 0 && good) {
        struct fby_zip_member entry;
        good = fby_zip_next(&in, &entry, why) == FBY_OK;
        for (size_t i = 0; i < n && good; i++) {
            good = match(&file, &entry, &members[i], why);
        }
    }
    return good ? FBY_OK : FBY_BAD_SAMPLE;
}

/* ---- reading members ---- */

static fby_err damaged(const struct fby_npz_member *member, struct fby_why *why)
{
    return fby_because(why, FBY_BAD_SAMPLE,
        "its %s.npy is damaged: size or CRC-32 differ from the zip directory",
        member->name);
}

static fby_err unpack(
    const struct fby_npz_member *member, uint8_t *buffer, struct fby_why *why)
{
    const struct fby_zip_member *entry = &member->entry;
    z_stream                     z     = {
                                .next_in  = member->packed,
                                .avail_in = (uInt)entry->packed,
    };
    z.next_out  = buffer;
    z.avail_out = (uInt)entry->size;
    if (entry->packed > UINT32_MAX || entry->size > UINT32_MAX) {
        return damaged(member, why);
    }
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) {
        return fby_because(why, FBY_FULL, "no memory to inflate it with");
    }
    int     end = inflate(&z, Z_FINISH);
    fby_err err = end == Z_STREAM_END && z.total_out == entry->size
                      ? FBY_OK
                      : damaged(member, why);
    if (end == Z_MEM_ERROR) {
        err = fby_because(why, FBY_FULL, "no memory to inflate it with");
    }
    (void)inflateEnd(&z);
    return err;
}

fby_err fby_npz_open(const struct fby_npz_member *member, uint8_t *buffer,
    const uint8_t **out, struct fby_why *why)
{
    const struct fby_zip_member *entry = &member->entry;
    fby_err                      err   = FBY_OK;
    *out                               = member->packed;
    if (entry->is_deflated) {
        *out = buffer;
        err  = unpack(member, buffer, why);
    } else if (!entry->is_stored) {
        err = fby_because(why, FBY_BAD_SAMPLE, "its %s.npy is %s", member->name,
            entry->is_encrypted ? "encrypted" : "neither stored nor deflated");
    }
    if (err == FBY_OK &&
        crc32_z(crc32_z(0, NULL, 0), *out, (size_t)entry->size) != entry->sum) {
        err = damaged(member, why);
    }
    return err;
}
