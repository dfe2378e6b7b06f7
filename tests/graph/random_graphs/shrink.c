/* Makes a failing graph smaller: fewer passes, outputs and nodes, simpler elements, as long as it still fails. main.c
 * calls rg_shrink for each failure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/passes.h"
#include "random_graphs.h"

typedef struct shrinking {
  rg_sketch *best;
  rg_failure failure; /* of `best` */
} shrinking;

/* Whether the graph fails with these passes as it did with others before. */
static bool still_fails(const rg_sketch *sketch, const char *passes, const rg_failure *before, rg_failure *failure) {
  int64_t runs = 0;
  const rg_trial_options options = {.passes = passes, .precision = before->precision};
  return !rg_trial(sketch, &options, &runs, failure) && failure->plain == before->plain &&
         failure->precision.dtype == before->precision.dtype;
}

/* Keeps the candidate if it fails in the same way; else frees it. */
static bool keep(shrinking *work, rg_sketch *candidate) {
  rg_failure failure;
  rg_prune(candidate);
  if (rg_recompute(candidate) == ND4C_OK && still_fails(candidate, work->failure.passes, &work->failure, &failure)) {
    rg_sketch_free(work->best);
    work->best = candidate;
    work->failure = failure;
    return true;
  }
  rg_sketch_free(candidate);
  return false;
}

/* The list without its entry at that position; false if there is no such entry, or no other. */
static bool without_entry(const char *list, int32_t position, char *shorter, size_t size) {
  int32_t i = 0;
  bool found = false;
  shorter[0] = '\0';
  for (const char *at = list; *at != '\0'; i++) {
    const size_t length = strcspn(at, ",");
    if (i != position) {
      const size_t end = strlen(shorter);
      (void)snprintf(shorter + end, size - end, "%s%.*s", end > 0 ? "," : "", (int)length, at);
    }
    found = found || i == position;
    at += length + (at[length] == ',');
  }
  return found && shorter[0] != '\0';
}

static void fewer_passes(shrinking *work) {
  if (work->failure.passes[0] == '\0' && !work->failure.plain) { /* all: by name, so that single ones can go */
    char all[RG_LIST] = "";
    for (int32_t i = 0; i < nd4c_passes_count(); i++) {
      const size_t end = strlen(all);
      (void)snprintf(all + end, sizeof all - end, "%s%s", end > 0 ? "," : "", nd4c_passes_at(i)->name);
    }
    rg_failure failure;
    if (!still_fails(work->best, all, &work->failure, &failure)) {
      return;
    }
    work->failure = failure;
  }
  char shorter[RG_LIST];
  for (int32_t i = 0; without_entry(work->failure.passes, i, shorter, sizeof shorter);) {
    rg_failure failure;
    if (still_fails(work->best, shorter, &work->failure, &failure)) {
      work->failure = failure;
    } else {
      i++;
    }
  }
}

static bool fewer_bodies(shrinking *work) {
  bool smaller = false;
  for (int32_t i = 0; i < work->best->body_count;) {
    rg_sketch *candidate = rg_sketch_copy(work->best);
    candidate->body_count--;
    memmove(&candidate->bodies[i], &candidate->bodies[i + 1],
            (size_t)(candidate->body_count - i) * sizeof *candidate->bodies);
    const bool kept = keep(work, candidate);
    smaller = smaller || kept;
    i += !kept;
  }
  return smaller;
}

static bool fewer_outputs(shrinking *work) {
  bool smaller = false;
  for (int32_t i = 0; i < work->best->output_count && work->best->output_count > 1;) {
    rg_sketch *candidate = rg_sketch_copy(work->best);
    candidate->output_count--;
    memmove(&candidate->outputs[i], &candidate->outputs[i + 1],
            (size_t)(candidate->output_count - i) * sizeof *candidate->outputs);
    const bool kept = keep(work, candidate);
    smaller = smaller || kept;
    i += !kept;
  }
  return smaller;
}

/* The outputs of a node become inputs that hold what it computed. */
static bool cut_nodes(shrinking *work) {
  bool smaller = false;
  for (int32_t i = work->best->node_count - 1; i >= 0; i--) {
    if (work->best->nodes[i].removed) {
      continue;
    }
    rg_sketch *candidate = rg_sketch_copy(work->best);
    rg_node *node = &candidate->nodes[i];
    node->removed = true;
    for (int32_t k = 0; k < node->op->output_count; k++) {
      candidate->values[node->outputs[k]].node = RG_NONE;
    }
    smaller = keep(work, candidate) || smaller;
  }
  return smaller;
}

/* Readers of a node's output read an input of the node instead, where dtype and shape are the same. */
static bool skip_nodes(shrinking *work) {
  bool smaller = false;
  for (int32_t i = work->best->node_count - 1; i >= 0; i--) {
    const rg_node *node = &work->best->nodes[i];
    for (int32_t k = 0; k < node->input_count && !node->removed && node->op->output_count == 1; k++) {
      const int32_t from = node->outputs[0], to = node->inputs[k];
      if (to < 0 || rg_dtype(work->best, from) != rg_dtype(work->best, to) || !rg_same_shape(work->best, from, to)) {
        continue;
      }
      rg_sketch *candidate = rg_sketch_copy(work->best);
      for (int32_t n = i + 1; n < candidate->node_count; n++) {
        for (int32_t j = 0; j < candidate->nodes[n].input_count; j++) {
          int32_t *input = &candidate->nodes[n].inputs[j];
          *input = *input == from ? to : *input;
        }
      }
      for (int32_t n = 0; n < candidate->output_count; n++) {
        candidate->outputs[n] = candidate->outputs[n] == from ? to : candidate->outputs[n];
      }
      if (keep(work, candidate)) {
        smaller = true;
        break;
      }
    }
  }
  return smaller;
}

/* All elements of a leaf become one number. */
static bool even_leaves(shrinking *work) {
  static const double numbers[] = {1, 2, 0.3};
  bool smaller = false;
  for (int32_t i = 0; i < work->best->value_count; i++) {
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0] && work->best->values[i].node < 0; k++) {
      rg_sketch *candidate = rg_sketch_copy(work->best);
      nd4c_array *old = candidate->values[i].array, *even = NULL;
      if (nd4c_array_full(nd4c_array_dtype(old), nd4c_array_rank(old), nd4c_array_shape(old), numbers[k], NULL,
                          &even) != ND4C_OK) {
        rg_sketch_free(candidate);
        break;
      }
      candidate->values[i].array = even;
      nd4c_array_release(old);
      if (keep(work, candidate)) {
        smaller = true;
        break;
      }
    }
  }
  return smaller;
}

rg_sketch *rg_shrink(const rg_sketch *sketch, rg_failure *failure) {
  shrinking work = {.best = rg_sketch_copy(sketch), .failure = *failure};
  fewer_passes(&work);
  bool smaller = true;
  for (int32_t i = 0; i < 6 && smaller; i++) {
    smaller = fewer_bodies(&work);
    smaller = fewer_outputs(&work) || smaller;
    smaller = cut_nodes(&work) || smaller;
    smaller = skip_nodes(&work) || smaller;
  }
  (void)even_leaves(&work);
  fewer_passes(&work);
  *failure = work.failure;
  return work.best;
}
