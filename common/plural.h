/* plural.h - amounts with their noun, for messages: "1 step", "2 steps". */
#ifndef FBY_COMMON_PLURAL_H
#define FBY_COMMON_PLURAL_H

#include <stdint.h>

struct fby_plural {
    char text[48];
};

/* `n` and the noun; its plural, unless n is 1, adds "s", after an s "es". */
struct fby_plural fby_plural(uint64_t n, const char *noun);

#endif
