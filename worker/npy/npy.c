/* SPDX-License-Identifier: Apache-2.0 */
/* npy.c - read the header of a NumPy file. The header text is a Python dict of
 * three known keys. It is parsed in one pass, which ends at the first error. */
#include "worker/npy/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/bytes.h"

/* ---- types ---- */

struct npy_type {
    const char *name;  /* as in the file, after the character for byte order */
    const char *dtype; /* name for messages */
    size_t      bytes; /* of one value */
};

static const struct npy_type types[FBY_NPY_TYPES] = {
    [FBY_NPY_B1] = {"b1", "bool", 1},
    [FBY_NPY_I1] = {"i1", "int8", 1},
    [FBY_NPY_U1] = {"u1", "uint8", 1},
    [FBY_NPY_I2] = {"i2", "int16", 2},
    [FBY_NPY_U2] = {"u2", "uint16", 2},
    [FBY_NPY_I4] = {"i4", "int32", 4},
    [FBY_NPY_U4] = {"u4", "uint32", 4},
    [FBY_NPY_I8] = {"i8", "int64", 8},
    [FBY_NPY_U8] = {"u8", "uint64", 8},
    [FBY_NPY_F2] = {"f2", "float16", 2},
    [FBY_NPY_F4] = {"f4", "float32", 4},
    [FBY_NPY_F8] = {"f8", "float64", 8},
};

const char *fby_npy_type_name(enum fby_npy_type type)
{
    return types[type].name;
}

const char *fby_npy_dtype_name(enum fby_npy_type type)
{
    return types[type].dtype;
}

size_t fby_npy_type_bytes(enum fby_npy_type type)
{
    return types[type].bytes;
}

/* ---- the text ---- */

enum { KEY_DESCR = 1, KEY_FORTRAN = 2, KEY_SHAPE = 4, ALL_KEYS = 7 };

struct letter_type { /* a dtype of text */
    uint64_t n;      /* number of letters in a value */
    size_t   bytes;  /* of one letter: 1, or 4 for Unicode */
};

struct npy_parser {                   /* the state of parsing a header text */
    const char              *next;    /* first character not yet parsed */
    const char              *end;     /* of the header text */
    struct fby_npy          *out;     /* result */
    struct letter_type      *letters; /* result for a file of text; NULL: the
                                         file must hold numbers */
    struct fby_error_detail *why;
    unsigned                 seen; /* KEY_ bits of the keys parsed so far */
};

struct quoted { /* the text between two quotes; no NUL follows */
    const char *text;
    size_t      length; /* bytes */
};

static bool quoted_is(const struct quoted *word, const char *text)
{
    return word->length == strlen(text) &&
           memcmp(word->text, text, word->length) == 0;
}

static fby_err refuse(const struct npy_parser *p, const char *text)
{
    return fby_error_set(p->why, FBY_BAD_SAMPLE, "npy header: %s", text);
}

static void skip_blanks(struct npy_parser *p)
{
    while (p->next < p->end && (*p->next == ' ' || *p->next == '\n' ||
                                   *p->next == '\t' || *p->next == '\r')) {
        p->next++;
    }
}

/* skip_character(), skip_name(), parse_quoted() and parse_number() first skip
 * blanks. They return false if something else follows. */
static bool skip_character(struct npy_parser *p, char c)
{
    skip_blanks(p);
    bool found = p->next < p->end && *p->next == c;
    p->next += found ? 1 : 0;
    return found;
}

static bool skip_name(struct npy_parser *p, const char *name)
{
    skip_blanks(p);
    size_t n = strlen(name);
    bool   found =
        (size_t)(p->end - p->next) >= n && memcmp(p->next, name, n) == 0;
    p->next += found ? n : 0;
    return found;
}

static bool parse_quoted(struct npy_parser *p, struct quoted *out)
{
    int quote = skip_character(p, '\'') ? '\'' : '"';
    if (quote == '"' && !skip_character(p, '"')) {
        return false;
    }
    const char *end = memchr(p->next, quote, (size_t)(p->end - p->next));
    if (end == NULL) {
        return false;
    }
    *out    = (struct quoted){p->next, (size_t)(end - p->next)};
    p->next = end + 1;
    return true;
}

