/* Implements precision.h: reads the precision from options and property, asks the device whether it can, and counts the
 * nodes for the report. */
#include "graph/precision.h"

#include <string.h>

#include "array/shape.h"
#include "base/config/config.h"
#include "base/status.h"
#include "graph/match/fast.h"
#include "graph/passes.h"
#include "graph/quantization.h"

nd4c_status nd4c_precision_check_dtype(nd4c_dtype precision) {
  if (precision == ND4C_DTYPE_NONE || precision == ND4C_BFLOAT16 || precision == ND4C_FLOAT16 ||
      precision == ND4C_INT8) {
    return ND4C_OK;
  }
  const char *name = nd4c_dtype_name(precision);
  return nd4c_fail(ND4C_ARGUMENT, "options.precision is %s (%d), expected bfloat16, float16, int8 or none",
                   name != NULL ? name : "no dtype", (int)precision);
}

static nd4c_status read_property(nd4c_dtype *precision) {
  char text[32];
  if (nd4c_config_string(ND4C_CONFIG_PLAN_PRECISION, text, sizeof text) == 0) {
    return ND4C_OK;
  }
  if (nd4c_dtype_find(text, precision) != ND4C_OK || nd4c_precision_check_dtype(*precision) != ND4C_OK) {
    return nd4c_fail(ND4C_CONFIG,
                     "nd4c.plan.precision (ND4C_PLAN_PRECISION) is '%s', expected bfloat16, float16 or int8", text);
  }
  return ND4C_OK;
}

nd4c_status nd4c_precision_read(const nd4c_plan_options *options, nd4c_dtype *precision, const char **from) {
  *precision = options != NULL && ND4C_HAS_FIELD(options, precision) ? options->precision : ND4C_DTYPE_NONE;
  *from = "options.precision";
  ND4C_TRY(nd4c_precision_check_dtype(*precision));
  if (*precision == ND4C_DTYPE_NONE) {
    *from = "nd4c.plan.precision";
    return read_property(precision);
  }
  return !options->no_optimization
             ? ND4C_OK
             : nd4c_fail(ND4C_ARGUMENT,
                         "options.precision and options.no_optimization are both set, expected one: a "
                         "pass makes nodes compute in another dtype");
}

static bool is_useful(const nd4c_context *context, nd4c_dtype precision) {
  return nd4c_multiplies_fast(context, precision) || nd4c_multiplies_rows_fast(context, precision);
}

nd4c_status nd4c_precision_check_device(nd4c_context *context, nd4c_dtype precision, const char *from) {
  if (precision == ND4C_INT8) {
    return nd4c_quantization_check_device(context, from);
  }
  if (precision == ND4C_DTYPE_NONE || is_useful(context, precision)) {
    return ND4C_OK;
  }
  const nd4c_dtype instead = precision == ND4C_FLOAT16 ? ND4C_BFLOAT16 : ND4C_FLOAT16;
  return nd4c_fail(ND4C_UNSUPPORTED, "%s is %s: device %s has no fast matrix product of this dtype; use %s", from,
                   nd4c_dtype_name(precision), context->device->name,
                   is_useful(context, instead) ? nd4c_dtype_name(instead) : "none: float32 is faster there");
}

/* The pass that does it. */
static const char *pass_of(nd4c_dtype precision) {
  return precision == ND4C_INT8 ? "quantize" : "reduced_precision";
}

static const char *why_off(nd4c_dtype precision) {
  return precision == ND4C_INT8 ? "the pass quantize is switched off" : "the pass reduced_precision is switched off";
}

static bool is_switched_off(const nd4c_plan *plan) {
  for (int32_t i = 0; i < nd4c_passes_count(); i++) {
    if (strcmp(nd4c_passes_at(i)->name, pass_of(plan->precision)) == 0) {
      return plan->switches.off[i];
    }
  }
  return true;
}

/* The ranges that the options give for int8. */
static nd4c_status read_calibration(const nd4c_plan *plan, const nd4c_plan_options *options,
                                    const nd4c_calibration **calibration) {
  *calibration = options != NULL && ND4C_HAS_FIELD(options, calibration) ? options->calibration : NULL;
  return *calibration == NULL || plan->precision == ND4C_INT8
             ? ND4C_OK
             : nd4c_fail(ND4C_ARGUMENT, "options.calibration is set, but the precision is %s, expected int8",
                         plan->precision == ND4C_DTYPE_NONE ? "none" : nd4c_dtype_name(plan->precision));
}

