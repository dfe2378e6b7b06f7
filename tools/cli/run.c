/* nd4c run: runs a model on inputs from files or at random, writes outputs to files, and prints times. main.c calls
 * cli_run. */
#include "run.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

/* -- running --------------------------------------------------------------------------------------------------- */

typedef struct session {
  nd4c_model *model;
  int32_t input_count, output_count;
  bool odd; /* an input or output is, or may be, a sequence or optional */
  nd4c_datum **inputs, **outputs;
  nd4c_array **given, **results; /* the same as arrays, unless odd; `given` is borrowed */
  const char **names;
  double *times;
  run_profile profile;
} session;

static void release_all(nd4c_datum **data, int32_t count) {
  for (int32_t i = 0; data != NULL && i < count; i++) {
    nd4c_datum_release(data[i]);
    data[i] = NULL;
  }
}

static void close_session(session *s) {
  release_all(s->inputs, s->input_count);
  release_all(s->outputs, s->output_count);
  for (int32_t i = 0; s->results != NULL && i < s->output_count; i++) {
    nd4c_array_release(s->results[i]);
  }
  free(s->given);
  free(s->results);
  free(s->inputs);
  free(s->outputs);
  free(s->names);
  free(s->times);
  run_profile_free(&s->profile);
  nd4c_model_close(s->model);
}

static int make_room(const run_options *options, session *s) {
  s->input_count = nd4c_model_input_count(s->model);
  s->output_count = nd4c_model_output_count(s->model);
  s->inputs = calloc((size_t)s->input_count + 1, sizeof *s->inputs);
  s->outputs = calloc((size_t)s->output_count + 1, sizeof *s->outputs);
  s->given = calloc((size_t)s->input_count + 1, sizeof *s->given);
  s->results = calloc((size_t)s->output_count + 1, sizeof *s->results);
  s->names = calloc((size_t)s->input_count + 1, sizeof *s->names);
  s->times = calloc((size_t)options->repeat, sizeof *s->times);
  const bool made = s->inputs != NULL && s->outputs != NULL && s->given != NULL && s->results != NULL &&
                    s->names != NULL && s->times != NULL;
  return made ? CLI_OK : cli_fail(&cli_run, "no memory for %" PRId64 " runs", options->repeat);
}

static int describe_values(const run_options *options, session *s) {
  s->odd = options->all_intermediates;
  for (int32_t i = 0; i < s->input_count + s->output_count; i++) {
    nd4c_model_value value = {.struct_size = sizeof value};
    const bool is_input = i < s->input_count;
    const nd4c_status status =
        is_input ? nd4c_model_input(s->model, i, &value) : nd4c_model_output(s->model, i - s->input_count, &value);
    if (status != ND4C_OK) {
      return cli_fail_status(&cli_run, status);
    }
    s->odd = s->odd || value.kind_count > 1;
    if (is_input) {
      s->names[i] = value.name;
    }
  }
  return CLI_OK;
}

/* The devices between which nodes alternate; cuts the list at its commas. */
static int find_devices(char *list, nd4c_device **devices, int32_t *count) {
  for (char *name = list, *next = list; next != NULL; name = next) {
    char *comma = strchr(name, ',');
    next = comma != NULL ? comma + 1 : NULL;
    if (comma != NULL) {
      *comma = '\0';
    }
    if (*name == '\0') {
      return cli_usage(&cli_run, "--devices: device %d has no name: expected names like cpu:0 with a comma between two",
                       *count + 1);
    }
    if (*count == RUN_DEVICES) {
      return cli_usage(&cli_run, "--devices: more than %d", RUN_DEVICES);
    }
    const nd4c_status status = nd4c_device_find(name, &devices[*count]);
    if (status != ND4C_OK) {
      return cli_fail_status(&cli_run, status);
    }
    (*count)++;
  }
  return CLI_OK;
}

