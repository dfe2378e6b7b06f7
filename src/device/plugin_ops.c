/* Implements plugin_ops.h. device/registry/candidate.c adds the ops of an accepted plug-in; ops/op.c and compute.c find
 * ops by name and position. */
#include "device/plugin_ops.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "device/provider/provider_check.h"

/* An entry is written once, before `published` counts it. */
static const nd4c_op_def *defs[ND4C_PLUGIN_OP_LIMIT];
static _Atomic int32_t published;

/* -- reading ------------------------------------------------------------------------------------------------------- */

int32_t nd4c_plugin_ops_count(void) {
  return atomic_load_explicit(&published, memory_order_acquire);
}

const nd4c_op_def *nd4c_plugin_ops_at(uint32_t position) {
  return position < (uint32_t)nd4c_plugin_ops_count() ? defs[position] : NULL;
}

const nd4c_op_def *nd4c_plugin_ops_find(const char *name, size_t length, uint32_t most) {
  const int32_t count = nd4c_plugin_ops_count();
  const nd4c_op_def *found = NULL;
  for (int32_t i = 0; i < count; i++) {
    const nd4c_op_info *known = &defs[i]->info;
    const bool fits = known->version <= most && (found == NULL || known->version > found->info.version);
    if (fits && strlen(known->name) == length && memcmp(known->name, name, length) == 0) {
      found = defs[i];
    }
  }
  return found;
}

/* -- adding -------------------------------------------------------------------------------------------------------- */

static const char *category_name(nd4c_category category) {
#define CATEGORY_CASE(NAME, number)       \
  if (category == ND4C_CATEGORY_##NAME) { \
    return #NAME;                         \
  }
  ND4C_CATEGORY_TABLE(CATEGORY_CASE)
#undef CATEGORY_CASE
  return "";
}

static void fill(nd4c_op_def *def, nd4c_op number, const nd4c_plugin_op *op, const char *doc, const char *provider) {
  const bool elementwise = (op->flags & ND4C_PLUGIN_OP_ELEMENTWISE) != 0;
  *def = (nd4c_op_def){.info = {.struct_size = ND4C_SIZE_OF(nd4c_op_info),
                                .op = number,
                                .version = op->version,
                                .name = op->name,
                                .category_name = category_name(op->category),
                                .category = op->category,
                                .dtypes = op->dtypes,
                                .input_count = op->input_count,
                                .attr_count = op->attr_count,
                                .output_count = op->output_count,
                                .inputs = op->inputs,
                                .attrs = op->attrs,
                                .doc = doc,
                                .names = "|||",
                                .provider = provider},
                       .infer = op->infer,
                       .data = op->data,
                       .order = elementwise ? ND4C_ORDER_INPUTS : ND4C_ORDER_C,
                       .alias = elementwise ? ND4C_ALIAS_SAME : ND4C_ALIAS_NONE,
                       .refuses_late = (op->flags & ND4C_PLUGIN_OP_REFUSES_LATE) != 0};
}

static nd4c_status check_clashes(const char *from, const nd4c_plugin_op *const *ops, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const nd4c_op_def *other = nd4c_plugin_ops_find(ops[i]->name, strlen(ops[i]->name), UINT32_MAX);
    if (other != NULL) {
      return nd4c_fail(ND4C_NAME, "plug-in %s: plug-in %s already defines an op %s: load one of the two", from,
                       other->info.provider, ops[i]->name);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_plugin_ops_add(const char *from, const char *provider, const nd4c_plugin_op *const *ops,
                                int32_t count) {
  const int32_t before = nd4c_plugin_ops_count();
  ND4C_TRY(check_clashes(from, ops, count));
  if (count > ND4C_PLUGIN_OP_LIMIT - before) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: brings %d ops; %d are there already, expected at most %d in all", from,
                     count, before, ND4C_PLUGIN_OP_LIMIT);
  }
  const char *name = nd4c_text_intern(provider);
  nd4c_op_def *added = nd4c_allocate_zeroed((size_t)count + 1, sizeof *added);
  bool complete = added != NULL && name != NULL;
  for (int32_t i = 0; complete && i < count; i++) {
    const char *doc = nd4c_provider_words(ops[i]->doc != NULL ? ops[i]->doc : "");
    complete = doc != NULL;
    fill(&added[i], (nd4c_op)(ND4C_OP_PLUGIN + before + i), ops[i], doc, name);
    defs[before + i] = &added[i];
  }
  if (!complete) {
    nd4c_deallocate(added);
    return nd4c_fail_memory("the ops of a plug-in", (size_t)count * sizeof *added);
  }
  atomic_store_explicit(&published, before + count, memory_order_release);
  return ND4C_OK;
}

/* -- reference kernels --------------------------------------------------------------------------------------------- */

typedef struct reference_kernels {
  nd4c_contribution contribution;
  const nd4c_kernel *const *families[1];
  const nd4c_kernel *kernels[]; /* ends in NULL */
} reference_kernels;

nd4c_status nd4c_plugin_ops_contribute(const nd4c_plugin_op *const *ops, int32_t count,
                                       nd4c_contribution **contribution) {
  static const nd4c_engine reference = {.struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "reference"};
  static const nd4c_engine *const engines[] = {&reference};
  const size_t bytes = sizeof(reference_kernels) + ((size_t)count + 1) * sizeof(void *);
  reference_kernels *made = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, bytes, "the ops of a plug-in", &made));
  for (int32_t i = 0; i < count; i++) {
    made->kernels[i] = ops[i]->reference;
  }
  made->families[0] = made->kernels;
  made->contribution = (nd4c_contribution){.struct_size = ND4C_SIZE_OF(nd4c_contribution),
                                           .backend = "cpu",
                                           .priority = INT32_MIN,
                                           .engine_count = 1,
                                           .engines = engines,
                                           .family_count = 1,
                                           .families = made->families};
  *contribution = &made->contribution;
  return ND4C_OK;
}