/* What becomes of int8: a plan that is quantised has no other precision. */
static nd4c_status settle_bytes(nd4c_plan *plan, const nd4c_calibration *calibration) {
  if (plan->precision != ND4C_INT8) {
    return ND4C_OK;
  }
  plan->precision = ND4C_DTYPE_NONE; /* kernels that look at it compute in the dtypes of the rewritten graph */
  return nd4c_quantization_begin(plan, calibration);
}

nd4c_status nd4c_precision_settle(nd4c_plan *plan, const nd4c_plan_options *options) {
  const nd4c_calibration *calibration = NULL;
  ND4C_TRY(nd4c_precision_read(options, &plan->precision, &plan->precision_from));
  ND4C_TRY(read_calibration(plan, options, &calibration));
  if (plan->precision != ND4C_DTYPE_NONE && plan->placement != NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "%s is %s: a plan with a placement on several devices computes in the recorded "
                     "dtypes",
                     plan->precision_from, nd4c_dtype_name(plan->precision));
  }
  ND4C_TRY(nd4c_precision_check_device(plan->context, plan->precision, plan->precision_from));
  plan->precision_why = options != NULL && options->no_optimization ? "options.no_optimization is set"
                        : is_switched_off(plan)                     ? why_off(plan->precision)
                                                                    : NULL;
  if (plan->precision != ND4C_DTYPE_NONE && plan->precision_why != NULL) {
    plan->precision_unused = plan->precision;
    plan->precision = ND4C_DTYPE_NONE; /* kernels that look at it compute as the recorded dtypes say */
  }
  return settle_bytes(plan, calibration);
}

nd4c_status nd4c_precision_refuse_ahead(const nd4c_plan_options *options) {
  nd4c_dtype precision = ND4C_DTYPE_NONE;
  const char *from = NULL;
  ND4C_TRY(nd4c_precision_read(options, &precision, &from));
  return precision == ND4C_DTYPE_NONE
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED,
                         "%s is %s: graphs that are compiled ahead of time keep their dtypes; the "
                         "request's math level is for their compilers",
                         from, nd4c_dtype_name(precision));
}

/* What the pass widen did. */
static void print_widened(const nd4c_plan *plan, nd4c_text *text) {
  for (int32_t i = 0; i < plan->pass_count; i++) {
    const nd4c_pass_record *pass = &plan->passes[i];
    if (pass->changes > 0 && strcmp(pass->name, "widen") == 0) {
      nd4c_text_print(text,
                      "16-bit floats: %d nodes compute in float32, because %s has no fast kernels for them in 16 bits; "
                      "outputs and casts round\n",
                      pass->changes, plan->device->name);
    }
  }
}

void nd4c_plan_print_precision(const nd4c_plan *plan, nd4c_text *text) {
  int32_t reduced = 0, casts = 0, kept = 0;
  print_widened(plan, text);
  if (plan->precision_unused != ND4C_DTYPE_NONE) {
    nd4c_text_print(text, "precision: %s (%s) is not used, because %s\n", nd4c_dtype_name(plan->precision_unused),
                    plan->precision_from, plan->precision_why);
  }
  if (plan->quantization != NULL) {
    nd4c_quantization_print(plan, text);
  }
  if (plan->precision == ND4C_DTYPE_NONE) {
    return;
  }
  if (plan->dynamic != NULL) {
    nd4c_text_print(text, "precision: %s (%s), in each binding\n", nd4c_dtype_name(plan->precision),
                    plan->precision_from);
    return;
  }
  for (int32_t i = 0; i < plan->graph->node_count; i++) {
    const nd4c_graph_node *node = &plan->graph->nodes[i];
    const nd4c_dtype dtype = plan->graph->values[node->outputs[0]].dtype;
    const bool cast = node->def->info.op == ND4C_OP_cast;
    casts += cast;
    reduced += !cast && dtype == plan->precision;
    kept += !cast && dtype == ND4C_FLOAT32;
  }
  nd4c_text_print(text, "precision: %s (%s); %d nodes compute in it, %d in float32, between %d casts\n",
                  nd4c_dtype_name(plan->precision), plan->precision_from, reduced, kept, casts);
}
