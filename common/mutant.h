/* SPDX-License-Identifier: Apache-2.0 */
/* mutant.h - deliberate bugs in state machines, to test tests/simulate.
 *
 * A bug is a branch: if (FBY_MUTANT(bug_name)) { ... }. A test switches on one
 * bug after the other, and the simulation must detect each. Only the libraries
 * of this test define FBY_MUTATIONS; all other builds omit the branches. */
#ifndef FBY_COMMON_MUTANT_H
#define FBY_COMMON_MUTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifdef FBY_MUTATIONS
/* The name of the bug that is switched on; NULL: none. Defined by the test. */
extern const char *fby_mutant;
#define FBY_MUTANT(name) (fby_mutant != NULL && strcmp(fby_mutant, #name) == 0)
#else
#define FBY_MUTANT(name) false
#endif

#endif
