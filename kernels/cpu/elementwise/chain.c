/* Implements nd4c_chain_table of chain.h for AVX-512. Each step is a function that gets eight registers of running
 * values and calls the next step last, so compilers make a jump of the call, and the values never leave the registers.
 * backends/cpu/tile picks the steps from nd4c_simd.chain. */
#include "kernels/cpu/elementwise/chain.h"

#include <stddef.h>

#include "kernels/cpu/elementwise/unary_vector.h"
#include "kernels/cpu/support/level.h"

extern const nd4c_chain_table ND4C_LEVEL_NAME(nd4c_chain_table);

#if defined(__AVX512F__)

enum { VECTORS = 8, BLOCK = 16 * VECTORS, BLOCK_BYTES = BLOCK * (int)sizeof(float), AHEAD_BYTES = 8 * BLOCK_BYTES };

/* Running values. Eight registers, so that the processor's divider works for the last ones while the first ones are in
 * the next step. */
#define EACH(X, ...)    \
  X(a, 0, __VA_ARGS__); \
  X(b, 1, __VA_ARGS__); \
  X(c, 2, __VA_ARGS__); \
  X(d, 3, __VA_ARGS__); \
  X(e, 4, __VA_ARGS__); \
  X(f, 5, __VA_ARGS__); \
  X(g, 6, __VA_ARGS__); \
  X(h, 7, __VA_ARGS__)

#define STEP                                                                                                   \
  __m512 a, __m512 b, __m512 c, __m512 d, __m512 e, __m512 f, __m512 g, __m512 h, const nd4c_chain_step *step, \
      const nd4c_chain_slot *slots, int64_t at
typedef void step_function(STEP);

#define NEXT ((step_function *)step[1].code)(a, b, c, d, e, f, g, h, step + 1, slots, at)

ND4C_INLINED float *operand(const nd4c_chain_step *step, const nd4c_chain_slot *slots, int64_t at) {
  const nd4c_chain_slot *slot = &slots[step->slot];
  return (float *)(slot->address + (at & slot->moves));
}

#define LOAD(vector, i, from) vector = _mm512_loadu_ps((from) + 16 * (i))
static void load(STEP) {
  const float *x = operand(step, slots, at);
  EACH(LOAD, x);
  NEXT;
}

static void load_one(STEP) {
  a = b = c = d = e = f = g = h = _mm512_set1_ps(*operand(step, slots, at));
  NEXT;
}

#define STORE(vector, i, to) _mm512_storeu_ps((to) + 16 * (i), vector)
static void store(STEP) {
  float *y = operand(step, slots, at);
  EACH(STORE, y);
  NEXT;
}

#define STREAM(vector, i, to) _mm512_stream_ps((to) + 16 * (i), vector)
static void stream(STEP) {
  float *y = operand(step, slots, at);
  EACH(STREAM, y);
  NEXT;
}

static void end(STEP) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)step, (void)slots, (void)at;
}

/* -- one operand --------------------------------------------------------------------------------------------------- */

#define APPLY(vector, i, function) vector = function(vector)
#define UNARY(op, expression)                 \
  ND4C_INLINED __m512 op##_vector(__m512 x) { \
    return expression;                        \
  }                                           \
  static void op##_step(STEP) {               \
    EACH(APPLY, op##_vector);                 \
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

#define COMBINE(vector, i, function, other, first, second) \
  vector = function(first(vector, other(i)), second(vector, other(i)))
#define FORM(op, form, function, other, first, second) \
  static void op##_##form(STEP) {                      \
    const float *z = operand(step, slots, at);         \
    EACH(COMBINE, function, other, first, second);     \
    NEXT;                                              \
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

/* A block's instructions fill the window in which the processor looks for loads to begin early, so what the memory is
 * to deliver for a later block has to be asked for. */
ND4C_INLINED void prefetch(const nd4c_chain_slot *slots, int32_t inputs, int64_t at) {
  for (int32_t i = 0; i < inputs; i++) {
    const char *later = slots[i].address + ((at + AHEAD_BYTES) & slots[i].moves);
    for (int32_t line = 0; line < BLOCK_BYTES; line += 64) {
      _mm_prefetch(later + line, _MM_HINT_T0);
    }
  }
}

static void run(const nd4c_chain_step *steps, const nd4c_chain_slot *slots, int32_t inputs, int64_t begin,
                int64_t last) {
  const __m512 zero = _mm512_setzero_ps();
  for (int64_t i = begin; i < last; i++) {
    prefetch(slots, inputs, i * BLOCK_BYTES);
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
