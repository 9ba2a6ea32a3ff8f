/* SPDX-License-Identifier: Apache-2.0 */
/* list_begin.c - read the first rows of a list. */
#include "cli/init/list_begin.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/text.h"

enum { MAX_READ = 2 * FBY_LIST_MAX_ROW };

bool fby_list_begin_read(const struct fby_search *search, const char *path,
    struct fby_list_begin *out)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
    struct fby_object object;
    *out = (struct fby_list_begin){
        .is_json = fby_text_ends_with(path, ".jsonl"), .size = MAX_READ};
    if (fby_object_open(search->root, path, &object, NULL) != FBY_OK) {
        return false;
    }
    out->text   = fby_zalloc(MAX_READ + 1); /* a NUL follows the text */
    fby_err err = fby_object_read_some(&object, 0, out->text, &out->size, NULL);
    fby_object_close(&object);
    if (err == FBY_OK && strncmp(out->text, mark, strlen(mark)) == 0) {
        out->size -= strlen(mark);
        memmove(out->text, out->text + strlen(mark), out->size + 1);
    }
    return err == FBY_OK;
}

void fby_list_begin_fini(struct fby_list_begin *self)
{
    free(self->text);
    self->text = NULL;
}

void fby_list_begin_visit(
    const struct fby_list_begin *self, const struct fby_list_sink *sink)
{
    fby_err err = self->is_json
                      ? fby_list_json(self->text, self->size, sink, NULL)
                      : fby_list_csv(self->text, self->size, sink, NULL);
    (void)err; /* that of the sink, or what reading the whole list will say */
}
