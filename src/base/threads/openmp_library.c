/* Implements openmp.h: opens vendors' libraries, and decides which of them run on the pool. */
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/config/log.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "base/threads/openmp.h"
#include "base/threads/parallel.h"

/* What became of a library. It stays loaded for the life of the process, and so does this. */
typedef struct opened {
  void *library;
  bool on_pool, was_loaded;
  char text[160];
  void (*set_max_active_levels)(int); /* of a runtime that the library kept; NULL if it has none */
} opened;
enum { MOST = 32 };
static opened records[MOST]; /* under records_lock, as the opening itself */
static int record_count;
static nd4c_lock records_lock = ND4C_LOCK_INIT;

typedef struct search {
  int found;
  char missing[64]; /* the first symbol that openmp.c lacks */
} search;

static bool choose(void *user, const char *symbol, void **address) {
  search *s = user;
  if (!nd4c_openmp_is_symbol(symbol)) {
    return true;
  }
  s->found++;
  *address = nd4c_openmp_find(symbol);
  if (*address == NULL) {
    (void)snprintf(s->missing, sizeof s->missing, "%s", symbol);
  }
  return *address != NULL;
}

static void keep_runtime(opened *record, const char *reason) {
  void *levels = nd4c_os_library_symbol(record->library, "omp_set_max_active_levels");
  memcpy(&record->set_max_active_levels, &levels, sizeof levels);
  (void)snprintf(record->text, sizeof record->text, "on OpenMP's own threads (%.120s)", reason);
}

/* Decides for a library that has just been opened. */
static void decide(opened *record, bool was_loaded) {
  record->was_loaded = was_loaded;
  if (nd4c_os_library_symbol(record->library, "omp_set_num_threads") == NULL) {
    (void)snprintf(record->text, sizeof record->text, "without OpenMP");
  } else if (strcmp(nd4c_parallel_pool_name(), "openmp") == 0) {
    keep_runtime(record, "nd4c.pool is openmp");
  } else if (was_loaded) {
    keep_runtime(record, "the program had loaded the library before nd4c");
  } else {
    char reason[128];
    search s = {0};
    record->on_pool = nd4c_os_library_rebind(record->library, choose, &s) == ND4C_OK && s.found > 0;
    if (record->on_pool) {
      (void)snprintf(record->text, sizeof record->text, "on nd4c's threads");
    } else if (s.missing[0] != '\0') {
      (void)snprintf(reason, sizeof reason, "it calls %s, which nd4c lacks", s.missing);
      keep_runtime(record, reason);
    } else {
      keep_runtime(record, s.found > 0 ? nd4c_error_message() : "it calls no function of GCC's runtime");
    }
  }
}

static void describe(const opened *record, nd4c_host_openmp *openmp) {
  const uint32_t size = openmp->struct_size;
  nd4c_host_openmp full = {
      .struct_size = size, .on_pool = record->on_pool, .text = record->text, .was_loaded = record->was_loaded};
  if (record->on_pool) {
    nd4c_openmp_describe(&full);
  } else {
    void *set = nd4c_os_library_symbol(record->library, "omp_set_num_threads");
    void *get = nd4c_os_library_symbol(record->library, "omp_get_max_threads");
    void *levels = nd4c_os_library_symbol(record->library, "omp_get_max_active_levels");
    if (set != NULL && get != NULL && levels != NULL) {
      memcpy(&full.set_num_threads, &set, sizeof set);
      memcpy(&full.get_max_threads, &get, sizeof get);
      memcpy(&full.get_max_active_levels, &levels, sizeof levels);
    }
  }
  /* A plug-in that was compiled with an older header gets the fields that it knows. */
  memcpy(openmp, &full, size < sizeof full ? size : sizeof full);
}

/* records_lock is held. */
static opened *find_record(void *library) {
  for (int i = 0; i < record_count; i++) {
    if (records[i].library == library) {
      return &records[i];
    }
  }
  return NULL;
}

/* records_lock is held. The record counts only when it is whole: a fork by another thread may come in between. */
static nd4c_status open_locked(const char *name, const char *directories, void **library, opened **record,
                               bool *is_new) {
  const bool was_loaded = name != NULL && nd4c_os_library_is_loaded(name, directories);
  ND4C_TRY(nd4c_os_library_open(name, directories, library));
  *record = find_record(*library);
  *is_new = *record == NULL;
  if (*is_new && record_count == MOST) {
    return nd4c_fail(ND4C_LIBRARY, "%s: %d libraries with OpenMP were opened, no more are expected", name, (int)MOST);
  }
  if (*is_new) {
    *record = &records[record_count];
    (*record)->library = *library;
    decide(*record, was_loaded);
    record_count++;
  }
  return ND4C_OK;
}

nd4c_status nd4c_openmp_open(const char *name, const char *directories, void **library, nd4c_host_openmp *openmp) {
  opened *record = NULL;
  bool is_new = false;
  if (openmp == NULL || openmp->struct_size < sizeof openmp->struct_size) {
    return nd4c_fail(ND4C_ARGUMENT, "openmp_open: expected a nd4c_host_openmp with its struct_size set");
  }
  nd4c_lock_acquire(&records_lock);
  nd4c_status status = open_locked(name, directories, library, &record, &is_new);
  nd4c_lock_release(&records_lock);
  ND4C_TRY(status);
  describe(record, openmp);
  if (is_new) {
    nd4c_log_write(ND4C_LOG_INFO, "parallel", "%s: %s", name, record->text);
  }
  return ND4C_OK;
}

void nd4c_openmp_reset(void) {
  /* Another thread of the parent may have held the lock. */
  nd4c_lock_init(&records_lock);
  for (int i = 0; i < record_count; i++) {
    if (records[i].set_max_active_levels != NULL) {
      records[i].set_max_active_levels(0);
    }
  }
}
