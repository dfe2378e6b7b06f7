#include "device/compute.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/compilers.h"
#include "device/plugin_ops.h"

/* Built-in op numbers grow by hand and stay small; the index is a plain array over them, with the ops of plug-ins
 * behind. */
enum { OP_NUMBER_LIMIT = 1024 };

#define CHECK_NUMBER(number, version, name, ...) _Static_assert((number) < OP_NUMBER_LIMIT, "raise the limit: " #name);
ND4C_OP_TABLE(CHECK_NUMBER)
#undef CHECK_NUMBER

typedef struct op_name {
  nd4c_op op;
  uint32_t version;
  const char *name;
} op_name;

static const op_name op_names[] = {
#define NAME_ROW(number, version, name, ...) {number, version, #name},
    ND4C_OP_TABLE(NAME_ROW)
#undef NAME_ROW
};

struct nd4c_compute {
  const nd4c_kernel **kernels; /* grouped by op, each group from the highest priority down */
  int32_t op_count;            /* places of the index */
  int32_t *begin;              /* by place: where the group begins; op_count + 1 of them */
  const nd4c_compiler **compilers;
  bool *own; /* by compiler */
  int32_t compiler_count;
  const nd4c_compute *before; /* the one whose place it took */
};

/* Place of an op in the index; one that a compute made earlier does not reach is beyond its op_count. */
static int32_t place_of(nd4c_op op) {
  const bool foreign = op >= ND4C_OP_PLUGIN && op - ND4C_OP_PLUGIN < ND4C_PLUGIN_OP_LIMIT;
  return op < OP_NUMBER_LIMIT ? (int32_t)op
         : foreign            ? OP_NUMBER_LIMIT + (int32_t)(op - ND4C_OP_PLUGIN)
                              : INT32_MAX;
}

/* -- what is accepted ---------------------------------------------------------------------------------------------- */

static bool find_name(const char *name, op_name *found) {
  for (size_t i = 0; i < sizeof op_names / sizeof op_names[0]; ++i) {
    if (strcmp(op_names[i].name, name) == 0) {
      *found = op_names[i];
      return true;
    }
  }
  const nd4c_op_def *def = nd4c_plugin_ops_find(name, strlen(name));
  if (def != NULL) {
    *found = (op_name){def->info.op, def->info.version, def->info.name};
  }
  return def != NULL;
}

static bool has_engine(const nd4c_contribution *contribution, const char *engine) {
  for (int32_t i = 0; i < contribution->engine_count; ++i) {
    if (strcmp(contribution->engines[i]->name, engine) == 0) {
      return true;
    }
  }
  return false;
}

/* The op of a kernel; NONE with a line that says why the kernel is left out. */
static nd4c_op op_of(const nd4c_compute_source *source, int32_t number, const nd4c_kernel *kernel, nd4c_text *left_out) {
  if (!ND4C_HAS_FIELD(kernel, run) || kernel->op == NULL || kernel->engine == NULL || kernel->name == NULL ||
      kernel->run == NULL) {
    nd4c_text_print(left_out, "%s: kernel %d: op, engine, name and run are required\n", source->provider, number);
    return ND4C_OP_NONE;
  }
  const bool wants = ND4C_HAS_FIELD(kernel, wants_layout) && kernel->wants_layout != NULL;
  if (wants != (ND4C_HAS_FIELD(kernel, pack) && kernel->pack != NULL)) {
    nd4c_text_print(left_out, "%s: kernel %.60s of op %.60s: wants_layout and pack are needed together\n",
                    source->provider, kernel->name, kernel->op);
    return ND4C_OP_NONE;
  }
  if (!has_engine(source->contribution, kernel->engine)) {
    nd4c_text_print(left_out, "%s: kernel %.60s of op %.60s: engine '%.60s' is none of the contribution's\n",
                    source->provider, kernel->name, kernel->op, kernel->engine);
    return ND4C_OP_NONE;
  }
  op_name known = {ND4C_OP_NONE, 0, NULL};
  if (!find_name(kernel->op, &known) || known.version != kernel->op_version) {
    nd4c_text_print(left_out, "%s: kernel %.60s: ", source->provider, kernel->name);
    if (known.name == NULL) {
      nd4c_text_print(left_out, "this library has no op '%.63s'\n", kernel->op);
    } else {
      nd4c_text_print(left_out, "it is made for version %u of op %s; this library has version %u\n", kernel->op_version,
                      kernel->op, known.version);
    }
    return ND4C_OP_NONE;
  }
  return known.op;
}

