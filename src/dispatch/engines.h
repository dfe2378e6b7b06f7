/* The engines that configuration forces or disables, and the settings that could not be applied. Kernel choice and
 * nd4c_report_applied use it. */
#ifndef ND4C_DISPATCH_ENGINES_H
#define ND4C_DISPATCH_ENGINES_H

#include <stdbool.h>

#include "base/text.h"

enum { ND4C_ENGINE_NAME_SIZE = 64 };

/* A snapshot of SD_KERNEL_FORCE_ENGINE and SD_KERNEL_DISABLE_ENGINES. */
typedef struct nd4c_engine_rules {
  char forced[ND4C_ENGINE_NAME_SIZE]; /* "" for none */
  char disabled[512];
} nd4c_engine_rules;

void nd4c_engine_rules_read(nd4c_engine_rules *rules);
bool nd4c_engine_rules_equal(const nd4c_engine_rules *a, const nd4c_engine_rules *b);
/* True if `engine` is the forced one or in its group. */
bool nd4c_engine_is_forced(const nd4c_engine_rules *rules, const char *engine);
/* Reference is never disabled. */
bool nd4c_engine_is_disabled(const nd4c_engine_rules *rules, const char *engine);

/* A name in SD_KERNEL_DISABLE_ENGINES that is not applied, and the reason. */
typedef struct nd4c_engine_refusal {
  char name[ND4C_ENGINE_NAME_SIZE];
  const char *applied; /* instead of "NAME disabled"; static */
  char reason[256];
} nd4c_engine_refusal;

/* The next refused name of the list from *position on (first 0); false: no more. */
bool nd4c_engine_next_refusal(const nd4c_engine_rules *rules, size_t *position, nd4c_engine_refusal *refusal);
/* One indented line for each refused name; nothing if the whole list is applied. */
void nd4c_engine_print_refusals(const nd4c_engine_rules *rules, nd4c_text *text);
/* Why the forced engine did not serve a call: the name is unknown, the machine lacks the engine, or it cannot compute
 * the call. Returns the buffer. */
const char *nd4c_engine_forced_reason(const nd4c_engine_rules *rules, char *buffer, size_t size);

/* Counts a difference between what was requested and what was applied, for nd4c_report_applied. Copies the texts. */
void nd4c_report_difference(const char *op, const char *requested, const char *applied, const char *reason);

#endif
