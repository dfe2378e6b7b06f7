/* The most recent plans of a model: for each device and settings one of the graph with dims (model_dims.c), and one for
 * each combination of input shapes for which that graph does not serve. model_run.c looks a plan up for each run;
 * model_compile.c imports graphs with it. Plans that several threads run at once serve all of them; a thread that needs
 * a new plan does not keep others from running those that exist. */
#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/config/config.h"
#include "base/status.h"
#include "device/context/context.h"
#include "device/context/routing.h"
#include "graph/plan.h"
#include "graph/precision.h"
#include "import/model_internal.h"

void nd4c_model_plan_drop(nd4c_model_plan *plan) {
  nd4c_plan_destroy(plan->plan);
  nd4c_model_split_drop(plan->parts);
  nd4c_onnx_loops_free(&plan->loops);
  nd4c_deallocate(plan->need);
  nd4c_deallocate(plan->alone);
  nd4c_deallocate(plan);
}

void nd4c_model_settings(const nd4c_context *context, int64_t settings[ND4C_MODEL_SETTINGS]) {
  settings[0] = context->width;
  settings[1] = context->deterministic;
  settings[2] = context->strict;
  settings[3] = context->transfer;
}

/* Whether a plan was made for a context like this one. */
static bool context_fits(const nd4c_model_plan *plan, const nd4c_context *context) {
  const nd4c_model_key *key = &plan->key;
  int64_t settings[ND4C_MODEL_SETTINGS];
  nd4c_model_settings(context, settings);
  return key->device == context->device && key->epoch == atomic_load(&nd4c_config_epoch) &&
         memcmp(key->numbers, settings, sizeof settings) == 0;
}

/* Whether a plan without dims was made for these shapes. */
static bool shapes_fit(const nd4c_model_plan *plan, int32_t count, const nd4c_array *const *inputs) {
  const nd4c_model_key *key = &plan->key;
  const int64_t *numbers = key->numbers + ND4C_MODEL_SETTINGS;
  for (int32_t i = 0; i < count; i++) {
    int32_t rank = nd4c_array_rank(inputs[i]);
    if (*numbers++ != rank) {
      return false;
    }
    for (int32_t j = 0; j < rank; j++) {
      if (*numbers++ != nd4c_array_shape(inputs[i])[j]) {
        return false;
      }
    }
  }
  return true;
}

nd4c_plan_options nd4c_model_plan_options(const nd4c_model *model) {
  return (nd4c_plan_options){.struct_size = sizeof(nd4c_plan_options),
                             .no_optimization = model->no_optimization || model->all_intermediates,
                             .compile = model->compile,
                             .passes = model->passes,
                             .precision = model->precision,
                             .calibration = model->calibration};
}

/* Makes a plan of the rounds of a loop. Dims are extents that each round changes, mostly by little. */
static nd4c_status make_rounds(void *user, nd4c_context *context, const nd4c_graph *body, nd4c_plan **plan) {
  nd4c_model *model = user;
  nd4c_plan_options options = nd4c_model_plan_options(model);
  options.buckets = nd4c_graph_dim_count(body) > 0 ? "powers" : NULL;
  ND4C_TRY(nd4c_plan_create_told(body, context, &options, &model->telling, plan));
  const nd4c_status status = nd4c_plan_move(*plan, NULL);
  if (status != ND4C_OK) {
    nd4c_plan_destroy(*plan);
    *plan = NULL;
  }
  return status;
}

/* A plan's entry with its key filled in; count 0 for a plan with dims. */
static nd4c_status make_entry(nd4c_model *model, const nd4c_context *context, int32_t count,
                              const nd4c_array *const *inputs, nd4c_model_plan **entry) {
  size_t numbers = ND4C_MODEL_SETTINGS;
  for (int32_t i = 0; i < count; i++) {
    numbers += 1 + (size_t)nd4c_array_rank(inputs[i]);
  }
  size_t bytes = sizeof(nd4c_model_plan) + numbers * sizeof(int64_t);
  nd4c_model_plan *made = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, bytes, "a plan", &made));
  int64_t *number = (int64_t *)(made + 1);
  made->key = (nd4c_model_key){context->device, atomic_load(&nd4c_config_epoch), number};
  nd4c_model_settings(context, number);
  nd4c_onnx_loops_init(&made->loops, make_rounds, model);
  number += ND4C_MODEL_SETTINGS;
  for (int32_t i = 0; i < count; i++) {
    int32_t rank = nd4c_array_rank(inputs[i]);
    *number++ = rank;
    for (int32_t j = 0; j < rank; j++) {
      *number++ = nd4c_array_shape(inputs[i])[j];
    }
  }
  *entry = made;
  return ND4C_OK;
}

