/* Section `external`: imported and exported memory of the plug-in's devices, and registered host memory. The section
 * table of plugin_check.c lists it. */
#define _POSIX_C_SOURCE 200809L /* fileno */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { BYTES = 1 << 16, ALIGNMENT = 4096, REGISTERED = (3 << 20) + 4096 };

static void on_release(void *user) {
  *(int *)user += 1;
}

static void fill(unsigned char *bytes, size_t count, unsigned seed) {
  for (size_t i = 0; i < count; i++) {
    bytes[i] = (unsigned char)(seed + i * 13 + (i >> 9));
  }
}

/* Whether the array, of BYTES bytes, holds what `fill` makes. */
static bool holds(plugin_check *check, const nd4c_array *array, unsigned seed, const char *what, const char *name) {
  unsigned char wanted[BYTES], got[BYTES] = {0};
  fill(wanted, BYTES, seed);
  return plugin_check_status(check, nd4c_array_read(array, got, BYTES), "reading %s on %s", what, name) &&
         plugin_check_that(check, memcmp(wanted, got, BYTES) == 0, "%s on %s does not hold what was written", what,
                           name);
}

static nd4c_status import(nd4c_device *device, const nd4c_external *external, nd4c_array **out) {
  const int64_t size = BYTES;
  return nd4c_array_from_external(device, ND4C_UINT8, 1, &size, NULL, 0, external, out);
}

/* Reads what was there, and writes and copies it on the device. */
static void use_import(plugin_check *check, nd4c_device *device, nd4c_array *array, const char *what,
                       const char *name) {
  unsigned char bytes[BYTES];
  nd4c_array *copy = NULL;
  (void)holds(check, array, 1, what, name);
  fill(bytes, BYTES, 2);
  nd4c_status status = nd4c_array_write(array, bytes, BYTES);
  status = status == ND4C_OK ? nd4c_array_to_device(array, device, &copy) : status;
  if (plugin_check_status(check, status, "writing and copying %s on %s", what, name)) {
    (void)holds(check, copy, 2, what, name);
  }
  (void)plugin_check_status(check, nd4c_array_migrate(array, device), "bringing %s back to %s", what, name);
  nd4c_array_release(copy);
}

/* The array is released: its owner hears of it once, when the device is done. */
static void end_import(plugin_check *check, nd4c_device *device, nd4c_array *array, const int *released,
                       const char *what, const char *name) {
  (void)plugin_check_that(check, *released == 0, "%s on %s was released while it was used", what, name);
  nd4c_array_release(array);
  (void)plugin_check_status(check, nd4c_device_synchronize(device), "synchronizing %s", name);
  (void)plugin_check_status(check, nd4c_memory_trim(device, 0), "trimming %s", name);
  (void)plugin_check_that(check, *released == 1, "%s on %s was released %d times", what, name, *released);
}

static nd4c_external of_kind(nd4c_external_kind kind, int *released) {
  *released = 0;
  return (nd4c_external){.struct_size = sizeof(nd4c_external),
                         .kind = kind,
                         .descriptor = -1,
                         .bytes = BYTES,
                         .release = on_release,
                         .user = released};
}

static void check_host_pointer(plugin_check *check, nd4c_device *device, const char *name) {
  static const char what[] = "the host's memory";
  unsigned char wanted[BYTES], *memory = aligned_alloc(ALIGNMENT, BYTES);
  int released;
  nd4c_external external = of_kind(ND4C_EXTERNAL_HOST_POINTER, &released);
  nd4c_array *array = NULL;
  if (!plugin_check_that(check, memory != NULL, "there is no memory for the check")) {
    return;
  }
  plugin_check_at("%s on %s", what, name);
  fill(memory, BYTES, 1);
  external.pointer = memory;
  if (plugin_check_status(check, import(device, &external, &array), "%s on %s", what, name)) {
    use_import(check, device, array, what, name);
    end_import(check, device, array, &released, what, name);
    fill(wanted, BYTES, 2);
    (void)plugin_check_that(check, memcmp(memory, wanted, BYTES) == 0,
                            "the host's memory does not show what was written on %s", name);
  }
  free(memory);
}

