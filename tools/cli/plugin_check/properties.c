/* Section `properties`: the properties that a plug-in declares, read from its table, because `nd4c config` cannot list
 * what nd4c refuses. plugin_check.c lists the section; load.c calls the checks. */
#include <inttypes.h>
#include <string.h>

#include "check.h"

static void check_property(plugin_check *check, int32_t index, const nd4c_plugin_property *property) {
  if (!plugin_check_that(check, property != NULL && ND4C_HAS_FIELD(property, meaning), "property %" PRId32 " is %s",
                         index, property == NULL ? "NULL" : "too short") ||
      !plugin_check_that(check, property->name != NULL && strncmp(property->name, "nd4c.", 5) == 0,
                         "property %" PRId32 ": its name does not begin with nd4c. and the provider's name", index)) {
    return;
  }
  (void)plugin_check_that(check, property->environment != NULL && strncmp(property->environment, "ND4C_", 5) == 0,
                          "property %s: its variable does not begin with ND4C_ and the provider's name",
                          property->name);
  (void)plugin_check_that(check, property->type >= ND4C_PROPERTY_BOOL && property->type <= ND4C_PROPERTY_FILE,
                          "property %s has type %d, which is none of nd4c_property_type", property->name,
                          (int)property->type);
  (void)plugin_check_that(check, property->default_value != NULL && property->meaning != NULL,
                          "property %s lacks its default or its meaning", property->name);
}

void plugin_check_properties(plugin_check *check, const nd4c_provider *provider) {
  if (!ND4C_HAS_FIELD(provider, properties) || provider->property_count == 0) {
    return;
  }
  if (!plugin_check_that(check,
                         provider->property_count > 0 && provider->property_count <= ND4C_PLUGIN_PROPERTY_LIMIT &&
                             provider->properties != NULL,
                         "property_count is %" PRId32 ", and properties %s", provider->property_count,
                         provider->properties == NULL ? "is NULL" : "is not")) {
    return;
  }
  for (int32_t i = 0; i < provider->property_count; i++) {
    check_property(check, i, provider->properties[i]);
  }
}

static bool is_listed(const char *property, const char *provider) {
  nd4c_config_row row = {.struct_size = sizeof row};
  for (int32_t i = 0; nd4c_config_get_row(i, &row) == ND4C_OK; i++) {
    if (strcmp(row.property, property) == 0 && row.provider != NULL && strcmp(row.provider, provider) == 0) {
      return true;
    }
  }
  return false;
}

void plugin_section_properties(plugin_check *check) {
  const nd4c_provider *provider = plugin_load_provider(check);
  if (provider == NULL || !ND4C_HAS_FIELD(provider, properties) || provider->property_count <= 0) {
    plugin_check_note("it declares no properties");
    return;
  }
  plugin_check_at("loading it for its properties");
  if (!plugin_check_status(check, nd4c_backend_load(check->path), "loading it")) {
    return;
  }
  for (int32_t i = 0; i < provider->property_count; i++) {
    const nd4c_plugin_property *property = provider->properties[i];
    (void)plugin_check_that(check, is_listed(property->name, provider->name), "property %s is not listed",
                            property->name);
    (void)plugin_check_status(check, nd4c_config_set(property->name, property->default_value), "property %s set to %s",
                              property->name, property->default_value);
    (void)nd4c_config_set(property->name, NULL);
  }
  plugin_check_note("%" PRId32 " properties of its own", provider->property_count);
}
