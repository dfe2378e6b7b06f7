/* nd4c_model_run and nd4c_model_run_data, which programs call: run a model through a plan, or interpret it if it cannot
 * be a graph. model_runner.c runs it through nd4c_model_run_request. */
#include <string.h>

#include "array/array.h"
#include "array/shape.h"
#include "base/alloc.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/context/context.h"
#include "import/model_internal.h"

/* -- results of an interpretation ------------------------------------------------------------------------------- */

/* Whether a result shares memory with an input, a constant or an earlier result. The caller must get arrays that share
 * memory with no other. */
static bool is_shared(const nd4c_model *model, const nd4c_model_split *parts, const nd4c_array *array,
                      const nd4c_datum *const *inputs, nd4c_datum *const *earlier, int32_t earlier_count) {
  bool shared = !nd4c_array_is_contiguous(array) || nd4c_array_is_read_only(array);
  for (int32_t i = 0; i < model->input_count && !shared; i++) {
    const nd4c_array *other = nd4c_datum_array(inputs[i]);
    shared = other == NULL ? nd4c_datum_get_kind(inputs[i]) != ND4C_DATUM_ARRAY : nd4c_array_overlaps(array, other);
  }
  for (int32_t i = 0; i < model->onnx.initializer_count && !shared; i++) {
    const nd4c_array *other = atomic_load_explicit(&model->initializers[i], memory_order_acquire);
    shared = other != NULL && nd4c_array_overlaps(array, other);
  }
  shared = shared || (parts != NULL && nd4c_model_split_owns(parts, array));
  for (int32_t i = 0; i < earlier_count && !shared; i++) {
    const nd4c_array *other = nd4c_datum_array(earlier[i]);
    shared = other == NULL || nd4c_array_overlaps(array, other);
  }
  return shared;
}

static nd4c_status copy_array(nd4c_context *context, const nd4c_array *array, nd4c_array **copy) {
  return nd4c_op_call(context, ND4C_OP_copy, &array, 1, NULL, 0, copy, 1);
}

/* A copy of a result, with a copy of every array in it. */
static nd4c_status own_datum(nd4c_context *context, const nd4c_datum *datum, nd4c_datum **own) {
  nd4c_datum_kind kind = nd4c_datum_get_kind(datum);
  int32_t count = nd4c_datum_count(datum);
  if (kind == ND4C_DATUM_ARRAY) {
    nd4c_array *copy = NULL;
    ND4C_TRY(copy_array(context, nd4c_datum_array(datum), &copy));
    nd4c_status status = nd4c_datum_of_array(copy, own);
    nd4c_array_release(copy);
    return status;
  }
  nd4c_datum **items = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)count + 1, sizeof *items, "a sequence", &items));
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    status = own_datum(context, nd4c_datum_item(datum, i), &items[i]);
  }
  if (status == ND4C_OK) {
    status = kind == ND4C_DATUM_SEQUENCE ? nd4c_datum_of_sequence(nd4c_datum_dtype(datum), items, count, own)
                                         : nd4c_datum_of_optional(items[0], own);
  }
  for (int32_t i = 0; i < count; i++) {
    nd4c_datum_release(items[i]);
  }
  nd4c_deallocate((void *)items);
  return status;
}

static nd4c_status own_outputs(nd4c_model *model, nd4c_context *context, const nd4c_model_split *parts,
                               const nd4c_datum *const *inputs, nd4c_datum **outputs) {
  for (int32_t i = 0; i < model->output_count; i++) {
    const nd4c_array *array = nd4c_datum_array(outputs[i]);
    if (array == NULL || is_shared(model, parts, array, inputs, outputs, i)) {
      nd4c_datum *own = NULL;
      ND4C_TRY(own_datum(context, outputs[i], &own));
      nd4c_datum_release(outputs[i]);
      outputs[i] = own;
    }
  }
  return ND4C_OK;
}

static void release_data(nd4c_datum **data, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    nd4c_datum_release(data[i]);
    data[i] = NULL;
  }
}

