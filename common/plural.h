/* plural.h - "1 step", "2 steps": amounts in what people read. */
#ifndef FBY_COMMON_PLURAL_H
#define FBY_COMMON_PLURAL_H

#include <stdint.h>

struct fby_plural {
    char text[48];
};

/* `n` and the noun, in its plural unless n is 1: an s, or es after "class". */
struct fby_plural fby_plural(uint64_t n, const char *noun);

#endif
