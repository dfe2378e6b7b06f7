/* Sample inputs for a plug-in's own ops, from their schemas alone. Nothing is known of what an op takes, so candidates
 * are made in order of how usual they are, and the op's inference accepts some of them as calls. cases.c and own.c call
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { SHAPED = 3, RANK = 4, VARIADIC = 2, LISTS = 5 };

typedef struct extents {
  int32_t rank;
  int64_t shape[RANK];
} extents;

/* Of the first inputs; the last entry is that of all further ones. */
static const extents arrangements[][SHAPED] = {
    {{2, {3, 4}}, {2, {3, 4}}, {2, {3, 4}}},
    {{1, {5}}, {1, {5}}, {1, {5}}},
    {{0, {0}}, {0, {0}}, {0, {0}}},
    {{3, {2, 3, 4}}, {3, {2, 3, 4}}, {3, {2, 3, 4}}},
    {{3, {2, 3, 4}}, {2, {3, 1}}, {1, {1}}},
    {{2, {3, 4}}, {1, {4}}, {1, {4}}},
    {{2, {3, 4}}, {0, {0}}, {0, {0}}},
    {{2, {3, 4}}, {2, {4, 5}}, {1, {5}}},
    {{2, {3, 4}}, {2, {5, 4}}, {1, {5}}},
    {{3, {2, 3, 4}}, {3, {2, 4, 5}}, {1, {5}}},
    {{2, {4, 4}}, {2, {4, 4}}, {2, {4, 4}}},
    {{2, {6, 4}}, {1, {6}}, {1, {6}}},
    {{4, {1, 4, 6, 6}}, {4, {4, 4, 3, 3}}, {1, {4}}},
    {{4, {2, 4, 6, 6}}, {1, {4}}, {1, {4}}},
    {{3, {2, 4, 8}}, {3, {4, 4, 3}}, {1, {4}}},
    {{3, {2, 8, 16}}, {2, {16, 16}}, {1, {16}}},
};
enum { ARRANGEMENTS = sizeof arrangements / sizeof arrangements[0] };

/* Of inputs behind the first one; NONE: the dtype under test. */
static const nd4c_dtype others[] = {ND4C_DTYPE_NONE, ND4C_INT64, ND4C_INT32, ND4C_BOOL, ND4C_FLOAT32};
enum { OTHERS = sizeof others / sizeof others[0] };

/* Attributes: as the schema presets them, then these. */
static const int64_t numbers[] = {0, 2, 1, -1, 0};
static const int64_t lists[LISTS][2] = {{0, 0}, {1, 1}, {0, 1}, {1, 0}, {-1, -1}};
static const int32_t list_lengths[LISTS] = {0, 2, 1, 2, 1};
enum { WAYS = LISTS };

static bool set_attrs(const nd4c_op_info *op, int32_t way, selftest_case *c) {
  bool any = false;
  for (int32_t i = 0; way > 0 && i < op->attr_count && c->attr_count < SELFTEST_ATTRS; i++) {
    nd4c_attr attr = {.name = op->attrs[i].name, .value = op->attrs[i].preset};
    if (attr.value.kind == ND4C_ATTR_INT) {
      attr.value.as.i = numbers[way];
    } else if (attr.value.kind == ND4C_ATTR_BOOL) {
      attr.value.as.i = !attr.value.as.i;
    } else if (attr.value.kind == ND4C_ATTR_FLOAT) {
      attr.value.as.f += way;
    } else if (attr.value.kind == ND4C_ATTR_INTS) {
      attr.value.as.ints = lists[way];
      attr.value.count = list_lengths[way];
    } else {
      continue;
    }
    any = true;
    c->attrs[c->attr_count++] = attr;
  }
  return any || way == 0;
}

/* Reals of both signs with halves among them; integers 0 and 1, which are places almost everywhere. */
static bool fill(selftest_input *input, int32_t index) {
  input->count = 1;
  for (int32_t axis = 0; axis < input->rank; axis++) {
    input->count *= input->shape[axis];
  }
  input->reals = calloc((size_t)input->count + 1, sizeof *input->reals);
  for (int64_t i = 0; input->reals != NULL && i < input->count; i++) {
    input->reals[i] = input->varies ? 0.5 * (double)((7 * i + 3 * index) % 13 - 4) : (double)((i + index) % 2);
  }
  return input->reals != NULL;
}

static void set_input(selftest_case *c, const extents *of, nd4c_dtype dtype) {
  selftest_input *input = &c->inputs[c->input_count++];
  *input = (selftest_input){.rank = of->rank, .varies = dtype == ND4C_DTYPE_NONE};
  input->dtype = input->varies ? ND4C_FLOAT32 : dtype; /* anything but NONE, which says that it is left out */
  memcpy(input->shape, of->shape, sizeof of->shape);
}

/* One candidate. */
typedef struct sample {
  selftest_case c;
  int32_t other; /* which of `others` its further inputs have */
  bool begins;   /* it is the first one of its attributes and optional inputs */
  bool fresh;    /* no candidate before it is the same */
} sample;

/* False: there are no more. */
static bool make(const nd4c_op_info *op, int32_t number, sample *s) {
  const int32_t arrangement = number % ARRANGEMENTS, other = number / ARRANGEMENTS % OTHERS;
  const int32_t given = number / ARRANGEMENTS / OTHERS % 2, way = number / ARRANGEMENTS / OTHERS / 2;
  selftest_case *c = &s->c;
  *s = (sample){.c = {.op = op}, .other = other, .begins = arrangement == 0 && other == 0};
  if (way >= WAYS) {
    return false;
  }
  bool optional = false, sound = true;
  for (int32_t i = 0; i < op->input_count && c->input_count < SELFTEST_INPUTS; i++) {
    const int32_t shape = i < SHAPED ? i : SHAPED - 1, copies = op->inputs[i].variadic ? VARIADIC : 1;
    optional = optional || op->inputs[i].optional;
    if (op->inputs[i].optional && given == 1) {
      break;
    }
    for (int32_t k = 0; k < copies && c->input_count < SELFTEST_INPUTS; k++) {
      set_input(c, &arrangements[arrangement][shape], i == 0 ? ND4C_DTYPE_NONE : others[other]);
      sound = sound && fill(&c->inputs[c->input_count - 1], c->input_count - 1);
    }
  }
  s->fresh = sound && set_attrs(op, way, c) && (given == 0 || optional) && (other == 0 || op->input_count > 1) &&
             (arrangement == 0 || c->input_count > 0);
  return true;
}

static void clear(sample *s) {
  for (int32_t i = 0; i < s->c.input_count; i++) {
    free(s->c.inputs[i].reals);
  }
}

int32_t plugin_samples_each(const nd4c_op_info *op, bool (*function)(void *user, const selftest_case *c), void *user) {
  sample s;
  int32_t taken = 0, of_these = 0;
  for (int32_t number = 0; make(op, number, &s); number++) {
    of_these = s.begins ? 0 : of_these;
    /* Other dtypes for further inputs are tried where the one under test is not accepted for them. */
    if (s.fresh && (s.other == 0 || of_these == 0)) {
      const bool accepted = function(user, &s.c);
      of_these += accepted && s.other == 0;
      taken += accepted;
    }
    clear(&s);
  }
  return taken;
}
