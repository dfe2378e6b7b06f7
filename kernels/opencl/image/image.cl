/* What kernels of images share: they compute in double where the device has it and round once. TYPE_A: of x and y;
 * TYPE_B, where there is one: of the roi, the grid, theta or boxes. PAIRS: behind real.cl, in pairs of floats.
 * families/image_resize.c puts it before resize.cl, sample.cl and color.cl. */
#ifdef PAIRS
#define ROUNDED(v, to) (r_isnan(v) ? 0 : convert_##to##_sat(rounded_pair(v)))
#define TO_FLOAT(v) r_float(v)
#define rounded_pair(v) r_whole(r_rint(v))
#define stored_uint64(v) (r_isnan(v) ? 0 : r_whole_unsigned(r_rint(v)))
#else
#ifdef HAS_FP64
typedef double REAL;
#else
typedef float REAL;
#endif
#define ROUNDED(v, to) ((v) != (v) ? 0 : convert_##to##_sat(rint(v)))
#define TO_FLOAT(v) ((float)(v))
#define stored_uint64(v) ROUNDED(v, ulong)
#endif

/* Numbers as they are stored: integers are rounded to even and saturate, NaN gives 0. */
#define stored_bool(v) ((v) != 0)
#define stored_int8(v) ROUNDED(v, char)
#define stored_int16(v) ROUNDED(v, short)
#define stored_int32(v) ROUNDED(v, int)
#define stored_int64(v) ROUNDED(v, long)
#define stored_uint8(v) ROUNDED(v, uchar)
#define stored_uint16(v) ROUNDED(v, ushort)
#define stored_uint32(v) ROUNDED(v, uint)
#define stored_float16(v) TO_FLOAT(v)
#define stored_bfloat16(v) TO_FLOAT(v)
#define stored_float32(v) TO_FLOAT(v)
#define stored_float64(v) (v)
/* A number given as a float: integers are cut off and saturate. */
#define CUT(v, to) ((v) != (v) ? 0 : convert_##to##_sat_rtz(v))
#define cut_bool(v) ((v) != 0)
#define cut_int8(v) CUT(v, char)
#define cut_int16(v) CUT(v, short)
#define cut_int32(v) CUT(v, int)
#define cut_int64(v) CUT(v, long)
#define cut_uint8(v) CUT(v, uchar)
#define cut_uint16(v) CUT(v, ushort)
#define cut_uint32(v) CUT(v, uint)
#define cut_uint64(v) CUT(v, ulong)
#define cut_float16(v) ((float)(v))
#define cut_bfloat16(v) ((float)(v))
#define cut_float32(v) ((float)(v))
#define cut_float64(v) (v)
#define STORE(p, i, v) SAVE_A(p, i, PASTE(stored, TYPE_A)(v))
