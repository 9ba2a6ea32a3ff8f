/* SPDX-License-Identifier: Apache-2.0 */
/* says.h - asserts that an error text contains certain words. */
#ifndef FBY_TESTS_SAYS_H
#define FBY_TESTS_SAYS_H

#include "tests/test.h"

#include <string.h>

static inline void assert_text_says(const char *text, const char *words)
{
    if (strstr(text, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", text, words);
    }
}

static inline void assert_says(
    const struct fby_error_detail *why, const char *words)
{
    assert_text_says(why->text, words);
}

#endif
