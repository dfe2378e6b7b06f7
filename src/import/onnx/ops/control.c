/* If, Loop and Scan. Where all that decides is known and rounds are few, the inner graph is imported once for each
 * round, so that its nodes know the round. Else the node becomes one with bodies (control_nodes.c). What cannot be a
 * body is interpreted. emission/scope.c calls the emit functions through the rows below. */
#include <inttypes.h>

#include "base/status.h"
#include "device/stream/cancellation.h"
#include "import/onnx/family.h"
#include "import/onnx/ops/control_nodes.h"
#include "ops/compose/compose.h"

/* LIST_MOST: the room of a list can still double. */
enum { UNROLL_MOST = ND4C_ONNX_UNROLL_MOST, LIST_MOST = (1 << 30) - 8 };

static nd4c_status emit_if(nd4c_onnx_emission *emission) {
  double condition = 0;
  const nd4c_onnx_graph *branches[2] = {NULL, NULL};
  ND4C_TRY(nd4c_onnx_get_graph(emission, "else_branch", &branches[0]));
  ND4C_TRY(nd4c_onnx_get_graph(emission, "then_branch", &branches[1]));
  if (nd4c_onnx_takes_bodies(emission) && nd4c_onnx_constant_array(emission, emission->inputs[0]) == NULL) {
    return nd4c_onnx_emit_if_node(emission, branches[1], branches[0]);
  }
  ND4C_TRY(nd4c_onnx_read_number(emission, emission->inputs[0], "the condition", &condition));
  return nd4c_onnx_emit_graph(emission, branches[condition != 0], NULL, 0, emission->outputs,
                              emission->node->output_count);
}

/* -- lists of results ------------------------------------------------------------------------------------------ */

/* The results of all rounds for one output; the list holds each of them. */
typedef struct operand_list {
  nd4c_onnx_operand *items; /* the node's memory */
  int32_t count, capacity;
} operand_list;

static nd4c_status list_append(nd4c_onnx_emission *emission, operand_list *list, nd4c_onnx_operand operand) {
  if (list->count == list->capacity) {
    nd4c_onnx_operand *more = NULL;
    if (list->capacity > LIST_MOST) {
      return nd4c_fail(ND4C_OVERFLOW, "more than %d results of a loop", (int)list->count);
    }
    list->capacity = 2 * list->capacity + 8;
    ND4C_TRY(nd4c_onnx_claim(emission, (size_t)list->capacity, sizeof *more, "the results of a loop", &more));
    for (int32_t i = 0; i < list->count; i++) {
      more[i] = list->items[i];
    }
    list->items = more;
  }
  nd4c_onnx_hold(emission, operand);
  list->items[list->count++] = operand;
  return ND4C_OK;
}

static bool is_declared(const nd4c_onnx_value_info *info) {
  return info->type != 0 && info->rank >= 0 && info->rank < ND4C_MAX_RANK;
}

/* The result without any round, of items as `seen`. */
static nd4c_status stack_no_items(nd4c_onnx_emission *emission, const nd4c_onnx_value_info *info,
                                  const nd4c_emitted_info *seen, int64_t axis, nd4c_onnx_operand *output) {
  int64_t shape[ND4C_MAX_RANK];
  if (seen == NULL || seen->dtype == ND4C_DTYPE_NONE || seen->rank >= ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_UNSUPPORTED, "no round is run, and the body does not declare dtype and rank of output %s",
                     nd4c_span_show(info->name).text);
  }
  axis += axis < 0 ? seen->rank + 1 : 0;
  for (int32_t i = 0; i <= seen->rank; i++) {
    shape[i] = i == axis ? 0 : seen->shape[i < axis ? i : i - 1];
  }
  return nd4c_emit_full(&emission->emitter, seen->dtype, 0, seen->rank + 1, shape, output);
}

/* The result without any round. If the body declares its dtype and shape, free extents are 0; else it is as `seen`,
 * which may be NULL. */