nd4c_onnx_import_options nd4c_model_import_options(nd4c_model *model, nd4c_context *context) {
  return (nd4c_onnx_import_options){.context = context,
                                    .initializers = model->initializers,
                                    .dense = &model->dense,
                                    .contradictions = model->contradictions,
                                    .loop_limit = model->loop_limit,
                                    .all_intermediates = model->all_intermediates,
                                    .progress = nd4c_model_progress,
                                    .user = model};
}

/* The context on which the import computes constants. With a file of executables it is the host, as when the file was
 * compiled, so that the constants are equal. */
static nd4c_status find_import_context(const nd4c_model *model, nd4c_context *context, nd4c_context **found) {
  nd4c_device *host = NULL;
  *found = context;
  if (model->compiled == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_device_host(&host));
  return context->device == host ? ND4C_OK : nd4c_routing_context(context, host, found);
}

nd4c_status nd4c_model_import(nd4c_model *model, nd4c_context *context, const int32_t *ranks,
                              const int64_t *const *shapes, nd4c_graph **graph, char **need) {
  nd4c_context *where = NULL;
  ND4C_TRY(find_import_context(model, context, &where));
  nd4c_onnx_import_options options = nd4c_model_import_options(model, where);
  options.input_ranks = ranks;
  options.input_shapes = shapes;
  return nd4c_onnx_import(&model->onnx, &options, graph, need);
}

/* The shapes of a run's inputs; to be freed also after a failure. */
static nd4c_status take_shapes(const nd4c_model *model, const nd4c_array *const *inputs, nd4c_model_shapes *shapes) {
  const size_t count = (size_t)model->input_count;
  shapes->ranks = nd4c_allocate(count * sizeof *shapes->ranks);
  shapes->shapes = nd4c_allocate(count * sizeof *shapes->shapes);
  if (shapes->ranks == NULL || shapes->shapes == NULL) {
    return nd4c_fail_memory("the shapes of the inputs", count * (sizeof *shapes->ranks + sizeof *shapes->shapes));
  }
  for (size_t i = 0; i < count; i++) {
    shapes->ranks[i] = nd4c_array_rank(inputs[i]);
    shapes->shapes[i] = nd4c_array_shape(inputs[i]);
  }
  return ND4C_OK;
}

static nd4c_status import_shapes(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                                 nd4c_graph **graph, char **need) {
  nd4c_model_shapes shapes = {NULL, NULL};
  nd4c_status status = take_shapes(model, inputs, &shapes);
  status = status == ND4C_OK ? nd4c_model_import(model, context, shapes.ranks, shapes.shapes, graph, need) : status;
  nd4c_model_shapes_free(&shapes);
  return status;
}

/* The parts of a model that no graph can express. A placement and a file of executables are for whole graphs. A model
 * that cannot be split is interpreted as a whole: a split reads more of it than a run, branches that are never taken
 * for example. Where a graph with dims serves other shapes, the parts are for these alone. */
static nd4c_status make_parts(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                              nd4c_model_plan *made) {
  nd4c_model_shapes shapes = {NULL, NULL};
  if (model->placement != NULL || model->compiled != NULL) {
    return ND4C_OK;
  }
  nd4c_status status = take_shapes(model, inputs, &shapes);
  status =
      status == ND4C_OK ? nd4c_model_split_make(model, context, shapes.ranks, shapes.shapes, &made->parts) : status;
  nd4c_model_shapes_free(&shapes);
  if (status != ND4C_OK && !nd4c_status_passes(status)) {
    nd4c_error_clear();
    status = ND4C_OK;
  }
  const bool others_planned = model->dims.graph != NULL && model->dims.unplanned == NULL;
  made->has_dims = made->parts != NULL && nd4c_model_split_serve_all(made->parts) && !others_planned;
  return status;
}

static nd4c_status check_precision(nd4c_context *context, const nd4c_plan_options *options) {
  nd4c_dtype precision = ND4C_DTYPE_NONE;
  const char *from = NULL;
  ND4C_TRY(nd4c_precision_read(options, &precision, &from));
  return nd4c_precision_check_device(context, precision, from);
}

static nd4c_status refuse_interpreting(const nd4c_model *model, const char *need) {
  return nd4c_fail(ND4C_UNSUPPORTED, "options.precision is %s: the model would be interpreted in its own dtypes: %s",
                   nd4c_dtype_name(model->precision), need);
}

