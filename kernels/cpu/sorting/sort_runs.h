/* Networks of vectors, by the operations of one vector: merges of sorted runs. sort_vector.h and sort_avx2.h include
 * this after they have defined VECTOR, SMALLER, LARGER, and the functions reverse, clean_lanes and sort_lanes. */

/* Two sorted runs of `size` vectors each become one. The upper half's vectors stand in reverse before they are cleaned,
 * which halving does not mind. */
ND4C_INLINED void NAMED(merge_runs)(VECTOR *v, int size) {
  _Pragma("GCC unroll 8") for (int i = 0; i < size; i++) {
    VECTOR low = v[i], high = NAMED(reverse)(v[2 * size - 1 - i]);
    v[i] = SMALLER(low, high);
    v[2 * size - 1 - i] = LARGER(low, high);
  }
  _Pragma("GCC unroll 4") for (int step = size / 2; step > 0; step /= 2) {
    _Pragma("GCC unroll 16") for (int i = 0; i < 2 * size; i++) {
      if ((i & step) == 0) {
        VECTOR low = v[i], high = v[i + step];
        v[i] = SMALLER(low, high);
        v[i + step] = LARGER(low, high);
      }
    }
  }
  _Pragma("GCC unroll 16") for (int i = 0; i < 2 * size; i++) v[i] = NAMED(clean_lanes)(v[i]);
}

ND4C_INLINED void NAMED(sort_vectors)(VECTOR *v, int count) {
  _Pragma("GCC unroll 16") for (int i = 0; i < count; i++) v[i] = NAMED(sort_lanes)(v[i]);
  if (count >= 2) {
    _Pragma("GCC unroll 8") for (int i = 0; i < count; i += 2) NAMED(merge_runs)(v + i, 1);
  }
  if (count >= 4) {
    _Pragma("GCC unroll 4") for (int i = 0; i < count; i += 4) NAMED(merge_runs)(v + i, 2);
  }
  if (count >= 8) {
    _Pragma("GCC unroll 2") for (int i = 0; i < count; i += 8) NAMED(merge_runs)(v + i, 4);
  }
  if (count >= 16) {
    NAMED(merge_runs)(v, 8);
  }
}
