#include "pipeline/plan/angle.h"

enum { TERMS = 6, TURN = 360 << 16, QUARTER = 90 << 16, EIGHTH = 45 << 16 };

/* The series of sine (from x) or cosine (from 1): each term is the last one
 * times -x^2 / (n (n + 1)). */
static int64_t series(int64_t x, int64_t term, int64_t n)
{
    int64_t square = x * x >> 30;
    int64_t sum    = 0;
    for (int i = 0; i < TERMS; i++) {
        sum += term;
        term = -((term * square / (1 << 30)) / (n * (n + 1)));
        n += 2;
    }
    return sum;
}

/* Of an angle of 0 to 45 degrees. */
static int64_t radians_q30(int64_t angle)
{
    const int64_t degree = INT64_C(19190098069); /* pi / 180, Q40 */
    return angle * degree >> 26;
}

/* Of an angle of 0 to 90 degrees. */
static int64_t sine_of_quarter(int64_t angle)
{
    return angle <= EIGHTH ? series(radians_q30(angle), radians_q30(angle), 2)
                           : series(radians_q30(QUARTER - angle), 1 << 30, 1);
}

int64_t fby_sin_q30(int64_t angle)
{
    angle          = (angle % TURN + TURN) % TURN;
    int64_t within = angle % QUARTER;
    switch (angle / QUARTER) {
    case 0:
        return sine_of_quarter(within);
    case 1:
        return sine_of_quarter(QUARTER - within);
    case 2:
        return -sine_of_quarter(within);
    default:
        return -sine_of_quarter(QUARTER - within);
    }
}

int64_t fby_cos_q30(int64_t angle)
{
    return fby_sin_q30(angle + QUARTER);
}

int64_t fby_tan_q16(int64_t angle)
{
    return fby_sin_q30(angle) * 65536 / fby_cos_q30(angle);
}
