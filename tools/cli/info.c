/* nd4c info: the machine, the backends with their verdicts, the engines, the devices, the memory. Without --probe it
 * opens nothing: verdicts and states come from the presence of files. With --probe a child process opens everything and
 * writes the report, because the code of a backend may end the process (info_child.c). main.c calls cli_info. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "floor/floor.h"
#include "info_child.h"
#include "info_external.h"
#include "info_peers.h"
#include "info_rows.h"

const char *info_verdict_text(nd4c_verdict verdict) {
  switch (verdict) {
    case ND4C_VERDICT_ABSENT:
      return "absent";
    case ND4C_VERDICT_FOUND:
      return "found";
    case ND4C_VERDICT_COMPILE_ONLY:
      return "compile-only";
    case ND4C_VERDICT_VERIFIED:
      return "verified";
  }
  return "?";
}

/* The library knows that a backend which ended a child is disabled, and not why. */
static void tell_crash(nd4c_backend_status *status) {
  const char *crash = info_crash_of(status->name);
  crash = crash == NULL ? info_crash_of(status->origin) : crash;
  status->reason = crash == NULL ? status->reason : crash;
}

bool info_backend_at(int32_t index, nd4c_backend_status *status) {
  *status = (nd4c_backend_status){.struct_size = sizeof *status};
  const bool known = index < nd4c_backend_count() && nd4c_backend_get_status(index, status) == ND4C_OK;
  if (known) {
    tell_crash(status);
  }
  return known;
}

bool info_contributor_at(int32_t index, nd4c_backend_status *status) {
  *status = (nd4c_backend_status){.struct_size = sizeof *status};
  const bool known = index < nd4c_contributor_count() && nd4c_contributor_get_status(index, status) == ND4C_OK;
  if (known) {
    tell_crash(status);
  }
  return known;
}

static void add_warning(info_warnings *found, const char *before, const char *text, const char *after) {
  if (found->count < INFO_WARNINGS) {
    (void)snprintf(found->text[found->count++], INFO_WARNING_SIZE, "%s%s%s", before, text, after);
  }
}

static bool is_told(const info_warnings *found, const char *word) {
  bool told = false;
  for (int i = 0; i < found->count; i++) {
    told = told || strstr(found->text[i], word) != NULL;
  }
  return told;
}

/* OpenBLAS picks its kernels by CPU model; these variables override it, and a wrong one can halve its speed. */
static void look_at_environment(info_warnings *found) {
  static const char core_name[] = "OPENBLAS_CORETYPE";
  const char *core = getenv(core_name);
  if (core != NULL && core[0] != '\0' && !is_told(found, core_name)) {
    add_warning(found, "OPENBLAS_CORETYPE=", core, " forces OpenBLAS's kernels; unset it to let OpenBLAS choose");
  }
  const char *cache = getenv("OPENBLAS_L2_SIZE");
  if (cache != NULL && cache[0] != '\0') {
    add_warning(found, "OPENBLAS_L2_SIZE=", cache, " overrides the cache size that OpenBLAS blocks for");
  }
}

const char info_mark[] = "; warning: ";

/* The engine's state without the warning, which is listed with the others. */
const char *info_engine_state(const char *backend, int32_t index, bool probe, char *text) {
  const char *state = nd4c_backend_engine_state(backend, index, probe);
  const char *warning = state != NULL ? strstr(state, info_mark) : NULL;
  (void)snprintf(text, INFO_STATE_SIZE, "%.*s", warning != NULL ? (int)(warning - state) : INFO_STATE_SIZE - 1,
                 state != NULL ? state : "");
  return text;
}

