/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/shards/tar_header.h"

#include <string.h>

/* Offsets and sizes in bytes of the fields (POSIX.1-1988 ustar). */
enum {
    NAME_AT     = 0,
    NAME_SIZE   = 100,
    SIZE_AT     = 124,
    NUMBER_SIZE = 12, /* bytes of the size field */
    SUM_AT      = 148,
    SUM_SIZE    = 8,
    TYPE_AT     = 156,
    MAGIC_AT    = 257,
    PREFIX_AT   = 345,
    PREFIX_SIZE = 155
};

bool fby_tar_is_zero(const uint8_t block[FBY_TAR_BLOCK])
{
    for (size_t i = 0; i < FBY_TAR_BLOCK; i++) {
        if (block[i] != 0) {
            return false;
        }
    }
    return true;
}

/* Parse octal digits that follow blanks and end at a blank, a NUL or the end of
 * the field. */
static bool parse_octal(const uint8_t *field, size_t size, uint64_t *out)
{
    size_t   i     = 0;
    uint64_t value = 0;
    while (i < size && field[i] == ' ') {
        i++;
    }
    size_t first = i;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++) {
        if (value >> 61 != 0) { /* three more bits do not fit */
            return false;
        }
        value = value << 3 | (uint64_t)(field[i] - '0');
    }
    *out = value;
    return i > first && (i == size || field[i] == ' ' || field[i] == '\0');
}

/* Parse an octal number, or a large number as GNU tar writes it: the first bit
 * is 1, and a big-endian number follows. A negative number, whose second bit is
 * 1, is too large below. */
static bool parse_number(const uint8_t *field, size_t size, uint64_t *out)
{
    if ((field[0] & 0x80) == 0) {
        return parse_octal(field, size, out);
    }
    uint64_t value = field[0] & 0x7f;
    for (size_t i = 1; i < size; i++) {
        if (value >> 55 != 0) { /* the next byte would make it 2^63 or more */
            return false;
        }
        value = value << 8 | field[i];
    }
    *out = value;
    return true;
}

/* Check that the checksum is the sum of all bytes, with blanks in place of the
 * checksum itself. Some old programs summed the bytes as signed numbers. */
static fby_err check_sum(const uint8_t *block, struct fby_error_detail *why)
{
    uint64_t stored       = 0;
    int64_t  unsigned_sum = 0;
    int64_t  signed_sum   = 0;
    for (int i = 0; i < FBY_TAR_BLOCK; i++) {
        bool    is_sum = i >= SUM_AT && i < SUM_AT + SUM_SIZE;
        uint8_t byte   = is_sum ? ' ' : block[i];
        unsigned_sum += byte;
        signed_sum += (int8_t)byte;
    }
    bool is_number = parse_octal(block + SUM_AT, SUM_SIZE, &stored);
    if (is_number &&
        ((int64_t)stored == unsigned_sum || (int64_t)stored == signed_sum)) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "this is not a tar header, or a damaged one (its checksum is %lld, not "
        "the %lld that it says)",
        (long long)unsigned_sum, (long long)stored);
}

/* Write "PREFIX/NAME", or "NAME" without a prefix. Only POSIX headers have the
 * prefix: their magic ends with a NUL, but that of GNU tar with a blank. */
static void join_name(const uint8_t *block, char *out)
{
    const char *prefix = (const char *)block + PREFIX_AT;
    const char *name   = (const char *)block + NAME_AT;
    size_t      used   = 0;
    bool is_posix = memcmp(block + MAGIC_AT, "ustar", sizeof("ustar")) == 0;
    if (is_posix && prefix[0] != '\0') {
        used = strnlen(prefix, PREFIX_SIZE);
        memcpy(out, prefix, used);
        out[used++] = '/';
    }
    size_t n = strnlen(name, NAME_SIZE);
    memcpy(out + used, name, n);
    out[used + n] = '\0';
}

fby_err fby_tar_header_parse(const uint8_t block[FBY_TAR_BLOCK],
    struct fby_tar_header *out, struct fby_error_detail *why)
{
    FBY_TRY(check_sum(block, why));
    if (!parse_number(block + SIZE_AT, NUMBER_SIZE, &out->size)) {
        return fby_error_set(why, FBY_CONFIG, "the size field is not a number");
    }
    out->type = (char)(block[TYPE_AT] != 0 ? block[TYPE_AT] : '0');
    join_name(block, out->name);
    return FBY_OK;
}

