#define _POSIX_C_SOURCE 200809L /* recursive mutexes, strtok_r */

#include "device/registry.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/config.h"
#include "base/log.h"
#include "base/os.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread_text.h"
#include "builtin_backends.h"
#include "device/candidate.h"
#include "device/tracer.h"

/* X(name, device type, priority): the backends that nd4c knows of, in the order in which they are probed. One that is
 * not built in is looked for as the plug-in libnd4c_<name>.so. */
#define KNOWN_BACKENDS(X) \
  X(cuda, CUDA, 100)      \
  X(tpu, TPU, 50)         \
  X(hexagon, HEXAGON, 60) \
  X(opencl, OPENCL, 20)   \
  X(cpu, CPU, 0)

enum { CANDIDATE_LIMIT = 64, PATH_SIZE = 4096 };

#define DECLARE_ENTRY(name) nd4c_status nd4c_backend_##name##_entry(const nd4c_host *, const nd4c_backend **);
ND4C_BUILTIN_BACKENDS(DECLARE_ENTRY)
#undef DECLARE_ENTRY

typedef struct builtin {
  const char *name;
  nd4c_plugin_entry_function entry;
} builtin;

static const builtin builtins[] = {
#define BUILTIN_ROW(name) {#name, nd4c_backend_##name##_entry},
    ND4C_BUILTIN_BACKENDS(BUILTIN_ROW)
#undef BUILTIN_ROW
        {NULL, NULL}};

/* Guards everything below. Recursive, because opening a backend may come back through the public API. Candidates are
 * never removed and devices never closed: borrowed pointers to them stay good for the life of the process. */
static pthread_mutex_t lock;
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;
static nd4c_candidate *candidates[CANDIDATE_LIMIT];
static int32_t candidate_count;
static bool probed;
static nd4c_candidate *selected;
static nd4c_device *selected_device;
static uint32_t selected_epoch;

