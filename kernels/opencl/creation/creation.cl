/* Arrays from numbers: element i of OP's array, in C order; the walk's one operand is y. families/creation.c launches
 * it. */

#ifdef HAS_FP64
/* start + i (stop - start) / steps to more digits than a double has: the gap comes in two parts, the result's second part
 * is *rest. */
static inline double spaced(double start, double stop, double gap, double gap_rest, long steps, long i, double *rest) {
  *rest = 0;
  if (steps == 0 || i == steps) {
    return steps == 0 ? start : stop;
  }
  double n = convert_double(steps), at = convert_double(i);
  double p = gap * at, p_rest = fma(gap, at, -p) + gap_rest * at;
  double q = p / n, q_rest = (fma(-q, n, p) + p_rest) / n;
  double sum = start + q, part = sum - start;
  *rest = (start - (sum - part)) + (q - part) + q_rest;
  double near = sum + *rest;
  *rest = isfinite(near) ? *rest - (near - sum) : 0;
  return near;
}
#endif

/* n0, n1, n2: start, stop, step or base; d0, d1: the gap; k0, k1: whole numbers */
#define op_number(i) CONVERT_LETTER(U, TYPE_Y, (ulong)k0)
#define op_arange(i) CONVERT_LETTER(D, TYPE_Y, n0 + convert_double(i) * n2)
#define op_integer_range(i) CONVERT_LETTER(I, TYPE_Y, (long)((ulong)k0 + (ulong)(i) * (ulong)k1))
#define op_linspace(i) linspace(i, n0, n1, d0, d1, k0)
#define op_logspace(i) logspace(i, n0, n1, n2, d0, d1, k0)
/* Ones where k0 <= column - row <= k1, in rows of `inner`. */
#define op_band(i) CONVERT_LETTER(U, TYPE_Y, (uint)(k0 <= (i) % inner - (i) / inner && (i) % inner - (i) / inner <= k1))
/* The index along an axis of extent k0, whose elements are `inner` apart. */
#define op_indices(i) CONVERT_LETTER(U, TYPE_Y, (ulong)((i) / inner % k0))

/* A cosine window of k0 steps, weights n0, n1, n2. */
#define op_window(i) CONVERT_LETTER(D, TYPE_Y, k0 == 0 ? 1.0 : n0 - n1 * turned_cosine(i, k0) + n2 * turned_cosine(2 * (i), k0))
/* Frequency i of k0 points; those from k1 on are negative. */
#define op_frequency(i) CONVERT_LETTER(D, TYPE_Y, convert_double((i) < k1 ? (i) : (i) - k0) / n0)

#ifdef WIDE_PI
/* cos(2 pi k / n) for whole k, the angle reduced to the first quarter before it is rounded. */
static inline double turned_cosine(long k, long n) {
  long part = k % n;
  part = 2 * part > n ? n - part : part;
  bool far = 4 * part > n;
  wide sine, cosine;
  w_sincospi(w_div(w_of(convert_double(far ? n - 2 * part : 2 * part)), w_of(convert_double(n))), &sine, &cosine);
  return far ? -w_value(cosine) : w_value(cosine);
}
#endif

#ifdef HAS_FP64
static inline COMPUTE(Y) linspace(long i, double start, double stop, double gap, double gap_rest, long steps) {
  double rest, number = spaced(start, stop, gap, gap_rest, steps, i, &rest);
#ifdef ROUND_DOWN
  double whole = floor(number);
  number = whole == number && rest < 0 ? whole - 1 : whole;
#endif
  return CONVERT_LETTER(D, TYPE_Y, number);
}

static inline COMPUTE(Y) logspace(long i, double start, double stop, double base, double gap, double gap_rest, long steps) {
  double rest, number = spaced(start, stop, gap, gap_rest, steps, i, &rest), power = pow(base, number);
#ifdef WIDE_PI /* with wide.cl */
  if (isfinite(power) && power != 0 && base > 0) {
    power = w_value(w_pow(w_of(base), (wide)(number, rest)));
  }
#endif
  return CONVERT_LETTER(D, TYPE_Y, power);
}
#endif

__kernel void create(__global STORAGE(Y) *y, long y0, nd4c_walk walk, long first, long count, NUMBER n0, NUMBER n1,
                     NUMBER n2, NUMBER d0, NUMBER d1, long k0, long k1, long inner) {
  ITEM(i, count)
  SAVE(Y, y, y0 + nd4c_walk_place(&walk, 0, (INDEX)(first + i)), OP(i));
}
