/* SPDX-License-Identifier: Apache-2.0 */
/* member.h - the members (files or values) of samples, as a guess finds them. */
#ifndef FBY_CLI_INIT_MEMBER_H
#define FBY_CLI_INIT_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/plan/geometry.h"
#include "pipeline/types.h"

/* The kind of a value in a list (.csv, .jsonl), or of all values of a column.
 * A column of kind NUMBER may contain DIGITS, too, and a column of kind TEXT
 * may contain both. */
enum fby_init_value {
    FBY_INIT_NO_VALUE     = 0, /* members are files */
    FBY_INIT_DIGITS       = 1, /* 1 to 9 digits, such as class ids */
    FBY_INIT_NUMBER       = 2, /* other JSON numbers */
    FBY_INIT_TEXT         = 3, /* other values, also true, false and null */
    FBY_INIT_NUMBER_LISTS = 4, /* JSON lists of numbers, or empty ones */
    FBY_INIT_TEXT_LISTS   = 5, /* JSON lists of texts, none empty */
    FBY_INIT_OTHER_LISTS  = 6, /* other JSON lists */
    FBY_INIT_OBJECT       = 7, /* JSON objects */
    FBY_INIT_MIXED = 8, /* column: values of kinds that no field can combine */
    FBY_INIT_BOOLEANS = 9, /* key: true and false of JSON */
    FBY_INIT_NULLS    = 10 /* key: no value but null was read */
};

/* The most fields of values: half of those of a pipeline, the others are left for
 * pictures. */
enum { FBY_INIT_MAX_VALUES = FBY_MAX_FIELDS / 2 };

enum { FBY_INIT_SIZES = 8 }; /* samples whose pictures are measured */

#define FBY_INIT_ROOT_KEY "." /* of JSON that is no object */

enum { FBY_INIT_REASON = 448 }; /* bytes of why a file is invalid, with NUL */

/* The advice to a user who adds a field for an array beside pictures. */
#define FBY_KEEP_PIXELS                                                      \
    "if an array has the height and width of the picture, replace the crop " \
    "and flip of that by resize: {size: 224}, because no op moves both"

struct fby_init_array {         /* the .npy files of a member that were read */
    enum fby_type    wire;      /* of all their values; 0: none was read */
    struct fby_shape shape;     /* of the first file */
    uint32_t         longest;   /* the largest first dimension */
    bool             is_ragged; /* the first dimensions differ */
};

/* The members (files or values of samples) with one extension. For lists and
 * parallel folders, the extension begins with the name of the column or
 * folder. */
struct fby_init_member {
    char     extension[FBY_NAME_SIZE]; /* lower case */
    uint64_t count;                    /* number of these members */
    bool     always;                   /* each sample that was read has one */
    char lacking[80];   /* folder: a sample without it: "cat/7"; "": unknown */
    bool header_read;   /* the PNG header of the first such file was read */
    bool is_png;        /* by this header */
    bool may_be_ids;    /* by this header: pixels are grey or of a palette */
    bool is_grey16;     /* by this header: pixels are grey, of 16 bits */
    bool has_grey16;    /* folder: so are those of a file that was read */
    char no_ids[128];   /* "FILE has colours", of a later file; "": none */
    bool has_255;       /* in the pixels of the first masks */
    bool has_other_ids; /* than 0 and 255, likewise */
    /* The sizes of the pictures of the first samples; {0, 0}: unknown. */
    struct fby_size sizes[FBY_INIT_SIZES];
    uint32_t
         orientations[FBY_INIT_SIZES]; /* of these, as EXIF has them; 0 or 1:
                                              as stored */
    bool has_words; /* cls: some of those that were read are no id */
    /* The different values, if they can be names of classes; NULL: they cannot,
     * or none were read. Owned by the guess. */
    struct fby_init_words *words;
    bool no_classes;                 /* the values cannot be names of classes */
    bool too_many_classes;           /* because there are too many of them */
    bool some_words_unread;          /* not all values were read */
    char other_words[FBY_NAME_SIZE]; /* the split that has other values; "" */
    char unknown_class[160]; /* "split val has 'a'", which is no class; "" */
    char key[FBY_NAME_SIZE]; /* a value in these JSON files; "": a file */
    uint32_t values_read;    /* cls, JSON: files that were read */
    char     invalid_reason
        [FBY_INIT_REASON];        /* of the first invalid file, as text; "" */
    bool                has_null; /* key: null in a file, which is no value */
    bool                has_dots; /* key: in a name, so no `key:` can name it */
    bool                has_more_keys; /* JSON: than there are members */
    enum fby_init_value value;         /* kind of the values */
    bool                has_real;      /* a number has a fraction */
    bool                has_wide;      /* f32 cannot hold a whole number */
    bool                has_whole;     /* a number has no fraction */
    bool                has_long;      /* 32 bits cannot hold a whole number */
    double   rounded; /* a real number that f32 rounds by a half or more, and
                       that a double holds exactly; 0: none was read */
    uint32_t longest; /* bytes of the longest value, or file of text */
    /* list: the values that were read, in the order of the rows. */
    uint64_t n_values;
    uint64_t
        n_numbers; /* of them; also 1,200.50, 3% and nan, which are texts */
    /* Texts of numbers with a comma before a fraction, or before thousands, or with a
     * point alone, and those without a value, as nan. */
    bool     has_decimal_comma, has_thousands, has_point, has_nan, only_nan;
    bool     has_huge;   /* texts of whole numbers that 64 bits cannot hold */
    char     padded[12]; /* the first in digits with zeros before, as 007; "" */
    uint64_t n_texts;    /* of them that are no numbers */
    uint64_t text_row;   /* the first of these, from 1 */
    char     text_value[24]; /* its begin */
    uint64_t gap_row;        /* the first row without a value; 0: none before
                               the last value */
    struct fby_init_array array; /* npy */
    /* Entries of the longest list; TEXT_LISTS: bytes of the longest text. */
    uint32_t max_length;
    bool     has_inner_lists; /* lists: an entry is a list */
    /* OBJECT, and lists of objects: the keys: "KEY, KEY.KEY, KEY". */
    char keys[128];
    /* OBJECT: kind of the value of its first key: NUMBER, TEXT, else MIXED. */
    enum fby_init_value first_key_kind;
};

#endif
