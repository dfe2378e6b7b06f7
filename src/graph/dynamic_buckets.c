/* Buckets of a plan with dims: sizes that round up to the same numbers share one binding, whose arena is laid out for
 * these numbers. dynamic_bindings.c asks which bucket a run's sizes are in; plan.c reads what the program asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config/config.h"
#include "base/status.h"
#include "graph/dynamic.h"

enum { LEAST = 2, DIGITS = 18, TEXT = 1024, SHOWN = 200 };

/* -- what was asked for ---------------------------------------------------------------------------------------------
 */

/* A text with policies, and where it is from. */
typedef struct request {
  const char *function, *from;
  nd4c_status refused; /* the status for what cannot be read */
  bool all_names;      /* a name that is no dim is refused */
} request;

/* False: the text is no policy. */
static bool read_policy(const char *text, int64_t *policy) {
  const size_t length = strlen(text);
  if (strcmp(text, "none") == 0 || strcmp(text, "powers") == 0) {
    *policy = text[0] == 'n' ? 0 : ND4C_BUCKETS_POWERS;
    return true;
  }
  if (length == 0 || length > DIGITS || strspn(text, "0123456789") != length) {
    return false;
  }
  *policy = strtoll(text, NULL, 10);
  return *policy >= LEAST;
}

/* "time=64" for one dim, "64" for all. */
static nd4c_status read_entry(const request *r, const nd4c_graph *graph, char *entry, int64_t *buckets) {
  char *equals = strrchr(entry, '=');
  int64_t policy = 0;
  if (!read_policy(equals == NULL ? entry : equals + 1, &policy)) {
    return nd4c_fail(r->refused,
                     "%s: %s has '%.*s', expected none, powers or a number from %d, or a dim and =", r->function,
                     r->from, SHOWN, entry, (int)LEAST);
  }
  const int32_t count = nd4c_graph_dim_count(graph);
  for (int32_t i = 0; equals == NULL && i < count; i++) {
    buckets[i] = policy;
  }
  if (equals == NULL) {
    return ND4C_OK;
  }
  *equals = '\0';
  const int32_t dim = count > 0 ? nd4c_extents_find_dim(graph->extents, entry) : -1;
  if (dim < 0 && r->all_names) {
    return nd4c_fail(ND4C_NAME, "%s: %s: '%.*s' is no dim of the graph", r->function, r->from, SHOWN, entry);
  }
  if (dim >= 0) {
    buckets[dim] = policy;
  }
  return ND4C_OK;
}

static nd4c_status read_text(const request *r, const nd4c_graph *graph, char *text, int64_t *buckets) {
  for (char *entry = text, *next = NULL; entry != NULL; entry = next) {
    next = strchr(entry, ',');
    if (next != NULL) {
      *next++ = '\0';
    }
    ND4C_TRY(read_entry(r, graph, entry, buckets));
  }
  return ND4C_OK;
}

nd4c_status nd4c_buckets_read(const char *function, const nd4c_graph *graph, const nd4c_plan_options *options,
                              nd4c_plan *plan) {
  const bool given =
      options != NULL && ND4C_HAS_FIELD(options, buckets) && options->buckets != NULL && options->buckets[0] != '\0';
  const request r = {.function = function,
                     .from = given ? "options.buckets" : "nd4c.plan.buckets",
                     .refused = given ? ND4C_ARGUMENT : ND4C_CONFIG,
                     .all_names = given};
  char text[TEXT];
  const size_t size = given ? (size_t)snprintf(text, sizeof text, "%s", options->buckets)
                            : nd4c_config_string(ND4C_CONFIG_PLAN_BUCKETS, text, sizeof text);
  if (size >= sizeof text) {
    return nd4c_fail(r.refused, "%s: %s has %zu characters, expected at most %d", function, r.from, size, TEXT - 1);
  }
  const int32_t count = nd4c_graph_dim_count(graph);
  int64_t *buckets = NULL;
  ND4C_TRY(nd4c_region_make(&plan->region, count, sizeof *buckets, &buckets));
  ND4C_TRY(size > 0 ? read_text(&r, graph, text, buckets) : ND4C_OK);
  for (int32_t i = 0; i < count; i++) {
    plan->buckets = buckets[i] != 0 ? buckets : plan->buckets;
  }
  return ND4C_OK;
}

/* -- numbers --------------------------------------------------------------------------------------------------------
 */

/* 0 and 1 are by themselves: such extents make other views, so they could not share a layout. */
static int64_t round_up(int64_t number, int64_t policy) {
  if (number <= 1 || policy == 0) {
    return number;
  }
  if (policy != ND4C_BUCKETS_POWERS) {
    const int64_t rest = number % policy;
    return rest == 0 || number > INT64_MAX - policy ? number : number - rest + policy;
  }
  int64_t power = 1;
  while (power < number && power <= INT64_MAX / 2) {
    power *= 2;
  }
  return power < number ? number : power;
}

void nd4c_buckets_top(const nd4c_plan *plan, const int64_t *dims, int64_t *top) {
  for (int32_t i = 0; i < plan->dynamic->dim_count; i++) {
    int64_t low = 0, high = 0;
    nd4c_extents_dim_bounds(plan->graph->extents, i, &low, &high);
    top[i] = round_up(dims[i], plan->buckets[i]);
    top[i] = high >= 0 && top[i] > high && dims[i] <= high ? high : top[i];
  }
}

/* -- the report -----------------------------------------------------------------------------------------------------
 */

static void print_policies(const nd4c_plan *plan, nd4c_text *text) {
  bool first = true;
  for (int32_t i = 0; i < plan->dynamic->dim_count; i++) {
    const char *name = nd4c_extents_dim_name(plan->graph->extents, i);
    if (plan->buckets[i] == ND4C_BUCKETS_POWERS) {
      nd4c_text_print(text, "%s'%.*s' up to powers of two", first ? "" : ", ", SHOWN, name);
    } else if (plan->buckets[i] != 0) {
      nd4c_text_print(text, "%s'%.*s' up to multiples of %lld", first ? "" : ", ", SHOWN, name,
                      (long long)plan->buckets[i]);
    }
    first = first && plan->buckets[i] == 0;
  }
}

/* Under the plan's lock. */
void nd4c_buckets_print(const nd4c_plan *plan, nd4c_text *text) {
  const nd4c_plan_bindings *counts = &plan->dynamic->counts;
  if (plan->buckets == NULL) {
    return;
  }
  nd4c_text_print(text, "buckets: ");
  print_policies(plan, text);
  if (plan->dynamic->common == NULL) {
    nd4c_text_print(text, "; not used, since bindings of this plan share nothing\n");
    return;
  }
  nd4c_text_print(text, "; bindings got other extents %lld times\n", (long long)counts->patched);
  if (counts->patched > 0) {
    nd4c_dynamic_print_time(counts->patched, counts->patch_nanoseconds, counts->patch_prepare_nanoseconds,
                            counts->patch_prepared, text);
  }
}