/* Parse a decimal number below 2^64, without a leading zero, as in Python. */
static bool parse_number(struct npy_parser *p, uint64_t *out)
{
    skip_blanks(p);
    const char *digits = p->next;
    uint64_t    value  = 0;
    for (; p->next < p->end && *p->next >= '0' && *p->next <= '9'; p->next++) {
        unsigned digit = (unsigned)(*p->next - '0');
        if (value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out               = value;
    ptrdiff_t n_digits = p->next - digits;
    return n_digits == 1 || (n_digits > 1 && digits[0] != '0');
}

/* ---- values of the dict ---- */

/* How to save an array again so that it can be read. `kind` is NumPy's letter for
 * the type of its values: U for texts. */
static const char *advice_on(char kind)
{
    switch (kind) {
    case 'O':
        return "; save rows of one shape with numpy.stack, rows of several "
               "lengths as NAME.values.npy and NAME.offsets.npy";
    case 'U':
    case 'S':
        return "; save texts as numbers: numpy.unique(x, return_inverse=True) "
               "gives the texts and the number of each";
    case 'M':
    case 'm':
        return "; save times as numbers: x.astype('i8')";
    default:
        return "";
    }
}

static fby_err refuse_type(
    const struct npy_parser *p, const struct quoted *word)
{
    char   shown[25]; /* a prefix, with ? for unprintable characters */
    size_t n = word->length < sizeof(shown) ? word->length : sizeof(shown) - 1;
    for (size_t i = 0; i < n; i++) {
        char c   = word->text[i];
        shown[i] = (char)(c >= 0x20 && c < 0x7f ? c : '?');
    }
    shown[n] = '\0';
    return fby_error_set(p->why, FBY_BAD_SAMPLE,
        "its dtype is '%s'; bool, integers of 8 to 64 bits and floats of 16 to "
        "64 bits are read%s",
        shown, shown[0] == '\0' ? "" : advice_on(shown[1]));
}

static bool find_type(const struct quoted *word, enum fby_npy_type *out)
{
    /* The first character is the byte order. */
    const struct quoted name = {word->text + 1, word->length - 1};
    for (int i = 0; i < FBY_NPY_TYPES; i++) {
        if (quoted_is(&name, types[i].name)) {
            *out = (enum fby_npy_type)i;
            return true;
        }
    }
    return false;
}

/* Parse "|S3", three letters of 1 byte, or "<U3", three letters of 4 bytes. */
static fby_err parse_letters(struct npy_parser *p, const struct quoted *word)
{
    bool has_number   = word->length > 2;
    bool is_ascii     = has_number && memcmp(word->text, "|S", 2) == 0;
    bool is_unicode   = has_number && memcmp(word->text, "<U", 2) == 0;
    bool is_valid     = is_ascii || is_unicode;
    p->letters->bytes = is_ascii ? 1 : 4;
    if (is_valid) {
        struct npy_parser number = {
            .next = word->text + 2, .end = word->text + word->length};
        is_valid =
            parse_number(&number, &p->letters->n) && number.next == number.end;
    }
    return is_valid ? FBY_OK : refuse(p, "its dtype is not a text, such as S3");
}

/* Parse "<f4": the byte order ('|' for one-byte types) and the type. */
static fby_err parse_descr(struct npy_parser *p)
{
    struct quoted word;
    if (!parse_quoted(p, &word)) {
        return refuse(p, "descr is not a plain dtype (structured dtypes are "
                         "not read)");
    }
    if (p->letters != NULL) {
        return parse_letters(p, &word);
    }
    if (word.length != 3 || !find_type(&word, &p->out->type)) {
        return refuse_type(p, &word);
    }
    bool is_one_byte   = types[p->out->type].bytes == 1;
    char order         = word.text[0];
    p->out->big_endian = order == '>' && !is_one_byte;
    return order == '<' || order == '>' || (order == '|' && is_one_byte)
               ? FBY_OK
               : refuse_type(p, &word);
}

static fby_err parse_order(struct npy_parser *p)
{
    if (skip_name(p, "True")) {
        p->out->fortran = true;
        return FBY_OK;
    }
    return skip_name(p, "False")
               ? FBY_OK
               : refuse(p, "fortran_order is not True or False");
}

/* Parse a tuple: "()", "(3,)" or "(3, 4)"; "(3)" is not a tuple. */
static fby_err parse_shape(struct npy_parser *p)
{
    struct fby_npy *out         = p->out;
    bool            after_comma = false; /* a comma precedes p->next */
    if (!skip_character(p, '(')) {
        return refuse(p, "shape is not a tuple");
    }
    while (!skip_character(p, ')')) {
        if (out->n_dims == FBY_NPY_MAX_DIMS) {
            return refuse(p, "shape has more than 32 dimensions");
        }
        if ((out->n_dims > 0 && !after_comma) ||
            !parse_number(p, &out->dims[out->n_dims])) {
            return refuse(p, "shape is not a tuple of numbers");
        }
        out->n_dims++;
        after_comma = skip_character(p, ',');
    }
    return out->n_dims == 1 && !after_comma ? refuse(p, "shape is not a tuple")
                                            : FBY_OK;
}

static fby_err parse_value(struct npy_parser *p, const struct quoted *key)
{
    unsigned bit = quoted_is(key, "descr")           ? KEY_DESCR
                   : quoted_is(key, "fortran_order") ? KEY_FORTRAN
                   : quoted_is(key, "shape")         ? KEY_SHAPE
                                                     : 0;
    if (bit == 0 || (p->seen & bit) != 0) {
        return refuse(p, bit == 0 ? "the dict has an unknown key"
                                  : "the dict has a key twice");
    }
    p->seen |= bit;
    if (bit == KEY_DESCR) {
        return parse_descr(p);
    }
    return bit == KEY_FORTRAN ? parse_order(p) : parse_shape(p);
}

static fby_err parse_entries(struct npy_parser *p)
{
    bool    after_separator = true; /* after a comma or the opening brace */
    fby_err err             = FBY_OK;
    while (err == FBY_OK && !skip_character(p, '}')) {
        struct quoted key;
        if (!after_separator || !parse_quoted(p, &key) ||
            !skip_character(p, ':')) {
            return refuse(p, "not a dict of descr, fortran_order and shape");
        }
        err             = parse_value(p, &key);
        after_separator = skip_character(p, ',');
    }
    return err;
}

static fby_err parse_text(struct npy_parser *p)
{
    if (!skip_character(p, '{')) {
        return refuse(p, "not a dict");
    }
    FBY_TRY(parse_entries(p));
    if (p->seen != ALL_KEYS) {
        return refuse(p, "descr, fortran_order or shape is missing");
    }
    skip_blanks(p);
    return p->next == p->end ? FBY_OK : refuse(p, "something follows the dict");
}

/* ---- the file ---- */

/* Set npy->n_values. Returns false if the values cannot fit in memory. */
static bool count_values(struct fby_npy *npy)
{
    enum { MAX_TYPE_BYTES = 8 };
    uint64_t n    = 1;
    bool is_empty = false; /* a dimension is 0; then the others are ignored */
    for (uint32_t i = 0; i < npy->n_dims; i++) {
        is_empty = is_empty || npy->dims[i] == 0;
    }
    for (uint32_t i = 0; i < npy->n_dims && !is_empty; i++) {
        if (n > SIZE_MAX / MAX_TYPE_BYTES / npy->dims[i]) {
            return false;
        }
        n *= npy->dims[i];
    }
    npy->n_values = is_empty ? 0 : n;
    return true;
}

/* Find the header text. It follows the magic string, the version, and its own
 * length: two bytes in version 1.0, four later. */
static fby_err find_text(struct fby_reader *in, struct npy_parser *p)
{
    struct fby_error_detail *why   = p->why;
    const uint8_t           *magic = fby_read_bytes(in, 6);
    if (magic == NULL || memcmp(magic, "\x93NUMPY", 6) != 0) {
        return fby_error_set(
            why, FBY_BAD_SAMPLE, "the file does not begin as a NumPy file");
    }
    unsigned major = fby_read_u8(in);
    unsigned minor = fby_read_u8(in);
    if (in->bad || major < 1 || major > 3 || minor != 0) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "NumPy file of version %u.%u; 1.0 to 3.0 are read", major, minor);
    }
    size_t      n = major == 1 ? fby_read_u16(in) : fby_read_u32(in);
    const char *text =
        n <= FBY_NPY_MAX_HEADER ? (const char *)fby_read_bytes(in, n) : NULL;
    if (text == NULL) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            n > FBY_NPY_MAX_HEADER ? "npy header: more than 65535 bytes"
                                   : "npy header: the file ends within it");
    }
    p->next = text;
    p->end  = text + n;
    return FBY_OK;
}

