/* Implements candidate_list.h. registry.c fills the list on first use, adds plug-ins and walks over it;
 * candidate_compute.c looks for contributions in it. */
#include "device/registry/candidate_list.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/os.h"
#include "base/status.h"
#include "base/text.h"
#include "device/registry/builtins.h"
#include "device/registry/properties.h"

enum { PATH_SIZE = 4096 };

/* Device types with a priority: a backend of that name is listed even if it is absent, and searched as the plug-in
 * libnd4c_<name>.so. */
typedef struct expected {
  const char *name;
  nd4c_device_type type;
  int32_t priority;
} expected;

static const expected known[] = {
#define KNOWN_ROW(NAME, number, name, priority) {name, ND4C_DEVICE_##NAME, priority},
    ND4C_DEVICE_TYPE_TABLE(KNOWN_ROW)
#undef KNOWN_ROW
};
enum { KNOWN_COUNT = sizeof known / sizeof known[0] };

static nd4c_candidate *candidates[ND4C_CANDIDATE_LIMIT];
static int32_t candidate_count;
static bool probed;

int32_t nd4c_candidates_count(void) {
  return candidate_count;
}

nd4c_candidate *nd4c_candidates_at(int32_t index) {
  return candidates[index];
}

nd4c_candidate *nd4c_candidates_find(const char *name) {
  for (int32_t i = 0; i < candidate_count; i++) {
    if (nd4c_text_equals_any_case(candidates[i]->name, name)) {
      return candidates[i];
    }
  }
  return NULL;
}

static nd4c_status add_candidate(nd4c_candidate **out) {
  if (candidate_count == ND4C_CANDIDATE_LIMIT) {
    (void)nd4c_fail(ND4C_NO_BACKEND, "more than %d backends", ND4C_CANDIDATE_LIMIT);
    return ND4C_NO_BACKEND;
  }
  *out = nd4c_allocate_zeroed(1, sizeof **out);
  if (*out == NULL) {
    (void)nd4c_fail_memory("a backend", sizeof **out);
    return ND4C_MEMORY;
  }
  return ND4C_OK;
}

/* -- built in ------------------------------------------------------------------------------------------------------ */

/* Reads the provider's tables and calls its cheap probe. A refusal is noted in the candidate; it is no failure of the
 * caller. */
static nd4c_status add_builtin(const nd4c_builtin *row) {
  nd4c_candidate *candidate = NULL;
  ND4C_TRY(add_candidate(&candidate));
  (void)snprintf(candidate->name, sizeof candidate->name, "%s", row->name);
  candidate->entry = row->entry;
  nd4c_status status = nd4c_candidate_load(candidate);
  if (status == ND4C_OK) {
    status = nd4c_candidate_register(candidate);
    if (status != ND4C_OK && status != ND4C_MEMORY) {
      nd4c_candidate_refuse(candidate);
    }
  }
  if (status == ND4C_MEMORY) {
    nd4c_deallocate(candidate->contributions);
    nd4c_deallocate(candidate);
    return status;
  }
  if (status == ND4C_OK && nd4c_candidate_is_disabled(candidate)) {
    nd4c_candidate_disable(candidate);
  } else if (status == ND4C_OK) {
    candidate->verdict = nd4c_candidate_probe(candidate, false, candidate->reason, sizeof candidate->reason);
  }
  candidates[candidate_count++] = candidate;
  return ND4C_OK;
}

/* -- looked for ---------------------------------------------------------------------------------------------------- */

