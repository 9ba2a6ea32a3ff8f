/* SPDX-License-Identifier: Apache-2.0 */
/* sample_noun.h - the noun for the samples of a split, for statistics. */
#ifndef FBY_CLI_SAMPLE_NOUN_H
#define FBY_CLI_SAMPLE_NOUN_H

#include "pipeline/types.h"

/* "image" if a field is a picture, "sequence" for token files, else "sample".
 * The text is static. */
const char *fby_sample_noun(const struct fby_content *content);

#endif
