/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.h - the sentence by which a process tells its user of a REFUSED. */
#ifndef FBY_PROTO_REFUSAL_H
#define FBY_PROTO_REFUSAL_H

#include "proto/messages.h"

enum { FBY_REFUSAL_SIZE = 256 /* bytes, with NUL */ };

/* Write the versions of the protocol that the sender and this process speak, if
 * they have none in common, else the text of the message. Returns `out`. */
const char *fby_refusal_explain(
    const struct fby_refused *refused, char out[FBY_REFUSAL_SIZE]);

#endif
