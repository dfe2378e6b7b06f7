/* Op functions of the family sorting, made from include/nd4c/op_table/sorting.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_SORTING_H
#define ND4C_OPS_SORTING_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* nonzero: int64 indices of the elements that are not zero, in C order: one row for each axis, one column for each
 * element; 0-d counts as 1-D.
 * In: x (bool, int, uint, float, complex).
 * Out: y: int64 [axes of x, elements that are not zero]; a scalar counts as one axis. The length depends on the data.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_nonzero(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_nonzero_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* sort: x sorted along axis, stably; NaN last, or first if descending.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axis (-1), descending (false).
 * Out: y: the shape and dtype of x.
 * Statuses: INDEX. */
ND4C_API nd4c_status nd4c_sort(const nd4c_array *x, int64_t axis, bool descending, nd4c_array **y);
ND4C_API nd4c_status nd4c_sort_on(nd4c_context *context, const nd4c_array *x, int64_t axis, bool descending,
                                  nd4c_array **y);

/* argsort: int64 indices that sort x along axis, stably; NaN last, or first if descending.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axis (-1), descending (false).
 * Out: y: int64, in x's shape.
 * Statuses: INDEX. */
ND4C_API nd4c_status nd4c_argsort(const nd4c_array *x, int64_t axis, bool descending, nd4c_array **y);
ND4C_API nd4c_status nd4c_argsort_on(nd4c_context *context, const nd4c_array *x, int64_t axis, bool descending,
                                     nd4c_array **y);

/* top_k: the k largest (or smallest) elements along axis, best first, and their int64 indices; the first of equal
 * elements wins; NaN is largest.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axis (-1), k (1), largest (true).
 * Out: y, indices: x's shape with k on the axis; y in x's dtype, indices int64.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_top_k(const nd4c_array *x, int64_t axis, int64_t k, bool largest, nd4c_array **y,
                                nd4c_array **indices);
ND4C_API nd4c_status nd4c_top_k_on(nd4c_context *context, const nd4c_array *x, int64_t axis, int64_t k, bool largest,
                                   nd4c_array **y, nd4c_array **indices);

/* kth_value: element k (from 0) of x sorted along axis, and its int64 index.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axis (-1), k (0), keepdims (false).
 * Out: y, indices: x's shape without the axis (keepdims: with 1 in its place); y in x's dtype, indices int64.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_kth_value(const nd4c_array *x, int64_t axis, int64_t k, bool keepdims, nd4c_array **y,
                                    nd4c_array **indices);
ND4C_API nd4c_status nd4c_kth_value_on(nd4c_context *context, const nd4c_array *x, int64_t axis, int64_t k,
                                       bool keepdims, nd4c_array **y, nd4c_array **indices);

/* unique_all: values: distinct elements in ascending order; indices: int64 positions of their first occurrences in C
 * order; inverse_indices: where each element of x is among values (x's shape); counts: how often each occurs; every
 * NaN counts as distinct.
 * In: x (bool, int, uint, float, complex).
 * Out: values: a vector in x's dtype; indices and counts: int64 vectors; the length of the three depends on the data.
 *     inverse_indices: int64, in x's shape.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_unique_all(const nd4c_array *x, nd4c_array **values, nd4c_array **indices,
                                     nd4c_array **inverse_indices, nd4c_array **counts);
ND4C_API nd4c_status nd4c_unique_all_on(nd4c_context *context, const nd4c_array *x, nd4c_array **values,
                                        nd4c_array **indices, nd4c_array **inverse_indices, nd4c_array **counts);

/* unique_counts: distinct elements in ascending order and how often each occurs (int64); every NaN counts as
 * distinct.
 * In: x (bool, int, uint, float, complex).
 * Out: values: a vector in x's dtype; counts: an int64 vector. The length depends on the data.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_unique_counts(const nd4c_array *x, nd4c_array **values, nd4c_array **counts);
ND4C_API nd4c_status nd4c_unique_counts_on(nd4c_context *context, const nd4c_array *x, nd4c_array **values,
                                           nd4c_array **counts);

/* unique_inverse: distinct elements in ascending order and where each element of x is among them (int64, x's shape);
 * every NaN counts as distinct.
 * In: x (bool, int, uint, float, complex).
 * Out: values: a vector in x's dtype, whose length depends on the data; inverse_indices: int64, in x's shape.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_unique_inverse(const nd4c_array *x, nd4c_array **values, nd4c_array **inverse_indices);
ND4C_API nd4c_status nd4c_unique_inverse_on(nd4c_context *context, const nd4c_array *x, nd4c_array **values,
                                            nd4c_array **inverse_indices);

/* unique_values: distinct elements in ascending order; every NaN counts as distinct.
 * In: x (bool, int, uint, float, complex).
 * Out: values: a vector in x's dtype; the length depends on the data.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_unique_values(const nd4c_array *x, nd4c_array **values);
ND4C_API nd4c_status nd4c_unique_values_on(nd4c_context *context, const nd4c_array *x, nd4c_array **values);

/* unique: distinct elements (or slices along the axis, if one is given), ascending or in the order of their first
 * occurrences; also int64 positions of first occurrences, where each element of x is among values (1-D), and counts;
 * every NaN counts as distinct.
 * In: x (bool, int, uint, float, complex).
 * Attributes: axis (NULL, 0), sorted (true).
 * Out: values: x with fewer elements on the axis, in x's dtype, or a vector without axis; indices and counts: int64
 *     vectors of that length, which depends on the data; inverse_indices: an int64 vector as long as the axis or,
 *     without axis, as long as x has elements.
 * Statuses: ARGUMENT, INDEX. */
