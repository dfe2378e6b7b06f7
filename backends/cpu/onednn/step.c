/* Memory descriptors, and steps: a primitive with its memory objects. node.c and quantization_int8.c run steps; the
 * kernels' describe functions make descriptors. */
#include <string.h>

#include "backends/cpu/onednn/onednn.h"

int nd4c_onednn_dtype(nd4c_dtype dtype) {
  switch (dtype) {
    case ND4C_FLOAT32:
      return DNN_F32;
    case ND4C_BFLOAT16:
      return DNN_BF16;
    case ND4C_INT32:
      return DNN_S32;
    case ND4C_INT8:
      return DNN_S8;
    case ND4C_UINT8:
      return DNN_U8;
    default:
      return 0;
  }
}

int nd4c_onednn_desc(const nd4c_onednn *dnn, dnn_desc *desc, int32_t rank, const int64_t *shape, nd4c_dtype dtype,
                     const int64_t *strides) {
  return dnn->dnnl_memory_desc_create_with_strides(desc, rank, shape, nd4c_onednn_dtype(dtype), strides);
}

/* No two elements at one place, as oneDNN checks it: sorted by stride, each axis starts past the end of the last. */
static void copy_dims(int64_t *to, const int64_t *from, int32_t rank) {
  for (int32_t i = 0; i < rank; i++) {
    to[i] = from[i];
  }
}

/* Bytes of the elements, with padding; a descriptor with compensations beside them has more. */
static int64_t blocked_bytes(const nd4c_layout *layout, int64_t element) {
  int64_t end = 1;
  for (int32_t k = 0; k < layout->block_count; k++) {
    end *= layout->block_extents[k];
  }
  for (int32_t i = 0; i < layout->rank; i++) {
    int64_t within = 1;
    for (int32_t k = 0; k < layout->block_count; k++) {
      within *= layout->block_axes[k] == i ? layout->block_extents[k] : 1;
    }
    end += (layout->padded[i] / within - 1) * layout->strides[i];
  }
  return end * element;
}

bool nd4c_onednn_layout(const nd4c_onednn *dnn, const struct dnnl_memory_desc *desc, nd4c_dtype dtype,
                        nd4c_layout *layout) {
  int rank = 0, kind = 0, blocks = 0;
  const int64_t *shape = NULL, *padded = NULL, *strides = NULL, *extents = NULL, *axes = NULL;
  const struct {
    int query;
    void *result;
  } queries[] = {{DNN_QUERY_NDIMS, &rank},         {DNN_QUERY_FORMAT_KIND, &kind},   {DNN_QUERY_INNER_NBLKS, &blocks},
                 {DNN_QUERY_DIMS, &shape},         {DNN_QUERY_PADDED_DIMS, &padded}, {DNN_QUERY_STRIDES, &strides},
                 {DNN_QUERY_INNER_BLKS, &extents}, {DNN_QUERY_INNER_IDXS, &axes}};
  for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
    if (dnn->dnnl_memory_desc_query(desc, queries[i].query, queries[i].result) != DNN_SUCCESS) {
      return false;
    }
  }
  if (kind != DNN_BLOCKED || rank > ND4C_LAYOUT_AXES || blocks > ND4C_LAYOUT_BLOCKS) {
    return false;
  }
  layout->tag = ND4C_LAYOUT_BLOCKED;
  layout->dtype = dtype;
  layout->rank = rank;
  layout->block_count = blocks;
  layout->bytes = (int64_t)dnn->dnnl_memory_desc_get_size(desc);
  copy_dims(layout->shape, shape, rank);
  copy_dims(layout->padded, padded, rank);
  copy_dims(layout->strides, strides, rank);
  copy_dims(layout->block_extents, extents, blocks);
  for (int32_t i = 0; i < blocks; i++) {
    layout->block_axes[i] = (int32_t)axes[i];
  }
  return layout->bytes == blocked_bytes(layout, nd4c_cpu_dtype_bytes(dtype));
}

bool nd4c_onednn_strides_fit(int32_t rank, const int64_t *shape, const int64_t *strides) {
  if (rank > DNN_MAX_RANK) {
    return false;
  }
  bool done[DNN_MAX_RANK] = {false};
  int64_t reach = 1;
  for (int32_t n = 0; n < rank; n++) {
    int32_t next = -1;
    for (int32_t axis = 0; axis < rank; axis++) {
      bool smaller =
          next < 0 || (shape[next] == 1 && shape[axis] != 1) || (shape[axis] != 1 && strides[axis] < strides[next]);
      next = !done[axis] && smaller ? axis : next;
    }
    done[next] = true;
    if (shape[next] == 1) {
      continue;
    }
    if (shape[next] <= 0 || strides[next] < reach) {
      return false;
    }
    reach = strides[next] * shape[next];
  }
  return true;
}