static nd4c_status stack_nothing(nd4c_onnx_emission *emission, const nd4c_onnx_value_info *info,
                                 const nd4c_emitted_info *seen, int64_t axis, nd4c_onnx_operand *output) {
  int64_t shape[ND4C_MAX_RANK];
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  nd4c_array *array = NULL;
  if (!is_declared(info)) {
    return stack_no_items(emission, info, seen, axis, output);
  }
  axis += axis < 0 ? info->rank + 1 : 0;
  for (int32_t i = 0; i <= info->rank; i++) {
    int32_t from = i < axis ? i : i - 1;
    shape[i] = i == axis || info->shape[from] < 0 ? 0 : info->shape[from];
  }
  ND4C_TRY(nd4c_onnx_dtype_resolve(info->type, &dtype));
  ND4C_TRY(nd4c_onnx_host_array(dtype, info->rank + 1, shape, NULL, &array));
  return nd4c_emit_constant(&emission->emitter, array, output);
}

/* Stacks the items along a new axis, in reverse if asked, and releases them. seen: as for stack_nothing. */
static nd4c_status stack(nd4c_onnx_emission *emission, const nd4c_onnx_value_info *info, const nd4c_emitted_info *seen,
                         operand_list *list, int64_t axis, bool reverse, nd4c_onnx_operand *output) {
  if (list->count == 0) {
    return stack_nothing(emission, info, seen, axis, output);
  }
  for (int32_t i = 0, j = list->count - 1; reverse && i < j; i++, j--) {
    nd4c_onnx_operand swapped = list->items[i];
    list->items[i] = list->items[j];
    list->items[j] = swapped;
  }
  ND4C_TRY(nd4c_compose_stack(&emission->emitter, list->items, list->count, axis, output));
  for (int32_t i = 0; i < list->count; i++) {
    nd4c_onnx_release(emission, list->items[i]);
  }
  list->count = 0;
  return ND4C_OK;
}

/* -- rounds --------------------------------------------------------------------------------------------------- */

/* A body that is run again and again. Its inputs from first_input on and its outputs from first_output on are carried
 * from round to round; the outputs after those are collected. */
typedef struct rounds {
  const nd4c_onnx_graph *body;
  int32_t input_count, output_count, first_input, first_output, carried, collected;
  int64_t limit; /* of rounds */
  nd4c_onnx_operand *inputs, *outputs;
  operand_list *lists;
  nd4c_emitted_info *seen; /* of the collected outputs, from try_round; NULL: a round was run, or they are declared */
} rounds;

static nd4c_status rounds_open(nd4c_onnx_emission *emission, rounds *loop) {
  size_t room = (size_t)loop->input_count + (size_t)loop->output_count;
  ND4C_TRY(nd4c_onnx_claim(emission, room, sizeof *loop->inputs, "a loop", &loop->inputs));
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)loop->collected + 1, sizeof *loop->lists, "a loop", &loop->lists));
  loop->outputs = loop->inputs + loop->input_count;
  for (int32_t i = 0; i < loop->input_count; i++) {
    loop->inputs[i] = ND4C_ONNX_OPERAND_NONE;
  }
  return ND4C_OK;
}

static void carry(nd4c_onnx_emission *emission, rounds *loop, int32_t index, nd4c_onnx_operand operand) {
  nd4c_onnx_operand *place = &loop->inputs[loop->first_input + index];
  nd4c_onnx_hold(emission, operand);
  nd4c_onnx_release(emission, *place);
  *place = operand;
}

/* Runs round `number` with the current inputs. A body without nodes looks at no cancellation itself. */
static nd4c_status run_round(nd4c_onnx_emission *emission, rounds *loop, int64_t number) {
  if (number == loop->limit) {
    return nd4c_fail(ND4C_OVERFLOW, "another round follows after %" PRId64 ", the limit of the loop", number);
  }
  nd4c_status status = nd4c_cancellation_poll();
  if (status == ND4C_OK) {
    status =
        nd4c_onnx_emit_graph(emission, loop->body, loop->inputs, loop->input_count, loop->outputs, loop->output_count);
  }
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "round %" PRId64, number);
  }
  for (int32_t i = 0; i < loop->collected; i++) {
    nd4c_onnx_operand given = loop->outputs[loop->first_output + loop->carried + i];
    ND4C_TRY(list_append(emission, &loop->lists[i], given));
  }
  for (int32_t i = 0; i < loop->carried; i++) {
    carry(emission, loop, i, loop->outputs[loop->first_output + i]);
  }
  return ND4C_OK;
}