/* An input that has an initializer in the file is one only if the caller gives it. */
static nd4c_status open_model(const run_options *options, nd4c_model_options *model_options, nd4c_model **model) {
  const char *names[RUN_NAMED];
  int32_t count = 0;
  nd4c_status status = nd4c_model_open(options->model, model_options, model);
  for (int32_t i = 0; status == ND4C_OK && i < nd4c_model_default_count(*model); i++) {
    nd4c_model_value value = {.struct_size = sizeof value};
    bool given = false;
    status = nd4c_model_default(*model, i, &value);
    for (int k = 0; status == ND4C_OK && k < options->input_count && !given; k++) {
      given = strcmp(options->inputs[k].name, value.name) == 0;
      if (given) {
        names[count++] = options->inputs[k].name;
      }
    }
  }
  if (status != ND4C_OK || count == 0) {
    return status;
  }
  nd4c_model_close(*model);
  *model = NULL;
  model_options->overridden = names;
  model_options->overridden_count = count;
  return nd4c_model_open(options->model, model_options, model);
}

static int open_session(run_options *options, session *s) {
  nd4c_device *devices[RUN_DEVICES] = {NULL};
  nd4c_placement placement = {.struct_size = sizeof placement, .devices = devices};
  if (options->devices != NULL) {
    const int found = find_devices(options->devices, devices, &placement.device_count);
    if (found != CLI_OK) {
      return found;
    }
  }
  nd4c_calibration *calibration = NULL;
  if (options->calibration != NULL && nd4c_calibration_load(options->calibration, &calibration) != ND4C_OK) {
    return cli_fail_status(&cli_run, nd4c_error_code());
  }
  nd4c_model_options model_options = {.struct_size = sizeof model_options,
                                      .all_intermediates = options->all_intermediates,
                                      .no_optimization = options->plain,
                                      .placement = options->devices != NULL ? &placement : NULL,
                                      .compile = cli_compile_request(&options->compile),
                                      .compiled = options->compiled,
                                      .precision = options->precision,
                                      .calibration = calibration};
  const nd4c_status status = open_model(options, &model_options, &s->model);
  nd4c_calibration_release(calibration);
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_run, status);
  }
  int result = make_room(options, s);
  result = result == CLI_OK ? describe_values(options, s) : result;
  result = result == CLI_OK ? run_make_inputs(options, s->model, s->inputs) : result;
  for (int32_t i = 0; result == CLI_OK && i < s->input_count; i++) {
    s->given[i] = nd4c_datum_array(s->inputs[i]);
  }
  return result;
}

/* Arrays are written into again and again; other values are made anew. */
static nd4c_status run_once(void *user) {
  session *s = user;
  nd4c_status status = ND4C_OK;
  if (s->odd) {
    release_all(s->outputs, s->output_count);
    status = nd4c_model_run_data(s->model, NULL, s->names, (const nd4c_datum *const *)s->inputs, s->input_count,
                                 s->outputs, s->output_count);
  } else {
    status = nd4c_model_run(s->model, NULL, s->names, (const nd4c_array *const *)s->given, s->input_count, s->results,
                            s->output_count);
  }
  return status != ND4C_OK ? status : nd4c_context_synchronize(nd4c_context_current());
}

/* The first run makes the plan and is not timed when there are more. Those that are timed tell nothing of their steps,
 * which takes time. */
static int run_all(const run_options *options, session *s) {
  cli_watch shown;
  cli_watch_begin(&shown);
  nd4c_model_set_progress(s->model, cli_watch_tell, &shown);
  const double begin = cli_seconds();
  nd4c_status status = run_once(s);
  s->times[0] = cli_seconds() - begin;
  nd4c_model_set_progress(s->model, NULL, NULL);
  for (int64_t i = 0; status == ND4C_OK && options->repeat > 1 && !options->profile && i < options->repeat; i++) {
    const double start = cli_seconds();
    status = run_once(s);
    s->times[i] = cli_seconds() - start;
    cli_watch_tell(&shown, "repeating", i + 1, options->repeat);
  }
  cli_watch_end(&shown);
  return status == ND4C_OK ? CLI_OK : cli_fail_status(&cli_run, status);
}

