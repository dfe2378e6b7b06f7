/* Quantisation element by element, in double as the reference does it. TYPE_A of x, TYPE_B of scale (or low), TYPE_C of
 * zero_point (or high), TYPE_Y; PRECISION: what quotients are rounded to. OP(x, p, q) is the element.
 * families/quantization.c launches it. */
#ifdef HAS_FP64
static inline double rounded_to_half(double v) {
  ushort bits;
  vstore_half_rte(v, 0, (half *)&bits);
  return vload_half(0, (half *)&bits);
}
#define precise_float16(v) rounded_to_half(v)
#define precise_bfloat16(v) convert_double(as_float((uint)nd4c_bfloat16(nd4c_odd_double(v)) << 16))
#define precise_float32(v) convert_double(convert_float(v))
#define precise_float64(v) (v)
#define PRECISE(v) PASTE(precise, PRECISION)(v)

static inline double quantize(double x, double scale, double zero_point) {
  double quotient = PRECISE(PRECISE(x) / PRECISE(scale));
  return isnan(quotient) ? zero_point : rint(rint(quotient) + zero_point);
}
#define op_quantize(x, p, q) quantize(x, p, q)
#define op_dequantize(x, p, q) (((x) - (q)) * (p))

/* TensorFlow's grid of `last` values from `first` on: low moves so that 0 falls on a step. */
static inline double fake_quantize(double x, double low, double high, double first, double last) {
  double scale = (high - low) / (last - first), zero = first - low / scale;
  zero = zero < first ? first : zero > last ? last : rint(zero);
  if (!(scale > 0)) {
    return isnan(x) ? x : 0;
  }
  double step = rint(x / scale) + zero;
  step = step < first ? first : step > last ? last : step;
  return isnan(x) ? x : (step - zero) * scale;
}
#define op_fake_quantize(x, p, q) fake_quantize(x, p, q, first, last)

/* The walk's operands: x, y, scale, zero_point, which may be left out. */
__kernel void quantize_elements(__global const STORAGE(A) *a, long a0, __global const STORAGE(B) *b, long b0,
                                __global const STORAGE(C) *c, long c0, int has_c, __global STORAGE(Y) *y, long y0,
                                nd4c_walk walk, double first, double last, long items) {
  WITHIN(items)
  long at[4];
  nd4c_walk_places(&walk, 4, (INDEX)get_global_id(0), at);
  double x = CONVERT(TYPE_A, float64, LOAD(A, a, a0 + at[0])), p = CONVERT(TYPE_B, float64, LOAD(B, b, b0 + at[2]));
  double q = has_c ? CONVERT(TYPE_C, float64, LOAD(C, c, c0 + at[3])) : 0;
  double element = OP(x, p, q);
  SAVE(Y, y, y0 + at[1], CONVERT_LETTER(D, TYPE_Y, element));
}
#endif
