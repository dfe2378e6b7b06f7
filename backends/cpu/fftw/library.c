/* Engine fftw: opens the libraries on first use, and keeps plans for later calls. signal.c borrows a plan for each
 * call. */
#include "backends/cpu/fftw/fftw.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define DOUBLE_LIBRARY "libfftw3.so.3"
#define SINGLE_LIBRARY "libfftw3f.so.3"
#define WITHOUT "left out of this build (ND4C_FFTW=OFF)"

/* [1]: single precision. */
typedef struct libraries {
  nd4c_fftw of[2];
} libraries;

/* Published once; a thread that loses the race to publish frees its own record. Freed by nd4c_fftw_close. */
static _Atomic(libraries *) published;

/* -- opening ---------------------------------------------------------------------------------------------------- */

static const char *find_symbols(nd4c_fftw *fftw, void *library, const char *prefix) {
  char full[64];
#define FIND(result, name, parameters)                           \
  {                                                              \
    snprintf(full, sizeof full, "%s%s", prefix, #name);          \
    void *symbol = nd4c_cpu_host->library_symbol(library, full); \
    if (symbol == NULL) {                                        \
      return #name;                                              \
    }                                                            \
    memcpy(&fftw->name, &symbol, sizeof symbol);                 \
  }
  ND4C_FFTW_SYMBOLS(FIND)
#undef FIND
  return NULL;
}

static void load(nd4c_fftw *fftw, const char *name, const char *prefix) {
#ifdef ND4C_WITHOUT_FFTW
  (void)name, (void)prefix, (void)find_symbols;
  snprintf(fftw->text, sizeof fftw->text, WITHOUT);
#else
  void *library = NULL;
  char path[256] = "", full[64];
  if (nd4c_cpu_host->library_open(name, &library) != ND4C_OK) {
    snprintf(fftw->text, sizeof fftw->text, "%s", nd4c_cpu_host->error_message());
    return;
  }
  const char *missing = find_symbols(fftw, library, prefix);
  if (missing != NULL) {
    snprintf(fftw->text, sizeof fftw->text, "%s lacks the symbol %s%s", name, prefix, missing);
    return;
  }
  nd4c_cpu_host->library_find(name, path, sizeof path);
  snprintf(full, sizeof full, "%sversion", prefix);
  const char *version = nd4c_cpu_host->library_symbol(library, full);
  snprintf(fftw->text, sizeof fftw->text, "%s, %s", version != NULL ? version : "version unknown", path);
  fftw->ready = true;
#endif
}

const nd4c_fftw *nd4c_fftw_get(bool single) {
  libraries *opened = atomic_load_explicit(&published, memory_order_acquire);
  if (opened == NULL) {
    opened = nd4c_cpu_host->allocate(sizeof *opened);
    if (opened == NULL) {
      return NULL;
    }
    load(&opened->of[0], DOUBLE_LIBRARY, "fftw_");
    load(&opened->of[1], SINGLE_LIBRARY, "fftwf_");
    libraries *first = NULL;
    if (!atomic_compare_exchange_strong(&published, &first, opened)) {
      nd4c_cpu_host->free(opened);
      opened = first;
    }
  }
  return &opened->of[single];
}

/* -- plans ------------------------------------------------------------------------------------------------------ */

/* Plans that are kept; the least recently used one makes room. */
enum { PLANS = 64 };
typedef struct slot {
  nd4c_fftw_key key;
  nd4c_fftw_plan plan; /* NULL: empty */
  int64_t used;        /* time of the last loan */
  int32_t loans;
} slot;

/* FFTW's planner is not thread-safe; the execution of plans is. */
static nd4c_host_lock planner;
static slot slots[PLANS];
static int64_t loans;

static nd4c_fftw_plan make_plan(const nd4c_fftw_key *key, void *in, void *out) {
  const nd4c_fftw *fftw = nd4c_fftw_get(key->single);
  unsigned flags = FFTW_ESTIMATE | (key->unaligned ? (unsigned)FFTW_UNALIGNED : 0U);
  const nd4c_fftw_dim *repeated = key->dims + key->count;
  switch (key->kind) {
    case ND4C_FFTW_FROM_REAL:
      return fftw->plan_guru64_dft_r2c(key->count, key->dims, key->repeats, repeated, in, out, flags);
    case ND4C_FFTW_TO_REAL:
      return fftw->plan_guru64_dft_c2r(key->count, key->dims, key->repeats, repeated, in, out, flags);
    default:
      return fftw->plan_guru64_dft(key->count, key->dims, key->repeats, repeated, in, out, key->sign, flags);
  }
}

/* The place of a key's plan, or the best place for it; -1 if plans are on loan everywhere. */
static int32_t find_slot(const nd4c_fftw_key *key) {
  int32_t best = -1;
  for (int32_t i = 0; i < PLANS; i++) {
    if (slots[i].plan != NULL && memcmp(&slots[i].key, key, sizeof *key) == 0) {
      return i;
    }
    if (slots[i].loans == 0 && (best < 0 || slots[i].used < slots[best].used)) {
      best = i;
    }
  }
  return best;
}

bool nd4c_fftw_borrow(const nd4c_fftw_key *key, void *in, void *out, nd4c_fftw_loan *loan) {
  nd4c_cpu_host->threads->lock_acquire(&planner);
  loan->slot = find_slot(key);
  slot *place = loan->slot >= 0 ? &slots[loan->slot] : NULL;
  if (place != NULL && place->plan != NULL && memcmp(&place->key, key, sizeof *key) == 0) {
    loan->plan = place->plan;
  } else {
    loan->plan = make_plan(key, in, out);
    if (place != NULL && loan->plan != NULL) {
      if (place->plan != NULL) {
        nd4c_fftw_get(place->key.single)->destroy_plan(place->plan);
      }
      place->key = *key;
      place->plan = loan->plan;
    }
  }
  if (place != NULL && loan->plan != NULL) {
    place->loans++;
    place->used = ++loans;
  }
  nd4c_cpu_host->threads->lock_release(&planner);
  return loan->plan != NULL;
}

void nd4c_fftw_give_back(const nd4c_fftw_key *key, const nd4c_fftw_loan *loan) {
  nd4c_cpu_host->threads->lock_acquire(&planner);
  if (loan->slot >= 0) {
    slots[loan->slot].loans--;
  } else {
    nd4c_fftw_get(key->single)->destroy_plan(loan->plan);
  }
  nd4c_cpu_host->threads->lock_release(&planner);
}

/* -- engine ----------------------------------------------------------------------------------------------------- */

bool nd4c_fftw_state(bool verify, char *text, size_t text_size) {
  const nd4c_fftw *both[2] = {NULL, NULL};
  for (int32_t single = 0; single < 2; single++) {
    bool look = verify || atomic_load_explicit(&published, memory_order_acquire) != NULL;
    both[single] = look ? nd4c_fftw_get(single != 0) : NULL;
  }
  if (both[0] != NULL && both[1] != NULL) {
    snprintf(text, text_size, "%s; %s", both[0]->text, both[1]->text);
    return both[0]->ready || both[1]->ready;
  }
#ifdef ND4C_WITHOUT_FFTW
  snprintf(text, text_size, WITHOUT);
  return false;
#else
  char path[256] = "";
  if (nd4c_cpu_host->library_find(DOUBLE_LIBRARY, path, sizeof path) ||
      nd4c_cpu_host->library_find(SINGLE_LIBRARY, path, sizeof path)) {
    snprintf(text, text_size, "found %s, not opened", path);
    return true;
  }
  snprintf(text, text_size,
           "FFTW is missing: no %s in nd4c.library.path, beside libnd4c or where the system's loader looks",
           DOUBLE_LIBRARY);
  return false;
#endif
}

void nd4c_fftw_close(void) {
  for (int32_t i = 0; i < PLANS; i++) {
    if (slots[i].plan != NULL) {
      nd4c_fftw_get(slots[i].key.single)->destroy_plan(slots[i].plan);
    }
    slots[i] = (slot){.plan = NULL};
  }
  nd4c_cpu_host->free(atomic_exchange(&published, NULL));
}
