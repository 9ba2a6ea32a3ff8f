/* SPDX-License-Identifier: Apache-2.0 */
/* zip.c - find the members of a zip file, as in PKWARE's APPNOTE.TXT 6.3,
 * sections 4.3 and 4.5.3. A zip file ends with the directory and the end
 * record. If a number does not fit in 32 bits there, it is 0xffffffff, and a
 * zip64 field has the number. */
#include "worker/zip/zip.h"

#include <inttypes.h>
#include <string.h>

enum {
    END_SIZE       = 22, /* bytes of the end record before its comment */
    LOCATOR_SIZE   = 20, /* bytes of the locator of the zip64 end record */
    END64_SIZE     = 56, /* bytes of the zip64 end record */
    ZIP64_EXTRA    = 1,  /* id of the extra field for zip64 */
    FLAG_ENCRYPTED = 1,  /* bit of the flags */
    MADE_BY_UNIX   = 3,  /* systems that set a mode as Unix has it */
    MADE_BY_DARWIN = 19,
    MODE_TYPE      = 0170000, /* bits of a mode that have a file's type */
    MODE_LINK      = 0120000,
    STORED         = 0, /* methods of compression */
    DEFLATED       = 8
};

static const uint32_t end_signature     = 0x06054b50;
static const uint32_t end64_signature   = 0x06064b50;
static const uint32_t locator_signature = 0x07064b50;
static const uint32_t entry_signature   = 0x02014b50;
static const uint32_t head_signature    = 0x04034b50;

static fby_err refuse_damaged(struct fby_error_detail *why, const char *fault)
{
    return fby_error_set(why, FBY_CONFIG, "damaged zip file: %s", fault);
}

/* ---- the directory ---- */

/* Set *out to the offset of the end record in `tail`: the last one that has its
 * signature, and a comment that ends with the file. False if there is none. */
static bool find_end(const uint8_t *tail, size_t size, size_t *out)
{
    size_t offset = size < END_SIZE ? 0 : size - END_SIZE + 1;
    while (offset-- > 0) {
        struct fby_reader r = fby_reader(tail + offset, size - offset);
        if (fby_read_u32(&r) == end_signature) {
            (void)fby_read_bytes(&r, 16); /* up to the length of the comment */
            uint16_t comment_size = fby_read_u16(&r);
            if (comment_size == r.left && !r.bad) {
                *out = offset;
                return true;
            }
        }
    }
    return false;
}

/* Read the zip64 end record. A locator, which precedes the end record at tail +
 * end, has its offset in the file. `tail` is at tail_offset in the file.
 * Returns false if there is no zip64 end record. */
static bool read_end64(const uint8_t *tail, size_t end, uint64_t tail_offset,
    struct fby_zip_directory *out)
{
    if (end < LOCATOR_SIZE) {
        return false;
    }
    size_t            locator   = end - LOCATOR_SIZE; /* offset in `tail` */
    struct fby_reader r         = fby_reader(tail + locator, LOCATOR_SIZE);
    uint32_t          signature = fby_read_u32(&r);
    (void)fby_read_u32(&r); /* disk */
    uint64_t file_offset = fby_read_u64(&r);
    if (signature != locator_signature || file_offset < tail_offset ||
        file_offset - tail_offset > locator) {
        return false;
    }
    size_t end64 = (size_t)(file_offset - tail_offset);
    r            = fby_reader(tail + end64, locator - end64);
    signature    = fby_read_u32(&r);
    (void)fby_read_bytes(&r, END64_SIZE - 4 - 24); /* all but three u64 */
    out->n_members      = fby_read_u64(&r);
    out->is_zip64_count = true;
    out->size           = fby_read_u64(&r);
    out->offset         = fby_read_u64(&r);
    return signature == end64_signature && !r.bad;
}

/* Read the zip64 end record if `out`, from the end record, lacks a number. */
static fby_err complete_from_end64(const uint8_t *tail, size_t end,
    uint64_t tail_offset, struct fby_zip_directory *out,
    struct fby_error_detail *why)
{
    struct fby_zip_directory zip64 = {0};
    bool has_extent = out->size != UINT32_MAX && out->offset != UINT32_MAX;
    if (has_extent && out->n_members != UINT16_MAX) {
        return FBY_OK;
    }
    bool is_there = read_end64(tail, end, tail_offset, &zip64);
    if (!has_extent) {
        *out = zip64;
        return is_there ? FBY_OK : refuse_damaged(why, "no zip64 end record");
    }
    if (is_there) { /* only the number of members is too large */
        out->n_members      = zip64.n_members;
        out->is_zip64_count = true;
    }
    return FBY_OK;
}

fby_err fby_zip_find_directory(const uint8_t *tail, size_t size,
    uint64_t file_size, struct fby_zip_directory *out,
    struct fby_error_detail *why)
{
    size_t end = 0;
    if (!find_end(tail, size, &end)) {
        return fby_error_set(why, FBY_CONFIG,
            "the file does not end as a zip file: it is none, or was cut "
            "short");
    }
    struct fby_reader r          = fby_reader(tail + end + 4, END_SIZE - 4);
    uint16_t          disk       = fby_read_u16(&r); /* of this file */
    uint16_t          first_disk = fby_read_u16(&r); /* of the directory */
    (void)fby_read_u16(&r);                          /* members on this disk */
    *out        = (struct fby_zip_directory){.n_members = fby_read_u16(&r)};
    out->size   = fby_read_u32(&r);
    out->offset = fby_read_u32(&r);
    FBY_TRY(complete_from_end64(tail, end, file_size - size, out, why));
    /* Disk 0 is the only one; UINT16_MAX means that the zip64 record has it. */
    if (disk != first_disk || (disk != 0 && disk != UINT16_MAX)) {
        return fby_error_set(why, FBY_CONFIG, "a zip file in several parts");
    }
    if (out->size > file_size || out->offset > file_size - out->size) {
        return refuse_damaged(why, "the directory is outside the file");
    }
    return FBY_OK;
}

