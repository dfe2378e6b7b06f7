/* Windows over up to three spatial axes (missing first ones have extent 1). The same struct as nd4c_cl_sweep of
 * support/sweep.h. conv.cl, pool.cl and unpool.cl read their windows with it. */
typedef struct {
  long batch, channels, outputs, groups; /* outputs: channels of y */
  long x[3], y[3], kernel_[3], stride[3], dilation[3], pad[3], pad_end[3];
  long x_strides[5], y_strides[5], w_strides[5], z_strides[5]; /* n, c, spatial; z: addend, or indices */
} sweep;

/* Place of output number i among [n, c, spatial]. */
static inline void output_place(const sweep *s, long i, long *n, long *c, long *at) {
  for (int axis = 2; axis >= 0; axis--) {
    at[axis] = i % s->y[axis];
    i /= s->y[axis];
  }
  *c = i % s->outputs;
  *n = i / s->outputs;
}

static inline long at_strides(const long *strides, long n, long c, const long *at) {
  return n * strides[0] + c * strides[1] + at[0] * strides[2] + at[1] * strides[3] + at[2] * strides[4];
}

static inline long output_count(const sweep *s) {
  return s->batch * s->outputs * s->y[0] * s->y[1] * s->y[2];
}