/* outputs: filled with NULL. entry NULL, or all intermediate values are outputs: all is interpreted, also the rounds of
 * loops. */
static nd4c_status interpret(nd4c_model *model, nd4c_context *context, nd4c_model_plan *entry,
                             const nd4c_datum *const *inputs, nd4c_datum **outputs) {
  nd4c_onnx_import_options options = nd4c_model_import_options(model, context);
  nd4c_model_split *parts = entry != NULL ? entry->parts : NULL;
  options.loops = entry != NULL && !model->all_intermediates ? &entry->loops : NULL;
  nd4c_status status = parts != NULL ? nd4c_model_split_run(&options, parts, inputs, outputs)
                                     : nd4c_onnx_interpret(&model->onnx, &options, inputs, outputs);
  if (status == ND4C_OK) {
    status = own_outputs(model, context, parts, inputs, outputs);
  }
  if (status != ND4C_OK) {
    release_data(outputs, model->output_count);
  }
  return status;
}

/* -- arrays --------------------------------------------------------------------------------------------------- */

static nd4c_status check_place(const nd4c_model_port *port, const nd4c_array *place, const nd4c_array *result) {
  const bool same_dtype = place->dtype == result->dtype;
  if (same_dtype && nd4c_shape_equal(place->rank, place->shape, result->rank, result->shape)) {
    return ND4C_OK;
  }
  char given[256];
  char expected[256];
  return nd4c_fail(same_dtype ? ND4C_SHAPE : ND4C_DTYPE, "output '%s': the array given is %s %s, expected %s %s",
                   port->name, nd4c_dtype_name(place->dtype),
                   nd4c_shape_text(place->rank, place->shape, given, sizeof given), nd4c_dtype_name(result->dtype),
                   nd4c_shape_text(result->rank, result->shape, expected, sizeof expected));
}

/* Gives the results to the caller: copies them into given arrays, or returns them as they are. */
static nd4c_status give_arrays(nd4c_model *model, nd4c_context *context, nd4c_datum *const *results,
                               nd4c_array **outputs) {
  for (int32_t i = 0; i < model->output_count; i++) {
    if (nd4c_datum_array(results[i]) == NULL) {
      return nd4c_fail(ND4C_ARGUMENT, "output '%s' is no array: use nd4c_model_run_data", model->outputs[i].name);
    }
    if (outputs[i] != NULL) {
      ND4C_TRY(nd4c_array_check(outputs[i], model->outputs[i].name));
      ND4C_TRY(check_place(&model->outputs[i], outputs[i], nd4c_datum_array(results[i])));
    }
  }
  for (int32_t i = 0; i < model->output_count; i++) {
    if (outputs[i] != NULL) {
      ND4C_TRY(copy_array(context, nd4c_datum_array(results[i]), &outputs[i]));
    }
  }
  for (int32_t i = 0; i < model->output_count; i++) {
    if (outputs[i] == NULL) {
      outputs[i] = nd4c_array_retain(nd4c_datum_array(results[i]));
    }
  }
  return ND4C_OK;
}

/* `data`: room for the inputs, then for the results; zero. */
static nd4c_status interpret_arrays(nd4c_model *model, nd4c_context *context, nd4c_model_plan *entry,
                                    const nd4c_array *const *ordered, nd4c_array **outputs, nd4c_datum **data) {
  nd4c_datum **results = data + model->input_count;
  for (int32_t i = 0; i < model->input_count; i++) {
    /* the cast is safe: only the reference count changes */
    ND4C_TRY(nd4c_datum_of_array((nd4c_array *)(uintptr_t)ordered[i], &data[i]));
  }
  ND4C_TRY(interpret(model, context, entry, (const nd4c_datum *const *)data, results));
  return give_arrays(model, context, results, outputs);
}

static nd4c_status run_interpreted(nd4c_model *model, nd4c_context *context, nd4c_model_plan *entry,
                                   const nd4c_array *const *ordered, nd4c_array **outputs) {
  int32_t count = model->input_count + model->output_count;
  nd4c_datum **data = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)count, sizeof *data, "the values of a model", &data));
  nd4c_status status = interpret_arrays(model, context, entry, ordered, outputs, data);
  release_data(data, count);
  nd4c_deallocate((void *)data);
  return status;
}