static void check_descriptor(plugin_check *check, nd4c_device *device, const char *name) {
  static const char what[] = "memory behind a descriptor";
  unsigned char bytes[BYTES], wanted[BYTES];
  FILE *file = tmpfile();
  int released;
  nd4c_external external = of_kind(ND4C_EXTERNAL_DESCRIPTOR, &released);
  nd4c_array *array = NULL;
  plugin_check_at("%s on %s", what, name);
  fill(bytes, BYTES, 1);
  if (file == NULL || fwrite(bytes, 1, BYTES, file) != BYTES || fflush(file) != 0) {
    plugin_check_note("no file can be made: %s was not checked on %s", what, name);
  } else {
    external.descriptor = fileno(file);
    external.bytes = BYTES + 1;
    (void)plugin_check_that(check, import(device, &external, &array) != ND4C_OK && released == 0,
                            "%s imports more bytes than a descriptor has", name);
    nd4c_array_release(array);
    array = NULL;
    external = of_kind(ND4C_EXTERNAL_DESCRIPTOR, &released);
    external.descriptor = fileno(file);
    if (plugin_check_status(check, import(device, &external, &array), "%s on %s", what, name)) {
      use_import(check, device, array, what, name);
      end_import(check, device, array, &released, what, name);
      fill(wanted, BYTES, 2);
      rewind(file);
      (void)plugin_check_that(check, fread(bytes, 1, BYTES, file) == BYTES && memcmp(bytes, wanted, BYTES) == 0,
                              "the file does not show what was written on %s", name);
    }
  }
  if (file != NULL) {
    (void)fclose(file);
  }
}

/* An array's memory given away and taken as an array again: two names of the same bytes. */
static void check_twins(plugin_check *check, nd4c_device *device, nd4c_external_kind kind, const char *what,
                        const char *name) {
  unsigned char bytes[BYTES];
  const int64_t size = BYTES;
  int released;
  nd4c_external given = {.struct_size = sizeof given}, taken = of_kind(kind, &released);
  nd4c_array *array = NULL, *twin = NULL;
  plugin_check_at("%s of %s, given and taken", what, name);
  fill(bytes, BYTES, 1);
  nd4c_status status = nd4c_array_from_data(ND4C_UINT8, 1, &size, bytes, device, &array);
  status = status == ND4C_OK ? nd4c_array_to_external(array, device, kind, &given, NULL) : status;
  nd4c_array_release(array);
  if (!plugin_check_status(check, status, "%s of an array on %s", what, name)) {
    return;
  }
  taken.pointer = given.pointer;
  taken.descriptor = given.descriptor;
  taken.offset = given.offset;
  if (plugin_check_status(check, import(device, &taken, &twin), "%s of %s, taken again", what, name)) {
    use_import(check, device, twin, what, name);
    end_import(check, device, twin, &released, what, name);
  }
  given.release(given.user);
}

static void check_registered(plugin_check *check, nd4c_device *device, const char *name) {
  unsigned char *memory = aligned_alloc(ALIGNMENT, REGISTERED), *got = malloc(REGISTERED);
  const int64_t size = REGISTERED;
  nd4c_array *array = NULL;
  plugin_check_at("registered memory on %s", name);
  if (plugin_check_that(check, memory != NULL && got != NULL, "there is no memory for the check") &&
      plugin_check_status(check, nd4c_host_register(device, memory, REGISTERED), "registering memory for %s", name)) {
    fill(memory, REGISTERED, 3);
    nd4c_status status = nd4c_array_from_data(ND4C_UINT8, 1, &size, memory, device, &array);
    status = status == ND4C_OK ? nd4c_array_read(array, got, REGISTERED) : status;
    (void)plugin_check_status(check, status, "registered memory to %s and back", name);
    (void)plugin_check_that(check, status != ND4C_OK || memcmp(memory, got, REGISTERED) == 0,
                            "registered memory came back from %s changed", name);
    (void)plugin_check_that(check, nd4c_host_register(device, memory + ALIGNMENT, ALIGNMENT) == ND4C_ARGUMENT,
                            "memory is registered twice for %s", name);
    (void)plugin_check_status(check, nd4c_host_unregister(device, memory), "unregistering memory for %s", name);
  }
  nd4c_array_release(array);
  free(memory);
  free(got);
}

static void check_device(plugin_check *check, nd4c_device *device, const char *name) {
  nd4c_device_info info = {.struct_size = sizeof info};
  if (!plugin_check_status(check, nd4c_device_get_info(device, &info), "%s", name)) {
    return;
  }
  const uint32_t both = info.imports & info.exports;
  if ((info.imports & ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_HOST_POINTER)) != 0) {
    check_host_pointer(check, device, name);
  }
  if ((info.imports & ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_DESCRIPTOR)) != 0) {
    check_descriptor(check, device, name);
  }
  if ((both & ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_DEVICE_POINTER)) != 0) {
    check_twins(check, device, ND4C_EXTERNAL_DEVICE_POINTER, "a device pointer", name);
  }
  if ((both & ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_NATIVE)) != 0) {
    check_twins(check, device, ND4C_EXTERNAL_NATIVE, "a native handle", name);
  }
  if (info.registers_host) {
    check_registered(check, device, name);
  }
  if (info.imports == 0 && !info.registers_host) {
    plugin_check_skip("%s imports no memory of others and registers none of the host's", name);
  }
}

void plugin_section_external(plugin_check *check) {
  plugin_devices_each(check, check_device);
}
