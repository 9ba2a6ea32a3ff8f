/* SPDX-License-Identifier: Apache-2.0 */
/* token.c - the text of a resume token (a position in a stream): a prefix, then
 * the bytes of the token in base64url without padding. */
#include "pipeline/token.h"

#include <stdbool.h>

#include "common/bytes.h"
#include "pipeline/text.h"

enum { FORMAT = 1 };

/* Offsets in the bytes of a token. Byte 0 is FORMAT. Seed, epoch and step (8
 * bytes each) are at NUMBERS_AT. At HASH_AT is the hash of all bytes before. */
enum { CONTENT_AT = 1, DATA_AT = 33, FINGERPRINT_AT = 65, NUMBERS_AT = 97 };
enum { HASH_AT = 121 };

static const char prefix[]  = "fby1-";
static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "abcdefghijklmnopqrstuvwxyz0123456789-_";

enum {
    PREFIX_CHARS = sizeof(prefix) - 1,
    BODY_CHARS   = FBY_TOKEN_BYTES / 3 * 4
};
_Static_assert(FBY_TOKEN_BYTES % 3 == 0, "base64 without padding");
_Static_assert(
    PREFIX_CHARS + BODY_CHARS + 1 == FBY_TOKEN_TEXT_SIZE, "the text fits");

static void token_to_bytes(
    const struct fby_token *token, uint8_t bytes[FBY_TOKEN_BYTES])
{
    bytes[0] = FORMAT;
    memcpy(bytes + CONTENT_AT, token->content.bytes, 32);
    memcpy(bytes + DATA_AT, token->data.bytes, 32);
    memcpy(bytes + FINGERPRINT_AT, token->fingerprint.bytes, 32);
    fby_store_le(bytes + NUMBERS_AT, token->seed, 8);
    fby_store_le(bytes + NUMBERS_AT + 8, token->epoch, 8);
    fby_store_le(bytes + NUMBERS_AT + 16, token->step, 8);
    fby_store_le(bytes + HASH_AT, fby_xxh3_64(bytes, HASH_AT), 8);
}

static void token_from_bytes(
    const uint8_t bytes[FBY_TOKEN_BYTES], struct fby_token *token)
{
    struct fby_reader r = fby_reader(bytes + NUMBERS_AT, HASH_AT - NUMBERS_AT);
    memcpy(token->content.bytes, bytes + CONTENT_AT, 32);
    memcpy(token->data.bytes, bytes + DATA_AT, 32);
    memcpy(token->fingerprint.bytes, bytes + FINGERPRINT_AT, 32);
    token->seed  = fby_read_u64(&r);
    token->epoch = fby_read_u64(&r);
    token->step  = fby_read_u64(&r);
}

char *fby_token_encode(
    const struct fby_token *token, char out[FBY_TOKEN_TEXT_SIZE])
{
    uint8_t bytes[FBY_TOKEN_BYTES];
    token_to_bytes(token, bytes);
    memcpy(out, prefix, PREFIX_CHARS);
    char *letter = out + PREFIX_CHARS;
    for (size_t i = 0; i < FBY_TOKEN_BYTES; i += 3) { /* 3 bytes, 4 letters */
        uint32_t group = (uint32_t)bytes[i] << 16 |
                         (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6) {
            *letter++ = letters[group >> shift & 63];
        }
    }
    *letter = '\0';
    return out;
}

/* The 24 bits of 4 letters; UINT32_MAX if a letter is not one of base64url. */
static uint32_t decode_group(const char *text)
{
    uint32_t group = 0;
    for (int k = 0; k < 4; k++) {
        const char *letter = strchr(letters, text[k]);
        if (letter == NULL) {
            return UINT32_MAX;
        }
        group = group << 6 | (uint32_t)(letter - letters);
    }
    return group;
}

/* Decode BODY_CHARS letters; false if a letter is not one of base64url. */
static bool decode_text(const char *text, uint8_t bytes[FBY_TOKEN_BYTES])
{
    for (size_t i = 0; i < FBY_TOKEN_BYTES; i += 3) {
        uint32_t group = decode_group(text + i / 3 * 4);
        if (group == UINT32_MAX) {
            return false;
        }
        for (size_t k = 0; k < 3; k++) {
            bytes[i + k] = (uint8_t)(group >> (16 - 8 * k));
        }
    }
    return true;
}

/* Skip leading white space. Return the size without trailing white space. */
static size_t trim(const char **text_p)
{
    static const char white[] = " \t\r\n";
    *text_p += strspn(*text_p, white);
    size_t size = strlen(*text_p);
    while (size > 0 && strchr(white, (*text_p)[size - 1]) != NULL) {
        size--;
    }
    return size;
}

static fby_err check_prefix(
    const char *text, size_t size, struct fby_error_detail *why)
{
    if (size >= PREFIX_CHARS && memcmp(text, prefix, PREFIX_CHARS) == 0) {
        return FBY_OK;
    }
    /* "fby2-" would be format 2. fby_text_show replaces a control character. */
    if (size >= PREFIX_CHARS && memcmp(text, "fby", 3) == 0 && text[4] == '-') {
        return fby_error_set(why, FBY_USAGE,
            "this token is of format %c; this program reads format 1",
            fby_text_show(text).text[3]);
    }
    return fby_error_set(why, FBY_USAGE,
        "'%s' is not a token: a token is one word that begins with %s",
        fby_text_show(text).text, prefix);
}

fby_err fby_token_decode(
    const char *text, struct fby_token *out, struct fby_error_detail *why)
{
    size_t size = trim(&text);
    FBY_TRY(check_prefix(text, size, why));
    if (size != PREFIX_CHARS + BODY_CHARS) {
        return fby_error_set(why, FBY_USAGE,
            "the token has %zu letters instead of %d: is it cut off?", size,
            PREFIX_CHARS + BODY_CHARS);
    }
    uint8_t bytes[FBY_TOKEN_BYTES];
    if (!decode_text(text + PREFIX_CHARS, bytes)) {
        return fby_error_set(why, FBY_USAGE,
            "the token holds something other than letters, digits, - and _");
    }
    struct fby_reader hash = fby_reader(bytes + HASH_AT, 8);
    if (bytes[0] != FORMAT ||
        fby_read_u64(&hash) != fby_xxh3_64(bytes, HASH_AT)) {
        return fby_error_set(why, FBY_USAGE,
            "the token's checksum is wrong: a letter of it was changed");
    }
    token_from_bytes(bytes, out);
    return FBY_OK;
}
