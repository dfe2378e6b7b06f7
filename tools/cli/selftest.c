/* nd4c selftest: every op that a backend computes, against the reference on the host. main.c calls cli_selftest. */
#include "selftest.h"
#include "cli.h"
#include "selftest_parts.h"
#include "selftest_totals.h"

#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT_SIZE = 512, PART_LIMIT = 8, NAME_SIZE = 64 };

static const nd4c_dtype tested[] = {ND4C_FLOAT32, ND4C_FLOAT64, ND4C_INT32, ND4C_INT64, ND4C_UINT8, ND4C_BOOL};
enum { TESTED = sizeof tested / sizeof tested[0] };

/* The result of a pair of op and dtype: the worst of its cases. */
typedef enum pair_state { NO_CASE, COMPUTED, DECLINED, WRONG } pair_state;
static const char *const state_names[] = {"no case", "computed", "declined", "wrong"};

typedef struct pair {
  pair_state state;
  char text[TEXT_SIZE]; /* why it was declined, or what is wrong */
} pair;

/* One run against one device. */
typedef struct selftest {
  const char *pattern; /* of names of ops; NULL: all ops */
  nd4c_device *device, *host;
  nd4c_context *context, *reference;
  const nd4c_op_info *op; /* whose cases run now */
  pair pairs[TESTED];
  selftest_totals totals;
  int32_t op_count;
  cJSON *report; /* the list of pairs */
  cli_progress progress;
  char at_work[PART_LIMIT][NAME_SIZE]; /* by part: the op whose cases run now */
  int32_t ended;                       /* number of parts that have ended */
} selftest;

/* The command's options, and the part that this process runs. Parts are processes that share the ops: part i takes
 * every parts-th op from the i-th on. Each writes lines for the process that started it: "op NAME" when it begins an
 * op, each pair as JSON, and "end". */
static struct request {
  int part, parts; /* parts 0: this process runs all ops */
  int argc;
  char **argv;
} request;

/* -- one case --------------------------------------------------------------------------------------------------- */

static void release_all(nd4c_array **arrays, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    nd4c_array_release(arrays[i]);
    arrays[i] = NULL;
  }
}

/* Puts the inputs on the context's device and computes; everything is waited for. */
static nd4c_status compute(const selftest_case *c, nd4c_dtype dtype, nd4c_context *context, nd4c_array **outputs) {
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL};
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < c->input_count && status == ND4C_OK; i++) {
    if (c->inputs[i].dtype != ND4C_DTYPE_NONE) {
      status = selftest_array(&c->inputs[i], dtype, nd4c_context_device(context), &inputs[i]);
    }
  }
  if (status == ND4C_OK) {
    status = nd4c_op_call(context, c->op->op, (const nd4c_array *const *)inputs, c->input_count, c->attrs,
                          c->attr_count, outputs, c->op->output_count);
  }
  for (int32_t i = 0; i < c->op->output_count && status == ND4C_OK; i++) {
    status = nd4c_array_wait(outputs[i]);
  }
  release_all(inputs, SELFTEST_INPUTS);
  return status;
}

/* What the reference alone makes of the case. */
static nd4c_status compute_reference(const selftest *t, const selftest_case *c, nd4c_dtype dtype,
                                     nd4c_array **outputs) {
  static const char force[] = "SD_KERNEL_FORCE_ENGINE";
  const char *before = NULL;
  char kept[128];
  nd4c_status status = nd4c_config_get(force, &before);
  (void)snprintf(kept, sizeof kept, "%s", status == ND4C_OK ? before : "");
  status = status == ND4C_OK ? nd4c_config_set(force, "reference") : status;
  if (status == ND4C_OK) {
    status = compute(c, dtype, t->reference, outputs);
    (void)nd4c_config_set(force, kept[0] != '\0' ? kept : NULL);
  }
  return status;
}

static void note(pair *p, pair_state state, const char *text) {
  if (state > p->state) {
    p->state = state;
    (void)snprintf(p->text, sizeof p->text, "%s", text);
  }
}

