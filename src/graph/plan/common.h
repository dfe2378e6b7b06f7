/* What the bindings of one plan with dims have in common, so that a further binding costs little: the order of the
 * nodes and the memory orders of values, which the first binding chose; its segments, whose executables may serve other
 * extents; and kernel choices, which a node takes again if its operands have the extents of an earlier binding.
 *
 * dynamic_bind.c makes bindings, one at a time; partition.c, segment.c and steps.c ask here on their behalf. */
#ifndef ND4C_GRAPH_PLAN_COMMON_H
#define ND4C_GRAPH_PLAN_COMMON_H

#include "graph/plan.h"

/* A choice with the signature that it was made for: of the class, that is of the node's kind and operands, and then of
 * its constants. */
typedef struct nd4c_common_choice {
  struct nd4c_common_choice *next; /* of the same bucket */
  uint64_t hash;                   /* of the first key_length numbers */
  nd4c_choice *choice;             /* one reference */
  int32_t length, key_length;      /* of the signature; of what finds it: the class if the choice is a model for others,
                                      else all of it */
  bool kept;                       /* its kernel is an earlier extent's: no search has found it for these */
  int32_t input_count;
  int64_t *signature;
  nd4c_tensor *inputs; /* those that are constants have their places */
} nd4c_common_choice;

/* The latest choice of a node with constants, for those of other extents. */
typedef struct nd4c_common_latest {
  nd4c_choice *choice; /* one reference; NULL: none */
  nd4c_constant_input *items;
  nd4c_tensor *inputs; /* those that are constants have their places */
} nd4c_common_latest;

/* A segment of the first binding, which all bindings have. */
typedef struct nd4c_common_segment {
  nd4c_plan_segment segment; /* one reference to its executable */
  int32_t input_count, output_count;
  const nd4c_value *inputs, *outputs;
  nd4c_constant_input *constants; /* by input */
  const nd4c_tensor *tensors;     /* those that are constants have their places */
} nd4c_common_segment;

struct nd4c_plan_common {
  nd4c_region region;
  nd4c_graph *graph;          /* the plan's: with dims, after its passes */
  const int32_t *kinds;       /* by a node's first output: nodes of equal kind have the same op and attributes */
  const uint32_t *attr_masks; /* by a node's first output: attributes that depend on dims, a bit each */
  nd4c_lock *lock;            /* the plan's: held while the order of the graph's nodes changes */
  bool begun;                 /* the first binding was tried, under these rules; later ones share only under the same */
  nd4c_engine_rules rules;
  bool fixed; /* the first binding has been made, and says the rest */
  int32_t segmented_count, segment_count;
  int32_t *segment_of; /* by node; NULL: no compiler */
  nd4c_common_segment *segments;
  bool *fed, *hidden;         /* as in the plan */
  bool unfit;                 /* passes of the first binding changed nodes, so nothing of it is shared */
  nd4c_common_latest *latest; /* by a node's first output */
  nd4c_common_choice **buckets;
  int32_t bucket_count, choice_count, choice_limit;
  int64_t choice_bytes; /* of all that were ever added */
  int64_t *signature;   /* of the node that was looked up last: of the class, and all of it */
  int32_t signature_capacity, class_length, signature_length;
  uint64_t class_hash, signature_hash;
};

/* Describes the nodes of a plan's graph with dims, which must not change afterwards, except for their order. `lock`:
 * the plan's, which threads hold that read the nodes while bindings are made. */
nd4c_status nd4c_common_make(nd4c_graph *graph, nd4c_lock *lock, nd4c_plan_common **common);
void nd4c_common_free(nd4c_plan_common *common);

/* Keeps the first binding's order of nodes, memory orders and what compilers took: the plan has no slots yet. */
nd4c_status nd4c_common_keep(nd4c_plan *plan);
/* Gives them to a further binding. */
nd4c_status nd4c_common_take(nd4c_plan *plan);

/* Keeps the step of a segment of the first binding. */
nd4c_status nd4c_common_keep_segment(const nd4c_plan *plan, const nd4c_step *step);
/* The step of a segment in a further binding, if the first one's executable serves its extents. *served false: it does
 * not. */
nd4c_status nd4c_common_take_segment(nd4c_plan *plan, int32_t number, nd4c_step *step, bool *served);

/* Gives the inputs of a step that are constants the places and layouts that they have in `from`; extents and strides
 * stay the step's own, and with them whether the input is contiguous. */
void nd4c_common_place_constants(const nd4c_plan *plan, const nd4c_tensor *from, nd4c_step *step);
/* Gives the step, whose operands are described, an earlier choice and the places of its constants, or one that shares
 * the state of a choice for other constants. `kernel`: that of the bucket's earlier binding: only its state is shared,
 * and no choice with another kernel that was kept is taken; NULL: there is no such binding. *found false: there is
 * no choice. */
nd4c_status nd4c_common_find_choice(nd4c_plan *plan, nd4c_step *step, const nd4c_kernel *kernel, bool *found);
/* What the choices that were added so far took; 0 for NULL. The thread makes bindings. */
static inline int64_t nd4c_common_choice_bytes(const nd4c_plan_common *common) {
  return common == NULL ? 0 : common->choice_bytes;
}
/* Frees the choices that no binding has any more. The thread makes bindings; `common` NULL is fine. */
void nd4c_common_sweep(nd4c_plan_common *common);
/* Frees a choice that is off the table. */
void nd4c_common_choice_free(nd4c_common_choice *choice);
/* Keeps the choice of the step that was looked up last. `kept`: its kernel is that of the bucket's earlier binding. */
nd4c_status nd4c_common_add_choice(nd4c_plan *plan, const nd4c_step *step, bool kept);
/* The constants of a step that gets a choice: `items`, and what earlier choices of the node know of them. */
nd4c_constants nd4c_common_constants(const nd4c_plan *plan, const nd4c_step *step, const nd4c_constant_input *items);

#endif
