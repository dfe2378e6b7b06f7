/* nd4c graph: lists the passes, shows a model's graph before or after them, and says what each pass changes. main.c
 * calls cli_graph. */
#include "graph.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

typedef enum graph_action { ACTION_PASSES, ACTION_SHOW, ACTION_EXPLAIN, ACTION_COUNT } graph_action;
static const char *const actions[ACTION_COUNT] = {"passes", "show", "explain"};

typedef enum graph_format { FORMAT_TEXT, FORMAT_DOT, FORMAT_SVG, FORMAT_COUNT } graph_format;
static const char *const formats[FORMAT_COUNT] = {"text", "dot", "svg"};

enum { LINES = 12 /* of a run of a pass, without --all */ };

typedef struct graph_options {
  run_options run; /* model, output, shapes, json, plain */
  graph_action action;
  graph_format format;
  const char *passes;
  bool optimized, all;
} graph_options;

/* -- passes -------------------------------------------------------------------------------------------------------- */

static cJSON *pass_json(const nd4c_pass_info *pass) {
  cJSON *object = cJSON_CreateObject();
  (void)cJSON_AddStringToObject(object, "name", pass->name);
  (void)cJSON_AddStringToObject(object, "phase", pass->phase);
  (void)cJSON_AddStringToObject(object, "where", pass->where);
  (void)cJSON_AddStringToObject(object, "meaning", pass->doc);
  return object;
}

static int list_passes(const graph_options *o) {
  cJSON *array = o->run.json ? cJSON_CreateArray() : NULL;
  const char *phase = "";
  for (int32_t i = 0; i < nd4c_pass_count(); i++) {
    nd4c_pass_info pass = {.struct_size = sizeof pass};
    if (nd4c_pass_get_info(i, &pass) != ND4C_OK) {
      cJSON_Delete(array);
      return cli_fail_status(&cli_graph, nd4c_error_code());
    }
    if (o->run.json) {
      (void)cJSON_AddItemToArray(array, pass_json(&pass));
      continue;
    }
    if (strcmp(phase, pass.phase) != 0) {
      (void)printf("%s\n", pass.phase);
      phase = pass.phase;
    }
    const bool any = strcmp(pass.where, "any") == 0, numbers = strcmp(pass.where, "numbers") == 0;
    (void)printf("  %-20s %s%s%s%s\n", pass.name, pass.doc, any ? "" : " (plans of one device",
                 numbers ? ", without dims" : "", any ? "" : ")");
  }
  return o->run.json ? cli_print_json(&cli_graph, array, false) : cli_finish(&cli_graph);
}

/* -- show and explain ---------------------------------------------------------------------------------------------- */

static bool write_picture(const graph_options *o, FILE *file, const nd4c_graph *graph) {
  graph_picture picture;
  bool made = graph_picture_make(graph, &picture);
  if (made && o->format == FORMAT_DOT) {
    graph_write_dot(file, &picture);
  } else if (made) {
    made = graph_write_svg(file, &picture);
  }
  graph_picture_free(&picture);
  return made;
}

static int write_graph(const graph_options *o, FILE *file, const nd4c_graph *graph) {
  if (o->format == FORMAT_TEXT) {
    graph_write_text(file, graph);
    return CLI_OK;
  }
  return write_picture(o, file, graph)
             ? CLI_OK
             : cli_fail(&cli_graph, "no memory, or the picture is too large: --format dot has no limit");
}

static int write_explanation(const graph_options *o, FILE *file, const nd4c_graph *graph) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .passes = o->passes};
  char *text = NULL;
  const nd4c_status status = nd4c_graph_explain(graph, NULL, &options, o->all ? -1 : LINES, &text);
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_graph, status);
  }
  (void)fputs(text, file);
  nd4c_free(text);
  return CLI_OK;
}

static int write_optimized(const graph_options *o, FILE *file, const nd4c_graph *graph) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .passes = o->passes};
  nd4c_graph *optimized = NULL;
  const nd4c_status status = nd4c_graph_optimize(graph, NULL, &options, &optimized);
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_graph, status);
  }
  const int result = write_graph(o, file, optimized);
  nd4c_graph_destroy(optimized);
  return result;
}