/* -- telling --------------------------------------------------------------------------------------------------- */

static int wrap_results(session *s) {
  for (int32_t i = 0; i < s->output_count && !s->odd; i++) {
    const nd4c_status status = nd4c_datum_of_array(s->results[i], &s->outputs[i]);
    if (status != ND4C_OK) {
      return cli_fail_status(&cli_run, status);
    }
  }
  return CLI_OK;
}

static int run_profiled(const run_options *options, session *s) {
  const int result = run_all(options, s);
  return result == CLI_OK ? run_profile_measure(s->model, run_once, s, (int32_t)options->repeat, &s->profile) : result;
}

/* With a profile, only one run is recorded, after it: a recording takes time. */
static int run_recorded(const run_options *options, session *s) {
  if (!options->profile) {
    return run_all(options, s);
  }
  const nd4c_status status = run_once(s);
  return status == ND4C_OK ? CLI_OK : cli_fail_status(&cli_run, status);
}

/* The runs, recorded if that was asked for; *table is the tracer's, *recorded tells whether its file was written. */
static int run_traced(const run_options *options, session *s, char **table, int *recorded) {
  const int profiled = options->profile ? run_profiled(options, s) : CLI_OK;
  if (profiled != CLI_OK || options->trace == NULL) {
    return profiled != CLI_OK || options->profile ? profiled : run_all(options, s);
  }
  nd4c_status status = nd4c_trace_start(strcmp(options->trace, "-") == 0 ? NULL : options->trace);
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_run, status);
  }
  const int result = run_recorded(options, s);
  status = nd4c_trace_stop(table);
  *recorded = status == ND4C_OK ? CLI_OK : cli_fail_status(&cli_run, status);
  return result;
}

static bool print_all(const run_options *options, const session *s, const char *report, const char *table) {
  bool told = true;
  if (options->profile) {
    told = run_profile_print(s->model, &s->profile);
  } else if (options->repeat == 1) {
    (void)printf("time: %.3f ms, the first run, planning included\n", 1e3 * s->times[0]);
  } else {
    cli_print_times("time", s->times, (int)options->repeat);
  }
  cli_print_text(stdout, report != NULL ? report : "");
  cli_print_text(stdout, table != NULL ? table : "");
  return told;
}

static bool add_all(const run_options *options, const session *s, const char *report, const char *table, cJSON *root) {
  (void)cJSON_AddStringToObject(root, "model", options->model);
  (void)cJSON_AddNumberToObject(root, "repeat", (double)options->repeat);
  cli_add_times(root, options->profile ? s->profile.without : s->times, (int)options->repeat);
  if (report != NULL) {
    (void)cJSON_AddStringToObject(root, "report", report);
  }
  if (table != NULL) {
    (void)cJSON_AddStringToObject(root, "trace", table);
  }
  return !options->profile || run_profile_add(s->model, &s->profile, root);
}

static int tell(const run_options *options, session *s, const char *table) {
  cJSON *root = options->json ? cJSON_CreateObject() : NULL;
  cJSON *list = options->json ? cJSON_AddArrayToObject(root, "outputs") : NULL;
  int result = wrap_results(s);
  result = result == CLI_OK ? run_write_outputs(options, s->model, s->outputs, list) : result;
  cli_sort(s->times, (int)options->repeat);
  char *report = NULL;
  if (result == CLI_OK && options->report && nd4c_model_report(s->model, &report) != ND4C_OK) {
    result = cli_fail_status(&cli_run, nd4c_error_code());
  }
  if (result != CLI_OK) {
    cJSON_Delete(root);
  } else if (!(options->json ? add_all(options, s, report, table, root) : print_all(options, s, report, table))) {
    cJSON_Delete(root);
    result = cli_fail(&cli_run, "--profile: no memory to tell the times");
  } else {
    result = options->json ? cli_print_json(&cli_run, root, false) : cli_finish(&cli_run);
  }
  nd4c_free(report);
  return result;
}

/* -- command line ---------------------------------------------------------------------------------------------- */

