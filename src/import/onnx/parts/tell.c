/* The text about a model in parts, for reports and for `nd4c graph`. import/model_parts.c asks for it. */
#include "base/text.h"
#include "import/onnx/parts/parts.h"

static const nd4c_onnx_graph *graph_of(const nd4c_onnx_parts *parts) {
  return &parts->model->graph;
}

static void tell_values(const nd4c_onnx_parts *parts, const int32_t *numbers, int32_t count, nd4c_text *text) {
  enum { SHOWN = 8 };
  for (int32_t i = 0; i < count && i < SHOWN; i++) {
    nd4c_text_print(text, "%s%s", i > 0 ? ", " : " ",
                    nd4c_span_show(nd4c_onnx_graph_value(graph_of(parts), numbers[i])->name).text);
  }
  if (count > SHOWN) {
    nd4c_text_print(text, " and %d more", (int)(count - SHOWN));
  }
}

/* Nodes that could be planned, in one line. */
static void tell_small(const nd4c_onnx_parts *parts, const nd4c_onnx_level *level, nd4c_text *text) {
  bool any = false;
  for (int32_t i = 0; i < level->gap_count; i++) {
    if (level->gaps[i].why == NULL) {
      nd4c_text_print(text, "%s%s", any ? ", " : "interpreted, too little for a plan: ",
                      nd4c_onnx_node_show(nd4c_onnx_graph_node(graph_of(parts), level->gaps[i].node)).text);
      any = true;
    }
  }
  nd4c_text_print(text, "%s", any ? "\n" : "");
}

void nd4c_onnx_parts_tell(const nd4c_onnx_parts *parts, nd4c_text *text) {
  int32_t part = 0, gaps = 0;
  for (int32_t i = 0; i < parts->level_count; i++) {
    gaps += parts->levels[i].gap_count;
  }
  nd4c_text_print(text, "interpreted in part: %d of %d nodes, beside %d planned part%s\n", (int)gaps,
                  (int)graph_of(parts)->nodes.count, (int)parts->part_count, parts->part_count > 1 ? "s" : "");
  for (int32_t i = 0; i < parts->level_count; i++) {
    const nd4c_onnx_level *level = &parts->levels[i];
    if (level->output_count > 0) {
      nd4c_text_print(text, "part %d: %d nodes; reads", (int)++part, (int)level->node_count);
      tell_values(parts, level->inputs, level->input_count, text);
      nd4c_text_print(text, "; gives");
      tell_values(parts, level->outputs, level->output_count, text);
      nd4c_text_print(text, "\n");
    }
    for (int32_t k = 0; k < level->gap_count; k++) {
      if (level->gaps[k].why != NULL) {
        nd4c_text_print(text, "interpreted: %s\n", level->gaps[k].why);
      }
    }
    tell_small(parts, level, text);
  }
}
