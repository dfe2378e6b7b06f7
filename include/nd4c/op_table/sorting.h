/* Rows of the op table: sorting, searching, sets, histograms. op_table.h says how to read them.
 *
 * Order is NumPy's: NaN last; complex numbers by their real, then imaginary parts. Descending order is the reverse, but
 * equal elements stay in the order in which they came. Where elements are compared for being equal, NaN equals nothing.
 */
#ifndef ND4C_OP_TABLE_SORTING_H
#define ND4C_OP_TABLE_SORTING_H

#define ND4C_SIG_SORT(A, op) A(op, IN, x, 0) A(op, INT, axis, -1) A(op, BOOL, descending, 0) A(op, OUT, y, 0)
#define ND4C_SIG_TOP_K(A, op) \
  A(op, IN, x, 0) A(op, INT, axis, -1) A(op, INT, k, 1) A(op, BOOL, largest, 1) A(op, OUT, y, 0) A(op, OUT, indices, 0)
#define ND4C_SIG_KTH(A, op) \
  A(op, IN, x, 0) A(op, INT, axis, -1) A(op, INT, k, 0) A(op, BOOL, keepdims, 0) A(op, OUT, y, 0) A(op, OUT, indices, 0)
#define ND4C_SIG_UNIQUE_ALL(A, op) \
  A(op, IN, x, 0) A(op, OUT, values, 0) A(op, OUT, indices, 0) A(op, OUT, inverse_indices, 0) A(op, OUT, counts, 0)
#define ND4C_SIG_UNIQUE_COUNTS(A, op) A(op, IN, x, 0) A(op, OUT, values, 0) A(op, OUT, counts, 0)
#define ND4C_SIG_UNIQUE_INVERSE(A, op) A(op, IN, x, 0) A(op, OUT, values, 0) A(op, OUT, inverse_indices, 0)
#define ND4C_SIG_UNIQUE_VALUES(A, op) A(op, IN, x, 0) A(op, OUT, values, 0)
#define ND4C_SIG_UNIQUE(A, op) \
  A(op, IN, x, 0)              \
  A(op, INTS, axis, 0)         \
  A(op, BOOL, sorted, 1)       \
  A(op, OUT, values, 0) A(op, OUT, indices, 0) A(op, OUT, inverse_indices, 0) A(op, OUT, counts, 0)
#define ND4C_SIG_SEARCHSORTED(A, op) \
  A(op, IN, x, 0) A(op, IN, values, 0) A(op, OPT, sorter, 0) A(op, BOOL, right, 0) A(op, OUT, y, 0)
#define ND4C_SIG_ISIN(A, op) A(op, IN, x, 0) A(op, IN, elements, 0) A(op, BOOL, invert, 0) A(op, OUT, y, 0)
#define ND4C_SIG_HISTOGRAM(A, op) \
  A(op, IN, x, 0)                 \
  A(op, OPT, edges, 0)            \
  A(op, OPT, weights, 0)          \
  A(op, INT, bins, 10) A(op, FLOATS, range, 0) A(op, BOOL, density, 0) A(op, OUT, histogram, 0) A(op, OUT, bin_edges, 0)
#define ND4C_SIG_BIN_EDGES(A, op) A(op, IN, x, 0) A(op, INT, bins, 10) A(op, FLOATS, range, 0) A(op, OUT, y, 0)
#define ND4C_SIG_FIXED_WIDTH(A, op) \
  A(op, IN, x, 0) A(op, FLOAT, low, 0) A(op, FLOAT, high, 1) A(op, INT, bins, 100) A(op, OUT, y, 0)
#define ND4C_SIG_BINCOUNT(A, op) \
  A(op, IN, x, 0) A(op, OPT, weights, 0) A(op, INT, minlength, 0) A(op, INT, maxlength, 65536) A(op, OUT, y, 0)
#define ND4C_SIG_DIGITIZE(A, op) A(op, IN, x, 0) A(op, IN, bins, 0) A(op, BOOL, right, 0) A(op, OUT, y, 0)
#define ND4C_SIG_IN_TOP_K(A, op) A(op, IN, predictions, 0) A(op, IN, targets, 0) A(op, INT, k, 1) A(op, OUT, y, 0)
#define ND4C_SIG_CONFUSION(A, op) \
  A(op, IN, labels, 0) A(op, IN, predictions, 0) A(op, OPT, weights, 0) A(op, INT, classes, 0) A(op, OUT, y, 0)

