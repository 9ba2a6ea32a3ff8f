/* text.c - see text.h: the rules for names, and texts for messages. */
#include "pipeline/text.h"

#include <stdio.h>
#include <string.h>

#include "common/utf8.h"
#include "pipeline/types.h"

/* isalpha() and similar functions depend on the locale. */
#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

bool fby_text_is_name(const char *text)
{
    size_t n = strspn(text, LOWER UPPER DIGITS "_-");
    return n > 0 && n < FBY_NAME_SIZE && text[n] == '\0' &&
           strchr(DIGITS "-", text[0]) == NULL;
}

bool fby_text_is_extension(const char *text)
{
    size_t n = strspn(text, LOWER DIGITS "_-.");
    return n > 0 && n < FBY_NAME_SIZE && text[n] == '\0' && text[0] != '.' &&
           text[n - 1] != '.';
}

bool fby_text_ends_with(const char *text, const char *end)
{
    size_t text_length = strlen(text);
    size_t end_length  = strlen(end);
    return text_length > end_length &&
           strcmp(text + text_length - end_length, end) == 0;
}

struct fby_shown fby_text_show(const char *text)
{
    struct fby_shown shown = {{0}};
    size_t           n     = 0;
    for (; text[n] != '\0' && n < FBY_SHOWN_SIZE - sizeof("..."); n++) {
        shown.text[n] = text[n];
    }
    if (text[n] != '\0') {
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) {
            n--; /* back to the first byte: 10xxxxxx continues a character */
        }
        memcpy(shown.text + n, "...", sizeof("..."));
    }
    fby_make_one_line(shown.text);
    return shown;
}

void fby_text_append_name(char *list, size_t capacity, const char *name)
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
