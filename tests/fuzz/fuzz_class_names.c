/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_class_names.c - any bytes as a text of class names: refused with a
 * sentence, or names that are found again under their ids. */
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/class_names.h"
#include "tests/fuzz/demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_names(
    const struct fby_class_names *names, struct fby_name_range range)
{
    for (uint32_t i = 0; i < range.n; i++) {
        uint32_t    id   = 0;
        const char *name = fby_class_name(names, range, i);
        demand(name != NULL && name[0] != '\0');
        demand(fby_class_names_find(names, range, name, strlen(name), &id));
        demand(id == i);
    }
    demand(fby_class_name(names, range, range.n) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fby_class_names *names = fby_zalloc(sizeof(*names));
    struct fby_name_range   range = {.first = 0};
    struct fby_error_detail why   = {{0}};
    char                   *text  = fby_zalloc(size + 1);
    if (size > 0) {
        memcpy(text, data, size);
    }
    fby_err err =
        fby_class_names_parse(text, size, "names.txt", names, &range, &why);
    demand(err == FBY_OK || err == FBY_CONFIG);
    demand((err == FBY_OK) == (why.text[0] == '\0'));
    check_names(names, range);
    free(text);
    free(names);
    return 0;
}