ND4C_API nd4c_status nd4c_unique(const nd4c_array *x, const int64_t *axis, int32_t axis_count, bool sorted,
                                 nd4c_array **values, nd4c_array **indices, nd4c_array **inverse_indices,
                                 nd4c_array **counts);
ND4C_API nd4c_status nd4c_unique_on(nd4c_context *context, const nd4c_array *x, const int64_t *axis, int32_t axis_count,
                                    bool sorted, nd4c_array **values, nd4c_array **indices,
                                    nd4c_array **inverse_indices, nd4c_array **counts);

/* searchsorted: int64 positions at which values would be inserted into sorted x (x in the order of sorter, if given):
 * before equal elements or, if right, after them.
 * In: x (int, uint, float), values, sorter or NULL.
 * Attributes: right (false).
 * Out: y: int64, in the shape of values. values has x's dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_searchsorted(const nd4c_array *x, const nd4c_array *values, const nd4c_array *sorter,
                                       bool right, nd4c_array **y);
ND4C_API nd4c_status nd4c_searchsorted_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *values,
                                          const nd4c_array *sorter, bool right, nd4c_array **y);

/* isin: true where an element of x is among elements (invert: is not).
 * In: x (bool, int, uint, float, complex), elements.
 * Attributes: invert (false).
 * Out: y: bool, in x's shape. elements has x's dtype.
 * Statuses: DTYPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_isin(const nd4c_array *x, const nd4c_array *elements, bool invert, nd4c_array **y);
ND4C_API nd4c_status nd4c_isin_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *elements, bool invert,
                                  nd4c_array **y);

/* union1d: distinct elements of a and b together, ascending.
 * In: a (bool, int, uint, float, complex), b.
 * Out: y: a vector in the dtype of the inputs, which must be the same; the length depends on the data.
 * Statuses: DTYPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_union1d(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_union1d_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* intersect1d: distinct elements that both a and b have, ascending.
 * In: a (bool, int, uint, float, complex), b.
 * Out: y: a vector in the dtype of the inputs, which must be the same; the length depends on the data.
 * Statuses: DTYPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_intersect1d(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_intersect1d_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                         nd4c_array **y);

/* setdiff1d: distinct elements of a that b does not have, ascending.
 * In: a (bool, int, uint, float, complex), b.
 * Out: y: a vector in the dtype of the inputs, which must be the same; the length depends on the data.
 * Statuses: DTYPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_setdiff1d(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_setdiff1d_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* setxor1d: distinct elements that only one of a and b has, ascending.
 * In: a (bool, int, uint, float, complex), b.
 * Out: y: a vector in the dtype of the inputs, which must be the same; the length depends on the data.
 * Statuses: DTYPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_setxor1d(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_setxor1d_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* histogram: how many elements lie in each bin [e[i], e[i + 1]), the last bin closed (weights: their sum), and the
 * edges e: given, or equally spaced over range (none: least to largest of x; NaN is then refused); density: divided
 * by the total and by the bin's width.
 * In: x (int, uint, float), edges or NULL, weights or NULL.
 * Attributes: bins (10), range (NULL, 0), density (false).
 * Out: histogram: a vector of bins elements, float64 with density, else the dtype of weights, or int64 without
 *     weights; bin_edges: bins + 1 elements, in x's dtype, or float64 for integers. With the input edges there is one
 *     bin fewer than edges.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_histogram(const nd4c_array *x, const nd4c_array *edges, const nd4c_array *weights,
                                    int64_t bins, const double *range, int32_t range_count, bool density,
                                    nd4c_array **histogram, nd4c_array **bin_edges);
ND4C_API nd4c_status nd4c_histogram_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *edges,
                                       const nd4c_array *weights, int64_t bins, const double *range,
                                       int32_t range_count, bool density, nd4c_array **histogram,
                                       nd4c_array **bin_edges);

/* histogram_bin_edges: edges that histogram would use.
 * In: x (int, uint, float).
 * Attributes: bins (10), range (NULL, 0).
 * Out: y: a vector of bins + 1 elements, in x's dtype, or float64 for integers.
 * Statuses: ARGUMENT. */
ND4C_API nd4c_status nd4c_histogram_bin_edges(const nd4c_array *x, int64_t bins, const double *range,
                                              int32_t range_count, nd4c_array **y);