/* The declaration of collected output `index`. */
static const nd4c_onnx_value_info *collected_info(const rounds *loop, int32_t index) {
  return nd4c_onnx_graph_output(loop->body, loop->first_output + loop->carried + index);
}

/* Without any round: imports the body once all the same, if it does not declare what it collects, to see dtype and
 * shape of that. Nothing reads what it gives. The inputs other than carried ones are set. */
static nd4c_status try_round(nd4c_onnx_emission *emission, rounds *loop) {
  bool declared = true;
  const int32_t mark = nd4c_onnx_mark(emission);
  for (int32_t i = 0; i < loop->collected; i++) {
    declared = declared && is_declared(collected_info(loop, i));
  }
  if (declared) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)loop->collected, sizeof *loop->seen, "a loop", &loop->seen));
  const nd4c_status status =
      nd4c_onnx_emit_graph(emission, loop->body, loop->inputs, loop->input_count, loop->outputs, loop->output_count);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "no round is run, and the body, which does not declare all outputs, was tried");
  }
  for (int32_t i = 0; i < loop->collected; i++) {
    loop->seen[i] = nd4c_emitted_get(&emission->emitter, loop->outputs[loop->first_output + loop->carried + i]);
  }
  nd4c_onnx_sweep(emission, mark);
  return ND4C_OK;
}

/* Called last: carried operands may also be collected ones, and stack() releases those. */
static nd4c_status give_carried(nd4c_onnx_emission *emission, rounds *loop, nd4c_onnx_operand *outputs) {
  for (int32_t i = 0; i < loop->carried; i++) {
    outputs[i] = loop->inputs[loop->first_input + i];
    loop->inputs[loop->first_input + i] = ND4C_ONNX_OPERAND_NONE;
    ND4C_TRY(nd4c_onnx_pass(emission, outputs[i]));
  }
  return ND4C_OK;
}

/* -- Loop ----------------------------------------------------------------------------------------------------- */

static nd4c_status read_trips(nd4c_onnx_emission *emission, int64_t *trips) {
  int32_t count = 0;
  *trips = INT64_MAX;
  if (nd4c_onnx_input(emission, 0) == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[0], "the number of rounds", 1, trips, &count));
  return count == 1 ? ND4C_OK : nd4c_fail(ND4C_FORMAT, "the number of rounds is empty; expected one number");
}

/* The inputs of the body that are not carried: the round's number and true. */
static nd4c_status set_round(nd4c_onnx_emission *emission, rounds *loop, int64_t number) {
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_onnx_host_array(ND4C_INT64, 0, NULL, &number, &array));
  ND4C_TRY(nd4c_emit_constant(&emission->emitter, array, &loop->inputs[0]));
  return nd4c_emit_scalar(&emission->emitter, ND4C_BOOL, 1, &loop->inputs[1]);
}

/* Runs one round; *goes_on: whether the body asks for another round. */
static nd4c_status loop_round(nd4c_onnx_emission *emission, rounds *loop, int64_t number, bool *goes_on) {
  double condition = 0;
  int32_t mark = nd4c_onnx_mark(emission);
  ND4C_TRY(set_round(emission, loop, number));
  ND4C_TRY(run_round(emission, loop, number));
  ND4C_TRY(nd4c_onnx_read_number(emission, loop->outputs[0], "the loop's condition", &condition));
  *goes_on = condition != 0;
  nd4c_onnx_sweep(emission, mark);
  return ND4C_OK;
}