static void note_run(nd4c_model *model, bool interpreted) {
  nd4c_lock_acquire(&model->turn->list);
  model->ran = true;
  model->interpreted = interpreted;
  nd4c_lock_release(&model->turn->list);
}

static nd4c_status run_plan(nd4c_model *model, nd4c_context *context, nd4c_model_plan *entry,
                            const nd4c_run_request *request) {
  return entry->plan != NULL ? nd4c_plan_run_request(entry->plan, context, request)
                             : run_interpreted(model, context, entry, request->inputs, request->outputs);
}

/* Whether a run failed because its plan with dims does not serve these shapes, and not for another reason. */
static bool is_refused(const nd4c_model_plan *entry, nd4c_status status, nd4c_context *context,
                       const nd4c_array *const *ordered) {
  if (!entry->has_dims || entry->plan == NULL || status == ND4C_OK || nd4c_status_passes(status)) {
    return false;
  }
  const nd4c_status served = nd4c_plan_serves(entry->plan, context, ordered);
  return served != ND4C_OK && !nd4c_status_passes(served);
}

nd4c_status nd4c_model_run_request(nd4c_model *model, nd4c_context *context, const nd4c_run_request *request) {
  nd4c_model_plan *entry = NULL;
  ND4C_TRY(nd4c_model_find_plan(model, context, request->inputs, &entry));
  nd4c_status status = run_plan(model, context, entry, request);
  const bool refused = is_refused(entry, status, context, request->inputs);
  nd4c_model_plan_leave(model, entry);
  if (refused) {
    ND4C_TRY(nd4c_model_find_alone(model, context, request->inputs, &entry));
    status = run_plan(model, context, entry, request);
    nd4c_model_plan_leave(model, entry);
  }
  ND4C_TRY(status);
  note_run(model, false);
  return ND4C_OK;
}

static nd4c_status run_ordered(nd4c_model *model, nd4c_context *context, const nd4c_array *const *ordered,
                               nd4c_array **outputs) {
  const nd4c_run_request request = {
      .inputs = ordered, .outputs = outputs, .input_count = model->input_count, .output_count = model->output_count};
  return nd4c_model_run_request(model, context, &request);
}

static nd4c_status check_room(const nd4c_model *model, const void *outputs, int32_t output_count, const char *what) {
  if (outputs == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: outputs is NULL", what);
  }
  if (output_count != model->output_count) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: room for %d outputs; the model has %d", what, (int)output_count,
                     (int)model->output_count);
  }
  return ND4C_OK;
}

nd4c_status nd4c_model_run(nd4c_model *model, nd4c_context *context, const char *const *input_names,
                           const nd4c_array *const *inputs, int32_t input_count, nd4c_array **outputs,
                           int32_t output_count) {
  enum { FEW = 16 };
  const nd4c_array *few[FEW] = {0};
  const nd4c_array **ordered = few;
  ND4C_TRY(nd4c_model_check(model));
  ND4C_TRY(check_room(model, (const void *)outputs, output_count, "nd4c_model_run"));
  if (nd4c_model_odd_port(model) != NULL) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_model_run: '%s' is a sequence or optional: use nd4c_model_run_data",
                     nd4c_model_odd_port(model)->name);
  }
  ND4C_TRY(nd4c_model_turn_check(model->turn, "nd4c_model_run"));
  ND4C_TRY(nd4c_context_resolve(context, &context));
  if (model->input_count > FEW) {
    ordered = nd4c_recycle_take((size_t)model->input_count * sizeof *ordered);
    if (ordered == NULL) {
      return nd4c_fail_memory("the inputs of a model", (size_t)model->input_count * sizeof *ordered);
    }
  }
  nd4c_status status = nd4c_model_match(model, input_names, inputs, input_count, ordered);
  if (status == ND4C_OK) {
    status = run_ordered(model, context, ordered, outputs);
  }
  if (ordered != few) {
    nd4c_recycle_give((void *)ordered, (size_t)model->input_count * sizeof *ordered);
  }
  return status;
}

