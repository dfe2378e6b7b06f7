/* Runs and rows of one float folded in registers: a template of each_dtype.h, which vector.h includes for reduction.c,
 * normalization.c and moments.c. Callers pass `op` as a constant; max and norm_max keep the largest, min the
 * smallest. */

ND4C_INLINED NAME(wide) NAME(load)(const T *x) {
  return *(const NAME(wide) *)(const void *)x;
}

ND4C_INLINED NAME(wide) NAME(choose)(NAME(bits) mask, NAME(wide) a, NAME(wide) b) {
  return (NAME(wide))(((NAME(bits))a & mask) | ((NAME(bits))b & ~mask));
}

/* Of a vector the last `count` elements, and neutral ones. */
ND4C_INLINED NAME(wide) NAME(last_of)(NAME(wide) v, int64_t count, NAME(wide) neutral) {
  const NAME(bits) places = *(const NAME(bits) *)(const void *)NAME(places);
  return NAME(choose)((NAME(bits))(places >= (unsigned)(NAME(WIDTH) - count)), v, neutral);
}

/* What elements count for. */
ND4C_INLINED NAME(wide) NAME(term)(enum nd4c_reduce_index op, NAME(wide) v) {
  if (op == ND4C_REDUCE_norm1 || op == ND4C_REDUCE_norm_max) {
    return (NAME(wide))((NAME(bits))v & (~(NAME(bits)){0} >> 1));
  }
  if (op == ND4C_REDUCE_sum_square || op == ND4C_REDUCE_norm2) {
    return v * v;
  }
  return v;
}

ND4C_INLINED void NAME(see)(NAME(seen) * seen, NAME(wide) a, NAME(wide) b) {
#if defined(__AVX512F__)
  NAME(seen) some = ND4C_LEVEL_PASTE(REGISTER_OP(cmp), mask)((NAME(register))a, (NAME(register))b, _CMP_UNORD_Q);
  *seen = (NAME(seen))(*seen | some);
#else
  *seen |= (NAME(bits))((a != a) | (b != b));
#endif
}

ND4C_INLINED bool NAME(has_seen)(NAME(seen) seen) {
#if defined(__AVX512F__)
  return seen != 0;
#elif defined(__AVX__)
  return !_mm256_testz_si256((__m256i)seen, (__m256i)seen);
#elif defined(__SSE4_1__)
  return !_mm_testz_si128((__m128i)seen, (__m128i)seen);
#else
  return ((bits_float64)seen)[0] != 0 || ((bits_float64)seen)[1] != 0;
#endif
}

/* The better of two numbers neither of which is NaN; the first may be one, and is lost. */
ND4C_INLINED NAME(wide) NAME(better)(enum nd4c_reduce_index op, NAME(wide) x, NAME(wide) a) {
#if defined(__SSE2__)
  return (NAME(wide))(op == ND4C_REDUCE_min ? REGISTER_OP(min)((NAME(register))x, (NAME(register))a)
                                            : REGISTER_OP(max)((NAME(register))x, (NAME(register))a));
#else
  return NAME(choose)((NAME(bits))(op == ND4C_REDUCE_min ? x < a : x > a), x, a);
#endif
}

ND4C_INLINED T NAME(fold_lanes)(enum nd4c_reduce_index op, const NAME(wide) * v) {
  T lanes[NAME(WIDTH)];
  memcpy(lanes, v, sizeof lanes);
  for (int half = NAME(WIDTH) / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; i++) {
      T a = lanes[i], x = lanes[i + half];
      lanes[i] = op == ND4C_REDUCE_prod                                ? a * x
                 : op == ND4C_REDUCE_min                               ? (x < a ? x : a)
                 : op == ND4C_REDUCE_max || op == ND4C_REDUCE_norm_max ? (x > a ? x : a)
                                                                       : a + x;
    }
  }
  return lanes[0];
}

/* n elements, or as many as a vector has of fewer, the first repeated. Less 0, which keeps the sign of zero. */
ND4C_INLINED NAME(wide) NAME(first)(int64_t n, const T *x) {
  NAME(wide) v = x[0] - (NAME(wide)){0};
  for (int64_t i = 1; i < n && n < NAME(WIDTH); i++) {
    v[i] = x[i];
  }
  return v;
}

/* The better of a and of what v counts for. */
ND4C_INLINED NAME(wide) NAME(best_at)(enum nd4c_reduce_index op, NAME(wide) a, NAME(wide) v) {
  return NAME(better)(op, NAME(term)(op, v), a);
}

/* NaN wins. */
ND4C_INLINED T NAME(extreme)(enum nd4c_reduce_index op, int64_t n, const T *x) {
  enum { W = NAME(WIDTH) };
  NAME(wide) a0 = NAME(term)(op, NAME(first)(n, x)), a1 = a0, a2 = a0, a3 = a0;
  NAME(seen) seen = {0};
  int64_t i = 0;
  NAME(see)(&seen, a0, a0);
  for (; i + 4 * W <= n; i += 4 * W) {
    NAME(wide) v0 = NAME(load)(x + i), v1 = NAME(load)(x + i + W);
    NAME(wide) v2 = NAME(load)(x + i + 2 * W), v3 = NAME(load)(x + i + 3 * W);
    NAME(see)(&seen, v0, v1);
    NAME(see)(&seen, v2, v3);
    a0 = NAME(best_at)(op, a0, v0), a1 = NAME(best_at)(op, a1, v1);
    a2 = NAME(best_at)(op, a2, v2), a3 = NAME(best_at)(op, a3, v3);
  }
  for (; i < n && n >= W; i += W) {
    NAME(wide) v = NAME(load)(x + (i + W <= n ? i : n - W)); /* the last may be taken twice */
    NAME(see)(&seen, v, v);
    a0 = NAME(best_at)(op, a0, v);
  }
  if (NAME(has_seen)(seen)) {
    return (T)NAN;
  }
  a0 = NAME(better)(op, NAME(better)(op, a0, a1), NAME(better)(op, a2, a3));
  return NAME(fold_lanes)(op, &a0);
}
