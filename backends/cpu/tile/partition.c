/* Chooses the chains that engine tile computes. compiler.c calls it.
 *
 * Nodes can be one chain if loops of engine simd compute them, their outputs have one shape, and no path leaves the
 * chain and enters it again. A reduction can be a tail of the chain that it reads: what reads its result is outside. A
 * node's depth is the largest number of edges on a path to it that cannot lie inside a chain. Nodes of equal depth that
 * are connected are one chain: a path that leaves it ends at a greater depth. */
#include "backends/cpu/tile/tile.h"

/* What calls cost, in nanoseconds, measured on Zen 4. */
enum {
  CALL = 20,          /* of a kernel by a plan, besides its elements */
  RUN = 400,          /* of a chain */
  STEP = 15,          /* of a node on one tile */
  COST_UNITS = 48,    /* in the unit of nd4c_nest_run, that a thread computes, a nanosecond */
  CACHED_BYTES = 80,  /* that a thread moves in a nanosecond if the operand stays in the second-level cache ... */
  FAR_BYTES = 16,     /* ... and if it does not */
  CACHE = 512 * 1024, /* bytes of an operand that stays there */
  WORTH = 200         /* nanoseconds saved */
};

typedef struct choosing {
  const nd4c_segment *region;
  nd4c_partition *answer;
  int32_t *producer; /* by value: node, -1: an input */
  int32_t *depth;    /* by node */
  int32_t *latest;   /* by node: the greatest depth that its readers allow */
  int32_t *chain;    /* by node: another node of its chain, or itself for the first; -1: not computed here */
  int32_t *next;     /* by node: the next one of its chain, -1: the last */
  int32_t *tail;     /* by first node of a chain: its last node so far */
  int64_t *run;      /* by node: elements that a tail reduces to one; 0: it is no tail */
  bool *outer;       /* by value: read outside of the region's chains, or not by a node */
} choosing;

/* -- depths ---------------------------------------------------------------------------------------------------------
 */

static const nd4c_tensor *result(const choosing *work, int32_t node) {
  return &work->region->nodes[node]->outputs[0];
}

/* Whether node b, which reads a result of node a, may lie in one chain with it. */
static bool can_join(const choosing *work, int32_t a, int32_t b) {
  return work->chain[a] >= 0 && work->chain[b] >= 0 && work->run[a] == 0 &&
         (work->run[b] != 0 || nd4c_cpu_same_shape(result(work, a), result(work, b)));
}

static int32_t producer_of(const choosing *work, int32_t node, int32_t input) {
  const int32_t value = work->region->node_inputs[node][input];
  return value < 0 ? -1 : work->producer[value];
}

/* Whether the elements that a tail reduces lie side by side. Those in another order, such as channels last, are left to
 * the kernel, which reads them in theirs: a chain would gather them. */
static bool lies_in_rows(const nd4c_tensor *x) {
  const int32_t last = x->rank - 1;
  return last < 0 || x->shape[last] == 1 || x->strides[last] == 1;
}

static nd4c_status find_loops(const choosing *work) {
  for (int32_t i = 0; i < work->region->node_count; i++) {
    nd4c_simd_element element;
    nd4c_tile_tail tail;
    char reason[128];
    const nd4c_call *call = work->region->nodes[i];
    const bool reduces = nd4c_tile_find_tail(call, &tail) && lies_in_rows(&call->inputs[0]);
    const bool taken = reduces || (call->output_count == 1 && call->input_count <= ND4C_TILE_OPERANDS &&
                                   nd4c_simd_find_element(call, &element, reason, sizeof reason));
    work->run[i] = reduces ? tail.run : 0;
    work->chain[i] = taken ? i : -1;
    if (!taken) {
      ND4C_BACKEND_TRY(work->answer->decline(work->answer, i, "no element-wise op or reduction of engine simd"));
    }
  }
  return ND4C_OK;
}

static void find_depths(const choosing *work) {
  const nd4c_segment *region = work->region;
  for (int32_t i = 0; i < region->node_count; i++) {
    work->depth[i] = 0;
    work->latest[i] = INT32_MAX;
    for (int32_t k = 0; k < region->nodes[i]->input_count; k++) {
      const int32_t before = producer_of(work, i, k);
      if (before >= 0) {
        const int32_t depth = work->depth[before] + !can_join(work, before, i);
        work->depth[i] = depth > work->depth[i] ? depth : work->depth[i];
      }
    }
  }
}