static nd4c_status run_rounds(nd4c_onnx_emission *emission, rounds *loop, int64_t trips, bool goes_on) {
  const int32_t around = nd4c_onnx_unrolled(emission);
  nd4c_status status = ND4C_OK;
  nd4c_onnx_set_unrolled(emission, nd4c_onnx_rounds_together(around, trips));
  for (int64_t i = 0; i < trips && goes_on && status == ND4C_OK; i++) {
    status = i == UNROLL_MOST && !nd4c_onnx_is_interpreting(emission)
                 ? nd4c_onnx_need_values(emission, "a loop of many rounds")
                 : loop_round(emission, loop, i, &goes_on);
  }
  nd4c_onnx_set_unrolled(emission, around);
  return status;
}

static nd4c_status run_loop(nd4c_onnx_emission *emission, rounds *loop, int64_t trips, bool goes_on) {
  const bool began = goes_on;
  for (int32_t i = 0; i < loop->carried; i++) {
    carry(emission, loop, i, emission->inputs[2 + i]);
  }
  ND4C_TRY(run_rounds(emission, loop, trips, goes_on));
  if (trips <= 0 || !began) {
    ND4C_TRY(set_round(emission, loop, 0));
    ND4C_TRY(try_round(emission, loop));
  }
  for (int32_t i = 0; i < loop->collected && loop->carried + i < emission->node->output_count; i++) {
    const nd4c_emitted_info *seen = loop->seen != NULL ? &loop->seen[i] : NULL;
    ND4C_TRY(stack(emission, collected_info(loop, i), seen, &loop->lists[i], 0, false,
                   &emission->outputs[loop->carried + i]));
  }
  return give_carried(emission, loop, emission->outputs);
}

static nd4c_status emit_loop(nd4c_onnx_emission *emission) {
  rounds loop = {.first_input = 2,
                 .first_output = 1,
                 .carried = emission->input_count - 2,
                 .limit = nd4c_onnx_loop_limit(emission)};
  int64_t trips = 0;
  double condition = 1;
  ND4C_TRY(nd4c_onnx_get_graph(emission, "body", &loop.body));
  loop.input_count = loop.body->inputs.count;
  loop.output_count = loop.body->outputs.count;
  loop.collected = loop.output_count - 1 - loop.carried;
  if (emission->input_count < 2 || loop.input_count != 2 + loop.carried || loop.collected < 0 ||
      emission->node->output_count > loop.carried + loop.collected || emission->node->output_count < loop.carried) {
    return nd4c_fail(ND4C_FORMAT, "%d inputs and %d outputs do not agree with the body's %d and %d",
                     (int)emission->input_count, (int)emission->node->output_count, (int)loop.input_count,
                     (int)loop.output_count);
  }
  bool done = false;
  ND4C_TRY(nd4c_onnx_emit_loop_node(emission, loop.body, loop.carried, &done));
  if (done) {
    return ND4C_OK;
  }
  if (emission->inputs[1] != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_onnx_read_number(emission, emission->inputs[1], "the loop's condition", &condition));
  }
  if (condition != 0) { /* else the number does not matter, and may be the run's */
    ND4C_TRY(read_trips(emission, &trips));
  }
  ND4C_TRY(nd4c_onnx_run_loop(emission, loop.body, loop.carried, trips, &done));
  if (done) {
    return ND4C_OK;
  }
  ND4C_TRY(rounds_open(emission, &loop));
  return run_loop(emission, &loop, trips, condition != 0);
}

/* -- Scan ----------------------------------------------------------------------------------------------------- */

/* One integer for each input or output; those that are not given are 0. */
typedef struct scan_numbers {
  const int64_t *values;
  int32_t count;
} scan_numbers;

typedef struct scan {
  rounds loop;
  int32_t scanned; /* inputs */
  scan_numbers input_axes, input_directions, output_axes, output_directions;
} scan;

static int64_t number_at(const scan_numbers *numbers, int32_t index) {
  return index < numbers->count ? numbers->values[index] : 0;
}

static nd4c_status read_numbers(nd4c_onnx_emission *emission, const char *name, int32_t expected,
                                scan_numbers *numbers) {
  ND4C_TRY(nd4c_onnx_get_ints(emission, name, &numbers->values, &numbers->count));
  if (numbers->count != 0 && numbers->count != expected) {
    return nd4c_fail(ND4C_FORMAT, "attribute '%s' has %d entries; expected %d", name, (int)numbers->count,
                     (int)expected);
  }
  return ND4C_OK;
}

