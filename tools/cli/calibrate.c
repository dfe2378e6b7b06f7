/* nd4c calibrate: runs a float32 model on samples, and writes between which bounds its values lie, for nd4c run
 * --precision int8. main.c calls cli_calibrate. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "watch.h"

typedef struct calibrate_options {
  const char *model, *output;
  nd4c_calibration_options calibration;
  bool layers;
  const char **kept; /* of --float32, in argv */
  int kept_count;
  char **samples; /* paths of files, own */
  int sample_count, sample_capacity;
} calibrate_options;

/* -- samples ------------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static bool is_sample(const char *path) {
  return ends_with(path, ".npy") || ends_with(path, ".npz");
}

static int add_file(calibrate_options *o, const char *folder, const char *name) {
  const size_t size = strlen(folder) + strlen(name) + 2;
  char *path = malloc(size);
  if (o->sample_count == o->sample_capacity) {
    const int capacity = 2 * o->sample_capacity + 16;
    char **grown = realloc((void *)o->samples, (size_t)capacity * sizeof *grown);
    o->samples = grown != NULL ? grown : o->samples;
    o->sample_capacity = grown != NULL ? capacity : o->sample_capacity;
  }
  if (path == NULL || o->sample_count == o->sample_capacity) {
    free(path);
    return cli_fail(&cli_calibrate, "no memory");
  }
  (void)snprintf(path, size, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name);
  o->samples[o->sample_count++] = path;
  return CLI_OK;
}

static int compare_paths(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All samples of a folder, in the order of their names. */
static int add_folder(calibrate_options *o, const char *folder) {
  DIR *list = opendir(folder);
  const int before = o->sample_count;
  int result = CLI_OK;
  if (list == NULL) {
    return cli_fail(&cli_calibrate, "%s: %s", folder, strerror(errno));
  }
  for (const struct dirent *entry; result == CLI_OK && (entry = readdir(list)) != NULL;) {
    result = is_sample(entry->d_name) ? add_file(o, folder, entry->d_name) : CLI_OK;
  }
  (void)closedir(list);
  if (result == CLI_OK && o->sample_count == before) {
    return cli_usage(&cli_calibrate, "%s: the folder has no .npy and no .npz file", folder);
  }
  qsort((void *)(o->samples + before), (size_t)(o->sample_count - before), sizeof *o->samples, compare_paths);
  return result;
}

static int add_path(calibrate_options *o, const char *path) {
  struct stat info;
  if (stat(path, &info) != 0) {
    return cli_fail(&cli_calibrate, "%s: %s", path, strerror(errno));
  }
  if (S_ISDIR(info.st_mode)) {
    return add_folder(o, path);
  }
  return is_sample(path) ? add_file(o, "", path)
                         : cli_usage(&cli_calibrate, "%s: a sample is a .npy or .npz file, or a folder of them", path);
}

/* -- the model ----------------------------------------------------------------------------------------------------- */

typedef struct work {
  const calibrate_options *options;
  nd4c_model *model;
  int32_t input_count;
  nd4c_array **inputs; /* of the sample that is read now */
  nd4c_calibration *calibration;
  cli_watch shown;
} work;

static void release_inputs(work *w) {
  for (int32_t i = 0; w->inputs != NULL && i < w->input_count; i++) {
    nd4c_array_release(w->inputs[i]);
    w->inputs[i] = NULL;
  }
}

static int read_archive(work *w, const char *path, nd4c_archive *archive) {
  for (int32_t i = 0; i < w->input_count; i++) {
    nd4c_model_value value = {.struct_size = sizeof value};
    nd4c_status status = nd4c_model_input(w->model, i, &value);
    const int32_t at = status == ND4C_OK ? nd4c_archive_find(archive, value.name) : -1;
    if (status == ND4C_OK && at < 0) {
      return cli_fail(&cli_calibrate, "%s: has no array '%s', which is an input of the model", path, value.name);
    }
    status = status == ND4C_OK ? nd4c_archive_array(archive, at, &w->inputs[i]) : status;
    if (status != ND4C_OK) {
      return cli_fail_status(&cli_calibrate, status);
    }
  }
  return CLI_OK;
}

