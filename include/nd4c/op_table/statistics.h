/* Rows of the op table: statistics over axes, cumulative ops along an axis, distances between vectors. op_table.h
 * says how to read them. */
#ifndef ND4C_OP_TABLE_STATISTICS_H
#define ND4C_OP_TABLE_STATISTICS_H

/* What quantile gives for a position between two elements. */
#define ND4C_QUANTILE_METHOD_TABLE(X) \
  X(LINEAR, 0, "linear")              \
  X(LOWER, 1, "lower")                \
  X(HIGHER, 2, "higher")              \
  X(MIDPOINT, 3, "midpoint")          \
  X(NEAREST, 4, "nearest")

#define ND4C_SIG_VARIANCE(A, op) \
  A(op, IN, x, 0) A(op, INTS, axes, 0) A(op, BOOL, keepdims, 0) A(op, FLOAT, correction, 0) A(op, OUT, y, 0)
#define ND4C_SIG_MOMENTS(A, op) \
  A(op, IN, x, 0) A(op, INTS, axes, 0) A(op, BOOL, keepdims, 0) A(op, OUT, mean, 0) A(op, OUT, variance, 0)
#define ND4C_SIG_NORM_P(A, op) \
  A(op, IN, x, 0) A(op, INTS, axes, 0) A(op, BOOL, keepdims, 0) A(op, FLOAT, p, 2) A(op, OUT, y, 0)
#define ND4C_SIG_QUANTILE(A, op) \
  A(op, IN, x, 0)                \
  A(op, INTS, axes, 0)           \
  A(op, BOOL, keepdims, 0)       \
  A(op, FLOATS, q, 0) A(op, WORD, method, quantile_method, ND4C_QUANTILE_METHOD_LINEAR) A(op, OUT, y, 0)
#define ND4C_SIG_CUMULATIVE(A, op) \
  A(op, IN, x, 0)                  \
  A(op, INT, axis, -1)             \
  A(op, BOOL, reverse, 0)          \
  A(op, BOOL, exclusive, 0) A(op, BOOL, include_initial, 0) A(op, DTYPE, dtype, ND4C_DTYPE_NONE) A(op, OUT, y, 0)
#define ND4C_SIG_CUMULATIVE_LOG(A, op) \
  A(op, IN, x, 0) A(op, INT, axis, -1) A(op, BOOL, reverse, 0) A(op, BOOL, exclusive, 0) A(op, OUT, y, 0)
#define ND4C_SIG_CUMULATIVE_BEST(A, op) A(op, IN, x, 0) A(op, INT, axis, -1) A(op, OUT, y, 0) A(op, OUT, indices, 0)
#define ND4C_SIG_DIFF(A, op) \
  A(op, IN, x, 0)            \
  A(op, OPT, prepend, 0) A(op, OPT, append, 0) A(op, INT, axis, -1) A(op, INT, order, 1) A(op, OUT, y, 0)
#define ND4C_SIG_DISTANCE(A, op) \
  A(op, IN, a, 0) A(op, IN, b, 0) A(op, INTS, axes, 0) A(op, BOOL, keepdims, 0) A(op, OUT, y, 0)

