/* Rows of the op table: element-wise ops of two and three arrays (arithmetic, comparisons, logic, where). op_table.h
 * says how to read them. */
#ifndef ND4C_OP_TABLE_BINARY_H
#define ND4C_OP_TABLE_BINARY_H

#define ND4C_SIG_WHERE(A, op) A(op, IN, condition, 0) A(op, IN, a, 0) A(op, IN, b, 0) A(op, OUT, y, 0)

#define ND4C_OPS_BINARY(OP)                                                                                            \
  OP(40, 1, add, BINARY, ND4C_SIG_BINARY, promote, NUMERIC, "y = a + b, broadcast; integers wrap", "add|add|Add|add")  \
  OP(41, 1, subtract, BINARY, ND4C_SIG_BINARY, promote, NUMERIC, "y = a - b, broadcast; integers wrap",                \
     "subtract|sub|Sub|sub")                                                                                           \
  OP(42, 1, multiply, BINARY, ND4C_SIG_BINARY, promote, NUMERIC, "y = a * b, broadcast; integers wrap",                \
     "multiply|mul|Mul|mul")                                                                                           \
  OP(43, 1, divide, BINARY, ND4C_SIG_BINARY, promote, NUMERIC,                                                         \
     "y = a / b, broadcast; integers truncate toward zero, division by zero gives 0", "divide|div|Div|div")            \
  OP(44, 1, power, BINARY, ND4C_SIG_BINARY, promote, NUMERIC,                                                          \
     "y = a^b, broadcast; integers wrap, and a negative exponent of integers truncates the result toward zero",        \
     "power|pow|Pow|pow")                                                                                              \
  OP(45, 1, maximum, BINARY, ND4C_SIG_BINARY, promote, REAL, "y = the larger of a and b; NaN wins",                    \
     "maximum|maximum|Max|max")                                                                                        \
  OP(46, 1, minimum, BINARY, ND4C_SIG_BINARY, promote, REAL, "y = the smaller of a and b; NaN wins",                   \
     "minimum|minimum|Min|min")                                                                                        \
  OP(47, 1, equal, BINARY, ND4C_SIG_BINARY, compare, ANY,                                                              \
     "y = a == b, exact even where dtypes are promoted; strings are compared by code points", "equal|eq|Equal|eq")     \
  OP(48, 1, not_equal, BINARY, ND4C_SIG_BINARY, compare, ANY, "y = a != b", "not_equal|ne||neq")                       \
  OP(49, 1, less, BINARY, ND4C_SIG_BINARY, compare, REAL_OR_TEXT, "y = a < b", "less|lt|Less|lt")                      \
  OP(50, 1, less_equal, BINARY, ND4C_SIG_BINARY, compare, REAL_OR_TEXT, "y = a <= b", "less_equal|le|LessOrEqual|lte") \
  OP(51, 1, greater, BINARY, ND4C_SIG_BINARY, compare, REAL_OR_TEXT, "y = a > b", "greater|gt|Greater|gt")             \
  OP(52, 1, greater_equal, BINARY, ND4C_SIG_BINARY, compare, REAL_OR_TEXT, "y = a >= b",                               \
     "greater_equal|ge|GreaterOrEqual|gte")                                                                            \
  OP(53, 1, logical_and, BINARY, ND4C_SIG_BINARY, compare, BOOLEAN, "y = a and b", "logical_and|logical_and|And|and")  \
  OP(54, 1, logical_or, BINARY, ND4C_SIG_BINARY, compare, BOOLEAN, "y = a or b", "logical_or|logical_or|Or|or")        \
  OP(55, 1, logical_xor, BINARY, ND4C_SIG_BINARY, compare, BOOLEAN, "y = a xor b", "logical_xor|logical_xor|Xor|xor")  \
  OP(56, 1, where, TERNARY, ND4C_SIG_WHERE, where, BOOLEAN, "y = a where condition holds, else b; broadcast",          \
     "where|where|Where|where")

#endif
