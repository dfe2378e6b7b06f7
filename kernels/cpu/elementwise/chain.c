/* Implements nd4c_chain_table of chain.h for AVX-512. Each step is a function that gets four registers of running
 * values and calls the next step last, so compilers make a jump of the call, and the values never leave the registers.
 * backends/cpu/tile picks the steps from nd4c_simd.chain. */
#include "kernels/cpu/elementwise/chain.h"

#include <stddef.h>

#include "kernels/cpu/elementwise/unary_vector.h"
#include "kernels/cpu/support/level.h"

extern const nd4c_chain_table ND4C_LEVEL_NAME(nd4c_chain_table);

#if defined(__AVX512F__)

enum { BLOCK = 64, BLOCK_BYTES = BLOCK * (int)sizeof(float) };

#define STEP \
  __m512 a, __m512 b, __m512 c, __m512 d, const nd4c_chain_step *step, const nd4c_chain_slot *slots, int64_t at
typedef void step_function(STEP);

#define NEXT ((step_function *)step[1].code)(a, b, c, d, step + 1, slots, at)

ND4C_INLINED float *operand(const nd4c_chain_step *step, const nd4c_chain_slot *slots, int64_t at) {
  const nd4c_chain_slot *slot = &slots[step->slot];
  return (float *)(slot->address + (at & slot->moves));
}

static void load(STEP) {
  const float *x = operand(step, slots, at);
  a = _mm512_loadu_ps(x);
  b = _mm512_loadu_ps(x + 16);
  c = _mm512_loadu_ps(x + 32);
  d = _mm512_loadu_ps(x + 48);
  NEXT;
}

static void load_one(STEP) {
  a = b = c = d = _mm512_set1_ps(*operand(step, slots, at));
  NEXT;
}

static void store(STEP) {
  float *y = operand(step, slots, at);
  _mm512_storeu_ps(y, a);
  _mm512_storeu_ps(y + 16, b);
  _mm512_storeu_ps(y + 32, c);
  _mm512_storeu_ps(y + 48, d);
  NEXT;
}

static void stream(STEP) {
  float *y = operand(step, slots, at);
  _mm512_stream_ps(y, a);
  _mm512_stream_ps(y + 16, b);
  _mm512_stream_ps(y + 32, c);
  _mm512_stream_ps(y + 48, d);
  NEXT;
}

static void end(STEP) {
  (void)a, (void)b, (void)c, (void)d, (void)step, (void)slots, (void)at;
}

/* -- one operand --------------------------------------------------------------------------------------------------- */

#define UNARY(op, expression)                 \
  ND4C_INLINED __m512 op##_vector(__m512 x) { \
    return expression;                        \
  }                                           \
  static void op##_step(STEP) {               \
    a = op##_vector(a);                       \
    b = op##_vector(b);                       \
    c = op##_vector(c);                       \
    d = op##_vector(d);                       \
    NEXT;                                     \
  }

#define UNARY_STEPS(X)                                                                                        \
  X(negative, _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(x), _mm512_set1_epi32(INT32_MIN))))    \
  X(abs, nd4c_absolute_sixteen(x))                                                                            \
  X(square, _mm512_mul_ps(x, x))                                                                              \
  X(relu, _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ), _mm512_setzero_ps())) \
  X(reciprocal, _mm512_div_ps(_mm512_set1_ps(1), x))                                                          \
  X(exp, nd4c_unary_sixteen(ND4C_UNARY_exp, false, x))                                                        \
  X(log, nd4c_unary_sixteen(ND4C_UNARY_log, false, x))                                                        \
  X(sigmoid, nd4c_unary_sixteen(ND4C_UNARY_sigmoid, false, x))                                                \
  X(sqrt, nd4c_unary_sixteen(ND4C_UNARY_sqrt, false, x))                                                      \
  X(tanh, nd4c_unary_sixteen(ND4C_UNARY_tanh, false, x))                                                      \
  X(erf, nd4c_unary_sixteen(ND4C_UNARY_erf, false, x))                                                        \
  X(gelu, nd4c_unary_sixteen(ND4C_UNARY_gelu, false, x))                                                      \
  X(gelu_tanh, nd4c_unary_sixteen(ND4C_UNARY_gelu_tanh, false, x))
UNARY_STEPS(UNARY)

/* -- two operands -------------------------------------------------------------------------------------------------- */

ND4C_INLINED __m512 larger(__m512 x, __m512 z) {
  const __mmask16 first = _mm512_cmp_ps_mask(x, z, _CMP_GE_OQ) | _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_mask_mov_ps(z, first, x);
}

ND4C_INLINED __m512 smaller(__m512 x, __m512 z) {
  const __mmask16 first = _mm512_cmp_ps_mask(x, z, _CMP_LE_OQ) | _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_mask_mov_ps(z, first, x);
}

#define FORM(op, form, function, other, first, second)     \
  static void op##_##form(STEP) {                          \
    const float *z = operand(step, slots, at);             \
    a = function(first(a, other(0)), second(a, other(0))); \
    b = function(first(b, other(1)), second(b, other(1))); \
    c = function(first(c, other(2)), second(c, other(2))); \
    d = function(first(d, other(3)), second(d, other(3))); \
    NEXT;                                                  \
  }
#define IN_BLOCK(i) _mm512_loadu_ps(z + 16 * (i))
#define SINGLE(i) _mm512_set1_ps(*z)
#define RUNNING(x, z) (x)
#define OTHER(x, z) (z)
#define BINARY(op, function)                                   \
  FORM(op, block, function, IN_BLOCK, RUNNING, OTHER)          \
  FORM(op, one, function, SINGLE, RUNNING, OTHER)              \
  FORM(op, block_reversed, function, IN_BLOCK, OTHER, RUNNING) \
  FORM(op, one_reversed, function, SINGLE, OTHER, RUNNING)
#define BINARY_STEPS(X)      \
  X(add, _mm512_add_ps)      \
  X(subtract, _mm512_sub_ps) \
  X(multiply, _mm512_mul_ps) \
  X(divide, _mm512_div_ps)   \
  X(maximum, larger)         \
  X(minimum, smaller)
BINARY_STEPS(BINARY)

static void run(const nd4c_chain_step *steps, const nd4c_chain_slot *slots, int64_t begin, int64_t last) {
  const __m512 zero = _mm512_setzero_ps();
  for (int64_t i = begin; i < last; i++) {
    ((step_function *)steps->code)(zero, zero, zero, zero, steps, slots, i * BLOCK_BYTES);
  }
}

#define CODE(function) (nd4c_chain_code)(function)
#define UNARY_ENTRY(op, expression) [ND4C_UNARY_##op] = CODE(op##_step),
#define BINARY_ENTRY(op, function) \
  [ND4C_BINARY_##op] = {CODE(op##_block), CODE(op##_one), CODE(op##_block_reversed), CODE(op##_one_reversed)},
const nd4c_chain_table ND4C_LEVEL_NAME(nd4c_chain_table) = {.block = BLOCK,
                                                            .load = CODE(load),
                                                            .load_one = CODE(load_one),
                                                            .store = CODE(store),
                                                            .stream = CODE(stream),
                                                            .end = CODE(end),
                                                            .unary = {UNARY_STEPS(UNARY_ENTRY)},
                                                            .binary = {BINARY_STEPS(BINARY_ENTRY)},
                                                            .run = run};
#else
const nd4c_chain_table ND4C_LEVEL_NAME(nd4c_chain_table) = {.block = 0};
#endif
