/* The precision of a plan: the dtype in which nodes of float32 are to compute. plan.c and ahead.c read what was asked
 * for, import/model.c and import/model_plans.c check it early, passes/dtypes/reduced_precision.c does it, and report.c
 * says what came of it. */
#ifndef ND4C_GRAPH_PRECISION_H
#define ND4C_GRAPH_PRECISION_H

#include "base/text.h"
#include "graph/plan.h"

/* ARGUMENT unless it is ND4C_DTYPE_NONE, ND4C_BFLOAT16, ND4C_FLOAT16 or ND4C_INT8. */
nd4c_status nd4c_precision_check_dtype(nd4c_dtype precision);

/* What the options or, if they ask for nothing, the property ask for; *from names the one of the two. ARGUMENT: another
 * dtype, or the options ask for no_optimization, too. CONFIG: the property has another text. */
nd4c_status nd4c_precision_read(const nd4c_plan_options *options, nd4c_dtype *precision, const char **from);

/* UNSUPPORTED if the context's device has no fast product of this dtype, not even of one row; int8: of bytes. The text
 * says what to use instead. */
nd4c_status nd4c_precision_check_device(nd4c_context *context, nd4c_dtype precision, const char *from);

/* Reads and checks the precision of a plan whose context and switches are known, and keeps it in the plan: as unused if
 * the pass does not run. */
nd4c_status nd4c_precision_settle(nd4c_plan *plan, const nd4c_plan_options *options);

/* UNSUPPORTED if options for compiling ahead of time ask for a precision. */
nd4c_status nd4c_precision_refuse_ahead(const nd4c_plan_options *options);

/* The report's lines: the precision, and what the pass widen did. */
void nd4c_plan_print_precision(const nd4c_plan *plan, nd4c_text *text);

#endif