/* Names in SD_KERNEL_FORCE_ENGINE and SD_KERNEL_DISABLE_ENGINES that do nothing here. */
static void look_at_engine_settings(info_warnings *found) {
  char *report = NULL;
  if (nd4c_report_engines(&report) != ND4C_OK) {
    add_warning(found, nd4c_error_message(), "", "");
    return;
  }
  char *rest = report;
  for (char *line = strtok_r(rest, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    add_warning(found, line, "", "");
  }
  nd4c_free(report);
}

/* What backends tell of the devices of a type. */
typedef enum presence { NO_DEVICE, SOME_DEVICE, NOT_OPENED } presence;

static presence find_device(nd4c_device_type type, long index) {
  nd4c_backend_status status;
  presence found = NO_DEVICE;
  for (int32_t i = 0; found != SOME_DEVICE && info_backend_at(i, &status); i++) {
    if (status.type == type && status.verdict != ND4C_VERDICT_ABSENT) {
      found = index < status.device_count ? SOME_DEVICE : status.device_count == 0 ? NOT_OPENED : found;
    }
  }
  return found;
}

/* Memory caps for devices that this machine lacks, as far as is known without opening anything. */
static void look_at_caps(info_warnings *found) {
  static const char prefix[] = "nd4j.device.memory.cap.";
  nd4c_config_row row = {.struct_size = sizeof row};
  for (int32_t i = 0; i < nd4c_config_count() && nd4c_config_get_row(i, &row) == ND4C_OK; i++) {
    char name[64] = "";
    if (row.family == NULL || strncmp(row.property, prefix, strlen(prefix)) != 0) {
      continue;
    }
    (void)snprintf(name, sizeof name, "%s", row.property + strlen(prefix));
    char *index = strchr(name, '.');
    if (index != NULL) {
      *index++ = '\0';
      if (find_device(nd4c_device_type_find(name), strtol(index, NULL, 10)) == NO_DEVICE) {
        add_warning(found, row.property, " caps no device: this machine has none of that name", "");
      }
    }
  }
}

static void look_for_crashes(info_warnings *found) {
  const char *crash = NULL;
  for (int i = 0; (crash = info_crash_at(i)) != NULL; i++) {
    add_warning(found, crash, "", "");
  }
}

static void look_for_warnings(bool probe, info_warnings *found) {
  bool openblas = false;
  const char *engine = NULL;
  look_for_crashes(found);
  for (int32_t i = 0; (engine = nd4c_backend_engine("cpu", i)) != NULL; i++) {
    const char *state = nd4c_backend_engine_state("cpu", i, probe);
    const char *warning = state != NULL ? strstr(state, info_mark) : NULL;
    openblas = openblas || strcmp(engine, "openblas") == 0;
    if (warning != NULL) {
      add_warning(found, engine, ": ", warning + strlen(info_mark));
    }
  }
  nd4c_backend_status status;
  for (int32_t i = 0; probe && info_backend_at(i, &status); i++) {
    const bool other = strcmp(status.name, "cpu") != 0;
    for (int32_t e = 0; other && (engine = nd4c_backend_engine(status.name, e)) != NULL; e++) {
      const char *state = nd4c_backend_engine_state(status.name, e, probe);
      const char *warning = state != NULL ? strstr(state, info_mark) : NULL;
      if (warning != NULL) {
        add_warning(found, engine, ": ", warning + strlen(info_mark));
      }
    }
  }
  if (openblas) {
    look_at_environment(found);
  } else {
    add_warning(found, "engine openblas is not part of this build", "", "");
  }
  look_at_engine_settings(found);
  look_at_caps(found);
}

/* -- text ------------------------------------------------------------------------------------------------------ */

/* A line for each of `lines`. */
static void print_lines(const char *what, const char *lines) {
  for (size_t length; (length = strcspn(lines, "\n")) > 0; lines += length + (lines[length] != '\0')) {
    (void)printf("  %s: %.*s\n", what, (int)length, lines);
  }
}

static void print_backends(bool probe) {
  nd4c_backend_status status;
  (void)printf(
      "\nbackends, in the order of probing; of the usable ones that of the highest priority is selected (*):\n");
  for (int32_t i = 0; info_backend_at(i, &status); i++) {
    (void)printf("%c %-10s priority %3" PRId32 "  %-12s %s\n", status.selected ? '*' : ' ', status.name,
                 status.priority, info_verdict_text(status.verdict), status.reason);
    if (strcmp(status.origin, "built in") != 0 && status.origin[0] != '\0') {
      (void)printf("               from %s\n", status.origin);
    }
    if (status.by_request_only[0] != '\0' && status.verdict != ND4C_VERDICT_ABSENT) {
      (void)printf("               by request only: %s\n", status.by_request_only);
    }
    const char *engine = NULL;
    char state[INFO_STATE_SIZE];
    for (int32_t e = 0; (engine = nd4c_backend_engine(status.name, e)) != NULL; e++) {
      (void)printf("    engine %-11s %s\n", engine, info_engine_state(status.name, e, probe, state));
    }
    print_lines("left out", status.left_out);
  }
}

/* What is built in is seen by its engines; a plug-in that contributes is shown by itself. */
static void print_contributors(void) {
  nd4c_backend_status status;
  for (int32_t i = 0; info_contributor_at(i, &status); i++) {
    if (strcmp(status.origin, "built in") != 0) {
      (void)printf("  %-10s contributes to %s, %s: %s\n", status.name, status.contributes_to,
                   info_verdict_text(status.verdict), status.reason);
    }
  }
}

/* Names of a set's dtypes, each behind a space. */
static const char *dtypes_text(nd4c_dtype_set set, char *text, size_t size) {
  size_t length = 0;
  text[0] = '\0';
  for (int32_t dtype = 1; dtype < 64 && length + 32 < size; dtype++) {
    if ((set & ND4C_DTYPE_BIT(dtype)) != 0 && nd4c_dtype_get_info((nd4c_dtype)dtype) != NULL) {
      length += (size_t)snprintf(text + length, size - length, " %s", nd4c_dtype_name((nd4c_dtype)dtype));
    }
  }
  return text;
}

/* "": the device does not tell. */
static const char *remaining_text(const nd4c_device *device, char *text, size_t size) {
  int64_t bytes = 0;
  if (nd4c_memory_remaining(device, &bytes) != ND4C_OK || bytes == INT64_MAX) {
    return "";
  }
  char number[32];
  (void)snprintf(text, size, ", %s remaining", cli_bytes_text(bytes, number, sizeof number));
  return text;
}

static void print_counts(const nd4c_memory_info *memory) {
  char spilled[32], scratch[32], held[32];
  (void)printf("    allocations %" PRId64 " alive, %" PRId64 " in all, %" PRId64 " of them from the cache",
               memory->live_count, memory->total_count, memory->cache_hits);
  if (memory->dropped_count > 0 || memory->spilled_count > 0) {
    (void)printf("; spilling dropped %" PRId64 " copies and moved %" PRId64 " arrays, %s, to the host",
                 memory->dropped_count, memory->spilled_count,
                 cli_bytes_text(memory->spilled_bytes, spilled, sizeof spilled));
  }
  if (memory->scratch_bytes > 0) {
    (void)printf("; scratch of streams %s", cli_bytes_text(memory->scratch_bytes, scratch, sizeof scratch));
  }
  if (memory->held_bytes > 0) {
    (void)printf("; held by backends %s", cli_bytes_text(memory->held_bytes, held, sizeof held));
  }
  (void)printf("\n");
}

static void print_memory(const nd4c_device *device, const nd4c_device_info *info, const nd4c_memory_info *memory) {
  char total[32], live[32], cached[32], peak[32], cap[32], remaining[64], largest[32];
  (void)printf("    memory %s%s%s, live %s, cached %s, peak %s, cap %s; buffers aligned to %" PRId64 " bytes\n",
               info->memory_bytes > 0 ? cli_bytes_text(info->memory_bytes, total, sizeof total) : "unknown",
               info->unified_memory ? " (the host's)" : "", remaining_text(device, remaining, sizeof remaining),
               cli_bytes_text(memory->live_bytes, live, sizeof live),
               cli_bytes_text(memory->cached_bytes, cached, sizeof cached),
               cli_bytes_text(memory->peak_bytes, peak, sizeof peak),
               memory->cap_bytes > 0 ? cli_bytes_text(memory->cap_bytes, cap, sizeof cap) : "none", info->alignment);
  if (info->largest_bytes > 0) {
    (void)printf("    one array at most %s\n", cli_bytes_text(info->largest_bytes, largest, sizeof largest));
  }
  print_counts(memory);
  info_print_external(info, memory);
}

static void print_device(nd4c_device *device, bool picked) {
  nd4c_device_info info = {.struct_size = sizeof info};
  nd4c_memory_info memory = {.struct_size = sizeof memory};
  char dtypes[1024];
  if (nd4c_device_get_info(device, &info) != ND4C_OK || nd4c_memory_get_info(device, &memory) != ND4C_OK) {
    (void)printf("  %s\n", nd4c_error_message());
    return;
  }
  (void)printf("%c %-10s %s; %s%s, priority %" PRId32 ", width %" PRId32 ", %s, %s\n", picked ? '*' : ' ',
               info.identity, info.description, nd4c_device_type_name(info.type),
               info.host_processor && info.type != ND4C_DEVICE_CPU ? " (the host's processor)" : "", info.priority,
               info.width, info.asynchronous ? "asynchronous" : "synchronous",
               info.host_readable ? "addressable"
               : info.addressable ? "addressable by the device"
                                  : "not addressable");
  if (info.vendor[0] != '\0' || info.driver[0] != '\0') {
    (void)printf("    vendor %s, driver %s\n", info.vendor[0] != '\0' ? info.vendor : "unknown",
                 info.driver[0] != '\0' ? info.driver : "unknown");
  }
  if (info.uuid[0] != '\0' || info.pci[0] != '\0' || info.capability[0] != '\0') {
    (void)printf("    uuid %s, PCI address %s, capability %s\n", info.uuid[0] != '\0' ? info.uuid : "unknown",
                 info.pci[0] != '\0' ? info.pci : "unknown", info.capability[0] != '\0' ? info.capability : "unknown");
  }
  if (info.has_native) {
    (void)printf("    native handle %p\n", info.native);
  }
  info_print_streams(&info);
  info_print_peers(device);
  print_memory(device, &info, &memory);
  if (info.dtypes != 0) {
    (void)printf("    computes with%s\n", dtypes_text(info.dtypes, dtypes, sizeof dtypes));
  }
}

static void print_devices(nd4c_status picked, nd4c_device *picked_device) {
  if (picked != ND4C_OK) {
    (void)printf("\nno device can be used:\n%s\n", nd4c_error_message());
    return;
  }
  if (picked_device == NULL) {
    (void)printf("\ndevices: not opened; --probe opens them and tells which is selected\n");
    return;
  }
  (void)printf("\ndevices:\n");
  nd4c_device *device = NULL;
  for (int32_t i = 0; i < nd4c_device_count() && nd4c_device_at(i, &device) == ND4C_OK; i++) {
    print_device(device, device == picked_device);
  }
  nd4c_backend_status status;
  for (int32_t i = 0; info_backend_at(i, &status); i++) {
    print_lines("cannot be used", status.unusable_devices);
  }
}

/* A property's value, or `instead` where it is empty. */
const char *info_property_or(const char *property, const char *instead) {
  const char *value = "";
  return nd4c_config_get(property, &value) == ND4C_OK && value[0] != '\0' ? value : instead;
}

/* What the properties say of several devices. */
static void print_sharing(void) {
  (void)printf("transfer  %s, spilling %s\n", info_property_or("nd4c.device.transfer", ""),
               info_property_or("nd4c.device.memory.spill", ""));
  (void)printf("routing   %s", info_property_or("nd4c.routing", ""));
  if (strcmp(info_property_or("nd4c.routing", "off"), "off") != 0) {
    (void)printf(" over %s; transfer %s, creation %s, wait %s",
                 info_property_or("nd4c.routing.devices", "the default device and cpu:0"),
                 info_property_or("nd4c.routing.transfer", ""),
                 info_property_or("nd4c.routing.creation", "on the context's device"),
                 info_property_or("nd4c.routing.wait", ""));
  }
  (void)printf("\n");
}

static int print_text(const nd4c_machine_info *machine, const info_warnings *found, bool probe, nd4c_status picked,
                      nd4c_device *device) {
  char memory[32], cache[32];
  (void)printf("nd4c %s (%s)\n\n", nd4c_version(), nd4c_build_info());
  (void)printf("cpu       %s\nfeatures  %s\nlevel     %s (of nd4c's own kernels: %s)\n", machine->cpu_model,
               machine->cpu_features, machine->cpu_level, machine->level_reason);
  (void)printf("pool      %s, width %" PRId32 "\n", machine->pool, machine->width);
  (void)printf("memory    %s, last-level cache %s\n",
               machine->memory_bytes > 0 ? cli_bytes_text(machine->memory_bytes, memory, sizeof memory) : "unknown",
               machine->cache_bytes > 0 ? cli_bytes_text(machine->cache_bytes, cache, sizeof cache) : "unknown");
  print_sharing();
  print_backends(probe);
  print_contributors();
  print_devices(picked, device);
  for (int i = 0; i < found->count; i++) {
    (void)printf("%swarning: %s\n", i == 0 ? "\n" : "", found->text[i]);
  }
  if (!probe) {
    (void)printf(
        "\nNo run-time library was opened for this; nd4c info --probe opens and checks every backend and engine.\n");
  }
  return cli_finish(&cli_info);
}

/* -- which device is selected ------------------------------------------------------------------------------------ */

/* Whether finding out which device is selected means opening more than the CPU backend, which needs no vendor's
 * library. */
static bool choosing_opens_more(void) {
  nd4c_backend_status status;
  const char *forced = "";
  (void)nd4c_config_get("backend.type", &forced);
  for (int32_t i = 0; info_backend_at(i, &status); i++) {
    const bool may_be_chosen = status.by_request_only[0] == '\0' || strcasecmp(forced, status.name) == 0;
    if (status.type != ND4C_DEVICE_CPU && status.verdict == ND4C_VERDICT_FOUND && may_be_chosen) {
      return true;
    }
  }
  return false;
}

/* Whether backend.type names a backend that does not exist, which is found out without opening anything. */
static bool forced_is_unknown(void) {
  const char *forced = NULL;
  nd4c_backend_status status;
  if (nd4c_config_get("backend.type", &forced) != ND4C_OK) {
    return false;
  }
  bool unknown = forced[0] != '\0';
  for (int32_t i = 0; unknown && info_backend_at(i, &status); i++) {
    unknown = strcasecmp(forced, status.name) != 0;
  }
  return unknown;
}

/* -- the command ------------------------------------------------------------------------------------------------- */

typedef struct info_request {
  bool probe, json, floor;
  int assignment_count;
  const char **assignments; /* of -D; borrowed from argv */
} info_request;

static int set_properties(const info_request *request) {
  for (int i = 0; i < request->assignment_count; i++) {
    if (cli_set_property(&cli_info, request->assignments[i]) != CLI_OK) {
      return CLI_USAGE;
    }
  }
  const nd4c_status status = info_child_begin();
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_info, status);
  }
  return cli_check_properties(&cli_info);
}

