#include "pipeline/text.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/types.h"

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

bool fby_text_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text);
    size_t m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
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

void fby_text_list(char *list, size_t capacity, const char *name)
{
    size_t n = strlen(list);
    snprintf(list + n, capacity - n, "%s%s", n > 0 ? ", " : "", name);
}

bool fby_text_is_one_of(const char *text, const char *const *list)
{
    while (list != NULL && *list != NULL && strcmp(*list, text) != 0) {
        list++;
    }
    return list != NULL && *list != NULL;
}