static bool is_complete(const nd4c_compute_source *source, int32_t number, const nd4c_compiler *compiler,
                        nd4c_text *left_out) {
  char problem[256];
  bool complete = nd4c_compiler_is_complete(compiler, problem, sizeof problem);
  if (complete && !has_engine(source->contribution, compiler->engine)) {
    (void)snprintf(problem, sizeof problem, "its engine '%.60s' is none of the contribution's", compiler->engine);
    complete = false;
  }
  if (!complete) {
    nd4c_text_print(left_out, "%s: compiler %d: %s\n", source->provider, number, problem);
  }
  return complete;
}

/* -- merging ------------------------------------------------------------------------------------------------------- */

typedef struct counts {
  int32_t kernels, compilers;
} counts;

static counts count_all(const nd4c_compute_source *sources, int32_t count) {
  counts all = {0, 0};
  for (int32_t s = 0; s < count; ++s) {
    const nd4c_contribution *contribution = sources[s].contribution;
    all.compilers += contribution->compiler_count;
    for (int32_t f = 0; f < contribution->family_count; ++f) {
      for (const nd4c_kernel *const *kernel = contribution->families[f]; *kernel != NULL; ++kernel) {
        ++all.kernels;
      }
    }
  }
  return all;
}

/* Stable: what stands first stays first among equals. */
static void insert_kernel(const nd4c_kernel **group, int32_t count, const nd4c_kernel *kernel) {
  int32_t at = count;
  for (; at > 0 && group[at - 1]->priority < kernel->priority; --at) {
    group[at] = group[at - 1];
  }
  group[at] = kernel;
}

/* Fills the groups of all ops. `ops` has the op of each kernel, in the order of the sources; `filled` a zero for each
 * place. */
static void group_kernels(nd4c_compute *compute, const nd4c_compute_source *sources, int32_t count, const nd4c_op *ops,
                          int32_t *filled) {
  int32_t number = 0;
  for (int32_t place = 0; place < compute->op_count; ++place) {
    compute->begin[place + 1] += compute->begin[place];
  }
  for (int32_t s = 0; s < count; ++s) {
    for (int32_t f = 0; f < sources[s].contribution->family_count; ++f) {
      for (const nd4c_kernel *const *kernel = sources[s].contribution->families[f]; *kernel != NULL; ++kernel) {
        nd4c_op op = ops[number++];
        if (op != ND4C_OP_NONE) {
          const int32_t place = place_of(op);
          insert_kernel(compute->kernels + compute->begin[place], filled[place]++, *kernel);
        }
      }
    }
  }
}

static void find_ops(nd4c_compute *compute, const nd4c_compute_source *sources, int32_t count, nd4c_op *ops,
                     nd4c_text *left_out) {
  int32_t number = 0;
  for (int32_t s = 0; s < count; ++s) {
    const int32_t first = number;
    for (int32_t f = 0; f < sources[s].contribution->family_count; ++f) {
      for (const nd4c_kernel *const *kernel = sources[s].contribution->families[f]; *kernel != NULL; ++kernel) {
        ops[number] = op_of(&sources[s], number - first, *kernel, left_out);
        compute->begin[place_of(ops[number]) + 1] += ops[number] != ND4C_OP_NONE;
        ++number;
      }
    }
  }
}

