/* Elements that are placed at indices or added there, one after the other: a template that pick_unit.h includes per
 * size and pick.c per dtype, for simd/indexing.c and indexing_positions.c. Callers of the first two functions pass as
 * constants: whether they add; wide indices or narrow ones; near: neighbours are one element apart. */

ND4C_INLINED void NAME(place_each)(bool adds, bool wide, bool near, int64_t n, nd4c_indices indices, const T *from,
                                   T *to, int64_t stride, int64_t step) {
  for (int64_t i = 0; i < n; i++) {
    int64_t at = near ? index_at(indices, wide, i) : index_at(indices, wide, i) * stride + i * step;
    to[at] = adds ? (T)(to[at] + from[i]) : from[i];
  }
}

ND4C_INLINED void NAME(place_any)(bool adds, int64_t n, const nd4c_indices *indices, const T *from, T *to,
                                  int64_t stride, int64_t step) {
  bool near = stride == 1 && step == 0;
  if (indices->wide && near) {
    NAME(place_each)(adds, true, true, n, *indices, from, to, 1, 0);
  } else if (near) {
    NAME(place_each)(adds, false, true, n, *indices, from, to, 1, 0);
  } else if (indices->wide) {
    NAME(place_each)(adds, true, false, n, *indices, from, to, stride, step);
  } else {
    NAME(place_each)(adds, false, false, n, *indices, from, to, stride, step);
  }
}

/* Not every type has a use for both. */
static inline void NAME(place)(int64_t n, const nd4c_indices *indices, const void *from, void *to, int64_t stride,
                               int64_t step) {
  NAME(place_any)(false, n, indices, from, to, stride, step);
}

static inline void NAME(add)(int64_t n, const nd4c_indices *indices, const void *from, void *to, int64_t stride,
                             int64_t step) {
  NAME(place_any)(true, n, indices, from, to, stride, step);
}
