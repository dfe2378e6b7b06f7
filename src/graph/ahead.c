/* nd4c_plan_compile, compiling ahead of time: makes a plan up to its pieces, compiles them for a target and writes them
 * to a file. A plan in another process gets the same pieces, and finds them in the file by their identity. Programs and
 * import/model_compile.c compile with it; plan.c calls the functions that read the file. */
#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/os.h"
#include "base/status.h"
#include "device/registry/registry.h"
#include "device/stream/exit_and_fork.h"
#include "graph/ir/control.h"
#include "graph/passes.h"
#include "graph/plan.h"
#include "graph/precision.h"
#include "graph/variables.h"

/* -- reading ------------------------------------------------------------------------------------------------------ */

/* A copy: the file may change while it is read. */
static nd4c_status copy_file(const char *path, void **bytes, int64_t *size) {
  const int64_t limit = nd4c_config_int(ND4C_CONFIG_COMPILE_LIMIT);
  nd4c_os_mapping mapping;
  ND4C_TRY(nd4c_os_map_file(path, &mapping));
  nd4c_status status = ND4C_OK;
  *size = (int64_t)mapping.size;
  if (*size > limit) {
    status = nd4c_fail(ND4C_FORMAT, "%s has %lld bytes, expected %lld at most (nd4c.compile.limit)", path,
                       (long long)*size, (long long)limit);
  } else {
    *bytes = nd4c_allocate_aligned(64, mapping.size + 1);
    status = *bytes != NULL ? ND4C_OK : nd4c_fail_memory("a file of executables", mapping.size);
  }
  if (status == ND4C_OK && mapping.size > 0) {
    memcpy(*bytes, mapping.bytes, mapping.size);
  }
  nd4c_os_unmap_file(&mapping);
  return status;
}

nd4c_status nd4c_plan_read_compiled(nd4c_plan *plan, const char *path) {
  void *bytes = NULL;
  int64_t size = 0;
  ND4C_TRY(copy_file(path, &bytes, &size));
  plan->file = (nd4c_compile_source){.file = bytes, .file_size = size};
  plan->file.file_name = nd4c_region_text(&plan->region, path);
  plan->portable = true;
  if (plan->file.file_name == NULL) {
    return nd4c_error_code();
  }
  const nd4c_status status = nd4c_executables_check(bytes, size);
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "%s", path);
}

void nd4c_plan_drop_compiled(nd4c_plan *plan) {
  void *bytes = NULL;
  memcpy(&bytes, &plan->file.file, sizeof bytes); /* only this code writes or frees it */
  nd4c_deallocate(bytes);
  plan->file = (nd4c_compile_source){0};
}

nd4c_status nd4c_plan_note_unused_file(nd4c_plan *plan) {
  if (plan->file.file == NULL || plan->segment_count > 0) {
    return ND4C_OK;
  }
  if (plan->context->strict) {
    return nd4c_fail(ND4C_STRICT, "%s is given, and no compiler takes part in the plan", plan->file.file_name);
  }
  plan->unused_file = plan->file.file_name;
  nd4c_report_difference("segment", plan->unused_file, "nothing of it", "no compiler takes part in the plan");
  return ND4C_OK;
}

/* -- compiling ----------------------------------------------------------------------------------------------------- */

static nd4c_status check(const nd4c_plan_options *options, const char *target, const char *path) {
  if (target == NULL || path == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_plan_compile: %s is NULL", target == NULL ? "target" : "path");
  }
  if (options == NULL) {
    return ND4C_OK;
  }
  if (!ND4C_HAS_FIELD(options, no_optimization)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_plan_compile: options.struct_size is %u, expected at least %u",
                     options->struct_size, ND4C_SIZE_OF(nd4c_plan_options));
  }
  const bool placed = ND4C_HAS_FIELD(options, placement) && options->placement != NULL;
  if (placed || (ND4C_HAS_FIELD(options, compiled) && options->compiled != NULL)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_plan_compile: options.%s is given, expected NULL",
                     placed ? "placement" : "compiled");
  }
  return ND4C_OK;
}

/* A context on the device, or on the host if this machine lacks the device. */
static nd4c_status make_context(nd4c_device *target, bool here, nd4c_context **context) {
  nd4c_device *device = target;
  if (!here) {
    ND4C_TRY(nd4c_device_host(&device));
  }
  ND4C_TRY(nd4c_device_admit(device));
  const int32_t width = target->description.width > 0 ? target->description.width : 1;
  return nd4c_context_make(device, width, nd4c_config_bool(ND4C_CONFIG_DETERMINISTIC), false, context);
}

static nd4c_status make_plan(const char *target, const nd4c_plan_options *options, nd4c_plan *plan) {
  bool here = false;
  ND4C_TRY(nd4c_registry_find_target(target, &plan->device, &here));
  ND4C_TRY(make_context(plan->device, here, &plan->context));
  ND4C_TRY(
      nd4c_passes_switch(options != NULL && ND4C_HAS_FIELD(options, passes) ? options->passes : NULL, &plan->switches));
  ND4C_TRY(nd4c_precision_refuse_ahead(options));
  plan->context->unasked = true;
  plan->portable = plan->ahead = true;
  nd4c_engine_rules_read(&plan->rules);
  return nd4c_compile_request_copy("nd4c_plan_compile",
                                   options != NULL && ND4C_HAS_FIELD(options, compile) ? options->compile : NULL,
                                   &plan->compile);
}