/* Why a call was declined: the last line of reasons in `text`, which the candidate with the lowest priority gave. The
 * library's advice, which may follow, is left out. */
static const char *find_reason(const char *text, char *buffer, size_t size) {
  const char *end = strstr(text, "\nWhat to do: ");
  end = end != NULL ? end : text + strlen(text);
  while (end > text && end[-1] == '\n') {
    end--;
  }
  const char *line = end;
  while (line > text && line[-1] != '\n') {
    line--;
  }
  line += strspn(line, " ");
  (void)snprintf(buffer, size, "%.*s", (int)(end - line), line);
  return buffer;
}

static void run_case(selftest *t, const selftest_case *c, int32_t which) {
  nd4c_array *wanted[SELFTEST_OUTPUTS] = {NULL}, *got[SELFTEST_OUTPUTS] = {NULL};
  char text[TEXT_SIZE] = "";
  pair *p = &t->pairs[which];
  const nd4c_status reference = compute_reference(t, c, tested[which], wanted);
  if (reference != ND4C_OK || nd4c_array_size(wanted[0]) == 0) {
    /* Elements that make no sense in this dtype are refused as arguments; anything else is a failure. */
    if (reference != ND4C_OK && (reference < ND4C_ARGUMENT || reference >= ND4C_LIBRARY)) {
      note(p, WRONG, nd4c_error_message());
    }
    release_all(wanted, SELFTEST_OUTPUTS);
    return;
  }
  const nd4c_status status = compute(c, tested[which], t->context, got);
  if (status == ND4C_UNSUPPORTED) {
    note(p, DECLINED, find_reason(nd4c_error_message(), text, sizeof text));
  } else if (status != ND4C_OK) {
    note(p, WRONG, nd4c_error_message());
  } else {
    note(p, COMPUTED, "");
    for (int32_t i = 0; i < c->op->output_count; i++) {
      if (selftest_difference(t->reference, wanted[i], got[i], text, sizeof text) != NULL) {
        note(p, WRONG, text);
      }
    }
  }
  release_all(wanted, SELFTEST_OUTPUTS);
  release_all(got, SELFTEST_OUTPUTS);
}

/* -- totals ----------------------------------------------------------------------------------------------------- */

/* Adds a pair to the sums and to the report, which takes the row. */
static void count_row(selftest *t, const char *category, cJSON *row) {
  selftest_tally *sums = selftest_totals_find(&t->totals, category);
  const char *state = cJSON_GetStringValue(cJSON_GetObjectItem(row, "state"));
  const bool wrong = strcmp(state, state_names[WRONG]) == 0;
  sums->computed += strcmp(state, state_names[COMPUTED]) == 0;
  sums->declined += strcmp(state, state_names[DECLINED]) == 0;
  sums->wrong += wrong;
  if (wrong) {
    (void)printf("WRONG: %s of %s: %s\n", cJSON_GetStringValue(cJSON_GetObjectItem(row, "op")),
                 cJSON_GetStringValue(cJSON_GetObjectItem(row, "dtype")),
                 cJSON_GetStringValue(cJSON_GetObjectItem(row, "text")));
  }
  (void)cJSON_AddItemToArray(t->report, row);
}

static void write_row(cJSON *row) {
  char *text = cli_json_text(cJSON_PrintUnformatted(row));
  (void)printf("%s\n", text != NULL ? text : "");
  (void)fflush(stdout);
  cJSON_free(text);
  cJSON_Delete(row);
}

static void report_pair(selftest *t, nd4c_dtype dtype, const pair *p) {
  cJSON *row = cJSON_CreateObject();
  (void)cJSON_AddStringToObject(row, "op", t->op->name);
  (void)cJSON_AddStringToObject(row, "category", t->op->category_name);
  (void)cJSON_AddStringToObject(row, "dtype", nd4c_dtype_name(dtype));
  (void)cJSON_AddStringToObject(row, "state", state_names[p->state]);
  if (p->text[0] != '\0') {
    (void)cJSON_AddStringToObject(row, "text", p->text);
  }
  if (request.parts > 0) {
    write_row(row);
  } else {
    count_row(t, t->op->category_name, row);
  }
}

