/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - see text.h: the rules for names, and texts for messages. */
#include "pipeline/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/utf8.h"
#include "pipeline/types.h"

/* isalpha() and similar functions depend on the locale. */
#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

bool fby_text_is_name(const char *text)
{
    size_t length = strspn(text, LOWER UPPER DIGITS "_-");
    return length > 0 && length < FBY_NAME_SIZE && text[length] == '\0' &&
           strchr(DIGITS "-", text[0]) == NULL;
}

bool fby_text_is_extension(const char *text)
{
    size_t length = strspn(text, LOWER DIGITS "_-.");
    return length > 0 && length < FBY_NAME_SIZE && text[length] == '\0' &&
           text[0] != '.' && text[length - 1] != '.';
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
    size_t           cut   = 0;
    for (; text[cut] != '\0' && cut < FBY_SHOWN_SIZE - sizeof("..."); cut++) {
        shown.text[cut] = text[cut];
    }
    if (text[cut] != '\0') {
        while (cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80) {
            cut--; /* back to the first byte: 10xxxxxx continues a character */
        }
        memcpy(shown.text + cut, "...", sizeof("..."));
    }
    fby_make_one_line(shown.text);
    return shown;
}

struct fby_shown fby_text_show_begin(const char *text, size_t max)
{
    struct fby_shown shown = fby_text_show(text);
    size_t           left  = strlen(shown.text);
    size_t           cut   = 0;
    size_t           next  = 0; /* the end of the next character */
    while (next <= max && next <= left) {
        cut = next;
        next +=
            next < left ? fby_utf8_length(shown.text + next, left - next) : 1;
    }
    shown.text[cut] = '\0';
    return shown;
}

void fby_text_append_name(char *list, size_t capacity, const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, capacity - used, "%s%s", used > 0 ? ", " : "", name);
}

bool fby_text_is_one_of(const char *text, const char *const *list)
{
    while (list != NULL && *list != NULL && strcmp(*list, text) != 0) {
        list++;
    }
    return list != NULL && *list != NULL;
}

/* True if the `n` bytes of `part` are a word for coordinates. */
static bool is_coordinate_word(const char *part, size_t n)
{
    static const char *const words[] = {"box", "boxes", "bbox", "bboxes",
        "bndbox", "keypoint", "keypoints", "kp", "kps", "kpts", "point",
        "points", "landmark", "landmarks", "polygon", "polygons", "xmin",
        "ymin", "xmax", "ymax", "x_min", "y_min", "x_max", "y_max", "x1", "y1",
        "x2", "y2", "xtl", "ytl", "xbr", "ybr", "box2d", "bbox2d", "pts"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i]) == n && strncasecmp(words[i], part, n) == 0) {
            return true;
        }
    }
    return false;
}

/* True if the `n` bytes of `part` are such a word and a number: "point1", "pt0". */
static bool is_numbered_point(const char *part, size_t n)
{
    size_t word = n;
    while (word > 0 && isdigit((unsigned char)part[word - 1])) {
        word--;
    }
    return word > 0 && word < n &&
           (is_coordinate_word(part, word) ||
               (word == 2 && strncasecmp(part, "pt", 2) == 0));
}

bool fby_text_is_coordinates(const char *name)
{
    while (*name != '\0') {
        size_t n    = strcspn(name, ".");
        size_t last = n; /* where its last word begins */
        while (last > 0 && strchr("_-", name[last - 1]) == NULL) {
            last--;
        }
        if (is_coordinate_word(name, n) ||
            is_coordinate_word(name + last, n - last) ||
            is_numbered_point(name + last, n - last)) {
            return true;
        }
        name += n + (name[n] == '.' ? 1 : 0);
    }
    return false;
}

bool fby_text_is_evaluation_split(const char *name)
{
    static const char *const words[] = {"val", "valid", "validation", "test"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i]);
        if (strncmp(name, words[i], length) == 0 &&
            strchr("_-", name[length]) != NULL) { /* finds the NUL, too */
            return true;
        }
    }
    return false;
}
