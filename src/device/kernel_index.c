#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "device/candidate.h"

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

struct nd4c_kernel_index {
  const nd4c_kernel **kernels; /* grouped by op */
  int32_t begin[OP_NUMBER_LIMIT + 1];
};

static nd4c_op find_op(const nd4c_kernel *kernel) {
  for (size_t i = 0; i < sizeof op_names / sizeof op_names[0]; ++i) {
    if (op_names[i].version == kernel->op_version && strcmp(op_names[i].name, kernel->op) == 0) {
      return op_names[i].op;
    }
  }
  return ND4C_OP_NONE;
}

static void sort_by_priority(const nd4c_kernel **kernels, int32_t count) {
  for (int32_t i = 1; i < count; ++i) {
    const nd4c_kernel *kernel = kernels[i];
    int32_t at = i;
    for (; at > 0 && kernels[at - 1]->priority < kernel->priority; --at) {
      kernels[at] = kernels[at - 1];
    }
    kernels[at] = kernel;
  }
}

static bool kernel_is_complete(const nd4c_kernel *kernel) {
  return kernel != NULL && ND4C_HAS_FIELD(kernel, run) && kernel->op != NULL && kernel->engine != NULL &&
         kernel->name != NULL && kernel->run != NULL;
}

nd4c_status nd4c_kernel_index_make(const nd4c_backend *backend, nd4c_kernel_index **out) {
  int32_t count = backend->kernel_count != NULL && backend->kernels != NULL ? backend->kernel_count() : 0;
  const nd4c_kernel *const *kernels = count > 0 ? backend->kernels() : NULL;
  nd4c_kernel_index *index = nd4c_allocate_zeroed(1, sizeof *index);
  nd4c_op *ops = nd4c_allocate_zeroed((size_t)count, sizeof *ops);
  const nd4c_kernel **sorted = nd4c_allocate_zeroed((size_t)count, sizeof(void *));
  if (index == NULL || ops == NULL || sorted == NULL) {
    nd4c_deallocate(index);
    nd4c_deallocate(ops);
    nd4c_deallocate(sorted);
    return nd4c_fail_memory("the kernel index", (size_t)count * sizeof(void *));
  }
  for (int32_t i = 0; i < count; ++i) {
    ops[i] = kernel_is_complete(kernels[i]) ? find_op(kernels[i]) : ND4C_OP_NONE;
    if (ops[i] == ND4C_OP_NONE) {
      /* A plug-in may know ops that this library does not have: they are of no use here, and no error. */
      nd4c_log_write(ND4C_LOG_INFO, "registry", "backend %s: kernel %d serves no op of this library", backend->name, i);
      continue;
    }
    ++index->begin[ops[i] + 1];
  }
  for (int32_t op = 0; op < OP_NUMBER_LIMIT; ++op) {
    index->begin[op + 1] += index->begin[op];
  }
  int32_t filled[OP_NUMBER_LIMIT] = {0};
  for (int32_t i = 0; i < count; ++i) {
    if (ops[i] != ND4C_OP_NONE) {
      sorted[index->begin[ops[i]] + filled[ops[i]]++] = kernels[i];
    }
  }
  for (int32_t op = 0; op < OP_NUMBER_LIMIT; ++op) {
    sort_by_priority(sorted + index->begin[op], filled[op]);
  }
  index->kernels = sorted;
  nd4c_deallocate(ops);
  *out = index;
  return ND4C_OK;
}

void nd4c_kernel_index_free(nd4c_kernel_index *index) {
  if (index != NULL) {
    nd4c_deallocate((void *)index->kernels);
    nd4c_deallocate(index);
  }
}

nd4c_dtype_set nd4c_kernel_index_dtypes(const nd4c_kernel_index *index) {
  nd4c_dtype_set set = 0;
  for (int32_t i = 0; i < index->begin[OP_NUMBER_LIMIT]; ++i) {
    set |= index->kernels[i]->dtypes;
  }
  return set;
}

const nd4c_kernel *const *nd4c_kernel_index_get(const nd4c_kernel_index *index, nd4c_op op, int32_t *count) {
  if (op >= OP_NUMBER_LIMIT) {
    *count = 0;
    return NULL;
  }
  *count = index->begin[op + 1] - index->begin[op];
  return index->kernels + index->begin[op];
}
