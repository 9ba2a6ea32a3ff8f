#include "common/pipeline/text.h"

#include <stdint.h>
#include <string.h>

#include "common/pipeline/types.h"

/* Bytes of the sequence that begins with `lead`; 0 for no lead byte. */
static size_t sequence_length(uint8_t lead)
{
    if (lead < 0x80) {
        return lead != 0 ? 1 : 0;
    }
    if (lead >= 0xc2 && lead < 0xe0) {
        return 2;
    }
    if (lead >= 0xe0 && lead < 0xf0) {
        return 3;
    }
    return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/* The second byte excludes overlong forms, surrogates and what lies beyond
 * U+10FFFF; the others are free. */
static bool second_fits(uint8_t lead, uint8_t second)
{
    uint8_t low  = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high;
}

/* Bytes of the letter at `p`, of which `left` are there; 0 when it is none. */
static size_t letter_length(const uint8_t *p, size_t left)
{
    size_t n = sequence_length(p[0]);
    if (n == 0 || n > left || (n > 1 && !second_fits(p[0], p[1]))) {
        return 0;
    }
    for (size_t i = 2; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return n;
}

bool fby_text_is_utf8(const void *data, size_t size)
{
    const uint8_t *p = data;
    size_t         n = 1;
    for (size_t at = 0; n > 0 && at < size; at += n) {
        n = letter_length(p + at, size - at);
    }
    return n > 0;
}

/* isalpha() and its kin ask the locale; these do not. */
static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_letter(char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool fby_text_is_name(const char *text)
{
    size_t n = strlen(text);
    if (n == 0 || n >= FBY_NAME_SIZE || !is_letter(text[0])) {
        return false;
    }
    for (size_t i = 1; i < n; i++) {
        if (!is_letter(text[i]) && !is_digit(text[i]) && text[i] != '-') {
            return false;
        }
    }
    return true;
}

bool fby_text_is_extension(const char *text)
{
    size_t n = strlen(text);
    if (n == 0 || n >= FBY_NAME_SIZE || text[0] == '.' || text[n - 1] == '.') {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (!is_lower(c) && !is_digit(c) && strchr("_-.", c) == NULL) {
            return false;
        }
    }
    return true;
}

struct fby_shown fby_text_show(const char *text)
{
    struct fby_shown shown = {{0}};
    size_t           n     = 0;
    for (; text[n] != '\0' && n < FBY_SHOWN_SIZE - 4; n++) {
        bool control  = (unsigned char)text[n] < 0x20 || text[n] == 0x7f;
        shown.text[n] = text[n];
        if (control) {
            shown.text[n] = '?';
        }
    }
    if (text[n] != '\0') {
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) {
            n--; /* not in the middle of a letter */
        }
        memcpy(shown.text + n, "...", 4);
    }
    return shown;
}
