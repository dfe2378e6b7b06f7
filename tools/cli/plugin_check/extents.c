/* Cases of an op with other extents or elements than theirs: sizes that no width of a vector divides, many elements,
 * none; numbers out of the ordinary. values.c, outputs.c and segments.c call these for their sections. */
#include <math.h>
#include <stdlib.h>

#include "check.h"

enum { MOST = 400000, SPECIALS = 8 };

static const double finite_specials[SPECIALS] = {NAN, 2, -2, -0.0, 0.0, 1e-30, -20, NAN};
static const double specials[SPECIALS] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 1e-30, -1e30, NAN};

/* The axis of input `index` whose extent changes; -1: this input stays as it is. */
static int32_t axis_of(const selftest_case *c, plugin_axis which, int32_t index) {
  const selftest_input *input = &c->inputs[index], *first = &c->inputs[0];
  const bool last = which == PLUGIN_AXIS_LAST;
  const int32_t axis = last ? input->rank - 1 : 0;
  if (!input->varies || input->rank == 0) {
    return -1;
  }
  /* Others than the first input take part where they have its extent there, as operands of one shape have. */
  const int32_t in_first = last ? first->rank - 1 : 0;
  const bool alike = index == 0 || (input->rank == first->rank && input->shape[axis] == first->shape[in_first]);
  return alike || which == PLUGIN_AXIS_ALIKE ? axis : -1;
}

static int64_t new_extent(const selftest_input *input, int32_t axis, int64_t extent, int64_t elements) {
  const int64_t rest = input->count / (input->shape[axis] > 0 ? input->shape[axis] : 1);
  return elements == 0 ? extent : rest > 0 ? elements / rest + 1 : elements;
}

/* The elements of `from` again and again; no memory where there would be too many. */
static void fill(selftest_input *input, const selftest_input *from) {
  input->count = 1;
  for (int32_t k = 0; k < input->rank; k++) {
    input->count *= input->shape[k];
  }
  input->integers = NULL;
  input->reals = input->count <= MOST ? calloc((size_t)input->count + 1, sizeof *input->reals) : NULL;
  for (int64_t k = 0; input->reals != NULL && from->reals != NULL && from->count > 0 && k < input->count; k++) {
    input->reals[k] = from->reals[k % from->count];
  }
}

bool plugin_extents_change(const selftest_case *from, plugin_axis which, int64_t extent, int64_t elements,
                           selftest_case *to) {
  bool any = false, sound = true;
  *to = *from;
  for (int32_t i = 0; i < to->input_count; i++) {
    selftest_input *input = &to->inputs[i];
    const int32_t axis = axis_of(from, which, i);
    if (axis >= 0) {
      input->shape[axis] = new_extent(&from->inputs[i], axis, extent, elements);
      fill(input, &from->inputs[i]);
      any = true;
    }
    sound = sound && (input->dtype == ND4C_DTYPE_NONE || input->reals != NULL || input->integers != NULL);
  }
  return any && sound;
}

bool plugin_extents_special(const selftest_case *from, bool infinite, selftest_case *to) {
  const double *values = infinite ? specials : finite_specials;
  selftest_input *input = &to->inputs[0];
  *to = *from;
  if (!input->varies) {
    return false;
  }
  input->integers = NULL;
  input->reals = malloc(((size_t)input->count + 1) * sizeof *input->reals);
  for (int64_t k = 0; input->reals != NULL && k < input->count; k++) {
    input->reals[k] = values[k % SPECIALS];
  }
  return input->reals != NULL;
}

void plugin_extents_clear(const selftest_case *from, selftest_case *changed) {
  for (int32_t i = 0; i < changed->input_count; i++) {
    if (changed->inputs[i].reals != from->inputs[i].reals) {
      free(changed->inputs[i].reals);
    }
  }
}
