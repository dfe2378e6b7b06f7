/* Reads the plug-in's tables from its entry function, without the library's registry, for sections `entry`, `probe` and
 * `tables`. plugin_check.c lists those; direct.c and properties.c load the provider with it. */
#define _GNU_SOURCE 1 /* dlinfo */
#include <dlfcn.h>
#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { REASON_SIZE = 256, GUARD = 0x5a };

/* Names of the libraries that the plug-in itself asks the loader for. */
static void check_needed(plugin_check *check, void *library) {
  struct link_map *map = NULL;
  if (dlinfo(library, RTLD_DI_LINKMAP, (void *)&map) != 0 || map == NULL) {
    plugin_check_note("the libraries that it is linked with cannot be read: %s", dlerror());
    return;
  }
  const char *strings = NULL;
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_STRTAB) {
      const uintptr_t address = (uintptr_t)entry->d_un.d_ptr;
      memcpy(&strings, &address, sizeof strings);
    }
  }
  for (const ElfW(Dyn) *entry = map->l_ld; strings != NULL && entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_NEEDED) {
      const char *name = strings + entry->d_un.d_val;
      (void)plugin_check_that(check, strncmp(name, "libnd4c", strlen("libnd4c")) != 0,
                              "it is linked with %s: a plug-in takes everything from the host table", name);
    }
  }
}

static nd4c_plugin_entry_function find_entry(plugin_check *check) {
  plugin_check_at("opening the file");
  void *library = dlopen(check->path, RTLD_NOW | RTLD_LOCAL);
  if (!plugin_check_that(check, library != NULL, "the loader refuses it: %s", library == NULL ? dlerror() : "")) {
    return NULL;
  }
  check_needed(check, library);
  void *symbol = dlsym(library, ND4C_PLUGIN_ENTRY);
  nd4c_plugin_entry_function entry = NULL;
  if (plugin_check_that(check, symbol != NULL, "it does not export %s (visibility hidden?)", ND4C_PLUGIN_ENTRY)) {
    memcpy(&entry, &symbol, sizeof entry);
  }
  return entry;
}

const nd4c_provider *plugin_load_provider(plugin_check *check) {
  const nd4c_provider *provider = NULL;
  const nd4c_plugin_entry_function entry = find_entry(check);
  if (entry == NULL) {
    return NULL;
  }
  plugin_check_at("%s", ND4C_PLUGIN_ENTRY);
  if (!plugin_check_status(check, entry(nd4c_plugin_get_host(), &provider), "%s", ND4C_PLUGIN_ENTRY) ||
      !plugin_check_that(check, provider != NULL, "%s gave no provider", ND4C_PLUGIN_ENTRY) ||
      !plugin_check_that(check, ND4C_HAS_FIELD(provider, abi_minor),
                         "struct_size of nd4c_provider is %" PRIu32 ": set it to ND4C_SIZE_OF(nd4c_provider)",
                         provider->struct_size) ||
      !plugin_check_that(check, provider->abi_major == ND4C_PLUGIN_ABI_MAJOR,
                         "it was built for ABI %d.%d, this program has %d.%d", provider->abi_major, provider->abi_minor,
                         ND4C_PLUGIN_ABI_MAJOR, ND4C_PLUGIN_ABI_MINOR)) {
    return NULL;
  }
  return plugin_check_that(check, ND4C_HAS_FIELD(provider, contributions),
                           "nd4c_provider has %" PRIu32 " bytes, expected %zu", provider->struct_size, sizeof *provider)
             ? provider
             : NULL;
}

/* -- sizes and versions -------------------------------------------------------------------------------------------- */

/* A struct of the same version has the same size: anything else was compiled with another header than it says. */
static void check_size(plugin_check *check, const nd4c_provider *provider, const char *type, const char *of,
                       uint32_t size, size_t expected) {
  const bool same_version = provider->abi_minor == ND4C_PLUGIN_ABI_MINOR;
  (void)plugin_check_that(check, size == expected || (!same_version && size > sizeof(uint32_t)),
                          "%s of %s has struct_size %" PRIu32
                          ", version %d.%d has %zu: its offsets are another header's",
                          type, of, size, provider->abi_major, provider->abi_minor, expected);
}

