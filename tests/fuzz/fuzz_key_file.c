/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_key_file.c - any bytes as a key file and as a list of admitted keys:
 * refused, or equal after they are written and read again. */
#include <string.h>

#include "secure/allowed.h"
#include "tests/fuzz/demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_key_file(const char *text, size_t size)
{
    struct fby_key_file file, again;
    struct fby_buffer   written = {0};
    if (fby_key_file_parse(text, size, &file, NULL) != FBY_OK) {
        return;
    }
    fby_key_file_format(&file, &written);
    demand(fby_key_file_parse((const char *)written.data, written.size, &again,
               NULL) == FBY_OK);
    demand(again.role == file.role && strcmp(again.name, file.name) == 0 &&
           memcmp(&again.secret_key, &file.secret_key, FBY_KEY_BYTES) == 0);
    fby_buffer_fini(&written);
}

static void try_list(const char *text, size_t size)
{
    struct fby_allowed list = {0};
    if (fby_allowed_parse(text, size, &list, NULL) != FBY_OK) {
        return;
    }
    for (size_t i = 0; i < list.n; i++) {
        const struct fby_allowed_key *key = &list.keys[i];
        demand(fby_allowed_find(&list, &key->public_key) == key);
        demand(fby_key_name_is_valid(key->name));
        (void)fby_allowed_permits_job(key, "job");
    }
    fby_allowed_fini(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_key_file((const char *)data, size);
    try_list((const char *)data, size);
    return 0;
}
