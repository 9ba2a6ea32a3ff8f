/* SPDX-License-Identifier: Apache-2.0 */
/* shell.c - words of shell commands. */
#include "common/shell.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/utf8.h"

struct shell_text { /* the word that is being written */
    char  *out;
    size_t size;
    size_t used; /* size: it did not fit */
};

__attribute__((format(printf, 2, 3))) static void append(
    struct shell_text *self, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t left = self->size - self->used;
    int    n    = vsnprintf(self->out + self->used, left, format, args);
    self->used =
        n >= 0 && (size_t)n < left ? self->used + (size_t)n : self->size;
    va_end(args);
}

static bool has_only_plain(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=./:,@%";
    return text[strspn(text, plain)] == '\0';
}

bool fby_shell_is_plain(const char *text)
{
    return has_only_plain(text) && text[0] != '-';
}

/* Interactive shells replace '!' there. */
bool fby_shell_is_quotable(const char *text)
{
    size_t n = strlen(text);
    return fby_is_utf8(text, n) && !fby_utf8_has_hidden(text, n) &&
           strpbrk(text, "\"$`\\'!") == NULL;
}

static void append_quoted(struct shell_text *self, const char *word)
{
    append(self, "'");
    for (; *word != '\0'; word++) {
        append(self, *word == '\'' ? "'\\'%c" : "%c", *word);
    }
    append(self, "'");
}

/* Each character that is plain as it is, the bytes of others as \NNN. */
static void append_octal(struct shell_text *self, const char *word)
{
    size_t left = strlen(word);
    append(self, "$'");
    while (left > 0) {
        size_t length   = fby_utf8_length(word, left);
        bool   is_plain = length > 0 && !fby_utf8_has_hidden(word, length);
        length          = length > 0 ? length : 1;
        if (is_plain) {
            bool is_special = *word == '\'' || *word == '\\';
            append(self, "%s%.*s", is_special ? "\\" : "", (int)length, word);
        }
        for (size_t i = 0; !is_plain && i < length; i++) {
            append(self, "\\%03o", (unsigned char)word[i]);
        }
        word += length;
        left -= length;
    }
    append(self, "'");
}

bool fby_shell_quote(const char *word, char *out, size_t size)
{
    struct shell_text self = {out, size, 0};
    if (word[0] != '\0' && has_only_plain(word)) {
        append(&self, "%s", word);
    } else if (fby_is_utf8(word, strlen(word)) &&
               !fby_utf8_has_hidden(word, strlen(word))) {
        append_quoted(&self, word);
    } else {
        append_octal(&self, word);
    }
    if (self.used == size && size > 0) {
        out[0] = '\0';
    }
    return self.used < size;
}