/* The graph with dims bound to the shapes or, where it cannot be, a graph for the shapes alone. */
static nd4c_status make_graph(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                              nd4c_graph **graph, nd4c_model_plan *made) {
  ND4C_TRY(made->alone != NULL ? ND4C_OK : nd4c_model_bind(model, context, inputs, graph, &made->alone));
  return *graph != NULL ? ND4C_OK : import_shapes(model, context, inputs, graph, &made->need);
}

/* A model that no graph can express is interpreted, but for its parts: made->need says why, and made->plan stays NULL.
 */
static nd4c_status make_plan(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                             nd4c_model_plan *made) {
  nd4c_graph *graph = NULL;
  nd4c_plan_options options = nd4c_model_plan_options(model);
  options.placement = model->placement;
  options.compiled = model->compiled;
  nd4c_plan **plan = &made->plan;
  ND4C_TRY(check_precision(context, &options)); /* here, since a plan that is not supported is interpreted below */
  nd4c_status status = make_graph(model, context, inputs, &graph, made);
  if (status == ND4C_UNSUPPORTED && made->need != NULL) {
    return model->precision == ND4C_DTYPE_NONE || !context->strict ? make_parts(model, context, inputs, made)
                                                                   : refuse_interpreting(model, made->need);
  }
  ND4C_TRY(status);
  status = nd4c_plan_create_told(graph, context, &options, &model->telling, plan);
  if (status == ND4C_OK) {
    status = nd4c_plan_move(*plan, NULL);
    if (status != ND4C_OK) {
      nd4c_plan_destroy(*plan);
      *plan = NULL;
    }
  }
  nd4c_graph_destroy(graph);
  /* Interpreting would place nothing, and compute in the model's dtypes. */
  const bool refused = (model->placement != NULL || model->precision != ND4C_DTYPE_NONE) && context->strict;
  if (status == ND4C_UNSUPPORTED && !refused) { /* strings, for example, which plans do not support */
    made->need = nd4c_duplicate_text(nd4c_error_message());
    return made->need != NULL ? make_parts(model, context, inputs, made) : nd4c_fail_memory("a report", 1);
  }
  return status;
}

/* A plan of the graph with dims; made->plan stays NULL if there is none, or an earlier attempt was refused. Kernels are
 * chosen by the runs. */
static nd4c_status make_plan_with_dims(nd4c_model *model, nd4c_context *context, nd4c_model_plan *made) {
  const nd4c_graph *graph = NULL;
  const nd4c_plan_options options = nd4c_model_plan_options(model);
  ND4C_TRY(model->placement != NULL ? ND4C_OK : nd4c_model_dims_graph(model, context, &graph));
  if (graph == NULL || model->dims.unplanned != NULL) {
    return ND4C_OK;
  }
  nd4c_status status = nd4c_plan_create_told(graph, context, &options, &model->telling, &made->plan);
  if (status == ND4C_OK) {
    return nd4c_plan_move(made->plan, NULL);
  }
  return status == ND4C_UNSUPPORTED ? nd4c_model_dims_unplanned(model) : status;
}

/* Keeps the most recently used plans, as many as configured; returns the others, without those that a thread uses, as
 * a list. Under the list's lock. */
static nd4c_model_plan *trim_plans(nd4c_model *model, int64_t most) {
  nd4c_model_plan *last = model->plans, *unused = NULL;
  for (int64_t i = 1; i < most && last != NULL; i++) {
    last = last->next;
  }
  while (last != NULL && last->next != NULL) {
    nd4c_model_plan *dropped = last->next;
    last->next = dropped->next;
    dropped->dropped = true;
    if (dropped->users == 0) {
      dropped->next = unused;
      unused = dropped;
    }
  }
  return unused;
}

/* Puts a plan in front, with one user. */
static void insert_plan(nd4c_model *model, nd4c_model_plan *made) {
  const int64_t most = nd4c_config_int(ND4C_CONFIG_PLAN_CACHE);
  nd4c_lock_acquire(&model->turn->list);
  made->users = 1;
  made->next = model->plans;
  model->plans = made;
  nd4c_model_plan *unused = trim_plans(model, most);
  nd4c_lock_release(&model->turn->list);
  while (unused != NULL) {
    nd4c_model_plan *next = unused->next;
    nd4c_model_plan_drop(unused);
    unused = next;
  }
}

/* Where the link to the plan is: the one for these shapes, else the one with dims if it may be that. Allocates nothing,
 * since every run calls it. */
