/* Reads a sum of products over named axes, of two operands, as a batch of matrices with strides
 * (nd4c_cpu_product_read): einsum, tensordot, inner, multi_dot, kron and outer are then computed where operands lie,
 * without copies. Of the result's axes that only one operand has, one becomes the rows (columns) and the others batch
 * axes over which the other operand repeats. */
#include "backends/cpu/support/contraction_product.h"

#include "backends/labels.h"

/* What an axis of the sum is to the product. */
typedef enum axis_kind { AXIS_BATCH, AXIS_ROW, AXIS_COLUMN, AXIS_SUMMED, AXIS_KINDS } axis_kind;

typedef struct sum_axis {
  int32_t label;
  axis_kind kind;
  int64_t extent;
  int64_t strides[3]; /* of a, b and y; 0 where the array has none, or repeats */
  bool in[3];
} sum_axis;

typedef struct sum_axes {
  int32_t count;
  sum_axis axis[3 * ND4C_PRODUCT_MAX_RANK];
} sum_axes;

enum { OF_A, OF_B, OF_Y };

/* Adds one array's axes. Labels that stand twice are diagonals: their strides add up. */
static bool add_array(sum_axes *axes, const nd4c_labelled *array, int32_t which) {
  if (array->rank > ND4C_PRODUCT_MAX_RANK) {
    return false;
  }
  for (int32_t i = 0; i < array->rank; i++) {
    int32_t at = 0;
    while (at < axes->count && axes->axis[at].label != array->labels[i]) {
      at++;
    }
    sum_axis *axis = &axes->axis[at];
    if (at == axes->count) {
      *axis = (sum_axis){.label = array->labels[i], .extent = 1};
      axes->count++;
    }
    axis->in[which] = true;
    if (array->shape[i] != 1) { /* one that is 1 beside a longer one is broadcast */
      axis->extent = array->shape[i];
      axis->strides[which] += array->strides[i];
    }
  }
  return true;
}

/* Says what each axis is, without those of length 1. An axis along which one operand repeats belongs to the other. */
static const char *classify(sum_axes *axes) {
  int32_t kept = 0;
  for (int32_t i = 0; i < axes->count; i++) {
    sum_axis *axis = &axes->axis[i];
    if (axis->extent == 1) {
      continue;
    }
    const bool a = axis->strides[OF_A] != 0, b = axis->strides[OF_B] != 0;
    if (!axis->in[OF_Y]) {
      if (!axis->in[OF_A] || !axis->in[OF_B]) {
        return "one operand alone is summed over an axis";
      }
      axis->kind = AXIS_SUMMED;
    } else {
      axis->kind = a == b ? AXIS_BATCH : a ? AXIS_ROW : AXIS_COLUMN;
    }
    axes->axis[kept++] = *axis;
  }
  axes->count = kept;
  return NULL;
}

/* Makes one axis of those of a kind that follow each other in every array. */
static void merge_kind(sum_axes *axes, axis_kind kind) {
  for (int32_t i = 0; i < axes->count; i++) {
    for (int32_t k = 0; k < axes->count; k++) {
      sum_axis *outer = &axes->axis[i];
      const sum_axis *inner = &axes->axis[k];
      bool follows = i != k && outer->kind == kind && inner->kind == kind;
      for (int32_t which = 0; which < 3; which++) {
        follows = follows && outer->strides[which] == inner->strides[which] * inner->extent;
      }
      if (follows) {
        memcpy(outer->strides, inner->strides, sizeof outer->strides);
        outer->extent *= inner->extent;
        axes->axis[k] = axes->axis[--axes->count];
        i = -1; /* from the beginning: an axis has moved */
        break;
      }
    }
  }
}

/* The axis of a kind that becomes the matrices' own: the longest; NULL if there is none. */
static sum_axis *longest(sum_axes *axes, axis_kind kind) {
  sum_axis *found = NULL;
  for (int32_t i = 0; i < axes->count; i++) {
    sum_axis *axis = &axes->axis[i];
    if (axis->kind == kind && (found == NULL || axis->extent > found->extent)) {
      found = axis;
    }
  }
  return found;
}

