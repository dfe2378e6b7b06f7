/* Rows of the op table: matrix products. op_table.h says how to read them. */
#ifndef ND4C_OP_TABLE_LINALG_H
#define ND4C_OP_TABLE_LINALG_H

#define ND4C_SIG_LINEAR(A, op) \
  A(op, IN, x, 0)              \
  A(op, IN, w, 0)              \
  A(op, OPT, bias, 0)          \
  A(op, OPT, addend, 0)        \
  A(op, BOOL, transpose_w, 0) A(op, WORD, activation, activation, ND4C_ACTIVATION_NONE) A(op, OUT, y, 0)

#define ND4C_OPS_LINALG(OP)                                                                                         \
  OP(90, 1, matmul, LINALG, ND4C_SIG_BINARY, matmul, NUMERIC,                                                       \
     "matrix product over the last two axes, the others broadcast; 1-D operands as NumPy's matmul",                 \
     "matmul|matmul, bmm|MatMul|mmul, batchMmul")                                                                   \
  OP(91, 1, linear, LINALG, ND4C_SIG_LINEAR, linear, REAL_FLOATING,                                                 \
     "y = activation(x w + bias + addend): x [..., k], w [k, n] or, transposed, [n, k], bias [n] or broadcastable " \
     "to y, addend like y",                                                                                         \
     "|nn.functional.linear|Gemm|linear")

#endif
