/* Implements registry.h and nd4c/device.h: finds devices, selects the default, loads plug-ins. Programs call the public
 * functions; device/context asks for the default device, files of all layers for the host's. */
#include "device/registry/registry.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/config/log.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread_text.h"
#include "device/registry/candidate_list.h"
#include "device/trace/tracer.h"

/* Guards the candidates and the variables below. Recursive, because a backend may call the public API while it is
 * opened. Candidates are never removed and devices never closed, so borrowed pointers to them are valid for the life of
 * the process. */
static nd4c_lock lock;
static nd4c_once lock_once = ND4C_ONCE_INIT;
static nd4c_candidate *selected;
static nd4c_device *selected_device;
static uint32_t selected_epoch;

static void make_lock(void) {
  nd4c_lock_init_recursive(&lock);
}

static void acquire_lock(void) {
  nd4c_once_run(&lock_once, make_lock);
  nd4c_lock_acquire(&lock);
}

static void release_lock(void) {
  nd4c_lock_release(&lock);
}

static nd4c_status fail_without_backend(const char *forced) {
  nd4c_text text = {0};
  const char *remedy = "install what a reason names, or point nd4c.library.path at it";
  if (forced[0] != '\0' && nd4c_candidates_find(forced) == NULL) {
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
  for (int32_t i = 0; i < nd4c_candidates_count(); i++) {
    const nd4c_candidate *c = nd4c_candidates_at(i);
    if (nd4c_candidate_has_devices(c)) {
      nd4c_text_print(&text, "  %s (priority %d): %s%s\n", c->name, c->priority,
                      c->verdict == ND4C_VERDICT_COMPILE_ONLY ? "can only compile ahead of time: " : "", c->reason);
    }
  }
  nd4c_text_print(&text, "What to do: %s; `nd4c info --probe` checks every candidate.", remedy);
  nd4c_status status = nd4c_fail(ND4C_NO_BACKEND, "%s", text.bytes != NULL ? text.bytes : "no usable backend");
  nd4c_text_free(&text);
  return status;
}

/* Asks the candidate whether it is available by request only, and keeps the reason. */
static bool is_by_request(nd4c_candidate *candidate) {
  bool (*ask)(char *, size_t) = candidate->disabled ? NULL : candidate->backend.by_request_only;
  if (ask != NULL) {
    nd4c_candidate_announce(candidate, "by_request_only");
  }
  bool by_request = ask != NULL && ask(candidate->by_request, sizeof candidate->by_request);
  candidate->by_request[by_request ? sizeof candidate->by_request - 1 : 0] = '\0';
  nd4c_text_clean(candidate->by_request, false);
  return by_request;
}

/* Whether the candidate may become the default by its priority. */
static bool is_eligible(nd4c_candidate *candidate) {
  return nd4c_candidate_has_devices(candidate) && nd4c_candidate_is_possible(candidate) &&
         candidate->verdict != ND4C_VERDICT_COMPILE_ONLY && !is_by_request(candidate);
}

/* Opens candidates from the highest priority down until one passes its check. */
static nd4c_status select_by_priority(nd4c_candidate **out) {
  bool passed_over[ND4C_CANDIDATE_LIMIT] = {false};
  for (;;) {
    int32_t best = -1;
    for (int32_t i = 0; i < nd4c_candidates_count(); i++) {
      bool eligible = !passed_over[i] && is_eligible(nd4c_candidates_at(i));
      if (eligible && (best < 0 || nd4c_candidates_at(i)->priority > nd4c_candidates_at(best)->priority)) {
        best = i;
      }
    }
    if (best < 0) {
      return fail_without_backend("");
    }
    nd4c_candidate *candidate = nd4c_candidates_at(best);
    nd4c_status status = nd4c_candidate_open(candidate);
    if (status == ND4C_OK && is_eligible(candidate)) { /* after open its answer is exact */
      *out = candidate;
      return ND4C_OK;
    }
    if (status == ND4C_MEMORY && !(candidate->started && candidate->type != ND4C_DEVICE_CPU)) {
      return status;
    }
    passed_over[best] = true; /* a device without free memory is unusable */
  }
}

/* Fails for configuration that cannot be applied: values that do not parse and, in strict mode, refused plug-ins and
 * undeclared properties. */
static nd4c_status check_requests(void) {
  ND4C_TRY(nd4c_config_check_environment());
  const int64_t rank = nd4c_config_int(ND4C_CONFIG_PROCESS_RANK), count = nd4c_config_int(ND4C_CONFIG_PROCESS_COUNT);
  if (rank >= count) {
    return nd4c_fail(ND4C_CONFIG,
                     "nd4c.process.rank (ND4C_PROCESS_RANK) is %lld: expected less than nd4c.process.count "
                     "(ND4C_PROCESS_COUNT), which is %lld",
                     (long long)rank, (long long)count);
  }
  ND4C_TRY(nd4c_candidates_probe());
  ND4C_TRY(nd4c_config_check_environment()); /* again, now with the properties of plug-ins */
  char waiting[64];
  if (nd4c_config_bool(ND4C_CONFIG_STRICT) && nd4c_config_waits(waiting, sizeof waiting)) {
    return nd4c_fail(ND4C_STRICT, "%s is set, but no provider that was loaded declares it", waiting);
  }
  for (int32_t i = 0; nd4c_config_bool(ND4C_CONFIG_STRICT) && i < nd4c_candidates_count(); i++) {
    const nd4c_candidate *c = nd4c_candidates_at(i);
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
    choice = nd4c_candidates_find(forced);
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
    nd4c_status status = nd4c_candidates_probe();
    nd4c_candidate *cpu = status == ND4C_OK ? nd4c_candidates_find("cpu") : NULL;
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

/* Splits "name" or "name:index"; an index that is too large becomes one that no device has. A device has only one name,
 * so 00 is not accepted for 0. */
static bool split_name(const char *name, char *backend, size_t size, int64_t *index) {
  const char *colon = strchr(name, ':');
  size_t length = colon != NULL ? (size_t)(colon - name) : strlen(name);
  if (length == 0 || length >= size) {
    return false;
  }
  memcpy(backend, name, length);
  backend[length] = '\0';
  *index = 0;
  for (const char *digit = colon != NULL ? colon + 1 : ""; *digit != '\0'; digit++) {
    if (*digit < '0' || *digit > '9') {
      return false;
    }
    *index = *index < INT32_MAX ? *index * 10 + (*digit - '0') : INT64_MAX;
  }
  return colon == NULL || (colon[1] != '\0' && (colon[1] != '0' || colon[2] == '\0'));
}

/* Devices of unopened backends are not known; the backend's name stands for them. */
static nd4c_status fail_unknown_device(const char *name) {
  nd4c_text text = {0};
  for (int32_t i = 0; i < nd4c_candidates_count(); i++) {
    const nd4c_candidate *c = nd4c_candidates_at(i);
    for (int32_t d = 0; d < c->device_count; d++) {
      nd4c_text_print(&text, "%s%s%s", text.length > 0 ? ", " : "", c->devices[d].name,
                      c->openings[d].usable ? "" : " (cannot be used)");
    }
    if (c->device_count == 0 && nd4c_candidate_has_devices(c) && (c->verdict == ND4C_VERDICT_FOUND || c->retries)) {
      nd4c_text_print(&text, "%s%s (not opened yet)", text.length > 0 ? ", " : "", c->name);
    }
  }
  nd4c_text refused = {0};
  for (int32_t i = 0; i < nd4c_candidates_count(); i++) {
    const nd4c_candidate *c = nd4c_candidates_at(i);
    if (c->requested && c->refused) {
      nd4c_text_print(
          &refused, "%s%s: %s",
          refused.length > 0 ? "; " : "; nd4c.backend.plugins (ND4C_BACKEND_PLUGINS) names what was refused: ", c->path,
          c->reason);
    }
  }
  nd4c_status status =
      nd4c_fail(ND4C_NO_BACKEND, "device '%s': there is no backend of that name; devices here: %s%s", name,
                text.bytes != NULL ? text.bytes : "none", refused.bytes != NULL ? refused.bytes : "");
  nd4c_text_free(&refused);
  nd4c_text_free(&text);
  return status;
}

typedef nd4c_status (*find_function)(nd4c_candidate *candidate, const char *name, int64_t index, nd4c_device **device);

static nd4c_status find(const char *name, find_function find_in, nd4c_device **device, bool *unusable) {
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
    nd4c_candidate *candidate = nd4c_candidates_find(backend);
    status = candidate != NULL ? find_in(candidate, name, index, device) : fail_unknown_device(name);
    *unusable = candidate != NULL && status != ND4C_OK && status != ND4C_MEMORY;
  }
  release_lock();
  return status;
}

nd4c_status nd4c_registry_find(const char *name, nd4c_device **device, bool *unusable) {
  return find(name, nd4c_candidate_find_device, device, unusable);
}

nd4c_status nd4c_registry_find_target(const char *name, nd4c_device **target, bool *here) {
  bool unusable;
  ND4C_TRY(find(name, nd4c_candidate_find_target, target, &unusable));
  *here = nd4c_device_is_known(*target);
  return ND4C_OK;
}

nd4c_status nd4c_device_find(const char *name, nd4c_device **device) {
  bool unusable;
  return nd4c_registry_find(name, device, &unusable);
}

nd4c_status nd4c_backend_probe(bool verify) {
  acquire_lock();
  nd4c_status status = nd4c_candidates_probe();
  for (int32_t i = 0; status == ND4C_OK && verify && i < nd4c_candidates_count(); i++) {
    nd4c_candidate *c = nd4c_candidates_at(i);
    if (!nd4c_candidate_has_devices(c)) {
      c->verdict = c->tried ? c->verdict : nd4c_candidate_probe(c, true, c->reason, sizeof c->reason);
    } else if (nd4c_candidate_is_possible(c)) {
      (void)nd4c_candidate_open(c); /* the outcome is in the candidate's verdict and reason */
    }
  }
  release_lock();
  return status;
}

/* The candidate at an index, among those with devices or among those that only contribute; NULL past the end. */
static nd4c_candidate *listed_at(bool devices, int32_t index) {
  for (int32_t i = 0; i < nd4c_candidates_count(); i++) {
    if (nd4c_candidate_has_devices(nd4c_candidates_at(i)) == devices && index-- == 0) {
      return nd4c_candidates_at(i);
    }
  }
  return NULL;
}

static int32_t count_listed(bool devices) {
  int32_t count = 0;
  acquire_lock();
  while (nd4c_candidates_probe() == ND4C_OK && listed_at(devices, count) != NULL) {
    count++;
  }
  release_lock();
  return count;
}

int32_t nd4c_backend_count(void) {
  return count_listed(true);
}

int32_t nd4c_contributor_count(void) {
  return count_listed(false);
}

/* The first other backend to whose devices the candidate contributes. */
static const char *contributes_to(const nd4c_candidate *candidate) {
  for (int32_t i = 0; i < candidate->provider.contribution_count; i++) {
    if (candidate->contributions[i].backend != NULL) {
      return candidate->contributions[i].backend;
    }
  }
  return "";
}

static nd4c_status fill_status(nd4c_candidate *c, nd4c_backend_status *status) {
  (void)is_by_request(c);
  /* Interned, because trying devices again changes the text while a caller may be reading it. */
  const char *reason = nd4c_text_intern(c->reason), *unusable = nd4c_text_intern(c->unusable);
  const char *left_out = nd4c_text_intern(c->left_out != NULL ? c->left_out : "");
  const char *by_request = nd4c_text_intern(c->by_request);
  if (reason == NULL || unusable == NULL || left_out == NULL || by_request == NULL) {
    return nd4c_fail_memory("the words of a backend", sizeof c->reason);
  }
  const nd4c_backend_status filled = {
      .struct_size = status->struct_size,
      .name = c->name,
      .version = c->provider.version != NULL ? c->provider.version : "",
      .origin = c->path != NULL    ? c->path
                : c->entry != NULL ? "built in"
                                   : "",
      .type = c->type,
      .priority = c->priority,
      .verdict = c->verdict,
      .reason = reason,
      .selected = c == selected,
      .device_count = c->device_count,
      .by_request_only = by_request,
      .unusable_devices = unusable,
      .contributes_to = contributes_to(c),
      .left_out = left_out,
  };
  memcpy(status, &filled, status->struct_size < sizeof filled ? status->struct_size : sizeof filled);
  return ND4C_OK;
}

static nd4c_status get_status(bool devices, int32_t index, nd4c_backend_status *status) {
  if (status == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "status is NULL");
  }
  enum { FIRST_SIZE = offsetof(nd4c_backend_status, by_request_only) }; /* the struct's size in version 0.1 */
  if (status->struct_size < FIRST_SIZE) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_backend_status)", status->struct_size);
  }
  acquire_lock();
  nd4c_status result = nd4c_candidates_probe();
  if (result == ND4C_OK) {
    nd4c_candidate *candidate = index < 0 ? NULL : listed_at(devices, index);
    result = candidate != NULL ? fill_status(candidate, status)
                               : nd4c_fail(ND4C_INDEX, "%s %d: there are %d", devices ? "backend" : "contributor",
                                           index, count_listed(devices));
  }
  release_lock();
  return result;
}