static void place_axis(nd4c_cpu_matrices *x, int32_t at, int64_t extent, int64_t stride) {
  x->shape[at] = extent;
  x->strides[at] = stride;
}

/* The matrices' own axes: rows and columns of each. */
static void place_own(nd4c_cpu_product *p, const sum_axis *row, const sum_axis *column, const sum_axis *summed) {
  const int32_t at = p->rank - 2;
  p->m = row != NULL ? row->extent : 1;
  p->n = column != NULL ? column->extent : 1;
  p->k = summed != NULL ? summed->extent : 1;
  place_axis(&p->a, at, p->m, row != NULL ? row->strides[OF_A] : 0);
  place_axis(&p->a, at + 1, p->k, summed != NULL ? summed->strides[OF_A] : 0);
  place_axis(&p->b, at, p->k, summed != NULL ? summed->strides[OF_B] : 0);
  place_axis(&p->b, at + 1, p->n, column != NULL ? column->strides[OF_B] : 0);
  place_axis(&p->y, at, p->m, row != NULL ? row->strides[OF_Y] : 0);
  place_axis(&p->y, at + 1, p->n, column != NULL ? column->strides[OF_Y] : 0);
}

static const char *make_product(const sum_axes *axes, const sum_axis *row, const sum_axis *column,
                                const sum_axis *summed, nd4c_cpu_product *p) {
  p->rank = 2;
  for (int32_t i = 0; i < axes->count; i++) {
    const sum_axis *axis = &axes->axis[i];
    if (axis == row || axis == column || axis == summed) {
      continue;
    }
    const int32_t at = p->rank - 2;
    if (axis->kind == AXIS_SUMMED) {
      return "several axes are summed over that are no single one in memory";
    }
    if (p->rank == ND4C_PRODUCT_MAX_RANK) {
      return "more batch axes than the engine takes";
    }
    place_axis(&p->a, at, axis->strides[OF_A] == 0 ? 1 : axis->extent, axis->strides[OF_A]);
    place_axis(&p->b, at, axis->strides[OF_B] == 0 ? 1 : axis->extent, axis->strides[OF_B]);
    place_axis(&p->y, at, axis->extent, axis->strides[OF_Y]);
    p->rank++;
  }
  place_own(p, row, column, summed);
  return NULL;
}

const char *nd4c_cpu_product_read_labels(const nd4c_call *call, nd4c_cpu_product *p) {
  nd4c_labelled operands[2];
  nd4c_labels labels;
  sum_axes axes; /* not cleared: a call uses only a few */
  axes.count = 0;
  if (call->input_count != 2) {
    return "not two operands";
  }
  for (int32_t i = 0; i < 2; i++) {
    if (call->inputs[i].rank > ND4C_PRODUCT_MAX_RANK) {
      return "more axes than the engine takes";
    }
    if (call->inputs[i].size == 0) {
      return "an operand is empty";
    }
  }
  labels.operands = operands;
  nd4c_labels_make(&labels, call);
  if (!add_array(&axes, &operands[0], OF_A) || !add_array(&axes, &operands[1], OF_B) ||
      !add_array(&axes, &labels.output, OF_Y)) {
    return "more axes than the engine takes";
  }
  const char *why = classify(&axes);
  if (why != NULL) {
    return why;
  }
  for (axis_kind kind = AXIS_BATCH; kind < AXIS_KINDS; kind++) {
    merge_kind(&axes, kind);
  }
  p->a.tensor = &call->inputs[0];
  p->b.tensor = &call->inputs[1];
  p->y.tensor = &call->outputs[0];
  return make_product(&axes, longest(&axes, AXIS_ROW), longest(&axes, AXIS_COLUMN), longest(&axes, AXIS_SUMMED), p);
}