static int report(const void *user) {
  const info_request *request = user;
  const int set = set_properties(request);
  if (set != CLI_OK) {
    return set;
  }
  nd4c_machine_info machine = {.struct_size = sizeof machine};
  nd4c_status status = nd4c_backend_probe(request->probe);
  info_child_mark("the report");
  if (status == ND4C_OK && request->floor) {
    return info_print_floor(request->json);
  }
  if (status == ND4C_OK) {
    status = nd4c_machine_get_info(&machine);
  }
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_info, status);
  }
  nd4c_device *device = NULL;
  info_warnings found = {0};
  look_for_warnings(request->probe, &found);
  const bool known = request->probe || forced_is_unknown() || !choosing_opens_more();
  const nd4c_status picked = known ? nd4c_device_default(&device) : ND4C_OK;
  info_child_mark("the report");
  const int result = request->json ? info_print_json(&machine, &found, request->probe, picked, device)
                                   : print_text(&machine, &found, request->probe, picked, device);
  if (result == CLI_OK && picked != ND4C_OK) {
    return cli_fail(&cli_info, "no device can be used; the text above says why and what to do");
  }
  return result;
}

/* Fills the request; returns CLI_OK, or, with *done, the exit code. */
static int read_options(int argc, char **argv, info_request *request, bool *done) {
  static const struct option options[] = {{"probe", no_argument, NULL, 'p'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"floor", no_argument, NULL, 'f'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  opterr = 0;
  *done = true;
  for (int option; (option = getopt_long(argc, argv, "D:h", options, NULL)) != -1;) {
    switch (option) {
      case 'p':
        request->probe = true;
        break;
      case 'j':
        request->json = true;
        break;
      case 'f':
        request->floor = true;
        break;
      case 'D':
        request->assignments[request->assignment_count++] = optarg;
        break;
      case 'h':
        return cli_help(&cli_info);
      default:
        return cli_unknown_option(&cli_info, argv[optind - 1]);
    }
  }
  if (optind < argc) {
    return cli_usage(&cli_info, "unexpected argument '%s'", argv[optind]);
  }
  if (request->floor && request->probe) {
    return cli_usage(&cli_info, "--floor and --probe exclude each other");
  }
  *done = false;
  return CLI_OK;
}

static int run(int argc, char **argv) {
  info_request request = {.assignments = calloc((size_t)argc, sizeof *request.assignments)};
  if (request.assignments == NULL) {
    return cli_fail(&cli_info, "no memory for the options");
  }
  bool done = false;
  int code = read_options(argc, argv, &request, &done);
  if (!done) {
    code = request.probe ? info_run_in_child(report, &request) : report(&request);
  }
  free((void *)request.assignments);
  return code;
}

const cli_command cli_info = {
    .name = "info",
    .summary = "show the machine, the backends with verdict and reason, engines, devices, memory",
    .help =
        "usage: nd4c info [--probe | --floor] [--json] [-D PROPERTY=VALUE]...\n\n"
        "  --probe  open and check every backend and engine, in a child process: the report names a backend that\n"
        "           ends the process; without --probe only files are looked for\n"
        "  --floor  which pairs of op and dtype run on scalar loops on the CPU, and why: the kernels of all other\n"
        "           engines decline every sample call, small or large; opens the engines' libraries\n"
        "  --json   one object\n"
        "  -D       set a property first\n\n"
        "examples:\n"
        "  nd4c info\n"
        "  nd4c info --probe\n"
        "  nd4c info --floor\n"
        "  nd4c info -D backend.type=cuda\n",
    .run = run,
};
