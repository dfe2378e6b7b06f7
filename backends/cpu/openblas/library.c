/* Engine openblas: opens OpenBLAS and LAPACKE on first use. The kernels of this folder call it in usable(), and the
 * registry for `nd4c info`. */
#include "backends/cpu/openblas/openblas.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY_NAME "libopenblas.so.0"
#define WITHOUT "left out of this build (ND4C_OPENBLAS=OFF)"

/* Published once; a thread that loses the race to publish frees its own record (opening twice is harmless: the loader
 * counts). Freed by nd4c_openblas_close. */
static _Atomic(nd4c_openblas *) published;

/* -- is the core right? --------------------------------------------------------------------------------------- */

/* Levels of OpenBLAS's x86 cores that use less, or more, than the rest of the table: 0 SSE, 1 AVX2, 2 AVX-512. */
typedef struct core_level {
  const char *core;
  int level;
} core_level;
static const core_level cores[] = {
    {"Prescott", 0},  {"Core2", 0},      {"Penryn", 0},      {"Dunnington", 0}, {"Nehalem", 0},
    {"Atom", 0},      {"Opteron", 0},    {"Barcelona", 0},   {"Bobcat", 0},     {"Athlon", 0},
    {"Katmai", 0},    {"Coppermine", 0}, {"Northwood", 0},   {"Banias", 0},     {"Sandybridge", 0},
    {"Bulldozer", 0}, {"Piledriver", 0}, {"Steamroller", 0}, {"Nano", 0},       {"Haswell", 1},
    {"Zen", 1},       {"Excavator", 1},  {"SkylakeX", 2},    {"Cooperlake", 2}, {"SapphireRapids", 2}};

static bool same_name(const char *a, const char *b) {
  for (; *a != '\0' && *b != '\0'; a++, b++) {
    char x = *a >= 'A' && *a <= 'Z' ? (char)(*a - 'A' + 'a') : *a,
         y = *b >= 'A' && *b <= 'Z' ? (char)(*b - 'A' + 'a') : *b;
    if (x != y) {
      return false;
    }
  }
  return *a == *b;
}

static int own_level(void) {
  const char *name = nd4c_cpu_host->cpu_level();
  return strcmp(name, "avx512") == 0 ? 2 : strcmp(name, "avx2") == 0 ? 1 : 0;
}

/* Writes a warning if the core does not fit the processor; "" if it does or is unknown. */
static void judge_core(const char *core, const char *who, char *text, size_t text_size) {
  const char *level_name = nd4c_cpu_host->cpu_level();
  const int level = own_level();
  text[0] = '\0';
  for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
    if (!same_name(core, cores[i].core) || cores[i].level == level) {
      continue;
    }
    if (cores[i].level > level) {
      snprintf(text, text_size, "; warning: %s core %s, which needs more than this machine's %s", who, core,
               level_name);
    } else {
      snprintf(text, text_size, "; warning: %s core %s, which is made for less than this machine's %s: slow", who, core,
               level_name);
    }
  }
}

static bool is_forced(void) {
  const char *forced = getenv("OPENBLAS_CORETYPE");
  return forced != NULL && forced[0] != '\0';
}

/* The core to use instead of one that uses less than this machine has; NULL if it does not, or the user forced it. */
static const char *better_core(const char *picked) {
  static const char *const by_level[] = {NULL, "Haswell", "SkylakeX"};
  const int level = own_level();
  bool is_less = false;
  for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
    is_less = is_less || (same_name(picked, cores[i].core) && cores[i].level < level);
  }
  return is_less && !is_forced() ? by_level[level] : NULL;
}

static void judge(const char *picked, char *text, size_t text_size) {
  if (is_forced()) {
    judge_core(getenv("OPENBLAS_CORETYPE"), "OPENBLAS_CORETYPE (unset it) forces", text, text_size);
  } else {
    judge_core(picked, "it picked", text, text_size);
  }
}

/* -- opening --------------------------------------------------------------------------------------------------- */

/* PyPI's scipy-openblas puts a prefix before every name. */
static void *find_symbol(void *library, const char *name) {
  char prefixed[64];
  void *symbol = nd4c_cpu_host->library_symbol(library, name);
  if (symbol == NULL) {
    snprintf(prefixed, sizeof prefixed, "scipy_%s", name);
    symbol = nd4c_cpu_host->library_symbol(library, prefixed);
  }
  return symbol;
}

