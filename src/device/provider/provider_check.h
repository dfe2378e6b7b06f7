/* What nd4c accepts of a provider's tables. A plug-in may come from anywhere: every count, name and pointer is checked
 * before it is used, and a refusal says what was found and what was expected. */
#ifndef ND4C_DEVICE_PROVIDER_CHECK_H
#define ND4C_DEVICE_PROVIDER_CHECK_H

#include "base/config/config_rows.h"
#include "device/registry/candidate.h"

/* ABI, with `from` (the plug-in's path or name) in front. Looks at nothing behind a size or a version that is
 * refused. */
/* ABI: a struct of the plug-in `from` ends before a field that is required. */
nd4c_status nd4c_provider_fail_short(const char *from, const char *what, uint32_t struct_size, const char *type);
nd4c_status nd4c_provider_check(const char *from, const nd4c_provider *provider);
/* As nd4c_provider_check, of the provider's ops: what each says by itself, and no two of one name and version. */
nd4c_status nd4c_provider_check_ops(const char *from, const nd4c_plugin_op *const *ops, int32_t count);
/* As nd4c_provider_check, of the properties of the provider of that name. */
nd4c_status nd4c_provider_check_properties(const char *from, const char *provider,
                                           const nd4c_plugin_property *const *properties, int32_t count);
/* Rows for the properties of a provider that was checked. MEMORY. Free with nd4c_deallocate. */
nd4c_status nd4c_provider_define_properties(const nd4c_provider *provider, nd4c_config_definition **definitions);
/* Whether ops of plug-ins take and give elements of the dtype: not strings, and nothing that is packed. */
bool nd4c_provider_op_takes(nd4c_dtype dtype);
/* ABI: what the backend says of a device makes no sense, or functions are missing for it. */
nd4c_status nd4c_provider_check_description(const nd4c_candidate *candidate,
                                            const nd4c_device_description *description);

/* Makes the description's words such as may be shown. */
void nd4c_provider_clean_description(nd4c_device_description *description);

/* Copies a struct that the other side filled into one of ours: fields that it does not have become zero, fields that
 * this library does not know are left out. */
void nd4c_provider_copy(void *to, size_t to_size, const void *from, uint32_t from_size);

/* A provider's words as they may be shown: one line of valid UTF-8, with '?' for each byte that is neither. NULL stays
 * NULL. Lives as long as the process; NULL also without memory. */
const char *nd4c_provider_words(const char *words);

/* After a function of a provider failed: a status of nd4c's with a text. `status` unless it is none of the table's,
 * then INTERNAL; a text is made where the function set none for it. `what`: "device_open". */
nd4c_status nd4c_provider_failed(nd4c_status status, const char *what);

#endif