/* An activation as oneDNN has it; `alpha` and `beta` are its parameters. */
static int activation_number(int64_t activation, float *alpha, float *beta) {
  *alpha = *beta = 0;
  switch (activation) {
    case ND4C_ACTIVATION_RELU:
      return DNN_RELU;
    case ND4C_ACTIVATION_GELU:
      return DNN_GELU_ERF;
    case ND4C_ACTIVATION_GELU_TANH:
      return DNN_GELU_TANH;
    case ND4C_ACTIVATION_SIGMOID:
      return DNN_LOGISTIC;
    case ND4C_ACTIVATION_SWISH:
      *alpha = 1;
      return DNN_SWISH;
    case ND4C_ACTIVATION_HARD_SWISH:
      *alpha = 1.0F / 6;
      *beta = 0.5F;
      return DNN_HARD_SWISH;
    case ND4C_ACTIVATION_RELU6:
      *beta = 6;
      return DNN_CLIP;
    default:
      return DNN_TANH;
  }
}

static int append_activation(const nd4c_onednn *dnn, dnn_post_ops post_ops, int64_t activation,
                             const struct dnnl_memory_desc *bound) {
  float alpha, beta;
  const int number = activation_number(activation, &alpha, &beta);
  if (bound == NULL || (activation != ND4C_ACTIVATION_RELU && activation != ND4C_ACTIVATION_RELU6)) {
    return dnn->dnnl_post_ops_append_eltwise(post_ops, number, alpha, beta);
  }
  const int status = dnn->dnnl_post_ops_append_binary(post_ops, DNN_MAX, bound);
  return status == DNN_SUCCESS && activation == ND4C_ACTIVATION_RELU6
             ? dnn->dnnl_post_ops_append_binary(post_ops, DNN_MIN, bound)
             : status;
}

int nd4c_onednn_attr(const nd4c_onednn *dnn, dnn_attr *attr, const struct dnnl_memory_desc *addend,
                     int64_t activation) {
  return nd4c_onednn_attr_bounded(dnn, attr, addend, activation, NULL);
}

int nd4c_onednn_attr_bounded(const nd4c_onednn *dnn, dnn_attr *attr, const struct dnnl_memory_desc *addend,
                             int64_t activation, const struct dnnl_memory_desc *bound) {
  dnn_post_ops post_ops = NULL;
  int status = dnn->dnnl_primitive_attr_create(attr);
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_primitive_attr_set_scratchpad_mode(*attr, DNN_SCRATCHPAD_USER);
  }
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_post_ops_create(&post_ops);
  }
  if (status == DNN_SUCCESS && addend != NULL) {
    status = dnn->dnnl_post_ops_append_binary(post_ops, DNN_ADD, addend);
  }
  if (status == DNN_SUCCESS && activation != ND4C_ACTIVATION_NONE) {
    status = append_activation(dnn, post_ops, activation, bound);
  }
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_primitive_attr_set_post_ops(*attr, post_ops); /* copies */
  }
  if (post_ops != NULL) {
    dnn->dnnl_post_ops_destroy(post_ops);
  }
  return status;
}

int nd4c_onednn_step_add(const nd4c_onednn *dnn, nd4c_onednn_step *step, int arg, const struct dnnl_memory_desc *desc) {
  int32_t index = step->arg_count;
  int status = dnn->dnnl_memory_desc_clone(&step->descs[index], desc);
  if (status == DNN_SUCCESS) {
    step->args[index] = arg;
    step->arg_count++;
  }
  return status;
}

int nd4c_onednn_step_make(const nd4c_onednn *dnn, nd4c_onednn_step *step) {
  const struct dnnl_memory_desc *scratchpad = dnn->dnnl_primitive_desc_query_md(step->desc, DNN_QUERY_SCRATCHPAD, 0);
  int64_t bytes = scratchpad != NULL ? (int64_t)dnn->dnnl_memory_desc_get_size(scratchpad) : 0;
  int status = dnn->dnnl_primitive_create(&step->primitive, step->desc);
  if (status == DNN_SUCCESS && bytes > 0) {
    status = nd4c_onednn_step_add(dnn, step, DNN_ARG_SCRATCHPAD, scratchpad);
    step->scratchpad_bytes = bytes;
  }
  return status;
}

int nd4c_onednn_step_reorder(const nd4c_onednn *dnn, nd4c_onednn_step *step, const struct dnnl_memory_desc *from,
                             const struct dnnl_memory_desc *to) {
  dnn_attr attr = NULL;
  int status = nd4c_onednn_attr(dnn, &attr, NULL, ND4C_ACTIVATION_NONE);
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_reorder_primitive_desc_create(&step->desc, from, dnn->engine, to, dnn->engine, attr);
  }
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_step_add(dnn, step, DNN_ARG_SRC, from);
  }
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_step_add(dnn, step, DNN_ARG_DST, to);
  }
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_step_make(dnn, step);
  }
  if (attr != NULL) {
    dnn->dnnl_primitive_attr_destroy(attr);
  }
  return status;
}

