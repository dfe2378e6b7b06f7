/* Runs of random graphs with arrays that are bound once, donated, or bound to an input and an output, and the variable
 * of a graph. trial.c calls these functions. */
#include <stdio.h>

#include "nd4c/runner.h"
#include "nd4c/variable.h"
#include "random_graphs.h"

static nd4c_array *copy_of(const nd4c_array *array) {
  nd4c_array *copy = NULL;
  rg_must(nd4c_op_call_positional(NULL, ND4C_OP_copy, &array, 1, NULL, &copy), "copy");
  return copy;
}

static bool is_alike(const nd4c_array *a, const nd4c_array *b) {
  bool alike = nd4c_array_dtype(a) == nd4c_array_dtype(b) && nd4c_array_rank(a) == nd4c_array_rank(b);
  for (int32_t i = 0; alike && i < nd4c_array_rank(a); i++) {
    alike = nd4c_array_shape(a)[i] == nd4c_array_shape(b)[i];
  }
  return alike;
}

/* Binds an output to the array, or to a new one; some outputs are not bound. */
static nd4c_status bind_output(const rg_sketch *sketch, nd4c_runner *runner, int32_t output, nd4c_array *shared,
                               uint64_t *random) {
  const nd4c_array *like = sketch->values[sketch->outputs[output]].array;
  char name[16];
  (void)snprintf(name, sizeof name, "y%d", (int)output);
  if (shared == NULL && rg_random(random) % 2 == 0) {
    return ND4C_OK;
  }
  nd4c_array *array = nd4c_array_retain(shared);
  if (array == NULL) {
    rg_must(nd4c_array_empty(nd4c_array_dtype(like), nd4c_array_rank(like), nd4c_array_shape(like), NULL, &array),
            "output");
  }
  const nd4c_status status = nd4c_runner_bind_output(runner, name, array);
  nd4c_array_release(array);
  return status;
}

/* Binds all inputs and outputs. An input that an output shares is written, so the caller binds all anew for each run.
 */
static nd4c_status bind_all(const rg_sketch *sketch, nd4c_runner *runner, nd4c_array *const *inputs, uint64_t *random) {
  int32_t leaves[RG_VALUES];
  bool taken[RG_PORTS] = {false};
  const int32_t count = rg_graph_inputs(sketch, leaves);
  nd4c_status status = nd4c_runner_clear(runner);
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "x%d", (int)leaves[i]);
    nd4c_array *copy = copy_of(inputs[i]);
    const uint64_t how = rg_random(random) % 4;
    status = how == 0 ? nd4c_runner_donate(runner, name, copy) : nd4c_runner_bind_input(runner, name, copy);
    for (int32_t k = 0; k < sketch->output_count && how == 1 && status == ND4C_OK; k++) {
      if (!taken[k] && is_alike(copy, sketch->values[sketch->outputs[k]].array)) {
        taken[k] = true;
        status = bind_output(sketch, runner, k, copy, random);
        break;
      }
    }
    nd4c_array_release(copy);
  }
  for (int32_t k = 0; k < sketch->output_count && status == ND4C_OK; k++) {
    status = taken[k] ? ND4C_OK : bind_output(sketch, runner, k, NULL, random);
  }
  return status;
}

nd4c_status rg_run_bound(const rg_sketch *sketch, nd4c_plan *plan, nd4c_array *const *inputs, uint64_t *random,
                         nd4c_array **outputs) {
  nd4c_runner *runner = NULL;
  nd4c_status status = nd4c_runner_of_plan(plan, &runner);
  status = status == ND4C_OK ? bind_all(sketch, runner, inputs, random) : status;
  status = status == ND4C_OK ? nd4c_runner_run(runner) : status;
  for (int32_t i = 0; i < sketch->output_count && status == ND4C_OK; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "y%d", (int)i);
    status = nd4c_runner_get_output(runner, name, &outputs[i]);
  }
  nd4c_runner_destroy(runner);
  return status;
}

/* -- variables ----------------------------------------------------------------------------------------------------- */

static void name_variable(const rg_sketch *sketch, char *name, size_t size) {
  (void)snprintf(name, size, "x%d", (int)sketch->variable);
}

void rg_variable_reset(const rg_sketch *sketch, const nd4c_graph *graph) {
  char text[16];
  const char *name = text;
  const nd4c_array *initial = sketch->variable < 0 ? NULL : sketch->values[sketch->variable].array;
  nd4c_state *state = NULL;
  if (nd4c_graph_variable_count(graph) == 0) {
    return;
  }
  name_variable(sketch, text, sizeof text);
  rg_must(nd4c_graph_state(graph, &state), "state");
  rg_must(nd4c_state_initialize(state, graph, NULL), "initial value");
  rg_must(nd4c_state_set(state, &name, &initial, 1), "variable");
  nd4c_state_release(state);
}

nd4c_array *rg_variable_get(const rg_sketch *sketch, const nd4c_graph *graph) {
  char text[16];
  const char *name = text;
  nd4c_state *state = NULL;
  nd4c_array *value = NULL;
  name_variable(sketch, text, sizeof text);
  rg_must(nd4c_graph_state(graph, &state), "state");
  rg_must(nd4c_state_get(state, &name, &value, 1), "variable");
  nd4c_state_release(state);
  return value;
}
