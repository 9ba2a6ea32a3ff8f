/* tsan.h - what ThreadSanitizer cannot see by itself.
 *
 * Memory that travels through ZeroMQ is ordered by lock-free queues in a
 * library that is not instrumented. The sender releases it before it is given
 * away, the receiver acquires it before it looks; without the sanitizer both
 * are nothing. */
#ifndef FBY_COMMON_TSAN_H
#define FBY_COMMON_TSAN_H

/* gcc defines the first name itself; the build defines the second for clang. */
#ifndef FBY_TSAN_BUILD
#define FBY_TSAN_BUILD 0
#endif
#if defined(__SANITIZE_THREAD__) || FBY_TSAN_BUILD
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#define FBY_TSAN_ACQUIRE(addr) __tsan_acquire(addr)
#define FBY_TSAN_RELEASE(addr) __tsan_release(addr)
#else
#define FBY_TSAN_ACQUIRE(addr) ((void)(addr))
#define FBY_TSAN_RELEASE(addr) ((void)(addr))
#endif

#endif