/* Closes the op at work. */
static void finish_op(selftest *t) {
  if (t->op == NULL) {
    return;
  }
  for (int32_t i = 0; i < TESTED; i++) {
    if (t->pairs[i].state != NO_CASE) {
      report_pair(t, tested[i], &t->pairs[i]);
    }
  }
  memset(t->pairs, 0, sizeof t->pairs);
}

static void begin_op(selftest *t, const nd4c_op_info *op) {
  t->op = op;
  t->op_count++;
  if (request.parts > 0) {
    (void)printf("op %s\n", op->name);
    (void)fflush(stdout);
  }
}

/* Shows how many ops were begun and which are running: those may be compiling kernels that no cache has. */
static void show_progress(selftest *t) {
  char text[TEXT_SIZE];
  int used = snprintf(text, sizeof text, "ops: %" PRId32 " of %" PRId32 ", at work:", t->op_count, nd4c_op_count());
  for (int32_t i = 0; i < PART_LIMIT; i++) {
    if (t->at_work[i][0] != '\0' && used > 0 && (size_t)used < sizeof text) {
      used += snprintf(text + used, sizeof text - (size_t)used, " %s", t->at_work[i]);
    }
  }
  cli_progress_say(&t->progress, text);
}

static bool is_asked(const selftest *t, const nd4c_op_info *op) {
  return t->pattern == NULL || fnmatch(t->pattern, op->name, 0) == 0;
}

static void run_dtypes(selftest *t, const selftest_case *c) {
  for (int32_t i = 0; i < TESTED; i++) {
    if ((c->op->dtypes & ND4C_DTYPE_BIT(tested[i])) != 0) {
      run_case(t, c, i);
    }
    if (request.parts == 0) {
      (void)snprintf(t->at_work[0], NAME_SIZE, "%s", c->op->name);
      show_progress(t);
    }
  }
}

static nd4c_status run_cases(selftest *t) {
  const char *position = selftest_cases;
  const nd4c_op_info *last = NULL;
  int32_t turn = -1;
  selftest_case c;
  nd4c_status status = ND4C_OK;
  while (selftest_case_next(&position, &c, &status) && status == ND4C_OK) {
    turn += is_asked(t, c.op) && c.op != last;
    if (is_asked(t, c.op) && (request.parts == 0 || turn % request.parts == request.part)) {
      if (c.op != t->op) {
        finish_op(t);
        begin_op(t, c.op);
      }
      run_dtypes(t, &c);
    }
    last = is_asked(t, c.op) ? c.op : last;
    selftest_case_clear(&c);
  }
  finish_op(t);
  return status;
}

/* -- in parts --------------------------------------------------------------------------------------------------- */

/* A line of a part: "op NAME", a pair, "end"; anything else is passed on. */
static void take_line(void *user, int part, const char *line) {
  selftest *t = user;
  const nd4c_op_info *op = NULL;
  cJSON *row = line[0] == '{' ? cJSON_Parse(line) : NULL;
  const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(row, "op"));
  if (strncmp(line, "op ", 3) == 0) {
    (void)snprintf(t->at_work[part], NAME_SIZE, "%s", line + 3);
    t->op_count++;
  } else if (strcmp(line, "end") == 0) {
    t->at_work[part][0] = '\0';
    t->ended++;
  } else if (name != NULL && nd4c_op_find(name, &op) == ND4C_OK &&
             cJSON_GetStringValue(cJSON_GetObjectItem(row, "state")) != NULL) {
    count_row(t, op->category_name, row);
    row = NULL;
  } else {
    (void)printf("%s\n", line);
  }
  cJSON_Delete(row);
}

static void tick(void *user) {
  show_progress(user);
}

