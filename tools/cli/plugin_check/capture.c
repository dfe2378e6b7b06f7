/* Section `capture`: a plan that runs again and again on the plug-in's devices, with new values in the same place and
 * with arrays elsewhere. A device that records work is asked to record this one. The section table of plugin_check.c
 * lists it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { ELEMENTS = 1000, RUNS = 9, MOVE = 4 };

/* y = x + w + x + w, exact in float32 for small integers. */
static nd4c_status record(nd4c_graph *graph) {
  const int64_t shape[] = {ELEMENTS};
  const nd4c_op_info *add = NULL;
  nd4c_value inputs[2] = {0}, y = 0;
  nd4c_status status = nd4c_op_find("add", &add);
  status = status == ND4C_OK ? nd4c_graph_input(graph, "x", ND4C_FLOAT32, 1, shape, &inputs[0]) : status;
  status = status == ND4C_OK ? nd4c_graph_input(graph, "w", ND4C_FLOAT32, 1, shape, &inputs[1]) : status;
  y = inputs[0];
  for (int32_t i = 1; i < 4 && status == ND4C_OK; i++) {
    const nd4c_value operands[] = {y, inputs[i % 2]};
    status = nd4c_graph_op(graph, add->op, operands, 2, NULL, 0, NULL, &y, 1);
  }
  return status == ND4C_OK ? nd4c_graph_output(graph, "y", y) : status;
}

static float x_value(int32_t run, int32_t element) {
  return (float)((element + 3 * run) % 17);
}

static float w_value(int32_t element) {
  return (float)(element % 5);
}

static nd4c_status write_x(nd4c_array *x, int32_t run) {
  float values[ELEMENTS];
  for (int32_t i = 0; i < ELEMENTS; i++) {
    values[i] = x_value(run, i);
  }
  return nd4c_array_write(x, values, sizeof values);
}

static void check_y(plugin_check *check, const nd4c_array *y, int32_t run, const char *name) {
  float values[ELEMENTS];
  if (!plugin_check_status(check, nd4c_array_read(y, values, sizeof values), "run %d of a plan on %s", (int)run + 1,
                           name)) {
    return;
  }
  for (int32_t i = 0; i < ELEMENTS; i++) {
    const float x = x_value(run, i), w = w_value(i), wanted = 2 * (x + w);
    if (!plugin_check_that(check, values[i] == wanted, "run %d of a plan on %s: element %d is %g, expected %g",
                           (int)run + 1, name, (int)i, (double)values[i], (double)wanted)) {
      return;
    }
  }
}

/* The line of the report that begins with `begin`, without what is before it. */
static void note_line(const char *report, const char *begin, const char *name) {
  const char *line = strstr(report, begin);
  if (line != NULL) {
    plugin_check_note("%s: %.*s", name, (int)strcspn(line, "\n"), line);
  }
}

static void check_report(plugin_check *check, const nd4c_plan *plan, const char *name) {
  char *text = NULL;
  if (!plugin_check_status(check, nd4c_plan_report(plan, &text), "a plan's report")) {
    return;
  }
  if (strstr(text, "mode: capture") != NULL) {
    const char *failed = strstr(text, "recording failed");
    (void)plugin_check_that(check, failed == NULL, "%s: %.*s", name, failed == NULL ? 0 : (int)strcspn(failed, "\n"),
                            failed == NULL ? "" : failed);
    (void)plugin_check_that(check, strstr(text, " 0 launched them") == NULL, "%s launched no recorded steps", name);
    note_line(text, "mode: capture", name);
  } else {
    note_line(text, "not capture:", name);
  }
  nd4c_free(text);
}

static nd4c_status make_inputs(nd4c_device *device, nd4c_array **x, nd4c_array **w) {
  const int64_t shape[] = {ELEMENTS};
  float values[ELEMENTS];
  for (int32_t i = 0; i < ELEMENTS; i++) {
    values[i] = w_value(i);
  }
  nd4c_status status = nd4c_array_from_data(ND4C_FLOAT32, 1, shape, values, device, w);
  status = status == ND4C_OK ? nd4c_array_zeros(ND4C_FLOAT32, 1, shape, device, &x[0]) : status;
  return status == ND4C_OK ? nd4c_array_zeros(ND4C_FLOAT32, 1, shape, device, &x[1]) : status;
}

