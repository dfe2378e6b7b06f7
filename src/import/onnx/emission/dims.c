/* Dims of a model's inputs: a symbol of the file is one dim, and a free extent without a symbol is a dim of its own.
 * import.c declares the inputs of a graph with it. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "graph/ir/graph.h"
#include "import/onnx/importer.h"

/* Empty arrays are rare, and many rules ask whether an extent is 0: a model is imported by itself for those. */
enum { LEAST = 1, MOST_TRIES = 1000 };

/* The dim of that name, declared if it is new. */
static nd4c_status name_dim(nd4c_graph *graph, const char *name, int64_t *extent) {
  const int32_t dim = graph->extents != NULL ? nd4c_extents_find_dim(graph->extents, name) : -1;
  if (dim < 0) {
    return nd4c_graph_dim(graph, name, LEAST, -1, extent);
  }
  return nd4c_extents_dim_extent(graph->extents, dim, extent) ? ND4C_OK : nd4c_extents_failure(graph->extents);
}

static nd4c_status symbol_dim(nd4c_graph *graph, nd4c_span symbol, int64_t *extent) {
  char *name = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(symbol.size + 1, 1, "a name", &name));
  memcpy(name, symbol.bytes, symbol.size);
  nd4c_status status = name_dim(graph, name, extent);
  nd4c_deallocate(name);
  return status;
}

/* Whether an input's declaration uses the text as a symbol. */
static bool is_symbol(const nd4c_onnx_graph *graph, const char *text) {
  for (int32_t i = 0; i < graph->inputs.count; i++) {
    const nd4c_onnx_value_info *info = nd4c_onnx_graph_input(graph, i);
    for (int32_t j = 0; j < info->rank; j++) {
      if (nd4c_span_is(info->symbols[j], text)) {
        return true;
      }
    }
  }
  return false;
}

/* "x.0'" if a symbol is called "x.0". */
nd4c_status nd4c_onnx_free_dim(nd4c_onnx_importer *importer, nd4c_span value, int32_t axis, int64_t least,
                               int64_t *extent) {
  char name[ND4C_SPAN_TEXT_SIZE + 16];
  const nd4c_graph *graph = importer->graph;
  int length = snprintf(name, sizeof name - 1, "%.*s.%d", (int)(value.size < ND4C_SPAN_TEXT_SIZE ? value.size : 0),
                        (const char *)value.bytes, (int)axis);
  bool taken = true;
  for (int32_t i = 0; taken && i < MOST_TRIES && length < (int)sizeof name - 1; i++) {
    taken = is_symbol(&importer->model->graph, name) ||
            (graph->extents != NULL && nd4c_extents_find_dim(graph->extents, name) >= 0);
    if (taken) {
      name[length++] = '\'';
      name[length] = '\0';
    }
  }
  return taken ? nd4c_fail(ND4C_UNSUPPORTED, "no name is left for the dims of the inputs")
               : nd4c_graph_dim(importer->graph, name, least, -1, extent);
}

nd4c_status nd4c_onnx_declare_shape(nd4c_onnx_importer *importer, const nd4c_onnx_value_info *info,
                                    int64_t shape[ND4C_MAX_RANK]) {
  if (info->rank < 0 || info->rank > ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the model leaves the rank of input %s free", nd4c_span_show(info->name).text);
  }
  for (int32_t i = 0; i < info->rank; i++) {
    if (info->symbols[i].size > 0) {
      ND4C_TRY(symbol_dim(importer->graph, info->symbols[i], &shape[i]));
    } else if (info->shape[i] < 0 || importer->options->frees_all) {
      ND4C_TRY(nd4c_onnx_free_dim(importer, info->name, i, LEAST, &shape[i]));
    } else {
      shape[i] = info->shape[i];
    }
  }
  return ND4C_OK;
}
