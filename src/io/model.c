#include <inttypes.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/config.h"
#include "base/status.h"
#include "device/context.h"
#include "io/model_internal.h"
#include "nd4c/plugin.h"

enum { MODEL_MAGIC = 0x6d6f646c, MODEL_DEAD = 0x6465616d, CONTEXT_NUMBERS = 3 };

nd4c_status nd4c_model_check(const nd4c_model *model) {
  if (model == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "model is NULL");
  }
  return model->magic == MODEL_MAGIC ? ND4C_OK : nd4c_fail(ND4C_HANDLE, "model is closed or no model");
}

/* -- opening and closing --------------------------------------------------------------------------------------- */

/* Fills a model around a parsed file; on failure the caller closes it. */
static nd4c_status prepare(nd4c_model *model) {
  size_t count = (size_t)model->onnx.initializers.count;
  ND4C_TRY(nd4c_arena_take(&model->arena, count, sizeof *model->initializers, "constants", &model->initializers));
  return nd4c_model_describe(model);
}

/* Takes over the reference to `blob`. */
static nd4c_status open_blob(nd4c_blob *blob, const char *directory, const nd4c_model_options *options,
                             nd4c_model **model) {
  nd4c_model *made = nd4c_allocate_zeroed(1, sizeof *made);
  if (made == NULL) {
    nd4c_blob_release(blob);
    return nd4c_fail_memory("a model", sizeof *made);
  }
  made->magic = MODEL_MAGIC;
  if (options != NULL) {
    made->all_intermediates = ND4C_HAS_FIELD(options, all_intermediates) && options->all_intermediates;
    made->no_optimization = ND4C_HAS_FIELD(options, no_optimization) && options->no_optimization;
  }
  nd4c_status status = nd4c_onnx_model_parse(blob, directory, &made->onnx);
  if (status == ND4C_OK) {
    status = prepare(made);
  }
  if (status != ND4C_OK) {
    nd4c_model_close(made);
    return status;
  }
  *model = made;
  return ND4C_OK;
}

nd4c_status nd4c_model_open(const char *path, const nd4c_model_options *options, nd4c_model **model) {
  nd4c_blob *blob = NULL;
  if (path == NULL || model == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_open: %s is NULL", path == NULL ? "path" : "model");
  }
  ND4C_TRY(nd4c_blob_map(path, &blob));
  char *directory = nd4c_io_directory_of(path);
  if (directory == NULL) {
    nd4c_blob_release(blob);
    return nd4c_fail_memory("a path", strlen(path));
  }
  nd4c_status status = open_blob(blob, directory, options, model);
  nd4c_deallocate(directory);
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "%s", path);
}

/* Whether `release` is to be called: not for a model that never came to be. */
typedef struct lent_bytes {
  nd4c_release_callback release;
  void *user;
  bool armed;
} lent_bytes;

static void release_lent(void *user) {
  lent_bytes *lent = user;
  if (lent->armed && lent->release != NULL) {
    lent->release(lent->user);
  }
  nd4c_deallocate(lent);
}

nd4c_status nd4c_model_open_memory(const void *bytes, size_t size, const nd4c_model_options *options,
                                   nd4c_release_callback release, void *user, nd4c_model **model) {
  nd4c_blob *blob = NULL;
  if (bytes == NULL || model == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_open_memory: %s is NULL", bytes == NULL ? "bytes" : "model");
  }
  lent_bytes *lent = nd4c_allocate_zeroed(1, sizeof *lent);
  if (lent == NULL) {
    return nd4c_fail_memory("a model", sizeof *lent);
  }
  *lent = (lent_bytes){release, user, false};
  nd4c_status status = nd4c_blob_wrap(bytes, size, release_lent, lent, &blob);
  if (status != ND4C_OK) {
    nd4c_deallocate(lent);
    return status;
  }
  ND4C_TRY(open_blob(blob, NULL, options, model));
  lent->armed = true;
  return ND4C_OK;
}

static void drop_plan(nd4c_model_plan *plan) {
  nd4c_plan_destroy(plan->plan);
  nd4c_deallocate(plan);
}

void nd4c_model_close(nd4c_model *model) {
  if (model == NULL || nd4c_model_check(model) != ND4C_OK) {
    return;
  }
  while (model->plans != NULL) {
    nd4c_model_plan *next = model->plans->next;
    drop_plan(model->plans);
    model->plans = next;
  }
  for (int32_t i = 0; model->initializers != NULL && i < model->onnx.initializers.count; i++) {
    nd4c_array_release(model->initializers[i]);
  }
  nd4c_onnx_model_free(&model->onnx);
  nd4c_arena_free(&model->arena);
  model->magic = MODEL_DEAD;
  nd4c_deallocate(model);
}

/* -- description ---------------------------------------------------------------------------------------------- */

int32_t nd4c_model_input_count(const nd4c_model *model) {
  return nd4c_model_check(model) == ND4C_OK ? model->input_count : 0;
}

