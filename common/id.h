/* SPDX-License-Identifier: Apache-2.0 */
/* id.h - the ids of sessions, processes and requests.
 *
 * Ids are one-field structs, so that an id of one kind cannot be passed as
 * another kind. 0 is never an id. Session and instance ids are random; the
 * request ids of a session increase. */
#ifndef FBY_COMMON_ID_H
#define FBY_COMMON_ID_H

#include <stdint.h>

struct fby_session_id { /* one opened stream of one trainer client */
    uint64_t value;
};

struct fby_instance_id { /* one running worker or server process */
    uint64_t value;
};

struct fby_request_id { /* one request for one batch; never reused */
    uint64_t value;
};

#endif
