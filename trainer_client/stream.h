/* stream.h - an open stream: the struct behind the public handle. */
#ifndef FBY_CLIENT_STREAM_H
#define FBY_CLIENT_STREAM_H

#include <sys/types.h>

#include "trainer_client/batch/batch_pool.h"
#include "trainer_client/batch/ready_queue.h"
#include "trainer_client/receive/receiver.h"
#include "trainer_client/setup/setup.h"

struct forebay {
    pid_t pid; /* of the process that opened it, the only one to use it */
    struct fby_setup        setup;
    struct fby_ready_queue *ready_queue;
    struct fby_batch_pool  *batch_pool;
    struct fby_receiver    *receiver;
};

#endif