int32_t nd4c_model_output_count(const nd4c_model *model) {
  return nd4c_model_check(model) == ND4C_OK ? model->output_count : 0;
}

static nd4c_status show_port(const nd4c_model_port *ports, int32_t count, int32_t index, const char *what,
                             nd4c_model_value *value) {
  if (value == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_%s: value is NULL", what);
  }
  if (value->struct_size < sizeof *value) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_model_%s: struct_size is %u, expected at least %zu", what,
                     (unsigned)value->struct_size, sizeof *value);
  }
  if (index < 0 || index >= count) {
    return nd4c_fail(ND4C_INDEX, "the model has %d %ss, not one number %d", (int)count, what, (int)index);
  }
  const nd4c_model_port *port = &ports[index];
  value->name = port->name;
  value->dtype = port->dtype;
  value->rank = port->rank;
  value->shape = port->shape;
  value->symbols = port->symbols;
  return ND4C_OK;
}

nd4c_status nd4c_model_input(const nd4c_model *model, int32_t index, nd4c_model_value *value) {
  ND4C_TRY(nd4c_model_check(model));
  return show_port(model->inputs, model->input_count, index, "input", value);
}

nd4c_status nd4c_model_output(const nd4c_model *model, int32_t index, nd4c_model_value *value) {
  ND4C_TRY(nd4c_model_check(model));
  return show_port(model->outputs, model->output_count, index, "output", value);
}

void nd4c_model_set_progress(nd4c_model *model, nd4c_progress_callback callback, void *user) {
  if (nd4c_model_check(model) == ND4C_OK) {
    model->progress = callback;
    model->user = user;
  }
}

/* -- plans ---------------------------------------------------------------------------------------------------- */

static void report_progress(const nd4c_model *model, const char *what, int64_t done) {
  if (model->progress != NULL) {
    model->progress(model->user, what, done, 1);
  }
}

static void context_numbers(const nd4c_context *context, int64_t *numbers) {
  numbers[0] = context->width;
  numbers[1] = context->deterministic;
  numbers[2] = context->strict;
}

/* Whether a plan was made for this context and these shapes. Allocates nothing: it stands in the way of every run. */
static bool plan_fits(const nd4c_model_plan *plan, const nd4c_context *context, int32_t count,
                      const nd4c_array *const *inputs) {
  const nd4c_model_key *key = &plan->key;
  int64_t settings[CONTEXT_NUMBERS];
  context_numbers(context, settings);
  if (key->context != context || key->device != context->device || key->epoch != atomic_load(&nd4c_config_epoch) ||
      memcmp(key->numbers, settings, sizeof settings) != 0) {
    return false;
  }
  const int64_t *numbers = key->numbers + CONTEXT_NUMBERS;
  for (int32_t i = 0; i < count; i++) {
    int32_t rank = nd4c_array_rank(inputs[i]);
    if (*numbers++ != rank) {
      return false;
    }
    for (int32_t j = 0; j < rank; j++) {
      if (*numbers++ != nd4c_array_shape(inputs[i])[j]) {
        return false;
      }
    }
  }
  return true;
}

/* A plan's entry with its key filled in. */
static nd4c_status make_entry(const nd4c_context *context, int32_t count, const nd4c_array *const *inputs,
                              nd4c_model_plan **entry) {
  size_t numbers = CONTEXT_NUMBERS;
  for (int32_t i = 0; i < count; i++) {
    numbers += 1 + (size_t)nd4c_array_rank(inputs[i]);
  }
  size_t bytes = sizeof(nd4c_model_plan) + numbers * sizeof(int64_t);
  nd4c_model_plan *made = nd4c_allocate_zeroed(1, bytes);
  if (made == NULL) {
    return nd4c_fail_memory("a plan", bytes);
  }
  int64_t *number = (int64_t *)(made + 1);
  made->key = (nd4c_model_key){context, context->device, atomic_load(&nd4c_config_epoch), number};
  context_numbers(context, number);
  number += CONTEXT_NUMBERS;
  for (int32_t i = 0; i < count; i++) {
    int32_t rank = nd4c_array_rank(inputs[i]);
    *number++ = rank;
    for (int32_t j = 0; j < rank; j++) {
      *number++ = nd4c_array_shape(inputs[i])[j];
    }
  }
  *entry = made;
  return ND4C_OK;
}

