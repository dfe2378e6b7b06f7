/* Two cases of one op with different numbers, for threads that compute at once: memory that calls share shows where the
 * calls are not equal and take a while. stress.c (section `threads`) and own.c call it. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { LARGE = 16384 };

static bool is_like_first(const selftest_case *c, const selftest_input *input) {
  const selftest_input *first = &c->inputs[0];
  return input->rank == first->rank &&
         memcmp(input->shape, first->shape, (size_t)first->rank * sizeof *first->shape) == 0;
}

/* The numbers of `from` again and again, beginning with one that `shift` says. */
static bool fill(selftest_input *to, const selftest_input *from, int64_t shift) {
  to->reals = from->reals != NULL ? malloc((size_t)to->count * sizeof *to->reals) : NULL;
  to->integers = from->integers != NULL ? malloc((size_t)to->count * sizeof *to->integers) : NULL;
  for (int64_t i = 0; i < to->count; i++) {
    const int64_t at = (i + shift) % from->count;
    if (to->reals != NULL) {
      to->reals[i] = from->reals[at];
    }
    if (to->integers != NULL) {
      to->integers[i] = from->integers[at];
    }
  }
  return (from->reals == NULL || to->reals != NULL) && (from->integers == NULL || to->integers != NULL);
}

/* A copy of the case whose varying inputs have numbers of their own; with `grows` those of the first input's shape
 * become longer along the first axis. */
static bool make(const plugin_case *from, int64_t shift, bool grows, plugin_pair_case *made) {
  bool good = true;
  *made = (plugin_pair_case){.c = *from->c, .p = *from};
  memset(made->p.wanted, 0, sizeof made->p.wanted);
  made->p.c = &made->c;
  for (int32_t i = 0; i < made->c.input_count && good; i++) {
    const selftest_input *input = &from->c->inputs[i];
    selftest_input *own = &made->c.inputs[i];
    if (input->dtype == ND4C_DTYPE_NONE || !input->varies || input->count == 0) {
      continue;
    }
    if (grows && input->rank > 0 && is_like_first(from->c, input)) {
      const int64_t times = LARGE / input->count + 1;
      own->shape[0] *= times;
      own->count *= times;
    }
    made->owned[i] = true;
    good = fill(own, input, shift);
  }
  return good;
}

static void clear(plugin_pair_case *made) {
  plugin_arrays_release(made->p.wanted, SELFTEST_OUTPUTS);
  for (int32_t i = 0; i < made->c.input_count; i++) {
    if (made->owned[i]) {
      free(made->c.inputs[i].reals);
      free(made->c.inputs[i].integers);
    }
  }
}

bool plugin_pair_make(const plugin_case *p, nd4c_context *host, plugin_pair *pair) {
  for (int grows = 1; grows >= 0; grows--) {
    bool good = true;
    for (int i = 0; i < 2; i++) {
      good = make(p, i, grows != 0, &pair->cases[i]) && good && plugin_case_wanted(&pair->cases[i].p, host) == ND4C_OK;
    }
    if (good) {
      return true;
    }
    plugin_pair_clear(pair);
  }
  nd4c_error_clear(); /* not every op takes its numbers in another order */
  return false;
}

void plugin_pair_clear(plugin_pair *pair) {
  clear(&pair->cases[0]);
  clear(&pair->cases[1]);
}
