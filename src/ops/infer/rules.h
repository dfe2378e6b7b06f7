/* Functions that the inference rules share; the files of rules include it. The rows of op_table.h name the rules, and
 * this header declares the rules from the rows. */
#ifndef ND4C_OPS_INFER_RULES_H
#define ND4C_OPS_INFER_RULES_H

#include "ops/infer/arithmetic.h"
#include "ops/op.h"

enum { ND4C_RULE_TEXT_SIZE = 512 };

/* One declaration a rule; several rows may name the same one. */
#define ND4C_RULE_DECLARE(number, version, name, category, SIGNATURE, rule, ...) \
  nd4c_status nd4c_infer_##rule(nd4c_inference *inference);
ND4C_OP_TABLE(ND4C_RULE_DECLARE)
#undef ND4C_RULE_DECLARE

/* View functions of the family SHAPE; the others never give views. */
bool nd4c_view_reshape(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_transpose(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_broadcast_to(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_squeeze(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_expand_dims(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_flatten(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_matrix_transpose(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_slice(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_flip(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_swapaxes(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_moveaxis(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_atleast_nd(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_select(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_diagonal(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_sliding_window_view(const nd4c_inference *inference, int64_t *strides, int64_t *offset);
bool nd4c_view_unfold(const nd4c_inference *inference, int64_t *strides, int64_t *offset);

/* Refuses an input: "conv: input w is float32 (8, 3, 3, 3): " and the formatted rest, which says what was expected. */
nd4c_status nd4c_rule_refuse(const nd4c_inference *inference, int32_t input, nd4c_status code, const char *format, ...)
    ND4C_PRINTF(4, 5);

/* Refuse symbolic extents: UNSUPPORTED where the rule needs numbers, with the formatted text of what it expected, and
 * OVERFLOW for an axis that surely exceeds 64 bits. Calls with numbers never come here, so the documents of the ops do
 * not list these statuses. */
nd4c_status nd4c_rule_needs_numbers(const nd4c_inference *inference, int32_t input, const char *format, ...)
    ND4C_PRINTF(3, 4);
nd4c_status nd4c_rule_too_long(const nd4c_inference *inference, int32_t input, int32_t axis);

/* Input at a position of the schema, or NULL if it was left out. */
const nd4c_tensor *nd4c_rule_input(const nd4c_inference *inference, int32_t position);

/* Sets the first output, or the one at a position. */
void nd4c_rule_output(nd4c_inference *inference, nd4c_dtype dtype, int32_t rank, const int64_t *shape);
void nd4c_rule_output_at(nd4c_inference *inference, int32_t position, nd4c_dtype dtype, int32_t rank,
                         const int64_t *shape);

/* Refuses an input whose dtype is not that of the first. Inputs left out pass. */
nd4c_status nd4c_rule_same_dtype(const nd4c_inference *inference, int32_t position);

/* The same for all inputs. */
nd4c_status nd4c_rule_all_same_dtype(const nd4c_inference *inference);

/* Refuses an input that is not of signed or unsigned integers. Inputs left out pass. */
nd4c_status nd4c_rule_integers(const nd4c_inference *inference, int32_t position);

/* Whether a dtype of integers can represent the number; true for every other dtype. */
bool nd4c_rule_holds(nd4c_dtype dtype, int64_t number);

/* Refuses an input whose dtype is none of the op's. */
nd4c_status nd4c_rule_accepted_dtype(const nd4c_inference *inference, int32_t position);

/* Refuses an input that does not broadcast to a shape, called `what` in the text. Inputs left out pass. */
nd4c_status nd4c_rule_broadcasts_to(const nd4c_inference *inference, int32_t position, const char *what, int32_t rank,
                                    const int64_t *shape);

/* Refuses an input of another rank, or of another shape, which `what` describes. Inputs left out pass. */
nd4c_status nd4c_rule_expect_rank(const nd4c_inference *inference, int32_t position, int32_t rank, const char *what);
nd4c_status nd4c_rule_expect_shape(const nd4c_inference *inference, int32_t position, int32_t rank,
                                   const int64_t *shape, const char *what);

/* The same for the first output's shape. */
nd4c_status nd4c_rule_broadcasts_to_output(const nd4c_inference *inference, int32_t position);

/* First output: shape of inputs a and b broadcast against each other, dtype as given. */
nd4c_status nd4c_rule_broadcast(nd4c_inference *inference, int32_t a, int32_t b, nd4c_dtype dtype);

/* The dtype that two inputs share. */
nd4c_status nd4c_rule_promote(const nd4c_inference *inference, int32_t a, int32_t b, nd4c_dtype *dtype);

/* *dtype promoted with that of a further input. */
nd4c_status nd4c_rule_mix(const nd4c_inference *inference, int32_t position, nd4c_dtype *dtype);

/* An axis (an attribute's value) of the first input, or of an output of `rank` axes. */
nd4c_status nd4c_rule_axis(const nd4c_inference *inference, const char *attr, int64_t axis, int32_t rank,
                           int32_t *normalized);

/* A list of different axes as flags; an empty list leaves all false. */
nd4c_status nd4c_rule_axes(const nd4c_inference *inference, const char *attr, const nd4c_attr_value *axes, int32_t rank,
                           bool *chosen);

/* The same for ops that take all axes where the list is left out; one that is given and empty leaves all false. */
nd4c_status nd4c_rule_axes_or_all(const nd4c_inference *inference, const char *attr, const nd4c_attr_value *axes,
                                  int32_t rank, bool *chosen);

/* For signatures whose attributes begin with `axes` and `keepdims`. reduced_axes finds the axes to reduce (all if they
 * are left out), reduce sets the first output, and nonempty refuses an input without elements to reduce. */
nd4c_status nd4c_rule_reduced_axes(const nd4c_inference *inference, bool *reduced);
nd4c_status nd4c_rule_reduce(nd4c_inference *inference, nd4c_dtype dtype);
nd4c_status nd4c_rule_nonempty(const nd4c_inference *inference);
/* The dtype in which sums of `dtype` are computed. */
nd4c_dtype nd4c_rule_sum_dtype(nd4c_dtype dtype);
/* The same for the first input, unless `wanted`, an attribute, names a dtype; refuses one that is not numeric. */
nd4c_status nd4c_rule_gathered_dtype(const nd4c_inference *inference, int64_t wanted, nd4c_dtype *dtype);

/* Refuses an input that holds no indices: int32 or int64. Inputs left out pass. */
nd4c_status nd4c_rule_index_dtype(const nd4c_inference *inference, int32_t position);

/* Refuses an input that is not bool. */
nd4c_status nd4c_rule_bool_dtype(const nd4c_inference *inference, int32_t position);

/* Refuses a dtype attribute that is none of the op's. */
nd4c_status nd4c_rule_dtype_attr(const nd4c_inference *inference, int64_t dtype);

/* First output from the attribute `shape` of an op, checked: extents and their number. */
nd4c_status nd4c_rule_shape_attr(nd4c_inference *inference, const nd4c_attr_value *shape, nd4c_dtype dtype);

/* Refuses a result of more axes than an array can have. */
nd4c_status nd4c_rule_rank(const nd4c_inference *inference, int64_t rank);

/* Refuses an attribute with words, or a list of them, with a number that stands for no word. */
nd4c_status nd4c_rule_choice(const nd4c_inference *inference, int32_t attr);
/* The same for an op that takes only the first `count` words. */
nd4c_status nd4c_rule_choice_below(const nd4c_inference *inference, int32_t attr, int32_t count);

#endif