/* -- running -------------------------------------------------------------------------------------------------- */

static void binding_free(const nd4c_onednn *dnn, nd4c_onednn_binding *binding) {
  if (binding == NULL) {
    return;
  }
  for (int32_t i = 0; i < ND4C_ONEDNN_MAX_ARGS; i++) {
    if (binding->args[i].memory != NULL) {
      dnn->dnnl_memory_destroy(binding->args[i].memory);
    }
  }
  if (binding->stream != NULL) {
    dnn->dnnl_stream_destroy(binding->stream);
  }
  nd4c_cpu_host->free(binding);
}

static nd4c_status binding_make(const nd4c_onednn *dnn, const nd4c_onednn_step *step, nd4c_onednn_binding **result) {
  nd4c_onednn_binding *binding = nd4c_cpu_host->allocate(sizeof *binding);
  ND4C_CPU_FAIL_IF(binding == NULL, ND4C_MEMORY, "oneDNN: no memory for the operands of a primitive");
  int status = dnn->dnnl_stream_create(&binding->stream, dnn->engine, DNN_STREAM_DEFAULT);
  for (int32_t i = 0; i < step->arg_count && status == DNN_SUCCESS; i++) {
    binding->args[i].arg = step->args[i];
    status = dnn->dnnl_memory_create(&binding->args[i].memory, step->descs[i], dnn->engine, NULL);
  }
  if (status != DNN_SUCCESS) {
    binding_free(dnn, binding);
    return nd4c_onednn_fail("dnnl_memory_create", status);
  }
  *result = binding;
  return ND4C_OK;
}

static nd4c_onednn_binding *binding_take(nd4c_onednn_step *step) {
  for (int32_t i = 0; i < ND4C_ONEDNN_SPARE_BINDINGS; i++) {
    if (atomic_load_explicit(&step->spare[i], memory_order_relaxed) != NULL) {
      nd4c_onednn_binding *binding = atomic_exchange_explicit(&step->spare[i], NULL, memory_order_acquire);
      if (binding != NULL) {
        return binding;
      }
    }
  }
  return NULL;
}

static void binding_give(const nd4c_onednn *dnn, nd4c_onednn_step *step, nd4c_onednn_binding *binding) {
  for (int32_t i = 0; i < ND4C_ONEDNN_SPARE_BINDINGS; i++) {
    nd4c_onednn_binding *empty = NULL;
    if (atomic_compare_exchange_strong_explicit(&step->spare[i], &empty, binding, memory_order_release,
                                                memory_order_relaxed)) {
      return;
    }
  }
  binding_free(dnn, binding);
}

nd4c_status nd4c_onednn_step_run(const nd4c_onednn *dnn, nd4c_onednn_step *step, void *const *data, void *scratchpad) {
  nd4c_onednn_binding *binding = binding_take(step);
  if (binding == NULL) {
    nd4c_status made = binding_make(dnn, step, &binding);
    if (made != ND4C_OK) {
      return made;
    }
  }
  int32_t given = step->arg_count - (step->scratchpad_bytes > 0 ? 1 : 0);
  int status = DNN_SUCCESS;
  for (int32_t i = 0; i < step->arg_count && status == DNN_SUCCESS; i++) {
    status = dnn->dnnl_memory_set_data_handle(binding->args[i].memory, i < given ? data[i] : scratchpad);
  }
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_primitive_execute(step->primitive, binding->stream, step->arg_count, binding->args);
  }
  binding_give(dnn, step, binding);
  return status == DNN_SUCCESS ? ND4C_OK : nd4c_onednn_fail("dnnl_primitive_execute", status);
}

void nd4c_onednn_step_free(const nd4c_onednn *dnn, nd4c_onednn_step *step) {
  for (int32_t i = 0; i < ND4C_ONEDNN_SPARE_BINDINGS; i++) {
    binding_free(dnn, atomic_exchange(&step->spare[i], NULL));
  }
  for (int32_t i = 0; i < ND4C_ONEDNN_MAX_ARGS; i++) {
    if (step->descs[i] != NULL) {
      dnn->dnnl_memory_desc_destroy(step->descs[i]);
    }
  }
  if (step->primitive != NULL) {
    dnn->dnnl_primitive_destroy(step->primitive);
  }
  if (step->desc != NULL) {
    dnn->dnnl_primitive_desc_destroy(step->desc);
  }
  memset(step, 0, sizeof *step);
}

const char *nd4c_onednn_step_name(const nd4c_onednn *dnn, const nd4c_onednn_step *step) {
  const char *name = "?";
  dnn->dnnl_primitive_desc_query(step->desc, DNN_QUERY_NAME, 0, &name);
  return name;
}