static nd4c_model_plan **find_link(nd4c_model *model, const nd4c_context *context, const nd4c_array *const *inputs,
                                   bool with_dims) {
  nd4c_model_plan **general = NULL, **link = &model->plans;
  for (; *link != NULL; link = &(*link)->next) {
    const bool fits = context_fits(*link, context);
    if (fits && !(*link)->has_dims && shapes_fit(*link, model->input_count, inputs)) {
      return link;
    }
    general = fits && (*link)->has_dims ? link : general;
  }
  return with_dims && general != NULL ? general : link;
}

/* NULL: there is none. The plan moves to the front of the list. */
static nd4c_model_plan *look_up(nd4c_model *model, const nd4c_context *context, const nd4c_array *const *inputs,
                                bool with_dims) {
  nd4c_lock_acquire(&model->turn->list);
  nd4c_model_plan **link = find_link(model, context, inputs, with_dims);
  nd4c_model_plan *found = *link;
  if (found != NULL) {
    *link = found->next;
    found->next = model->plans;
    model->plans = found;
    found->users++;
  }
  nd4c_lock_release(&model->turn->list);
  return found;
}

static nd4c_status add_plan_with_dims(nd4c_model *model, nd4c_context *context, nd4c_model_plan **found) {
  nd4c_model_plan *made = NULL;
  ND4C_TRY(make_entry(model, context, 0, NULL, &made));
  made->has_dims = true;
  nd4c_status status = make_plan_with_dims(model, context, made);
  if (status != ND4C_OK || made->plan == NULL) {
    nd4c_model_plan_drop(made);
    return status;
  }
  insert_plan(model, made);
  *found = made;
  return ND4C_OK;
}

/* `alone`: why the plan with dims does not serve, which the plan keeps for the report; NULL: it may. */
static nd4c_status add_plan_for_shapes(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                                       const char *alone, nd4c_model_plan **found) {
  nd4c_model_plan *made = NULL;
  ND4C_TRY(make_entry(model, context, model->input_count, inputs, &made));
  nd4c_status status = alone != NULL ? nd4c_model_tell_alone(alone, &made->alone) : ND4C_OK;
  status = status == ND4C_OK ? make_plan(model, context, inputs, made) : status;
  if (status != ND4C_OK) {
    nd4c_model_plan_drop(made);
    return status;
  }
  insert_plan(model, made);
  *found = made;
  return ND4C_OK;
}

/* By the thread that has the turn. Another thread may have made the plan while this one waited. */
static nd4c_status add_plan(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                            const char *alone, nd4c_model_plan **found) {
  *found = look_up(model, context, inputs, alone == NULL);
  if (*found == NULL && alone == NULL) {
    ND4C_TRY(add_plan_with_dims(model, context, found));
  }
  return *found != NULL ? ND4C_OK : add_plan_for_shapes(model, context, inputs, alone, found);
}

static nd4c_status find_plan(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                             const char *alone, nd4c_model_plan **found) {
  *found = look_up(model, context, inputs, alone == NULL);
  if (*found != NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_model_turn_take(model->turn, "nd4c_model_run"));
  nd4c_status status = add_plan(model, context, inputs, alone, found);
  nd4c_model_turn_give(model->turn);
  return status;
}

nd4c_status nd4c_model_find_plan(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                                 nd4c_model_plan **found) {
  return find_plan(model, context, inputs, NULL, found);
}

nd4c_status nd4c_model_find_alone(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                                  nd4c_model_plan **found) {
  char *why = nd4c_duplicate_text(nd4c_error_message());
  if (why == NULL) {
    return nd4c_fail_memory("a report", 1);
  }
  nd4c_status status = find_plan(model, context, inputs, why, found);
  nd4c_deallocate(why);
  return status;
}

nd4c_status nd4c_model_find_interpreted(nd4c_model *model, nd4c_context *context, nd4c_model_plan **found) {
  *found = look_up(model, context, NULL, true);
  if (*found != NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_model_turn_take(model->turn, "nd4c_model_run_data"));
  nd4c_status status = ND4C_OK;
  *found = look_up(model, context, NULL, true); /* another thread may have made it */
  if (*found == NULL) {
    status = make_entry(model, context, 0, NULL, found);
    if (status == ND4C_OK) {
      (*found)->has_dims = true; /* it serves all shapes */
      insert_plan(model, *found);
    }
  }
  nd4c_model_turn_give(model->turn);
  return status;
}

void nd4c_model_plan_leave(const nd4c_model *model, nd4c_model_plan *plan) {
  nd4c_lock_acquire(&model->turn->list);
  const bool last = --plan->users == 0 && plan->dropped;
  nd4c_lock_release(&model->turn->list);
  if (last) {
    nd4c_model_plan_drop(plan);
  }
}