static nd4c_status find_pieces(nd4c_plan *plan, const nd4c_graph *graph, bool optimize) {
  ND4C_TRY(nd4c_graph_check_no_bodies(graph, "nd4c_plan_compile"));
  ND4C_TRY(nd4c_graph_clone(graph, &plan->graph));
  ND4C_TRY(nd4c_plan_open_ports(plan, optimize));
  plan->nodes_recorded = graph->node_count;
  if (optimize) {
    ND4C_TRY(nd4c_passes_run(plan, NULL));
  }
  ND4C_TRY(nd4c_plan_make_places(plan));
  ND4C_TRY(nd4c_plan_make_whole(plan));
  return nd4c_plan_find_segments(plan);
}

static nd4c_status write_piece(nd4c_plan *plan, int32_t number, nd4c_executables_writer *writer) {
  nd4c_plan_segment *piece = &plan->segments[number];
  int32_t *nodes = NULL, count = 0;
  nd4c_segment segment;
  nd4c_value *inputs = NULL, *outputs = NULL;
  const nd4c_array *const *constants = NULL;
  nd4c_compile_room room;
  ND4C_TRY(nd4c_region_make(&plan->region, piece->node_count, sizeof *nodes, &nodes));
  for (int32_t i = 0; i < plan->segmented_count; i++) {
    if (plan->segment_of[i] == number) {
      nodes[count++] = i;
    }
  }
  piece->first = nodes[0];
  ND4C_TRY(nd4c_plan_describe_segment(plan, piece->compiler, nodes, count, &segment, &inputs, &outputs));
  ND4C_TRY(nd4c_plan_segment_constants(plan, inputs, segment.input_count, &constants));
  const nd4c_compile_options options = nd4c_compile_request_tell(plan->compile, plan->context, piece->compiler, &room);
  const nd4c_status status =
      nd4c_executable_write(piece->compiler, plan->device->handle, &segment, &options, constants, writer);
  char text[256];
  return status == ND4C_OK ? status
                           : nd4c_fail_prefix(status, "%s, a segment of %d nodes by %s on %s",
                                              nd4c_plan_node_text(plan, nodes[0], text, sizeof text), count,
                                              piece->compiler->engine, plan->device->name);
}

static void print(const nd4c_plan *plan, int64_t bytes, nd4c_text *text) {
  int32_t taken = 0;
  for (int32_t i = 0; i < plan->segment_count; i++) {
    taken += plan->segments[i].node_count;
  }
  nd4c_text_print(text, "compiled for %s: %d pieces with %d of %d nodes, %lld bytes\n", plan->device->name,
                  plan->segment_count, taken, plan->graph->node_count, (long long)bytes);
  for (int32_t i = 0; i < plan->segment_count; i++) {
    const nd4c_plan_segment *piece = &plan->segments[i];
    nd4c_text_print(text, "  %s:", piece->compiler->engine);
    for (int32_t k = 0; k < piece->node_count; k++) {
      nd4c_text_print(text, " %s", plan->graph->nodes[piece->first + k].def->info.name);
    }
    nd4c_text_print(text, "\n");
  }
  nd4c_plan_print_declines(plan, text);
}

static nd4c_status fail_without_pieces(const nd4c_plan *plan) {
  nd4c_text text = {0};
  nd4c_plan_print_declines(plan, &text);
  const nd4c_status status =
      nd4c_fail(ND4C_UNSUPPORTED, "no compiler of %s takes any of %d nodes%s%s", plan->device->name,
                plan->graph->node_count, text.length > 0 ? ":\n" : "", text.length > 0 ? text.bytes : "");
  nd4c_text_free(&text);
  return status;
}

static nd4c_status write_all(nd4c_plan *plan, nd4c_executables_writer *writer, const char *path, char **report) {
  nd4c_text text = {0};
  const void *bytes = NULL;
  int64_t size = 0;
  if (plan->segment_count == 0) {
    return fail_without_pieces(plan);
  }
  for (int32_t i = 0; i < plan->segment_count; i++) {
    ND4C_TRY(write_piece(plan, i, writer));
  }
  ND4C_TRY(nd4c_executables_end(writer, &bytes, &size));
  print(plan, size, &text);
  nd4c_status status =
      text.failed ? nd4c_fail_memory("a report", text.capacity) : nd4c_os_write_file(path, bytes, (size_t)size);
  if (status == ND4C_OK && report != NULL) {
    return nd4c_text_take(&text, report);
  }
  nd4c_text_free(&text);
  return status;
}

nd4c_status nd4c_plan_compile(const nd4c_graph *graph, const char *target, const nd4c_plan_options *options,
                              const char *path, char **report) {
  ND4C_TRY(nd4c_graph_check(graph));
  ND4C_TRY(check(options, target, path));
  ND4C_TRY(nd4c_graph_check_numbers(graph, "nd4c_plan_compile"));
  ND4C_TRY(nd4c_plan_check_outputs(graph, "nd4c_plan_compile"));
  nd4c_plan *plan = NULL;
  nd4c_executables_writer writer;
  ND4C_TRY(nd4c_plan_allocate(&plan));
  nd4c_executables_begin(&writer, nd4c_config_int(ND4C_CONFIG_COMPILE_LIMIT));
  nd4c_status status = make_plan(target, options, plan);
  status = status == ND4C_OK ? find_pieces(plan, graph, options == NULL || !options->no_optimization) : status;
  status = status == ND4C_OK ? write_all(plan, &writer, path, report) : status;
  nd4c_executables_free(&writer);
  nd4c_plan_destroy(plan);
  return status;
}