static bool is_name(const char *name) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  const size_t length = name != NULL ? strnlen(name, ND4C_PLUGIN_NAME_SIZE) : 0;
  return length > 0 && length < ND4C_PLUGIN_NAME_SIZE && strspn(name, allowed) == length;
}

static bool has_engine(const nd4c_contribution *contribution, const char *name) {
  for (int32_t i = 0; i < contribution->engine_count; i++) {
    if (contribution->engines[i] != NULL && strcmp(contribution->engines[i]->name, name) == 0) {
      return true;
    }
  }
  return false;
}

static void check_engine_name(plugin_check *check, const nd4c_contribution *contribution, const char *what,
                              const char *of, const char *engine) {
  (void)plugin_check_that(check, engine != NULL && has_engine(contribution, engine),
                          "%s of %s names engine '%s', which the contribution does not list", what, of,
                          engine != NULL ? engine : "(NULL)");
}

/* The version of an op, of this library or of the provider's own; `wanted`, if it is among several; 0: there is
 * none. */
static uint32_t version_of(const nd4c_provider *provider, const char *op, uint32_t wanted) {
  const nd4c_op_info *info = NULL;
  uint32_t version = 0;
  for (int32_t i = 0; ND4C_HAS_FIELD(provider, ops) && provider->ops != NULL && i < provider->op_count; i++) {
    const nd4c_plugin_op *own = provider->ops[i];
    if (own != NULL && ND4C_HAS_FIELD(own, name) && own->name != NULL && strcmp(own->name, op) == 0) {
      version = version == wanted && version != 0 ? version : own->version;
    }
  }
  return version != 0 ? version : nd4c_op_find(op, &info) == ND4C_OK ? info->version : 0;
}

static void check_kernel(plugin_check *check, const nd4c_provider *provider, const nd4c_contribution *contribution,
                         const nd4c_kernel *kernel) {
  const char *name = kernel->op != NULL ? kernel->op : "(NULL)";
  const uint32_t version = kernel->op != NULL ? version_of(provider, name, kernel->op_version) : 0;
  check_size(check, provider, "nd4c_kernel", name, kernel->struct_size, sizeof *kernel);
  if (plugin_check_that(check, version != 0, "a kernel is for op '%s', which this library does not have", name)) {
    (void)plugin_check_that(check, kernel->op_version == version,
                            "the kernel of %s is for version %" PRIu32 ", the op has %" PRIu32, name,
                            kernel->op_version, version);
    (void)plugin_check_that(check, kernel->dtypes != 0, "the kernel of %s has no dtype: it is never asked", name);
  }
  check_engine_name(check, contribution, "the kernel", name, kernel->engine);
  (void)plugin_check_that(check, kernel->run != NULL, "the kernel of %s has no run", name);
  (void)plugin_check_that(check, kernel->name != NULL && kernel->name[0] != '\0', "a kernel of %s has no name", name);
  (void)plugin_check_that(check, kernel->prepare == NULL || kernel->unprepare != NULL,
                          "the kernel of %s has prepare and no unprepare: what it makes is never freed", name);
  const bool wants = ND4C_HAS_FIELD(kernel, wants_layout) && kernel->wants_layout != NULL;
  const bool packs = ND4C_HAS_FIELD(kernel, pack) && kernel->pack != NULL;
  (void)plugin_check_that(check, wants == packs, "the kernel of %s has one of wants_layout and pack: both are needed",
                          name);
}

