/* nd4c graph: lists the passes, shows a model's graph before or after them, and says what each pass changes. main.c
 * calls cli_graph. */
#include "graph.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "watch.h"

typedef enum graph_action { ACTION_PASSES, ACTION_SHOW, ACTION_EXPLAIN, ACTION_COUNT } graph_action;
static const char *const actions[ACTION_COUNT] = {"passes", "show", "explain"};

typedef enum graph_format { FORMAT_TEXT, FORMAT_DOT, FORMAT_SVG, FORMAT_COUNT } graph_format;
static const char *const formats[FORMAT_COUNT] = {"text", "dot", "svg"};

enum { LINES = 12 /* of a run of a pass, without --all */, DEPTH = 2, DIMS = 64, PARTS = 64 };

/* What is shown of a model: its graph, or those of its parts. */
typedef struct graph_view {
  nd4c_graph *graphs[PARTS];
  int32_t count;
  char *parts; /* what runs between the parts; NULL: the model is one graph */
} graph_view;

typedef struct graph_options {
  run_options run; /* model, output, shapes, json, plain */
  graph_action action;
  graph_format format;
  const char *passes;
  graph_selection selection;
  run_named dims[DIMS]; /* of --dim */
  int dim_count;
  int32_t part; /* of --part; 0: all */
  bool optimized, all, kernels;
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

static int fail_picture(const graph_options *o) {
  return cli_fail(&cli_graph, "no memory, or the picture is too large: %s",
                  o->action == ACTION_SHOW ? "--around NODE shows a part, --format dot has no limit"
                                           : "without --format svg the changes are told as text, which has no limit");
}

static int write_picture(const graph_options *o, FILE *file, const nd4c_graph *graph, const bool *shown) {
  graph_picture picture;
  bool made = graph_picture_make(graph, shown, &picture);
  if (made && o->format == FORMAT_DOT) {
    graph_write_dot(file, &picture);
  } else if (made) {
    made = graph_write_svg(file, &picture, NULL, 1);
  }
  graph_picture_free(&picture);
  return made ? CLI_OK : fail_picture(o);
}

static int write_graph(const graph_options *o, FILE *file, const nd4c_graph *graph) {
  bool *shown = NULL;
  int result = graph_select(graph, &o->selection, &shown);
  if (result == CLI_OK && o->format == FORMAT_TEXT) {
    graph_write_text(file, graph, shown);
  } else if (result == CLI_OK) {
    result = write_picture(o, file, graph, shown);
  }
  free(shown);
  return result;
}

static nd4c_plan_options plan_options(const graph_options *o) {
  return (nd4c_plan_options){.struct_size = sizeof(nd4c_plan_options), .passes = o->passes};
}

/* The graph before and after the passes, side by side. */
static int write_pair(const graph_options *o, FILE *file, const nd4c_graph *graph) {
  static const char *const names[] = {"before", "after"};
  const nd4c_plan_options options = plan_options(o);
  graph_picture pictures[2] = {{.graph = NULL}};
  char titles[2][160];
  nd4c_graph *optimized = NULL;
  const nd4c_status status = nd4c_graph_optimize(graph, NULL, &options, &optimized);
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_graph, status);
  }
  const nd4c_graph *graphs[2] = {graph, optimized};
  bool made = true;
  for (int i = 0; made && i < 2; i++) {
    double operations = 0, bytes = 0;
    char cost[96];
    made = graph_picture_make(graphs[i], NULL, &pictures[i]);
    graph_sum_costs(graphs[i], &operations, &bytes);
    (void)snprintf(titles[i], sizeof titles[i], "%s the passes: %d nodes, estimated %s", names[i],
                   (int)nd4c_graph_node_count(graphs[i]), graph_cost_text(operations, bytes, cost, sizeof cost));
  }
  made = made && graph_write_svg(file, pictures, (const char *const[]){titles[0], titles[1]}, 2);
  graph_picture_free(&pictures[0]);
  graph_picture_free(&pictures[1]);
  nd4c_graph_destroy(optimized);
  return made ? CLI_OK : fail_picture(o);
}

