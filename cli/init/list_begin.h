/* SPDX-License-Identifier: Apache-2.0 */
/* list_begin.h - the first rows of a list (.csv, .jsonl), with the names of all
 * its columns. An index of the list lacks those that no field can have. */
#ifndef FBY_CLI_INIT_LIST_BEGIN_H
#define FBY_CLI_INIT_LIST_BEGIN_H

#include "cli/init/guess_search.h"
#include "worker/source/list/list.h"

struct fby_list_begin {
    char  *text; /* at least two rows, since a row has a limit; ends with NUL */
    size_t size; /* bytes of `text` */
    bool   is_json;
};

/* Read the begin of the list at `path`. Call fini also after an error.
 * Returns false if that fails: reading the whole list will say why. */
bool fby_list_begin_read(const struct fby_search *search, const char *path,
    struct fby_list_begin *out);
void fby_list_begin_fini(struct fby_list_begin *self);

/* Call the sink for each row, until it returns an error. */
void fby_list_begin_visit(
    const struct fby_list_begin *self, const struct fby_list_sink *sink);

#endif