int run_add_named(const cli_command *command, run_named *list, int *count, const char *text, const char *option) {
  const char *equals = strchr(text, '=');
  if (equals == NULL || equals == text) {
    return cli_usage(command, "%s %s: NAME=... was expected", option, text);
  }
  if (*count == RUN_NAMED) {
    return cli_usage(command, "%s: more than %d", option, RUN_NAMED);
  }
  char *name = calloc((size_t)(equals - text) + 1, 1);
  if (name == NULL) {
    return cli_fail(command, "no memory");
  }
  memcpy(name, text, (size_t)(equals - text));
  list[(*count)++] = (run_named){.name = name, .text = equals + 1};
  return CLI_OK;
}

static int parse_number(const char *option, const char *text, int64_t low, int64_t high, int64_t *value) {
  return cli_read_integer(text, low, high, value)
             ? CLI_OK
             : cli_usage(&cli_run, "%s %s: a number from %" PRId64 " to %" PRId64 " was expected", option, text, low,
                         high);
}

static int parse_format(const char *text, bool *tensors) {
  if (strcmp(text, "npy") != 0 && strcmp(text, "pb") != 0) {
    return cli_usage(&cli_run, "--format %s: npy or pb was expected", text);
  }
  *tensors = strcmp(text, "pb") == 0;
  return CLI_OK;
}

static int parse_precision(const char *text, nd4c_dtype *precision) {
  if (nd4c_dtype_find(text, precision) != ND4C_OK ||
      (*precision != ND4C_BFLOAT16 && *precision != ND4C_FLOAT16 && *precision != ND4C_INT8)) {
    return cli_usage(&cli_run, "--precision %s: bfloat16, float16 or int8 was expected", text);
  }
  return CLI_OK;
}

enum {
  OPT_FORMAT = 256,
  OPT_SHAPE,
  OPT_DIM,
  OPT_RANDOM,
  OPT_SEED,
  OPT_ALL,
  OPT_REPEAT,
  OPT_REPORT,
  OPT_PROFILE,
  OPT_JSON,
  OPT_PLAIN,
  OPT_TRACE,
  OPT_DEVICES,
  OPT_MATH,
  OPT_PRECISION,
  OPT_CALIBRATION,
  OPT_COMPILE,
  OPT_COMPILED
};

static int apply_option(run_options *o, int option, char *argument) {
  int64_t seed = 0;
  int result = CLI_OK;
  switch (option) {
    case 'i':
      return run_add_named(&cli_run, o->inputs, &o->input_count, argument, "--input");
    case OPT_SHAPE:
      return run_add_named(&cli_run, o->shapes, &o->shape_count, argument, "--shape");
    case OPT_DIM:
      return run_add_named(&cli_run, o->dims, &o->dim_count, argument, "--dim");
    case 'o':
      o->output = argument;
      return CLI_OK;
    case OPT_FORMAT:
      return parse_format(argument, &o->tensors);
    case OPT_RANDOM:
      o->random = true;
      return CLI_OK;
    case OPT_SEED:
      result = parse_number("--seed", argument, 0, INT64_MAX, &seed);
      o->seed = (uint64_t)seed;
      return result;
    case OPT_ALL:
      o->all_intermediates = true;
      return CLI_OK;
    case OPT_PLAIN:
      o->plain = true;
      return CLI_OK;
    case OPT_REPEAT:
      return parse_number("--repeat", argument, 1, 10000000, &o->repeat);
    case OPT_REPORT:
      o->report = true;
      return CLI_OK;
    case OPT_PROFILE:
      o->profile = true;
      return CLI_OK;
    case OPT_MATH:
      return cli_compile_math(&cli_run, &o->compile, argument);
    case OPT_PRECISION:
      return parse_precision(argument, &o->precision);
    case OPT_CALIBRATION:
      o->calibration = argument;
      return CLI_OK;
    case OPT_COMPILED:
      o->compiled = argument;
      return CLI_OK;
    case OPT_COMPILE:
      return cli_compile_option(&cli_run, &o->compile, argument);
    case OPT_DEVICES:
      o->devices = argument;
      return CLI_OK;
    case OPT_TRACE:
      o->trace = argument;
      return CLI_OK;
    case OPT_JSON:
      o->json = true;
      return CLI_OK;
    case 'D':
      return cli_set_property(&cli_run, argument);
    default:
      return CLI_USAGE;
  }
}