/* Rows in the order of the cases, whichever part was first. */
static void sort_rows(selftest *t) {
  cJSON *sorted = cJSON_CreateArray();
  const char *position = selftest_cases;
  const nd4c_op_info *last = NULL;
  selftest_case c;
  nd4c_status status = ND4C_OK;
  while (selftest_case_next(&position, &c, &status) && status == ND4C_OK) {
    for (cJSON *row = c.op != last ? t->report->child : NULL, *next; row != NULL; row = next) {
      next = row->next;
      if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(row, "op")), c.op->name) == 0) {
        (void)cJSON_AddItemToArray(sorted, cJSON_DetachItemViaPointer(t->report, row));
      }
    }
    last = c.op;
    selftest_case_clear(&c);
  }
  while (sorted->child != NULL) {
    (void)cJSON_AddItemToArray(t->report, cJSON_DetachItemViaPointer(sorted, sorted->child));
  }
  cJSON_Delete(sorted);
}

/* False, with a line on stdout, if a part ended early: the rest of its ops are untested. */
static bool run_parts(selftest *t, const char *device, int count) {
  enum { MOST = 60 };
  static char command[] = "nd4c";
  char *arguments[MOST + 4], backend[NAME_SIZE + 16], reason[TEXT_SIZE] = "";
  int used = 0;
  arguments[used++] = command;
  for (int i = 0; i < request.argc && used < MOST; i++) {
    arguments[used++] = request.argv[i];
  }
  (void)snprintf(backend, sizeof backend, "--backend=%s", device);
  arguments[used++] = backend;
  arguments[used] = NULL;
  const selftest_parts_sink sink = {.line = take_line, .tick = tick, .user = t};
  const bool sound = selftest_parts_run(arguments, count, &sink, reason, sizeof reason);
  sort_rows(t);
  if (!sound || t->ended != count) {
    (void)printf("WRONG: %s: %s\n", device, sound ? "a part of the test ended early" : reason);
  }
  return sound && t->ended == count;
}

/* Prints the table; returns the number of wrong pairs, or 1 if no pair was tested. */
static int32_t print_totals(const selftest *t, cJSON *device) {
  (void)printf("pairs of op and dtype (of");
  for (int32_t i = 0; i < TESTED; i++) {
    (void)printf(" %s", nd4c_dtype_name(tested[i]));
  }
  (void)printf(") that the device computes, equal to the reference:\n");
  const selftest_tally all = selftest_totals_print(&t->totals);
  if (all.computed + all.declined + all.wrong == 0) {
    (void)printf("  no case: %s\n", t->pattern != NULL ? t->pattern : "this build has none of the ops");
    return 1;
  }
  (void)cJSON_AddNumberToObject(device, "computed", all.computed);
  (void)cJSON_AddNumberToObject(device, "declined", all.declined);
  (void)cJSON_AddNumberToObject(device, "wrong", all.wrong);
  return all.wrong;
}

/* -- one device ------------------------------------------------------------------------------------------------- */

static nd4c_status open_contexts(selftest *t) {
  nd4c_context_options there = {.struct_size = sizeof there, .device = t->device};
  nd4c_status status = nd4c_context_create(&there, &t->context);
  if (status == ND4C_OK) {
    status = nd4c_device_find("cpu:0", &t->host);
  }
  nd4c_context_options here = {.struct_size = sizeof here, .device = t->host};
  return status == ND4C_OK ? nd4c_context_create(&here, &t->reference) : status;
}

static int count_ops(const selftest *t) {
  const char *position = selftest_cases;
  const nd4c_op_info *last = NULL;
  selftest_case c;
  nd4c_status status = ND4C_OK;
  int count = 0;
  while (selftest_case_next(&position, &c, &status) && status == ND4C_OK) {
    count += is_asked(t, c.op) && c.op != last;
    last = is_asked(t, c.op) ? c.op : last;
    selftest_case_clear(&c);
  }
  return count;
}

