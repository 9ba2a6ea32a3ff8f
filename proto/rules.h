/* rules.h - conditions that involve several members of a message.
 *
 * Internal to proto/. */
#ifndef FBY_PROTO_RULES_H
#define FBY_PROTO_RULES_H

#include "common/err.h"

/* Check a record: the struct of the message or list entry of that name in
 * wire.h, each of whose members was checked before. Pure.
 * Errors: FBY_PROTO  `why` has the reason. */
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
