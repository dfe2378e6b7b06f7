/* Symbolic inference against inference on numbers, for one call at a time: test_symbolic.c and the program
 * nd4c_conformance (symbolic.c) include it and feed it with records.
 *
 * Extents of the inputs are replaced by dims in several ways. Then the rule must say the same as it says of numbers,
 * under the binding from which the dims came and under every other one that satisfies bounds and guards. */
#ifndef TESTS_OPS_SYMBOLIC_CHECK_H
#define TESTS_OPS_SYMBOLIC_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "ops/extents/extents.h"
#include "ops/op.h"

enum { SC_INPUTS = 24, SC_ATTRS = 32, SC_OUTPUTS = 8, SC_DIMS = 64, SC_INTS = 64, SC_TEXT = 2048 };

/* How extents become dims. */
typedef enum sc_variant {
  SC_ALONE,   /* each extent of 2 or more is a dim of its own */
  SC_SHARED,  /* equal extents of 2 or more share a dim, also in attributes that may hold extents */
  SC_BOUNDED, /* the same, and dims have bounds: 1 to three times the value */
  SC_SOME,    /* the same for half of the values, the others stay numbers */
  SC_ALL,     /* each extent is a dim of its own, 0 and 1 too */
  SC_VARIANTS
} sc_variant;

/* A call and its answer. */
typedef struct sc_call {
  const nd4c_op_def *def;
  int32_t input_count;
  nd4c_tensor inputs[SC_INPUTS];
  int64_t shapes[SC_INPUTS][ND4C_MAX_RANK];
  nd4c_attr_value attrs[SC_ATTRS];
  int64_t ints[SC_ATTRS][SC_INTS];
  nd4c_inferred outputs[SC_OUTPUTS];
  nd4c_status status;
  char error[SC_TEXT];
} sc_call;

/* What the checks saw, and the first thing that was wrong. */
typedef struct sc_report {
  long calls, answered, bound, changed, refused, unsupported, wrong;
  char text[4 * SC_TEXT];
} sc_report;

/* -- calls ------------------------------------------------------------------------------------------------------- */

static inline nd4c_status sc_sizes(sc_call *call, nd4c_extents *table) {
  for (int32_t i = 0; i < call->input_count; i++) {
    nd4c_tensor *x = &call->inputs[i];
    if (x->dtype != ND4C_DTYPE_NONE) {
      x->shape = call->shapes[i];
      ND4C_TRY(nd4c_extents_size(table, x->dtype, x->rank, x->shape, &x->size));
    }
  }
  return ND4C_OK;
}

static inline void sc_infer(sc_call *call, nd4c_extents *table) {
  memset(call->outputs, 0, sizeof call->outputs);
  call->status = sc_sizes(call, table);
  for (int32_t i = 0; i < call->def->info.attr_count; i++) {
    nd4c_attr_value *value = &call->attrs[i];
    value->as.ints = value->kind == ND4C_ATTR_INTS && value->as.ints != NULL ? call->ints[i] : value->as.ints;
  }
  if (call->status == ND4C_OK) {
    nd4c_inference inference = {.input_count = call->input_count,
                                .inputs = call->inputs,
                                .attrs = call->attrs,
                                .outputs = call->outputs,
                                .extents = table};
    call->status = nd4c_op_infer(call->def, &inference);
  }
  (void)snprintf(call->error, sizeof call->error, "%s", call->status == ND4C_OK ? "" : nd4c_error_message());
}

