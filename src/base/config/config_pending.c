/* Implements config_pending.h as a short list. config.c adds a value when the application sets an unknown property, and
 * takes it when a provider declares the property. */
#include "base/config/config_pending.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"

static struct {
  const char *name; /* interned, so that rows that callers hold stay valid */
  char *text;
} pending[ND4C_PENDING_LIMIT];
static int32_t pending_count;

static int32_t find(const char *name) {
  int32_t i = 0;
  while (i < pending_count && strcmp(pending[i].name, name) != 0) {
    i++;
  }
  return i;
}

const char *nd4c_config_pending_get(const char *name) {
  const int32_t place = find(name);
  return place < pending_count ? pending[place].text : NULL;
}

char *nd4c_config_pending_take(const char *name) {
  const int32_t place = find(name);
  char *text = NULL;
  if (place < pending_count) {
    text = pending[place].text;
    pending[place] = pending[--pending_count];
  }
  return text;
}

nd4c_status nd4c_config_pending_set(const char *name, const char *text) {
  if (text == NULL) {
    nd4c_deallocate(nd4c_config_pending_take(name));
    return ND4C_OK;
  }
  const int32_t place = find(name);
  if (place == ND4C_PENDING_LIMIT) {
    return nd4c_fail(ND4C_CONFIG, "%.200s: %d properties already wait for providers that declare them", name,
                     ND4C_PENDING_LIMIT);
  }
  const char *kept_name = nd4c_text_intern(name);
  char *copy = kept_name != NULL ? nd4c_duplicate_text(text) : NULL;
  if (copy == NULL) {
    return nd4c_fail_memory("a property's value", strlen(text) + 1);
  }
  nd4c_deallocate(place < pending_count ? pending[place].text : NULL);
  pending_count += place == pending_count;
  pending[place].name = kept_name;
  pending[place].text = copy;
  return ND4C_OK;
}

int32_t nd4c_config_pending_count(void) {
  return pending_count;
}

const char *nd4c_config_pending_at(int32_t index, const char **text) {
  *text = pending[index].text;
  return pending[index].name;
}