/* -- data ----------------------------------------------------------------------------------------------------- */

/* Runs a model whose inputs and outputs are all arrays, which has plans. */
static nd4c_status run_as_arrays(nd4c_model *model, nd4c_context *context, const nd4c_datum *const *ordered,
                                 nd4c_datum **outputs, const nd4c_array **arrays, nd4c_array **results) {
  for (int32_t i = 0; i < model->input_count; i++) {
    arrays[i] = nd4c_datum_array(ordered[i]);
  }
  nd4c_status status = run_ordered(model, context, arrays, results);
  for (int32_t i = 0; i < model->output_count; i++) {
    if (status == ND4C_OK) {
      status = nd4c_datum_of_array(results[i], &outputs[i]);
    }
    nd4c_array_release(results[i]);
  }
  if (status != ND4C_OK) {
    release_data(outputs, model->output_count);
  }
  return status;
}

/* Runs a model that is interpreted whatever its shapes. */
static nd4c_status run_odd(nd4c_model *model, nd4c_context *context, const nd4c_datum *const *ordered,
                           nd4c_datum **outputs) {
  nd4c_model_plan *entry = NULL;
  ND4C_TRY(model->all_intermediates ? ND4C_OK : nd4c_model_find_interpreted(model, context, &entry));
  const nd4c_status status = interpret(model, context, entry, ordered, outputs);
  if (entry != NULL) {
    nd4c_model_plan_leave(model, entry);
  }
  ND4C_TRY(status);
  note_run(model, true);
  return ND4C_OK;
}

static nd4c_status run_data(nd4c_model *model, nd4c_context *context, const nd4c_datum *const *ordered,
                            nd4c_datum **outputs) {
  /* intermediate values may be sequences or optionals */
  if (nd4c_model_odd_port(model) != NULL || model->all_intermediates) {
    return run_odd(model, context, ordered, outputs);
  }
  const nd4c_array **arrays = nd4c_allocate_zeroed((size_t)model->input_count, sizeof *arrays);
  nd4c_array **results = nd4c_allocate_zeroed((size_t)model->output_count, sizeof *results);
  nd4c_status status = arrays == NULL || results == NULL
                           ? nd4c_fail_memory("the values of a model", (size_t)model->output_count * sizeof *results)
                           : run_as_arrays(model, context, ordered, outputs, arrays, results);
  nd4c_deallocate((void *)arrays);
  nd4c_deallocate((void *)results);
  return status;
}

nd4c_status nd4c_model_run_data(nd4c_model *model, nd4c_context *context, const char *const *input_names,
                                const nd4c_datum *const *inputs, int32_t input_count, nd4c_datum **outputs,
                                int32_t output_count) {
  ND4C_TRY(nd4c_model_check(model));
  ND4C_TRY(check_room(model, (const void *)outputs, output_count, "nd4c_model_run_data"));
  ND4C_TRY(nd4c_model_turn_check(model->turn, "nd4c_model_run_data"));
  ND4C_TRY(nd4c_context_resolve(context, &context));
  const nd4c_datum **ordered = nd4c_allocate_zeroed((size_t)model->input_count, sizeof *ordered);
  nd4c_datum **results = nd4c_allocate_zeroed((size_t)model->output_count, sizeof *results);
  nd4c_status status = ordered == NULL || results == NULL
                           ? nd4c_fail_memory("the values of a model", (size_t)model->output_count * sizeof *results)
                           : nd4c_model_match_data(model, input_names, inputs, input_count, ordered);
  if (status == ND4C_OK) {
    status = run_data(model, context, ordered, results);
  }
  if (status == ND4C_OK) {
    memcpy((void *)outputs, (const void *)results, (size_t)model->output_count * sizeof *outputs);
  }
  nd4c_deallocate((void *)ordered);
  nd4c_deallocate((void *)results);
  return status;
}