/* Gives each node the depth of its first reader, if that is possible: it then joins the chain of this reader. */
static void sink(const choosing *work) {
  const nd4c_segment *region = work->region;
  for (int32_t i = region->node_count - 1; i >= 0; i--) {
    if (work->chain[i] >= 0 && work->run[i] == 0 && work->latest[i] != INT32_MAX) {
      work->depth[i] = work->latest[i];
    }
    for (int32_t k = 0; k < region->nodes[i]->input_count; k++) {
      const int32_t before = producer_of(work, i, k);
      if (before >= 0) {
        const int32_t depth = work->depth[i] - !can_join(work, before, i);
        work->latest[before] = depth < work->latest[before] ? depth : work->latest[before];
      }
    }
  }
}

/* -- chains ---------------------------------------------------------------------------------------------------------
 */

static int32_t first_of(const choosing *work, int32_t node) {
  while (work->chain[node] != node) {
    work->chain[node] = work->chain[work->chain[node]];
    node = work->chain[node];
  }
  return node;
}

static void join(const choosing *work) {
  const nd4c_segment *region = work->region;
  for (int32_t i = 0; i < region->node_count; i++) {
    for (int32_t k = 0; k < region->nodes[i]->input_count; k++) {
      const int32_t before = producer_of(work, i, k);
      if (before < 0 || !can_join(work, before, i) || work->depth[before] != work->depth[i]) {
        continue;
      }
      const int32_t a = first_of(work, before), b = first_of(work, i);
      work->chain[a > b ? a : b] = a > b ? b : a;
    }
  }
  for (int32_t i = 0; i < region->node_count; i++) {
    work->next[i] = -1;
    work->tail[i] = i;
    if (work->chain[i] >= 0 && first_of(work, i) != i) {
      const int32_t first = first_of(work, i);
      work->next[work->tail[first]] = i;
      work->tail[first] = i;
    }
  }
}

/* -- worth ----------------------------------------------------------------------------------------------------------
 */

typedef struct estimate {
  int64_t apart, together; /* nanoseconds */
} estimate;

static int64_t traffic(int64_t bytes) {
  return bytes / (bytes < CACHE ? CACHED_BYTES : FAR_BYTES);
}

static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* What a node and its chain cost while it moves its operands: the processor computes meanwhile, so the slower of both
 * counts. */
typedef struct load {
  int64_t computing, moving,
      moving_outside; /* nanoseconds of one thread; outside: operands that are not the chain's own */
} load;

/* That the node computes or reduces. */
static int64_t elements_of(const choosing *work, int32_t node) {
  return work->run[node] != 0 ? work->region->nodes[node]->inputs[0].size : result(work, node)->size;
}

static load weigh(const choosing *work, int32_t node) {
  const nd4c_call *call = work->region->nodes[node];
  const bool reduces = work->run[node] != 0;
  const int64_t bytes = result(work, node)->size * nd4c_cpu_dtype_bytes(call->outputs[0].dtype);
  nd4c_simd_element element = {.cost = ND4C_TILE_TAIL_COST};
  char reason[128];
  if (!reduces) {
    (void)nd4c_simd_find_element(call, &element, reason, sizeof reason); /* it was found before */
  }
  load total = {.computing = elements_of(work, node) * element.cost / COST_UNITS, .moving = traffic(bytes)};
  total.moving_outside = work->outer[work->region->node_outputs[node][0]] ? total.moving : 0;
  for (int32_t k = 0; k < call->input_count; k++) {
    const nd4c_tensor *x = &call->inputs[k];
    const int32_t before = producer_of(work, node, k);
    const bool inside = before >= 0 && work->chain[before] >= 0 && first_of(work, before) == first_of(work, node);
    const int64_t moving = x->dtype == ND4C_DTYPE_NONE ? 0 : traffic(x->size * nd4c_cpu_dtype_bytes(x->dtype));
    total.moving += moving;
    total.moving_outside += inside ? 0 : moving;
  }
  return total;
}

static estimate judge(const choosing *work, const int32_t *nodes, int32_t count, int32_t width) {
  const int64_t tiles = elements_of(work, nodes[0]) / 1024 + 1;
  estimate cost = {count * CALL, RUN};
  int64_t apart = 0;
  load all = {0};
  for (int32_t i = 0; i < count; i++) {
    const load one = weigh(work, nodes[i]);
    apart += most(one.computing, one.moving);
    all.computing += one.computing;
    all.moving_outside += one.moving_outside;
  }
  width = width > 1 && all.computing > 4000 ? width : 1;
  cost.apart += apart / width;
  cost.together += (most(all.computing, all.moving_outside) + count * tiles * STEP) / width;
  return cost;
}