/* Parse a number of digits only. The largest few numbers are refused too. */
static bool parse_decimal(const char *text, size_t size, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || value > UINT64_MAX / 10 - 1) {
            return false;
        }
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    *out = value;
    return size > 0;
}

struct text { /* not terminated by NUL */
    const char *at;
    size_t      size;
};

static fby_err set_name(
    struct text name, struct fby_tar_extras *out, struct fby_error_detail *why)
{
    if (name.size >= sizeof(out->name)) {
        return fby_error_set(why, FBY_CONFIG,
            "the name of the next member has %zu bytes; at most %d are read",
            name.size, FBY_TAR_NAME_SIZE - 1);
    }
    if (name.size == 0 || memchr(name.at, '\0', name.size) != NULL) {
        return fby_error_set(why, FBY_CONFIG,
            "the name of the next member is empty or holds a NUL");
    }
    memcpy(out->name, name.at, name.size);
    out->name[name.size] = '\0';
    out->has_name        = true;
    return FBY_OK;
}

static bool is_key(struct text key, const char *name)
{
    return key.size == strlen(name) && memcmp(key.at, name, key.size) == 0;
}

static fby_err set_size(
    struct text value, struct fby_tar_extras *out, struct fby_error_detail *why)
{
    out->has_size = true;
    return parse_decimal(value.at, value.size, &out->size)
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "the size of the next member is not a number, or too "
                     "large");
}

/* Apply one pax record: path, size or GNU.sparse.*; ignore any other key. */
static fby_err apply_record(struct text key, struct text value,
    struct fby_tar_extras *out, struct fby_error_detail *why)
{
    static const char sparse[] = "GNU.sparse.";
    if (is_key(key, "path")) {
        return set_name(value, out, why);
    }
    if (is_key(key, "size")) {
        return set_size(value, out, why);
    }
    if (key.size >= sizeof(sparse) - 1 &&
        memcmp(key.at, sparse, sizeof(sparse) - 1) == 0) {
        out->sparse = true;
    }
    return FBY_OK;
}

struct record { /* of a pax header */
    struct text key, value;
};

/* Cut the next record off `rest`. A record is its whole length in decimal, a
 * blank, key=value, and a newline. Returns false if it is damaged. */
static bool cut_record(struct text *rest, struct record *out)
{
    const char *blank  = memchr(rest->at, ' ', rest->size);
    uint64_t    length = 0;
    if (blank == NULL) {
        return false;
    }
    size_t digits  = (size_t)(blank - rest->at);
    size_t minimum = digits + strlen(" =\n"); /* an empty key and value */
    if (!parse_decimal(rest->at, digits, &length) || length > rest->size ||
        length < minimum || rest->at[length - 1] != '\n') {
        return false;
    }
    const char *key   = blank + 1;
    const char *end   = rest->at + length - 1;
    const char *equal = memchr(key, '=', (size_t)(end - key));
    if (equal == NULL) {
        return false;
    }
    out->key   = (struct text){key, (size_t)(equal - key)};
    out->value = (struct text){equal + 1, (size_t)(end - equal - 1)};
    rest->at += length;
    rest->size -= (size_t)length;
    return true;
}

fby_err fby_tar_pax_parse(const char *text, size_t size,
    struct fby_tar_extras *out, struct fby_error_detail *why)
{
    struct text rest = {text, size};
    while (rest.size > 0 && rest.at[0] != '\0') { /* NULs: padding */
        struct record record;
        if (!cut_record(&rest, &record)) {
            return fby_error_set(why, FBY_CONFIG,
                "the pax records of this header are damaged at their byte "
                "%zu",
                size - rest.size);
        }
        FBY_TRY(apply_record(record.key, record.value, out, why));
    }
    return FBY_OK;
}

fby_err fby_tar_long_name(const char *text, size_t size,
    struct fby_tar_extras *out, struct fby_error_detail *why)
{
    return set_name((struct text){text, strnlen(text, size)}, out, why);
}

const char *fby_tar_detect_compression(const uint8_t *data, size_t size)
{
    static const struct {
        const char *name;
        const char *magic;
        size_t      size;
    } known[] = {
        {"gzip", "\x1f\x8b", 2},
        {"bzip2", "BZh", 3},
        {"xz", "\xfd\x37zXZ", 5},
        {"zstd", "\x28\xb5\x2f\xfd", 4},
        {"lz4", "\x04\x22\x4d\x18", 4},
        {"zip", "PK\x03\x04", 4},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (size >= known[i].size &&
            memcmp(data, known[i].magic, known[i].size) == 0) {
            return known[i].name;
        }
    }
    return NULL;
}
