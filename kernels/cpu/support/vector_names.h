/* Names that do not tell the dtype, for loops that are included once for each: T, V, LOAD, ... of gemm_vector.h and
 * pool_vector.h, with VECTORS_OF 32 or 64; NAME(x) ends in the dtype. */
#undef T
#undef V
#undef LOAD
#undef STORE
#undef PART_LOAD
#undef PART_STORE
#undef REPEAT
#undef FUSED
#undef EVENS
#undef ODDS
#undef VECTOR_LARGER
#undef NAME

#if VECTORS_OF == 32
#define T float
#define V V32
#define LOAD LOAD32
#define STORE STORE32
#define PART_LOAD PART_LOAD32
#define PART_STORE PART_STORE32
#define REPEAT REPEAT32
#define FUSED FUSED32
#define EVENS EVENS32
#define ODDS ODDS32
#define VECTOR_LARGER nd4c_larger32
#define NAME(name) name##_float32
#else
#define T double
#define V V64
#define LOAD LOAD64
#define STORE STORE64
#define PART_LOAD PART_LOAD64
#define PART_STORE PART_STORE64
#define REPEAT REPEAT64
#define FUSED FUSED64
#define EVENS EVENS64
#define ODDS ODDS64
#define VECTOR_LARGER nd4c_larger64
#define NAME(name) name##_float64
#endif

#if !defined(INLINED)
#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline))
#else
#define INLINED static inline
#endif
#endif