/* The axis of scanned input `index`, and how many rounds it asks for: a number or an extent of the graph's dims. */
static nd4c_status scanned_length(nd4c_onnx_emission *emission, const scan *s, nd4c_onnx_operand x, int32_t index,
                                  int64_t *axis, int64_t *length) {
  int32_t fixed = 0;
  ND4C_TRY(nd4c_onnx_fix_axis(emission, x, number_at(&s->input_axes, index), &fixed));
  *axis = fixed;
  *length = nd4c_emitted_get(&emission->emitter, x).shape[fixed];
  return ND4C_OK;
}

static nd4c_status scan_round(nd4c_onnx_emission *emission, scan *s, const nd4c_onnx_operand *scanned, int64_t number) {
  int32_t mark = nd4c_onnx_mark(emission);
  for (int32_t i = 0; i < s->scanned; i++) {
    int64_t axis = 0;
    int64_t length = 0;
    ND4C_TRY(scanned_length(emission, s, scanned[i], i, &axis, &length));
    int64_t index = number_at(&s->input_directions, i) != 0 ? length - 1 - number : number;
    ND4C_TRY(nd4c_compose_select(&emission->emitter, scanned[i], axis, index, &s->loop.inputs[s->loop.carried + i]));
  }
  ND4C_TRY(run_round(emission, &s->loop, number));
  nd4c_onnx_sweep(emission, mark);
  return ND4C_OK;
}

/* Without any round: as try_round, with zeros as what is scanned. */
static nd4c_status try_scan_round(nd4c_onnx_emission *emission, scan *s, const nd4c_onnx_operand *scanned) {
  for (int32_t i = 0; i < s->scanned; i++) {
    int64_t axis = 0, length = 0;
    ND4C_TRY(scanned_length(emission, s, scanned[i], i, &axis, &length));
    nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, scanned[i]);
    for (int32_t j = (int32_t)axis; j + 1 < info.rank; j++) {
      info.shape[j] = info.shape[j + 1];
    }
    ND4C_TRY(nd4c_emit_full(&emission->emitter, info.dtype, 0, info.rank - 1, info.shape,
                            &s->loop.inputs[s->loop.carried + i]));
  }
  return try_round(emission, &s->loop);
}

/* A scan of many rounds. */
static nd4c_status scan_node(nd4c_onnx_emission *emission, const scan *s, const nd4c_onnx_operand *states,
                             const nd4c_onnx_operand *scanned, nd4c_onnx_operand *outputs) {
  nd4c_onnx_scan_node node = {.body = s->loop.body,
                              .carried = s->loop.carried,
                              .scanned = s->scanned,
                              .collected = s->loop.collected,
                              .states = states,
                              .inputs = scanned};
  ND4C_TRY(
      nd4c_onnx_claim(emission, (size_t)(s->scanned + s->loop.collected) + 1, sizeof *node.axes, "a scan", &node.axes));
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)(s->scanned + s->loop.collected) + 1, sizeof *node.backward, "a scan",
                           &node.backward));
  for (int32_t i = 0; i < s->scanned + s->loop.collected; i++) {
    const bool input = i < s->scanned;
    const int32_t index = input ? i : i - s->scanned;
    node.axes[i] = (int32_t)number_at(input ? &s->input_axes : &s->output_axes, index);
    node.backward[i] = number_at(input ? &s->input_directions : &s->output_directions, index) != 0;
  }
  return nd4c_onnx_emit_scan_node(emission, &node, outputs);
}

enum { ALL = -1 };

