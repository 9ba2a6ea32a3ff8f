/* SPDX-License-Identifier: Apache-2.0 */
/* unwatched.c - for builds with ThreadSanitizer: turns the sanitizer off during
 * the self checks of a program at its start.
 *
 * With the sanitizer, these checks take nine tenths of the time of the tests of
 * processes. The linker puts the functions here before the real functions
 * (--wrap, see fby_unwatched in cmake/forebay.cmake). Unit tests are linked
 * without them, so that test_fingerprint.c runs the checks with the
 * sanitizer. */
#include "codec/codec.h"
#include "worker/transform/self_check/decoder_hash.h"
#include "worker/transform/self_check/jpeg_parts.h"

/* NOLINTBEGIN(readability-identifier-naming): what others call them */
fby_err __real_fby_codec_self_test(struct fby_error_detail *why);
fby_err __wrap_fby_codec_self_test(struct fby_error_detail *why);
fby_err __real_fby_jpeg_parts_check(struct fby_error_detail *why);
fby_err __wrap_fby_jpeg_parts_check(struct fby_error_detail *why);
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

fby_err __wrap_fby_codec_self_test(struct fby_error_detail *why)
{
    look_away();
    fby_err err = __real_fby_codec_self_test(why);
    look_again();
    return err;
}

fby_err __wrap_fby_jpeg_parts_check(struct fby_error_detail *why)
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