/* Looks for the plug-in; opens nothing. */
static nd4c_status add_expected(const expected *row) {
  nd4c_candidate *candidate = NULL;
  ND4C_TRY(add_candidate(&candidate));
  (void)snprintf(candidate->name, sizeof candidate->name, "%s", row->name);
  candidate->type = row->type;
  candidate->priority = row->priority;
  char file[64], path[PATH_SIZE], directories[PATH_SIZE];
  (void)snprintf(file, sizeof file, "libnd4c_%s.so", row->name);
  (void)nd4c_config_string(ND4C_CONFIG_LIBRARY_PATH, directories, sizeof directories);
  if (nd4c_os_library_find(file, directories, path, sizeof path)) {
    candidate->path = nd4c_duplicate_text(path);
    if (candidate->path == NULL) {
      nd4c_deallocate(candidate);
      return nd4c_fail_memory("a plug-in's path", strlen(path));
    }
    candidate->identified = nd4c_os_file_identify(path, &candidate->file);
    candidate->verdict = ND4C_VERDICT_FOUND;
    (void)snprintf(candidate->reason, sizeof candidate->reason, "plug-in %.900s", path);
    if (nd4c_candidate_is_disabled(candidate)) {
      nd4c_candidate_disable(candidate);
    }
  } else {
    (void)snprintf(candidate->reason, sizeof candidate->reason,
                   "not built into this library, and its plug-in %s is neither in nd4c.library.path nor beside "
                   "libnd4c.so nor where the system's loader looks",
                   file);
  }
  candidates[candidate_count++] = candidate;
  return ND4C_OK;
}

/* -- plug-ins ------------------------------------------------------------------------------------------------------ */

/* *same: the absent candidate with the plug-in's name, else NULL. */
static nd4c_status load_plugin(nd4c_candidate *candidate, nd4c_candidate **same) {
  if (strchr(candidate->path, '/') == NULL) {
    return nd4c_fail(ND4C_ARGUMENT, "plug-in path '%s': expected an absolute path or one containing a '/'",
                     candidate->path);
  }
  if (nd4c_candidate_is_disabled(candidate)) {
    return nd4c_fail(ND4C_CONFIG, "plug-in %s: nd4c.backend.disable (ND4C_BACKEND_DISABLE) names it", candidate->path);
  }
  ND4C_TRY(nd4c_candidate_load(candidate));
  *same = nd4c_candidates_find(candidate->name);
  if (*same != NULL && nd4c_candidate_is_possible(*same)) {
    return nd4c_fail(ND4C_NAME, "plug-in %s: there is a backend named %s already (%s)", candidate->path,
                     candidate->name, (*same)->path != NULL ? (*same)->path : "built in");
  }
  return nd4c_candidate_register(candidate);
}

/* A refused plug-in has no trusted name, so it gets its file's name, which no backend has. */
static void name_after_file(nd4c_candidate *candidate) {
  const char *slash = strrchr(candidate->path, '/');
  (void)snprintf(candidate->name, sizeof candidate->name, "%.*s", ND4C_BACKEND_NAME_SIZE - 1,
                 slash != NULL && slash[1] != '\0' ? slash + 1 : candidate->path);
}

static void free_candidate(nd4c_candidate *candidate) {
  nd4c_deallocate(candidate->path);
  nd4c_deallocate(candidate->contributions);
  nd4c_deallocate(candidate);
}

/* After a copy, pointers to operations, buffers, capture, timing and contributions would refer to the old candidate. */
static nd4c_candidate *replace(nd4c_candidate *absent, nd4c_candidate *loaded) {
  nd4c_deallocate(absent->path);
  *absent = *loaded;
  absent->backend.device = &absent->ops;
  absent->ops.buffers = loaded->ops.buffers != NULL ? &absent->buffers : NULL;
  absent->backend.collective = loaded->backend.collective != NULL ? &absent->collective : NULL;
  absent->ops.capture = loaded->ops.capture != NULL ? &absent->capture : NULL;
  absent->ops.timing = loaded->ops.timing != NULL ? &absent->timing : NULL;
  nd4c_deallocate(loaded);
  return absent;
}

/* The candidate whose plug-in is that file and was not refused; NULL: none. */
static nd4c_candidate *find_file(const char *path) {
  nd4c_os_file_id id;
  if (strchr(path, '/') == NULL || !nd4c_os_file_identify(path, &id)) {
    return NULL;
  }
  for (int32_t i = 0; i < candidate_count; i++) {
    const nd4c_candidate *c = candidates[i];
    if (c->identified && !c->refused && c->file.device == id.device && c->file.number == id.number) {
      return candidates[i];
    }
  }
  return NULL;
}