static void make_lock(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

static void acquire_lock(void) {
  pthread_once(&lock_once, make_lock);
  pthread_mutex_lock(&lock);
}

static void release_lock(void) {
  pthread_mutex_unlock(&lock);
}

static nd4c_status add_candidate(nd4c_candidate **out) {
  if (candidate_count == CANDIDATE_LIMIT) {
    (void)nd4c_fail(ND4C_NO_BACKEND, "more than %d backends", CANDIDATE_LIMIT);
    return ND4C_NO_BACKEND;
  }
  *out = nd4c_allocate_zeroed(1, sizeof **out);
  if (*out == NULL) {
    (void)nd4c_fail_memory("a backend", sizeof **out);
    return ND4C_MEMORY;
  }
  return ND4C_OK;
}

/* In either case, as enums write their names in capitals. */
static nd4c_candidate *find_candidate(const char *name) {
  for (int32_t i = 0; i < candidate_count; ++i) {
    if (strcasecmp(candidates[i]->name, name) == 0) {
      return candidates[i];
    }
  }
  return NULL;
}

static const builtin *find_builtin(const char *name) {
  for (const builtin *b = builtins; b->name != NULL; ++b) {
    if (strcmp(b->name, name) == 0) {
      return b;
    }
  }
  return NULL;
}

/* Looks for what the candidate needs; opens nothing but, for a built-in one, its own table. */
static nd4c_status find_known(nd4c_candidate *candidate) {
  const builtin *known = find_builtin(candidate->name);
  if (known != NULL) {
    candidate->entry = known->entry;
    nd4c_status status = nd4c_candidate_load(candidate);
    if (status != ND4C_OK) {
      return status == ND4C_MEMORY ? status : ND4C_OK; /* its reason says why it is absent */
    }
    candidate->verdict = ND4C_VERDICT_FOUND;
    if (candidate->backend.probe != NULL) {
      candidate->verdict = candidate->backend.probe(false, candidate->reason, sizeof candidate->reason);
    }
    return ND4C_OK;
  }
  char file[64], path[PATH_SIZE], directories[PATH_SIZE];
  (void)snprintf(file, sizeof file, "libnd4c_%s.so", candidate->name);
  (void)nd4c_config_string(ND4C_CONFIG_LIBRARY_PATH, directories, sizeof directories);
  if (nd4c_os_library_find(file, directories, path, sizeof path)) {
    candidate->path = nd4c_duplicate_text(path);
    if (candidate->path == NULL) {
      return nd4c_fail_memory("a plug-in's path", strlen(path));
    }
    candidate->verdict = ND4C_VERDICT_FOUND;
    (void)snprintf(candidate->reason, sizeof candidate->reason, "plug-in %.900s", path);
  } else {
    (void)snprintf(candidate->reason, sizeof candidate->reason,
                   "not built into this library, and its plug-in %s is neither in nd4c.library.path nor beside "
                   "libnd4c.so nor where the system's loader looks",
                   file);
  }
  return ND4C_OK;
}

/* Loads the plug-in at the candidate's path. One that bears the name of a known backend takes the place of one that is
 * absent: *same, else NULL. */
static nd4c_status load_plugin(nd4c_candidate *candidate, nd4c_candidate **same) {
  if (strchr(candidate->path, '/') == NULL) {
    return nd4c_fail(ND4C_ARGUMENT, "plug-in path '%s': expected an absolute path or one containing a '/'",
                     candidate->path);
  }
  ND4C_TRY(nd4c_candidate_load(candidate));
  *same = find_candidate(candidate->name);
  if (*same != NULL && nd4c_candidate_is_possible(*same)) {
    return nd4c_fail(ND4C_NAME, "plug-in %s: there is a backend named %s already (%s)", candidate->path,
                     candidate->name, (*same)->path != NULL ? (*same)->path : "built in");
  }
  return ND4C_OK;
}

/* A refused plug-in has given no name to go by: it bears its file's, which no backend has. */
static void name_after_file(nd4c_candidate *candidate) {
  const char *slash = strrchr(candidate->path, '/');
  (void)snprintf(candidate->name, sizeof candidate->name, "%.*s", ND4C_BACKEND_NAME_SIZE - 1,
                 slash != NULL && slash[1] != '\0' ? slash + 1 : candidate->path);
}

/* `requested`: configuration names it, so that it stays in the list when it is refused, with the reason. */
static nd4c_status load_path(const char *path, bool requested, nd4c_candidate **out) {
  nd4c_candidate *candidate = NULL, *same = NULL;
  ND4C_TRY(add_candidate(&candidate));
  candidate->requested = requested;
  candidate->path = nd4c_duplicate_text(path);
  nd4c_status status = ND4C_MEMORY;
  if (candidate->path == NULL) {
    (void)nd4c_fail_memory("a plug-in's path", strlen(path));
  } else {
    name_after_file(candidate);
    status = load_plugin(candidate, &same);
  }
  if (status != ND4C_OK && requested && candidate->path != NULL) {
    name_after_file(candidate);
    nd4c_candidate_refuse(candidate);
    candidates[candidate_count++] = candidate;
    return status;
  }
  if (status != ND4C_OK) {
    nd4c_deallocate(candidate->path);
    nd4c_deallocate(candidate);
    return status;
  }
  candidate->verdict = ND4C_VERDICT_FOUND;
  (void)snprintf(candidate->reason, sizeof candidate->reason, "plug-in %.900s", path);
  if (same != NULL) {
    nd4c_deallocate(same->path);
    *same = *candidate;
    same->backend.device = &same->ops;
    nd4c_deallocate(candidate);
    candidate = same;
  } else {
    candidates[candidate_count++] = candidate;
  }
  if (out != NULL) {
    *out = candidate;
  }
  return ND4C_OK;
}

static bool has_path(const char *path) {
  for (int32_t i = 0; i < candidate_count; ++i) {
    if (candidates[i]->path != NULL && strcmp(candidates[i]->path, path) == 0) {
      return true;
    }
  }
  return false;
}

/* Plug-ins named by configuration. One that is refused does not stop the others: it is a candidate that tells why it
 * is absent. Without memory the next attempt goes on behind those that are there. */
static nd4c_status load_configured_plugins(void) {
  char list[PATH_SIZE];
  (void)nd4c_config_string(ND4C_CONFIG_BACKEND_PLUGINS, list, sizeof list);
  char *rest = list;
  for (char *path = strtok_r(rest, ", ", &rest); path != NULL; path = strtok_r(NULL, ", ", &rest)) {
    nd4c_status status = has_path(path) ? ND4C_OK : load_path(path, true, NULL);
    if (status != ND4C_OK && !has_path(path)) {
      return status;
    }
  }
  return ND4C_OK;
}

static nd4c_status probe_all(void) {
  if (probed) {
    return ND4C_OK;
  }
  static const struct {
    const char *name;
    nd4c_device_type type;
    int32_t priority;
  } known[] = {
#define KNOWN_ROW(name, TYPE, priority) {#name, ND4C_DEVICE_##TYPE, priority},
      KNOWN_BACKENDS(KNOWN_ROW)
#undef KNOWN_ROW
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
    if (find_candidate(known[i].name) != NULL) {
      continue; /* an earlier attempt ended for want of memory behind this one */
    }
    nd4c_candidate *candidate = NULL;
    ND4C_TRY(add_candidate(&candidate));
    (void)snprintf(candidate->name, sizeof candidate->name, "%s", known[i].name);
    candidate->type = known[i].type;
    candidate->priority = known[i].priority;
    nd4c_status status = find_known(candidate);
    if (status != ND4C_OK) {
      nd4c_deallocate(candidate);
      return status;
    }
    candidates[candidate_count++] = candidate;
  }
  ND4C_TRY(load_configured_plugins());
  probed = true;
  return ND4C_OK;
}

static nd4c_status fail_without_backend(const char *forced) {
  nd4c_text text = {0};
  const char *remedy = "install what a reason names, or point nd4c.library.path at it";
  if (forced[0] != '\0' && find_candidate(forced) == NULL) {
    nd4c_text_print(&text, "backend.type asks for '%s', but there is no backend of that name.", forced);
    remedy =
        "unset backend.type (BACKEND_TYPE) or set it to one of these, or name the plug-in that brings the backend "
        "in nd4c.backend.plugins (ND4C_BACKEND_PLUGINS)";
  } else if (forced[0] != '\0') {
    nd4c_text_print(&text, "backend.type asks for '%s', which cannot be used.", forced);
    remedy = "unset backend.type (BACKEND_TYPE) or set it to one that is usable, or install what its reason names";
  } else {
    nd4c_text_print(&text, "no backend can be used.");
  }
  nd4c_text_print(&text, " Candidates:\n");
  for (int32_t i = 0; i < candidate_count; ++i) {
    nd4c_text_print(&text, "  %s (priority %d): %s\n", candidates[i]->name, candidates[i]->priority,
                    candidates[i]->reason);
  }
  nd4c_text_print(&text, "What to do: %s; `nd4c info --probe` checks every candidate.", remedy);
  nd4c_status status = nd4c_fail(ND4C_NO_BACKEND, "%s", text.bytes != NULL ? text.bytes : "no usable backend");
  nd4c_text_free(&text);
  return status;
}

/* Asks the candidate whether it is there by request only, and keeps why. */
static bool is_by_request(nd4c_candidate *candidate) {
  bool (*ask)(char *, size_t) = candidate->backend.by_request_only;
  bool by_request = ask != NULL && ask(candidate->by_request, sizeof candidate->by_request);
  if (!by_request) {
    candidate->by_request[0] = '\0';
  }
  return by_request;
}

/* Whether the candidate takes part in the choice by priority. */
static bool is_eligible(nd4c_candidate *candidate) {
  return nd4c_candidate_is_possible(candidate) && candidate->verdict != ND4C_VERDICT_COMPILE_ONLY &&
         !is_by_request(candidate);
}

/* Opens downwards from the highest priority until one passes. */
static nd4c_status select_by_priority(nd4c_candidate **out) {
  bool passed_over[CANDIDATE_LIMIT] = {false};
  for (;;) {
    int32_t best = -1;
    for (int32_t i = 0; i < candidate_count; ++i) {
      bool eligible = !passed_over[i] && is_eligible(candidates[i]);
      if (eligible && (best < 0 || candidates[i]->priority > candidates[best]->priority)) {
        best = i;
      }
    }
    if (best < 0) {
      return fail_without_backend("");
    }
    nd4c_status status = nd4c_candidate_open(candidates[best]);
    if (status == ND4C_OK && is_eligible(candidates[best])) { /* open, it knows better than before */
      *out = candidates[best];
      return ND4C_OK;
    }
    if (status == ND4C_MEMORY && !(candidates[best]->started && candidates[best]->type != ND4C_DEVICE_CPU)) {
      return status;
    }
    passed_over[best] = true; /* a device whose memory others hold is as good as none */
  }
}

/* What configuration asks for in vain: values that nobody can read and, where strict, plug-ins that were refused. */
static nd4c_status check_requests(void) {
  ND4C_TRY(nd4c_config_check_environment());
  ND4C_TRY(probe_all());
  for (int32_t i = 0; nd4c_config_bool(ND4C_CONFIG_STRICT) && i < candidate_count; ++i) {
    const nd4c_candidate *c = candidates[i];
    if (c->requested && c->refused) {
      return nd4c_fail(ND4C_STRICT, "nd4c.backend.plugins (ND4C_BACKEND_PLUGINS) names %s, which is refused: %s",
                       c->path, c->reason);
    }
  }
  return ND4C_OK;
}

static nd4c_status select_backend(void) {
  uint32_t epoch = atomic_load(&nd4c_config_epoch);
  if (selected != NULL && selected_epoch == epoch) {
    return ND4C_OK;
  }
  ND4C_TRY(check_requests());
  char forced[ND4C_BACKEND_NAME_SIZE];
  (void)nd4c_config_string(ND4C_CONFIG_BACKEND_TYPE, forced, sizeof forced);
  nd4c_candidate *choice = NULL;
  if (forced[0] == '\0') {
    ND4C_TRY(select_by_priority(&choice));
  } else {
    choice = find_candidate(forced);
    nd4c_status status = choice == NULL ? ND4C_NO_BACKEND : nd4c_candidate_open(choice);
    if (status == ND4C_MEMORY) {
      return status;
    }
    if (status != ND4C_OK) {
      return fail_without_backend(forced);
    }
  }
  selected = choice;
  selected_device = nd4c_candidate_first_device(choice);
  selected_epoch = epoch;
  nd4c_log_write(ND4C_LOG_INFO, "registry", "backend %s: %s", choice->name, choice->reason);
  return ND4C_OK;
}

nd4c_status nd4c_device_default(nd4c_device **device) {
  if (device == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "device is NULL");
  }
  nd4c_tracer_follow_config();
  acquire_lock();
  nd4c_status status = select_backend();
  if (status == ND4C_OK) {
    *device = selected_device;
  }
  release_lock();
  return status;
}