/* All rounds over given states and scanned inputs. count ALL: as many as the inputs are long. */
static nd4c_status scan_once(nd4c_onnx_emission *emission, scan *s, const nd4c_onnx_operand *states,
                             const nd4c_onnx_operand *scanned, int64_t count, nd4c_onnx_operand *outputs) {
  rounds *loop = &s->loop;
  for (int32_t i = 0; i < s->scanned; i++) {
    int64_t axis = 0;
    int64_t length = 0;
    ND4C_TRY(scanned_length(emission, s, scanned[i], i, &axis, &length));
    if (emission->opset < 9) {
      ND4C_TRY(nd4c_onnx_check_number(emission, length, "the number of rounds"));
    }
    count = count == ALL ? length : count;
    if (emission->opset < 9 ? count > length : !nd4c_onnx_assume(emission, ND4C_RELATION_EQUAL, count, length)) {
      return nd4c_fail(ND4C_SHAPE, "scanned input %d is %" PRId64 " long; expected %" PRId64, (int)i, length, count);
    }
    count = count < 0 ? length : count; /* a number, if one of them is */
  }
  if ((count > UNROLL_MOST || nd4c_extent_is_symbolic(count)) && !nd4c_onnx_is_interpreting(emission)) {
    return nd4c_onnx_takes_bodies(emission) && emission->opset >= 9
               ? scan_node(emission, s, states, scanned, outputs)
               : nd4c_onnx_need_values(emission, "a scan of many rounds");
  }
  for (int32_t i = 0; i < loop->carried; i++) {
    carry(emission, loop, i, states[i]);
  }
  for (int64_t i = 0; i < count; i++) {
    ND4C_TRY(scan_round(emission, s, scanned, i));
  }
  ND4C_TRY(count == 0 ? try_scan_round(emission, s, scanned) : ND4C_OK);
  for (int32_t i = 0; i < loop->collected; i++) {
    const nd4c_emitted_info *seen = loop->seen != NULL ? &loop->seen[i] : NULL;
    ND4C_TRY(stack(emission, collected_info(loop, i), seen, &loop->lists[i], number_at(&s->output_axes, i),
                   number_at(&s->output_directions, i) != 0, &outputs[loop->carried + i]));
  }
  return give_carried(emission, loop, outputs);
}

/* Opset 8: axis 0 of all inputs and outputs is a batch, whose items have lengths of their own. */
static nd4c_status scan_batch(nd4c_onnx_emission *emission, scan *s, int64_t batch, const int64_t *lengths,
                              nd4c_onnx_operand *parts, nd4c_onnx_operand *given, operand_list *lists) {
  const nd4c_onnx_operand *inputs = emission->inputs + 1;
  int32_t input_count = s->loop.input_count;
  int32_t output_count = s->loop.output_count;
  int64_t longest = nd4c_emitted_get(&emission->emitter, inputs[s->loop.carried]).shape[1];
  for (int64_t b = 0; b < batch; b++) {
    for (int32_t i = 0; i < input_count; i++) {
      ND4C_TRY(nd4c_compose_select(&emission->emitter, inputs[i], 0, b, &parts[i]));
    }
    ND4C_TRY(scan_once(emission, s, parts, parts + s->loop.carried, lengths[b], given));
    for (int32_t i = 0; i < output_count; i++) {
      if (i >= s->loop.carried && nd4c_emitted_get(&emission->emitter, given[i]).rank > 0) {
        ND4C_TRY(nd4c_compose_fit(&emission->emitter, given[i], 0, longest, &given[i]));
      }
      ND4C_TRY(list_append(emission, &lists[i], given[i]));
    }
  }
  for (int32_t i = 0; i < output_count; i++) {
    ND4C_TRY(
        stack(emission, nd4c_onnx_graph_output(s->loop.body, i), NULL, &lists[i], 0, false, &emission->outputs[i]));
  }
  return ND4C_OK;
}