/* Reads the inputs of one sample. */
static int read_sample(work *w, const char *path) {
  if (ends_with(path, ".npy")) {
    if (w->input_count != 1) {
      return cli_usage(&cli_calibrate,
                       "%s: the model has %" PRId32 " inputs: a .npz with an array for each was expected", path,
                       w->input_count);
    }
    const nd4c_status status = nd4c_npy_read(path, &w->inputs[0]);
    return status == ND4C_OK ? CLI_OK : cli_fail_status(&cli_calibrate, status);
  }
  nd4c_archive *archive = NULL;
  const nd4c_status status = nd4c_npz_open(path, &archive);
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_calibrate, status);
  }
  const int result = read_archive(w, path, archive);
  nd4c_archive_release(archive);
  return result;
}

/* The graph for all shapes or, if the model cannot be such a graph, for those of the first sample, which is read. */
static nd4c_status make_graph(work *w, nd4c_graph **graph) {
  const nd4c_status status = nd4c_model_graph(w->model, NULL, NULL, NULL, graph);
  if (status != ND4C_UNSUPPORTED && status != ND4C_SHAPE) {
    return status;
  }
  int32_t *ranks = calloc((size_t)w->input_count + 1, sizeof *ranks);
  const int64_t **shapes = calloc((size_t)w->input_count + 1, sizeof *shapes);
  for (int32_t i = 0; ranks != NULL && shapes != NULL && i < w->input_count; i++) {
    ranks[i] = nd4c_array_rank(w->inputs[i]);
    shapes[i] = nd4c_array_shape(w->inputs[i]);
  }
  const nd4c_status fixed =
      ranks == NULL || shapes == NULL ? ND4C_MEMORY : nd4c_model_graph(w->model, NULL, ranks, shapes, graph);
  free(ranks);
  free((void *)shapes);
  return fixed;
}

static int begin(work *w) {
  nd4c_graph *graph = NULL;
  const int result = read_sample(w, w->options->samples[0]);
  if (result != CLI_OK) {
    return result;
  }
  nd4c_status status = make_graph(w, &graph);
  if (status == ND4C_OK) {
    status = nd4c_calibration_create(graph, NULL, &w->options->calibration, &w->calibration);
  }
  for (int i = 0; i < w->options->kept_count && status == ND4C_OK; i++) { /* a wrong name ends it before any sample */
    status = nd4c_calibration_keep(w->calibration, w->options->kept[i]);
  }
  nd4c_graph_destroy(graph);
  release_inputs(w);
  return status == ND4C_OK ? CLI_OK : cli_fail_status(&cli_calibrate, status);
}

/* Gives each sample to a function of the calibration. */
static int run_samples(work *w, const char *what,
                       nd4c_status (*take)(nd4c_calibration *, const nd4c_array *const *, int32_t)) {
  int result = CLI_OK;
  cli_watch_begin(&w->shown);
  for (int i = 0; i < w->options->sample_count && result == CLI_OK; i++) {
    cli_watch_tell(&w->shown, what, i, w->options->sample_count);
    result = read_sample(w, w->options->samples[i]);
    if (result == CLI_OK) {
      const nd4c_status status = take(w->calibration, (const nd4c_array *const *)w->inputs, w->input_count);
      result = status == ND4C_OK
                   ? CLI_OK
                   : cli_fail_hint(&cli_calibrate, status, "sample %d: %s", i + 1, w->options->samples[i]);
    }
    release_inputs(w);
  }
  cli_watch_end(&w->shown);
  return result;
}

/* -- telling ------------------------------------------------------------------------------------------------------- */

static int compare_layers(const void *a, const void *b) {
  const double x = ((const nd4c_calibration_layer *)a)->decibels, y = ((const nd4c_calibration_layer *)b)->decibels;
  return isnan(x) || isnan(y) ? (int)isnan(x) - (int)isnan(y) : (x > y) - (x < y);
}