/* How often the model runs, if the command line does not say so. */
static int settle_repeat(run_options *o) {
  enum { PROFILED = 20 };
  if (o->profile && o->repeat > RUN_PROFILES) {
    return cli_usage(&cli_run, "--profile: --repeat is %" PRId64 ", at most %d was expected", o->repeat, RUN_PROFILES);
  }
  o->repeat = o->repeat > 0 ? o->repeat : o->profile ? PROFILED : 1;
  return CLI_OK;
}

static int parse(int argc, char **argv, run_options *o, bool *help) {
  static const struct option options[] = {{"input", required_argument, NULL, 'i'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"format", required_argument, NULL, OPT_FORMAT},
                                          {"shape", required_argument, NULL, OPT_SHAPE},
                                          {"dim", required_argument, NULL, OPT_DIM},
                                          {"random-inputs", no_argument, NULL, OPT_RANDOM},
                                          {"seed", required_argument, NULL, OPT_SEED},
                                          {"all-intermediates", no_argument, NULL, OPT_ALL},
                                          {"no-optimization", no_argument, NULL, OPT_PLAIN},
                                          {"repeat", required_argument, NULL, OPT_REPEAT},
                                          {"report", no_argument, NULL, OPT_REPORT},
                                          {"profile", no_argument, NULL, OPT_PROFILE},
                                          {"devices", required_argument, NULL, OPT_DEVICES},
                                          {"math", required_argument, NULL, OPT_MATH},
                                          {"precision", required_argument, NULL, OPT_PRECISION},
                                          {"calibration", required_argument, NULL, OPT_CALIBRATION},
                                          {"compile-option", required_argument, NULL, OPT_COMPILE},
                                          {"compiled", required_argument, NULL, OPT_COMPILED},
                                          {"trace", required_argument, NULL, OPT_TRACE},
                                          {"json", no_argument, NULL, OPT_JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "i:o:D:h", options, NULL)) != -1;) {
    *help = option == 'h';
    if (option == '?') {
      return cli_unknown_option(&cli_run, argv[optind - 1]);
    }
    const int result = *help ? CLI_OK : apply_option(o, option, optarg);
    if (*help || result != CLI_OK) {
      return result;
    }
  }
  if (optind + 1 != argc) {
    return optind == argc ? cli_usage(&cli_run, "no model was given")
                          : cli_usage(&cli_run, "one model at a time, '%s' is another", argv[optind + 1]);
  }
  o->model = argv[optind];
  if (o->dim_count > 0 && !o->random) {
    return cli_usage(&cli_run, "--dim: --random-inputs was expected beside it");
  }
  return o->calibration == NULL || o->precision == ND4C_INT8
             ? settle_repeat(o)
             : cli_usage(&cli_run, "--calibration: --precision int8 was expected beside it");
}

void run_free_options(run_options *o) {
  for (int i = 0; i < o->input_count; i++) {
    free(o->inputs[i].name);
  }
  for (int i = 0; i < o->shape_count; i++) {
    free(o->shapes[i].name);
  }
  for (int i = 0; i < o->dim_count; i++) {
    free(o->dims[i].name);
  }
}

static int run(int argc, char **argv) {
  run_options options = {.repeat = 0};
  session s = {0};
  bool help = false;
  int result = parse(argc, argv, &options, &help);
  if (result == CLI_OK && help) {
    result = cli_help(&cli_run);
  } else if (result == CLI_OK) {
    result = cli_check_properties(&cli_run);
    result = result == CLI_OK ? open_session(&options, &s) : result;
    char *table = NULL;
    int recorded = CLI_OK;
    result = result == CLI_OK ? run_traced(&options, &s, &table, &recorded) : result;
    result =
        result == CLI_OK ? tell(&options, &s, table) : result; /* reports the runs even if the trace was not written */
    result = result == CLI_OK ? recorded : result;
    nd4c_free(table);
  }
  close_session(&s);
  run_free_options(&options);
  return result;
}