/* False if the call is larger than the checks' room. */
static inline int sc_take(sc_call *call, const nd4c_op_def *def, int32_t input_count, const nd4c_tensor *inputs,
                          const nd4c_attr_value *attrs) {
  memset(call, 0, sizeof *call);
  call->def = def;
  call->input_count = input_count;
  if (input_count > SC_INPUTS || def->info.attr_count > SC_ATTRS || def->info.output_count > SC_OUTPUTS) {
    return 0;
  }
  for (int32_t i = 0; i < input_count; i++) {
    if (inputs[i].rank > ND4C_MAX_RANK) { /* a record of a refusal */
      return 0;
    }
    call->inputs[i] = (nd4c_tensor){.dtype = inputs[i].dtype, .rank = inputs[i].rank};
    if (inputs[i].rank > 0) {
      memcpy(call->shapes[i], inputs[i].shape, (size_t)inputs[i].rank * sizeof(int64_t));
    }
  }
  for (int32_t i = 0; i < def->info.attr_count; i++) {
    call->attrs[i] = attrs[i];
    bool list = attrs[i].kind == ND4C_ATTR_INTS && attrs[i].as.ints != NULL;
    if (list && attrs[i].count > SC_INTS) {
      return 0;
    }
    if (list) {
      memcpy(call->ints[i], attrs[i].as.ints, (size_t)attrs[i].count * sizeof(int64_t));
    }
  }
  return 1;
}

/* -- dims -------------------------------------------------------------------------------------------------------- */

typedef struct sc_dims {
  nd4c_extents *table;
  int32_t count;
  int64_t numbers[SC_DIMS], extents[SC_DIMS];
} sc_dims;

static inline void sc_need(nd4c_status status) {
  if (status != ND4C_OK) {
    (void)fprintf(stderr, "%s\n", nd4c_error_message());
    abort();
  }
}

static inline int64_t sc_dim(sc_dims *dims, sc_variant variant, int64_t number, bool may_add) {
  bool shared = variant != SC_ALONE && variant != SC_ALL;
  if ((number < 2 && variant != SC_ALL) || (variant == SC_SOME && number % 3 == 2)) {
    return number;
  }
  for (int32_t i = 0; shared && i < dims->count; i++) {
    if (dims->numbers[i] == number) {
      return dims->extents[i];
    }
  }
  if (!may_add || dims->count == SC_DIMS) {
    return number;
  }
  char name[16];
  (void)snprintf(name, sizeof name, "d%d", (int)dims->count);
  bool bounded = variant == SC_BOUNDED && number < INT64_MAX / 4;
  sc_need(nd4c_extents_dim(dims->table, name, bounded, bounded ? 3 * number : -1, &dims->extents[dims->count]));
  dims->numbers[dims->count] = number;
  return dims->extents[dims->count++];
}

/* Replaces extents of a call, and of the attributes that may hold some. */
static inline void sc_symbolic(sc_dims *dims, sc_variant variant, sc_call *call) {
  uint32_t attrs = 0;
  (void)nd4c_op_takes_symbolic(call->def, &attrs);
  for (int32_t i = 0; i < call->input_count; i++) {
    for (int32_t j = 0; j < call->inputs[i].rank; j++) {
      call->shapes[i][j] = sc_dim(dims, variant, call->shapes[i][j], true);
    }
  }
  for (int32_t i = 0; i < call->def->info.attr_count && variant != SC_ALONE && variant != SC_ALL; i++) {
    bool list = call->attrs[i].kind == ND4C_ATTR_INTS && call->attrs[i].as.ints != NULL;
    for (int32_t j = 0; list && (attrs & (UINT32_C(1) << i)) != 0 && j < call->attrs[i].count; j++) {
      call->ints[i][j] = sc_dim(dims, variant, call->ints[i][j], false);
    }
  }
}

/* The call under a binding. */
static inline void sc_bound_call(const nd4c_binding *binding, const sc_call *symbolic, sc_call *call) {
  *call = *symbolic;
  for (int32_t i = 0; i < call->input_count; i++) {
    for (int32_t j = 0; j < call->inputs[i].rank; j++) {
      sc_need(nd4c_binding_get(binding, symbolic->shapes[i][j], &call->shapes[i][j]));
    }
  }
  for (int32_t i = 0; i < call->def->info.attr_count; i++) {
    for (int32_t j = 0; call->attrs[i].kind == ND4C_ATTR_INTS && j < call->attrs[i].count; j++) {
      sc_need(nd4c_binding_get(binding, symbolic->ints[i][j], &call->ints[i][j]));
    }
  }
}

