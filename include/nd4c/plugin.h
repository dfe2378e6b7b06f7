/* The backend ABI: what a provider (built in, or a plug-in from elsewhere) gives to nd4c, and what it may call back.
 *
 * A plug-in is a shared object that exports one function, nd4c_plugin_entry. It includes this header alone and
 * links against nothing of nd4c's: everything it needs comes through the host table. The built-in backends are
 * registered through the same structs.
 *
 *     provider.h   what a plug-in brings: a backend with devices, contributions to devices, ops
 *     device.h     devices: copies, streams, fences
 *     buffer.h     their memory
 *     timing.h     when their work ran
 *     external.h   memory that others allocated, and memory for others
 *     capture.h    work that they record and launch again
 *     collective.h what they do together
 *     kernel.h     kernels: one way each to compute one op
 *     op.h         ops of a plug-in's own
 *     property.h   configuration properties of a plug-in's own
 *     compiler.h   compilers: what turns a run of nodes into one executable
 *     call.h       tensors and calls, which kernels and compilers are given
 *     layout.h     how operands lie in memory where strides cannot say it
 *     blocks.h     of that, formats of quantised blocks
 *     host.h       what nd4c offers in return
 *     thread.h     of that, locks, threads and time
 *     memory.h     of that, memory of devices that backends hold
 *     file.h       of that, files
 *     abi.h        versions, struct_size, handles
 *
 * Every struct begins with struct_size, set by whoever fills it to ND4C_SIZE_OF(its type) of the header it was compiled
 * with. Fields are only appended. A reader treats fields past struct_size as absent; a NULL function has the default
 * that its comment states. Unless stated otherwise, functions may be called from any thread at the same time. A
 * function that fails calls host->fail with a text and returns the code. */
#ifndef ND4C_PLUGIN_H
#define ND4C_PLUGIN_H

#include "nd4c/plugin/host.h"
#include "nd4c/plugin/provider.h"

ND4C_EXTERN_C_BEGIN

/* The exported function of a plug-in. `host` lives as long as the process. Writes the provider, which must stay valid
 * as long. Called once, by one thread; it opens no library and no device. A failure refuses the plug-in with its
 * text. */
typedef nd4c_status (*nd4c_plugin_entry_function)(const nd4c_host *host, const nd4c_provider **provider);
#define ND4C_PLUGIN_ENTRY "nd4c_plugin_entry"

/* Stands before that function where it is defined, and before other functions that a plug-in exports: C linkage in C++,
 * and visible whatever -fvisibility says.
 *
 *     ND4C_PLUGIN_EXPORT nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider) { */
#ifdef __cplusplus
#define ND4C_PLUGIN_LINKAGE extern "C"
#else
#define ND4C_PLUGIN_LINKAGE
#endif
#ifdef _WIN32
#define ND4C_PLUGIN_EXPORT ND4C_PLUGIN_LINKAGE __declspec(dllexport)
#else
#define ND4C_PLUGIN_EXPORT ND4C_PLUGIN_LINKAGE __attribute__((visibility("default")))
#endif

/* -- for programs that test plug-ins, as `nd4c plugin-check` does; a plug-in calls neither ------------------------- */

/* The table that plug-ins are given. Static for the life of the process. Any thread. Never fails. */
ND4C_API const nd4c_host *nd4c_plugin_get_host(void);

/* Gives plug-ins that are loaded from now on `host` in place of nd4c's own table: with functions that fail, or count.
 * The caller copies nd4c_plugin_get_host(), replaces functions, and keeps the table for the life of the process. NULL:
 * nd4c's own again. Built-in providers are not concerned. Any thread, but not while a plug-in is being loaded.
 * ARGUMENT: struct_size is not that of this library's table, or its version is another. */
ND4C_API nd4c_status nd4c_plugin_set_host(const nd4c_host *host);

ND4C_EXTERN_C_END
#endif