static int write_any(const graph_options *o, FILE *file, const nd4c_graph *graph) {
  return o->action == ACTION_EXPLAIN ? write_explanation(o, file, graph)
         : o->optimized              ? write_optimized(o, file, graph)
                                     : write_graph(o, file, graph);
}

static int write_output(const graph_options *o, const nd4c_graph *graph) {
  if (o->run.output == NULL) {
    const int result = write_any(o, stdout, graph);
    return result == CLI_OK ? cli_finish(&cli_graph) : result;
  }
  FILE *file = fopen(o->run.output, "w");
  if (file == NULL) {
    return cli_fail(&cli_graph, "%s: %s", o->run.output, strerror(errno));
  }
  int result = write_any(o, file, graph);
  const bool lost = ferror(file) != 0;
  if ((fclose(file) != 0 || lost) && result == CLI_OK) {
    result = cli_fail(&cli_graph, "%s: not all could be written: %s", o->run.output, strerror(errno));
  }
  return result;
}

static int read_graph(const graph_options *o, nd4c_model *model, nd4c_graph **graph) {
  run_shapes shapes;
  int result = run_find_shapes(&cli_graph, &o->run, model, &shapes);
  if (result == CLI_OK) {
    const nd4c_status status = nd4c_model_graph(model, NULL, shapes.ranks, shapes.shapes, graph);
    result = status == ND4C_OK ? CLI_OK : cli_fail_status(&cli_graph, status);
  }
  run_free_shapes(&shapes);
  return result;
}

static int look_at_model(const graph_options *o) {
  nd4c_model *model = NULL;
  nd4c_graph *graph = NULL;
  const nd4c_status status = nd4c_model_open(o->run.model, NULL, &model);
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_graph, status);
  }
  int result = read_graph(o, model, &graph);
  result = result == CLI_OK ? write_output(o, graph) : result;
  nd4c_graph_destroy(graph);
  nd4c_model_close(model);
  return result;
}

/* -- command line -------------------------------------------------------------------------------------------------- */

enum { OPT_SHAPE = 256, OPT_PASSES, OPT_FORMAT, OPT_OPTIMIZED, OPT_ALL, OPT_JSON };

/* Which actions take an option, by a bit for each. */
static unsigned actions_of(int option) {
  switch (option) {
    case OPT_JSON:
      return 1U << ACTION_PASSES;
    case OPT_FORMAT:
    case OPT_OPTIMIZED:
      return 1U << ACTION_SHOW;
    case OPT_ALL:
      return 1U << ACTION_EXPLAIN;
    case 'D':
      return 1U << ACTION_PASSES | 1U << ACTION_SHOW | 1U << ACTION_EXPLAIN;
    default:
      return 1U << ACTION_SHOW | 1U << ACTION_EXPLAIN;
  }
}

static int find_word(const char *const *words, int count, const char *text) {
  int i = 0;
  while (i < count && strcmp(words[i], text) != 0) {
    i++;
  }
  return i;
}

static int apply_option(graph_options *o, int option, char *argument) {
  switch (option) {
    case OPT_SHAPE:
      return run_add_named(&cli_graph, o->run.shapes, &o->run.shape_count, argument, "--shape");
    case OPT_PASSES:
      o->passes = argument;
      return CLI_OK;
    case OPT_FORMAT:
      o->format = (graph_format)find_word(formats, FORMAT_COUNT, argument);
      return o->format < FORMAT_COUNT ? CLI_OK
                                      : cli_usage(&cli_graph, "--format %s: text, dot or svg was expected", argument);
    case OPT_OPTIMIZED:
      o->optimized = true;
      return CLI_OK;
    case OPT_ALL:
      o->all = true;
      return CLI_OK;
    case OPT_JSON:
      o->run.json = true;
      return CLI_OK;
    case 'o':
      o->run.output = argument;
      return CLI_OK;
    default: /* -D */
      return cli_set_property(&cli_graph, argument);
  }
}