const cli_command cli_run = {
    .name = "run",
    .summary = "run a model on inputs from files or at random, write its outputs, time it",
    .help =
        "usage: nd4c run MODEL [--input NAME=FILE]... [--output DIR] [OPTIONS]\n\n"
        "  -i, --input NAME=FILE  an input: .npy, or .pb for a serialized ONNX TensorProto, SequenceProto or\n"
        "                         OptionalProto, as the model declares it\n"
        "  -o, --output DIR       write each output to DIR/NAME.npy (what is no file name character becomes _)\n"
        "  --format npy|pb        format of the outputs; default npy; sequences and optionals are always .pb\n"
        "  --random-inputs        make the inputs that are not given: floating ones standard normal, integers and\n"
        "                         booleans 0 or 1, equal for equal seeds, names and shapes on every machine\n"
        "  --seed N               of --random-inputs; default 0\n"
        "  --shape NAME=2,3       shape of a random input; without it what the model leaves free is 1\n"
        "  --dim NAME=N           a number for a dim that random inputs leave free: a symbol of the model, such as\n"
        "                         batch, or INPUT.AXIS for one without a symbol; --shape goes first\n"
        "  --all-intermediates    every named value is an output, too\n"
        "  --no-optimization      run the nodes as they stand in the file\n"
        "  --repeat N             run once, then N times; print the least time, p50, p90, p99 and the longest\n"
        "  --profile              print how long each step of the plan takes: its share of the time, its speed, and "
        "how\n"
        "                         near that is to the machine's limit for it, which is measured first: multiply-adds, "
        "or\n"
        "                         bytes from memory or from the cache that can hold them. As many runs without a "
        "profile,\n"
        "                         in turns, show what it costs. A line names limits that a busy machine made "
        "unreliable.\n"
        "                         --repeat is 20 by default and 1000 at most; with --trace one run more is recorded\n"
        "  --report               print the plan: passes, each step with its kernel, what was not applied as "
        "requested\n"
        "  --devices LIST         run the nodes on these devices in turn (cpu:0,opencl:0); one: all nodes on it\n"
        "  --math LEVEL           how far compilers may change the arithmetic: exact (default), reorder, fast, "
        "reduced\n"
        "  --precision DTYPE      compute nodes of float32 in bfloat16, float16 or int8; inputs and outputs keep "
        "their\n"
        "                         dtypes\n"
        "  --calibration FILE     for --precision int8: the ranges that nd4c calibrate wrote; without it only "
        "products\n"
        "                         compute in int8, and each run finds the ranges\n"
        "  --compile-option KEY=VALUE\n"
        "                         an option for compilers; ENGINE.KEY=VALUE: for that engine's alone\n"
        "  --compiled FILE        load executables from a file of nd4c compile\n"
        "  --trace FILE           record what runs and moves between devices: FILE is for chrome://tracing, a table "
        "is\n"
        "                         printed; - for the table alone\n"
        "  --json                 print one object\n"
        "  -D PROPERTY=VALUE      set a property first (nd4c config lists them)\n\n"
        "examples:\n"
        "  nd4c run model.onnx --input image=image.npy --output out\n"
        "  nd4c run model.onnx --random-inputs --seed 1 --shape image=8,3,224,224 --repeat 20\n"
        "  nd4c run model.onnx --random-inputs --dim batch=8 --dim length=128\n"
        "  nd4c run model.onnx --random-inputs --profile --trace trace.json\n"
        "  nd4c run model.onnx -i x=test_data_set_0/input_0.pb -o out --format pb\n"
        "  nd4c run model.onnx --random-inputs --report -D SD_KERNEL_FORCE_ENGINE=reference\n",
    .run = run,
};
