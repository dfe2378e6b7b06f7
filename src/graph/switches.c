/* Which passes run: reads the lists of names in options of plans and models and in nd4c.plan.passes. plan.c and ahead.c
 * read it for a plan, import/model.c checks it when a model is opened. */
#include <string.h>

#include "base/config/config.h"
#include "base/status.h"
#include "base/text.h"
#include "graph/passes.h"

enum { LONGEST_LIST = 4096 };

/* One name of a list, without spaces around and without its '-'. */
typedef struct entry {
  const char *name;
  int32_t length;
  bool minus;
  bool last;
} entry;

static bool is_space(char c) {
  return c == ' ' || c == '\t';
}

/* The entry at `at`; moves `at` behind it and its comma. */
static entry take_entry(const char **at) {
  const char *begin = *at, *end = begin + strcspn(begin, ",");
  const bool last = *end == '\0';
  *at = last ? end : end + 1;
  while (begin < end && is_space(*begin)) {
    begin++;
  }
  while (end > begin && is_space(end[-1])) {
    end--;
  }
  const bool minus = begin < end && *begin == '-';
  begin += minus;
  return (entry){.name = begin, .length = (int32_t)(end - begin), .minus = minus, .last = last};
}

/* Number of the pass. NAME with the nearest name if there is none. */
static nd4c_status find_pass(const entry *e, int32_t *index) {
  size_t best = SIZE_MAX;
  const char *nearest = "";
  for (int32_t i = 0; i < nd4c_passes_count(); i++) {
    const char *name = nd4c_passes_at(i)->name;
    if (strlen(name) == (size_t)e->length && memcmp(name, e->name, (size_t)e->length) == 0) {
      *index = i;
      return ND4C_OK;
    }
    const size_t edits = nd4c_text_edits(e->name, (size_t)e->length, name);
    if (edits < best) {
      best = edits;
      nearest = name;
    }
  }
  return best == SIZE_MAX
             ? nd4c_fail(ND4C_NAME, "there is no pass '%.*s': no pass has so long a name", 64, e->name)
             : nd4c_fail(ND4C_NAME, "there is no pass '%.*s': the nearest is '%s'", e->length, e->name, nearest);
}

static nd4c_status read_list(const char *list, nd4c_pass_switches *switches) {
  bool named[ND4C_PASS_RECORDS] = {false};
  bool minus = false;
  const char *at = list;
  entry e = {.last = false};
  for (bool first = true; !e.last; first = false) {
    e = take_entry(&at);
    int32_t index = 0;
    if (e.length == 0) {
      return nd4c_fail(ND4C_ARGUMENT, "'%.200s' has an empty entry, expected names of passes separated by commas",
                       list);
    }
    ND4C_TRY(find_pass(&e, &index));
    if (!first && e.minus != minus) {
      return nd4c_fail(ND4C_ARGUMENT,
                       "'%.200s' mixes names with and without '-', expected either names with '-', which do not run, "
                       "or names without, which alone run",
                       list);
    }
    minus = e.minus;
    named[index] = true;
  }
  for (int32_t i = 0; i < nd4c_passes_count(); i++) {
    switches->off[i] = named[i] == minus;
  }
  return ND4C_OK;
}

static bool is_empty(const char *list) {
  while (list != NULL && is_space(*list)) {
    list++;
  }
  return list == NULL || *list == '\0';
}

nd4c_status nd4c_passes_switch(const char *asked, nd4c_pass_switches *switches) {
  char property[LONGEST_LIST];
  *switches = (nd4c_pass_switches){.from = "options.passes"};
  if (!is_empty(asked)) {
    const nd4c_status status = read_list(asked, switches);
    return status == ND4C_OK ? status : nd4c_fail_prefix(status, "options.passes");
  }
  switches->from = "nd4c.plan.passes";
  if (nd4c_config_string(ND4C_CONFIG_PLAN_PASSES, property, sizeof property) >= sizeof property) {
    return nd4c_fail(ND4C_CONFIG, "nd4c.plan.passes has %d bytes or more", LONGEST_LIST);
  }
  if (is_empty(property)) {
    return ND4C_OK;
  }
  const nd4c_status status = read_list(property, switches);
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "nd4c.plan.passes (ND4C_PLAN_PASSES)");
}