static nd4c_status run_scan_8(nd4c_onnx_emission *emission, scan *s) {
  enum { BATCH_MOST = 4096 };
  int64_t lengths[BATCH_MOST];
  int32_t given = 0;
  nd4c_emitted_info first = nd4c_emitted_get(&emission->emitter, emission->inputs[1 + s->loop.carried]);
  if (first.rank < 2 || first.shape[0] < 1 || first.shape[0] > BATCH_MOST) {
    return nd4c_fail(ND4C_SHAPE, "a scanned input of rank %d; expected a batch of 1 to %d and a sequence",
                     (int)first.rank, (int)BATCH_MOST);
  }
  for (int64_t i = 0; i < first.shape[0]; i++) {
    lengths[i] = first.shape[1];
  }
  if (emission->inputs[0] != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[0], "the lengths of the sequences", BATCH_MOST, lengths,
                                 &given));
    if (given != first.shape[0]) {
      return nd4c_fail(ND4C_SHAPE, "%d lengths for a batch of %" PRId64, (int)given, first.shape[0]);
    }
  }
  for (int64_t i = 0; i < first.shape[0]; i++) {
    if (lengths[i] < 0 || lengths[i] > first.shape[1]) {
      return nd4c_fail(ND4C_SHAPE, "length %" PRId64 " of a sequence of %" PRId64, lengths[i], first.shape[1]);
    }
  }
  size_t room = (size_t)s->loop.input_count + (size_t)s->loop.output_count;
  nd4c_onnx_operand *parts = NULL;
  operand_list *lists = NULL;
  ND4C_TRY(nd4c_onnx_claim(emission, room, sizeof *parts, "a scan", &parts));
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)s->loop.output_count + 1, sizeof *lists, "a scan", &lists));
  return scan_batch(emission, s, first.shape[0], lengths, parts, parts + s->loop.input_count, lists);
}

static nd4c_status emit_scan(nd4c_onnx_emission *emission) {
  scan s = {.loop = {.limit = INT64_MAX}}; /* its rounds are those of an extent */
  int64_t scanned = 0;
  int32_t before = emission->opset < 9 ? 1 : 0; /* the lengths */
  ND4C_TRY(nd4c_onnx_get_graph(emission, "body", &s.loop.body));
  ND4C_TRY(nd4c_onnx_get_int(emission, "num_scan_inputs", 0, &scanned));
  s.loop.input_count = s.loop.body->inputs.count;
  s.loop.output_count = s.loop.body->outputs.count;
  if (scanned < 1 || scanned > s.loop.input_count || emission->input_count != before + s.loop.input_count ||
      emission->node->output_count != s.loop.output_count || s.loop.output_count < s.loop.input_count - scanned) {
    return nd4c_fail(ND4C_FORMAT,
                     "%d inputs, %" PRId64 " of them scanned, and %d outputs do not agree with the body's %d and %d",
                     (int)emission->input_count, scanned, (int)emission->node->output_count, (int)s.loop.input_count,
                     (int)s.loop.output_count);
  }
  for (int32_t i = before; i < emission->input_count; i++) {
    if (emission->inputs[i] == ND4C_ONNX_OPERAND_NONE) {
      return nd4c_fail(ND4C_FORMAT, "input %d is left out, but required", (int)i);
    }
  }
  s.scanned = (int32_t)scanned;
  s.loop.carried = s.loop.input_count - s.scanned;
  s.loop.collected = s.loop.output_count - s.loop.carried;
  ND4C_TRY(
      read_numbers(emission, before == 1 ? "directions" : "scan_input_directions", s.scanned, &s.input_directions));
  if (before == 0) {
    ND4C_TRY(read_numbers(emission, "scan_input_axes", s.scanned, &s.input_axes));
    ND4C_TRY(read_numbers(emission, "scan_output_axes", s.loop.collected, &s.output_axes));
    ND4C_TRY(read_numbers(emission, "scan_output_directions", s.loop.collected, &s.output_directions));
  }
  ND4C_TRY(rounds_open(emission, &s.loop));
  return before == 1
             ? run_scan_8(emission, &s)
             : scan_once(emission, &s, emission->inputs, emission->inputs + s.loop.carried, ALL, emission->outputs);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                                          \
  CHAIN(If, 1, LAST, 1, 1, ANY, if, NONE, "one of two inner graphs; a node with bodies, if data decides")             \
  CHAIN(Loop, 1, LAST, 0, ANY, ANY, loop, NONE, "an inner graph for each round, at most 64; else a node with a body") \
  CHAIN(Scan, 8, LAST, 0, ANY, ANY, scan, NONE, "an inner graph for each slice, at most 64; else a node with a body")

ND4C_ONNX_FAMILY(control, "", ROWS)
