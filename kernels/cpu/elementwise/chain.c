/* Implements nd4c_chain_table of chain.h for AVX-512. Each step is a function that gets four registers of running
 * values and calls the next step last, so compilers make a jump of the call, and the values never leave the registers.
 * backends/cpu/tile picks the steps from nd4c_simd.chain. */
#include "kernels/cpu/elementwise/chain.h"

#include <stddef.h>

#include "kernels/cpu/elementwise/unary_vector.h"
#include "kernels/cpu/support/level.h"

extern const nd4c_chain_table ND4C_LEVEL_NAME(nd4c_chain_table);

#if defined(__AVX512F__)

enum { VECTOR = 16, BLOCK = 8 * VECTOR, BLOCK_BYTES = BLOCK * (int)sizeof(float) };

/* X(register, its number): all that a calling convention passes in registers, because one function's chain of dependent
 * instructions leaves room for others. */
#define EACH(X) X(a, 0) X(b, 1) X(c, 2) X(d, 3) X(e, 4) X(f, 5) X(g, 6) X(h, 7)
#define STEP                                                                                                   \
  __m512 a, __m512 b, __m512 c, __m512 d, __m512 e, __m512 f, __m512 g, __m512 h, const nd4c_chain_step *step, \
      const nd4c_chain_slot *slots, int64_t at
typedef void step_function(STEP);

#define NEXT ((step_function *)step[1].code)(a, b, c, d, e, f, g, h, step + 1, slots, at)

ND4C_INLINED float *operand(const nd4c_chain_step *step, const nd4c_chain_slot *slots, int64_t at) {
  const nd4c_chain_slot *slot = &slots[step->slot];
  return (float *)(slot->address + (at & slot->moves));
}

#define IN_BLOCK(i) _mm512_loadu_ps(z + VECTOR * (i))
#define SINGLE(i) _mm512_set1_ps(*z)

static void load(STEP) {
  const float *z = operand(step, slots, at);
#define LOAD(r, i) r = IN_BLOCK(i);
  EACH(LOAD)
  NEXT;
}

static void load_one(STEP) {
  const float *z = operand(step, slots, at);
#define LOAD_ONE(r, i) r = SINGLE(i);
  EACH(LOAD_ONE)
  NEXT;
}

static void store(STEP) {
  float *y = operand(step, slots, at);
#define STORE(r, i) _mm512_storeu_ps(y + VECTOR * (i), r);
  EACH(STORE)
  NEXT;
}

static void stream(STEP) {
  float *y = operand(step, slots, at);
#define STREAM(r, i) _mm512_stream_ps(y + VECTOR * (i), r);
  EACH(STREAM)
  NEXT;
}

static void end(STEP) {
#define UNUSED(r, i) (void)(r);
  EACH(UNUSED)
  (void)step, (void)slots, (void)at;
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
    e = op##_vector(e);                       \
    f = op##_vector(f);                       \
    g = op##_vector(g);                       \
    h = op##_vector(h);                       \
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
    e = function(first(e, other(4)), second(e, other(4))); \
    f = function(first(f, other(5)), second(f, other(5))); \
    g = function(first(g, other(6)), second(g, other(6))); \
    h = function(first(h, other(7)), second(h, other(7))); \
    NEXT;                                                  \
  }
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
    ((step_function *)steps->code)(zero, zero, zero, zero, zero, zero, zero, zero, steps, slots, i * BLOCK_BYTES);
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