static void check_compiler(plugin_check *check, const nd4c_provider *provider, const nd4c_contribution *contribution,
                           const nd4c_compiler *compiler) {
  const char *name = compiler->engine != NULL ? compiler->engine : "(NULL)";
  check_size(check, provider, "nd4c_compiler", name, compiler->struct_size, sizeof *compiler);
  check_engine_name(check, contribution, "the compiler", name, compiler->engine);
  (void)plugin_check_that(check,
                          compiler->partition != NULL && compiler->compile != NULL && compiler->execute != NULL &&
                              compiler->release != NULL,
                          "the compiler of %s lacks partition, compile, execute or release", name);
  if (compiler->version == NULL) {
    plugin_check_note("the compiler of %s states no version: what it compiled cannot be told from another version's",
                      name);
  }
}

static void check_contribution(plugin_check *check, const nd4c_provider *provider,
                               const nd4c_contribution *contribution) {
  const char *of = contribution->backend != NULL ? contribution->backend : provider->name;
  check_size(check, provider, "nd4c_contribution", of, contribution->struct_size, sizeof *contribution);
  for (int32_t i = 0; i < contribution->engine_count; i++) {
    const nd4c_engine *engine = contribution->engines[i];
    if (plugin_check_that(check, engine != NULL, "engine %" PRId32 " is NULL", i)) {
      check_size(check, provider, "nd4c_engine", "an engine", engine->struct_size, sizeof *engine);
      (void)plugin_check_that(check, is_name(engine->name), "engine %" PRId32 " has no proper name", i);
    }
  }
  for (int32_t i = 0; i < contribution->family_count; i++) {
    const nd4c_kernel *const *kernels = contribution->families[i];
    (void)plugin_check_that(check, kernels != NULL, "kernel family %" PRId32 " is NULL", i);
    for (; kernels != NULL && *kernels != NULL; kernels++) {
      check_kernel(check, provider, contribution, *kernels);
    }
  }
  for (int32_t i = 0; i < contribution->compiler_count; i++) {
    if (plugin_check_that(check, contribution->compilers[i] != NULL, "compiler %" PRId32 " is NULL", i)) {
      check_compiler(check, provider, contribution, contribution->compilers[i]);
    }
  }
}

static void check_backend(plugin_check *check, const nd4c_provider *provider) {
  const nd4c_backend *backend = provider->backend;
  check_size(check, provider, "nd4c_backend", provider->name, backend->struct_size, sizeof *backend);
  (void)plugin_check_that(check, strcmp(nd4c_device_type_name(backend->type), "?") != 0,
                          "its backend has device type %d, which this library does not know", (int)backend->type);
  (void)plugin_check_that(check, backend->device_count != NULL, "its backend has no device_count");
  if (plugin_check_that(check, backend->device != NULL, "its backend has no table of device functions")) {
    check_size(check, provider, "nd4c_device_ops", provider->name, backend->device->struct_size,
               sizeof *backend->device);
  }
}

/* Counts that lead through tables of a NULL pointer would end the section: they are looked at first. */
static bool check_counts(plugin_check *check, const nd4c_provider *provider) {
  bool sound = plugin_check_that(
      check,
      provider->contribution_count >= 0 && (provider->contribution_count == 0 || provider->contributions != NULL),
      "contribution_count is %" PRId32 ", and contributions %s", provider->contribution_count,
      provider->contributions == NULL ? "is NULL" : "is not");
  for (int32_t i = 0; sound && i < provider->contribution_count; i++) {
    const nd4c_contribution *c = provider->contributions[i];
    sound = plugin_check_that(check, c != NULL && ND4C_HAS_FIELD(c, compilers), "contribution %" PRId32 " is %s", i,
                              c == NULL ? "NULL" : "too short") &&
            plugin_check_that(check,
                              c->engine_count >= 0 && c->family_count >= 0 && c->compiler_count >= 0 &&
                                  (c->engine_count == 0 || c->engines != NULL) &&
                                  (c->family_count == 0 || c->families != NULL) &&
                                  (c->compiler_count == 0 || c->compilers != NULL),
                              "contribution %" PRId32 " has a negative count, or a count without a table", i);
  }
  return sound;
}

