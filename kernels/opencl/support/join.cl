/* Elements joined to others of a wider dtype. Operands: x, y. families/indexing_arrangement.c launches it. */
__kernel void join(__global const STORAGE(A) *x, long x0, __global STORAGE(Y) *y, long y0, nd4c_walk walk, long items) {
  ITEM(rest, items)
  for (int axis = walk.rank - 1; axis >= 0; axis--) {
    long next = rest / walk.shape[axis], place = rest - next * walk.shape[axis];
    rest = next;
    x0 += place * walk.strides[0][axis];
    y0 += place * walk.strides[1][axis];
  }
  SAVE(Y, y, y0, (COMPUTE(Y))LOAD(A, x, x0));
}