nd4c_status nd4c_device_host(nd4c_device **device) {
  static nd4c_device *_Atomic host;
  nd4c_device *known = atomic_load_explicit(&host, memory_order_acquire);
  if (known == NULL) {
    acquire_lock();
    nd4c_status status = probe_all();
    nd4c_candidate *cpu = status == ND4C_OK ? find_candidate("cpu") : NULL;
    status = cpu == NULL ? (status != ND4C_OK ? status : fail_without_backend("cpu")) : nd4c_candidate_open(cpu);
    known = status == ND4C_OK ? nd4c_candidate_first_device(cpu) : NULL;
    release_lock();
    if (known == NULL) {
      return status;
    }
    atomic_store_explicit(&host, known, memory_order_release);
  }
  *device = known;
  return ND4C_OK;
}

/* "name" or "name:index" into its parts; an index that no device could have becomes one that none has. A device has
 * one name: 0 is not written 00. */
static bool split_name(const char *name, char *backend, size_t size, int64_t *index) {
  const char *colon = strchr(name, ':');
  size_t length = colon != NULL ? (size_t)(colon - name) : strlen(name);
  if (length == 0 || length >= size) {
    return false;
  }
  memcpy(backend, name, length);
  backend[length] = '\0';
  *index = 0;
  for (const char *digit = colon != NULL ? colon + 1 : ""; *digit != '\0'; ++digit) {
    if (*digit < '0' || *digit > '9') {
      return false;
    }
    *index = *index < INT32_MAX ? *index * 10 + (*digit - '0') : INT64_MAX;
  }
  return colon == NULL || (colon[1] != '\0' && (colon[1] != '0' || colon[2] == '\0'));
}

