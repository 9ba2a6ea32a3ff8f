/* npy.c - read the header of a NumPy file. The header text is a Python dict of
 * three known keys, so it is parsed in one pass, which ends at the first error.
 * No general parser of Python is needed. */
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

const char *fby_npy_dtype(enum fby_npy_type type)
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

struct npy_header {
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
    size_t      length;
};

static fby_err refuse(const struct npy_header *h, const char *text)
{
    return fby_error_set(h->why, FBY_BAD_SAMPLE, "npy header: %s", text);
}

static void skip_blanks(struct npy_header *h)
{
    while (h->next < h->end && (*h->next == ' ' || *h->next == '\n' ||
                                   *h->next == '\t' || *h->next == '\r')) {
        h->next++;
    }
}

/* The next four functions skip blanks, and then what they are named after. They
 * return false if that does not follow. */
static bool skip_character(struct npy_header *h, char c)
{
    skip_blanks(h);
    bool found = h->next < h->end && *h->next == c;
    h->next += found ? 1 : 0;
    return found;
}

static bool skip_name(struct npy_header *h, const char *name)
{
    skip_blanks(h);
    size_t n = strlen(name);
    bool   found =
        (size_t)(h->end - h->next) >= n && memcmp(h->next, name, n) == 0;
    h->next += found ? n : 0;
    return found;
}

static bool parse_quoted(struct npy_header *h, struct quoted *out)
{
    int quote = skip_character(h, '\'') ? '\'' : '"';
    if (quote == '"' && !skip_character(h, '"')) {
        return false;
    }
    const char *end = memchr(h->next, quote, (size_t)(h->end - h->next));
    if (end == NULL) {
        return false;
    }
    *out    = (struct quoted){h->next, (size_t)(end - h->next)};
    h->next = end + 1;
    return true;
}

static bool quoted_is(const struct quoted *word, const char *text)
{
    return word->length == strlen(text) &&
           memcmp(word->text, text, word->length) == 0;
}