/* The layers that lose most come first, those that were not measured last. */
static int print_layers(const nd4c_calibration *calibration) {
  const int32_t count = nd4c_calibration_layer_count(calibration);
  nd4c_calibration_layer *layers = calloc((size_t)count + 1, sizeof *layers);
  if (layers == NULL) {
    return cli_fail(&cli_calibrate, "no memory");
  }
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    layers[i].struct_size = sizeof *layers;
    status = nd4c_calibration_get_layer(calibration, i, &layers[i]);
  }
  qsort(layers, (size_t)count, sizeof *layers, compare_layers);
  (void)printf("signal to noise of each layer alone, with its input and weights in 8 bits:\n");
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    if (isnan(layers[i].decibels)) {
      (void)printf("        - dB  %-8s ", layers[i].op);
    } else {
      (void)printf("  %7.2f dB  %-8s ", layers[i].decibels, layers[i].op);
    }
    cli_print_name(stdout, layers[i].name);
    (void)fputc('\n', stdout);
  }
  free(layers);
  return status == ND4C_OK ? CLI_OK : cli_fail_status(&cli_calibrate, status);
}

static int finish(work *w) {
  nd4c_status status = nd4c_calibration_finish(w->calibration);
  status = status == ND4C_OK ? nd4c_calibration_save(w->calibration, w->options->output) : status;
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_calibrate, status);
  }
  const int samples = w->options->sample_count;
  (void)printf("%" PRId32 " ranges of %d sample%s: %s\n", nd4c_calibration_count(w->calibration), samples,
               samples == 1 ? "" : "s", w->options->output);
  return CLI_OK;
}

static int calibrate_model(work *w) {
  int result = begin(w);
  result = result == CLI_OK ? run_samples(w, "calibrating", nd4c_calibration_observe) : result;
  result = result == CLI_OK ? finish(w) : result;
  if (w->options->layers && result == CLI_OK) {
    result = run_samples(w, "measuring", nd4c_calibration_measure);
    result = result == CLI_OK ? print_layers(w->calibration) : result;
  }
  return result == CLI_OK ? cli_finish(&cli_calibrate) : result;
}

static int calibrate(const calibrate_options *o) {
  work w = {.options = o};
  const nd4c_status status = nd4c_model_open(o->model, NULL, &w.model);
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_calibrate, status);
  }
  w.input_count = nd4c_model_input_count(w.model);
  w.inputs = calloc((size_t)w.input_count + 1, sizeof *w.inputs);
  const int result = w.inputs == NULL ? cli_fail(&cli_calibrate, "no memory") : calibrate_model(&w);
  release_inputs(&w);
  free((void *)w.inputs);
  nd4c_calibration_release(w.calibration);
  nd4c_model_close(w.model);
  return result;
}

/* -- command line -------------------------------------------------------------------------------------------------- */

enum { OPT_METHOD = 256, OPT_PERCENTILE, OPT_MOMENTUM, OPT_FLOAT32, OPT_LAYERS, OPT_INPUTS };

static int parse_method(const char *text, nd4c_calibration_method *method) {
  static const struct {
    const char *name;
    nd4c_calibration_method method;
  } methods[] = {{"min-max", ND4C_CALIBRATION_MIN_MAX},
                 {"moving-average", ND4C_CALIBRATION_MOVING_AVERAGE},
                 {"percentile", ND4C_CALIBRATION_PERCENTILE},
                 {"entropy", ND4C_CALIBRATION_ENTROPY},
                 {"mse", ND4C_CALIBRATION_MSE}};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    if (strcmp(methods[i].name, text) == 0) {
      *method = methods[i].method;
      return CLI_OK;
    }
  }
  return cli_usage(&cli_calibrate, "--method %s: min-max, moving-average, percentile, entropy or mse was expected",
                   text);
}

static int parse_number(const char *option, const char *text, double most, double *number) {
  return cli_read_number(text, most, number)
             ? CLI_OK
             : cli_usage(&cli_calibrate, "%s %s: a number above 0, at most %g, was expected", option, text, most);
}

static int apply_option(calibrate_options *o, int option, char *argument) {
  enum { PERCENT = 100 };
  switch (option) {
    case 'o':
      o->output = argument;
      return CLI_OK;
    case OPT_INPUTS:
      return add_path(o, argument);
    case OPT_METHOD:
      return parse_method(argument, &o->calibration.method);
    case OPT_PERCENTILE:
      return parse_number("--percentile", argument, PERCENT, &o->calibration.percentile);
    case OPT_MOMENTUM:
      return parse_number("--momentum", argument, 1, &o->calibration.momentum);
    case OPT_FLOAT32:
      o->kept[o->kept_count++] = argument;
      return CLI_OK;
    case OPT_LAYERS:
      o->layers = true;
      return CLI_OK;
    case 'D':
      return cli_set_property(&cli_calibrate, argument);
    default:
      return CLI_USAGE;
  }
}

