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

#define CONVERT__(to, letter, v) to_##to##_##letter(v)
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
#ifdef HAS_FP64
#define to_float16_D(v) nd4c_odd_double(v)
#define to_bfloat16_D(v) nd4c_odd_double(v)
#define to_float32_D(v) convert_float(v)
#define to_float64_I(v) convert_double(v)
#define to_float64_U(v) convert_double(v)
#define to_float64_F(v) convert_double(v)
#define to_float64_D(v) (v)
#endif

#define to_bool_I(v) ((v) != 0)
#define to_bool_U(v) ((v) != 0)
#define to_bool_F(v) ((v) != 0)
#define to_bool_D(v) ((v) != 0)
/* Integers wrap, floats are cut off and saturate, NaN gives 0. */
#define NAN_TO_0(v, converted) (isnan(v) ? 0 : (converted))
#define to_int8_I(v) ((char)(v))
#define to_int8_U(v) ((char)(v))
#define to_int8_F(v) ((char)NAN_TO_0(v, convert_char_sat(v)))
#define to_int8_D(v) ((char)NAN_TO_0(v, convert_char_sat(v)))
#define to_int16_I(v) ((short)(v))
#define to_int16_U(v) ((short)(v))
#define to_int16_F(v) ((short)NAN_TO_0(v, convert_short_sat(v)))
#define to_int16_D(v) ((short)NAN_TO_0(v, convert_short_sat(v)))
#define to_int32_I(v) ((int)(v))
#define to_int32_U(v) ((int)(v))
#define to_int32_F(v) ((int)NAN_TO_0(v, convert_int_sat(v)))
#define to_int32_D(v) ((int)NAN_TO_0(v, convert_int_sat(v)))
#define to_int64_I(v) ((long)(v))
#define to_int64_U(v) ((long)(v))
#define to_int64_F(v) ((long)NAN_TO_0(v, convert_long_sat(v)))
#define to_int64_D(v) ((long)NAN_TO_0(v, convert_long_sat(v)))
#define to_uint8_I(v) ((uchar)(v))
#define to_uint8_U(v) ((uchar)(v))
#define to_uint8_F(v) ((uchar)NAN_TO_0(v, convert_uchar_sat(v)))
#define to_uint8_D(v) ((uchar)NAN_TO_0(v, convert_uchar_sat(v)))
#define to_uint16_I(v) ((ushort)(v))
#define to_uint16_U(v) ((ushort)(v))
#define to_uint16_F(v) ((ushort)NAN_TO_0(v, convert_ushort_sat(v)))
#define to_uint16_D(v) ((ushort)NAN_TO_0(v, convert_ushort_sat(v)))
#define to_uint32_I(v) ((uint)(v))
#define to_uint32_U(v) ((uint)(v))
#define to_uint32_F(v) ((uint)NAN_TO_0(v, convert_uint_sat(v)))
#define to_uint32_D(v) ((uint)NAN_TO_0(v, convert_uint_sat(v)))
#define to_uint64_I(v) ((ulong)(v))
#define to_uint64_U(v) ((ulong)(v))
#define to_uint64_F(v) ((ulong)NAN_TO_0(v, convert_ulong_sat(v)))
#define to_uint64_D(v) ((ulong)NAN_TO_0(v, convert_ulong_sat(v)))
#define to_float16_I(v) nd4c_odd_long(v)
#define to_float16_U(v) nd4c_odd_ulong(v)
#define to_float16_F(v) (v)
#define to_bfloat16_I(v) nd4c_odd_long(v)
#define to_bfloat16_U(v) nd4c_odd_ulong(v)
#define to_bfloat16_F(v) (v)
#define to_float32_I(v) convert_float(v)
#define to_float32_U(v) convert_float(v)
#define to_float32_F(v) (v)

/* HELD(to, v): what an element of a dtype holds of v, which is of the type that the dtype computes in. Narrower floats are
 * rounded here. */
static inline float held_float16(float v) {
  ushort bits;
  vstore_half_rte(v, 0, (half *)&bits);
  return vload_half(0, (const half *)&bits);
}
#define held_bfloat16(v) as_float((uint)nd4c_bfloat16(v) << 16)
#define held_bool(v) (v)
#define held_int8(v) (v)
#define held_int16(v) (v)
#define held_int32(v) (v)
#define held_int64(v) (v)
#define held_uint8(v) (v)
#define held_uint16(v) (v)
#define held_uint32(v) (v)
#define held_uint64(v) (v)
#define held_float32(v) (v)
#define held_float64(v) (v)
#define HELD(to, v) PASTE(held, to)(v)