/* Devices that are not opened are not counted: the backend's name stands for them. */
static nd4c_status fail_unknown_device(const char *name) {
  nd4c_text text = {0};
  for (int32_t i = 0; i < candidate_count; ++i) {
    const nd4c_candidate *c = candidates[i];
    for (int32_t d = 0; d < c->device_count; ++d) {
      nd4c_text_print(&text, "%s%s%s", text.length > 0 ? ", " : "", c->devices[d].name,
                      c->openings[d].usable ? "" : " (cannot be used)");
    }
    if (c->device_count == 0 && (c->verdict == ND4C_VERDICT_FOUND || c->retries)) {
      nd4c_text_print(&text, "%s%s (not opened yet)", text.length > 0 ? ", " : "", c->name);
    }
  }
  nd4c_status status = nd4c_fail(ND4C_NO_BACKEND, "device '%s': there is no backend of that name; devices here: %s",
                                 name, text.bytes != NULL ? text.bytes : "none");
  nd4c_text_free(&text);
  return status;
}

nd4c_status nd4c_registry_find(const char *name, nd4c_device **device, bool *unusable) {
  *unusable = false;
  if (name == NULL || device == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s is NULL", name == NULL ? "name" : "device");
  }
  char backend[ND4C_BACKEND_NAME_SIZE];
  int64_t index = 0;
  if (!split_name(name, backend, sizeof backend, &index)) {
    return nd4c_fail(ND4C_NAME, "device '%s': expected a backend's name and, after a colon, a number: cpu:0", name);
  }
  nd4c_tracer_follow_config();
  acquire_lock();
  nd4c_status status = check_requests();
  if (status == ND4C_OK) {
    nd4c_candidate *candidate = find_candidate(backend);
    status = candidate != NULL ? nd4c_candidate_find_device(candidate, name, index, device) : fail_unknown_device(name);
    *unusable = candidate != NULL && status != ND4C_OK && status != ND4C_MEMORY;
  }
  release_lock();
  return status;
}

