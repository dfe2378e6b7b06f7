#include "device/compute.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/compilers.h"

/* Op numbers grow by hand and stay small; the index is a plain array over them. */
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
  int32_t begin[OP_NUMBER_LIMIT + 1];
  const nd4c_compiler **compilers;
  int32_t compiler_count;
  const nd4c_compute *before; /* the one whose place it took */
};

/* -- what is accepted ---------------------------------------------------------------------------------------------- */

static const op_name *find_name(const char *name) {
  for (size_t i = 0; i < sizeof op_names / sizeof op_names[0]; ++i) {
    if (strcmp(op_names[i].name, name) == 0) {
      return &op_names[i];
    }
  }
  return NULL;
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
  if (!has_engine(source->contribution, kernel->engine)) {
    nd4c_text_print(left_out, "%s: kernel %.60s of op %.60s: engine '%.60s' is none of the contribution's\n",
                    source->provider, kernel->name, kernel->op, kernel->engine);
    return ND4C_OP_NONE;
  }
  const op_name *known = find_name(kernel->op);
  if (known == NULL || known->version != kernel->op_version) {
    nd4c_text_print(left_out, "%s: kernel %.60s: ", source->provider, kernel->name);
    if (known == NULL) {
      nd4c_text_print(left_out, "this library has no op '%.60s'\n", kernel->op);
    } else {
      nd4c_text_print(left_out, "it is made for version %u of op %s; this library has version %u\n", kernel->op_version,
                      kernel->op, known->version);
    }
    return ND4C_OP_NONE;
  }
  return known->op;
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

/* Fills the groups of all ops. `ops` has the op of each kernel, in the order of the sources. */
static void group_kernels(nd4c_compute *compute, const nd4c_compute_source *sources, int32_t count, const nd4c_op *ops) {
  int32_t filled[OP_NUMBER_LIMIT] = {0}, number = 0;
  for (int32_t op = 0; op < OP_NUMBER_LIMIT; ++op) {
    compute->begin[op + 1] += compute->begin[op];
  }
  for (int32_t s = 0; s < count; ++s) {
    for (int32_t f = 0; f < sources[s].contribution->family_count; ++f) {
      for (const nd4c_kernel *const *kernel = sources[s].contribution->families[f]; *kernel != NULL; ++kernel) {
        nd4c_op op = ops[number++];
        if (op != ND4C_OP_NONE) {
          insert_kernel(compute->kernels + compute->begin[op], filled[op]++, *kernel);
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
        compute->begin[ops[number] + 1] += ops[number] != ND4C_OP_NONE;
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
      }
      compute->compilers[at] = compiler;
    }
  }
}

nd4c_status nd4c_compute_make(const nd4c_compute_source *sources, int32_t count, const nd4c_compute *before,
                              nd4c_text *left_out, nd4c_compute **out) {
  const counts all = count_all(sources, count);
  nd4c_compute *compute = nd4c_allocate_zeroed(1, sizeof *compute);
  nd4c_op *ops = nd4c_allocate_zeroed((size_t)all.kernels + 1, sizeof *ops);
  if (compute != NULL) {
    compute->kernels = nd4c_allocate_zeroed((size_t)all.kernels + 1, sizeof(void *));
    compute->compilers = nd4c_allocate_zeroed((size_t)all.compilers + 1, sizeof(void *));
  }
  if (compute == NULL || ops == NULL || compute->kernels == NULL || compute->compilers == NULL) {
    nd4c_compute_free(compute);
    nd4c_deallocate(ops);
    return nd4c_fail_memory("the tables of a backend", (size_t)all.kernels * sizeof(void *));
  }
  compute->before = before;
  find_ops(compute, sources, count, ops, left_out);
  group_kernels(compute, sources, count, ops);
  merge_compilers(compute, sources, count, left_out);
  nd4c_deallocate(ops);
  *out = compute;
  return ND4C_OK;
}

void nd4c_compute_free(nd4c_compute *compute) {
  if (compute != NULL) {
    nd4c_deallocate((void *)compute->kernels);
    nd4c_deallocate((void *)compute->compilers);
    nd4c_deallocate(compute);
  }
}

/* -- queries ------------------------------------------------------------------------------------------------------- */

nd4c_dtype_set nd4c_compute_dtypes(const nd4c_compute *compute) {
  nd4c_dtype_set set = 0;
  for (int32_t i = 0; i < compute->begin[OP_NUMBER_LIMIT]; ++i) {
    set |= compute->kernels[i]->dtypes;
  }
  return set;
}

const nd4c_kernel *const *nd4c_compute_kernels(const nd4c_compute *compute, nd4c_op op, int32_t *count) {
  if (op >= OP_NUMBER_LIMIT) {
    *count = 0;
    return NULL;
  }
  *count = compute->begin[op + 1] - compute->begin[op];
  return compute->kernels + compute->begin[op];
}

const nd4c_compiler *const *nd4c_compute_compilers(const nd4c_compute *compute, int32_t *count) {
  *count = compute->compiler_count;
  return compute->compilers;
}