ND4C_API nd4c_status nd4c_histogram_bin_edges_on(nd4c_context *context, const nd4c_array *x, int64_t bins,
                                                 const double *range, int32_t range_count, nd4c_array **y);

/* histogram_fixed_width: int64 number of elements in each of equal bins over low .. high; elements outside count in
 * the first or last bin, NaN in none.
 * In: x (int, uint, float).
 * Attributes: low (0), high (1), bins (100).
 * Out: y: int64 [bins].
 * Statuses: ARGUMENT. */
ND4C_API nd4c_status nd4c_histogram_fixed_width(const nd4c_array *x, double low, double high, int64_t bins,
                                                nd4c_array **y);
ND4C_API nd4c_status nd4c_histogram_fixed_width_on(nd4c_context *context, const nd4c_array *x, double low, double high,
                                                   int64_t bins, nd4c_array **y);

/* bincount: y[v]: how many elements are v (weights: the sum of their weights); y has at least minlength and at most
 * maxlength elements: a larger or negative element of x is refused; if minlength is maxlength, the shape does not
 * depend on the data.
 * In: x (int, uint), weights or NULL.
 * Attributes: minlength (0), maxlength (65536).
 * Out: y: a vector in the dtype of weights, or int64 without weights. Its length depends on the data; it is at least
 *     minlength and at most maxlength.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_bincount(const nd4c_array *x, const nd4c_array *weights, int64_t minlength, int64_t maxlength,
                                   nd4c_array **y);
ND4C_API nd4c_status nd4c_bincount_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *weights,
                                      int64_t minlength, int64_t maxlength, nd4c_array **y);

/* digitize: int64 number i of the bin of each element: bins[i - 1] <= x < bins[i] or, if right, bins[i - 1] < x <=
 * bins[i]; bins ascend or descend.
 * In: x (int, uint, float), bins.
 * Attributes: right (false).
 * Out: y: int64, in x's shape. bins has x's dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_digitize(const nd4c_array *x, const nd4c_array *bins, bool right, nd4c_array **y);
ND4C_API nd4c_status nd4c_digitize_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *bins, bool right,
                                      nd4c_array **y);

/* is_non_decreasing: true if no element is less than the one before it in C order (0-d); false if a pair contains
 * NaN.
 * In: x (int, uint, float).
 * Out: y: a bool scalar.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_is_non_decreasing(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_is_non_decreasing_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* is_strictly_increasing: true if every element is greater than the one before it in C order (0-d).
 * In: x (int, uint, float).
 * Out: y: a bool scalar.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_is_strictly_increasing(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_is_strictly_increasing_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* argwhere: int64 indices of the elements that are not zero, in C order: one row for each element, one column for
 * each axis.
 * In: x (bool, int, uint, float, complex).
 * Out: y: int64 [elements that are not zero, axes of x]. The length depends on the data.
 * Statuses: those of every op. */
ND4C_API nd4c_status nd4c_argwhere(const nd4c_array *x, nd4c_array **y);
ND4C_API nd4c_status nd4c_argwhere_on(nd4c_context *context, const nd4c_array *x, nd4c_array **y);

/* in_top_k: true where predictions[i, targets[i]] is finite and fewer than k of row i are greater.
 * In: predictions (float), targets.
 * Attributes: k (1).
 * Out: y: bool, in the shape of targets [n], for predictions [n, classes].
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_in_top_k(const nd4c_array *predictions, const nd4c_array *targets, int64_t k, nd4c_array **y);
ND4C_API nd4c_status nd4c_in_top_k_on(nd4c_context *context, const nd4c_array *predictions, const nd4c_array *targets,
                                      int64_t k, nd4c_array **y);

/* confusion_matrix: y[l, p]: how many pairs have label l and prediction p (weights: the sum of their weights),
 * [classes, classes].
 * In: labels (int, uint), predictions, weights or NULL.
 * Attributes: classes (0).
 * Out: y: [classes, classes], in the dtype of weights, or int64 without weights. predictions and weights have the
 *     shape of labels.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_confusion_matrix(const nd4c_array *labels, const nd4c_array *predictions,
                                           const nd4c_array *weights, int64_t classes, nd4c_array **y);
ND4C_API nd4c_status nd4c_confusion_matrix_on(nd4c_context *context, const nd4c_array *labels,
                                              const nd4c_array *predictions, const nd4c_array *weights, int64_t classes,
                                              nd4c_array **y);

/* lexsort: int64 indices that sort along axis, stably: by the last key, then by the key before it where the last is
 * equal, and so on; NaN last.
 * In: keys (one or more) (bool, int, uint, float, complex).
 * Attributes: axis (-1).
 * Out: y: int64, in the shape of the keys, which must all have the same.
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_lexsort(const nd4c_array *const *keys, int32_t keys_count, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_lexsort_on(nd4c_context *context, const nd4c_array *const *keys, int32_t keys_count,
                                     int64_t axis, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
