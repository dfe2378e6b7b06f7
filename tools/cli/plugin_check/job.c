/* One call of a case of `nd4c selftest` on a device that is driven by its tables. kernels.c and reload.c make and run
 * jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "direct.h"

/* -- operands ------------------------------------------------------------------------------------------------------ */

static bool describe(plugin_job *j, nd4c_tensor *t, const nd4c_array *array, int64_t *strides) {
  *t = (nd4c_tensor){.dtype = array != NULL ? nd4c_array_dtype(array) : ND4C_DTYPE_NONE};
  if (array == NULL) {
    return true;
  }
  t->rank = nd4c_array_rank(array);
  t->flags = ND4C_TENSOR_CONTIGUOUS;
  t->layout = ND4C_LAYOUT_STRIDED;
  t->shape = nd4c_array_shape(array);
  t->strides = strides;
  t->size = nd4c_array_size(array);
  int64_t step = 1;
  for (int32_t axis = t->rank - 1; axis >= 0; axis--) {
    strides[axis] = step;
    step *= t->shape[axis];
  }
  (void)j;
  return t->size > 0 && t->rank <= SELFTEST_RANK;
}

static int64_t bytes_of(const nd4c_tensor *t) {
  return t->size * nd4c_dtype_size(t->dtype);
}

/* Gives an operand its memory, filled from `array`, or left as it is. The bytes sent live as long as the process. */
static bool place(plugin_job *j, nd4c_tensor *t, const nd4c_array *array) {
  plugin_direct *d = j->d;
  const int64_t bytes = bytes_of(t);
  if (t->dtype == ND4C_DTYPE_NONE) {
    return true;
  }
  if (!plugin_direct_status(d, plugin_direct_buffer(d, bytes, &t->buffer), "allocate")) {
    return false;
  }
  t->data = d->about.addressable ? d->ops->buffers->address(d->device, t->buffer) : NULL;
  void *sent = array != NULL ? malloc((size_t)bytes) : NULL;
  return array == NULL ||
         (plugin_check_that(d->check, sent != NULL, "no memory") &&
          plugin_check_status(d->check, nd4c_array_read(array, sent, (size_t)bytes), "a case's input") &&
          plugin_direct_status(d, d->ops->copy_from_host(d->device, j->stream, t->buffer, 0, sent, bytes),
                               "copy_from_host") &&
          plugin_direct_wait(d, j->stream, "a copy"));
}

static bool set_attrs(plugin_job *j) {
  const nd4c_op_info *op = j->p->c->op;
  bool known = op->attr_count <= SELFTEST_ATTRS;
  for (int32_t i = 0; known && i < op->attr_count; i++) {
    j->attrs[i] = op->attrs[i].preset;
    for (int32_t k = 0; k < j->p->c->attr_count; k++) {
      if (strcmp(j->p->c->attrs[k].name, op->attrs[i].name) == 0) {
        known = j->p->c->attrs[k].value.kind == op->attrs[i].preset.kind;
        j->attrs[i] = j->p->c->attrs[k].value;
      }
    }
  }
  return known;
}

/* False if the case cannot be given to a kernel directly. */
bool plugin_job_make(plugin_job *j) {
  const selftest_case *c = j->p->c;
  bool differs = false, possible = set_attrs(j);
  possible = possible && plugin_case_inputs(j->p, PLUGIN_CONTIGUOUS, j->host, j->inputs, &differs) == ND4C_OK;
  for (int32_t i = 0; i < c->input_count && possible; i++) {
    possible = describe(j, &j->operands[i], j->inputs[i], j->strides[i]);
  }
  for (int32_t i = 0; i < c->op->output_count && possible; i++) {
    const int32_t at = SELFTEST_INPUTS + i;
    possible = describe(j, &j->operands[at], j->p->wanted[i], j->strides[at]);
  }
  j->call = (nd4c_call){.struct_size = sizeof j->call,
                        .op = c->op,
                        .input_count = c->input_count,
                        .output_count = c->op->output_count,
                        .inputs = j->operands,
                        .outputs = &j->operands[SELFTEST_INPUTS],
                        .attrs = j->attrs,
                        .data = j->kernel != NULL ? j->kernel->data : NULL,
                        .device = j->d->device,
                        .width = 1};
  return possible;
}

/* False if the shape of the op's result depends on data: graphs refuse such ops, and kernels are called in another
 * way. */
bool plugin_case_is_fixed(const plugin_case *p) {
  nd4c_graph *graph = NULL;
  nd4c_value values[SELFTEST_INPUTS], results[SELFTEST_OUTPUTS];
  char name[16];
  nd4c_status status = nd4c_graph_create(&graph);
  for (int32_t i = 0; i < p->c->input_count && status == ND4C_OK; i++) {
    const selftest_input *input = &p->c->inputs[i];
    values[i] = ND4C_VALUE_NONE;
    (void)snprintf(name, sizeof name, "x%d", (int)i);
    if (input->dtype != ND4C_DTYPE_NONE) {
      status =
          nd4c_graph_input(graph, name, input->varies ? p->dtype : input->dtype, input->rank, input->shape, &values[i]);
    }
  }
  status = status == ND4C_OK ? nd4c_graph_op(graph, p->c->op->op, values, p->c->input_count, p->c->attrs,
                                             p->c->attr_count, NULL, results, p->c->op->output_count)
                             : status;
  nd4c_graph_destroy(graph);
  nd4c_error_clear();
  return status == ND4C_OK;
}

bool plugin_job_read(plugin_job *j, char *text, size_t size, const char **differs) {
  plugin_direct *d = j->d;
  bool good = true;
  *differs = NULL;
  for (int32_t i = 0; i < j->call.output_count && good; i++) {
    nd4c_array *got = NULL;
    const nd4c_tensor *y = &j->call.outputs[i];
    void *bytes = calloc(1, (size_t)bytes_of(y)); /* never freed: the device may still copy after a failure */
    good = plugin_check_that(d->check, bytes != NULL, "no memory") &&
           plugin_direct_status(d, d->ops->copy_to_host(d->device, j->stream, bytes, y->buffer, 0, bytes_of(y)),
                                "copy_to_host") &&
           plugin_direct_wait(d, j->stream, j->p->label) &&
           plugin_check_status(
               d->check, nd4c_array_from_data(y->dtype, y->rank, y->shape, bytes, nd4c_context_device(j->host), &got),
               "%s", j->p->label);
    if (good && *differs == NULL) {
      *differs = selftest_difference(j->host, j->p->wanted[i], got, text, size);
    }
    nd4c_array_release(got);
  }
  return good;
}

bool plugin_job_place(plugin_job *j) {
  bool good = true;
  for (int32_t i = 0; i < j->p->c->input_count && good; i++) {
    good = place(j, &j->operands[i], j->inputs[i]);
  }
  for (int32_t i = 0; i < j->call.output_count && good; i++) {
    good = place(j, &j->operands[SELFTEST_INPUTS + i], NULL);
  }
  return good;
}

void plugin_job_free(plugin_job *j) {
  for (int32_t i = 0; i < SELFTEST_INPUTS + SELFTEST_OUTPUTS; i++) {
    if (j->operands[i].buffer != NULL) {
      j->d->ops->buffers->free(j->d->device, j->operands[i].buffer);
    }
  }
  plugin_arrays_release(j->inputs, SELFTEST_INPUTS);
}