void plugin_section_entry(plugin_check *check) {
  const nd4c_provider *provider = plugin_load_provider(check);
  if (provider == NULL) {
    return;
  }
  check_size(check, provider, "nd4c_provider", "the plug-in", provider->struct_size, sizeof *provider);
  (void)plugin_check_that(check, is_name(provider->name), "its name is not 1 to %d letters, digits, '_', '-' and '.'",
                          ND4C_PLUGIN_NAME_SIZE - 1);
  if (provider->version == NULL) {
    plugin_check_note("it states no version");
  }
  if (!check_counts(check, provider)) {
    return;
  }
  const bool has_ops = ND4C_HAS_FIELD(provider, ops) && provider->op_count > 0;
  (void)plugin_check_that(check, provider->backend != NULL || provider->contribution_count > 0 || has_ops,
                          "it brings neither devices nor a contribution nor an op");
  if (provider->backend != NULL) {
    check_backend(check, provider);
  }
  for (int32_t i = 0; i < provider->contribution_count; i++) {
    check_contribution(check, provider, provider->contributions[i]);
  }
  plugin_check_properties(check, provider);
}

/* -- probe --------------------------------------------------------------------------------------------------------- */

void plugin_section_probe(plugin_check *check) {
  const nd4c_provider *provider = plugin_load_provider(check);
  if (provider == NULL || provider->probe == NULL) {
    return;
  }
  for (int verify = 0; verify <= 1; verify++) {
    char reason[REASON_SIZE + 16];
    memset(reason, GUARD, sizeof reason);
    reason[0] = '\0';
    plugin_check_at("probe, verify %s", verify != 0 ? "true" : "false");
    const double begun = cli_seconds();
    const int verdict = (int)provider->probe(verify != 0, reason, REASON_SIZE);
    const double seconds = cli_seconds() - begun;
    bool kept = true;
    for (size_t i = REASON_SIZE; i < sizeof reason; i++) {
      kept = kept && reason[i] == GUARD;
    }
    (void)plugin_check_that(check, kept, "probe wrote behind the %d bytes that it was given", REASON_SIZE);
    (void)plugin_check_that(check, memchr(reason, '\0', REASON_SIZE) != NULL, "probe did not end its reason by a zero");
    (void)plugin_check_that(check, verdict >= ND4C_VERDICT_ABSENT && verdict <= ND4C_VERDICT_VERIFIED,
                            "probe answered %d, which is not a verdict", verdict);
    (void)plugin_check_that(check, verdict != ND4C_VERDICT_ABSENT || reason[0] != '\0',
                            "probe answered ABSENT without a reason");
    plugin_check_note("probe(verify %s) took %.1f ms", verify != 0 ? "true" : "false", seconds * 1e3);
  }
}

/* -- for other sections -------------------------------------------------------------------------------------------- */

void plugin_section_tables(plugin_check *check) {
  const nd4c_provider *provider = plugin_load_provider(check);
  if (provider == NULL || !check_counts(check, provider)) {
    return;
  }
  plugin_check_fact("name %s", is_name(provider->name) ? provider->name : "?");
  plugin_check_fact("version %.60s", provider->version != NULL ? provider->version : "");
  if (provider->backend != NULL) {
    plugin_check_fact("devices %s", provider->name);
  }
  for (int32_t i = 0; i < provider->contribution_count; i++) {
    const nd4c_contribution *c = provider->contributions[i];
    for (int32_t k = 0; k < c->engine_count; k++) {
      if (c->engines[k] != NULL && c->backend != NULL && is_name(c->engines[k]->name)) {
        plugin_check_fact("engine %s %s", c->backend, c->engines[k]->name);
      }
    }
    for (int32_t k = 0; k < c->family_count; k++) {
      for (const nd4c_kernel *const *kernel = c->families[k]; kernel != NULL && *kernel != NULL; kernel++) {
        if ((*kernel)->op != NULL) {
          plugin_check_fact("kernel %s %" PRIu64, (*kernel)->op, (uint64_t)(*kernel)->dtypes);
        }
      }
    }
    if (c->compiler_count > 0) {
      plugin_check_fact("compilers %" PRId32, c->compiler_count);
    }
  }
}
