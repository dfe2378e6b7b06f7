/* Engine simd: the tables of the level that was picked when the backend opened. Every kernel of the engine, and the
 * libraries where they move or convert elements, include this. */
#ifndef ND4C_BACKENDS_CPU_SIMD_SIMD_H
#define ND4C_BACKENDS_CPU_SIMD_SIMD_H

#include <string.h>

#include "backends/cpu/cpu.h"
#include "kernel_tables.h"
#include "kernels/cpu/attention/attention.h"
#include "kernels/cpu/attention/rotary.h"
#include "kernels/cpu/attention/tiled.h"
#include "kernels/cpu/contraction/gemm.h"
#include "kernels/cpu/contraction/gemm_whole.h"
#include "kernels/cpu/creation/creation.h"
#include "kernels/cpu/elementwise/binary.h"
#include "kernels/cpu/elementwise/chain.h"
#include "kernels/cpu/elementwise/fast.h"
#include "kernels/cpu/elementwise/functions.h"
#include "kernels/cpu/elementwise/pairs/pairs.h"
#include "kernels/cpu/elementwise/pairs/parts.h"
#include "kernels/cpu/elementwise/unary.h"
#include "kernels/cpu/image/boxes.h"
#include "kernels/cpu/image/colors.h"
#include "kernels/cpu/image/regions.h"
#include "kernels/cpu/image/resample.h"
#include "kernels/cpu/indexing/bags.h"
#include "kernels/cpu/indexing/coordinates.h"
#include "kernels/cpu/indexing/pick.h"
#include "kernels/cpu/learning/trees.h"
#include "kernels/cpu/loss/steps.h"
#include "kernels/cpu/normalization/by_numbers.h"
#include "kernels/cpu/normalization/channels.h"
#include "kernels/cpu/normalization/normalization.h"
#include "kernels/cpu/quantization/affine.h"
#include "kernels/cpu/quantization/bytes.h"
#include "kernels/cpu/quantization/scales.h"
#include "kernels/cpu/random/random.h"
#include "kernels/cpu/recurrent/recurrent.h"
#include "kernels/cpu/reduction/reduction.h"
#include "kernels/cpu/reduction/terms.h"
#include "kernels/cpu/shape/move.h"
#include "kernels/cpu/shape/transpose.h"
#include "kernels/cpu/signal/fft.h"
#include "kernels/cpu/signal/sequences.h"
#include "kernels/cpu/sorting/nonzero.h"
#include "kernels/cpu/sorting/sort.h"
#include "kernels/cpu/statistics/moments.h"
#include "kernels/cpu/statistics/scan.h"
#include "kernels/cpu/window/cells.h"
#include "kernels/cpu/window/depthwise.h"
#include "kernels/cpu/window/depthwise_last.h"
#include "kernels/cpu/window/direct.h"
#include "kernels/cpu/window/dots.h"
#include "kernels/cpu/window/few.h"
#include "kernels/cpu/window/pool.h"
#include "kernels/cpu/window/transposed.h"
#include "kernels/cpu/window/winograd.h"

/* kernel_tables.h, made by the build: a file of kernels/cpu/<family>/ defines nd4c_<part>_table_<level> of type
 * nd4c_<part>_table for each X(part, level). */
typedef struct nd4c_simd_tables {
  const char *level;
#define ND4C_SIMD_POINTER(part, level) const nd4c_##part##_table *part;
  ND4C_KERNEL_TABLES(ND4C_SIMD_POINTER, )
#undef ND4C_SIMD_POINTER
} nd4c_simd_tables;

/* Never NULL pointers inside; the lowest level until the backend opens. */
extern nd4c_simd_tables nd4c_simd;

/* Which kernel is the fastest depends on the level. */
static inline bool nd4c_simd_level_is(const char *level) {
  return strcmp(nd4c_simd.level, level) == 0;
}

/* Results of more bytes than this are written past the caches. */
extern int64_t nd4c_simd_stream_bytes;
/* The processor multiplies pairs of bfloat16 (AVX-512 BF16), or tiles of them (AMX), which no level promises. Set by
 * nd4c_cpu_simd_open. */
extern bool nd4c_simd_multiplies_pairs, nd4c_simd_multiplies_tiles;
/* The processor has no instructions for bfloat16, so its products are computed by the loops of f32, which widen it:
 * oneDNN has none, or emulates them at a quarter of the speed. Set by nd4c_cpu_simd_open. */
