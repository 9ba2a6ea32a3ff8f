/* member_lengths.h - how many entries the NumPy file of each sample has along
 * its first dimension, for the manifest.
 *
 * What columns/row_lengths.h is for rows of columns: batches of samples of like length
 * are settled before a sample is read. Of each file its header is read, and
 * nothing else. */
#ifndef FBY_WORKER_SOURCE_MEMBER_LENGTHS_H
#define FBY_WORKER_SOURCE_MEMBER_LENGTHS_H

#include <stdatomic.h>

#include "worker/source/index.h"
#include "worker/source/object.h"

struct fby_members {                       /* all borrowed */
    const struct fby_field_content *field; /* that reads them */
    const struct fby_index  *index; /* each is a file of it; NULL: all lie in */
    const struct fby_object *object; /* this open one */
    const atomic_bool       *stop;
};

/* Set shard->lengths to those of the first of field->from that each sample has.
 * 0 of a sample that has none of them, and of one whose member is no whole
 * NumPy file with a first dimension: it is a bad one when it is read. A file
 * must be the one of its stamp, before and after.
 * Errors: FBY_STALE, FBY_IO; FBY_GONE stop was set
 *         of opening; `why` names the member. */
FBY_CHECKED fby_err fby_member_lengths_read(const struct fby_members *members,
    struct fby_shard *shard, struct fby_why *why);

#endif
