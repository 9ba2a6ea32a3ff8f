/* SPDX-License-Identifier: Apache-2.0 */
/* self_check.h - the self checks: each runs a decoder or an op on fixed input
 * and hashes the results (decoder_hash.c). Internal to worker/transform.
 *
 * Picture decoders get built-in files. Ops get the pictures of these files,
 * with fixed parameters and random draws. Other decoders get fixed texts and
 * numbers. proto/PROTOCOL.md, "Fingerprint", lists all input. An outcome is a
 * result, or the fact that the input was refused. */
#ifndef FBY_WORKER_TRANSFORM_SELF_CHECK_H
#define FBY_WORKER_TRANSFORM_SELF_CHECK_H

#include "common/hash.h"
#include "worker/transform/field.h"
#include "worker/transform/picture.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The state of a self check. */
struct fby_self_check {
    struct fby_transform         *transform; /* borrowed */
    struct fby_digest_state       hash;      /* of all outcomes so far */
    struct fby_field_content      field; /* the field that is decoded; set by
                                           each check */
    const struct fby_class_names *class_names; /* of a label with names; else
                                                  NULL */
    fby_err err; /* the first error other than FBY_BAD_SAMPLE, such as short
                    memory; the hash is then useless. Else FBY_OK */
};

/* Add one byte to the hash: 0 if `err` is FBY_OK, else 1. An error other than
 * FBY_BAD_SAMPLE is stored in check->err. Returns true if `err` and check->err
 * are both FBY_OK. */
bool fby_self_check_add_outcome(struct fby_self_check *check, fby_err err);

/* Decode the input of `job` (fby_field_write), and add the outcome. After
 * success add the width and height of a picture, or the number of entries if
 * job->length is not NULL. Then add the values. */
void fby_self_check_decode(
    struct fby_self_check *check, const struct fby_field_job *job);

/* Add the width, height and pixels (of `channels` bytes) of a picture. */
void fby_self_check_add_picture(struct fby_self_check *check,
    const struct fby_image *image, uint32_t channels);

/* A self check: add its outcomes to the hash. */
typedef void fby_self_check_fn(struct fby_self_check *check);

/* Decode each built-in JPEG whole, then its first half. */
fby_self_check_fn fby_self_check_jpegs;

/* Decode parts of the built-in JPEGs, with dct_scale faithful or fast. */
fby_self_check_fn fby_self_check_dct_faithful, fby_self_check_dct_fast;

/* Decode each built-in PNG as a picture, or as a mask: whole, then its first
 * half. */
fby_self_check_fn fby_self_check_pngs, fby_self_check_masks;

/* Decode each built-in WebP whole, then its first half. */
fby_self_check_fn fby_self_check_webps;

/* Decode each built-in JPEG and PNG to yuv420: whole, its first half, and with
 * ops that paint, for two samples. */
fby_self_check_fn fby_self_check_yuv;

/* Decode texts as a label, and numbers of JSON, in each wire type. */
fby_self_check_fn fby_self_check_labels, fby_self_check_numbers;

/* Decode names of classes: texts, and texts of JSON. */
fby_self_check_fn fby_self_check_label_names;

/* Decode numbers of JSON at keys that are paths, and picks from a list. */
fby_self_check_fn fby_self_check_paths;

/* Decode ragged rows, some of them too long. */
fby_self_check_fn fby_self_check_ragged;

/* Decode texts of JSON and picks from a list, some of them too long. */
fby_self_check_fn fby_self_check_json_texts;

/* Convert NumPy files of one value: each NumPy type to each wire type. */
fby_self_check_fn fby_self_check_arrays;

/* Pack NumPy files of zeros and ones to bits; stack the built-in PNGs. */
fby_self_check_fn fby_self_check_bits;

/* Convert sequences of one token: each width to each wire type. */
fby_self_check_fn fby_self_check_tokens;

/* Decode packed documents: inputs, targets and lengths. */
fby_self_check_fn fby_self_check_packed;

/* Write sparse rows of a few values, some unordered or with duplicates. */
fby_self_check_fn fby_self_check_sparse;

/* Run an op on the built-in JPEGs, with each of its sets of parameters. */
void fby_self_check_op(struct fby_self_check *check, const struct fby_op *op);

/* True if this worker has the op, and parameters to check it with. */
bool fby_self_check_has_op(uint32_t op_id);

#endif