nd4c_status nd4c_backend_get_status(int32_t index, nd4c_backend_status *status) {
  return get_status(true, index, status);
}

nd4c_status nd4c_contributor_get_status(int32_t index, nd4c_backend_status *status) {
  return get_status(false, index, status);
}

nd4c_status nd4c_backend_load(const char *path) {
  if (path == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "path is NULL");
  }
  acquire_lock();
  nd4c_status status = nd4c_candidates_probe();
  nd4c_candidate *candidate = NULL;
  if (status == ND4C_OK) {
    status = nd4c_candidates_load(path, false, &candidate);
  }
  const bool keeps = selected != NULL && selected_epoch == atomic_load(&nd4c_config_epoch);
  if (status == ND4C_OK && candidate != NULL) {
    status = nd4c_candidate_spread(candidate);
    selected_epoch = keeps ? atomic_load(&nd4c_config_epoch) : selected_epoch;
  }
  if (status == ND4C_OK && candidate != NULL && keeps) {
    /* The selected default never changes, because arrays and choices refer to it. */
    nd4c_log_write(ND4C_LOG_INFO, "registry", "backend %s was loaded after %s had been selected", candidate->name,
                   selected->name);
  }
  release_lock();
  return status;
}

static const nd4c_engine *find_engine(const char *backend, int32_t index, const nd4c_candidate **brought_by) {
  nd4c_candidate *candidate =
      backend != NULL && nd4c_candidates_probe() == ND4C_OK ? nd4c_candidates_find(backend) : NULL;
  return candidate != NULL ? nd4c_candidate_engine(candidate, index, brought_by) : NULL;
}

const char *nd4c_backend_engine(const char *backend, int32_t index) {
  const nd4c_candidate *brought_by = NULL;
  acquire_lock();
  const nd4c_engine *engine = find_engine(backend, index, &brought_by);
  release_lock();
  return engine != NULL ? engine->name : NULL;
}

const char *nd4c_backend_engine_state(const char *backend, int32_t index, bool verify) {
  size_t size;
  char *text = NULL;
  const nd4c_candidate *brought_by = NULL;
  acquire_lock();
  const nd4c_engine *engine = find_engine(backend, index, &brought_by);
  if (engine != NULL) {
    text = nd4c_thread_state_text(&size);
    text[0] = '\0';
    if (engine->state != NULL) {
      nd4c_candidate_announce(brought_by, "state");
      (void)engine->state(verify, text, size);
      text[size - 1] = '\0';
      nd4c_text_clean(text, false);
    }
  }
  release_lock();
  return text;
}
