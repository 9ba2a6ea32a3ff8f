/* SPDX-License-Identifier: Apache-2.0 */
/* npz.c - find members in the zip directory, inflate and verify them. */
#define ZLIB_CONST
#include "worker/transform/npz.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

/* ---- finding members ---- */

/* Set the member if the directory entry has its name. */
static fby_err set_if_named(const uint8_t *bytes, size_t size,
    const struct fby_zip_member *entry, struct fby_npz_member *member,
    struct fby_error_detail *why)
{
    uint64_t offset = 0;
    if (!fby_zip_is_array(entry, member->name)) {
        return FBY_OK;
    }
    if (size < FBY_ZIP_HEAD || entry->head_offset > size - FBY_ZIP_HEAD) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "damaged zip file: a member is outside the file");
    }
    if (fby_zip_data_offset(
            bytes + entry->head_offset, entry, size, &offset, why) != FBY_OK) {
        return FBY_BAD_SAMPLE;
    }
    if (entry->is_deflated &&
        entry->size / FBY_ZIP_DEFLATE_RATIO > entry->packed_bytes) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "its %s.npy is damaged: %" PRIu64 " bytes deflated to %" PRIu64
            "; a byte inflates to at most %d",
            member->name, entry->size, entry->packed_bytes,
            FBY_ZIP_DEFLATE_RATIO);
    }
    member->entry = *entry;
    member->data  = bytes + offset;
    return FBY_OK;
}

fby_err fby_npz_find_members(const uint8_t *bytes, size_t size,
    struct fby_npz_member *members, size_t n, struct fby_error_detail *why)
{
    size_t                   tail = size < FBY_ZIP_TAIL ? size : FBY_ZIP_TAIL;
    struct fby_zip_directory directory = {0};
    if (fby_zip_find_directory(
            bytes + (size - tail), tail, size, &directory, why) != FBY_OK) {
        return FBY_BAD_SAMPLE;
    }
    struct fby_reader in =
        fby_reader(bytes + directory.offset, (size_t)directory.size);
    fby_err  err     = FBY_OK;
    uint64_t n_found = 0;
    for (; in.left > 0 && err == FBY_OK; n_found++) {
        struct fby_zip_member entry;
        if (fby_zip_next_member(&in, &entry, NULL, why) != FBY_OK) {
            return FBY_BAD_SAMPLE;
        }
        for (size_t i = 0; i < n && err == FBY_OK; i++) {
            err = set_if_named(bytes, size, &entry, &members[i], why);
        }
    }
    if (err == FBY_OK &&
        fby_zip_check_count(&directory, n_found, why) != FBY_OK) {
        err = FBY_BAD_SAMPLE;
    }
    return err;
}

/* ---- reading members ---- */

static fby_err refuse_damaged(
    const struct fby_npz_member *member, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "its %s.npy is damaged: size or CRC-32 differ from the zip directory",
        member->name);
}

static fby_err inflate_member(const struct fby_npz_member *member,
    /* NOLINTNEXTLINE(readability-non-const-parameter): written by zlib */
    uint8_t *buffer, struct fby_error_detail *why)
{
    const struct fby_zip_member *entry = &member->entry;
    if (entry->packed_bytes > UINT32_MAX || entry->size > UINT32_MAX) {
        return refuse_damaged(member, why);
    }
    z_stream z = {.next_in = member->data,
        .avail_in          = (uInt)entry->packed_bytes,
        .next_out          = buffer,
        .avail_out         = (uInt)entry->size};
    /* negative window bits: a zip member has no zlib header */
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) {
        return fby_error_set(why, FBY_FULL, "no memory to inflate it with");
    }
    int     status = inflate(&z, Z_FINISH);
    fby_err err    = status == Z_STREAM_END && z.total_out == entry->size
                         ? FBY_OK
                         : refuse_damaged(member, why);
    if (status == Z_MEM_ERROR) {
        err = fby_error_set(why, FBY_FULL, "no memory to inflate it with");
    }
    (void)inflateEnd(&z);
    return err;
}

fby_err fby_npz_read_member(const struct fby_npz_member *member,
    uint8_t *buffer, const uint8_t **out, struct fby_error_detail *why)
{
    const struct fby_zip_member *entry = &member->entry;
    fby_err                      err   = FBY_OK;
    *out                               = member->data;
    if (entry->is_deflated) {
        *out = buffer;
        err  = inflate_member(member, buffer, why);
    } else if (!entry->is_stored) {
        err = fby_error_set(why, FBY_BAD_SAMPLE, "its %s.npy is %s",
            member->name,
            entry->is_encrypted ? "encrypted" : "neither stored nor deflated");
    }
    if (err == FBY_OK && crc32_z(0, *out, (size_t)entry->size) != entry->sum) {
        err = refuse_damaged(member, why);
    }
    return err;
}
