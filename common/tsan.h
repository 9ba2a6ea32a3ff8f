/* tsan.h - memory ordering that ThreadSanitizer cannot see.
 *
 * Pointers passed through ZeroMQ are ordered by lock-free queues of a library
 * that is not instrumented. The sender releases the memory before it sends the
 * pointer; the receiver acquires it before the first access. Without the
 * sanitizer both macros do nothing. */
#ifndef FBY_COMMON_TSAN_H
#define FBY_COMMON_TSAN_H

/* gcc defines the first name itself; the build defines the second for clang. */
#ifndef FBY_TSAN_BUILD
#define FBY_TSAN_BUILD 0
#endif
#if defined(__SANITIZE_THREAD__) || FBY_TSAN_BUILD
/* Functions of the sanitizer's runtime. */
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#define FBY_TSAN_ACQUIRE(addr) __tsan_acquire(addr)
#define FBY_TSAN_RELEASE(addr) __tsan_release(addr)
#else
#define FBY_TSAN_ACQUIRE(addr) ((void)(addr))
#define FBY_TSAN_RELEASE(addr) ((void)(addr))
#endif

#endif
