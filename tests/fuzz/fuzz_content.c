/* Canonical content comes from any client: it is refused, or it is the one
 * spelling of itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/pipeline/canon.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fby_content content;
    struct fby_why            why = {{0}};
    if (fby_content_decode(data, size, &content, &why) != FBY_OK) {
        return why.text[0] != '\0' ? 0 : (abort(), 0);
    }
    struct fby_buffer bytes = {0};
    fby_content_encode(&content, &bytes);
    if (bytes.size != size || memcmp(bytes.data, data, size) != 0) {
        abort();
    }
    fby_buffer_fini(&bytes);
    return 0;
}
