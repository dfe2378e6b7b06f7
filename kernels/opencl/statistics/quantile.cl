/* Order statistics without a sort: a group per row finds the k-th smallest element bit by bit, counting those below.
 * families/statistics_quantile.c launches it.
 *
 * NUMBER: float or double, wide enough for every element; KEY: uint or ulong of its size; KEY_BITS. Operands of `kept`:
 * x, y; of `inner`: x. */

/* Numbers in the order of whole numbers. */
static inline KEY key_of(NUMBER x) {
  KEY bits = AS_KEY(x), top = (KEY)1 << (KEY_BITS - 1);
  return (bits & top) != 0 ? ~bits : bits | top;
}

static inline NUMBER number_of(KEY key) {
  KEY top = (KEY)1 << (KEY_BITS - 1);
  return AS_NUMBER((key & top) != 0 ? key ^ top : ~key);
}

static inline long share_count(long x, __local long *shared) {
  int me = get_local_id(0);
  shared[me] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int hop = get_local_size(0) / 2; hop > 0; hop /= 2) {
    if (me < hop) shared[me] += shared[me + hop];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  x = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return x;
}

/* Elements that are no NaN (least 0), or of them those whose key is below `least`. */
static inline long count_below(const nd4c_walk *inner, __global const STORAGE(A) *x, long x0, bool all, KEY least,
                        __local long *shared) {
  long count = 0;
  for (long i = get_local_id(0); i < inner->size; i += get_local_size(0)) {
    NUMBER value = (NUMBER)LOAD(A, x, x0 + nd4c_walk_place(inner, 0, i));
    count += !isnan(value) && (all || key_of(value) < least);
  }
  return share_count(count, shared);
}

__kernel void quantile(nd4c_walk kept, nd4c_walk inner, __global const STORAGE(A) *x, long x0, __global STORAGE(Y) *y,
                       long y0, REAL q, int method, int skip_nan, __local long *shared) {
  long row = get_group_id(0);
  x0 += nd4c_walk_place(&kept, 0, row);
  long count = count_below(&inner, x, x0, true, 0, shared);
  bool any = count > 0 && (skip_nan || count == inner.size);
  REAL place = q * (REAL)(count - 1), lower = floor(place), part = place - lower;
  long first = method == 4 ? (long)rint(place) : (long)lower;
  bool two = method != 4 && part > 0;
  KEY found = 0, below = 0;
  /* The element of rank `first` bit by bit and then, where two are mixed, the next one: one loop for both, since
   * compilers that make a group's items a loop (PoCL) copy what stands around each barrier. */
  int steps = !any ? 0 : two ? 2 * KEY_BITS : KEY_BITS;
  for (int step = 0; step < steps; step++) {
    bool second = step >= KEY_BITS;
    below = step == KEY_BITS ? found : below;
    found = step == KEY_BITS ? 0 : found;
    KEY trial = found | ((KEY)1 << (KEY_BITS - 1 - (second ? step - KEY_BITS : step)));
    found = count_below(&inner, x, x0, false, trial, shared) <= first + second ? trial : found;
  }
  REAL b = (REAL)number_of(found), a = two ? (REAL)number_of(below) : b, result;
  if (!any)
    result = NAN;
  else if (method == 1 || method == 4)
    result = a;
  else if (method == 2)
    result = b;
  else if (method == 3)
    result = a == b ? a : a / 2 + b / 2;
  else
    result = a == b || part == 0 ? a : part < (REAL)0.5 ? a + (b - a) * part : b - (b - a) * (1 - part);
  if (get_local_id(0) == 0) SAVE(Y, y, y0 + nd4c_walk_place(&kept, 1, row), ROUND(Y, result));
}
