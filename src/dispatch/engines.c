/* Implements engines.h for choice.c and src/graph, and nd4c_report_engines and nd4c_report_applied for programs. */
#include "dispatch/engines.h"

#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/config/log.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "base/text.h"
#include "device/context/routing.h"
#include "nd4c/device.h"
#include "nd4c/op_schema.h"

/* X(group, members): names that stand for several engines, as in ND4J. */
#define ENGINE_GROUPS(X)                   \
  X("cpu", "reference,simd,openblas,fftw") \
  X("cuda", "cuda,cublas,cudnn")

static const char separators[] = ", ";

/* True if `name` stands in a comma-separated list, without regard to case and spaces. */
static bool list_has(const char *list, const char *name) {
  size_t length = strlen(name);
  while (*list != '\0') {
    list += strspn(list, separators);
    size_t item = strcspn(list, separators);
    if (item > 0 && item == length && nd4c_text_begins_any_case(name, list, item)) {
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

bool nd4c_engine_rules_equal(const nd4c_engine_rules *a, const nd4c_engine_rules *b) {
  return strcmp(a->forced, b->forced) == 0 && strcmp(a->disabled, b->disabled) == 0;
}

bool nd4c_engine_is_forced(const nd4c_engine_rules *rules, const char *engine) {
  return list_covers(rules->forced, engine);
}

bool nd4c_engine_is_disabled(const nd4c_engine_rules *rules, const char *engine) {
  return rules->disabled[0] != '\0' && strcmp(engine, "reference") != 0 && list_covers(rules->disabled, engine);
}

/* -- what cannot be applied ----------------------------------------------------------------------------------- */

/* Engine `index` of all backends with known engines; NULL past the last. */
static const char *engine_at(int32_t index) {
  for (int32_t i = 0; i < nd4c_backend_count(); i++) {
    nd4c_backend_status status = {.struct_size = sizeof status};
    if (nd4c_backend_get_status(i, &status) != ND4C_OK) {
      continue;
    }
    const char *engine = NULL;
    for (int32_t e = 0; (engine = nd4c_backend_engine(status.name, e)) != NULL; e++) {
      if (index-- == 0) {
        return engine;
      }
    }
  }
  return NULL;
}

/* Engines that a build may omit. */
#define OPTIONAL_ENGINES "openblas,onednn,fftw"

/* Groups, their members and optional engines are known names even where they are absent, so that one setting serves
 * several machines. */
static bool is_known(const char *name) {
#define GROUP_KNOWN(group, members)                       \
  if (list_has(group, name) || list_has(members, name)) { \
    return true;                                          \
  }
  ENGINE_GROUPS(GROUP_KNOWN)
#undef GROUP_KNOWN
  if (list_has(OPTIONAL_ENGINES, name)) {
    return true;
  }
  const char *engine = NULL;
  for (int32_t i = 0; (engine = engine_at(i)) != NULL; i++) {
    if (list_has(engine, name)) {
      return true;
    }
  }
  return false;
}

/* True if this machine has an engine of that name or group. */
static bool is_here(const char *name) {
  const char *engine = NULL;
  for (int32_t i = 0; (engine = engine_at(i)) != NULL; i++) {
    if (list_covers(name, engine)) {
      return true;
    }
  }
  return false;
}

/* `what` and the engines of this machine. The engines of an unopened plug-in are not known. */
static void list_engines(const char *what, char *reason, size_t size) {
  const char *engine = NULL;
  size_t used = (size_t)snprintf(reason, size, "%s; engines are: ", what);
  for (int32_t i = 0; (engine = engine_at(i)) != NULL && used < size; i++) {
    used += (size_t)snprintf(reason + used, size - used, "%s%s", i > 0 ? ", " : "", engine);
  }
  for (int32_t i = 0; i < nd4c_backend_count() && used < size; i++) {
    nd4c_backend_status status = {.struct_size = sizeof status};
    if (nd4c_backend_get_status(i, &status) == ND4C_OK && status.verdict == ND4C_VERDICT_FOUND &&
        nd4c_backend_engine(status.name, 0) == NULL) {
      used += (size_t)snprintf(reason + used, size - used, "; backend %s is not opened", status.name);
    }
  }
}

static void explain_unknown(char *reason, size_t size) {
  list_engines("no engine of that name", reason, size);
}

static void explain_absent(char *reason, size_t size) {
  list_engines("not here", reason, size);
}

/* The list's next item from *position on; false at the end. A name longer than any engine's is cut. */
static bool next_item(const char *list, size_t *position, char *name) {
  *position += strspn(list + *position, separators);
  const char *item = list + *position;
  size_t length = strcspn(item, separators);
  *position += length;
  (void)snprintf(name, ND4C_ENGINE_NAME_SIZE, "%.*s", (int)length, item);
  return length > 0;
}

bool nd4c_engine_next_refusal(const nd4c_engine_rules *rules, size_t *position, nd4c_engine_refusal *refusal) {
  while (next_item(rules->disabled, position, refusal->name)) {
    if (list_covers(refusal->name, "reference")) {
      refusal->applied = "reference kept";
      (void)snprintf(refusal->reason, sizeof refusal->reason, "reference is the floor and cannot be disabled");
      return true;
    }
    if (!is_known(refusal->name)) {
      refusal->applied = "nothing";
      explain_unknown(refusal->reason, sizeof refusal->reason);
      return true;
    }
  }
  return false;
}

void nd4c_engine_print_refusals(const nd4c_engine_rules *rules, nd4c_text *text) {
  nd4c_engine_refusal refusal;
  for (size_t position = 0; nd4c_engine_next_refusal(rules, &position, &refusal);) {
    nd4c_text_print(text, "  SD_KERNEL_DISABLE_ENGINES: requested %s disabled, applied %s: %s\n", refusal.name,
                    refusal.applied, refusal.reason);
  }
}

const char *nd4c_engine_forced_reason(const nd4c_engine_rules *rules, char *buffer, size_t size) {
  char name[ND4C_ENGINE_NAME_SIZE];
  explain_unknown(buffer, size);
  for (size_t position = 0; next_item(rules->forced, &position, name);) {
    if (is_here(name)) {
      (void)snprintf(buffer, size, "the forced engine does not serve this call");
      return buffer;
    }
    if (is_known(name)) {
      explain_absent(buffer, size);
    }
  }
  return buffer;
}

/* Forced names that no engine of this machine has. */
static void print_forced(const nd4c_engine_rules *rules, nd4c_text *text) {
  char name[ND4C_ENGINE_NAME_SIZE], reason[256];
  for (size_t position = 0; next_item(rules->forced, &position, name);) {
    if (!is_here(name)) {
      (is_known(name) ? explain_absent : explain_unknown)(reason, sizeof reason);
      nd4c_text_print(text, "SD_KERNEL_FORCE_ENGINE: %s: %s\n", name, reason);
    }
  }
}

/* Disabling an absent engine has no effect, but may be a mistake. */
static void print_disabled(const nd4c_engine_rules *rules, nd4c_text *text) {
  char name[ND4C_ENGINE_NAME_SIZE];
  nd4c_engine_refusal refusal;
  for (size_t position = 0; nd4c_engine_next_refusal(rules, &position, &refusal);) {
    nd4c_text_print(text, "SD_KERNEL_DISABLE_ENGINES: %s: %s\n", refusal.name, refusal.reason);
  }
  for (size_t position = 0; next_item(rules->disabled, &position, name);) {
    if (is_known(name) && !is_here(name)) {
      nd4c_text_print(text, "SD_KERNEL_DISABLE_ENGINES: %s: not here, nothing to disable\n", name);
    }
  }
}

nd4c_status nd4c_report_engines(char **text) {
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "text is NULL");
  }
  ND4C_TRY(nd4c_backend_probe(false));
  nd4c_text report = {0};
  nd4c_engine_rules rules;
  nd4c_engine_rules_read(&rules);
  print_forced(&rules, &report);
  print_disabled(&rules, &report);
  return nd4c_text_take(&report, text);
}

/* -- requested against applied -------------------------------------------------------------------------------- */

enum { DIFFERENCE_LIMIT = 256, FIELD_SIZE = 64, WHY_SIZE = 256 };

typedef struct difference {
  char op[FIELD_SIZE], requested[FIELD_SIZE], applied[FIELD_SIZE], reason[WHY_SIZE];
  int64_t count;
} difference;

/* Under the lock. Entries that do not fit are counted, not dropped silently. */
static nd4c_lock lock = ND4C_LOCK_INIT;
static difference differences[DIFFERENCE_LIMIT];
static int difference_count;
static int64_t overflow_count;

static difference *find_difference(const char *op, const char *requested, const char *applied) {
  for (int i = 0; i < difference_count; i++) {
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
  bool told = false; /* in the log, since the last report: one line for all kernel choices */
  if (d != NULL) {
    told = d->count++ > 0;
    (void)snprintf(d->reason, sizeof d->reason, "%s", reason);
  } else {
    overflow_count++;
  }
  nd4c_lock_release(&lock);
  if (!told) {
    nd4c_log_write(ND4C_LOG_WARNING, "dispatch", "%s: requested %s, applied %s: %s", op, requested, applied, reason);
  }
}

nd4c_status nd4c_report_applied(char **text) {
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "text is NULL");
  }
  nd4c_text report = {0};
  nd4c_lock_acquire(&lock);
  for (int i = 0; i < difference_count; i++) {
    const difference *d = &differences[i];
    nd4c_text_print(&report, "%s: requested %s, applied %s (%lld kernel choices): %s\n", d->op, d->requested,
                    d->applied, (long long)d->count, d->reason);
  }
  if (overflow_count > 0) {
    nd4c_text_print(&report, "and %lld more\n", (long long)overflow_count);
  }
  nd4c_routing_tell_absent(&report);
  if (!report.failed) {
    difference_count = 0;
    overflow_count = 0;
  }
  nd4c_lock_release(&lock);
  return nd4c_text_take(&report, text);
}
