/* fields.h - are there columns for all fields of a list? */
#ifndef FBY_WORKER_SOURCE_LIST_FIELDS_H
#define FBY_WORKER_SOURCE_LIST_FIELDS_H

#include "worker/source/dataset.h"

/* Refuse fields that take a column in which no row has anything: it is
 * misspelt. Rows that alone lack a column are found as they are read.
 * Errors: FBY_CONFIG, `why` has the columns there are, and a near one. */
FBY_CHECKED fby_err fby_list_check_fields(const struct fby_dataset *dataset,
    const struct fby_content *content, struct fby_why *why);

#endif
