/* SPDX-License-Identifier: Apache-2.0 */
/* open.h - open and close a stream without the GIL. */
#ifndef FBY_PYTHON_OPEN_H
#define FBY_PYTHON_OPEN_H

#include "trainer_client/python/_forebay/module.h"

/* Returns NULL with an exception. */
struct forebay *fby_py_open(
    struct fby_py_state *state, struct fby_py_options *arguments);
/* Keeps an exception that is set. *stream_p may be NULL. */
void fby_py_close(struct forebay **stream_p);

#endif