/* The path is the file of a candidate: if it is loaded, nothing changes; if it was only found so far, it is loaded
 * now. */
static nd4c_status load_present(nd4c_candidate *present, nd4c_candidate **out) {
  if (present->provider.struct_size != 0) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_candidate_load(present));
  ND4C_TRY(nd4c_candidate_register(present));
  if (out != NULL) {
    *out = present;
  }
  return ND4C_OK;
}

nd4c_status nd4c_candidates_load(const char *path, bool requested, nd4c_candidate **out) {
  nd4c_candidate *candidate = NULL, *same = NULL, *present = find_file(path);
  if (out != NULL) {
    *out = NULL;
  }
  if (present != NULL) {
    return load_present(present, out);
  }
  ND4C_TRY(add_candidate(&candidate));
  candidate->requested = requested;
  candidate->path = nd4c_duplicate_text(path);
  nd4c_status status = ND4C_MEMORY;
  if (candidate->path == NULL) {
    (void)nd4c_fail_memory("a plug-in's path", strlen(path));
  } else {
    candidate->identified = nd4c_os_file_identify(path, &candidate->file);
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
    free_candidate(candidate);
    return status;
  }
  candidate->verdict = ND4C_VERDICT_FOUND;
  (void)snprintf(candidate->reason, sizeof candidate->reason, "plug-in %.900s", path);
  if (same != NULL) {
    candidate = replace(same, candidate);
  } else {
    candidates[candidate_count++] = candidate;
  }
  if (nd4c_candidate_is_disabled(candidate)) {
    nd4c_candidate_disable(candidate);
  }
  if (out != NULL) {
    *out = candidate;
  }
  return ND4C_OK;
}

static bool has_path(const char *path) {
  for (int32_t i = 0; i < candidate_count; i++) {
    if (candidates[i]->path != NULL && strcmp(candidates[i]->path, path) == 0) {
      return true;
    }
  }
  return false;
}

/* Loads the plug-ins that the configuration names. A refused one does not stop the others: it becomes a candidate that
 * says why it is absent. */
static nd4c_status load_configured(void) {
  static const char separators[] = ", ";
  char list[PATH_SIZE];
  (void)nd4c_config_string(ND4C_CONFIG_BACKEND_PLUGINS, list, sizeof list);
  for (char *path = list + strspn(list, separators), *next; path[0] != '\0'; path = next) {
    char *end = path + strcspn(path, separators);
    next = end + strspn(end, separators);
    *end = '\0';
    nd4c_status status = has_path(path) ? ND4C_OK : nd4c_candidates_load(path, true, NULL);
    if (status != ND4C_OK && !has_path(path)) {
      return status;
    }
  }
  return ND4C_OK;
}

/* In the order of the device types, then candidates with other names. */
nd4c_status nd4c_candidates_probe(void) {
  if (probed) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_properties_use());
  for (int32_t i = 0; i < KNOWN_COUNT; i++) {
    const nd4c_builtin *row = nd4c_builtins_find(known[i].name);
    if (nd4c_candidates_find(known[i].name) == NULL) { /* otherwise an earlier attempt ran out of memory after this */
      nd4c_status status = row != NULL ? add_builtin(row) : known[i].priority >= 0 ? add_expected(&known[i]) : ND4C_OK;
      ND4C_TRY(status);
    }
  }
  for (int32_t b = 0; b < nd4c_builtins_count(); b++) {
    if (nd4c_candidates_find(nd4c_builtins_at(b)->name) == NULL) {
      ND4C_TRY(add_builtin(nd4c_builtins_at(b)));
    }
  }
  ND4C_TRY(load_configured());
  probed = true;
  return ND4C_OK;
}
