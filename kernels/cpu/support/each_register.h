/* Includes a template once for each float whose AVX-512 registers it computes in. The includer (power.h,
 * normalization.c) defines ND4C_TEMPLATE, which this file undefines. A template sees T, the type of elements; V, a
 * register of them; MASK, of its elements; OP(x), an instruction on registers; OP_MASK(x), one that gives a mask; and
 * NAME(x), which appends the dtype. */
#define T float
#define V __m512
#define MASK __mmask16
#define OP(name) _mm512_##name##_ps
#define OP_MASK(name) _mm512_##name##_ps_mask
#define NAME(name) name##_float32
#include ND4C_TEMPLATE
#undef T
#undef V
#undef MASK
#undef OP
#undef OP_MASK
#undef NAME
#define T double
#define V __m512d
#define MASK __mmask8
#define OP(name) _mm512_##name##_pd
#define OP_MASK(name) _mm512_##name##_pd_mask
#define NAME(name) name##_float64
#include ND4C_TEMPLATE
#undef T
#undef V
#undef MASK
#undef OP
#undef OP_MASK
#undef NAME
#undef ND4C_TEMPLATE