#define ND4C_SIG_LEXSORT(A, op) A(op, VAR, keys, 0) A(op, INT, axis, -1) A(op, OUT, y, 0)

#define ND4C_OPS_SORTING(OP)                                                                                          \
  OP(380, 1, nonzero, SORTING, ND4C_SIG_UNARY, nonzero, NUMBER_OR_BOOL,                                               \
     "int64 indices of the elements that are not zero, in C order: one row an axis, one column an element; 0-d "      \
     "counts as 1-D",                                                                                                 \
     "nonzero|nonzero|NonZero|")                                                                                      \
  OP(381, 1, sort, SORTING, ND4C_SIG_SORT, sort, NUMBER_OR_BOOL,                                                      \
     "x sorted along axis, stably; NaN last, if descending first", "sort|sort||sort")                                 \
  OP(382, 1, argsort, SORTING, ND4C_SIG_SORT, argsort, NUMBER_OR_BOOL,                                                \
     "int64 indices that sort x along axis, stably; NaN last, if descending first", "argsort|argsort||argsort")       \
  OP(383, 1, top_k, SORTING, ND4C_SIG_TOP_K, top_k, NUMBER_OR_BOOL,                                                   \
     "the k largest (or smallest) elements along axis, best first, and their int64 indices; of equal ones the "       \
     "first; NaN is largest",                                                                                         \
     "top_k|topk|TopK|topK")                                                                                          \
  OP(384, 1, kth_value, SORTING, ND4C_SIG_KTH, kth_value, NUMBER_OR_BOOL,                                             \
     "element k (from 0) of x sorted along axis, and its int64 index", "partition|kthvalue||nthElement")              \
  OP(385, 1, unique_all, SORTING, ND4C_SIG_UNIQUE_ALL, unique_all, NUMBER_OR_BOOL,                                    \
     "different elements in ascending order, int64 indices of their first places in C order, of x's elements "        \
     "among them (x's shape), and how many of each; every NaN is one of its own",                                     \
     "unique_all|||")                                                                                                 \
  OP(386, 1, unique_counts, SORTING, ND4C_SIG_UNIQUE_COUNTS, unique_counts, NUMBER_OR_BOOL,                           \
     "different elements in ascending order and how many of each (int64); every NaN is one of its own",               \
     "unique_counts|||uniqueWithCounts")                                                                              \
  OP(387, 1, unique_inverse, SORTING, ND4C_SIG_UNIQUE_INVERSE, unique_inverse, NUMBER_OR_BOOL,                        \
     "different elements in ascending order and where each element of x is among them (int64, x's shape)",            \
     "unique_inverse|||")                                                                                             \
  OP(388, 1, unique_values, SORTING, ND4C_SIG_UNIQUE_VALUES, unique_values, NUMBER_OR_BOOL,                           \
     "different elements in ascending order; every NaN is one of its own", "unique_values|||")                        \
  OP(389, 1, unique, SORTING, ND4C_SIG_UNIQUE, unique, NUMBER_OR_BOOL,                                                \
     "different elements (or slices along the one axis given), ascending or in the order of their first places; "     \
     "with int64 first places, place of each of x's among them (1-D), and counts; every NaN is one of its own",       \
     "unique|unique|Unique|unique")                                                                                   \
  OP(390, 1, searchsorted, SORTING, ND4C_SIG_SEARCHSORTED, searchsorted, REAL,                                        \
     "int64 places where values go into sorted x (taken in the order of sorter): before equal ones, right: after",    \
     "searchsorted|searchsorted||")                                                                                   \
  OP(391, 1, isin, SORTING, ND4C_SIG_ISIN, isin, NUMBER_OR_BOOL,                                                      \
     "true where an element of x is among elements (invert: is not)", "isin|isin||")                                  \
  OP(392, 1, union1d, SORTING, ND4C_SIG_BINARY, union1d, NUMBER_OR_BOOL,                                              \
     "different elements of a and b together, ascending", "union1d|||")                                               \
  OP(393, 1, intersect1d, SORTING, ND4C_SIG_BINARY, intersect1d, NUMBER_OR_BOOL,                                      \
     "different elements that a and b both have, ascending", "intersect1d|||")                                        \
  OP(394, 1, setdiff1d, SORTING, ND4C_SIG_BINARY, setdiff1d, NUMBER_OR_BOOL,                                          \
     "different elements of a that b does not have, ascending", "setdiff1d|||listDiff")                               \
  OP(395, 1, setxor1d, SORTING, ND4C_SIG_BINARY, union1d, NUMBER_OR_BOOL,                                             \
     "different elements that one of a and b has alone, ascending", "setxor1d|||")                                    \
  OP(396, 1, histogram, SORTING, ND4C_SIG_HISTOGRAM, histogram, REAL,                                                 \
     "how many elements (or which sum of weights) lie in each bin [e[i], e[i + 1]), the last one closed, and the "    \
     "edges: given, or equally spaced over range (none: least to largest of x; NaN is refused then); density: "       \
     "divided by total and width",                                                                                    \
     "histogram|histogram, histc||histogram")                                                                         \
  OP(397, 1, histogram_bin_edges, SORTING, ND4C_SIG_BIN_EDGES, bin_edges, REAL, "edges that histogram would use",     \
     "histogram_bin_edges|||")                                                                                        \
  OP(398, 1, histogram_fixed_width, SORTING, ND4C_SIG_FIXED_WIDTH, fixed_width, REAL,                                 \
     "int64 number of elements in each of equal bins over low .. high; elements beyond count in the bin at that "     \
     "end, NaN in none",                                                                                              \
     "|||histogramFixedWidth")                                                                                        \
  OP(399, 1, bincount, SORTING, ND4C_SIG_BINCOUNT, bincount, INTEGER,                                                 \
     "y[v]: how many elements (or which sum of weights) are v; minlength places at least, and not more than "         \
     "maxlength: a larger or negative element is refused; one shape whatever the data if minlength is maxlength",     \
     "bincount|bincount||bincount")                                                                                   \
  OP(400, 1, digitize, SORTING, ND4C_SIG_DIGITIZE, digitize, REAL,                                                    \
     "int64 number of the bin in which each element lies: bins[i - 1] <= x < bins[i], right: < and <=; bins "         \
     "ascend or descend",                                                                                             \
     "digitize|bucketize||")                                                                                          \
  OP(401, 1, is_non_decreasing, SORTING, ND4C_SIG_UNARY, is_ordered, REAL,                                            \
     "true if no element is less than the one before it in C order (0-d); NaN is neither", "|||isNonDecreasing")      \
  OP(402, 1, is_strictly_increasing, SORTING, ND4C_SIG_UNARY, is_ordered, REAL,                                       \
     "true if every element is greater than the one before it in C order (0-d)", "|||isStrictlyIncreasing")           \
  OP(403, 1, argwhere, SORTING, ND4C_SIG_UNARY, argwhere, NUMBER_OR_BOOL,                                             \
     "int64 indices of the elements that are not zero, in C order: one row an element, one column an axis",           \
     "argwhere|argwhere||where")                                                                                      \
  OP(404, 1, in_top_k, SORTING, ND4C_SIG_IN_TOP_K, in_top_k, REAL_FLOATING,                                           \
     "true where predictions[i, targets[i]] is finite and fewer than k of row i are greater", "|||inTopK")            \
  OP(405, 1, confusion_matrix, SORTING, ND4C_SIG_CONFUSION, confusion_matrix, INTEGER,                                \
     "y[l, p]: how many pairs (or which sum of weights) have label l and prediction p (classes x classes)",           \
     "|||confusionMatrix")                                                                                            \
  OP(406, 1, lexsort, SORTING, ND4C_SIG_LEXSORT, lexsort, NUMBER_OR_BOOL,                                             \
     "int64 indices that sort along axis by the last of the keys, of equal ones by the one before, ..., stably; NaN " \
     "last",                                                                                                          \
     "lexsort|||")

#endif
