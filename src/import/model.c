/* Opens, describes, reports and closes models (nd4c/model.h). Programs call it; the other model files of this folder
 * check handles with it. */
#include <inttypes.h>
#include <stdatomic.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/os.h"
#include "base/status.h"
#include "base/text.h"
#include "device/compile_request.h"
#include "graph/calibration/table.h"
#include "graph/passes.h"
#include "graph/plan/placement.h"
#include "graph/precision.h"
#include "import/model_internal.h"
#include "nd4c/control.h"
#include "nd4c/plugin.h"

enum { MODEL_MAGIC = 0x6d6f646c, MODEL_DEAD = 0x6465616d };

static _Atomic int32_t open_models;

nd4c_status nd4c_model_check(const nd4c_model *model) {
  if (model == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "model is NULL");
  }
  return model->magic == MODEL_MAGIC ? ND4C_OK : nd4c_fail(ND4C_HANDLE, "model is closed or no model");
}

/* -- opening and closing --------------------------------------------------------------------------------------- */

static void free_model(nd4c_model *model) {
  while (model->plans != NULL) {
    nd4c_model_plan *next = model->plans->next;
    nd4c_model_plan_drop(model->plans);
    model->plans = next;
  }
  for (int32_t i = 0; model->initializers != NULL && i < model->onnx.initializer_count; i++) {
    nd4c_array_release(atomic_load_explicit(&model->initializers[i], memory_order_relaxed));
  }
  for (int32_t i = 0; model->contradictions != NULL && i < model->onnx.graph.outputs.count; i++) {
    nd4c_free(atomic_load_explicit(&model->contradictions[i], memory_order_relaxed));
  }
  nd4c_model_dims_drop(model);
  nd4c_onnx_dense_free(&model->dense);
  nd4c_onnx_model_free(&model->onnx);
  if (model->turn != NULL) {
    nd4c_model_turn_destroy(model->turn);
  }
  nd4c_region_free(&model->region);
  nd4c_deallocate(model->compile);
  nd4c_deallocate(model->compiled);
  nd4c_deallocate(model->passes);
  nd4c_calibration_release(model->calibration);
  model->magic = MODEL_DEAD;
  nd4c_deallocate(model);
}

/* Fills a model around a parsed file; on failure the caller frees it. */
static nd4c_status prepare(nd4c_model *model) {
  size_t count = (size_t)model->onnx.initializer_count;
  nd4c_model_turn *turn = NULL;
  ND4C_TRY(nd4c_region_claim(&model->region, 1, sizeof *turn, "a lock", &turn));
  nd4c_model_turn_init(turn);
  model->turn = turn;
  ND4C_TRY(nd4c_region_claim(&model->region, count, sizeof *model->initializers, "constants", &model->initializers));
  count = (size_t)model->onnx.graph.outputs.count;
  ND4C_TRY(nd4c_region_claim(&model->region, count, sizeof *model->contradictions, "outputs", &model->contradictions));
  return nd4c_model_describe(model);
}

static nd4c_status keep_placement(nd4c_model *model, const nd4c_placement *placement) {
  if (placement == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_placement_check(placement));
  nd4c_placement *kept = NULL;
  nd4c_device **devices = NULL;
  size_t count = placement->device_of == NULL ? (size_t)placement->device_count : 0;
  ND4C_TRY(nd4c_region_claim(&model->region, 1, sizeof *kept, "a placement", &kept));
  ND4C_TRY(nd4c_region_claim(&model->region, count, sizeof *devices, "a placement", &devices));
  *kept = *placement;
  kept->devices = devices;
  for (size_t i = 0; i < count; i++) {
    devices[i] = placement->devices[i];
  }
  model->placement = kept;
  return ND4C_OK;
}

static nd4c_status keep_passes(nd4c_model *model, const char *passes) {
  nd4c_pass_switches switches;
  ND4C_TRY(nd4c_passes_switch(passes, &switches));
  model->passes = nd4c_duplicate_text(passes);
  return model->passes != NULL ? ND4C_OK : nd4c_fail_memory("names of passes", strlen(passes));
}

static nd4c_onnx_overrides overrides_of(const nd4c_model_options *options) {
  return options != NULL && ND4C_HAS_FIELD(options, overridden_count)
             ? (nd4c_onnx_overrides){options->overridden, options->overridden_count}
             : (nd4c_onnx_overrides){NULL, 0};
}

static nd4c_status check_options(const char *function, const nd4c_model_options *options) {
  if (options != NULL && !ND4C_HAS_FIELD(options, no_optimization)) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: options.struct_size is %u, expected at least %u", function,
                     options->struct_size, ND4C_SIZE_OF(nd4c_model_options));
  }
  const nd4c_onnx_overrides overrides = overrides_of(options);
  if (overrides.count < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: options.overridden_count is %d, expected at least 0", function,
                     (int)overrides.count);
  }
  for (int32_t i = 0; i < overrides.count; i++) {
    if (overrides.names == NULL || overrides.names[i] == NULL) {
      return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: options.overridden has no name %d", function, (int)i);
    }
    for (int32_t k = 0; k < i; k++) {
      if (strcmp(overrides.names[k], overrides.names[i]) == 0) {
        return nd4c_fail(ND4C_ARGUMENT, "%s: options.overridden has %s twice", function, overrides.names[i]);
      }
    }
  }
  return ND4C_OK;
}