/* Read the header. Afterwards `in` is at the values. `letters` is NULL if the
 * file must hold numbers. */
static fby_err read_header(struct fby_reader *in, struct letter_type *letters,
    struct fby_npy *out, struct fby_error_detail *why)
{
    char              shape[FBY_NPY_SHAPE_TEXT];
    struct npy_parser p = {.out = out, .letters = letters, .why = why};
    *out                = (struct fby_npy){0};
    fby_err err         = find_text(in, &p);
    if (err == FBY_OK) {
        err = parse_text(&p);
    }
    if (err == FBY_OK && !count_values(out)) {
        err = fby_error_set(why, FBY_BAD_SAMPLE, "its shape %s is too large",
            fby_npy_shape_text(out->dims, out->n_dims, shape));
    }
    return err;
}

fby_err fby_npy_read(const uint8_t *bytes, size_t size, struct fby_npy *out,
    struct fby_error_detail *why)
{
    char              shape[FBY_NPY_SHAPE_TEXT];
    struct fby_reader in      = fby_reader(bytes, size);
    fby_err           err     = read_header(&in, NULL, out, why);
    uint64_t          n_bytes = out->n_values * types[out->type].bytes;
    if (err == FBY_OK && n_bytes != in.left) {
        err = fby_error_set(why, FBY_BAD_SAMPLE,
            "%zu bytes follow the header; %s of %s are %" PRIu64, in.left,
            fby_npy_shape_text(out->dims, out->n_dims, shape),
            types[out->type].dtype, n_bytes);
    }
    if (err == FBY_OK) {
        out->data = in.at;
    }
    return err;
}