/* Adds the number of wrong pairs to *wrong. */
static nd4c_status test_device(nd4c_device *device, const char *pattern, cJSON *devices, int32_t *wrong) {
  static selftest t;
  nd4c_device_info info = {.struct_size = sizeof info};
  t = (selftest){.pattern = pattern, .device = device};
  nd4c_status status = nd4c_device_get_info(device, &info);
  cJSON *object = cJSON_CreateObject();
  (void)cJSON_AddItemToArray(devices, object);
  if (status == ND4C_OK) {
    if (request.parts == 0) {
      (void)printf("%s: %s\n", info.name, info.description);
      (void)fflush(stdout);
    }
    (void)cJSON_AddStringToObject(object, "device", info.name);
    (void)cJSON_AddStringToObject(object, "description", info.description);
    (void)cJSON_AddStringToObject(object, "vendor", info.vendor);
    (void)cJSON_AddStringToObject(object, "driver", info.driver);
    t.report = cJSON_AddArrayToObject(object, "pairs");
    t.progress = cli_progress_begin();
  }
  /* A device compiles kernels at first use, so several processes share its ops. */
  const int parts =
      status == ND4C_OK && info.type != ND4C_DEVICE_CPU && request.parts == 0 ? selftest_parts_count(count_ops(&t)) : 1;
  if (status == ND4C_OK && parts > 1) {
    *wrong += !run_parts(&t, info.name, parts);
  } else if (status == ND4C_OK) {
    status = open_contexts(&t);
    status = status == ND4C_OK ? run_cases(&t) : status;
  }
  cli_progress_end(&t.progress);
  if (status == ND4C_OK && request.parts > 0) {
    (void)printf("end\n");
  } else if (status == ND4C_OK) {
    *wrong += print_totals(&t, object);
  }
  (void)nd4c_context_destroy(t.context);
  (void)nd4c_context_destroy(t.reference);
  return status;
}

/* The first device of each backend that can be used, or of the one that is named. */
static nd4c_status test_backends(const char *backend, const char *pattern, cJSON *devices, int32_t *wrong) {
  nd4c_status status = nd4c_backend_probe(backend == NULL);
  nd4c_device *device = NULL;
  if (backend != NULL) {
    status = status == ND4C_OK ? nd4c_device_find(backend, &device) : status;
    return status == ND4C_OK ? test_device(device, pattern, devices, wrong) : status;
  }
  for (int32_t i = 0; i < nd4c_backend_count() && status == ND4C_OK; i++) {
    nd4c_backend_status row = {.struct_size = sizeof row};
    status = nd4c_backend_get_status(i, &row);
    if (status == ND4C_OK && row.verdict == ND4C_VERDICT_VERIFIED) {
      status = nd4c_device_find(row.name, &device);
      status = status == ND4C_OK ? test_device(device, pattern, devices, wrong) : status;
      if (status != ND4C_OK) { /* the other backends are tested nevertheless */
        (void)printf("WRONG: %s: %s\n", row.name, nd4c_error_message());
        (*wrong)++;
        status = ND4C_OK;
      }
    }
  }
  return status;
}

/* Fails if the backend that backend.type names cannot be used: the tests do not need the default device, so they would
 * not fail. */
static nd4c_status check_request(void) {
  const char *type = "";
  nd4c_device *device = NULL;
  const nd4c_status status = nd4c_config_get("backend.type", &type);
  return status != ND4C_OK || type[0] == '\0' ? status : nd4c_device_default(&device);
}

