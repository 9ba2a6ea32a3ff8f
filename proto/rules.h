/* rules.h - what a message must fulfil beyond its single members.
 *
 * Each takes the struct of its message or record (see wire.h), whose members
 * have been checked, and answers FBY_PROTO with the reason. Pure.
 * Internal to proto/. */
#ifndef FBY_PROTO_RULES_H
#define FBY_PROTO_RULES_H

#include "common/err.h"

FBY_CHECKED fby_err rule_hello(const void *record, struct fby_why *why);
FBY_CHECKED fby_err rule_refused(const void *record, struct fby_why *why);
FBY_CHECKED fby_err rule_scanning(const void *record, struct fby_why *why);
FBY_CHECKED fby_err rule_opened(const void *record, struct fby_why *why);
FBY_CHECKED fby_err rule_request(const void *record, struct fby_why *why);
FBY_CHECKED fby_err rule_header_field(const void *record, struct fby_why *why);
FBY_CHECKED fby_err rule_header(const void *record, struct fby_why *why);
FBY_CHECKED fby_err rule_end(const void *record, struct fby_why *why);
FBY_CHECKED fby_err rule_join(const void *record, struct fby_why *why);

#endif