static nd4c_status keep_calibration(nd4c_model *model, nd4c_calibration *calibration) {
  ND4C_TRY(nd4c_calibration_check_finished(calibration, "options.calibration"));
  if (model->precision != ND4C_INT8) {
    return nd4c_fail(ND4C_ARGUMENT, "options.calibration is set, but options.precision is %s, expected int8",
                     model->precision == ND4C_DTYPE_NONE ? "none" : nd4c_dtype_name(model->precision));
  }
  model->calibration = nd4c_calibration_retain(calibration);
  return ND4C_OK;
}

static nd4c_status keep_loop_limit(nd4c_model *model, int64_t limit) {
  model->loop_limit = limit > 0 ? limit : ND4C_LOOP_LIMIT;
  return limit >= 0
             ? ND4C_OK
             : nd4c_fail(ND4C_ARGUMENT, "options.loop_limit is %" PRId64 ", expected 0 (the default) or more", limit);
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
  made->telling.tell = nd4c_model_progress;
  made->telling.user = made;
  if (options != NULL) {
    made->all_intermediates = options->all_intermediates;
    made->no_optimization = options->no_optimization;
  }
  const nd4c_onnx_overrides overrides = overrides_of(options);
  nd4c_status status = nd4c_onnx_model_parse(blob, directory, &overrides, &made->onnx);
  if (status == ND4C_OK && options != NULL && ND4C_HAS_FIELD(options, placement)) {
    status = keep_placement(made, options->placement);
  }
  if (status == ND4C_OK && options != NULL && ND4C_HAS_FIELD(options, compile)) {
    status = nd4c_compile_request_copy("nd4c_model_open", options->compile, &made->compile);
  }
  if (status == ND4C_OK && options != NULL && ND4C_HAS_FIELD(options, compiled) && options->compiled != NULL) {
    made->compiled = nd4c_duplicate_text(options->compiled);
    status = made->compiled != NULL ? ND4C_OK : nd4c_fail_memory("a path", strlen(options->compiled));
  }
  if (status == ND4C_OK && options != NULL && ND4C_HAS_FIELD(options, passes) && options->passes != NULL) {
    status = keep_passes(made, options->passes);
  }
  if (status == ND4C_OK && options != NULL && ND4C_HAS_FIELD(options, precision)) {
    made->precision = options->precision;
    status = nd4c_precision_check_dtype(made->precision);
  }
  if (status == ND4C_OK && options != NULL && ND4C_HAS_FIELD(options, calibration) && options->calibration != NULL) {
    status = keep_calibration(made, options->calibration);
  }
  if (status == ND4C_OK) {
    status = keep_loop_limit(made, options != NULL && ND4C_HAS_FIELD(options, loop_limit) ? options->loop_limit : 0);
  }
  if (status == ND4C_OK) {
    status = prepare(made);
  }
  if (status != ND4C_OK) {
    free_model(made);
    return status;
  }
  atomic_fetch_add(&open_models, 1);
  *model = made;
  return ND4C_OK;
}

nd4c_status nd4c_model_open(const char *path, const nd4c_model_options *options, nd4c_model **model) {
  nd4c_blob *blob = NULL;
  if (path == NULL || model == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_open: %s is NULL", path == NULL ? "path" : "model");
  }
  ND4C_TRY(check_options("nd4c_model_open", options));
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

/* The caller's release callback. It is armed when the model is open: if opening fails, the bytes stay the caller's. */
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
  ND4C_TRY(check_options("nd4c_model_open_memory", options));
  lent_bytes *lent = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *lent, "a model", &lent));
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

/* What a closed model used is given back to the system, except for so many bytes on each device, which the other open
 * models may need next. The last model that is closed leaves none. */
enum { KEPT_BYTES = 1 << 20, DEVICES = 8 };

/* Devices of the model's plans, and the host; each once, as many as fit. */
static int32_t list_devices(const nd4c_model *model, nd4c_device **devices) {
  int32_t count = nd4c_device_host(&devices[0]) == ND4C_OK ? 1 : 0;
  for (const nd4c_model_plan *plan = model->plans; plan != NULL && count < DEVICES; plan = plan->next) {
    bool known = false;
    for (int32_t i = 0; i < count; i++) {
      known = known || devices[i] == plan->key.device;
    }
    if (!known) {
      devices[count++] = plan->key.device;
    }
  }
  return count;
}

