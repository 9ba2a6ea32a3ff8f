/* A token comes from a command line or a file: it is refused, or it is the
 * text of what it says. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/location.h"
#include "pipeline/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Locations come the same ways; the first names of their braces are made. */
static void try_location(const char *text)
{
    struct fby_location_parts parts;
    char                      name[FBY_PATH_SIZE];
    uint32_t                  n = 0;
    if (fby_location_split(text, FBY_SOURCE_SHARDS, &parts, NULL) == FBY_OK &&
        fby_braces_count(parts.rest, &n, NULL) == FBY_OK) {
        fby_braces_name(parts.rest, n - 1, name);
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
