/* line.h - untrusted text, made safe to print on one line. */
#ifndef FBY_COMMON_LINE_H
#define FBY_COMMON_LINE_H

/* Replace every control character of `text` (a newline, an escape) by '?'. */
static inline void fby_make_one_line(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            *text = '?';
        }
    }
}

#endif
