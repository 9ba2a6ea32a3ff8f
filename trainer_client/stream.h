/* stream.h - what the handle of the public header stands for. */
#ifndef FBY_CLIENT_STREAM_H
#define FBY_CLIENT_STREAM_H

#include <sys/types.h>

#include "trainer_client/desk.h"
#include "trainer_client/receiver.h"
#include "trainer_client/setup.h"
#include "trainer_client/shelf.h"

struct forebay {
    pid_t                pid; /* that opened it; others must not touch it */
    struct fby_setup     setup;
    struct fby_desk     *desk;
    struct fby_shelf    *shelf;
    struct fby_receiver *receiver;
};

#endif