fby_err fby_zip_check_count(const struct fby_zip_directory *self, uint64_t n,
    struct fby_error_detail *why)
{
    uint64_t read = self->is_zip64_count ? n : n & UINT16_MAX;
    if (read == self->n_members ||
        (!self->is_zip64_count && self->n_members == UINT16_MAX)) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "damaged zip file: the number of members is %" PRIu64
        " in its end record and %" PRIu64 " in its directory",
        self->n_members, n);
}

/* ---- a member ---- */

/* If *value is 0xffffffff, replace it by the next number of the zip64 field.
 * Returns false if the field has no more numbers. */
static bool replace_from_zip64(struct fby_reader *zip64, uint64_t *value)
{
    if (*value == UINT32_MAX) {
        *value = fby_read_u64(zip64);
    }
    return !zip64->bad;
}

/* Replace each number that is 0xffffffff by its value in the zip64 field, which
 * is one of the extra fields. Returns false if a value is missing. */
static bool replace_from_extra(
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
            struct fby_reader zip64 = fby_reader(data, n);
            return replace_from_zip64(&zip64, size) &&
                   replace_from_zip64(&zip64, packed) &&
                   replace_from_zip64(&zip64, head);
        }
    }
    /* There is no zip64 field, so no number may need one. */
    return *size != UINT32_MAX && *packed != UINT32_MAX && *head != UINT32_MAX;
}

static void copy_name(struct fby_zip_member *out, const uint8_t *name, size_t n)
{
    size_t copied =
        n < sizeof(out->short_name) ? n : sizeof(out->short_name) - 1;
    memcpy(out->short_name, name, copied);
    out->short_name[copied] = '\0';
}

/* Is it a link, by the version that made it and its attributes? */
static bool is_link(uint16_t version, uint32_t attributes)
{
    uint16_t system = version >> 8;
    return (system == MADE_BY_UNIX || system == MADE_BY_DARWIN) &&
           (attributes >> 16 & MODE_TYPE) == MODE_LINK;
}

fby_err fby_zip_next_member(struct fby_reader *directory,
    struct fby_zip_member *out, struct fby_zip_name *name,
    struct fby_error_detail *why)
{
    uint32_t signature = fby_read_u32(directory);
    uint16_t version   = fby_read_u16(directory); /* that made it */
    (void)fby_read_u16(directory);                /* version that is needed */
    uint16_t flags = fby_read_u16(directory);
    out->method    = fby_read_u16(directory);
    (void)fby_read_u32(directory); /* time */
    out->sum           = fby_read_u32(directory);
    out->packed_bytes  = fby_read_u32(directory);
    out->size          = fby_read_u32(directory);
    uint16_t n_name    = fby_read_u16(directory);
    uint16_t n_extra   = fby_read_u16(directory);
    uint16_t n_comment = fby_read_u16(directory);
    (void)fby_read_u32(directory); /* disk, internal attributes */
    uint32_t attributes  = fby_read_u32(directory);
    out->head_offset     = fby_read_u32(directory);
    const uint8_t *text  = fby_read_bytes(directory, n_name);
    const uint8_t *extra = fby_read_bytes(directory, n_extra);
    (void)fby_read_bytes(directory, n_comment);
    if (directory->bad || text == NULL || extra == NULL ||
        signature != entry_signature) {
        return refuse_damaged(why, "an entry of the directory is invalid");
    }
    copy_name(out, text, n_name);
    if (name != NULL) {
        *name = (struct fby_zip_name){(const char *)text, n_name};
    }
    if (!replace_from_extra(fby_reader(extra, n_extra), &out->size,
            &out->packed_bytes, &out->head_offset)) {
        return refuse_damaged(why, "a member has no valid zip64 sizes");
    }
    out->is_encrypted = (flags & FLAG_ENCRYPTED) != 0;
    out->is_stored    = !out->is_encrypted && out->method == STORED;
    out->is_deflated  = !out->is_encrypted && out->method == DEFLATED;
    out->is_link      = is_link(version, attributes);
    return !out->is_stored || out->packed_bytes == out->size
               ? FBY_OK
               : refuse_damaged(why, "a stored member has two sizes");
}

bool fby_zip_is_array(const struct fby_zip_member *member, const char *name)
{
    size_t n = strlen(name);
    return strncmp(member->short_name, name, n) == 0 &&
           strcmp(member->short_name + n, ".npy") == 0;
}

fby_err fby_zip_data_offset(const uint8_t head[FBY_ZIP_HEAD],
    const struct fby_zip_member *member, uint64_t file_size, uint64_t *out,
    struct fby_error_detail *why)
{
    struct fby_reader r         = fby_reader(head, FBY_ZIP_HEAD);
    uint32_t          signature = fby_read_u32(&r);
    (void)fby_read_bytes(&r, 22); /* repeats the entry of the directory */
    uint64_t whole_head = FBY_ZIP_HEAD;
    whole_head += fby_read_u16(&r); /* bytes of the name */
    whole_head += fby_read_u16(&r); /* bytes of the extra fields */
    if (signature != head_signature || member->head_offset > file_size ||
        whole_head > file_size - member->head_offset ||
        member->packed_bytes > file_size - member->head_offset - whole_head) {
        return refuse_damaged(why, "a member is outside the file");
    }
    *out = member->head_offset + whole_head;
    return FBY_OK;
}
