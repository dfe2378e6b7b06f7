/* The table of records: the sampler, the oracle and the tolerance of each op. */
#include "conformance.h"

#define R(name, sampler, oracle, ulps, complex_ulps) \
  {ND4C_OP_##name, cf_sample_##sampler, cf_oracle_##oracle, ulps, complex_ulps},

/* 0.5: correctly rounded. 0: exact. Functions of the C library are off by 1 to 2, sums by as much as their scale says.
 */
static const cf_record records[] = {
    /* clang-format off */
    R(negative, unary, unary, 0, 0)
    R(abs, unary, unary, 0, 2)
    R(sign, unary, unary, 0, 2)
    R(square, unary, unary, 0.5, 2)
    R(sqrt, unary, unary, 0.5, 4)
    R(reciprocal, unary, unary, 0.5, 4)
    R(exp, unary, unary, 2, 4)
    R(log, unary, unary, 2, 4)
    R(sin, unary, unary, 2, 4)
    R(cos, unary, unary, 2, 4)
    R(tanh, unary, unary, 2, 8)
    R(erf, unary, unary, 3, 0)
    R(sigmoid, unary, unary, 3, 0)
    R(relu, unary, unary, 0, 0)
    R(leaky_relu, unary, unary, 2, 0)
    R(gelu, unary, unary, 4, 0)
    R(floor, unary, unary, 0, 0)
    R(ceil, unary, unary, 0, 0)
    R(round, unary, unary, 0, 0)
    R(is_nan, unary, unary, 0, 0)
    R(logical_not, logical_unary, unary, 0, 0)
    R(cast, cast, cast, 0.5, 0.5)
    R(copy, unary, unary, 0, 0)
    R(add, binary, binary, 0.5, 0.5)
    R(subtract, binary, binary, 0.5, 0.5)
    R(multiply, binary, binary, 0.5, 2)
    R(divide, binary, binary, 0.5, 4)
    R(power, binary, binary, 2, 8)
    R(maximum, binary, binary, 0, 0)
    R(minimum, binary, binary, 0, 0)
    R(equal, binary, binary, 0, 0)
    R(not_equal, binary, binary, 0, 0)
    R(less, binary, binary, 0, 0)
    R(less_equal, binary, binary, 0, 0)
    R(greater, binary, binary, 0, 0)
    R(greater_equal, binary, binary, 0, 0)
    R(logical_and, logical_binary, binary, 0, 0)
    R(logical_or, logical_binary, binary, 0, 0)
    R(logical_xor, logical_binary, binary, 0, 0)
    R(where, where, where, 0, 0)
    R(sum, reduce, reduce, 4, 4)
    R(prod, reduce, reduce, 4, 8)
    R(mean, reduce, reduce, 4, 4)
    R(max, reduce, reduce, 0, 0)
    R(min, reduce, reduce, 0, 0)
    R(all, reduce, reduce, 0, 0)
    R(any, reduce, reduce, 0, 0)
    R(argmax, arg_reduce, arg_reduce, 0, 0)
    R(argmin, arg_reduce, arg_reduce, 0, 0)
    R(matmul, matmul, matmul, 8, 8)
    R(linear, linear, linear, 8, 0)
    R(conv, conv, conv, 8, 0)
    R(max_pool, pool, pool, 0, 0)
    R(average_pool, pool, pool, 4, 0)
    R(batch_norm, batch_norm, batch_norm, 4, 0)
    R(layer_norm, layer_norm, layer_norm, 8, 0)
    R(softmax, softmax, softmax, 6, 0)
    R(log_softmax, softmax, softmax, 6, 0)
    R(lrn, lrn, lrn, 6, 0)
    R(reshape, reshape, reshape, 0, 0)
    R(transpose, transpose, transpose, 0, 0)
    R(broadcast_to, broadcast_to, broadcast_to, 0, 0)
    R(squeeze, squeeze, squeeze, 0, 0)
    R(expand_dims, expand_dims, expand_dims, 0, 0)
    R(flatten, flatten, flatten, 0, 0)
    R(slice, slice, slice, 0, 0)
    R(concat, concat, concat, 0.5, 0.5)
    R(gather, gather, gather, 0, 0)
    /* clang-format on */
};

int32_t cf_place_of_op(nd4c_op op) {
  const bool foreign = op >= ND4C_OP_PLUGIN && op - ND4C_OP_PLUGIN < CF_OPS - CF_BUILTIN_OPS;
  return op < CF_BUILTIN_OPS ? (int32_t)op : foreign ? CF_BUILTIN_OPS + (int32_t)(op - ND4C_OP_PLUGIN) : -1;
}

const cf_record *cf_record_find(nd4c_op op) {
  for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
    if (records[i].op == op) {
      return &records[i];
    }
  }
  static cf_record recorded[CF_OPS];
  const int32_t place = cf_place_of_op(op);
  if (place >= 0 && cf_golden_count(op) > 0) {
    recorded[place].op = op;
    return &recorded[place];
  }
  return NULL;
}
