/* Implements answer.h: asks a compiler, then checks what it answered. Called by graph/plan/partition.c for plans,
 * dispatch/choice.c for eager calls, device/registry/verify.c for the check of a device. */
#include "device/provider/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/log.h"
#include "base/grouping.h"
#include "base/status.h"
#include "base/text.h"
#include "device/driver.h"

enum { REASON_LIMIT = 1024 };

/* The first error counts; the compiler gets a status and may continue. */
static nd4c_status refuse(nd4c_answer *answer, const char *format, ...) ND4C_PRINTF(2, 3);
static nd4c_status refuse(nd4c_answer *answer, const char *format, ...) {
  if (answer->refusal[0] == '\0') {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(answer->refusal, sizeof answer->refusal, format, arguments);
    va_end(arguments);
    nd4c_text_clean(answer->refusal, false); /* it may have been cut */
  }
  return nd4c_fail(ND4C_ARGUMENT, "%s", answer->refusal);
}

static bool is_node(const nd4c_answer *answer, int32_t node) {
  return node >= 0 && node < answer->region->node_count;
}

static nd4c_status take(nd4c_partition *partition, const int32_t *nodes, int32_t node_count, int64_t nanoseconds,
                        uint32_t flags) {
  nd4c_answer *answer = (nd4c_answer *)partition;
  int32_t piece = answer->piece_count;
  if (nodes == NULL || node_count <= 0 || node_count > answer->region->node_count) {
    return refuse(answer, "a piece of %d nodes was taken from a region of %d", node_count, answer->region->node_count);
  }
  for (int32_t i = 0; i < node_count; i++) {
    if (!is_node(answer, nodes[i])) {
      return refuse(answer, "node %d was taken, the region has %d", nodes[i], answer->region->node_count);
    }
    if (answer->piece_of[nodes[i]] >= 0) {
      return refuse(answer, "node %d was taken twice", nodes[i]);
    }
    answer->piece_of[nodes[i]] = piece;
  }
  answer->pieces[piece] = (nd4c_answer_piece){
      .node_count = node_count, .nanoseconds = nanoseconds < 0 ? ND4C_COST_UNKNOWN : nanoseconds, .flags = flags};
  answer->piece_count++;
  return ND4C_OK;
}

static nd4c_status decline(nd4c_partition *partition, int32_t node, const char *reason) {
  nd4c_answer *answer = (nd4c_answer *)partition;
  if (!is_node(answer, node)) {
    return refuse(answer, "node %d was declined, the region has %d", node, answer->region->node_count);
  }
  if (reason == NULL || answer->reasons[node] != NULL) {
    return ND4C_OK;
  }
  const char *end = memchr(reason, '\0', REASON_LIMIT);
  const size_t length = end != NULL ? (size_t)(end - reason) : REASON_LIMIT;
  char *copy = nd4c_allocate(length + 1);
  if (copy == NULL) {
    return nd4c_fail_memory("a compiler's reason", length + 1);
  }
  memcpy(copy, reason, length);
  copy[length] = '\0';
  answer->reasons[node] = nd4c_text_clean(copy, false); /* reports have a line for each node */
  return ND4C_OK;
}

/* -- checking ---------------------------------------------------------------------------------------------------- */

/* The nodes of the region that produce each node's inputs. */
static nd4c_status list_edges(const nd4c_segment *region, int32_t **first_before, int32_t **before) {
  int64_t edges = 0;
  for (int32_t i = 0; i < region->node_count; i++) {
    edges += region->nodes[i]->input_count;
  }
  int32_t *producer = nd4c_allocate((size_t)(region->value_count + 1) * sizeof *producer);
  *first_before = nd4c_allocate((size_t)(region->node_count + 1) * sizeof **first_before);
  *before = nd4c_allocate((size_t)(edges + 1) * sizeof **before);
  if (producer == NULL || *first_before == NULL || *before == NULL) {
    nd4c_deallocate(producer);
    return nd4c_fail_memory("a compiler's answer", (size_t)edges * sizeof **before);
  }
  for (int32_t i = 0; i < region->value_count; i++) {
    producer[i] = -1;
  }
  for (int32_t i = 0; i < region->node_count; i++) {
    for (int32_t k = 0; k < region->nodes[i]->output_count; k++) {
      producer[region->node_outputs[i][k]] = i;
    }
  }
  int32_t count = 0;
  for (int32_t i = 0; i < region->node_count; i++) {
    (*first_before)[i] = count;
    for (int32_t k = 0; k < region->nodes[i]->input_count; k++) {
      int32_t value = region->node_inputs[i][k];
      if (value >= 0 && producer[value] >= 0) {
        (*before)[count++] = producer[value];
      }
    }
  }
  (*first_before)[region->node_count] = count;
  nd4c_deallocate(producer);
  return ND4C_OK;
}

