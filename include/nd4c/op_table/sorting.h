/* Rows of the op table: sorting, searching, sets, histograms. op_table.h says how to read them.
 *
 * Order is NumPy's: NaN last; complex numbers by their real, then imaginary parts. Descending order is the reverse,
 * except that equal elements keep their order. Comparisons for equality treat NaN as unequal to everything. */
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
     "int64 indices of the elements that are not zero, in C order: one row for each axis, one column for each "       \
     "element; 0-d counts as 1-D",                                                                                    \
     "nonzero|nonzero|NonZero|")                                                                                      \
  OP(381, 1, sort, SORTING, ND4C_SIG_SORT, sort, NUMBER_OR_BOOL,                                                      \
     "x sorted along axis, stably; NaN last, or first if descending", "sort|sort||sort")                              \
  OP(382, 1, argsort, SORTING, ND4C_SIG_SORT, argsort, NUMBER_OR_BOOL,                                                \
     "int64 indices that sort x along axis, stably; NaN last, or first if descending", "argsort|argsort||argsort")    \
  OP(383, 1, top_k, SORTING, ND4C_SIG_TOP_K, top_k, NUMBER_OR_BOOL,                                                   \
     "the k largest (or smallest) elements along axis, best first, and their int64 indices; the first of equal "      \
     "elements wins; NaN is largest",                                                                                 \
     "top_k|topk|TopK|topK")                                                                                          \
  OP(384, 1, kth_value, SORTING, ND4C_SIG_KTH, kth_value, NUMBER_OR_BOOL,                                             \
     "element k (from 0) of x sorted along axis, and its int64 index", "partition|kthvalue||nthElement")              \
  OP(385, 1, unique_all, SORTING, ND4C_SIG_UNIQUE_ALL, unique_all, NUMBER_OR_BOOL,                                    \
     "values: distinct elements in ascending order; indices: int64 positions of their first occurrences in C order; " \
     "inverse_indices: where each element of x is among values (x's shape); counts: how often each occurs; every "    \
     "NaN counts as distinct",                                                                                        \
     "unique_all|||")                                                                                                 \
  OP(386, 1, unique_counts, SORTING, ND4C_SIG_UNIQUE_COUNTS, unique_counts, NUMBER_OR_BOOL,                           \
     "distinct elements in ascending order and how often each occurs (int64); every NaN counts as distinct",          \
     "unique_counts|||uniqueWithCounts")                                                                              \
  OP(387, 1, unique_inverse, SORTING, ND4C_SIG_UNIQUE_INVERSE, unique_inverse, NUMBER_OR_BOOL,                        \
     "distinct elements in ascending order and where each element of x is among them (int64, x's shape); every NaN "  \
     "counts as distinct",                                                                                            \
     "unique_inverse|||")                                                                                             \
  OP(388, 1, unique_values, SORTING, ND4C_SIG_UNIQUE_VALUES, unique_values, NUMBER_OR_BOOL,                           \
     "distinct elements in ascending order; every NaN counts as distinct", "unique_values|||")                        \
  OP(389, 1, unique, SORTING, ND4C_SIG_UNIQUE, unique, NUMBER_OR_BOOL,                                                \
     "distinct elements (or slices along the axis, if one is given), ascending or in the order of their first "       \
     "occurrences; also int64 positions of first occurrences, where each element of x is among values (1-D), and "    \
     "counts; every NaN counts as distinct",                                                                          \
     "unique|unique|Unique|unique")                                                                                   \
  OP(390, 1, searchsorted, SORTING, ND4C_SIG_SEARCHSORTED, searchsorted, REAL,                                        \
     "int64 positions at which values would be inserted into sorted x (x in the order of sorter, if given): before "  \
     "equal elements or, if right, after them",                                                                       \
     "searchsorted|searchsorted||")                                                                                   \
  OP(391, 1, isin, SORTING, ND4C_SIG_ISIN, isin, NUMBER_OR_BOOL,                                                      \
     "true where an element of x is among elements (invert: is not)", "isin|isin||")                                  \
  OP(392, 1, union1d, SORTING, ND4C_SIG_BINARY, union1d, NUMBER_OR_BOOL,                                              \
     "distinct elements of a and b together, ascending", "union1d|||")                                                \
  OP(393, 1, intersect1d, SORTING, ND4C_SIG_BINARY, intersect1d, NUMBER_OR_BOOL,                                      \
     "distinct elements that both a and b have, ascending", "intersect1d|||")                                         \
  OP(394, 1, setdiff1d, SORTING, ND4C_SIG_BINARY, setdiff1d, NUMBER_OR_BOOL,                                          \
     "distinct elements of a that b does not have, ascending", "setdiff1d|||listDiff")                                \
  OP(395, 1, setxor1d, SORTING, ND4C_SIG_BINARY, union1d, NUMBER_OR_BOOL,                                             \
     "distinct elements that only one of a and b has, ascending", "setxor1d|||")                                      \
  OP(396, 1, histogram, SORTING, ND4C_SIG_HISTOGRAM, histogram, REAL,                                                 \
     "how many elements lie in each bin [e[i], e[i + 1]), the last bin closed (weights: their sum), and the edges "   \
     "e: given, or equally spaced over range (none: least to largest of x; NaN is then refused); density: divided "   \
     "by the total and by the bin's width",                                                                           \
     "histogram|histogram, histc||histogram")                                                                         \
  OP(397, 1, histogram_bin_edges, SORTING, ND4C_SIG_BIN_EDGES, bin_edges, REAL, "edges that histogram would use",     \
     "histogram_bin_edges|||")                                                                                        \
  OP(398, 1, histogram_fixed_width, SORTING, ND4C_SIG_FIXED_WIDTH, fixed_width, REAL,                                 \
     "int64 number of elements in each of equal bins over low .. high; elements outside count in the first or last "  \
     "bin, NaN in none",                                                                                              \
     "|||histogramFixedWidth")                                                                                        \
  OP(399, 1, bincount, SORTING, ND4C_SIG_BINCOUNT, bincount, INTEGER,                                                 \
     "y[v]: how many elements are v (weights: the sum of their weights); y has at least minlength and at most "       \
     "maxlength elements: a larger or negative element of x is refused; if minlength is maxlength, the shape does "   \
     "not depend on the data",                                                                                        \
     "bincount|bincount||bincount")                                                                                   \
  OP(400, 1, digitize, SORTING, ND4C_SIG_DIGITIZE, digitize, REAL,                                                    \
     "int64 number i of the bin of each element: bins[i - 1] <= x < bins[i] or, if right, bins[i - 1] < x <= "        \
     "bins[i]; bins ascend or descend",                                                                               \
     "digitize|bucketize||")                                                                                          \
  OP(401, 1, is_non_decreasing, SORTING, ND4C_SIG_UNARY, is_ordered, REAL,                                            \
     "true if no element is less than the one before it in C order (0-d); false if a pair contains NaN",              \
     "|||isNonDecreasing")                                                                                            \
  OP(402, 1, is_strictly_increasing, SORTING, ND4C_SIG_UNARY, is_ordered, REAL,                                       \
     "true if every element is greater than the one before it in C order (0-d)", "|||isStrictlyIncreasing")           \
  OP(403, 1, argwhere, SORTING, ND4C_SIG_UNARY, argwhere, NUMBER_OR_BOOL,                                             \
     "int64 indices of the elements that are not zero, in C order: one row for each element, one column for each "    \
     "axis",                                                                                                          \
     "argwhere|argwhere||where")                                                                                      \
  OP(404, 1, in_top_k, SORTING, ND4C_SIG_IN_TOP_K, in_top_k, REAL_FLOATING,                                           \
     "true where predictions[i, targets[i]] is finite and fewer than k of row i are greater", "|||inTopK")            \
  OP(405, 1, confusion_matrix, SORTING, ND4C_SIG_CONFUSION, confusion_matrix, INTEGER,                                \
     "y[l, p]: how many pairs have label l and prediction p (weights: the sum of their weights), [classes, classes]", \
     "|||confusionMatrix")                                                                                            \
  OP(406, 1, lexsort, SORTING, ND4C_SIG_LEXSORT, lexsort, NUMBER_OR_BOOL,                                             \
     "int64 indices that sort along axis, stably: by the last key, then by the key before it where the last is "      \
     "equal, and so on; NaN last",                                                                                    \
     "lexsort|||")

#endif
