/* Finds where a plug-in computes: on its own devices, or as an engine on another backend's. The sections that compute
 * walk the targets (cases.c, stress.c, device.c). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { TABLES_SECONDS = 60, REASON = 512 };

/* What the section `tables` says, as it is read. */
typedef struct facts {
  plugin_check *check;
  plugin_targets *targets;
  bool complete;
} facts;

static void add_target(plugin_targets *targets, const char *device, const char *engine) {
  if (targets->count == PLUGIN_TARGETS) {
    plugin_check_note("only the first %d engines are checked", PLUGIN_TARGETS);
    return;
  }
  plugin_target *target = &targets->items[targets->count++];
  (void)snprintf(target->device, sizeof target->device, "%.60s:0", device);
  (void)snprintf(target->engine, sizeof target->engine, "%s", engine);
}

static void note_kernel(plugin_targets *targets, const char *op, nd4c_dtype_set dtypes) {
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    if (strcmp(nd4c_op_at(i)->name, op) == 0) {
      targets->offered[i] |= dtypes & nd4c_op_at(i)->dtypes;
    }
  }
}

static void take_line(void *user, const char *line) {
  facts *f = user;
  char first[PLUGIN_NAME], second[PLUGIN_NAME];
  uint64_t number = 0;
  if (sscanf(line, "check: fact kernel %63s %" SCNu64, first, &number) == 2) {
    note_kernel(f->targets, first, (nd4c_dtype_set)number);
  } else if (sscanf(line, "check: fact engine %63s %63s", first, second) == 2) {
    if (strcmp(first, f->targets->devices) != 0) {
      add_target(f->targets, first, second);
    }
  } else if (sscanf(line, "check: fact name %63s", first) == 1) {
    (void)snprintf(f->targets->name, sizeof f->targets->name, "%s", first);
  } else if (sscanf(line, "check: fact devices %63s", first) == 1) {
    (void)snprintf(f->targets->devices, sizeof f->targets->devices, "%s", first);
    add_target(f->targets, first, "");
  } else if (strncmp(line, "check: fact compilers", strlen("check: fact compilers")) == 0) {
    f->targets->compiles = true;
  } else if (strncmp(line, "check: end", strlen("check: end")) == 0) {
    f->complete = true;
  }
}

static bool read_tables(facts *f) {
  char program[] = "nd4c", command[] = "plugin-check", child[] = "--child", section[] = "--section=tables";
  char reason[REASON] = "", *path = strdup(f->check->path);
  char *const arguments[] = {program, command, child, section, path, NULL};
  const bool ended = path != NULL && plugin_child_run(arguments, TABLES_SECONDS, take_line, f, reason, sizeof reason);
  free(path);
  return plugin_check_that(f->check, ended && f->complete, "its tables cannot be read: %s",
                           reason[0] != '\0' ? reason : "see section entry");
}

/* The devices that are absent cannot be computed on: a contribution to them is idle, which is no failure. */
static bool find_devices(plugin_check *check, plugin_targets *targets) {
  int32_t kept = 0;
  for (int32_t i = 0; i < targets->count; i++) {
    nd4c_device *device = NULL;
    plugin_target target = targets->items[i];
    plugin_check_at("opening %s", target.device);
    const nd4c_status status = nd4c_device_find(target.device, &device);
    if (target.engine[0] == '\0') {
      if (!plugin_check_status(check, status, "%s", target.device)) {
        return false;
      }
    } else if (status != ND4C_OK) {
      plugin_check_note("engine %s is idle: %s is not here", target.engine, target.device);
      continue;
    }
    targets->items[kept++] = target;
  }
  const bool any = kept > 0 || targets->count == 0;
  targets->count = kept;
  return plugin_check_that(check, any, "none of the devices that it computes for is here: it cannot be checked");
}

bool plugin_targets_find(plugin_check *check, plugin_targets *targets) {
  static bool loaded; /* once a process: the library refuses the same name twice */
  memset(targets, 0, sizeof *targets);
  plugin_check_at("loading the plug-in into the library");
  loaded = loaded || plugin_check_status(check, nd4c_backend_load(check->path), "the library refuses it");
  if (!loaded) {
    return false;
  }
  targets->offered = calloc((size_t)nd4c_op_count() + 1, sizeof *targets->offered);
  facts f = {.check = check, .targets = targets};
  return plugin_check_that(check, targets->offered != NULL, "no memory for the list of ops") && read_tables(&f) &&
         find_devices(check, targets);
}

void plugin_targets_free(plugin_targets *targets) {
  free(targets->offered);
  targets->offered = NULL;
}

const char *plugin_target_text(const plugin_target *target, char *text, size_t size) {
  (void)snprintf(text, size, target->engine[0] != '\0' ? "%s (engine %s)" : "%s", target->device, target->engine);
  return text;
}

nd4c_status plugin_target_force(const plugin_target *target) {
  return nd4c_config_set("SD_KERNEL_FORCE_ENGINE", target->engine[0] != '\0' ? target->engine : NULL);
}

nd4c_status plugin_target_enter(const plugin_target *target, nd4c_context **context) {
  nd4c_context_options options = {.struct_size = sizeof options, .strict = true};
  nd4c_status status = nd4c_device_find(target->device, &options.device);
  if (status == ND4C_OK) {
    status = plugin_target_force(target);
  }
  return status == ND4C_OK ? nd4c_context_create(&options, context) : status;
}