static void merge_compilers(nd4c_compute *compute, const nd4c_compute_source *sources, int32_t count,
                            nd4c_text *left_out) {
  for (int32_t s = 0; s < count; ++s) {
    for (int32_t c = 0; c < sources[s].contribution->compiler_count; ++c) {
      const nd4c_compiler *compiler = sources[s].contribution->compilers[c];
      if (!is_complete(&sources[s], c, compiler, left_out)) {
        continue;
      }
      int32_t at = compute->compiler_count++;
      for (; at > 0 && compute->compilers[at - 1]->priority < compiler->priority; --at) {
        compute->compilers[at] = compute->compilers[at - 1];
        compute->own[at] = compute->own[at - 1];
      }
      compute->compilers[at] = compiler;
      compute->own[at] = sources[s].own;
    }
  }
}

nd4c_status nd4c_compute_make(const nd4c_compute_source *sources, int32_t count, const nd4c_compute *before,
                              nd4c_text *left_out, nd4c_compute **out) {
  const counts all = count_all(sources, count);
  nd4c_compute *compute = nd4c_allocate_zeroed(1, sizeof *compute);
  nd4c_op *ops = nd4c_allocate_zeroed((size_t)all.kernels + 1, sizeof *ops);
  const int32_t op_count = OP_NUMBER_LIMIT + nd4c_plugin_ops_count(); /* under the registry's lock: it stays */
  int32_t *filled = nd4c_allocate_zeroed((size_t)op_count, sizeof *filled);
  if (compute != NULL) {
    compute->op_count = op_count;
    compute->begin = nd4c_allocate_zeroed((size_t)op_count + 1, sizeof *compute->begin);
    compute->kernels = nd4c_allocate_zeroed((size_t)all.kernels + 1, sizeof(void *));
    compute->compilers = nd4c_allocate_zeroed((size_t)all.compilers + 1, sizeof(void *));
    compute->own = nd4c_allocate_zeroed((size_t)all.compilers + 1, sizeof *compute->own);
  }
  if (compute == NULL || ops == NULL || filled == NULL || compute->begin == NULL || compute->kernels == NULL ||
      compute->compilers == NULL || compute->own == NULL) {
    nd4c_compute_free(compute);
    nd4c_deallocate(ops);
    nd4c_deallocate(filled);
    return nd4c_fail_memory("the tables of a backend", (size_t)all.kernels * sizeof(void *));
  }
  compute->before = before;
  find_ops(compute, sources, count, ops, left_out);
  group_kernels(compute, sources, count, ops, filled);
  merge_compilers(compute, sources, count, left_out);
  nd4c_deallocate(ops);
  nd4c_deallocate(filled);
  *out = compute;
  return ND4C_OK;
}

void nd4c_compute_free(nd4c_compute *compute) {
  if (compute != NULL) {
    nd4c_deallocate(compute->begin);
    nd4c_deallocate((void *)compute->kernels);
    nd4c_deallocate((void *)compute->compilers);
    nd4c_deallocate(compute->own);
    nd4c_deallocate(compute);
  }
}

/* -- queries ------------------------------------------------------------------------------------------------------- */

nd4c_dtype_set nd4c_compute_dtypes(const nd4c_compute *compute) {
  nd4c_dtype_set set = 0;
  for (int32_t i = 0; i < compute->begin[compute->op_count]; ++i) {
    set |= compute->kernels[i]->dtypes;
  }
  return set;
}

const nd4c_kernel *const *nd4c_compute_kernels(const nd4c_compute *compute, nd4c_op op, int32_t *count) {
  const int32_t place = place_of(op);
  if (place >= compute->op_count) {
    *count = 0;
    return NULL;
  }
  *count = compute->begin[place + 1] - compute->begin[place];
  return compute->kernels + compute->begin[place];
}

const nd4c_compiler *const *nd4c_compute_compilers(const nd4c_compute *compute, int32_t *count) {
  *count = compute->compiler_count;
  return compute->compilers;
}

bool nd4c_compute_owns(const nd4c_compute *compute, const nd4c_compiler *compiler) {
  for (int32_t i = 0; i < compute->compiler_count; ++i) {
    if (compute->compilers[i] == compiler) {
      return compute->own[i];
    }
  }
  return false;
}
