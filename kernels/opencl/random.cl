/* Random numbers: Philox4x32 with 10 rounds, a function of the state and of the element's number alone; the same bits as
 * the CPU's (kernels/reference/random.h says which words an element takes). OP(i) is element i of y, in C order. */

typedef struct {
  ulong key, low, high;
} philox;

static inline uint4 philox4x32(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; round++) {
    uint left_high = mul_hi(counter.x, 0xD2511F53u), left_low = counter.x * 0xD2511F53u;
    uint right_high = mul_hi(counter.z, 0xCD9E8D57u), right_low = counter.z * 0xCD9E8D57u;
    counter = (uint4)(right_high ^ counter.y ^ key.x, right_low, left_high ^ counter.w ^ key.y, left_low);
    key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
  }
  return counter;
}

/* Block `step` of the state; `draw` counts further ones for an element that needs more than one. */
static inline uint4 block_of(const philox *state, ulong step, uint draw) {
  ulong low = state->low + step, high = state->high + (low < step ? 1 : 0);
  uint4 counter = (uint4)((uint)low, (uint)(low >> 32), (uint)high, (uint)(high >> 32) + draw);
  return philox4x32(counter, (uint2)((uint)state->key, (uint)(state->key >> 32)));
}

static inline uint word32(const philox *state, long i) {
  uint4 block = block_of(state, (ulong)i / 4, 0);
  uint2 pair = i & 2 ? block.zw : block.xy;
  return i & 1 ? pair.y : pair.x;
}

static inline ulong word64(const philox *state, long i) {
  uint4 block = block_of(state, (ulong)i / 2, 0);
  uint2 pair = i & 1 ? block.zw : block.xy;
  return (ulong)pair.y << 32 | pair.x;
}

/* The words of element i's own stream: two a block. */
typedef struct {
  ulong step;
  uint draw, left;
  uint4 block;
} supply;

static inline ulong supply_word(const philox *state, supply *s) {
  if (s->left == 0) {
    s->block = block_of(state, s->step, s->draw++);
    s->left = 2;
  }
  uint2 pair = s->left-- == 2 ? s->block.xy : s->block.zw;
  return (ulong)pair.y << 32 | pair.x;
}

static inline philox read_state(__global const STORAGE_A *a, long a0, long step, long count) {
  philox state = {(ulong)a[a0], (ulong)a[a0 + step], count > 2 ? (ulong)a[a0 + 2 * step] : 0};
  return state;
}

/* -- integers ----------------------------------------------------------------------------------------------------------- */

#define op_bits32(i) CONVERT_LETTER(U, TYPE_Y, word32(&state, i))
#define op_bits64(i) CONVERT_LETTER(U, TYPE_Y, word64(&state, i))

/* Lemire's product: its upper half, unless the lower half says that this value had one chance too many. 0 .. range - 1;
 * range 0 stands for 2^64. */
static inline ulong random_below(const philox *state, long i, ulong range) {
  supply s = {(ulong)i, 0, 0, (uint4)(0)};
  ulong word = supply_word(state, &s);
  if (range == 0) {
    return word;
  }
  ulong beyond = (0 - range) % range;
  while (word * range < beyond) {
    word = supply_word(state, &s);
  }
  return mul_hi(word, range);
}
#define op_integers(i) CONVERT_LETTER(U, TYPE_Y, (ulong)k0 + random_below(&state, i, (ulong)k1))

/* Key, counter and carry, k0 steps further. */
static inline ulong advanced(const philox *state, long i, ulong steps) {
  ulong low = state->low + steps;
  return i == 0 ? state->key : i == 1 ? low : state->high + (low < steps ? 1 : 0);
}
#define op_advance(i) CONVERT_LETTER(U, TYPE_Y, advanced(&state, i, (ulong)k0))

#ifdef HAS_FP64
/* -- numbers: in double ------------------------------------------------------------------------------------------------- */