fby_err fby_npy_read_head(const uint8_t *bytes, size_t size,
    struct fby_npy *out, size_t *head_size, struct fby_error_detail *why)
{
    struct fby_reader in  = fby_reader(bytes, size);
    fby_err           err = read_header(&in, NULL, out, why);
    *head_size            = size - in.left;
    return err;
}

/* Copy the letters of a word, with a NUL. The first byte of a letter has its
 * lowest bits. Returns false if a letter is not printable ASCII, or a blank:
 * then its first byte is out of range, or another byte is not 0. */
static bool copy_letters(
    const uint8_t *from, const struct letter_type *letters, char *out)
{
    bool is_ascii = true;
    for (uint64_t i = 0; i < letters->n * letters->bytes; i++) {
        bool is_lowest = i % letters->bytes == 0;
        is_ascii = is_ascii && (is_lowest ? from[i] > 0x20 && from[i] < 0x7f
                                          : from[i] == 0);
        if (is_lowest) {
            out[i / letters->bytes] = (char)from[i];
        }
    }
    out[letters->n] = '\0';
    return is_ascii;
}

fby_err fby_npy_read_word(const uint8_t *bytes, size_t size, char *out,
    size_t out_size, struct fby_error_detail *why)
{
    struct fby_npy     npy;
    struct letter_type letters = {0};
    struct fby_reader  in      = fby_reader(bytes, size);
    FBY_TRY(read_header(&in, &letters, &npy, why));
    bool is_word = npy.n_values == 1 && letters.n < out_size &&
                   letters.n * letters.bytes == in.left &&
                   copy_letters(in.at, &letters, out);
    return is_word ? FBY_OK
                   : fby_error_set(why, FBY_BAD_SAMPLE,
                         "npy header: the file is not a single word");
}

bool fby_npy_is_c_order(const struct fby_npy *npy)
{
    uint32_t n_larger_than_1 = 0;
    for (uint32_t i = 0; i < npy->n_dims; i++) {
        n_larger_than_1 += npy->dims[i] > 1 ? 1 : 0;
    }
    return !npy->fortran || n_larger_than_1 <= 1;
}

const char *fby_npy_shape_text(
    const uint64_t *dims, uint32_t n_dims, char out[FBY_NPY_SHAPE_TEXT])
{
    static const char cut_end[] = "...]"; /* the end of a text that is cut */
    size_t            length    = (size_t)snprintf(out, 2, "[");
    for (uint32_t i = 0; i < n_dims; i++) {
        size_t left  = FBY_NPY_SHAPE_TEXT - length - sizeof(cut_end);
        size_t added = (size_t)snprintf(
            out + length, left, "%s%" PRIu64, i > 0 ? ", " : "", dims[i]);
        if (added >= left) {
            snprintf(out + length, sizeof(cut_end), "%s", cut_end);
            return out;
        }
        length += added;
    }
    snprintf(out + length, sizeof(cut_end), "]");
    return out;
}
