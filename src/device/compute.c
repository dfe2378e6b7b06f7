/* Implements compute.h: checks kernels against the ops, orders them by priority. device/registry/candidate_compute.c
 * makes a compute; opened.c reads it for choices of kernels. */
#include "device/compute.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/plugin_ops.h"
#include "device/provider/compilers.h"

/* Built-in op numbers are assigned by hand and stay small: the index is a plain array over them, followed by the ops of
 * plug-ins. */
enum { OP_NUMBER_LIMIT = 1024, LINE_SIZE = 512, KERNEL_NAME_SIZE = 128 };

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
  const nd4c_compute *before; /* the one that it replaced */
  int32_t dropped;            /* number of refused kernels, and the reason of the first one: */
  char first_dropped[LINE_SIZE];
};

/* Position of an op in the index; beyond op_count for an op that was added after this compute was made. */
static int32_t place_of(nd4c_op op) {
  const bool foreign = op >= ND4C_OP_PLUGIN && op - ND4C_OP_PLUGIN < ND4C_PLUGIN_OP_LIMIT;
  return op < OP_NUMBER_LIMIT ? (int32_t)op : foreign ? OP_NUMBER_LIMIT + (int32_t)(op - ND4C_OP_PLUGIN) : INT32_MAX;
}

/* -- what is accepted ---------------------------------------------------------------------------------------------- */

/* The op with that name and version. False: *found is another version, or none. */
static bool find_name(const char *name, uint32_t version, op_name *found) {
  for (size_t i = 0; i < sizeof op_names / sizeof op_names[0]; i++) {
    if (strcmp(op_names[i].name, name) == 0) {
      *found = op_names[i];
      return found->version == version;
    }
  }
  const nd4c_op_def *def = nd4c_plugin_ops_find(name, strlen(name), version);
  if (def == NULL || def->info.version != version) {
    def = nd4c_plugin_ops_find(name, strlen(name), UINT32_MAX);
  }
  if (def != NULL) {
    *found = (op_name){def->info.op, def->info.version, def->info.name};
  }
  return def != NULL && def->info.version == version;
}

static bool has_engine(const nd4c_contribution *contribution, const char *engine) {
  for (int32_t i = 0; i < contribution->engine_count; i++) {
    if (strcmp(contribution->engines[i]->name, engine) == 0) {
      return true;
    }
  }
  return false;
}

/* Refused kernels and compilers, as lines for reports. */
typedef struct omissions {
  nd4c_compute *compute; /* counts kernels, and keeps the line of the first */
  nd4c_text *lines;
} omissions;

/* The line may contain the plug-in's texts, so it is sanitised. */
static void add_line(omissions *left_out, const char *provider, char line[LINE_SIZE]) {
  nd4c_text_clean(line, false);
  nd4c_text_print(left_out->lines, "%s: %s\n", provider, line);
}