nd4c_status nd4c_device_find(const char *name, nd4c_device **device) {
  bool unusable;
  return nd4c_registry_find(name, device, &unusable);
}

nd4c_status nd4c_backend_probe(bool verify) {
  acquire_lock();
  nd4c_status status = probe_all();
  for (int32_t i = 0; status == ND4C_OK && verify && i < candidate_count; ++i) {
    if (nd4c_candidate_is_possible(candidates[i])) {
      (void)nd4c_candidate_open(candidates[i]); /* how it ended is in its verdict and reason */
    }
  }
  release_lock();
  return status;
}

int32_t nd4c_backend_count(void) {
  acquire_lock();
  int32_t count = probe_all() == ND4C_OK ? candidate_count : 0;
  release_lock();
  return count;
}

nd4c_status nd4c_backend_get_status(int32_t index, nd4c_backend_status *status) {
  if (status == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "status is NULL");
  }
  enum { FIRST_SIZE = offsetof(nd4c_backend_status, by_request_only) }; /* of 0.1 */
  if (status->struct_size < FIRST_SIZE) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_backend_status)", status->struct_size);
  }
  acquire_lock();
  nd4c_status result = probe_all();
  if (result == ND4C_OK && (index < 0 || index >= candidate_count)) {
    result = nd4c_fail(ND4C_INDEX, "backend %d: there are %d", index, candidate_count);
  }
  if (result == ND4C_OK) {
    nd4c_candidate *c = candidates[index];
    (void)is_by_request(c);
    /* Devices that are tried again change the words while somebody may be reading what was handed out. */
    const char *reason = nd4c_text_intern(c->reason), *unusable = nd4c_text_intern(c->unusable);
    if (reason == NULL || unusable == NULL) {
      release_lock();
      return nd4c_fail_memory("the words of a backend", sizeof c->reason);
    }
    const nd4c_backend_status filled = {
        .struct_size = status->struct_size,
        .name = c->name,
        .version = c->backend.version != NULL ? c->backend.version : "",
        .origin = c->path != NULL    ? c->path
                  : c->entry != NULL ? "built in"
                                     : "",
        .type = c->type,
        .priority = c->priority,
        .verdict = c->verdict,
        .reason = reason,
        .selected = c == selected,
        .device_count = c->device_count,
        .by_request_only = c->by_request,
        .unusable_devices = unusable,
    };
    memcpy(status, &filled, status->struct_size < sizeof filled ? status->struct_size : sizeof filled);
  }
  release_lock();
  return result;
}

nd4c_status nd4c_backend_load(const char *path) {
  if (path == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "path is NULL");
  }
  acquire_lock();
  nd4c_status status = probe_all();
  nd4c_candidate *candidate = NULL;
  if (status == ND4C_OK) {
    status = load_path(path, false, &candidate);
  }
  if (status == ND4C_OK && selected != NULL && selected_epoch == atomic_load(&nd4c_config_epoch)) {
    /* What has been selected stays so: arrays and choices refer to it. */
    nd4c_log_write(ND4C_LOG_INFO, "registry", "backend %s was loaded after %s had been selected", candidate->name,
                   selected->name);
  }
  release_lock();
  return status;
}

const char *nd4c_backend_engine(const char *backend, int32_t index) {
  const char *engine = NULL;
  acquire_lock();
  nd4c_candidate *candidate = backend != NULL && probe_all() == ND4C_OK ? find_candidate(backend) : NULL;
  if (candidate != NULL && index >= 0 && index < candidate->backend.engine_count) {
    engine = candidate->backend.engines[index];
  }
  release_lock();
  return engine;
}

const char *nd4c_backend_engine_state(const char *backend, int32_t index, bool verify) {
  const char *engine = nd4c_backend_engine(backend, index);
  if (engine == NULL) {
    return NULL;
  }
  size_t size;
  char *text = nd4c_thread_state_text(&size);
  text[0] = '\0';
  acquire_lock();
  nd4c_candidate *candidate = find_candidate(backend);
  if (candidate->backend.engine_state != NULL) {
    (void)candidate->backend.engine_state(engine, verify, text, size);
  }
  release_lock();
  return text;
}