static int parse_options(int argc, char **argv, graph_options *o, bool *help) {
  static const struct option options[] = {{"shape", required_argument, NULL, OPT_SHAPE},
                                          {"passes", required_argument, NULL, OPT_PASSES},
                                          {"format", required_argument, NULL, OPT_FORMAT},
                                          {"optimized", no_argument, NULL, OPT_OPTIMIZED},
                                          {"all", no_argument, NULL, OPT_ALL},
                                          {"json", no_argument, NULL, OPT_JSON},
                                          {"output", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  int long_option = -1; /* -o has a long name, too, and -D is for all actions */
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "o:D:h", options, &long_option)) != -1; long_option = -1) {
    *help = option == 'h';
    if (*help) {
      return CLI_OK;
    }
    if (option == '?') {
      return cli_unknown_option(&cli_graph, argv[optind - 1]);
    }
    if ((actions_of(option) & 1U << o->action) == 0) {
      return cli_usage(&cli_graph, "%s has no option --%s", actions[o->action],
                       long_option >= 0 ? options[long_option].name : "output");
    }
    const int result = apply_option(o, option, optarg);
    if (result != CLI_OK) {
      return result;
    }
  }
  const int models = o->action == ACTION_PASSES ? 0 : 1;
  if (argc - optind != models) {
    return cli_usage(&cli_graph, models == 0 ? "no model was expected" : "one model was expected");
  }
  o->run.model = models == 1 ? argv[optind] : NULL;
  return CLI_OK;
}

/* The action, which stands first, and its options. */
static int parse(int argc, char **argv, graph_options *o, bool *help) {
  const char *first = argc > 1 ? argv[1] : "";
  *help = strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0;
  o->action = (graph_action)find_word(actions, ACTION_COUNT, first);
  if (*help) {
    return CLI_OK;
  }
  return o->action < ACTION_COUNT
             ? parse_options(argc - 1, argv + 1, o, help)
             : cli_usage(&cli_graph, "passes, show or explain was expected first, not '%s'", first);
}

static int run(int argc, char **argv) {
  graph_options o = {.action = ACTION_COUNT};
  bool help = false;
  int result = parse(argc, argv, &o, &help);
  result = result == CLI_OK && !help ? cli_check_properties(&cli_graph) : result;
  if (result == CLI_OK) {
    result = help ? cli_help(&cli_graph) : o.action == ACTION_PASSES ? list_passes(&o) : look_at_model(&o);
  }
  run_free_options(&o.run);
  return result;
}

const cli_command cli_graph = {
    .name = "graph",
    .summary = "list the passes, show a model's graph, tell what the passes change",
    .help =
        "usage: nd4c graph passes [--json]\n"
        "       nd4c graph show MODEL [OPTIONS]\n"
        "       nd4c graph explain MODEL [OPTIONS]\n\n"
        "passes lists the passes that optimise graphs, by phase. show writes the graph of a model. explain runs the "
        "passes\n"
        "on it, and tells for each run the nodes before and after it, and which nodes it removed (-), changed (~) and\n"
        "added (+); at the end it estimates the work before and after all passes.\n\n"
        "  --shape NAME=2,3       shape of an input; without it what the model leaves free is 1\n"
        "  --passes LIST          -gelu,-layout: all passes but these; gelu,layout: only these\n"
        "  --optimized            show: the graph after the passes, with the ops that they merged\n"
        "  --format FORMAT        show: text (a line for each node), dot (for Graphviz) or svg (a picture)\n"
        "  --all                  explain: all nodes, not the first 12 of each run\n"
        "  -o, --output FILE      write there instead of to stdout\n"
        "  --json                 passes: an array of objects\n"
        "  -D PROPERTY=VALUE      set a property first (nd4c config lists them)\n\n"
        "examples:\n"
        "  nd4c graph passes\n"
        "  nd4c graph explain model.onnx --shape image=8,3,224,224\n"
        "  nd4c graph show model.onnx --optimized --format svg -o model.svg\n",
    .run = run,
};
