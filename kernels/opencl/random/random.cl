/* Random numbers of one state and of attributes alone, dropout and rrelu; behind philox.cl and normal.cl. OP(i) is
 * element i of y, in C order. families/random.c launches these. */

/* -- integers ----------------------------------------------------------------------------------------------------------- */

#define op_bits32(i) CONVERT_LETTER(U, TYPE_Y, word32(&state, i))
#define op_bits64(i) CONVERT_LETTER(U, TYPE_Y, word64(&state, i))
#define op_integers(i) CONVERT_LETTER(U, TYPE_Y, (ulong)k0 + random_below(&state, i, (ulong)k1))

/* Key, counter and carry, k0 steps further. */
static inline ulong advanced(const philox *state, long i, ulong steps) {
  ulong low = state->low + steps;
  return i == 0 ? state->key : i == 1 ? low : state->high + (low < steps ? 1 : 0);
}
#define op_advance(i) CONVERT_LETTER(U, TYPE_Y, advanced(&state, i, (ulong)k0))

#ifdef HAS_FP64
/* -- numbers: in double ------------------------------------------------------------------------------------------------- */

static inline double normal_below(double x) {
  return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* Between bounds: the place u of the way between their probabilities, counted from the tail that is nearer. */
static inline double truncated(double u, double low, double high) {
  double sign = 1;
  if (low > 0) {
    double swap = -low;
    u = 1 - u;
    low = -high;
    high = swap;
    sign = -1;
  }
  double p = normal_below(low) + u * (normal_below(high) - normal_below(low)), x;
  if (p <= 0.5) {
    x = p > 0 ? normal_quantile(p, 0.5 - p) : low;
  } else {
    double q = normal_below(-high) + (1 - u) * (normal_below(-low) - normal_below(-high));
    x = q > 0 ? -normal_quantile(fmin(q, 0.5), fmax(0.5 - q, 0)) : high;
  }
  return sign * fmin(fmax(x, low), high);
}

#define NUMBER_OF(v) CONVERT_LETTER(D, TYPE_Y, v)
/* n0, n1: low, high; k0: bits of the word that count */
#define op_uniform32(i) NUMBER_OF(n0 + ldexp(convert_double(word32(&state, i) >> (32 - k0)), (int)-k0) * (n1 - n0))
#define op_uniform64(i) NUMBER_OF(n0 + unit(word64(&state, i)) * (n1 - n0))
/* n0, n1: mean, scale; n2, n3: bounds */
#define op_normal(i) NUMBER_OF(n0 + n1 * normal(word64(&state, i)))
#define op_log_normal(i) NUMBER_OF(exp(n0 + n1 * normal(word64(&state, i))))
#define op_truncated_normal(i) \
  NUMBER_OF(n0 + n1 * truncated((convert_double(word64(&state, i) >> 11) + 0.5) * 0x1p-53, n2, n3))
#define op_exponential(i) NUMBER_OF(n1 * (0 - log((convert_double(word64(&state, i)) + 0.5) * 0x1p-64)))
#endif

__kernel void draw(__global const STORAGE(A) *a, long a0, long a_step, long a_count, __global STORAGE(Y) *y, long y0,
                   nd4c_walk walk, NUMBER n0, NUMBER n1, NUMBER n2, NUMBER n3, long k0, long k1) {
  ITEM(i, walk.size)
  philox state = read_state(a, a0, a_step, a_count);
  SAVE(Y, y, y0 + nd4c_walk_place(&walk, 0, (INDEX)i), OP(i));
}

#if defined(HAS_FP64) && defined(TYPE_B)
/* Element i is kept with a probability: x / (1 - n0) or 0. The walk's operands are y, x, mask. */
__kernel void dropout(__global const STORAGE(A) *a, long a0, long a_step, long a_count, __global const STORAGE(B) *b,
                      long b0, __global STORAGE(Y) *y, long y0, __global uchar *mask, long m0, nd4c_walk walk,
                      double rate) {
  ITEM(i, walk.size)
  philox state = read_state(a, a0, a_step, a_count);
  bool kept = unit(word64(&state, i)) >= rate;
  double x = convert_double(LOAD(B, b, b0 + nd4c_walk_place(&walk, 1, (INDEX)i)));
  SAVE(Y, y, y0 + nd4c_walk_place(&walk, 0, (INDEX)i), CONVERT_LETTER(D, TYPE_Y, kept ? x / (1 - rate) : 0));
  mask[m0 + nd4c_walk_place(&walk, 2, (INDEX)i)] = kept;
}

/* x, below 0 times a slope between low and high; without a state (a_count 0) their middle. */
__kernel void rrelu(__global const STORAGE(A) *a, long a0, long a_step, long a_count, __global const STORAGE(B) *b,
                    long b0, __global STORAGE(Y) *y, long y0, nd4c_walk walk, double low, double high) {
  ITEM(i, walk.size)
  double u = 0.5, x = convert_double(LOAD(B, b, b0 + nd4c_walk_place(&walk, 1, (INDEX)i)));
  if (a_count > 0) {
    philox state = read_state(a, a0, a_step, a_count);
    u = unit(word64(&state, i));
  }
  SAVE(Y, y, y0 + nd4c_walk_place(&walk, 0, (INDEX)i),
         CONVERT_LETTER(D, TYPE_Y, x < 0 ? (low + u * (high - low)) * x : x));
}
#endif
