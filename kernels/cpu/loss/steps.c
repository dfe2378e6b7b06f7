/* Implements steps.h: loops that the compiler vectorises, in double; results are rounded once. Compiled once per level.
 * simd/loss/loss_steps.c reads the table by nd4c_simd.steps. */
#include "kernels/cpu/loss/steps.h"

#include <math.h>

#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

extern const nd4c_steps_table ND4C_LEVEL_NAME(nd4c_steps_table);

/* One element: gradient, x, v and h are doubles; results are assigned to the last three. */
#define STEP_sgd(c) x -= (c).rate * (gradient + (c).decay * x)
#define STEP_momentum(c)                                      \
  v = (c).alpha * v + (c).fresh * (gradient + (c).decay * x); \
  x -= (c).rate * v
#define STEP_nesterov(c)                    \
  gradient += (c).decay * x;                \
  v = (c).alpha * v + (c).fresh * gradient; \
  x -= (c).rate * (gradient + (c).alpha * v)
#define STEP_adagrad(c)      \
  gradient += (c).decay * x; \
  h += gradient * gradient;  \
  x -= (c).rate * gradient / (sqrt(h) + (c).epsilon)
#define STEP_rmsprop(c)                                      \
  gradient += (c).decay * x;                                 \
  h = (c).alpha * h + (1 - (c).alpha) * gradient * gradient; \
  x -= (c).rate * gradient / (sqrt(h) + (c).epsilon)
#define STEP_adam(c)                                       \
  gradient += (c).decay * x;                               \
  v = (c).alpha * v + (1 - (c).alpha) * gradient;          \
  h = (c).beta * h + (1 - (c).beta) * gradient * gradient; \
  x = (c).kept * (x - (c).rate * v / (sqrt(h) + (c).epsilon))
#define STEP_adamw(c)                                      \
  v = (c).alpha * v + (1 - (c).alpha) * gradient;          \
  h = (c).beta * h + (1 - (c).beta) * gradient * gradient; \
  x = (c).kept * x - (c).rate * v / (sqrt(h * (c).scale) + (c).epsilon)

/* Which states a step has. */
#define V_sgd 0
#define V_momentum 1
#define V_nesterov 1
#define V_adagrad 0
#define V_rmsprop 0
#define V_adam 1
#define V_adamw 1
#define H_sgd 0
#define H_momentum 0
#define H_nesterov 0
#define H_adagrad 1
#define H_rmsprop 1
#define H_adam 1
#define H_adamw 1

/* FROM and TO: types of operands and results. */
#define STEP_LOOP(name, suffix, FROM, TO)                                                                 \
  static void name##_##suffix(int64_t n, const nd4c_step_numbers *numbers, const nd4c_step_operands *o) { \
    const nd4c_step_numbers c = *numbers;                                                                 \
    const FROM *old_x = o->x, *gradients = o->gradient, *old_v = o->v, *old_h = o->h;                     \
    TO *next_x = o->next_x, *next_v = o->next_v, *next_h = o->next_h;                                     \
    (void)old_v, (void)old_h, (void)next_v, (void)next_h;                                                 \
    ND4C_INDEPENDENT                                                                                      \
    for (int64_t i = 0; i < n; i++) {                                                                     \
      double x = (double)old_x[i], gradient = (double)gradients[i];                                       \
      double v = V_##name ? (double)old_v[i] : 0, h = H_##name ? (double)old_h[i] : 0;                    \
      STEP_##name(c);                                                                                     \
      next_x[i] = (TO)x;                                                                                  \
      if (V_##name) {                                                                                     \
        next_v[i] = (TO)v;                                                                                \
      }                                                                                                   \
      if (H_##name) {                                                                                     \
        next_h[i] = (TO)h;                                                                                \
      }                                                                                                   \
      (void)gradient, (void)v, (void)h;                                                                   \
    }                                                                                                     \
  }
#define FLOAT32_LOOP(name) STEP_LOOP(name, float32, float, float)
#define FLOAT64_LOOP(name) STEP_LOOP(name, float64, double, double)
ND4C_STEPS(FLOAT32_LOOP)
ND4C_STEPS(FLOAT64_LOOP)

#ifndef ND4C_DTYPES_LITE
/* -- 16-bit floats: widened to float, computed into double and rounded once -----------------------------------------
 */

#define WIDENED_LOOP(name) STEP_LOOP(name, widened, float, double)
ND4C_STEPS(WIDENED_LOOP)

enum { OPERANDS = 4, RESULTS = 3 };

#define HALF_LOOPS(D, d, kind)                                                                      \
  static void by_chunks_##d(nd4c_step_loop loop, int64_t n, const nd4c_step_numbers *numbers,       \
                            const nd4c_step_operands *o) {                                          \
    float wide[OPERANDS][ND4C_HALF_CHUNK];                                                          \
    double made[RESULTS][ND4C_HALF_CHUNK];                                                          \
    const nd4c_step_operands own = {wide[0], wide[1], wide[2], wide[3], made[0], made[1], made[2]}; \
    const uint16_t *from[OPERANDS] = {o->x, o->gradient, o->v, o->h};                               \
    uint16_t *to[RESULTS] = {o->next_x, o->next_v, o->next_h};                                      \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                                              \
      int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;                            \
      for (int k = 0; k < OPERANDS; k++) {                                                          \
        if (from[k] != NULL) {                                                                      \
          nd4c_widen_##d(count, from[k] + i, wide[k]);                                              \
        }                                                                                           \
      }                                                                                             \
      loop(count, numbers, &own);                                                                   \
      for (int k = 0; k < RESULTS; k++) {                                                           \
        if (to[k] != NULL) {                                                                        \
          nd4c_odd_floats(count, made[k], wide[0]);                                                 \
          nd4c_narrow_##d(count, wide[0], to[k] + i);                                               \
        }                                                                                           \
      }                                                                                             \
    }                                                                                               \
  }                                                                                                 \
  ND4C_STEPS(LOOP_##d)
#define HALF_LOOP(name, d)                                                                                  \
  static void name##_##d(int64_t n, const nd4c_step_numbers *numbers, const nd4c_step_operands *operands) { \
    by_chunks_##d(name##_widened, n, numbers, operands);                                                    \
  }
#define LOOP_float16(name) HALF_LOOP(name, float16)
#define LOOP_bfloat16(name) HALF_LOOP(name, bfloat16)
ND4C_HALF_DTYPES(HALF_LOOPS)
#endif

#define ENTRY_float32(name) [ND4C_STEP_##name][ND4C_FLOAT32] = name##_float32,
#define ENTRY_float64(name) [ND4C_STEP_##name][ND4C_FLOAT64] = name##_float64,
#define ENTRY_float16(name) [ND4C_STEP_##name][ND4C_FLOAT16] = name##_float16,
#define ENTRY_bfloat16(name) [ND4C_STEP_##name][ND4C_BFLOAT16] = name##_bfloat16,
#define ENTRIES(D, d, kind) ND4C_STEPS(ENTRY_##d)
const nd4c_steps_table ND4C_LEVEL_NAME(nd4c_steps_table) = {
    .loops = {ND4C_WIDE_FLOAT_DTYPES(ENTRIES) ND4C_HALF_DTYPES(ENTRIES)}};