static nd4c_status import_graph(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                                nd4c_graph **graph) {
  size_t count = (size_t)model->input_count;
  int32_t *ranks = nd4c_allocate(count * sizeof *ranks);
  const int64_t **shapes = nd4c_allocate(count * sizeof *shapes);
  nd4c_status status = ND4C_OK;
  if (ranks == NULL || shapes == NULL) {
    status = nd4c_fail_memory("the shapes of the inputs", count * (sizeof *ranks + sizeof *shapes));
  }
  for (size_t i = 0; i < count && status == ND4C_OK; i++) {
    ranks[i] = nd4c_array_rank(inputs[i]);
    shapes[i] = nd4c_array_shape(inputs[i]);
  }
  if (status == ND4C_OK) {
    nd4c_onnx_import_options options = {.context = context,
                                        .initializers = model->initializers,
                                        .input_ranks = ranks,
                                        .input_shapes = shapes,
                                        .all_intermediates = model->all_intermediates,
                                        .progress = model->progress,
                                        .user = model->user};
    status = nd4c_onnx_import(&model->onnx, &options, graph);
  }
  nd4c_deallocate(ranks);
  nd4c_deallocate((void *)shapes);
  return status;
}

static nd4c_status make_plan(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                             nd4c_plan **plan) {
  nd4c_graph *graph = NULL;
  nd4c_plan_options options = {sizeof options, model->no_optimization || model->all_intermediates};
  ND4C_TRY(import_graph(model, context, inputs, &graph));
  report_progress(model, "preparing", 0);
  nd4c_status status = nd4c_plan_create(graph, context, &options, plan);
  nd4c_graph_destroy(graph);
  report_progress(model, "preparing", 1);
  return status;
}

/* Keeps the plans used last, as many as configured. */
static void trim_plans(nd4c_model *model) {
  int64_t most = nd4c_config_int(ND4C_CONFIG_PLAN_CACHE);
  nd4c_model_plan *last = model->plans;
  for (int64_t i = 1; i < most && last != NULL; i++) {
    last = last->next;
  }
  while (last != NULL && last->next != NULL) {
    nd4c_model_plan *dropped = last->next;
    last->next = dropped->next;
    drop_plan(dropped);
  }
}

/* Makes a plan for `made`'s key and puts it in front. Takes `made` over. */
static nd4c_status add_plan(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                            nd4c_model_plan *made) {
  nd4c_status status = make_plan(model, context, inputs, &made->plan);
  if (status != ND4C_OK) {
    nd4c_deallocate(made);
    return status;
  }
  made->next = model->plans;
  model->plans = made;
  trim_plans(model);
  return ND4C_OK;
}

/* Puts the plan for these inputs in front of the list, making it if there is none. */
static nd4c_status find_plan(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs) {
  for (nd4c_model_plan **link = &model->plans; *link != NULL; link = &(*link)->next) {
    nd4c_model_plan *found = *link;
    if (plan_fits(found, context, model->input_count, inputs)) {
      *link = found->next;
      found->next = model->plans;
      model->plans = found;
      return ND4C_OK;
    }
  }
  nd4c_model_plan *made = NULL;
  ND4C_TRY(make_entry(context, model->input_count, inputs, &made));
  return add_plan(model, context, inputs, made);
}

/* -- running -------------------------------------------------------------------------------------------------- */

static nd4c_status run_ordered(nd4c_model *model, nd4c_context *context, const nd4c_array *const *ordered,
                               nd4c_array **outputs) {
  ND4C_TRY(find_plan(model, context, ordered));
  report_progress(model, "running", 0);
  ND4C_TRY(nd4c_plan_run(model->plans->plan, ordered, model->input_count, outputs, model->output_count));
  model->ran = true;
  report_progress(model, "running", 1);
  return ND4C_OK;
}

nd4c_status nd4c_model_run(nd4c_model *model, nd4c_context *context, const char *const *input_names,
                           const nd4c_array *const *inputs, int32_t input_count, nd4c_array **outputs,
                           int32_t output_count) {
  enum { FEW = 16 };
  const nd4c_array *few[FEW] = {0};
  const nd4c_array **ordered = few;
  ND4C_TRY(nd4c_model_check(model));
  if (outputs == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_run: outputs is NULL");
  }
  if (output_count != model->output_count) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_model_run: room for %d outputs; the model has %d", (int)output_count,
                     (int)model->output_count);
  }
  ND4C_TRY(nd4c_context_resolve(context, &context));
  if (model->input_count > FEW) {
    ordered = nd4c_allocate_zeroed((size_t)model->input_count, sizeof *ordered);
    if (ordered == NULL) {
      return nd4c_fail_memory("the inputs of a model", (size_t)model->input_count * sizeof *ordered);
    }
  }
  nd4c_status status = nd4c_model_match(model, input_names, inputs, input_count, ordered);
  if (status == ND4C_OK) {
    status = run_ordered(model, context, ordered, outputs);
  }
  if (ordered != few) {
    nd4c_deallocate((void *)ordered);
  }
  return status;
}

nd4c_status nd4c_model_report(const nd4c_model *model, char **text) {
  ND4C_TRY(nd4c_model_check(model));
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_report: text is NULL");
  }
  if (model->plans != NULL && model->ran) {
    return nd4c_plan_report(model->plans->plan, text);
  }
  *text = nd4c_duplicate_text("");
  return *text != NULL ? ND4C_OK : nd4c_fail_memory("a report", 1);
}
