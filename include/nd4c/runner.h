/* Runners: a plan or a model with arrays bound to its inputs and outputs. The arrays are named and checked once; each
 * run then names nothing, reads the bound inputs as they are at that time, and writes the bound outputs in place. A run
 * after the first one with the same arrays allocates nothing, unless an output is not bound.
 *
 *     nd4c_runner_of_plan(plan, &runner);
 *     nd4c_runner_bind_input(runner, "x", x);
 *     nd4c_runner_bind_output(runner, "y", y);
 *     while (next(x)) {
 *       nd4c_runner_run(runner);
 *     }
 *
 * A plan or a model may have many runners. Runners run at once as nd4c_plan_run and nd4c_model_run do; those that write
 * the same array, or write one that another reads, must not. One thread at a time uses a runner, any thread: a call
 * while another one is in progress on the same runner is refused (ARGUMENT). Runners are destroyed before their plan or
 * model. */
#ifndef ND4C_RUNNER_H
#define ND4C_RUNNER_H

#include "nd4c/graph.h"
#include "nd4c/model.h"

ND4C_EXTERN_C_BEGIN

typedef struct nd4c_runner nd4c_runner;

/* A runner with nothing bound. The plan may have dims: each run reads them from the shapes of the bound inputs. */
ND4C_API nd4c_status nd4c_runner_of_plan(nd4c_plan *plan, nd4c_runner **runner);
/* The same for a model, which runs on `context`; NULL: on the current one of the thread that runs it. UNSUPPORTED if an
 * input or output is a sequence or an optional. */
ND4C_API nd4c_status nd4c_runner_of_model(nd4c_model *model, nd4c_context *context, nd4c_runner **runner);
/* Releases the bound arrays. NULL is fine. While a call on the runner is in progress, as in a progress callback of its
 * own run, it is not destroyed, and the log says so. */
ND4C_API void nd4c_runner_destroy(nd4c_runner *runner);

/* Binds an array to an input, in place of an earlier one; NULL: unbinds it. The runner holds a reference. Dtype, rank
 * and extents that are numbers are checked now (DTYPE, SHAPE), dims and what the model's symbols share in the next run.
 * UNSUPPORTED: the contents are on another device than the plan's, and the plan's context forbids copies. NAME: there
 * is no such input.
 *
 * Any strides are accepted. An array that is not in C order, such as a column of a matrix, is copied to memory of the
 * plan in each run, and so is a view that does not begin its buffer where the device takes only whole buffers. The same
 * array may be bound to several inputs, in several runners, and used elsewhere between runs. If it was donated
 * elsewhere, or a failed operation left it without a value, the run fails (POISONED). */
ND4C_API nd4c_status nd4c_runner_bind_input(nd4c_runner *runner, const char *name, nd4c_array *array);
/* Binds an array that runs write an output to; NULL: unbinds it, and each run makes a fresh array. As
 * nd4c_runner_bind_input otherwise. READ_ONLY.
 *
 * An array that overlaps a bound input gets the right result: kernels write it directly if it is the same view as the
 * input, the plan runs in mode direct (nd4c_plan_report), and each step has read the input before the first step writes
 * the output, or this step computes in place; else the result is copied there at the end. So a key-value cache that is
 * bound to an input and to the output of a scatter_nd or scatter_update is updated in its memory, and only the new part
 * is written. The same holds for a cache that grows: an output that is the concat of an input and new rows may be bound
 * to an array that begins with the input's, in C order, if the extents before the concat's axis are 1. Of two outputs
 * that overlap, the later one wins. An array that is not in C order gets a copy, too. */
ND4C_API nd4c_status nd4c_runner_bind_output(nd4c_runner *runner, const char *name, nd4c_array *array);

/* Binds an array to an input for one successful run, and gives it up: the run may use its memory for an output, and
 * after it the input is unbound and the array has no value; reading it gives POISONED ("donated"), writing it
 * READ_ONLY. The array object stays the caller's, to be released. ARGUMENT: the runner has bound it to another input or
 * output.
 *
 * A fresh output takes the memory over if it has the same dtype and as many bytes, and the conditions of
 * nd4c_runner_bind_output hold; the array must cover its storage and be the only one that has it, and no other library
 * may have its address (DLPack). Otherwise the memory is released when the run has ended, unless other arrays share it,
 * which keep their values.
 *
 * A run that is refused, or that fails before a step has begun to write to the memory, loses nothing: the array keeps
 * its value and stays bound, and the run can be tried again. If it fails later, the array is poisoned with the text of
 * that failure. The same holds for an array that is bound to an input and an output. */
ND4C_API nd4c_status nd4c_runner_donate(nd4c_runner *runner, const char *name, nd4c_array *array);

/* Unbinds everything, and releases the arrays of the latest run. */
ND4C_API nd4c_status nd4c_runner_clear(nd4c_runner *runner);

/* Runs the plan or model. ARGUMENT: an input is not bound; the text names it. Otherwise as nd4c_plan_run and
 * nd4c_model_run. On a device that is asynchronous the run returns when its work is submitted, as those do. */
ND4C_API nd4c_status nd4c_runner_run(nd4c_runner *runner);

/* A reference to an output of the latest successful run: the bound array, or the fresh one, which the runner keeps
 * until its next run begins. The caller releases it. A fresh array that a run made in a workspace (nd4c/workspace.h)
 * belongs to it: nd4c_runner_clear, or a bound output, lets the thread leave the workspace. NAME; ARGUMENT: no
 * successful run has given this output, or another array was bound to it since. */
ND4C_API nd4c_status nd4c_runner_get_output(nd4c_runner *runner, const char *name, nd4c_array **array);

ND4C_EXTERN_C_END
#endif