/* Writes the time, the library's version and build, and the processor into the report. */
static void describe_run(cJSON *report) {
  char text[32] = "";
  const time_t now = time(NULL);
  struct tm parts;
  if (gmtime_r(&now, &parts) != NULL) {
    (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  }
  (void)cJSON_AddStringToObject(report, "time", text);
  (void)cJSON_AddStringToObject(report, "version", nd4c_version());
  (void)cJSON_AddStringToObject(report, "build", nd4c_build_info());
  nd4c_machine_info machine = {.struct_size = sizeof machine};
  if (nd4c_machine_get_info(&machine) == ND4C_OK) {
    (void)cJSON_AddStringToObject(report, "cpu", machine.cpu_model);
  }
}

static int write_report(const char *path, const cJSON *report) {
  char *text = cli_json_text(cJSON_Print(report));
  FILE *file = text != NULL ? fopen(path, "w") : NULL;
  bool written = file != NULL && fputs(text, file) >= 0 && fputc('\n', file) != EOF;
  written = (file == NULL || fclose(file) == 0) && written;
  cJSON_free(text);
  return written ? CLI_OK : cli_fail(&cli_selftest, "the report could not be written to %s", path);
}

static int test(const char *backend, const char *pattern, const char *path) {
  cJSON *report = cJSON_CreateObject();
  describe_run(report);
  cJSON *devices = cJSON_AddArrayToObject(report, "devices");
  int32_t wrong = 0;
  nd4c_status status = check_request();
  status = status == ND4C_OK ? test_backends(backend, pattern, devices, &wrong) : status;
  int code = status != ND4C_OK ? cli_fail_status(&cli_selftest, status) : wrong > 0 ? CLI_FAILURE : CLI_OK;
  if (status == ND4C_OK && path != NULL) {
    const int written = write_report(path, report);
    code = written != CLI_OK ? written : code;
  }
  cJSON_Delete(report);
  const int finished = cli_finish(&cli_selftest);
  return code != CLI_OK ? code : finished;
}

static int run(int argc, char **argv) {
  static const struct option options[] = {
      {"backend", required_argument, NULL, 'b'}, {"op", required_argument, NULL, 'o'},
      {"report", required_argument, NULL, 'r'},  {"part", required_argument, NULL, 'p'}, /* for run_parts alone */
      {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
  const char *backend = NULL, *pattern = NULL, *path = NULL;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "hD:", options, NULL)) != -1;) {
    switch (option) {
      case 'b':
        backend = optarg;
        break;
      case 'o':
        pattern = optarg;
        break;
      case 'r':
        path = optarg;
        break;
      case 'p':
        if (sscanf(optarg, "%d/%d", &request.part, &request.parts) != 2 || request.part < 0 ||
            request.part >= request.parts) {
          return cli_usage(&cli_selftest, "--part '%s': expected I/N", optarg);
        }
        break;
      case 'D': {
        const int result = cli_set_property(&cli_selftest, optarg);
        if (result != CLI_OK) {
          return result;
        }
        break;
      }
      case 'h':
        return cli_help(&cli_selftest);
      default:
        return cli_unknown_option(&cli_selftest, argv[optind - 1]);
    }
  }
  if (optind < argc) {
    return cli_usage(&cli_selftest, "unexpected argument '%s'", argv[optind]);
  }
  const int checked = cli_check_properties(&cli_selftest);
  if (checked != CLI_OK) {
    return checked;
  }
  request.argc = argc;
  request.argv = argv;
  return test(backend, pattern, request.parts > 0 ? NULL : path);
}

const cli_command cli_selftest = {
    .name = "selftest",
    .summary = "test each op that a backend computes against the reference, on this machine",
    .help =
        "usage: nd4c selftest [--backend NAME] [--op GLOB] [--report FILE] [-D PROPERTY=VALUE]...\n\n"
        "Computes small cases of every op, in float32, float64, int32, int64, uint8 and bool where the op takes them, "
        "on\n"
        "the first device of each usable backend, and compares with engine reference of the CPU. What a backend\n"
        "declines is counted, not wrong. Exit code 1: something is wrong. Devices that compile kernels at run time "
        "are\n"
        "tested by several processes at once.\n\n"
        "  --backend NAME     this backend or device alone (opencl, stub:1)\n"
        "  --op GLOB          these ops alone ('conv*')\n"
        "  --report FILE      every pair of op and dtype as JSON: computed, declined with the reason, or wrong;\n"
        "                     with the time, the library's version, the device's vendor and driver\n"
        "  -D PROPERTY=VALUE  set a configuration property first\n\n"
        "examples:\n"
        "  nd4c selftest\n"
        "  nd4c selftest --backend opencl --report opencl.json\n"
        "  nd4c selftest --backend cpu --op '*sum*' -D nd4c.cpu.level=base\n",
    .run = run,
};
