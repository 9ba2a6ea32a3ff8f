/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_token.c - any bytes as a token: refused, or equal to the text that its
 * decoded values encode to. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/location.h"
#include "pipeline/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Locations come from the same places; expands a name of their braces. */
static void try_location(const char *text)
{
    struct fby_location_parts parts;
    char                      name[FBY_PATH_SIZE];
    uint32_t                  n = 0;
    if (fby_location_split(text, FBY_SOURCE_SHARDS, &parts, NULL) == FBY_OK &&
        fby_braces_count(parts.rest, &n, NULL) == FBY_OK) {
        fby_braces_write_name(parts.rest, n - 1, name);
        if (strlen(name) > strlen(parts.rest)) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fby_token token;
    char             again[FBY_TOKEN_TEXT_SIZE];
    char            *text = calloc(1, size + 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, size);
    if (fby_token_decode(text, &token, NULL) == FBY_OK &&
        strstr(text, fby_token_encode(&token, again)) == NULL) {
        abort();
    }
    try_location(text);
    free(text);
    return 0;
}
