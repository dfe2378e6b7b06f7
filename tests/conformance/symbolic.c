/* The mode --symbolic: the cases of all records, recorded refusals too, go through inference with dims in place of
 * extents (ops/symbolic_check.h). Nothing is computed. main.c calls it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/symbolic_check.h"
#include "prepared.h"
#include "symbolic.h"

/* False if the attributes or the number of inputs cannot be those of a call. */
static bool check_case(sc_report *report, const cf_case *c) {
  const nd4c_op_def *def = nd4c_op_get_def(c->op);
  nd4c_tensor tensors[CF_INPUTS];
  nd4c_attr_value attrs[SC_ATTRS];
  if (def == NULL || def->info.attr_count > SC_ATTRS ||
      nd4c_op_resolve_attrs(&def->info, c->attrs, c->attr_count, attrs) != ND4C_OK) {
    return false;
  }
  for (int32_t i = 0; i < c->input_count; i++) {
    const cf_tensor *input = &c->inputs[i];
    tensors[i] = (nd4c_tensor){.dtype = input->dtype, .rank = input->rank, .shape = input->shape};
  }
  sc_check(report, def, c->input_count, tensors, attrs);
  return true;
}

/* Prints the first mistake of an op. Rules hardly depend on dtypes: two show them, all with --full. */
static void check_op(const cf_run *run, const cf_record *record, sc_report *report) {
  enum { FEW = 2 };
  long before = report->wrong;
  int32_t dtypes = 0;
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END && (dtypes < FEW || run->options.full); dtype++) {
    if (!cf_has_dtype(dtype) || (nd4c_op_get(record->op)->dtypes & ND4C_DTYPE_BIT(dtype)) == 0) {
      continue;
    }
    bool more = true;
    dtypes++;
    for (int32_t number = 0; more; number++) {
      cf_case c;
      memset(&c, 0, sizeof c);
      more = cf_sample_case(run, record, dtype, number, &c);
      if (more && (c.input_count > 0 || c.golden != NULL)) {
        (void)check_case(report, &c);
      }
      cf_case_clear(&c);
    }
  }
  const cf_golden *refusal = cf_golden_refusal(record->op, 0);
  for (int32_t number = 1; refusal != NULL; number++) {
    (void)check_case(report, &refusal->c);
    refusal = cf_golden_refusal(record->op, number);
  }
  if (report->wrong > before) {
    (void)printf("%s\n", report->text);
    report->text[0] = '\0';
  }
}

int cf_run_symbolic(const cf_run *run, bool (*wants)(const void *options, nd4c_op op)) {
  sc_report report = {0};
  long ops = 0, symbolic = 0;
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const cf_record *record = cf_record_find(nd4c_op_at(i)->op);
    if (record != NULL && wants(&run->options, record->op)) {
      ops++;
      symbolic += nd4c_op_takes_symbolic(nd4c_op_get_def(record->op), NULL);
      check_op(run, record, &report);
    }
  }
  (void)printf(
      "%ld ops, %ld of them with symbolic rules; %ld calls, %ld answers, %ld bindings, %ld of them changed; "
      "%ld refused, %ld unsupported, %ld wrong\n",
      ops, symbolic, report.calls, report.answered, report.bound, report.changed, report.refused, report.unsupported,
      report.wrong);
  return report.wrong > 0 || report.calls == 0;
}
