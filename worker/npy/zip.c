/* zip.c - read zip files as in PKWARE's APPNOTE.TXT 6.3, sections 4.3 and
 * 4.5.3. A 32-bit number of all ones is stored in the zip64 records instead. */
#include "worker/npy/zip.h"

#include <string.h>

enum {
    END_SIZE       = 22,
    LOCATOR_SIZE   = 20,
    END64_SIZE     = 56,
    ZIP64_EXTRA    = 1,
    FLAG_ENCRYPTED = 1,
    STORED         = 0,
    DEFLATED       = 8
};

static const uint32_t end_signature     = 0x06054b50;
static const uint32_t end64_signature   = 0x06064b50;
static const uint32_t locator_signature = 0x07064b50;
static const uint32_t entry_signature   = 0x02014b50;
static const uint32_t head_signature    = 0x04034b50;

static fby_err damaged(struct fby_error_detail *why, const char *what)
{
    return fby_error_set(why, FBY_CONFIG, "damaged zip file: %s", what);
}

/* ---- the directory ---- */

/* Find the end record: the last one whose comment ends with the file. */
static bool find_end(const uint8_t *tail, size_t size, size_t *out)
{
    for (size_t at = size < END_SIZE ? 0 : size - END_SIZE + 1; at-- > 0;) {
        struct fby_reader r = fby_reader(tail + at, size - at);
        if (fby_read_u32(&r) == end_signature) {
            (void)fby_read_bytes(&r, 16);
            if (fby_read_u16(&r) == r.left && !r.bad) {
                *out = at;
                return true;
            }
        }
    }
    return false;
}

/* Read the zip64 end record. Returns false if no locator of such a record
 * precedes the end record. */
static bool read_end64(const uint8_t *tail, size_t end, uint64_t tail_begins,
    struct fby_zip_directory *out)
{
    if (end < LOCATOR_SIZE) {
        return false;
    }
    struct fby_reader r = fby_reader(tail + end - LOCATOR_SIZE, LOCATOR_SIZE);
    uint32_t          signature = fby_read_u32(&r);
    (void)fby_read_u32(&r);
    uint64_t at = fby_read_u64(&r);
    if (signature != locator_signature || at < tail_begins ||
        at - tail_begins > end - LOCATOR_SIZE) {
        return false;
    }
    size_t in_tail = (size_t)(at - tail_begins);
    r              = fby_reader(tail + in_tail, end - LOCATOR_SIZE - in_tail);
    signature      = fby_read_u32(&r);
    (void)fby_read_bytes(&r, END64_SIZE - 4 - 16);
    out->size   = fby_read_u64(&r);
    out->offset = fby_read_u64(&r);
    return signature == end64_signature && !r.bad;
}

fby_err fby_zip_find_directory(const uint8_t *tail, size_t size,
    uint64_t file_size, struct fby_zip_directory *out,
    struct fby_error_detail *why)
{
    size_t end = 0;
    if (!find_end(tail, size, &end)) {
        return fby_error_set(
            why, FBY_CONFIG, "the file does not end as a zip file");
    }
    struct fby_reader r     = fby_reader(tail + end + 4, END_SIZE - 4);
    uint16_t          disk  = fby_read_u16(&r);
    uint16_t          first = fby_read_u16(&r);
    (void)fby_read_u32(&r); /* members */
    out->size   = fby_read_u32(&r);
    out->offset = fby_read_u32(&r);
    if ((out->size == UINT32_MAX || out->offset == UINT32_MAX) &&
        !read_end64(tail, end, file_size - size, out)) {
        return damaged(why, "no zip64 end record");
    }
    if (disk != first || (disk != 0 && disk != UINT16_MAX)) {
        return fby_error_set(why, FBY_CONFIG, "a zip file in several parts");
    }
    if (out->size > FBY_ZIP_DIRECTORY || out->size > file_size ||
        out->offset > file_size - out->size) {
        return damaged(why, "the directory is outside the file");
    }
    return FBY_OK;
}

/* ---- a member ---- */