static void run_plan(plugin_check *check, nd4c_plan *plan, nd4c_device *device, const char *name) {
  nd4c_array *x[2] = {NULL}, *w = NULL, *y = NULL;
  bool good = plugin_check_status(check, make_inputs(device, x, &w), "arrays on %s", name);
  for (int32_t i = 0; i < RUNS && good; i++) {
    const nd4c_array *given[] = {x[i / MOVE % 2], w};
    plugin_check_at("run %d of a plan on %s", (int)i + 1, name);
    nd4c_status status = write_x(x[i / MOVE % 2], i);
    status = status == ND4C_OK ? nd4c_plan_run(plan, given, 2, &y, 1) : status;
    good = plugin_check_status(check, status, "run %d of a plan on %s", (int)i + 1, name);
    if (good) {
      check_y(check, y, i, name);
    }
  }
  plugin_arrays_release(x, 2);
  nd4c_array_release(w);
  nd4c_array_release(y);
  if (good) {
    check_report(check, plan, name);
  }
}

/* Compilers that took steps of the plan, added to a list of engines that are to be disabled. Returns whether any
 * was. */
static bool list_compilers(const nd4c_plan *plan, char *list, size_t size) {
  static const char mark[] = "compiled by ";
  char *text = NULL;
  bool any = false;
  if (nd4c_plan_report(plan, &text) != ND4C_OK) {
    return false;
  }
  for (const char *at = strstr(text, mark); at != NULL; at = strstr(at, mark)) {
    at += sizeof mark - 1;
    const size_t used = strlen(list);
    (void)snprintf(list + used, size - used, "%s%.*s", used > 0 ? "," : "", (int)strcspn(at, ": \n"), at);
    any = true;
  }
  nd4c_free(text);
  return any;
}

/* Runs the plan, and if compilers took part, one without them: a device records no steps that return their outputs. */
static void run_plans(plugin_check *check, const nd4c_graph *graph, nd4c_context *context, nd4c_plan *plan,
                      nd4c_device *device, const char *name) {
  static const char property[] = "SD_KERNEL_DISABLE_ENGINES";
  const char *before = NULL;
  char disabled[1024] = "";
  nd4c_plan *other = NULL;
  run_plan(check, plan, device, name);
  if (nd4c_config_get(property, &before) == ND4C_OK && before != NULL) {
    (void)snprintf(disabled, sizeof disabled, "%s", before);
  }
  if (!list_compilers(plan, disabled, sizeof disabled)) {
    return;
  }
  nd4c_status status = nd4c_config_set(property, disabled);
  status = status == ND4C_OK ? nd4c_plan_create(graph, context, NULL, &other) : status;
  if (plugin_declined(status)) {
    plugin_check_note("%s without %s does not add in float32", name, disabled);
  } else if (plugin_check_status(check, status, "a plan on %s without %s", name, disabled)) {
    plugin_check_note("%s without %s:", name, disabled);
    run_plan(check, other, device, name);
  }
  nd4c_plan_destroy(other);
  (void)plugin_check_status(check, nd4c_config_set(property, NULL), "%s", property);
}

static void check_device(plugin_check *check, nd4c_device *device, const char *name) {
  const nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  nd4c_context *context = NULL;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  plugin_check_at("a plan on %s", name);
  nd4c_status status = nd4c_context_create(&options, &context);
  status = status == ND4C_OK ? nd4c_graph_create(&graph) : status;
  status = status == ND4C_OK ? record(graph) : status;
  status = status == ND4C_OK ? nd4c_plan_create(graph, context, NULL, &plan) : status;
  if (plugin_declined(status)) {
    plugin_check_skip("%s does not add in float32: plans that run again were not checked", name);
  } else if (plugin_check_status(check, status, "a plan on %s", name)) {
    run_plans(check, graph, context, plan, device, name);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  (void)plugin_check_status(check, nd4c_context_destroy(context), "destroying a context on %s", name);
}

void plugin_section_capture(plugin_check *check) {
  plugin_devices_each(check, check_device);
}
