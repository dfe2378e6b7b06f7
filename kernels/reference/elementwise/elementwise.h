/* Element-wise ops of the reference: one function an op on one element, one loop over any strides for all of them.
 * backends/cpu/reference/elementwise.c passes the functions to the map, reduction/reduction.c calls them on pairs. */
#ifndef ND4C_KERNELS_REFERENCE_ELEMENTWISE_ELEMENTWISE_H
#define ND4C_KERNELS_REFERENCE_ELEMENTWISE_ELEMENTWISE_H

#include "kernels/reference/support/value.h"

enum { ND4C_REFERENCE_MAX_RANK = 32, ND4C_REFERENCE_MAX_INPUTS = 5 };

/* Computes one element. kinds: of the inputs. The result is of the output dtype's kind. */
typedef nd4c_value (*nd4c_value_function)(const nd4c_dtype_kind *kinds, const nd4c_value *inputs);

/* X(name): nd4c_value_<name>; the ops of these names, copy also for cast. */
#define ND4C_VALUE_UNARY(X) \
  X(negative)               \
  X(abs)                    \
  X(sign)                   \
  X(square)                 \
  X(sqrt) X(reciprocal) X(exp) X(log) X(sin) X(cos) X(relu) X(floor) X(ceil) X(round) X(is_nan) X(logical_not) X(copy)
#define ND4C_VALUE_BINARY(X) \
  X(add)                     \
  X(subtract)                \
  X(multiply)                \
  X(divide)                  \
  X(power)                   \
  X(maximum)                 \
  X(minimum)                 \
  X(equal) X(not_equal) X(less) X(less_equal) X(greater) X(greater_equal) X(logical_and) X(logical_or) X(logical_xor)
/* leaky_relu takes (x, alpha), clip (x, low, high), where (condition, a, b). */
#define ND4C_VALUE_OTHER(X) X(leaky_relu) X(clip) X(where)

#define ND4C_VALUE_DECLARE(name) nd4c_value nd4c_value_##name(const nd4c_dtype_kind *kinds, const nd4c_value *inputs);
ND4C_VALUE_UNARY(ND4C_VALUE_DECLARE)
ND4C_VALUE_BINARY(ND4C_VALUE_DECLARE)
ND4C_VALUE_OTHER(ND4C_VALUE_DECLARE)
#undef ND4C_VALUE_DECLARE

/* A call of a function on elements: start, then ranges of the elements' numbers, which threads may share. Input i is
 * cast to as[i] first; NONE leaves it. All operands have the rank and shape given (repeated axes by stride 0). */
typedef struct nd4c_map {
  nd4c_value_function function;
  int32_t input_count, rank;
  int64_t size;                                         /* elements */
  int64_t shape[ND4C_REFERENCE_MAX_RANK];               /* innermost axis first */
  nd4c_operand operands[ND4C_REFERENCE_MAX_INPUTS + 1]; /* the output, then the inputs; strides below */
  int64_t strides[ND4C_REFERENCE_MAX_INPUTS + 1][ND4C_REFERENCE_MAX_RANK];
  nd4c_dtype as[ND4C_REFERENCE_MAX_INPUTS];
  nd4c_dtype_kind kinds[ND4C_REFERENCE_MAX_INPUTS];
} nd4c_map;
void nd4c_map_start(nd4c_map *map, nd4c_value_function function, int32_t input_count, const nd4c_operand *inputs,
                    const nd4c_dtype *as, const nd4c_operand *output, int32_t rank, const int64_t *shape);
void nd4c_map_range(const nd4c_map *map, int64_t begin, int64_t end);

/* The whole call in the caller's thread. */
void nd4c_reference_map(nd4c_value_function function, int32_t input_count, const nd4c_operand *inputs,
                        const nd4c_dtype *as, const nd4c_operand *output, int32_t rank, const int64_t *shape);

#endif