void nd4c_model_close(nd4c_model *model) {
  nd4c_device *devices[DEVICES];
  if (model == NULL || nd4c_model_check(model) != ND4C_OK) {
    return;
  }
  const int32_t count = list_devices(model, devices);
  free_model(model);
  const int64_t kept = atomic_fetch_sub(&open_models, 1) > 1 ? KEPT_BYTES : 0;
  for (int32_t i = 0; i < count; i++) {
    (void)nd4c_memory_trim(devices[i], kept); /* cannot fail for an open device */
  }
  nd4c_os_heap_trim();
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
  if (value->struct_size < offsetof(nd4c_model_value, kinds)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_model_%s: struct_size is %u, expected at least %zu", what,
                     (unsigned)value->struct_size, offsetof(nd4c_model_value, kinds));
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
  if (ND4C_HAS_FIELD(value, kinds)) {
    value->kinds = port->kinds;
    value->kind_count = port->kind_count;
  }
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

int32_t nd4c_model_default_count(const nd4c_model *model) {
  return nd4c_model_check(model) == ND4C_OK ? model->default_count : 0;
}

nd4c_status nd4c_model_default(const nd4c_model *model, int32_t index, nd4c_model_value *value) {
  ND4C_TRY(nd4c_model_check(model));
  return show_port(model->defaults, model->default_count, index, "default", value);
}

void nd4c_model_set_progress(nd4c_model *model, nd4c_progress_callback callback, void *user) {
  if (nd4c_model_check(model) == ND4C_OK && nd4c_model_turn_check(model->turn, "nd4c_model_set_progress") == ND4C_OK) {
    nd4c_lock_acquire(&model->turn->list);
    model->progress = callback;
    model->user = user;
    atomic_store_explicit(&model->telling.on, callback != NULL, memory_order_relaxed);
    nd4c_lock_release(&model->turn->list);
  }
}

/* The plan's report, and why its graph is for its shapes alone. */
static nd4c_status report_plan(const nd4c_model_plan *latest, char **text) {
  char *plan = NULL;
  ND4C_TRY(nd4c_plan_report(latest->plan, &plan));
  if (latest->alone == NULL) {
    *text = plan;
    return ND4C_OK;
  }
  nd4c_text told = {0};
  nd4c_text_print(&told, "%s%s", plan, latest->alone);
  nd4c_free(plan);
  return nd4c_text_take(&told, text);
}

/* The report of a model in parts, with lines about the loops that its runs interpreted. */
static nd4c_status report_split(nd4c_model_plan *latest, char **text) {
  nd4c_text told = {0};
  char *parts = NULL;
  ND4C_TRY(nd4c_model_split_report(latest->parts, &parts));
  nd4c_text_print(&told, "%s", parts);
  nd4c_free(parts);
  nd4c_onnx_loops_tell(&latest->loops, &told);
  return nd4c_text_take(&told, text);
}

/* `latest`: the plan of the latest run, NULL: none has ended. */
static nd4c_status report(const nd4c_model *model, nd4c_model_plan *latest, bool interpreted, char **text) {
  const nd4c_model_port *odd = nd4c_model_odd_port(model);
  nd4c_text told = {0};
  if (latest == NULL && !interpreted) {
    nd4c_text_print(&told, "%s", "");
  } else if (odd != NULL) {
    nd4c_text_print(&told, "interpreted, node after node: '%s' is a sequence or optional\n", odd->name);
    if (latest != NULL) {
      nd4c_onnx_loops_tell(&latest->loops, &told);
    }
  } else if (interpreted) {
    nd4c_text_print(&told, "interpreted, node after node: all values are outputs, arrays or not\n");
  } else if (latest->plan != NULL || latest->parts != NULL) {
    return latest->plan != NULL ? report_plan(latest, text) : report_split(latest, text);
  } else {
    nd4c_text_print(&told, "interpreted, node after node, since the model is no graph: %s\n", latest->need);
    nd4c_onnx_loops_tell(&latest->loops, &told);
  }
  if ((latest != NULL || interpreted) && model->precision != ND4C_DTYPE_NONE) {
    nd4c_text_print(&told, "precision: %s was asked for (options.precision), but is not applied to interpreted nodes\n",
                    nd4c_dtype_name(model->precision));
  }
  *text = told.failed ? NULL : nd4c_duplicate_text(told.bytes != NULL ? told.bytes : "");
  nd4c_text_free(&told);
  return *text != NULL ? ND4C_OK : nd4c_fail_memory("a report", 1);
}

nd4c_status nd4c_model_report(const nd4c_model *model, char **text) {
  ND4C_TRY(nd4c_model_check(model));
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_report: text is NULL");
  }
  ND4C_TRY(nd4c_model_turn_check(model->turn, "nd4c_model_report"));
  nd4c_lock_acquire(&model->turn->list);
  const bool interpreted = model->ran && model->interpreted;
  nd4c_model_plan *latest = model->ran && (!interpreted || !model->all_intermediates) ? model->plans : NULL;
  if (latest != NULL) {
    latest->users++;
  }
  nd4c_lock_release(&model->turn->list);
  nd4c_status status = report(model, latest, interpreted, text);
  if (status == ND4C_OK && (latest != NULL || interpreted)) {
    status = nd4c_model_tell_outputs(model, text);
  }
  if (latest != NULL) {
    nd4c_model_plan_leave(model, latest);
  }
  return status;
}
