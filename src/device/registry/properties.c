/* Implements properties.h and nd4c/config.h. Programs set and read properties here; candidate.c declares those of a
 * provider that is accepted. */
#include "device/registry/properties.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "device/memory/host.h"
#include "device/provider/provider_check.h"
#include "device/registry/builtins.h"

nd4c_status nd4c_properties_prepare(const char *from, const nd4c_provider *provider,
                                    nd4c_config_definition **prepared) {
  ND4C_TRY(nd4c_provider_define_properties(provider, prepared));
  nd4c_status status = nd4c_config_prepare(from, *prepared, provider->property_count);
  if (status != ND4C_OK) {
    nd4c_deallocate(*prepared);
    *prepared = NULL;
  }
  return status;
}

bool nd4c_properties_declare(const nd4c_provider *provider, const nd4c_config_definition *prepared) {
  return nd4c_config_declare(prepared, provider->property_count);
}

/* -- built in ------------------------------------------------------------------------------------------------------ */

/* Guards the declaration of built-in providers' properties, which precedes any plug-in's. */
static nd4c_lock builtins_lock = ND4C_LOCK_INIT;
static _Atomic bool builtins_declared;

/* The registry also refuses a built-in provider that is refused here, and reports why. */
static nd4c_status declare_builtin(const nd4c_builtin *builtin) {
  const nd4c_provider *given = NULL;
  if (builtin->entry(nd4c_host_table(), &given) != ND4C_OK || nd4c_provider_check(builtin->name, given) != ND4C_OK) {
    return ND4C_OK;
  }
  nd4c_provider provider;
  nd4c_config_definition *prepared = NULL;
  nd4c_provider_copy(&provider, sizeof provider, given, given->struct_size);
  nd4c_status status = nd4c_properties_prepare(builtin->name, &provider, &prepared);
  if (status == ND4C_OK) {
    (void)nd4c_properties_declare(&provider, prepared);
    nd4c_deallocate(prepared);
  }
  return status == ND4C_MEMORY ? status : ND4C_OK;
}

static ND4C_NOINLINE nd4c_status declare_builtins(void) {
  nd4c_status status = ND4C_OK;
  bool first = false;
  nd4c_lock_acquire(&builtins_lock);
  if (!atomic_load_explicit(&builtins_declared, memory_order_relaxed)) {
    for (int32_t i = 0; status == ND4C_OK && i < nd4c_builtins_count(); i++) {
      status = declare_builtin(nd4c_builtins_at(i));
    }
    first = status == ND4C_OK;
    atomic_store_explicit(&builtins_declared, first, memory_order_release);
  }
  nd4c_lock_release(&builtins_lock);
  if (first) {
    nd4c_config_tell_declared(NULL); /* the application's log callback may call this again */
  }
  return status;
}

nd4c_status nd4c_properties_use(void) {
  return ND4C_LIKELY(atomic_load_explicit(&builtins_declared, memory_order_acquire)) ? ND4C_OK : declare_builtins();
}

/* -- nd4c/config.h ------------------------------------------------------------------------------------------------- */

int32_t nd4c_config_count(void) {
  (void)nd4c_properties_use();
  return nd4c_config_rows_count();
}

nd4c_status nd4c_config_get_row(int32_t index, nd4c_config_row *row) {
  ND4C_TRY(nd4c_properties_use());
  return nd4c_config_rows_get(index, row);
}

nd4c_status nd4c_config_get(const char *property, const char **value) {
  ND4C_TRY(nd4c_properties_use());
  return nd4c_config_text_get(property, value);
}

nd4c_status nd4c_config_set(const char *property, const char *value) {
  ND4C_TRY(nd4c_properties_use());
  return nd4c_config_text_set(property, value);
}