static void leave_kernel_out(omissions *left_out, const char *provider, const char *format, ...) ND4C_PRINTF(3, 4);
static void leave_kernel_out(omissions *left_out, const char *provider, const char *format, ...) {
  char line[LINE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(line, LINE_SIZE, format, arguments);
  va_end(arguments);
  add_line(left_out, provider, line);
  if (left_out->compute->dropped++ == 0) {
    (void)snprintf(left_out->compute->first_dropped, LINE_SIZE, "%s", line);
  }
}

/* Explanations, traces and reports print a kernel's name unchanged. */
static bool is_line(const char *name) {
  size_t length = 0;
  for (size_t bytes; length < KERNEL_NAME_SIZE && (bytes = nd4c_text_character(name + length)) > 0;) {
    length += bytes;
  }
  return length > 0 && length < KERNEL_NAME_SIZE && name[length] == '\0';
}

/* The op of a kernel; NONE, with a line that says why the kernel is refused. */
static nd4c_op op_of(const nd4c_compute_source *source, int32_t number, const nd4c_kernel *kernel,
                     omissions *left_out) {
  const char *provider = source->provider;
  if (!ND4C_HAS_FIELD(kernel, run)) {
    leave_kernel_out(left_out, provider, "kernel %d: its struct_size is %u: set it to ND4C_SIZE_OF(nd4c_kernel)",
                     number, kernel->struct_size);
    return ND4C_OP_NONE;
  }
  if (kernel->op == NULL || kernel->engine == NULL || kernel->name == NULL || kernel->run == NULL) {
    leave_kernel_out(left_out, provider, "kernel %d: op, engine, name and run are required", number);
    return ND4C_OP_NONE;
  }
  if (!is_line(kernel->name)) {
    leave_kernel_out(left_out, provider, "kernel %d of op %.60s: its name is not one line of 1 to %d bytes of UTF-8",
                     number, kernel->op, KERNEL_NAME_SIZE - 1);
    return ND4C_OP_NONE;
  }
  const bool wants = ND4C_HAS_FIELD(kernel, wants_layout) && kernel->wants_layout != NULL;
  if (wants != (ND4C_HAS_FIELD(kernel, pack) && kernel->pack != NULL)) {
    leave_kernel_out(left_out, provider, "kernel %.60s of op %.60s: wants_layout and pack are needed together",
                     kernel->name, kernel->op);
    return ND4C_OP_NONE;
  }
  if (!has_engine(source->contribution, kernel->engine)) {
    leave_kernel_out(left_out, provider, "kernel %.60s of op %.60s: engine '%.60s' is not one of the contribution's",
                     kernel->name, kernel->op, kernel->engine);
    return ND4C_OP_NONE;
  }
  op_name known = {ND4C_OP_NONE, 0, NULL};
  if (find_name(kernel->op, kernel->op_version, &known)) {
    return known.op;
  }
  if (known.name == NULL) {
    leave_kernel_out(left_out, provider, "kernel %.60s: this library has no op '%.63s'", kernel->name, kernel->op);
  } else {
    leave_kernel_out(left_out, provider,
                     "kernel %.60s: it is made for version %u of op %s; this library has version %u", kernel->name,
                     kernel->op_version, known.name, known.version);
  }
  return ND4C_OP_NONE;
}

static bool is_complete(const nd4c_compute_source *source, int32_t number, const nd4c_compiler *compiler,
                        omissions *left_out) {
  char problem[256];
  bool complete = nd4c_compiler_is_complete(compiler, problem, sizeof problem);
  if (complete && !has_engine(source->contribution, compiler->engine)) {
    (void)snprintf(problem, sizeof problem, "its engine '%.60s' is not one of the contribution's", compiler->engine);
    complete = false;
  }
  if (!complete) {
    char line[LINE_SIZE];
    (void)snprintf(line, sizeof line, "compiler %d: %s", number, problem);
    add_line(left_out, source->provider, line);
  }
  return complete;
}

/* -- merging ------------------------------------------------------------------------------------------------------- */

typedef struct counts {
  int32_t kernels, compilers;
} counts;

static counts count_all(const nd4c_compute_source *sources, int32_t count) {
  counts all = {0, 0};
  for (int32_t s = 0; s < count; s++) {
    const nd4c_contribution *contribution = sources[s].contribution;
    all.compilers += contribution->compiler_count;
    for (int32_t f = 0; f < contribution->family_count; f++) {
      for (const nd4c_kernel *const *kernel = contribution->families[f]; *kernel != NULL; kernel++) {
        all.kernels++;
      }
    }
  }
  return all;
}

/* Stable sort: equal ones keep their order. */
static void insert_kernel(const nd4c_kernel **group, int32_t count, const nd4c_kernel *kernel) {
  int32_t at = count;
  for (; at > 0 && group[at - 1]->priority < kernel->priority; at--) {
    group[at] = group[at - 1];
  }
  group[at] = kernel;
}

/* Fills the groups of all ops. `ops` has the op of each kernel, in the order of the sources; `filled` a zero for each
 * place. */
static void group_kernels(nd4c_compute *compute, const nd4c_compute_source *sources, int32_t count, const nd4c_op *ops,
                          int32_t *filled) {
  int32_t number = 0;
  for (int32_t place = 0; place < compute->op_count; place++) {
    compute->begin[place + 1] += compute->begin[place];
  }
  for (int32_t s = 0; s < count; s++) {
    for (int32_t f = 0; f < sources[s].contribution->family_count; f++) {
      for (const nd4c_kernel *const *kernel = sources[s].contribution->families[f]; *kernel != NULL; kernel++) {
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
                     omissions *left_out) {
  int32_t number = 0;
  for (int32_t s = 0; s < count; s++) {
    const int32_t first = number;
    for (int32_t f = 0; f < sources[s].contribution->family_count; f++) {
      for (const nd4c_kernel *const *kernel = sources[s].contribution->families[f]; *kernel != NULL; kernel++) {
        ops[number] = op_of(&sources[s], number - first, *kernel, left_out);
        compute->begin[place_of(ops[number]) + 1] += ops[number] != ND4C_OP_NONE;
        number++;
      }
    }
  }
}

static void merge_compilers(nd4c_compute *compute, const nd4c_compute_source *sources, int32_t count,
                            omissions *left_out) {
  for (int32_t s = 0; s < count; s++) {
    for (int32_t c = 0; c < sources[s].contribution->compiler_count; c++) {
      const nd4c_compiler *compiler = sources[s].contribution->compilers[c];
      if (!is_complete(&sources[s], c, compiler, left_out)) {
        continue;
      }
      int32_t at = compute->compiler_count++;
      for (; at > 0 && compute->compilers[at - 1]->priority < compiler->priority; at--) {
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
  const int32_t op_count = OP_NUMBER_LIMIT + nd4c_plugin_ops_count(); /* under the registry's lock, so it cannot
                                                                         change */
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
  omissions omitted = {compute, left_out};
  find_ops(compute, sources, count, ops, &omitted);
  group_kernels(compute, sources, count, ops, filled);
  merge_compilers(compute, sources, count, &omitted);
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
  for (int32_t i = 0; i < compute->begin[compute->op_count]; i++) {
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

int32_t nd4c_compute_dropped(const nd4c_compute *compute, const char **first) {
  *first = compute->first_dropped;
  return compute->dropped;
}

const nd4c_compiler *const *nd4c_compute_compilers(const nd4c_compute *compute, int32_t *count) {
  *count = compute->compiler_count;
  return compute->compilers;
}

bool nd4c_compute_owns(const nd4c_compute *compute, const nd4c_compiler *compiler) {
  for (int32_t i = 0; i < compute->compiler_count; i++) {
    if (compute->compilers[i] == compiler) {
      return compute->own[i];
    }
  }
  return false;
}