/* Why each kernel was chosen. */
static int write_kernels(const graph_options *o, FILE *file, const nd4c_graph *graph) {
  const nd4c_plan_options options = plan_options(o);
  nd4c_plan *plan = NULL;
  char *text = NULL;
  nd4c_status status = nd4c_plan_create(graph, NULL, &options, &plan);
  status = status == ND4C_OK ? nd4c_plan_explain(plan, &text) : status;
  nd4c_plan_destroy(plan);
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_graph, status);
  }
  cli_print_text(file, text);
  nd4c_free(text);
  return CLI_OK;
}

static int write_explanation(const graph_options *o, FILE *file, const nd4c_graph *graph) {
  const nd4c_plan_options options = plan_options(o);
  char *text = NULL;
  if (o->format == FORMAT_SVG) {
    return write_pair(o, file, graph);
  }
  if (o->kernels && nd4c_graph_dim_count(graph) > 0) {
    return cli_usage(&cli_graph, "--kernels: kernels are chosen for numbers: give --dim %s=...",
                     nd4c_graph_dim_name(graph, 0));
  }
  const nd4c_status status = nd4c_graph_explain(graph, NULL, &options, o->all ? -1 : LINES, &text);
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_graph, status);
  }
  cli_print_text(file, text);
  nd4c_free(text);
  return o->kernels ? write_kernels(o, file, graph) : CLI_OK;
}

static int write_optimized(const graph_options *o, FILE *file, const nd4c_graph *graph) {
  const nd4c_plan_options options = plan_options(o);
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

/* All parts one after the other, or the one that --part names. */
static int write_parts(const graph_options *o, FILE *file, const graph_view *view) {
  int result = CLI_OK;
  if (o->format == FORMAT_TEXT && o->part == 0) {
    cli_print_text(file, view->parts);
  }
  for (int32_t i = 0; i < view->count && result == CLI_OK; i++) {
    if (o->part != 0 && o->part != i + 1) {
      continue;
    }
    if (o->format == FORMAT_TEXT) {
      (void)fprintf(file, "%spart %d of %d\n", o->part == 0 ? "\n" : "", (int)i + 1, (int)view->count);
    }
    result = write_any(o, file, view->graphs[i]);
  }
  return result;
}

static int write_view(const graph_options *o, FILE *file, const graph_view *view) {
  return view->parts == NULL ? write_any(o, file, view->graphs[0]) : write_parts(o, file, view);
}

/* A picture shows one graph. */
static int check_part(const graph_options *o, const graph_view *view) {
  if (view->parts == NULL) {
    return o->part <= 1 ? CLI_OK : cli_usage(&cli_graph, "--part %d: the model is one graph", (int)o->part);
  }
  if (o->part > view->count) {
    return cli_usage(&cli_graph, "--part %d: the model has %d", (int)o->part, (int)view->count);
  }
  if (o->format != FORMAT_TEXT && o->part == 0 && view->count != 1) {
    return cli_usage(&cli_graph, "--format %s: the model has %d parts, --part NUMBER was expected", formats[o->format],
                     (int)view->count);
  }
  return CLI_OK;
}

static int write_file(const char *path, const char *text, size_t size) {
  FILE *file = fopen(path, "w");
  if (file == NULL) {
    return cli_fail(&cli_graph, "%s: %s", path, strerror(errno));
  }
  const bool lost = fwrite(text, 1, size, file) != size;
  return fclose(file) != 0 || lost ? cli_fail(&cli_graph, "%s: not all could be written: %s", path, strerror(errno))
                                   : CLI_OK;
}

/* The file is opened when all of its text is there: what fails before leaves the file as it was. */
static int write_output(const graph_options *o, const graph_view *view) {
  if (o->run.output == NULL) {
    const int result = write_view(o, stdout, view);
    return result == CLI_OK ? cli_finish(&cli_graph) : result;
  }
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  int result = memory != NULL ? write_view(o, memory, view) : CLI_OK;
  const bool lost = memory == NULL || ferror(memory) != 0;
  if (((memory != NULL && fclose(memory) != 0) || lost) && result == CLI_OK) {
    result = cli_fail(&cli_graph, "no memory for the text of %s", o->run.output);
  }
  result = result == CLI_OK ? write_file(o->run.output, text, size) : result;
  free(text);
  return result;
}

/* The parts of a model that is no graph, for the shapes that are given or declared. */
static int read_parts(const graph_options *o, nd4c_model *model, const run_shapes *shapes, graph_view *view) {
  const bool given = o->run.shape_count > 0;
  const nd4c_status status = nd4c_model_parts(model, NULL, given ? shapes->ranks : NULL, given ? shapes->shapes : NULL,
                                              view->graphs, PARTS, &view->count, &view->parts);
  view->count = view->count < PARTS ? view->count : PARTS;
  return status == ND4C_OK ? CLI_OK : cli_fail_status(&cli_graph, status);
}

/* The graph for the shapes that are given, with 1 for what is free. */
static int read_with_shapes(const graph_options *o, nd4c_model *model, cli_watch *shown, graph_view *view) {
  run_shapes shapes;
  cli_watch_end(shown); /* notes are printed */
  if (o->run.shape_count == 0) {
    cli_note("%s", nd4c_error_message());
  }
  int result = run_find_shapes(&cli_graph, &o->run, model, &shapes);
  cli_watch_begin(shown);
  if (result == CLI_OK) {
    const nd4c_status status = nd4c_model_graph(model, NULL, shapes.ranks, shapes.shapes, &view->graphs[0]);
    view->count = status == ND4C_OK;
    result = status == ND4C_OK            ? CLI_OK
             : status == ND4C_UNSUPPORTED ? read_parts(o, model, &shapes, view)
                                          : cli_fail_status(&cli_graph, status);
  }
  run_free_shapes(&shapes);
  return result;
}

/* Fixes the dims of --dim. */
static int bind_dims(const graph_options *o, nd4c_graph **graph) {
  const char *names[DIMS];
  int64_t extents[DIMS];
  nd4c_graph *bound = NULL;
  for (int i = 0; i < o->dim_count; i++) {
    names[i] = o->dims[i].name;
    if (!cli_read_integer(o->dims[i].text, 0, INT64_MAX, &extents[i])) {
      return cli_usage(&cli_graph, "--dim %s=%s: a number from 0 on was expected", o->dims[i].name, o->dims[i].text);
    }
  }
  const nd4c_status status = o->dim_count > 0 ? nd4c_graph_bind(*graph, names, extents, o->dim_count, &bound) : ND4C_OK;
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_graph, status);
  }
  if (bound != NULL) {
    nd4c_graph_destroy(*graph);
    *graph = bound;
  }
  return CLI_OK;
}