static bool find_symbols(nd4c_openblas *blas, void *library) {
#define FIND(result, name, parameters)                                                        \
  {                                                                                           \
    void *symbol = find_symbol(library, #name);                                               \
    if (symbol == NULL) {                                                                     \
      snprintf(blas->text, sizeof blas->text, "%s lacks the symbol %s", LIBRARY_NAME, #name); \
      return false;                                                                           \
    }                                                                                         \
    memcpy(&blas->name, &symbol, sizeof symbol);                                              \
  }
  ND4C_OPENBLAS_SYMBOLS(FIND)
#undef FIND
  return true;
}

/* The name of the first symbol that is missing; NULL if all are there. */
static const char *find_lapack_in(nd4c_lapack *lapack, void *library) {
#define FIND(name, parameters)                     \
  {                                                \
    void *symbol = find_symbol(library, #name);    \
    if (symbol == NULL) {                          \
      return #name;                                \
    }                                              \
    memcpy(&lapack->name, &symbol, sizeof symbol); \
  }
  ND4C_LAPACK_SYMBOLS(FIND)
#undef FIND
  return NULL;
}

/* True if the BLAS under a library is the OpenBLAS that was opened. Another BLAS would start its own threads. */
static bool is_on(const nd4c_openblas *blas, void *library) {
  void *theirs = nd4c_cpu_host->library_symbol(library, "openblas_get_config"), *ours;
  memcpy(&ours, &blas->openblas_get_config, sizeof ours);
  return theirs == ours;
}

/* Opens the library LAPACKE: with the OpenMP of OpenBLAS, since LAPACK's code asks for the number of threads as well.
 */
static nd4c_status open_lapacke(const nd4c_openblas *blas, void **library) {
  nd4c_host_openmp omp = {.struct_size = ND4C_SIZE_OF(nd4c_host_openmp)};
  return blas->omp.on_pool ? nd4c_cpu_host->openmp_open(ND4C_LAPACKE_LIBRARY, library, &omp)
                           : nd4c_cpu_host->library_open(ND4C_LAPACKE_LIBRARY, library);
}

/* LAPACKE of OpenBLAS itself, or as a library of its own. Products need neither. */
static void find_lapack(nd4c_openblas *blas, void *library) {
  nd4c_lapack *lapack = &blas->lapack;
  if (find_lapack_in(lapack, library) == NULL) {
    lapack->ready = true;
    snprintf(lapack->text, sizeof lapack->text, "LAPACKE of its own");
    return;
  }
  if (open_lapacke(blas, &library) != ND4C_OK) {
    snprintf(lapack->text, sizeof lapack->text, "no LAPACKE: %s lacks it and %s (Debian's liblapacke) is missing: %s",
             LIBRARY_NAME, ND4C_LAPACKE_LIBRARY, nd4c_cpu_host->error_message());
    return;
  }
  const char *missing = find_lapack_in(lapack, library);
  char path[256] = "";
  nd4c_cpu_host->library_find(ND4C_LAPACKE_LIBRARY, path, sizeof path);
  if (missing != NULL) {
    snprintf(lapack->text, sizeof lapack->text, "no LAPACKE: %s lacks the symbol %s", path, missing);
  } else if (!is_on(blas, library)) {
    snprintf(lapack->text, sizeof lapack->text,
             "no LAPACKE: %s runs on another BLAS than %s (update-alternatives --config liblapack.so.3-...: expected "
             "OpenBLAS's)",
             path, LIBRARY_NAME);
  } else {
    lapack->ready = true;
    snprintf(lapack->text, sizeof lapack->text, "LAPACKE %s", path);
  }
}

static void describe(nd4c_openblas *blas) {
  const char *kind = blas->parallel == OPENBLAS_SERIAL ? "without threads"
                     : blas->parallel == OPENBLAS_PTHREADS
                         ? "with threads of its own, limited to one: we split the work"
                     : blas->parallel == OPENBLAS_OPENMP ? blas->omp.text
                                                         : "with an unknown pool";
  char path[256] = "", warning[160];
  nd4c_cpu_host->library_find(LIBRARY_NAME, path, sizeof path);
  judge(blas->openblas_get_corename(), warning, sizeof warning);
  snprintf(blas->text, sizeof blas->text, "%s, core %s, %s, %s, %s%s", blas->openblas_get_config(),
           blas->openblas_get_corename(), kind, path, blas->lapack.text, warning);
}

/* An OpenBLAS that is older than the processor may take it for a very old one, and is several times too slow. It is
 * told the core, and made to choose again, as long as no other code may be in it. */
static void correct_core(nd4c_openblas *blas, void *library) {
  const char *core = blas->omp.was_loaded ? NULL : better_core(blas->openblas_get_corename());
  void *symbols[] = {find_symbol(library, "gotoblas_dynamic_quit"), find_symbol(library, "gotoblas_dynamic_init")};
  void (*quit)(void) = NULL, (*init)(void) = NULL;
  if (core == NULL || symbols[0] == NULL || symbols[1] == NULL ||
      nd4c_cpu_host->library_setenv(library, "OPENBLAS_CORETYPE", core) != ND4C_OK) {
    return;
  }
  memcpy(&quit, &symbols[0], sizeof quit);
  memcpy(&init, &symbols[1], sizeof init);
  quit();
  init();
}

/* OpenBLAS reads the variable itself, but nd4c tells it a number before each call. */
static int32_t most_threads(void) {
  const char *text = getenv("OPENBLAS_NUM_THREADS");
  const long most = text != NULL ? strtol(text, NULL, 10) : 0;
  return most > 0 && most < INT32_MAX ? (int32_t)most : INT32_MAX;
}

static void load(nd4c_openblas *blas) {
#ifdef ND4C_WITHOUT_OPENBLAS
  snprintf(blas->text, sizeof blas->text, WITHOUT);
  return;
#endif
  void *library = NULL;
  blas->omp.struct_size = ND4C_SIZE_OF(nd4c_host_openmp);
  if (nd4c_cpu_host->openmp_open(LIBRARY_NAME, &library, &blas->omp) != ND4C_OK) {
    snprintf(blas->text, sizeof blas->text, "%s", nd4c_cpu_host->error_message());
    return;
  }
  if (!find_symbols(blas, library)) {
    return;
  }
  if (strstr(blas->openblas_get_config(), "USE64BITINT") != NULL) {
    snprintf(blas->text, sizeof blas->text, "%s was built for 64-bit extents (%s); expected 32-bit ones", LIBRARY_NAME,
             blas->openblas_get_config());
    return;
  }
  correct_core(blas, library);
  blas->parallel = blas->openblas_get_parallel();
  if (blas->parallel != OPENBLAS_OPENMP) {
    blas->omp.set_num_threads = NULL; /* an OpenMP that only other libraries under it use */
  }
  if (blas->omp.set_num_threads == NULL && blas->parallel != OPENBLAS_SERIAL) {
    blas->openblas_set_num_threads(1);
  }
  blas->most_threads = most_threads();
  find_lapack(blas, library);
  describe(blas);
  blas->ready = true;
}

const nd4c_openblas *nd4c_openblas_get(void) {
  nd4c_openblas *blas = atomic_load_explicit(&published, memory_order_acquire);
  if (blas != NULL) {
    return blas;
  }
  blas = nd4c_cpu_host->allocate(sizeof *blas);
  if (blas == NULL) {
    return NULL;
  }
  load(blas);
  nd4c_openblas *first = NULL;
  if (atomic_compare_exchange_strong(&published, &first, blas)) {
    return blas;
  }
  nd4c_cpu_host->free(blas);
  return first;
}

bool nd4c_openblas_accept(const char *why, char *reason, size_t reason_size) {
  const nd4c_openblas *blas = why == NULL ? nd4c_openblas_get() : NULL;
  if (why == NULL && blas == NULL) {
    why = "no memory for OpenBLAS's table";
  } else if (why == NULL && !blas->ready) {
    why = blas->text;
  }
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

/* -- engine ----------------------------------------------------------------------------------------------------- */

bool nd4c_openblas_state(bool verify, char *text, size_t text_size) {
  const nd4c_openblas *blas = verify ? nd4c_openblas_get() : atomic_load_explicit(&published, memory_order_acquire);
  if (blas != NULL) {
    snprintf(text, text_size, "%s", blas->text);
    return blas->ready;
  }
#ifdef ND4C_WITHOUT_OPENBLAS
  snprintf(text, text_size, WITHOUT);
  return false;
#endif
  char path[256] = "", warning[160];
  if (nd4c_cpu_host->library_find(LIBRARY_NAME, path, sizeof path)) {
    judge("", warning, sizeof warning);
    snprintf(text, text_size, "found %s, not opened%s", path, warning);
    return true;
  }
  snprintf(text, text_size,
           "OpenBLAS is missing: no %s in nd4c.library.path, beside libnd4c or where the system's loader looks",
           LIBRARY_NAME);
  return false;
}

void nd4c_openblas_close(void) {
  nd4c_cpu_host->free(atomic_exchange(&published, NULL));
}