/* Whether a call has numbers with which expressions leave 64 bits although the result does not. */
static inline bool sc_is_huge(const sc_call *call) {
  const int64_t most = INT64_C(1) << 40;
  bool huge = false;
  for (int32_t i = 0; i < call->input_count; i++) {
    for (int32_t j = 0; j < call->inputs[i].rank; j++) {
      huge = huge || call->shapes[i][j] > most;
    }
  }
  for (int32_t i = 0; i < call->def->info.attr_count; i++) {
    for (int32_t j = 0; call->attrs[i].kind == ND4C_ATTR_INTS && j < call->attrs[i].count; j++) {
      huge = huge || call->ints[i][j] > most || (call->ints[i][j] < -most && call->ints[i][j] != ND4C_SLICE_NONE);
    }
  }
  return huge;
}

/* -- checks ------------------------------------------------------------------------------------------------------ */

static inline void sc_wrong(sc_report *report, const sc_dims *dims, const sc_call *call, const char *what) {
  report->wrong++;
  if (report->text[0] != '\0') {
    return;
  }
  char text[SC_TEXT], shown[SC_TEXT];
  size_t length = (size_t)snprintf(text, sizeof text, "%s(", call->def->info.name);
  for (int32_t i = 0; i < call->input_count && length < sizeof text; i++) {
    length += (size_t)snprintf(text + length, sizeof text - length, "%s[", i > 0 ? ", " : "");
    for (int32_t j = 0; j < call->inputs[i].rank && length < sizeof text; j++) {
      length += (size_t)snprintf(text + length, sizeof text - length, "%s%lld", j > 0 ? ", " : "",
                                 (long long)call->shapes[i][j]);
    }
    length += length < sizeof text ? (size_t)snprintf(text + length, sizeof text - length, "]") : 0;
  }
  nd4c_extents_translate(dims->table, text, shown, sizeof shown);
  (void)snprintf(report->text, sizeof report->text, "%s): %s", shown, what);
}

/* Outputs of the symbolic call under the binding against those that inference on numbers gives. */
static inline void sc_compare(sc_report *report, const sc_dims *dims, const nd4c_binding *binding,
                              const sc_call *symbolic, bool changed) {
  sc_call numbers;
  sc_bound_call(binding, symbolic, &numbers);
  sc_infer(&numbers, NULL);
  char what[SC_TEXT + 256];
  if (numbers.status == ND4C_OVERFLOW) {
    return; /* graphs infer with the numbers of a binding again, which then says so */
  }
  if (numbers.status != ND4C_OK) {
    (void)snprintf(what, sizeof what, "the binding satisfies the guards, but numbers are refused: %s", numbers.error);
    sc_wrong(report, dims, &numbers, what);
    return;
  }
  report->bound++;
  report->changed += changed;
  for (int32_t i = 0; i < symbolic->def->info.output_count; i++) {
    const nd4c_inferred *left = &symbolic->outputs[i], *right = &numbers.outputs[i];
    bool same = left->dtype == right->dtype && left->rank == right->rank &&
                left->shape_depends_on_data == right->shape_depends_on_data;
    for (int32_t j = 0; same && j < left->rank; j++) {
      int64_t value;
      char text[256];
      nd4c_status status = nd4c_binding_get(binding, left->shape[j], &value);
      same = status == ND4C_OK ? value == right->shape[j] : sc_is_huge(&numbers);
      if (!same) {
        (void)snprintf(what, sizeof what, "axis %d of output %d is %s, which is %lld, expected %lld", (int)j, (int)i,
                       nd4c_extents_text(dims->table, left->shape[j], text, sizeof text), (long long)value,
                       (long long)right->shape[j]);
        sc_wrong(report, dims, &numbers, what);
        return;
      }
    }
    if (!same) {
      sc_wrong(report, dims, &numbers, "dtype or rank differ");
      return;
    }
  }
}