/* Parse a decimal number below 2^64, without a leading zero, as in Python. */
static bool parse_number(struct npy_header *h, uint64_t *out)
{
    skip_blanks(h);
    const char *digits = h->next;
    uint64_t    value  = 0;
    for (; h->next < h->end && *h->next >= '0' && *h->next <= '9'; h->next++) {
        unsigned digit = (unsigned)(*h->next - '0');
        if (value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out               = value;
    ptrdiff_t n_digits = h->next - digits;
    return n_digits == 1 || (n_digits > 1 && digits[0] != '0');
}

/* ---- values of the dict ---- */

static fby_err refuse_type(
    const struct npy_header *h, const struct quoted *word)
{
    char   shown[25]; /* a prefix, with ? for unprintable characters */
    size_t n = word->length < sizeof(shown) ? word->length : sizeof(shown) - 1;
    for (size_t i = 0; i < n; i++) {
        char c   = word->text[i];
        shown[i] = (char)(c >= 0x20 && c < 0x7f ? c : '?');
    }
    shown[n] = '\0';
    return fby_error_set(h->why, FBY_BAD_SAMPLE,
        "its dtype is '%s'; bool, integers of 8 to 64 bits and floats of 16 to "
        "64 bits are read",
        shown);
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
static fby_err parse_letters(struct npy_header *h, const struct quoted *word)
{
    struct npy_header digits = {
        .next = word->text + 2, .end = word->text + word->length};
    bool is_long      = word->length > 2;
    bool is_ascii     = is_long && memcmp(word->text, "|S", 2) == 0;
    bool is_unicode   = is_long && memcmp(word->text, "<U", 2) == 0;
    h->letters->bytes = is_ascii ? 1 : 4;
    return (is_ascii || is_unicode) && parse_number(&digits, &h->letters->n) &&
                   digits.next == digits.end
               ? FBY_OK
               : refuse(h, "its dtype is not a text, such as S3");
}

/* Parse "<f4": the byte order ('|' for one-byte types) and the type. */
static fby_err parse_descr(struct npy_header *h)
{
    struct quoted word;
    if (!parse_quoted(h, &word)) {
        return refuse(h, "descr is not a plain dtype (structured dtypes are "
                         "not read)");
    }
    if (h->letters != NULL) {
        return parse_letters(h, &word);
    }
    if (word.length != 3 || !find_type(&word, &h->out->type)) {
        return refuse_type(h, &word);
    }
    bool is_one_byte   = types[h->out->type].bytes == 1;
    char order         = word.text[0];
    h->out->big_endian = order == '>' && !is_one_byte;
    return order == '<' || order == '>' || (order == '|' && is_one_byte)
               ? FBY_OK
               : refuse_type(h, &word);
}

static fby_err parse_order(struct npy_header *h)
{
    if (skip_name(h, "True")) {
        h->out->fortran = true;
        return FBY_OK;
    }
    return skip_name(h, "False")
               ? FBY_OK
               : refuse(h, "fortran_order is not True or False");
}

/* Parse a tuple: "()", "(3,)" or "(3, 4)"; "(3)" is not a tuple. */
static fby_err parse_shape(struct npy_header *h)
{
    struct fby_npy *out   = h->out;
    bool            comma = false; /* a comma precedes h->next */
    if (!skip_character(h, '(')) {
        return refuse(h, "shape is not a tuple");
    }
    while (!skip_character(h, ')')) {
        if (out->n_dims == FBY_NPY_MAX_DIMS) {
            return refuse(h, "shape has more than 32 dimensions");
        }
        if ((out->n_dims > 0 && !comma) ||
            !parse_number(h, &out->dims[out->n_dims])) {
            return refuse(h, "shape is not a tuple of numbers");
        }
        out->n_dims++;
        comma = skip_character(h, ',');
    }
    return out->n_dims == 1 && !comma ? refuse(h, "shape is not a tuple")
                                      : FBY_OK;
}

static fby_err parse_value(struct npy_header *h, const struct quoted *key)
{
    unsigned bit = quoted_is(key, "descr")           ? KEY_DESCR
                   : quoted_is(key, "fortran_order") ? KEY_FORTRAN
                   : quoted_is(key, "shape")         ? KEY_SHAPE
                                                     : 0;
    if (bit == 0 || (h->seen & bit) != 0) {
        return refuse(h, bit == 0 ? "the dict has an unknown key"
                                  : "the dict has a key twice");
    }
    h->seen |= bit;
    if (bit == KEY_DESCR) {
        return parse_descr(h);
    }
    return bit == KEY_FORTRAN ? parse_order(h) : parse_shape(h);
}

static fby_err parse_entries(struct npy_header *h)
{
    bool    comma = true; /* h->next follows a comma or the opening brace */
    fby_err err   = FBY_OK;
    while (err == FBY_OK && !skip_character(h, '}')) {
        struct quoted key;
        if (!comma || !parse_quoted(h, &key) || !skip_character(h, ':')) {
            return refuse(h, "not a dict of descr, fortran_order and shape");
        }
        err   = parse_value(h, &key);
        comma = skip_character(h, ',');
    }
    return err;
}

static fby_err parse_text(struct npy_header *h)
{
    if (!skip_character(h, '{')) {
        return refuse(h, "not a dict");
    }
    fby_err err = parse_entries(h);
    if (err != FBY_OK) {
        return err;
    }
    if (h->seen != ALL_KEYS) {
        return refuse(h, "descr, fortran_order or shape is missing");
    }
    skip_blanks(h);
    return h->next == h->end ? FBY_OK : refuse(h, "something follows the dict");
}

/* ---- the file ---- */

/* Set npy->values. Returns false if the values cannot fit in memory. */
static bool count_values(struct fby_npy *npy)
{
    uint64_t n        = 1;
    bool     is_empty = false; /* then other dimensions may be large */
    for (uint32_t i = 0; i < npy->n_dims; i++) {
        is_empty = is_empty || npy->dims[i] == 0;
    }
    for (uint32_t i = 0; i < npy->n_dims && !is_empty; i++) {
        if (n > (SIZE_MAX / 8) / npy->dims[i]) { /* 8: largest type */
            return false;
        }
        n *= npy->dims[i];
    }
    npy->values = is_empty ? 0 : n;
    return true;
}

/* Find the header text. It follows the magic string, the version, and its
 * length: two bytes in version 1.0, four later. */
static fby_err find_text(struct fby_reader *in, struct npy_header *h)
{
    struct fby_error_detail *why   = h->why;
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
    h->next = text;
    h->end  = text + n;
    return FBY_OK;
}

/* Read the header. `letters` is NULL if the file must hold numbers. */
static fby_err read_header(struct fby_reader *in, struct letter_type *letters,
    struct fby_npy *out, struct fby_error_detail *why)
{
    char              shape[FBY_NPY_SHAPE_TEXT];
    struct npy_header h = {.out = out, .letters = letters, .why = why};
    *out                = (struct fby_npy){0};
    fby_err err         = find_text(in, &h);
    if (err == FBY_OK) {
        err = parse_text(&h);
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
    uint64_t          n_bytes = out->values * types[out->type].bytes;
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
    struct fby_npy *out, size_t *head, struct fby_error_detail *why)
{
    struct fby_reader in  = fby_reader(bytes, size);
    fby_err           err = read_header(&in, NULL, out, why);
    *head                 = size - in.left;
    return err;
}

/* Copy the letters of a word, with a NUL. Returns false unless each letter is
 * printable ASCII: in its first (lowest) byte, before bytes that are 0. */
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
    size_t room, struct fby_error_detail *why)
{
    struct fby_npy     npy;
    struct letter_type letters = {0};
    struct fby_reader  in      = fby_reader(bytes, size);
    fby_err            err     = read_header(&in, &letters, &npy, why);
    if (err == FBY_OK && (npy.values != 1 || letters.n >= room ||
                             letters.n * letters.bytes != in.left ||
                             !copy_letters(in.at, &letters, out))) {
        err = fby_error_set(
            why, FBY_BAD_SAMPLE, "npy header: the file is not a single word");
    }
    return err;
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
    static const char cut_end[] = "...]";
    size_t            length    = (size_t)snprintf(out, 2, "[");
    for (uint32_t i = 0; i < n_dims; i++) {
        size_t room  = FBY_NPY_SHAPE_TEXT - length - sizeof(cut_end);
        size_t added = (size_t)snprintf(
            out + length, room, "%s%" PRIu64, i > 0 ? ", " : "", dims[i]);
        if (added >= room) {
            snprintf(out + length, sizeof(cut_end), "%s", cut_end);
            return out;
        }
        length += added;
    }
    snprintf(out + length, sizeof(cut_end), "]");
    return out;
}
