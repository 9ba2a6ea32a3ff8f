/* mutant.h - deliberate bugs in state machines, to test the simulator.
 *
 * Each bug can be switched on, and the simulator must then detect it. Only the
 * libraries built for that test define FBY_MUTATIONS; in all other builds the
 * condition is false at compile time and the branch is removed. */
#ifndef FBY_COMMON_MUTANT_H
#define FBY_COMMON_MUTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifdef FBY_MUTATIONS
/* The bug to switch on, NULL: none; defined by the test. */
extern const char *fby_mutant;
#define FBY_MUTANT(name) (fby_mutant != NULL && strcmp(fby_mutant, #name) == 0)
#else
#define FBY_MUTANT(name) false
#endif

#endif