#define ND4C_OPS_STATISTICS(OP)                                                                                        \
  OP(340, 1, var, REDUCTION, ND4C_SIG_VARIANCE, reduce_real, FLOATING,                                                 \
     "sum of |x - mean|^2 over axes (none: all) / (count - correction); NaN if that is 0 / 0", "var|var||var")         \
  OP(341, 1, std, REDUCTION, ND4C_SIG_VARIANCE, reduce_real, FLOATING, "square root of var", "std|std||std")           \
  OP(342, 1, cumulative_sum, REDUCTION, ND4C_SIG_CUMULATIVE, cumulative, NUMBER_OR_BOOL,                               \
     "y[i] = sum of x[0] to x[i] along axis; exclusive: without x[i]; include_initial: a 0 goes before the result; "   \
     "reverse: sums from the end; small integers widen to (u)int64; dtype: x is cast to it first",                     \
     "cumulative_sum, cumsum|cumsum|CumSum|cumsum")                                                                    \
  OP(343, 1, cumulative_prod, REDUCTION, ND4C_SIG_CUMULATIVE, cumulative, NUMBER_OR_BOOL,                              \
     "y[i] = product of x[0] to x[i] along axis; attributes as in cumulative_sum, with 1 as the initial value",        \
     "cumulative_prod, cumprod|cumprod|CumProd|cumprod")                                                               \
  OP(344, 1, cumulative_max, REDUCTION, ND4C_SIG_CUMULATIVE_BEST, cumulative_best, REAL,                               \
     "y[i] = largest of x[0] to x[i] along axis, and the latest index of that value; NaN wins",                        \
     "maximum.accumulate|cummax||")                                                                                    \
  OP(345, 1, cumulative_min, REDUCTION, ND4C_SIG_CUMULATIVE_BEST, cumulative_best, REAL,                               \
     "y[i] = smallest of x[0] to x[i] along axis, and the latest index of that value; NaN wins",                       \
     "minimum.accumulate|cummin||")                                                                                    \
  OP(346, 1, cumulative_logsumexp, REDUCTION, ND4C_SIG_CUMULATIVE_LOG, along_axis, REAL_FLOATING,                      \
     "y[i] = ln of the sum of e^x over x[0] to x[i] along axis, without overflow; of no elements: -inf",               \
     "logaddexp.accumulate|logcumsumexp||")                                                                            \
  OP(347, 1, logsumexp, REDUCTION, ND4C_SIG_REDUCE, reduce_same, REAL_FLOATING,                                        \
     "ln of the sum of e^x over axes (none: all), without overflow; -inf for no elements",                             \
     "special.logsumexp|logsumexp|ReduceLogSumExp|logSumExp")                                                          \
  OP(348, 1, norm1, REDUCTION, ND4C_SIG_REDUCE, reduce_real, FLOATING, "sum of |x| over axes (none: all)",             \
     "||ReduceL1|norm1, asum")                                                                                         \
  OP(349, 1, norm2, REDUCTION, ND4C_SIG_REDUCE, reduce_real, FLOATING,                                                 \
     "square root of the sum of |x|^2 over axes (none: all), without overflow", "||ReduceL2|norm2")                    \
  OP(350, 1, norm_max, REDUCTION, ND4C_SIG_REDUCE, reduce_real, FLOATING,                                              \
     "largest |x| over axes (none: all); 0 for no elements; NaN wins", "|||normmax, amax")                             \
  OP(351, 1, norm_p, REDUCTION, ND4C_SIG_NORM_P, reduce_real, FLOATING,                                                \
     "(sum of |x|^p over axes)^(1 / p); p inf: the largest |x|, -inf: the smallest, 0: how many are not 0",            \
     "linalg.vector_norm|linalg.vector_norm||normp")                                                                   \
  OP(352, 1, sum_square, REDUCTION, ND4C_SIG_REDUCE, reduce_real, FLOATING, "sum of |x|^2 over axes (none: all)",      \
     "||ReduceSumSquare|squaredNorm")                                                                                  \
  OP(353, 1, count_nonzero, REDUCTION, ND4C_SIG_REDUCE, reduce_count, NUMBER_OR_BOOL,                                  \
     "int64 number of elements over axes (none: all) that are not 0; NaN counts as not 0",                             \
     "count_nonzero|count_nonzero||countNonZero")                                                                      \
  OP(354, 1, count_zero, REDUCTION, ND4C_SIG_REDUCE, reduce_count, NUMBER_OR_BOOL,                                     \
     "int64 number of elements over axes (none: all) that are 0", "|||countZero")                                      \
  OP(355, 1, zero_fraction, REDUCTION, ND4C_SIG_REDUCE, reduce_fraction, NUMBER_OR_BOOL,                               \
     "fraction of the elements over axes (none: all) that are 0, in float64 for x of float64, else in float32; NaN "   \
     "if there are no elements",                                                                                       \
     "|||zeroFraction")                                                                                                \
  OP(356, 1, entropy, REDUCTION, ND4C_SIG_REDUCE, reduce_same, REAL_FLOATING,                                          \
     "sum of -x ln x over axes (none: all), 0 ln 0 being 0", "|||entropy")                                             \
  OP(357, 1, log_entropy, REDUCTION, ND4C_SIG_REDUCE, reduce_same, REAL_FLOATING, "ln of entropy", "|||logEntropy")    \
  OP(358, 1, shannon_entropy, REDUCTION, ND4C_SIG_REDUCE, reduce_same, REAL_FLOATING,                                  \
     "sum of -x log2 x over axes (none: all), 0 log2 0 being 0", "|||shannonEntropy")                                  \
  OP(359, 1, abs_min, REDUCTION, ND4C_SIG_REDUCE, reduce_real_nonempty, FLOATING,                                      \
     "smallest |x| over axes (none: all); NaN wins", "|||amin")                                                        \
  OP(360, 1, abs_mean, REDUCTION, ND4C_SIG_REDUCE, reduce_real, FLOATING, "mean of |x| over axes (none: all)",         \
     "|||amean")                                                                                                       \
  OP(361, 1, moments, REDUCTION, ND4C_SIG_MOMENTS, moments, REAL_FLOATING,                                             \
     "mean and variance (correction 0) over axes (none: all)", "|var_mean||moments")                                   \
  OP(363, 1, ptp, REDUCTION, ND4C_SIG_REDUCE, reduce_nonempty, REAL,                                                   \
     "largest minus smallest over axes (none: all); NaN wins; integers wrap", "ptp|||")                                \
  OP(364, 1, median, REDUCTION, ND4C_SIG_REDUCE, reduce_quantile, REAL,                                                \
     "middle of the sorted elements over axes (none: all), of an even number the mean of two; NaN wins; integers "     \
     "give float64",                                                                                                   \
     "median|||median")                                                                                                \
  OP(365, 1, quantile, REDUCTION, ND4C_SIG_QUANTILE, quantile, REAL,                                                   \
     "element at position q (count - 1) of the sorted elements over axes (none: all), between two elements by "        \
     "method linear, lower, higher, midpoint or nearest; the first axis of y counts the q (0 .. 1); NaN wins; "        \
     "integers give float64",                                                                                          \
     "quantile, percentile|quantile||percentile")                                                                      \
  OP(366, 1, nansum, REDUCTION, ND4C_SIG_REDUCE, reduce_same, REAL_FLOATING, "sum over axes (none: all) without NaN",  \
     "nansum|nansum||")                                                                                                \
  OP(367, 1, nanprod, REDUCTION, ND4C_SIG_REDUCE, reduce_same, REAL_FLOATING,                                          \
     "product over axes (none: all) without NaN", "nanprod|||")                                                        \
  OP(368, 1, nanmean, REDUCTION, ND4C_SIG_REDUCE, reduce_same, REAL_FLOATING,                                          \
     "mean over axes (none: all) without NaN; NaN if there is nothing else", "nanmean|nanmean||")                      \
  OP(369, 1, nanmax, REDUCTION, ND4C_SIG_REDUCE, reduce_nonempty, REAL_FLOATING,                                       \
     "largest over axes (none: all) without NaN; NaN if there is nothing else", "nanmax|||")                           \
  OP(370, 1, nanmin, REDUCTION, ND4C_SIG_REDUCE, reduce_nonempty, REAL_FLOATING,                                       \
     "smallest over axes (none: all) without NaN; NaN if there is nothing else", "nanmin|||")                          \
  OP(371, 1, nanvar, REDUCTION, ND4C_SIG_VARIANCE, reduce_same, REAL_FLOATING, "var without NaN", "nanvar|||")         \
  OP(372, 1, nanstd, REDUCTION, ND4C_SIG_VARIANCE, reduce_same, REAL_FLOATING, "std without NaN", "nanstd|||")         \
  OP(373, 1, nanmedian, REDUCTION, ND4C_SIG_REDUCE, reduce_quantile, REAL_FLOATING,                                    \
     "median without NaN; NaN if there is nothing else", "nanmedian|nanmedian||")                                      \
  OP(374, 1, diff, REDUCTION, ND4C_SIG_DIFF, diff, NUMERIC,                                                            \
     "x[1:] - x[:-1] along axis, `order` times; prepend and append are joined to x first; integers wrap",              \
     "diff|diff||")                                                                                                    \
  OP(362, 1, cosine_similarity, REDUCTION, ND4C_SIG_DISTANCE, distance, REAL_FLOATING,                                 \
     "sum of a b / (norm2 of a times norm2 of b) over axes (none: all); NaN where a norm is 0",                        \
     "|cosine_similarity||cosineSimilarity")                                                                           \
  OP(375, 1, euclidean_distance, REDUCTION, ND4C_SIG_DISTANCE, distance, REAL_FLOATING,                                \
     "square root of the sum of (a - b)^2 over axes (none: all)", "|||euclideanDistance")                              \
  OP(376, 1, manhattan_distance, REDUCTION, ND4C_SIG_DISTANCE, distance, REAL_FLOATING,                                \
     "sum of |a - b| over axes (none: all)", "|||manhattanDistance")                                                   \
  OP(377, 1, hamming_distance, REDUCTION, ND4C_SIG_DISTANCE, distance, REAL_FLOATING,                                  \
     "number of places over axes (none: all) where a and b differ; NaN differs from everything", "|||hammingDistance") \
  OP(378, 1, jaccard_distance, REDUCTION, ND4C_SIG_DISTANCE, distance, REAL_FLOATING,                                  \
     "1 - sum of min(a, b) / sum of max(a, b) over axes (none: all); NaN wins", "|||jaccardDistance")

#endif
