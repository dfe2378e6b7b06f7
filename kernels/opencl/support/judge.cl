/* Checks the values of parameters (TYPE_A) before anything is computed from them. support/judge.c launches it for
 * families/random_laws.c and image_boxes.c. */
#ifdef HAS_FP64
/* verdict: the first place of a value that is not within least .. most, or not whole, and that value. told >= 0: only
 * writes the value of that place. The first number of the verdict is the largest before. */
__kernel void judge(__global const STORAGE(A) *a, long a0, nd4c_walk walk, double least, double most, int whole,
                    __global uint *verdict, __global double *values, long slot, long told, long items) {
  ITEM(i, items)
  double value = CONVERT(TYPE_A, float64, LOAD(A, a, a0 + nd4c_walk_place(&walk, 0, (INDEX)i)));
  if (told >= 0) {
    if (i == told) {
      values[2 * slot + 1] = value;
    }
  } else if (!(value >= least && value <= most) || (whole && value != floor(value))) {
    atomic_min(&verdict[4 * slot], (uint)i);
  }
}
#endif