/* Without --shape, what the model leaves free becomes dims, if that is possible. */
static int read_graph(const graph_options *o, nd4c_model *model, cli_watch *shown, graph_view *view) {
  const nd4c_status status =
      o->run.shape_count == 0 ? nd4c_model_graph(model, NULL, NULL, NULL, &view->graphs[0]) : ND4C_UNSUPPORTED;
  if (status == ND4C_OK) {
    view->count = 1;
    return bind_dims(o, &view->graphs[0]);
  }
  if (status != ND4C_UNSUPPORTED || o->dim_count > 0) {
    return o->run.shape_count > 0 ? cli_usage(&cli_graph, "--dim and --shape exclude each other")
                                  : cli_fail_status(&cli_graph, status);
  }
  return read_with_shapes(o, model, shown, view);
}

/* Tells how far the import has come. */
static int read_watched(const graph_options *o, nd4c_model *model, graph_view *view) {
  cli_watch shown;
  cli_watch_begin(&shown);
  nd4c_model_set_progress(model, cli_watch_tell, &shown);
  const int result = read_graph(o, model, &shown, view);
  nd4c_model_set_progress(model, NULL, NULL);
  cli_watch_end(&shown);
  return result;
}

static int look_at_model(const graph_options *o) {
  nd4c_model *model = NULL;
  graph_view view = {.count = 0};
  const nd4c_status status = nd4c_model_open(o->run.model, NULL, &model);
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_graph, status);
  }
  int result = read_watched(o, model, &view);
  result = result == CLI_OK ? check_part(o, &view) : result;
  result = result == CLI_OK ? write_output(o, &view) : result;
  for (int32_t i = 0; i < view.count; i++) {
    nd4c_graph_destroy(view.graphs[i]);
  }
  nd4c_free(view.parts);
  nd4c_model_close(model);
  return result;
}