static inline double unit(ulong word) {
  return convert_double(word >> 11) * 0x1p-53;
}

/* Wichura's AS 241: the inverse of the normal distribution function, as ratios of polynomials. */
__constant double quantile[3][2][8] = {
    {{3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
      4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3},
     {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4,
      3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}},
    {{1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
      1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
     {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
      1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}},
    {{6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
      2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
     {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
      1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}}};

static inline double ratio(int which, double x) {
  double a = quantile[which][0][7], b = quantile[which][1][7];
  for (int i = 6; i >= 0; i--) {
    a = a * x + quantile[which][0][i];
    b = b * x + quantile[which][1][i];
  }
  return a / b;
}

/* x below which lies p, 0 < p <= 0.5; from_half: 0.5 - p, exactly. */
static inline double normal_quantile(double p, double from_half) {
  if (from_half <= 0.425) {
    return -from_half * ratio(0, 0.180625 - from_half * from_half);
  }
  double r = sqrt(-log(p));
  return r <= 5 ? -ratio(1, r - 1.6) : -ratio(2, r - 5);
}

/* The word's last bit is the sign; the others are how far out. */
static inline double normal(ulong word) {
  ulong depth = word >> 1, rest = ((ulong)1 << 63) - 1 - depth;
  double x = normal_quantile((convert_double(depth) + 0.5) * 0x1p-64, (convert_double(rest) + 0.5) * 0x1p-64);
  return word & 1 ? -x : x;
}

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

__kernel void draw(__global const STORAGE_A *a, long a0, long a_step, long a_count, __global STORAGE_Y *y, long y0,
                   nd4c_walk walk, NUMBER n0, NUMBER n1, NUMBER n2, NUMBER n3, long k0, long k1) {
  long i = get_global_id(0);
  if (i < walk.size) {
    philox state = read_state(a, a0, a_step, a_count);
    SAVE_Y(y, y0 + nd4c_walk_place(&walk, 0, (INDEX)i), OP(i));
  }
}

#if defined(HAS_FP64) && defined(TYPE_B)
/* Element i is kept with a probability: x / (1 - n0) or 0. The walk's operands are y, x, mask. */
__kernel void dropout(__global const STORAGE_A *a, long a0, long a_step, long a_count, __global const STORAGE_B *b,
                      long b0, __global STORAGE_Y *y, long y0, __global uchar *mask, long m0, nd4c_walk walk,
                      double rate) {
  long i = get_global_id(0);
  if (i < walk.size) {
    philox state = read_state(a, a0, a_step, a_count);
    bool kept = unit(word64(&state, i)) >= rate;
    double x = convert_double(LOAD_B(b, b0 + nd4c_walk_place(&walk, 1, (INDEX)i)));
    SAVE_Y(y, y0 + nd4c_walk_place(&walk, 0, (INDEX)i), CONVERT_LETTER(D, TYPE_Y, kept ? x / (1 - rate) : 0));
    mask[m0 + nd4c_walk_place(&walk, 2, (INDEX)i)] = kept;
  }
}

/* x, below 0 times a slope between low and high; without a state (a_count 0) their middle. */
__kernel void rrelu(__global const STORAGE_A *a, long a0, long a_step, long a_count, __global const STORAGE_B *b,
                    long b0, __global STORAGE_Y *y, long y0, nd4c_walk walk, double low, double high) {
  long i = get_global_id(0);
  if (i < walk.size) {
    double u = 0.5, x = convert_double(LOAD_B(b, b0 + nd4c_walk_place(&walk, 1, (INDEX)i)));
    if (a_count > 0) {
      philox state = read_state(a, a0, a_step, a_count);
      u = unit(word64(&state, i));
    }
    SAVE_Y(y, y0 + nd4c_walk_place(&walk, 0, (INDEX)i),
           CONVERT_LETTER(D, TYPE_Y, x < 0 ? (low + u * (high - low)) * x : x));
  }
}
#endif
