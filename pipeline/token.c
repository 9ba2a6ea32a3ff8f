#include "pipeline/token.h"

#include <stdbool.h>

#include "common/bytes.h"
#include "pipeline/text.h"

enum { FORMAT = 1, CHECKED = 121 /* bytes before the check */ };

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

static void pack(const struct fby_token *token, uint8_t bytes[FBY_TOKEN_BYTES])
{
    bytes[0] = FORMAT;
    memcpy(bytes + 1, token->content.bytes, 32);
    memcpy(bytes + 33, token->data.bytes, 32);
    memcpy(bytes + 65, token->fingerprint.bytes, 32);
    fby_store_le(bytes + 97, token->seed, 8);
    fby_store_le(bytes + 105, token->epoch, 8);
    fby_store_le(bytes + 113, token->step, 8);
    fby_store_le(bytes + CHECKED, fby_xxh64(bytes, CHECKED), 8);
}

static void unpack(
    const uint8_t bytes[FBY_TOKEN_BYTES], struct fby_token *token)
{
    struct fby_reader r = fby_reader(bytes + 97, 24);
    memcpy(token->content.bytes, bytes + 1, 32);
    memcpy(token->data.bytes, bytes + 33, 32);
    memcpy(token->fingerprint.bytes, bytes + 65, 32);
    token->seed  = fby_read_u64(&r);
    token->epoch = fby_read_u64(&r);
    token->step  = fby_read_u64(&r);
}

char *fby_token_encode(
    const struct fby_token *token, char out[FBY_TOKEN_TEXT_SIZE])
{
    uint8_t bytes[FBY_TOKEN_BYTES];
    pack(token, bytes);
    memcpy(out, prefix, PREFIX_CHARS);
    char *at = out + PREFIX_CHARS;
    for (size_t i = 0; i < FBY_TOKEN_BYTES; i += 3) {
        uint32_t group = (uint32_t)bytes[i] << 16 |
                         (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6) {
            *at++ = letters[group >> shift & 63];
        }
    }
    *at = '\0';
    return out;
}

/* 24 bits of 4 letters; above them when a letter is none of base64url's. */
static uint32_t from_letters(const char *text)
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

/* BODY_CHARS letters to bytes; false when one is no letter. */
static bool from_text(const char *text, uint8_t bytes[FBY_TOKEN_BYTES])
{
    for (size_t i = 0; i < FBY_TOKEN_BYTES; i += 3) {
        uint32_t group = from_letters(text + i / 3 * 4);
        if (group == UINT32_MAX) {
            return false;
        }
        fby_store_le(bytes + i, group >> 16, 1);
        fby_store_le(bytes + i + 1, group >> 8, 1);
        fby_store_le(bytes + i + 2, group, 1);
    }
    return true;
}

/* The word within `text`, without white space around it. */
static size_t trim(const char **text_p)
{
    static const char white[] = " \t\r\n";
    *text_p += strspn(*text_p, white);
    size_t n = strlen(*text_p);
    while (n > 0 && strchr(white, (*text_p)[n - 1]) != NULL) {
        n--;
    }
    return n;
}

static fby_err check_prefix(const char *text, size_t n, struct fby_why *why)
{
    if (n >= PREFIX_CHARS && memcmp(text, prefix, PREFIX_CHARS) == 0) {
        return FBY_OK;
    }
    if (n >= PREFIX_CHARS && memcmp(text, "fby", 3) == 0 && text[4] == '-') {
        return fby_because(why, FBY_USAGE,
            "this token is of format %c; this program reads format 1",
            fby_text_show(text).text[3]);
    }
    return fby_because(why, FBY_USAGE,
        "'%s' is no token: a token is one word that begins with %s",
        fby_text_show(text).text, prefix);
}

fby_err fby_token_decode(
    const char *text, struct fby_token *out, struct fby_why *why)
{
    size_t  n   = trim(&text);
    fby_err err = check_prefix(text, n, why);
    if (err != FBY_OK) {
        return err;
    }
    if (n != PREFIX_CHARS + BODY_CHARS) {
        return fby_because(why, FBY_USAGE,
            "the token has %zu letters instead of %d: is it cut off?", n,
            PREFIX_CHARS + BODY_CHARS);
    }
    uint8_t bytes[FBY_TOKEN_BYTES];
    if (!from_text(text + PREFIX_CHARS, bytes)) {
        return fby_because(why, FBY_USAGE,
            "the token holds something other than letters, digits, - and _");
    }
    struct fby_reader check = fby_reader(bytes + CHECKED, 8);
    if (bytes[0] != FORMAT ||
        fby_read_u64(&check) != fby_xxh64(bytes, CHECKED)) {
        return fby_because(why, FBY_USAGE,
            "the token's check fails: a letter of it was changed");
    }
    unpack(bytes, out);
    return FBY_OK;
}
