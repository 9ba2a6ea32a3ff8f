/* unwatched.c - for builds with ThreadSanitizer: the checks that a program makes
 * of itself as it starts run without the sanitizer's eyes.
 *
 * Watched, these checks take nine tenths of the time of the tests of processes.
 * The linker puts the functions here before the real ones (--wrap, see
 * fby_unwatched in cmake/forebay.cmake). Unit tests are linked without them:
 * test_fingerprint.c has several threads check at once, and is watched. */
#include "codec/codec.h"
#include "worker/transform/self_check/decoder_hash.h"
#include "worker/transform/self_check/jpeg_parts.h"

/* NOLINTBEGIN(readability-identifier-naming): what others call them */
fby_err __real_fby_codec_self_test(struct fby_why *why);
fby_err __wrap_fby_codec_self_test(struct fby_why *why);
fby_err __real_fby_jpeg_parts_check(struct fby_why *why);
fby_err __wrap_fby_jpeg_parts_check(struct fby_why *why);
fby_err __real_fby_decoder_hashes_compute(void);
fby_err __wrap_fby_decoder_hashes_compute(void);

/* From the sanitizer's runtime: accesses of the calling thread are ignored, but
 * its locks still do. */
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);

static void look_away(void)
{
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

static void look_again(void)
{
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

fby_err __wrap_fby_codec_self_test(struct fby_why *why)
{
    look_away();
    fby_err err = __real_fby_codec_self_test(why);
    look_again();
    return err;
}

fby_err __wrap_fby_jpeg_parts_check(struct fby_why *why)
{
    look_away();
    fby_err err = __real_fby_jpeg_parts_check(why);
    look_again();
    return err;
}

fby_err __wrap_fby_decoder_hashes_compute(void)
{
    look_away();
    fby_err err = __real_fby_decoder_hashes_compute();
    look_again();
    return err;
}
/* NOLINTEND(readability-identifier-naming) */
