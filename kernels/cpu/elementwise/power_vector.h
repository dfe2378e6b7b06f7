/* Powers vector by vector, then again elements for which the formula does not hold (zeros, infinities, NaN, subnormal
 * f64). A template of each_register.h, which power.h includes where the level is AVX-512. */

/* Of a negative a the sign is that of the last bit of b, which must be an integer. */
static inline V NAME(nd4c_power_signed)(V y, V b, MASK negative) {
  V half = OP(mul)(b, OP(set1)((T)0.5));
  MASK odd = OP_MASK(cmp)(OP(roundscale)(half, ND4C_TO_INTEGER), half, _CMP_NEQ_UQ);
  MASK broken = OP_MASK(cmp)(OP(roundscale)(b, ND4C_TO_INTEGER), b, _CMP_NEQ_UQ);
  y = OP(mask_sub)(y, (MASK)(negative & odd), OP(set1)(-(T)0), y);
  return OP(mask_mov)(y, (MASK)(negative & broken), OP(set1)((T)NAN));
}

static void NAME(nd4c_power_mend)(MASK special, V a, V b, T *y) {
  T base[64 / sizeof(T)], exponent[64 / sizeof(T)];
  OP(storeu)(base, a);
  OP(storeu)(exponent, b);
  for (; special != 0; special = (MASK)(special & (special - 1))) {
    int i = __builtin_ctz(special);
    y[i] = (T)pow((double)base[i], (double)exponent[i]);
  }
}

static inline void NAME(nd4c_power)(int64_t n, const T *a, int64_t a_step, const T *b, int64_t b_step, T *y) {
  enum { COUNT = 64 / sizeof(T) };
  if (n < 1 || (b_step == 0 && a_step == 1 && NAME(nd4c_power_plain)(n, a, *b, y))) {
    return;
  }
  V base = OP(set1)(*a), exponent = OP(set1)(*b);
  for (int64_t i = 0; i < n; i += COUNT) {
    MASK some = (MASK)(n - i < COUNT ? (1u << (n - i)) - 1 : (1u << COUNT) - 1);
    base = a_step ? OP(maskz_loadu)(some, a + i) : base;
    exponent = b_step ? OP(maskz_loadu)(some, b + i) : exponent;
    /* Of bases infinities, NaN, zeros of f32, subnormal f64 and zeros of f64; of exponents infinities and NaN. */
    MASK special = (MASK)(OP_MASK(mask_fpclass)(some, base, sizeof(T) == 4 ? 0x9f : 0xbf) |
                          OP_MASK(mask_fpclass)(some, exponent, 0x99));
    MASK negative = OP_MASK(fpclass)(base, 0x40);
    V result = NAME(nd4c_power_positive)(NAME(nd4c_absolute)(base), exponent);
    if (negative) {
      result = NAME(nd4c_power_signed)(result, exponent, negative);
    }
    OP(mask_storeu)(y + i, some, result);
    if (special) {
      NAME(nd4c_power_mend)(special, base, exponent, y + i);
    }
  }
}
