/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.c - see fixed.h. A number x in Qn is the integer x * 2^n. */
#include "pipeline/plan/fixed.h"

/* [i]: 2^(i / 256) - 1 in Q32, rounded to nearest. */
static const uint32_t exp2_table[256] = {0x00000000, 0x00b1afa6, 0x0163daa0,
    0x02168144, 0x02c9a3e7, 0x037d42e1, 0x04315e87, 0x04e5f72f, 0x059b0d31,
    0x0650a0e4, 0x0706b29e, 0x07bd42b7, 0x08745187, 0x092bdf66, 0x09e3ecac,
    0x0a9c79b2, 0x0b5586d0, 0x0c0f145e, 0x0cc922b7, 0x0d83b234, 0x0e3ec32d,
    0x0efa55fe, 0x0fb66b00, 0x1073028d, 0x11301d01, 0x11edbab6, 0x12abdc07,
    0x136a814f, 0x1429aaeb, 0x14e95935, 0x15a98c8a, 0x166a4547, 0x172b83c8,
    0x17ed4869, 0x18af9389, 0x19726583, 0x1a35beb7, 0x1af99f81, 0x1bbe0840,
    0x1c82f953, 0x1d487317, 0x1e0e75eb, 0x1ed50230, 0x1f9c1844, 0x2063b886,
    0x212be358, 0x21f49918, 0x22bdda28, 0x2387a6e7, 0x2451ffb8, 0x251ce4fb,
    0x25e85712, 0x26b4565e, 0x2780e342, 0x284dfe1f, 0x291ba759, 0x29e9df52,
    0x2ab8a66d, 0x2b87fd0e, 0x2c57e397, 0x2d285a6e, 0x2df961f6, 0x2ecafa94,
    0x2f9d24ac, 0x306fe0a3, 0x31432edf, 0x32170fc5, 0x32eb83bb, 0x33c08b26,
    0x3496266e, 0x356c55f9, 0x36431a2e, 0x371a7374, 0x37f26232, 0x38cae6d0,
    0x39a401b7, 0x3a7db34e, 0x3b57fbff, 0x3c32dc31, 0x3d0e544f, 0x3dea64c1,
    0x3ec70df2, 0x3fa4504b, 0x40822c36, 0x4160a21f, 0x423fb271, 0x431f5d95,
    0x43ffa3f8, 0x44e08606, 0x45c2042a, 0x46a41ed2, 0x4786d669, 0x486a2b5c,
    0x494e1e19, 0x4a32af0d, 0x4b17dea7, 0x4bfdad53, 0x4ce41b81, 0x4dcb29a0,
    0x4eb2d81e, 0x4f9b276a, 0x508417f4, 0x516daa2d, 0x5257de84, 0x5342b56a,
    0x542e2f4f, 0x551a4ca6, 0x56070ddf, 0x56f4736b, 0x57e27dbe, 0x58d12d49,
    0x59c08280, 0x5ab07dd5, 0x5ba11fbb, 0x5c9268a6, 0x5d84590a, 0x5e76f15b,
    0x5f6a320e, 0x605e1b97, 0x6152ae6d, 0x6247eb04, 0x633dd1d2, 0x6434634d,
    0x652b9fec, 0x66238825, 0x671c1c71, 0x68155d45, 0x690f4b1a, 0x6a09e668,
    0x6b052fa7, 0x6c012751, 0x6cfdcddd, 0x6dfb23c6, 0x6ef92986, 0x6ff7df95,
    0x70f7466f, 0x71f75e8f, 0x72f8286f, 0x73f9a48a, 0x74fbd35d, 0x75feb564,
    0x77024b1b, 0x780694fe, 0x790b938b, 0x7a11473f, 0x7b17b097, 0x7c1ed013,
    0x7d26a630, 0x7e2f336d, 0x7f387849, 0x80427544, 0x814d2add, 0x82589995,
    0x8364c1ec, 0x8471a462, 0x857f417a, 0x868d99b4, 0x879cad93, 0x88ac7d99,
    0x89bd0a48, 0x8ace5423, 0x8be05bad, 0x8cf3216b, 0x8e06a5e1, 0x8f1ae991,
    0x902fed03, 0x9145b0b9, 0x925c353b, 0x93737b0d, 0x948b82b6, 0x95a44cbd,
    0x96bdd9a7, 0x97d829fe, 0x98f33e48, 0x9a0f170d, 0x9b2bb4d5, 0x9c49182a,
    0x9d674195, 0x9e86319e, 0x9fa5e8d0, 0xa0c667b6, 0xa1e7aed9, 0xa309bec5,
    0xa42c9804, 0xa5503b24, 0xa674a8af, 0xa799e133, 0xa8bfe53c, 0xa9e6b558,
    0xab0e5213, 0xac36bbfd, 0xad5ff3a4, 0xae89f996, 0xafb4ce62, 0xb0e07299,
    0xb20ce6ca, 0xb33a2b85, 0xb468415b, 0xb59728de, 0xb6c6e29f, 0xb7f76f30,
    0xb928cf22, 0xba5b030a, 0xbb8e0b7a, 0xbcc1e905, 0xbdf69c3f, 0xbf2c25bd,
    0xc0628614, 0xc199bdd8, 0xc2d1cda0, 0xc40ab600, 0xc5447790, 0xc67f12e5,
    0xc7ba8899, 0xc8f6d940, 0xca340575, 0xcb720dcf, 0xccb0f2e7, 0xcdf0b556,
    0xcf3155b6, 0xd072d4a0, 0xd1b532b1, 0xd2f87081, 0xd43c8ead, 0xd5818dd0,
    0xd6c76e86, 0xd80e316d, 0xd955d720, 0xda9e603e, 0xdbe7cd64, 0xdd321f30,
    0xde7d5642, 0xdfc97338, 0xe11676b2, 0xe264614f, 0xe3b333b1, 0xe502ee79,
    0xe6539246, 0xe7a51fbc, 0xe8f7977d, 0xea4afa2a, 0xeb9f4868, 0xecf482d9,
    0xee4aaa22, 0xefa1bee6, 0xf0f9c1cb, 0xf252b377, 0xf3ac948e, 0xf50765b7,
    0xf6632799, 0xf7bfdada, 0xf91d8022, 0xfa7c181a, 0xfbdba369, 0xfd3c22b9,
    0xfe9d96b3};