extern bool nd4c_simd_widens_bfloat16;
/* Whether the processor multiplies pairs by tiles (AMX) and the system lets this process do so. The first call asks the
 * system, which has effects on the program (host->allow_tiles): for calls that will use them. */
bool nd4c_simd_may_use_tiles(void);

#define ND4C_SIMD_PRIORITY 100

#define ND4C_CPU_SIMD_KERNEL(op_name, dtype_set, usable_function, ...) \
  ND4C_CPU_KERNEL("simd", op_name, #op_name, ND4C_SIMD_PRIORITY, dtype_set, usable_function, __VA_ARGS__)

/* What places updates by a reduction of the scatter family; NULL: there is none for the dtype. */
static inline nd4c_place_function nd4c_simd_place(nd4c_dtype dtype, int64_t reduction) {
  return reduction == ND4C_SCATTER_REDUCTION_NONE  ? nd4c_simd.pick->place[nd4c_cpu_dtype_bytes(dtype)]
         : reduction == ND4C_SCATTER_REDUCTION_ADD ? nd4c_simd.pick->add[dtype]
                                                   : NULL;
}

/* Writes n doubles as elements of y, which is in C order, from element `from` on. */
static inline void nd4c_simd_write_doubles(const nd4c_tensor *y, int64_t from, int64_t n, const double *numbers) {
  char *to = (char *)y->data + from * nd4c_cpu_dtype_bytes(y->dtype);
  if (y->dtype == ND4C_FLOAT64) {
    memcpy(to, numbers, (size_t)n * sizeof *numbers);
  } else {
    nd4c_simd.cast->loops[ND4C_FLOAT64][y->dtype](n, numbers, to);
  }
}

/* The loop that computes an element-wise call. Operands are the call's inputs in their order. */
typedef enum nd4c_simd_element_kind {
  ND4C_SIMD_UNARY, /* `unary`, one operand; result may be in its place */
  ND4C_SIMD_CLIP, /* `unary`, whose parameters point to operands 1 and 2: bounds of one element, which may be omitted */
  ND4C_SIMD_BINARY, /* `binary`, two operands */
  ND4C_SIMD_CAST,   /* `cast`, one operand */
  ND4C_SIMD_WHERE   /* `where`, three operands */
} nd4c_simd_element_kind;

typedef struct nd4c_simd_element {
  nd4c_simd_element_kind kind;
  int32_t cost; /* of one element, in the unit of nd4c_nest_run */
  nd4c_unary_parameters parameters;
  nd4c_unary_loop unary;
  const nd4c_binary_loops *binary;
  nd4c_cast_loop cast;
  nd4c_where_loop where;
} nd4c_simd_element;

/* The loop with which this engine's kernel computes the call, for engine tile. False, with the reason, if the op is not
 * computed element by element, or the kernel declines the call. */
bool nd4c_simd_find_element(const nd4c_call *call, nd4c_simd_element *element, char *reason, size_t reason_size);

/* The same of the functions of elementwise/elementwise_functions.c alone, for nd4c_simd_find_element. */
bool nd4c_simd_find_function(const nd4c_call *call, nd4c_simd_element *element, char *reason, size_t reason_size);

/* Elements of the inputs a or b, by the input condition, at these positions. */
nd4c_status nd4c_simd_where(const nd4c_call *call, int32_t condition, int32_t a, int32_t b);
/* y = the element everywhere, which may lie in y. */
void nd4c_simd_fill(const nd4c_tensor *y, const void *element, int32_t width);
/* For concat and stack, which only move: no operand has to be cast. */
bool nd4c_simd_joins(const nd4c_call *call, char *reason, size_t reason_size);

/* Which activation of linear or conv loops apply to sums in registers; ND4C_INNER_NONE if none does. */
nd4c_inner_activation nd4c_cpu_inner_activation(int64_t activation);
/* The loop that applies an activation of linear or conv; NULL for none. */
nd4c_unary_loop nd4c_cpu_activation_loop(int64_t activation, nd4c_dtype dtype);
/* What that loop takes, for float32 and float64. */
nd4c_unary_parameters nd4c_cpu_activation_parameters(int64_t activation, nd4c_dtype dtype);

#endif
