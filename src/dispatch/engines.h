/* Which engines configuration forces or disables, and what was asked for but not applied. */
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
/* True if `engine` is the forced one or in its group. */
bool nd4c_engine_is_forced(const nd4c_engine_rules *rules, const char *engine);
/* Reference is never disabled. */
bool nd4c_engine_is_disabled(const nd4c_engine_rules *rules, const char *engine);

/* Counts a difference between request and application; shown by nd4c_report_applied. Texts are copied. */
void nd4c_report_difference(const char *op, const char *requested, const char *applied, const char *reason);

#endif