uint64_t fby_q32(double x)
{
    if (!(x > 0)) { /* NaN too */
        return 0;
    }
    if (x >= 2147483648.0) { /* 2^31 */
        return UINT64_C(1) << 63;
    }
    return (uint64_t)(x * 4294967296.0); /* 2^32 */
}

int64_t fby_q16(double x)
{
    return x < 0 ? -(int64_t)(fby_q32(-x) >> 16) : (int64_t)(fby_q32(x) >> 16);
}

/* Find the bits of the root R from the highest one down. When bit 2^k is tried
 * and R has the bits found so far, `power` is 4^k, `root` is R * 2^(k + 1), and
 * `x` has been reduced by R^2. (R + 2^k)^2 is R^2 + root + power. */
uint64_t fby_isqrt(uint64_t x)
{
    uint64_t root = 0;
    for (uint64_t power = UINT64_C(1) << 62; power != 0; power >>= 2) {
        uint64_t increase = root + power;
        root >>= 1;
        if (x >= increase) {
            x -= increase;
            root += power;
        }
    }
    return root;
}

/* x = m * 2^e with m in [1, 2), so log2(x) = e + log2(m). To get the next bit
 * of log2(m), square m: if the square is 2 or more, the bit is 1, and the
 * square is halved. `m` is in Q31. */