/* -- command line -------------------------------------------------------------------------------------------------- */

enum {
  OPT_SHAPE = 256,
  OPT_DIM,
  OPT_PASSES,
  OPT_FORMAT,
  OPT_OPTIMIZED,
  OPT_AROUND,
  OPT_DEPTH,
  OPT_OP,
  OPT_PART,
  OPT_ALL,
  OPT_KERNELS,
  OPT_JSON
};

/* Which actions take an option, by a bit for each. */
static unsigned actions_of(int option) {
  switch (option) {
    case OPT_JSON:
      return 1U << ACTION_PASSES;
    case OPT_OPTIMIZED:
    case OPT_AROUND:
    case OPT_DEPTH:
    case OPT_OP:
      return 1U << ACTION_SHOW;
    case OPT_ALL:
    case OPT_KERNELS:
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

static int parse_format(graph_options *o, const char *text) {
  o->format = (graph_format)find_word(formats, FORMAT_COUNT, text);
  const bool shown = o->format < FORMAT_COUNT && (o->action == ACTION_SHOW || o->format != FORMAT_DOT);
  return shown ? CLI_OK
               : cli_usage(&cli_graph, "--format %s: %s was expected", text,
                           o->action == ACTION_SHOW ? "text, dot or svg" : "text or svg");
}

static int parse_part(graph_options *o, const char *text) {
  int64_t part = 0;
  if (!cli_read_integer(text, 1, PARTS, &part)) {
    return cli_usage(&cli_graph, "--part %s: a number from 1 to %d was expected", text, PARTS);
  }
  o->part = (int32_t)part;
  return CLI_OK;
}

static int parse_depth(graph_options *o, const char *text) {
  int64_t depth = 0;
  if (!cli_read_integer(text, 0, 1000, &depth)) {
    return cli_usage(&cli_graph, "--depth %s: a number from 0 to 1000 was expected", text);
  }
  o->selection.depth = (int32_t)depth;
  return CLI_OK;
}

/* Names of nodes with bodies, which are no ops. */
static bool is_control(const char *name) {
  static const char *const names[] = {"if", "loop", "scan", "call"};
  enum { COUNT = sizeof names / sizeof *names };
  return find_word(names, COUNT, name) < COUNT;
}

static int apply_option(graph_options *o, int option, char *argument) {
  switch (option) {
    case OPT_SHAPE:
      return run_add_named(&cli_graph, o->run.shapes, &o->run.shape_count, argument, "--shape");
    case OPT_PASSES:
      o->passes = argument;
      return CLI_OK;
    case OPT_DIM:
      return o->dim_count < DIMS ? run_add_named(&cli_graph, o->dims, &o->dim_count, argument, "--dim")
                                 : cli_usage(&cli_graph, "--dim: more than %d", DIMS);
    case OPT_FORMAT:
      return parse_format(o, argument);
    case OPT_AROUND:
      o->selection.around = argument;
      return argument[0] != '\0' ? CLI_OK
                                 : cli_usage(&cli_graph, "--around: a label, a part of one, or %%5 was expected");
    case OPT_DEPTH:
      return parse_depth(o, argument);
    case OPT_PART:
      return parse_part(o, argument);
    case OPT_OP:
      o->selection.op = argument;
      return nd4c_op_find(argument, &(const nd4c_op_info *){NULL}) == ND4C_OK || is_control(argument)
                 ? CLI_OK
                 : cli_fail_status(&cli_graph, nd4c_error_code());
    case OPT_KERNELS:
      o->kernels = true;
      return CLI_OK;
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

/* Refuses options that would have no effect beside the others. */
static int settle_options(graph_options *o) {
  if (o->action == ACTION_EXPLAIN && o->format == FORMAT_SVG && (o->kernels || o->all)) {
    return cli_usage(&cli_graph, "%s: a picture (--format svg) does not tell that", o->kernels ? "--kernels" : "--all");
  }
  if (o->selection.depth >= 0 && o->selection.around == NULL) {
    return cli_usage(&cli_graph, "--depth: of which node? --around NODE was expected");
  }
  if (o->action == ACTION_SHOW && o->passes != NULL && !o->optimized) {
    return cli_usage(&cli_graph, "--passes: the graph is shown before them; --optimized was expected");
  }
  o->selection.depth = o->selection.depth >= 0 ? o->selection.depth : DEPTH;
  return CLI_OK;
}

static int parse_options(int argc, char **argv, graph_options *o, bool *help) {
  static const struct option options[] = {{"shape", required_argument, NULL, OPT_SHAPE},
                                          {"dim", required_argument, NULL, OPT_DIM},
                                          {"passes", required_argument, NULL, OPT_PASSES},
                                          {"format", required_argument, NULL, OPT_FORMAT},
                                          {"optimized", no_argument, NULL, OPT_OPTIMIZED},
                                          {"around", required_argument, NULL, OPT_AROUND},
                                          {"depth", required_argument, NULL, OPT_DEPTH},
                                          {"op", required_argument, NULL, OPT_OP},
                                          {"part", required_argument, NULL, OPT_PART},
                                          {"all", no_argument, NULL, OPT_ALL},
                                          {"kernels", no_argument, NULL, OPT_KERNELS},
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
  return settle_options(o);
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
  graph_options o = {.action = ACTION_COUNT, .selection = {.depth = -1}};
  bool help = false;
  int result = parse(argc, argv, &o, &help);
  result = result == CLI_OK && !help ? cli_check_properties(&cli_graph) : result;
  if (result == CLI_OK) {
    result = help ? cli_help(&cli_graph) : o.action == ACTION_PASSES ? list_passes(&o) : look_at_model(&o);
  }
  for (int i = 0; i < o.dim_count; i++) {
    free(o.dims[i].name);
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
        "passes lists the passes that optimise graphs, by phase. show writes the graph of a model, with the bodies of "
        "its\n"
        "loops and branches. A model that is no graph, because shapes depend on data, is shown in parts, with what is\n"
        "interpreted between them and why. explain runs the passes on it, and tells for each run the nodes and the "
        "estimated\n"
        "work before and after it, which nodes it removed (-), changed (~) and added (+), and what it assumed about "
        "dims (?).\n\n"
        "  --dim NAME=NUMBER      a number for an extent that the model leaves free; without it, it stays a name\n"
        "  --shape NAME=2,3       shape of an input; what other inputs leave free is 1\n"
        "  --passes LIST          -gelu,-layout: all passes but these; gelu,layout: only these; of show with "
        "--optimized\n"
        "  --optimized            show: the graph after the passes, with the ops that they merged\n"
        "  --format FORMAT        text (a line for each node), svg (a picture; explain: before and after, side by "
        "side),\n"
        "                         show: also dot (for Graphviz)\n"
        "  --around NODE          show: the nodes near this one alone: a label or a part of it, or %5 for the node "
        "that\n"
        "                         gives value 5\n"
        "  --depth N              of --around: so many nodes away; default 2\n"
        "  --op OP                show: nodes of this op alone. --around and --op look at the outer graph; a node "
        "that\n"
        "                         is shown has its whole bodies\n"
        "  --part NUMBER          of a model in parts: this one alone, from 1\n"
        "  --all                  explain: all nodes, not the first 12 of each run\n"
        "  --kernels              explain: also make a plan, and say for each step why its kernel was chosen; not for\n"
        "                         the steps in bodies\n"
        "  -o, --output FILE      write there instead of to stdout\n"
        "  --json                 passes: an array of objects\n"
        "  -D PROPERTY=VALUE      set a property first (nd4c config lists them)\n\n"
        "examples:\n"
        "  nd4c graph passes\n"
        "  nd4c graph explain model.onnx --dim batch=8 --kernels\n"
        "  nd4c graph show model.onnx --around /layer.3/MatMul --depth 4\n"
        "  nd4c graph show model.onnx --optimized --format svg -o model.svg\n",
    .run = run,
};