/* Takes tails out of the list whose runs differ from those of the first one, and tails without a chain. */
static nd4c_status drop_tails(const choosing *work, int32_t *nodes, int32_t *count) {
  int64_t run = 0;
  int32_t kept = 0, tails = 0;
  for (int32_t i = 0; i < *count; i++) {
    const int64_t its = work->run[nodes[i]];
    run = run == 0 ? its : run;
    if (its == run || its == 0) {
      tails += its != 0;
      nodes[kept++] = nodes[i];
    } else {
      ND4C_BACKEND_TRY(work->answer->decline(work->answer, nodes[i], "it reduces other axes than its neighbour"));
    }
  }
  for (int32_t i = 0; i < kept && tails == kept && kept > 1; i++) {
    ND4C_BACKEND_TRY(work->answer->decline(work->answer, nodes[i], "reductions alone"));
  }
  *count = tails == kept && kept > 1 ? 0 : kept;
  return ND4C_OK;
}

static nd4c_status offer(const choosing *work, int32_t *nodes, int32_t count, int32_t width) {
  ND4C_BACKEND_TRY(drop_tails(work, nodes, &count));
  if (count == 0) {
    return ND4C_OK;
  }
  const estimate cost = judge(work, nodes, count, width);
  if (count > 1 && cost.apart - cost.together >= WORTH) {
    return work->answer->take(work->answer, nodes, count, cost.together, 0);
  }
  for (int32_t i = 0; i < count; i++) {
    const char *reason = count == 1 ? "its neighbours are not element-wise ops of the same shape"
                                    : "too few elements: as one loop the chain would hardly be faster";
    ND4C_BACKEND_TRY(work->answer->decline(work->answer, nodes[i], reason));
  }
  return ND4C_OK;
}

/* Values that a node outside of the producer's chain reads, and values that no node of the region reads. */
static void find_outer(const choosing *work) {
  const nd4c_segment *region = work->region;
  for (int32_t i = 0; i < region->output_count; i++) {
    work->outer[region->outputs[i]] = true;
  }
  for (int32_t i = 0; i < region->node_count; i++) {
    for (int32_t k = 0; k < region->nodes[i]->input_count; k++) {
      const int32_t before = producer_of(work, i, k);
      if (before >= 0 &&
          (work->chain[i] < 0 || work->chain[before] < 0 || first_of(work, i) != first_of(work, before))) {
        work->outer[region->node_inputs[i][k]] = true;
      }
    }
  }
}

/* Long chains are cut: the first nodes do not depend on the last ones. */
static nd4c_status offer_all(const choosing *work, int32_t width) {
  int32_t nodes[ND4C_TILE_NODES];
  find_outer(work);
  for (int32_t i = 0; i < work->region->node_count; i++) {
    if (work->chain[i] != i) {
      continue;
    }
    int32_t count = 0;
    for (int32_t node = i; node >= 0; node = work->next[node]) {
      nodes[count++] = node;
      if (count == ND4C_TILE_NODES || work->next[node] < 0) {
        ND4C_BACKEND_TRY(offer(work, nodes, count, width));
        count = 0;
      }
    }
  }
  return ND4C_OK;
}

static nd4c_status choose(choosing *work, int32_t *memory, int32_t width) {
  const nd4c_segment *region = work->region;
  int32_t **const lists[] = {&work->depth, &work->latest, &work->chain, &work->next, &work->tail};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    *lists[i] = memory + (size_t)region->node_count * i;
  }
  work->producer = memory + (size_t)region->node_count * (sizeof lists / sizeof lists[0]);
  work->outer = (bool *)(work->producer + region->value_count);
  memset(work->outer, 0, (size_t)region->value_count);
  for (int32_t i = 0; i < region->value_count; i++) {
    work->producer[i] = -1;
  }
  for (int32_t i = 0; i < region->node_count; i++) {
    for (int32_t k = 0; k < region->nodes[i]->output_count; k++) {
      work->producer[region->node_outputs[i][k]] = i;
    }
  }
  ND4C_BACKEND_TRY(find_loops(work));
  find_depths(work);
  sink(work);
  join(work);
  return offer_all(work, width);
}

nd4c_status nd4c_tile_partition(const nd4c_segment *region, const nd4c_compile_options *options,
                                nd4c_partition *answer) {
  choosing work = {.region = region, .answer = answer};
  if (region->node_count < 2) { /* an eager call, or a node by itself: a kernel computes it as well */
    return ND4C_OK;
  }
  const size_t runs = (size_t)region->node_count * sizeof(int64_t);
  const size_t bytes = runs + ((size_t)region->node_count * 5 + (size_t)region->value_count) * sizeof(int32_t) +
                       (size_t)region->value_count * sizeof(bool);
  char *memory = nd4c_cpu_host->allocate_pages(bytes);
  ND4C_CPU_FAIL_IF(memory == NULL, ND4C_MEMORY, "tile: no memory to look at %d nodes", (int)region->node_count);
  work.run = (int64_t *)(void *)memory;
  const nd4c_status status = choose(&work, (int32_t *)(void *)(memory + runs), options->width);
  nd4c_cpu_host->free_pages(memory, bytes);
  return status;
}
