#include "dispatch/engines.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/status.h"
#include "nd4c/op.h"

/* X(group, members): names that stand for several engines, as in the reference. */
#define ENGINE_GROUPS(X)              \
  X("cpu", "reference,simd,openblas") \
  X("cuda", "cuda,cublas,cudnn")

/* True if `name` stands in a comma-separated list, without regard to case and spaces. */
static bool list_has(const char *list, const char *name) {
  size_t length = strlen(name);
  while (*list != '\0') {
    while (*list == ',' || *list == ' ') {
      ++list;
    }
    size_t item = strcspn(list, ", ");
    bool same = item == length;
    for (size_t i = 0; same && i < item; ++i) {
      same = tolower((unsigned char)list[i]) == tolower((unsigned char)name[i]);
    }
    if (same && item > 0) {
      return true;
    }
    list += item;
  }
  return false;
}

/* True if a list of engines and groups covers the engine. */
static bool list_covers(const char *list, const char *engine) {
  if (list_has(list, engine)) {
    return true;
  }
#define GROUP_CASE(group, members)                          \
  if (list_has(list, group) && list_has(members, engine)) { \
    return true;                                            \
  }
  ENGINE_GROUPS(GROUP_CASE)
#undef GROUP_CASE
  return false;
}

void nd4c_engine_rules_read(nd4c_engine_rules *rules) {
  (void)nd4c_config_string(ND4C_CONFIG_FORCE_ENGINE, rules->forced, sizeof rules->forced);
  (void)nd4c_config_string(ND4C_CONFIG_DISABLE_ENGINES, rules->disabled, sizeof rules->disabled);
}

bool nd4c_engine_is_forced(const nd4c_engine_rules *rules, const char *engine) {
  return list_covers(rules->forced, engine);
}

bool nd4c_engine_is_disabled(const nd4c_engine_rules *rules, const char *engine) {
  return strcmp(engine, "reference") != 0 && list_covers(rules->disabled, engine);
}

/* -- requested against applied -------------------------------------------------------------------------------- */

enum { DIFFERENCE_LIMIT = 256, FIELD_SIZE = 64, WHY_SIZE = 256 };

typedef struct difference {
  char op[FIELD_SIZE], requested[FIELD_SIZE], applied[FIELD_SIZE], reason[WHY_SIZE];
  int64_t count;
} difference;

/* Under the lock. What does not fit any more is counted, not dropped without a word. */
static nd4c_lock lock = ND4C_LOCK_INIT;
static difference differences[DIFFERENCE_LIMIT];
static int difference_count;
static int64_t overflow_count;

static difference *find_difference(const char *op, const char *requested, const char *applied) {
  for (int i = 0; i < difference_count; ++i) {
    difference *d = &differences[i];
    if (strncmp(d->op, op, FIELD_SIZE - 1) == 0 && strncmp(d->requested, requested, FIELD_SIZE - 1) == 0 &&
        strncmp(d->applied, applied, FIELD_SIZE - 1) == 0) {
      return d;
    }
  }
  if (difference_count == DIFFERENCE_LIMIT) {
    return NULL;
  }
  difference *d = &differences[difference_count++];
  (void)snprintf(d->op, sizeof d->op, "%s", op);
  (void)snprintf(d->requested, sizeof d->requested, "%s", requested);
  (void)snprintf(d->applied, sizeof d->applied, "%s", applied);
  d->count = 0;
  return d;
}

void nd4c_report_difference(const char *op, const char *requested, const char *applied, const char *reason) {
  nd4c_lock_acquire(&lock);
  difference *d = find_difference(op, requested, applied);
  if (d != NULL) {
    ++d->count;
    (void)snprintf(d->reason, sizeof d->reason, "%s", reason);
  } else {
    ++overflow_count;
  }
  nd4c_lock_release(&lock);
  nd4c_log_write(ND4C_LOG_WARNING, "dispatch", "%s: requested %s, applied %s: %s", op, requested, applied, reason);
}

nd4c_status nd4c_report_applied(char **text) {
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "text is NULL");
  }
  nd4c_text report = {0};
  nd4c_lock_acquire(&lock);
  for (int i = 0; i < difference_count; ++i) {
    const difference *d = &differences[i];
    nd4c_text_print(&report, "%s: requested %s, applied %s (%lld kernel choices): %s\n", d->op, d->requested,
                    d->applied, (long long)d->count, d->reason);
  }
  if (overflow_count > 0) {
    nd4c_text_print(&report, "and %lld more\n", (long long)overflow_count);
  }
  if (!report.failed) {
    difference_count = 0;
    overflow_count = 0;
  }
  nd4c_lock_release(&lock);
  return nd4c_text_take(&report, text);
}
