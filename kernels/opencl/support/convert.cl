/* Values between dtypes as the op `cast` defines them: to_<dtype>_<letter>(v) takes v, of the type that a dtype
 * computes in, to the type that another computes in. Letters: I signed integers, U unsigned ones and bool, F float, D
 * double. elementwise.cl, creation.cl and the random kernels call these. */
#define letter_bool U
#define letter_int8 I
#define letter_int16 I
#define letter_int32 I
#define letter_int64 I
#define letter_uint8 U
#define letter_uint16 U
#define letter_uint32 U
#define letter_uint64 U
#define letter_float16 F
#define letter_bfloat16 F
#define letter_float32 F
#define letter_float64 D

#define CONVERT__(to, letter, v) to_##to(letter, v)
#define CONVERT_(to, letter, v) CONVERT__(to, letter, v)
/* v of dtype `from` (or of a letter) as dtype `to`. */
#define CONVERT(from, to, v) CONVERT_(to, PASTE(letter, from), v)
#define CONVERT_LETTER(letter, to, v) CONVERT_(to, letter, v)

/* Cut off, the last bit set if anything was lost (rounding to odd): a narrower float then comes out rounded once. */
static inline float nd4c_odd_long(long x) {
  float cut = convert_float_rtz(x);
  return convert_long_sat(cut) == x ? cut : as_float(as_uint(cut) | 1);
}
static inline float nd4c_odd_ulong(ulong x) {
  float cut = convert_float_rtz(x);
  return convert_ulong_sat(cut) == x ? cut : as_float(as_uint(cut) | 1);
}

#define to_bool(letter, v) ((v) != 0)
/* Integers wrap, floats are cut off and saturate, NaN gives 0. */
#define whole_I(type, v) ((type)(v))
#define whole_U(type, v) ((type)(v))
#define whole_F(type, v) ((type)(isnan(v) ? 0 : convert_##type##_sat(v)))
#define whole_D(type, v) whole_F(type, v)
#define to_int8(letter, v) whole_##letter(char, v)
#define to_int16(letter, v) whole_##letter(short, v)
#define to_int32(letter, v) whole_##letter(int, v)
#define to_int64(letter, v) whole_##letter(long, v)
#define to_uint8(letter, v) whole_##letter(uchar, v)
#define to_uint16(letter, v) whole_##letter(ushort, v)
#define to_uint32(letter, v) whole_##letter(uint, v)
#define to_uint64(letter, v) whole_##letter(ulong, v)
#define odd_I(v) nd4c_odd_long(v)
#define odd_U(v) nd4c_odd_ulong(v)
#define odd_F(v) (v)
#define odd_D(v) nd4c_odd_double(v)
#define to_float16(letter, v) odd_##letter(v)
#define to_bfloat16(letter, v) odd_##letter(v)
#define to_float32(letter, v) convert_float(v)
#define to_float64(letter, v) convert_double(v)

/* HELD(X, v): what an element of operand X holds of v, which is of the type COMPUTE(X). Narrower floats are rounded
 * here. */
static inline float held_float16(float v) {
  ushort bits;
  vstore_half_rte(v, 0, (half *)&bits);
  return vload_half(0, (const half *)&bits);
}
#define held_bfloat16(v) as_float((uint)nd4c_bfloat16(v) << 16)
#define held_bool(v) (v)
#define held_integer(v) (v)
#define held_float32(v) (v)
#define held_float64(v) (v)
#define HELD(X, v) PASTE(held, CLASS(X))(v)
