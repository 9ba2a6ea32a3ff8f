/* id.h - the three numbers that name parties and requests.
 *
 * One-field structs, so that one kind cannot be passed for another. 0 is no
 * id. Sessions and instances are random; requests of a session only grow. */
#ifndef FBY_COMMON_ID_H
#define FBY_COMMON_ID_H

#include <stdint.h>

struct fby_session_id { /* one open of one trainer client */
    uint64_t value;
};

struct fby_instance_id { /* one start of one worker or server */
    uint64_t value;
};

struct fby_request_id { /* one asking for one batch; never used again */
    uint64_t value;
};

#endif