/* Other bindings: all dims changed alike, and each alone. Those that break a guard say nothing. */
static inline void sc_perturb(sc_report *report, const sc_dims *dims, const sc_call *symbolic) {
  for (int32_t which = -1; which < dims->count; which++) {
    for (int change = 0; change < 3; change++) {
      int64_t values[SC_DIMS];
      nd4c_binding binding;
      for (int32_t i = 0; i < dims->count; i++) {
        int64_t number = dims->numbers[i];
        bool keep = (which >= 0 && which != i) || number > 1 << 20;
        values[i] = keep ? number : change == 0 ? number + 1 : change == 1 ? 2 * number : number / 2 + 1;
      }
      if (nd4c_binding_make(dims->table, values, NULL, &binding) == ND4C_OK) {
        sc_compare(report, dims, &binding, symbolic, true);
        nd4c_binding_free(&binding);
      }
    }
  }
}

/* A variant in which the values decide every question as the numbers do must be answered, and its binding be taken. */
static inline bool sc_must_hold(sc_variant variant) {
  return variant == SC_SHARED || variant == SC_BOUNDED || variant == SC_SOME || variant == SC_ALONE;
}

static inline void sc_check_variant(sc_report *report, sc_variant variant, const sc_call *call) {
  sc_dims dims = {0};
  sc_call symbolic = *call;
  nd4c_binding binding;
  char what[2 * SC_TEXT];
  sc_need(nd4c_extents_create(&dims.table));
  sc_symbolic(&dims, variant, &symbolic);
  sc_infer(&symbolic, dims.table);
  bool unsupported = symbolic.status == ND4C_UNSUPPORTED;
  report->unsupported += unsupported;
  if (symbolic.status != ND4C_OK && nd4c_extents_guard_count(dims.table) > 0) {
    sc_wrong(report, &dims, call, "a refused call leaves guards");
  }
  if (symbolic.status != ND4C_OK) {
    report->refused++;
    if (call->status == ND4C_OK && !unsupported && sc_must_hold(variant) && !sc_is_huge(call)) {
      (void)snprintf(what, sizeof what, "numbers are accepted, dims refused: %s", symbolic.error);
      sc_wrong(report, &dims, call, what);
    }
    nd4c_extents_destroy(dims.table);
    return;
  }
  report->answered++;
  bool bound = nd4c_binding_make(dims.table, dims.numbers, NULL, &binding) == ND4C_OK;
  if (!bound && call->status == ND4C_OK && sc_must_hold(variant)) {
    (void)snprintf(what, sizeof what, "numbers are accepted, their binding refused: %s", nd4c_error_message());
    sc_wrong(report, &dims, call, what);
  }
  if (bound) {
    sc_compare(report, &dims, &binding, &symbolic, false);
    nd4c_binding_free(&binding);
  }
  sc_perturb(report, &dims, &symbolic);
  nd4c_extents_destroy(dims.table);
}

/* All variants of a call, which numbers may refuse. Ops whose rule takes numbers only must say so. */
static inline void sc_check(sc_report *report, const nd4c_op_def *def, int32_t input_count, const nd4c_tensor *inputs,
                            const nd4c_attr_value *attrs) {
  sc_call call;
  if (!sc_take(&call, def, input_count, inputs, attrs)) {
    return;
  }
  sc_infer(&call, NULL);
  report->calls++;
  if (nd4c_op_takes_symbolic(def, NULL)) {
    for (int variant = 0; variant < SC_VARIANTS; variant++) {
      sc_check_variant(report, (sc_variant)variant, &call);
    }
    return;
  }
  sc_dims dims = {0};
  sc_need(nd4c_extents_create(&dims.table));
  sc_symbolic(&dims, SC_ALL, &call);
  sc_infer(&call, dims.table);
  if (dims.count > 0 && call.status == ND4C_OK) {
    sc_wrong(report, &dims, &call, "the rule takes numbers only, but dims are accepted");
  }
  nd4c_extents_destroy(dims.table);
}

#endif
