/* What kernels of images share: they compute in double where the device has it and round once. TYPE_A: of x and y;
 * TYPE_B, where there is one: of the roi, the grid, theta or boxes. PAIRS: behind real.cl, in pairs of floats.
 * families/image_resize.c puts it before resize.cl, sample.cl and color.cl. */
#ifdef PAIRS
#define TO_WHOLE(v, convert)                                  \
  (r_isnan(v)        ? 0                                      \
   : (v).x < 0x1p63f ? convert(r_whole(r_rint(v)))            \
                     : convert(r_whole_unsigned(r_rint(v))))
#define TO_FLOAT(v) r_float(v)
#else
#ifdef HAS_FP64
typedef double REAL;
#else
typedef float REAL;
#endif
#define TO_WHOLE(v, convert) ((v) != (v) ? 0 : convert(rint(v)))
#define TO_FLOAT(v) ((float)(v))
#endif

/* Numbers as they are stored: integers are rounded to even and saturate, NaN gives 0. */
#define SATURATED PASTE(PASTE(convert, STORAGE(A)), sat)
#define STORED(v) PASTE(stored, CLASS(A))(SATURATED, v)
#define stored_bool(saturated, v) ((v) != 0)
#define stored_integer(saturated, v) TO_WHOLE(v, saturated)
#define stored_float16(saturated, v) TO_FLOAT(v)
#define stored_bfloat16(saturated, v) TO_FLOAT(v)
#define stored_float32(saturated, v) TO_FLOAT(v)
#define stored_float64(saturated, v) (v)
/* A number given as a float: integers are cut off and saturate. */
#define CUT(v) PASTE(cut, CLASS(A))(PASTE(SATURATED, rtz), v)
#define cut_bool(saturated, v) ((v) != 0)
#define cut_integer(saturated, v) ((v) != (v) ? 0 : saturated(v))
#define cut_float16(saturated, v) ((float)(v))
#define cut_bfloat16(saturated, v) ((float)(v))
#define cut_float32(saturated, v) ((float)(v))
#define cut_float64(saturated, v) (v)
#define STORE(p, i, v) SAVE(A, p, i, STORED(v))