/* Replace a number of all ones by the next number of the zip64 field. */
static bool read_zip64(struct fby_reader *part, uint64_t *value)
{
    if (*value == UINT32_MAX) {
        *value = fby_read_u64(part);
    }
    return !part->bad;
}

/* Replace sizes and offset by those of the zip64 field, if there is one among
 * the extra fields. Returns false if the fields are invalid. */
static bool read_extra(
    struct fby_reader extra, uint64_t *size, uint64_t *packed, uint64_t *head)
{
    while (extra.left >= 4) {
        uint16_t       id   = fby_read_u16(&extra);
        uint16_t       n    = fby_read_u16(&extra);
        const uint8_t *data = fby_read_bytes(&extra, n);
        if (data == NULL) {
            return false;
        }
        if (id == ZIP64_EXTRA) {
            struct fby_reader part = fby_reader(data, n);
            return read_zip64(&part, size) && read_zip64(&part, packed) &&
                   read_zip64(&part, head);
        }
    }
    return *size != UINT32_MAX && *packed != UINT32_MAX && *head != UINT32_MAX;
}

static void keep_name(struct fby_zip_member *out, const uint8_t *name, size_t n)
{
    size_t kept = n < sizeof(out->name) ? n : sizeof(out->name) - 1;
    memcpy(out->name, name, kept);
    out->name[kept] = '\0';
}

fby_err fby_zip_next_member(struct fby_reader *directory,
    struct fby_zip_member *out, struct fby_error_detail *why)
{
    uint32_t signature = fby_read_u32(directory);
    (void)fby_read_u32(directory); /* versions */
    uint16_t flags  = fby_read_u16(directory);
    uint16_t method = fby_read_u16(directory);
    (void)fby_read_u32(directory); /* time */
    out->sum          = fby_read_u32(directory);
    out->packed       = fby_read_u32(directory);
    out->size         = fby_read_u32(directory);
    uint16_t n_name   = fby_read_u16(directory);
    uint16_t n_extra  = fby_read_u16(directory);
    uint16_t n_remark = fby_read_u16(directory);
    (void)fby_read_u64(directory); /* disk, attributes */
    out->head            = fby_read_u32(directory);
    const uint8_t *name  = fby_read_bytes(directory, n_name);
    const uint8_t *extra = fby_read_bytes(directory, n_extra);
    (void)fby_read_bytes(directory, n_remark);
    if (directory->bad || name == NULL || extra == NULL ||
        signature != entry_signature) {
        return damaged(why, "an entry of the directory is invalid");
    }
    keep_name(out, name, n_name);
    if (!read_extra(
            fby_reader(extra, n_extra), &out->size, &out->packed, &out->head)) {
        return damaged(why, "a member has no valid zip64 sizes");
    }
    out->is_encrypted = (flags & FLAG_ENCRYPTED) != 0;
    out->is_stored    = !out->is_encrypted && method == STORED;
    out->is_deflated  = !out->is_encrypted && method == DEFLATED;
    return !out->is_stored || out->packed == out->size
               ? FBY_OK
               : damaged(why, "a stored member has two sizes");
}

bool fby_zip_is_array(const struct fby_zip_member *member, const char *name)
{
    size_t n = strlen(name);
    return strncmp(member->name, name, n) == 0 &&
           strcmp(member->name + n, ".npy") == 0;
}

fby_err fby_zip_data_offset(const uint8_t head[FBY_ZIP_HEAD],
    const struct fby_zip_member *member, uint64_t file_size, uint64_t *out,
    struct fby_error_detail *why)
{
    struct fby_reader r         = fby_reader(head, FBY_ZIP_HEAD);
    uint32_t          signature = fby_read_u32(&r);
    (void)fby_read_bytes(&r, 22);
    uint64_t skip = FBY_ZIP_HEAD;
    skip += fby_read_u16(&r);
    skip += fby_read_u16(&r);
    if (signature != head_signature || member->head > file_size ||
        skip > file_size - member->head ||
        member->packed > file_size - member->head - skip) {
        return damaged(why, "a member is outside the file");
    }
    *out = member->head + skip;
    return FBY_OK;
}