static int parse(int argc, char **argv, calibrate_options *o, bool *help) {
  static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                          {"inputs", required_argument, NULL, OPT_INPUTS},
                                          {"method", required_argument, NULL, OPT_METHOD},
                                          {"percentile", required_argument, NULL, OPT_PERCENTILE},
                                          {"momentum", required_argument, NULL, OPT_MOMENTUM},
                                          {"float32", required_argument, NULL, OPT_FLOAT32},
                                          {"layers", no_argument, NULL, OPT_LAYERS},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "o:D:h", options, NULL)) != -1;) {
    *help = option == 'h';
    if (option == '?') {
      return cli_unknown_option(&cli_calibrate, argv[optind - 1]);
    }
    const int result = *help ? CLI_OK : apply_option(o, option, optarg);
    if (*help || result != CLI_OK) {
      return result;
    }
  }
  if (optind == argc || o->output == NULL) {
    return cli_usage(&cli_calibrate, optind == argc ? "a model was expected" : "--output was expected");
  }
  const nd4c_calibration_method method = o->calibration.method;
  if (o->calibration.percentile > 0 && method != ND4C_CALIBRATION_PERCENTILE) {
    return cli_usage(&cli_calibrate, "--percentile: --method percentile was expected");
  }
  if (o->calibration.momentum > 0 && method != ND4C_CALIBRATION_MOVING_AVERAGE) {
    return cli_usage(&cli_calibrate, "--momentum: --method moving-average was expected");
  }
  o->model = argv[optind];
  int result = CLI_OK;
  for (int i = optind + 1; i < argc && result == CLI_OK; i++) {
    result = add_path(o, argv[i]);
  }
  return result == CLI_OK && o->sample_count == 0 ? cli_usage(&cli_calibrate, "no samples were given") : result;
}

static int run(int argc, char **argv) {
  calibrate_options options = {.calibration = {.struct_size = sizeof options.calibration}};
  bool help = false;
  options.kept = calloc((size_t)argc, sizeof *options.kept);
  int result = options.kept == NULL ? cli_fail(&cli_calibrate, "no memory") : parse(argc, argv, &options, &help);
  result = result == CLI_OK && !help ? cli_check_properties(&cli_calibrate) : result;
  if (result == CLI_OK) {
    result = help ? cli_help(&cli_calibrate) : calibrate(&options);
  }
  for (int i = 0; i < options.sample_count; i++) {
    free(options.samples[i]);
  }
  free((void *)options.samples);
  free((void *)options.kept);
  return result;
}

const cli_command cli_calibrate = {
    .name = "calibrate",
    .summary = "find the ranges of a float32 model's values on samples, to run it in int8",
    .help =
        "usage: nd4c calibrate MODEL SAMPLES... --output FILE [OPTIONS]\n\n"
        "Runs the model on each sample and writes between which bounds its values lie; nd4c run MODEL --precision "
        "int8\n"
        "--calibration FILE uses them. A sample is a .npz file with an array for each input of the model, or a .npy "
        "file\n"
        "of its only input. Of a folder all such files are taken, in the order of their names.\n\n"
        "  -o, --output FILE      where the ranges go, as JSON\n"
        "  --inputs PATH          further samples: a file or a folder\n"
        "  --method METHOD        min-max (default), moving-average, percentile, entropy or mse\n"
        "  --percentile P         of --method percentile: P percent of the elements lie in the range; default 99.99\n"
        "  --momentum M           of --method moving-average: weight of the newest sample; default 0.01\n"
        "  --float32 NAME         nodes that stay in float32: the name of one, or an op (conv); may be repeated\n"
        "  --layers               run the samples again, and print what each layer loses alone in 8 bits, those that "
        "lose\n"
        "                         most first\n"
        "  -D PROPERTY=VALUE      set a property first (nd4c config lists them)\n\n"
        "examples:\n"
        "  nd4c calibrate model.onnx samples/ -o ranges.json --layers\n"
        "  nd4c run model.onnx --input x=x.npy --precision int8 --calibration ranges.json --report\n"
        "  nd4c calibrate model.onnx a.npz b.npz -o ranges.json --method percentile --float32 conv_0\n",
    .run = run,
};