int64_t fby_log2_q32(uint64_t x)
{
    x            = x == 0 ? 1 : x;
    int      e   = 63 - __builtin_clzll(x);
    uint64_t m   = (x << (63 - e)) >> 32;
    int64_t  log = e - 32; /* x is in Q32 */
    for (int i = 0; i < 32; i++) {
        uint64_t square = m * m;        /* Q62 */
        uint64_t bit    = square >> 63; /* 1 if square >= 2 */
        m               = square >> (31 + bit);
        log             = log * 2 + (int64_t)bit;
    }
    return log;
}

static uint64_t exp2_entry(uint64_t i)
{
    return i < 256 ? FBY_Q32_ONE + exp2_table[i] : 2 * FBY_Q32_ONE;
}

/* 2^f of a fraction f in Q32, 0 <= f < 1. The upper 8 bits of f select a table
 * entry; the lower 24 bits interpolate between this entry and the next. */
static uint64_t exp2_fraction(uint32_t f)
{
    uint64_t low  = exp2_entry(f >> 24);
    uint64_t high = exp2_entry((f >> 24) + 1);
    return low + (((high - low) * (f & 0xffffff)) >> 24);
}

uint64_t fby_exp2_q32(int64_t x)
{
    const int64_t one = (int64_t)FBY_Q32_ONE;
    const int64_t min = -33 * one; /* in Q32, 2^-33 is rounded down to 0 */
    const int64_t max = 31 * one - 1;
    x                 = x < min ? min : x;
    x                 = x > max ? max : x;
    uint64_t offset   = (uint64_t)(x - min); /* x + 33, not negative */
    uint64_t value    = exp2_fraction((uint32_t)offset);
    uint64_t whole    = offset >> 32; /* floor(x) + 33 */
    /* 2^x = 2^fraction * 2^(whole - 33) */
    return whole >= 33 ? value << (whole - 33) : value >> (33 - whole);
}

/* Angles are in Q16 degrees. */
enum { TURN = 360 << 16, QUARTER = 90 << 16, EIGHTH = 45 << 16 };
enum { SERIES_TERMS = 6, Q30_ONE = 1 << 30 };

/* The Taylor series of sine (first term x, n = 2) or cosine (first term 1, n =
 * 1), in Q30. A term is the previous one times -x^2 / (n (n + 1)). */
static int64_t series(int64_t x, int64_t term, int64_t n)
{
    int64_t square = x * x >> 30;
    int64_t sum    = 0;
    for (int i = 0; i < SERIES_TERMS; i++) {
        sum += term;
        term = -((term * square / Q30_ONE) / (n * (n + 1)));
        n += 2;
    }
    return sum;
}

/* Convert an angle of 0 to 45 degrees to radians. */
static int64_t radians_q30(int64_t angle)
{
    const int64_t degree = INT64_C(19190098069); /* pi / 180 in Q40 */
    return angle * degree >> 26; /* Q16 * Q40 = Q56, shifted to Q30 */
}

/* The sine of an angle of 0 to 90 degrees. Above 45 degrees it is the cosine of
 * 90 - angle, because the series converges faster for small angles. */
static int64_t sine_in_quarter(int64_t angle)
{
    return angle <= EIGHTH ? series(radians_q30(angle), radians_q30(angle), 2)
                           : series(radians_q30(QUARTER - angle), Q30_ONE, 1);
}

int64_t fby_sin_q30(int64_t angle)
{
    angle              = (angle % TURN + TURN) % TURN; /* 0 to TURN - 1 */
    int64_t in_quarter = angle % QUARTER;
    switch (angle / QUARTER) {
    case 0:
        return sine_in_quarter(in_quarter);
    case 1:
        return sine_in_quarter(QUARTER - in_quarter);
    case 2:
        return -sine_in_quarter(in_quarter);
    default:
        return -sine_in_quarter(QUARTER - in_quarter);
    }
}

int64_t fby_cos_q30(int64_t angle)
{
    return fby_sin_q30(angle + QUARTER);
}

int64_t fby_tan_q16(int64_t angle)
{
    return fby_sin_q30(angle) * FBY_Q16_ONE / fby_cos_q30(angle);
}