/* Pieces of one node, and a single piece of all nodes, cannot cross. */
static bool needs_order(const nd4c_answer *answer) {
  int32_t largest = 0;
  for (int32_t i = 0; i < answer->piece_count; i++) {
    largest = answer->pieces[i].node_count > largest ? answer->pieces[i].node_count : largest;
  }
  return largest > 1 && largest < answer->region->node_count;
}

static nd4c_status check_order(nd4c_answer *answer) {
  int32_t *first_before = NULL, *before = NULL, crossed = -1;
  int32_t *order = nd4c_allocate((size_t)answer->region->node_count * sizeof *order);
  nd4c_status status = order == NULL
                           ? nd4c_fail_memory("a compiler's answer", (size_t)answer->region->node_count * sizeof *order)
                           : list_edges(answer->region, &first_before, &before);
  if (status == ND4C_OK) {
    const nd4c_grouping grouping = {.count = answer->region->node_count,
                                    .group_count = answer->piece_count,
                                    .first_before = first_before,
                                    .before = before,
                                    .group_of = answer->piece_of};
    status = nd4c_grouping_order(&grouping, order, &crossed);
  }
  if (status == ND4C_OK && crossed >= 0) {
    (void)refuse(answer, "piece %d of %d nodes is not convex: a path leaves it and enters it again", crossed,
                 answer->pieces[crossed].node_count);
  }
  nd4c_deallocate(order);
  nd4c_deallocate(first_before);
  nd4c_deallocate(before);
  return status;
}

static void take_nothing(nd4c_answer *answer) {
  memset(answer->piece_of, -1, (size_t)answer->region->node_count * sizeof *answer->piece_of);
  answer->piece_count = 0;
}

nd4c_status nd4c_answer_ask(const nd4c_compiler *compiler, void *handle, const nd4c_segment *region,
                            const nd4c_compile_options *options, nd4c_answer *answer) {
  size_t count = (size_t)region->node_count;
  *answer = (nd4c_answer){.partition = {.struct_size = ND4C_SIZE_OF(nd4c_partition), .take = take, .decline = decline},
                          .compiler = compiler,
                          .region = region,
                          .piece_of = nd4c_allocate(count * sizeof *answer->piece_of),
                          .pieces = nd4c_allocate(count * sizeof *answer->pieces),
                          .reasons = nd4c_allocate_zeroed(count, sizeof *answer->reasons)};
  if (answer->piece_of == NULL || answer->pieces == NULL || answer->reasons == NULL) {
    return nd4c_fail_memory("a compiler's answer", count * sizeof *answer->pieces);
  }
  take_nothing(answer);
  nd4c_error_expect();
  const nd4c_status status =
      nd4c_driver_answer(compiler->partition(compiler->data, handle, region, options, &answer->partition), "partition");
  if (status == ND4C_MEMORY || status == ND4C_MEMORY_CAP) {
    return status;
  }
  if (status != ND4C_OK && answer->refusal[0] == '\0') {
    (void)refuse(answer, "%s", nd4c_error_message());
  }
  if (answer->refusal[0] == '\0' && needs_order(answer)) {
    ND4C_TRY(check_order(answer));
  }
  if (answer->refusal[0] != '\0') {
    nd4c_log_write(ND4C_LOG_WARNING, "compiler", "the answer of %s is refused: %s", compiler->engine, answer->refusal);
    take_nothing(answer);
  }
  return ND4C_OK;
}

const char *nd4c_answer_reason(const nd4c_answer *answer, int32_t node) {
  return answer->refusal[0] != '\0'      ? answer->refusal
         : answer->reasons[node] != NULL ? answer->reasons[node]
                                         : "no reason given";
}

void nd4c_answer_free(nd4c_answer *answer) {
  for (int32_t i = 0; answer->reasons != NULL && i < answer->region->node_count; i++) {
    nd4c_deallocate(answer->reasons[i]);
  }
  nd4c_deallocate(answer->reasons);
  nd4c_deallocate(answer->piece_of);
  nd4c_deallocate(answer->pieces);
}
