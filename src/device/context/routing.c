/* The routing object, and the default one from the properties: implements nd4c/routing.h. Programs create routing
 * objects; context.c asks for the default, dispatch/routed.c for names and lists of ops. */
#include "device/context/routing.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/config/log.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "device/registry/registry.h"

enum { SMALL_BYTES = 16384, TEXT_SIZE = 1024 };

static nd4c_lock lock = ND4C_LOCK_INIT; /* guards the defaults */
static nd4c_routing *chosen;            /* by nd4c_routing_set_default */
static nd4c_routing *configured;        /* by the properties */
static uint32_t configured_epoch;
static bool configured_known;

static const char *const policy_names[] = {
#define POLICY_NAME(NAME, number, name) [number] = name,
    ND4C_ROUTING_POLICY_TABLE(POLICY_NAME)
#undef POLICY_NAME
};
enum { POLICY_COUNT = sizeof policy_names / sizeof policy_names[0] };

const char *nd4c_routing_policy_name(nd4c_routing_policy policy) {
  return policy_names[policy];
}

/* -- live routing objects ------------------------------------------------------------------------------------- */

static nd4c_lock known_lock = ND4C_LOCK_INIT; /* taken last */
static nd4c_routing *known;

static nd4c_routing *find_held(const nd4c_routing *routing) {
  nd4c_routing *found = known;
  while (found != NULL && found != routing) {
    found = found->next_known;
  }
  return found != NULL && found->held ? found : NULL;
}

static void note(nd4c_routing *routing) {
  nd4c_lock_acquire(&known_lock);
  routing->held = true;
  routing->next_known = known;
  known = routing;
  nd4c_lock_release(&known_lock);
}

static void forget(nd4c_routing *routing) {
  nd4c_lock_acquire(&known_lock);
  nd4c_routing **link = &known;
  while (*link != routing) {
    link = &(*link)->next_known;
  }
  *link = routing->next_known;
  nd4c_lock_release(&known_lock);
}

nd4c_status nd4c_routing_check(const nd4c_routing *routing, const char *function) {
  if (routing == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: routing is NULL", function);
  }
  nd4c_lock_acquire(&known_lock);
  bool held = find_held(routing) != NULL;
  nd4c_lock_release(&known_lock);
  return held ? ND4C_OK
              : nd4c_fail(ND4C_HANDLE, "%s: %p is not a routing object, or was destroyed", function,
                          (const void *)routing);
}

/* -- creating ------------------------------------------------------------------------------------------------- */

static nd4c_status fill_list(const char *function, nd4c_device *const *devices, int32_t count, nd4c_route_list *list) {
  if (count < 0 || count > ND4C_ROUTING_DEVICES) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %d devices, expected 0 to %d", function, count, ND4C_ROUTING_DEVICES);
  }
  if (devices == NULL && count > 0) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: devices is NULL", function);
  }
  nd4c_route_list filled = {.count = count};
  for (int32_t i = 0; i < count; i++) {
    if (devices[i] == NULL) {
      return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: device %d is NULL", function, i);
    }
    ND4C_TRY(nd4c_device_check(devices[i], function));
    for (int32_t k = 0; k < i; k++) {
      if (devices[k] == devices[i]) {
        return nd4c_fail(ND4C_ARGUMENT, "%s: %s is listed twice", function, devices[i]->name);
      }
    }
    filled.devices[i] = devices[i];
  }
  *list = filled;
  return ND4C_OK;
}

/* The default device and the host. */
static nd4c_status fill_default_list(nd4c_route_list *list) {
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_default(&list->devices[0]));
  ND4C_TRY(nd4c_device_host(&host));
  list->count = 1;
  if (host != list->devices[0]) {
    list->devices[list->count++] = host;
  }
  return ND4C_OK;
}

static nd4c_status check_options(const nd4c_routing_options *options) {
  enum { FIRST_SIZE = offsetof(nd4c_routing_options, wait) }; /* the struct's size in version 0.1 */
  if (options->struct_size < FIRST_SIZE) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_routing_options)", options->struct_size);
  }
  if ((int)options->policy < 0 || (int)options->policy >= POLICY_COUNT) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_routing_create: policy %d, expected 0 to %d", (int)options->policy,
                     POLICY_COUNT - 1);
  }
  if ((int)options->creation < 0 || options->creation > ND4C_CREATE_ROUTED) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_routing_create: creation %d, expected 0 to %d", (int)options->creation,
                     ND4C_CREATE_ROUTED);
  }
  if (options->creation == ND4C_CREATE_ON_DEVICE && options->creation_device == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_routing_create: creation_device is NULL");
  }
  return options->creation == ND4C_CREATE_ON_DEVICE ? nd4c_device_check(options->creation_device, "nd4c_routing_create")
                                                    : ND4C_OK;
}

nd4c_status nd4c_routing_create(const nd4c_routing_options *options, nd4c_routing **routing) {
  static _Atomic uint32_t numbers;
  if (routing == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_routing_create: routing is NULL");
  }
  static const nd4c_routing_options none = {.struct_size = ND4C_SIZE_OF(nd4c_routing_options)};
  options = options != NULL ? options : &none;
  ND4C_TRY(check_options(options));
  nd4c_route_list devices = {0};
  ND4C_TRY(fill_list("nd4c_routing_create", options->devices, options->device_count, &devices));
  if (devices.count == 0) {
    ND4C_TRY(fill_default_list(&devices));
  }
  nd4c_routing *made = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *made, "a routing object", &made));
  made->number = atomic_fetch_add(&numbers, 1) + 1;
  atomic_init(&made->references, 1);
  made->policy = options->policy;
  made->transfer = !options->no_transfer;
  made->wait = ND4C_HAS_FIELD(options, wait) && options->wait;
  made->small_bytes = options->small_bytes == 0 ? SMALL_BYTES : options->small_bytes;
  made->creation = options->creation;
  made->creation_device = options->creation_device;
  made->devices = devices;
  note(made);
  *routing = made;
  return ND4C_OK;
}

nd4c_routing *nd4c_routing_retain(nd4c_routing *routing) {
  atomic_fetch_add_explicit(&routing->references, 1, memory_order_relaxed);
  atomic_store_explicit(&routing->in_use, true, memory_order_relaxed);
  return routing;
}

void nd4c_routing_release(nd4c_routing *routing) {
  if (routing != NULL && atomic_fetch_sub(&routing->references, 1) == 1) {
    forget(routing);
    nd4c_deallocate(routing);
  }
}

void nd4c_routing_destroy(nd4c_routing *routing) {
  nd4c_lock_acquire(&known_lock);
  nd4c_routing *held = find_held(routing);
  if (held != NULL) {
    held->held = false;
  }
  nd4c_lock_release(&known_lock);
  nd4c_routing_release(held);
}

static nd4c_status check_change(const nd4c_routing *routing, const char *function) {
  ND4C_TRY(nd4c_routing_check(routing, function));
  if (atomic_load(&routing->in_use)) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: the routing object is in use by a context: make another one", function);
  }
  return ND4C_OK;
}

nd4c_status nd4c_routing_set_category(nd4c_routing *routing, nd4c_category category, nd4c_device *const *devices,
                                      int32_t count) {
  ND4C_TRY(check_change(routing, "nd4c_routing_set_category"));
  if ((int)category <= 0 || (int)category >= ND4C_ROUTING_CATEGORIES) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_routing_set_category: category %d, expected 1 to %d", (int)category,
                     ND4C_ROUTING_CATEGORIES - 1);
  }
  return fill_list("nd4c_routing_set_category", devices, count, &routing->categories[category]);
}

nd4c_status nd4c_routing_list_op(nd4c_routing *routing, nd4c_op op, nd4c_device *const *devices, int32_t count) {
  ND4C_TRY(check_change(routing, "nd4c_routing_set_op"));
  int32_t at = 0;
  while (at < routing->op_count && routing->ops[at] != op) {
    at++;
  }
  if (at == ND4C_ROUTING_OPS) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_routing_set_op: more than %d ops have lists of their own", ND4C_ROUTING_OPS);
  }
  ND4C_TRY(fill_list("nd4c_routing_set_op", devices, count, &routing->op_lists[at]));
  routing->ops[at] = op;
  routing->op_count += at == routing->op_count;
  return ND4C_OK;
}

/* -- properties ----------------------------------------------------------------------------------------------- */

/* Adds a line for nd4c_report_applied. The log gets all lines, if there are too many for the report. */
static void note_absent(const char *device, const char *reason, char *absent, size_t size) {
  size_t used = strlen(absent);
  (void)snprintf(absent + used, size - used, "nd4c.routing.devices: requested %.31s, applied left out: %.400s\n",
                 device, reason);
  nd4c_log_write(ND4C_LOG_WARNING, "routing", "nd4c.routing.devices: %s is left out: %s", device, reason);
}

/* The devices that nd4c.routing.devices names, in its order, and lines about absent ones. */
static nd4c_status read_devices(nd4c_route_list *list, char *absent, size_t absent_size) {
  char names[TEXT_SIZE];
  (void)nd4c_config_string(ND4C_CONFIG_ROUTING_DEVICES, names, sizeof names);
  for (char *name = names; *name != '\0';) {
    size_t length = strcspn(name, ", ");
    char *next = name + length + (name[length] != '\0');
    name[length] = '\0';
    if (length > 0 && list->count == ND4C_ROUTING_DEVICES) {
      return nd4c_fail(ND4C_CONFIG, "nd4c.routing.devices: more than %d", ND4C_ROUTING_DEVICES);
    }
    if (length > 0) {
      /* One setting may serve machines with and without a backend, so known devices that cannot be used are skipped. An
       * unknown name is an error; in strict mode, so is a device that cannot be used. */
      bool unusable;
      nd4c_status status = nd4c_registry_find(name, &list->devices[list->count], &unusable);
      char words[TEXT_SIZE];
      (void)snprintf(words, sizeof words, "%s", nd4c_error_message());
      if (unusable && !nd4c_config_bool(ND4C_CONFIG_STRICT)) {
        note_absent(name, words, absent, absent_size);
      } else if (status != ND4C_OK) {
        /* A new text, because NO_BACKEND texts take no prefix, and this property is the cause. */
        return nd4c_fail(status, "nd4c.routing.devices (ND4C_ROUTING_DEVICES): %s", words);
      }
      for (int32_t i = 0; status == ND4C_OK && i < list->count; i++) {
        if (list->devices[i] == list->devices[list->count]) {
          return nd4c_fail(ND4C_CONFIG, "nd4c.routing.devices (ND4C_ROUTING_DEVICES): %s is listed twice",
                           list->devices[i]->name);
        }
      }
      list->count += status == ND4C_OK;
    }
    name = next;
  }
  return ND4C_OK;
}

static nd4c_status read_creation(nd4c_routing_options *options) {
  char value[TEXT_SIZE];
  (void)nd4c_config_string(ND4C_CONFIG_ROUTING_CREATION, value, sizeof value);
  if (value[0] == '\0' || strcmp(value, "context") == 0) {
    options->creation = ND4C_CREATE_ON_CONTEXT;
  } else if (strcmp(value, "routed") == 0) {
    options->creation = ND4C_CREATE_ROUTED;
  } else {
    options->creation = ND4C_CREATE_ON_DEVICE;
    nd4c_status status = nd4c_device_find(value, &options->creation_device);
    if (status != ND4C_OK) {
      return nd4c_fail(status, "nd4c.routing.creation (ND4C_ROUTING_CREATION): %s", nd4c_error_message());
    }
  }
  return ND4C_OK;
}

/* The routing that the properties ask for: one reference, or NULL for none. */
static nd4c_status read_properties(nd4c_routing **routing) {
  char policy[TEXT_SIZE];
  *routing = NULL;
  (void)nd4c_config_string(ND4C_CONFIG_ROUTING, policy, sizeof policy);
  if (policy[0] == '\0' || strcmp(policy, "off") == 0) {
    return ND4C_OK;
  }
  nd4c_route_list list = {0};
  nd4c_routing_options options = {.struct_size = sizeof options,
                                  .no_transfer = !nd4c_config_bool(ND4C_CONFIG_ROUTING_TRANSFER),
                                  .wait = nd4c_config_bool(ND4C_CONFIG_ROUTING_WAIT)};
  for (int i = 0; i < POLICY_COUNT; i++) {
    if (strcmp(policy, policy_names[i]) == 0) {
      options.policy = (nd4c_routing_policy)i;
    }
  }
  char absent[sizeof(*routing)->absent] = "";
  ND4C_TRY(read_devices(&list, absent, sizeof absent));
  ND4C_TRY(read_creation(&options));
  options.devices = list.devices;
  options.device_count = list.count;
  ND4C_TRY(nd4c_routing_create(&options, routing));
  memcpy((*routing)->absent, absent, sizeof absent);
  (*routing)->by_property = true;
  return ND4C_OK;
}

nd4c_status nd4c_routing_get_default(nd4c_routing **routing) {
  *routing = NULL;
  uint32_t epoch = atomic_load(&nd4c_config_epoch);
  nd4c_lock_acquire(&lock);
  bool stale = chosen == NULL && (!configured_known || configured_epoch != epoch);
  nd4c_lock_release(&lock);
  nd4c_routing *read = NULL, *old = NULL;
  if (stale) {
    ND4C_TRY(read_properties(&read)); /* not under the lock, because it opens devices */
  }
  nd4c_lock_acquire(&lock);
  if (stale) {
    old = configured;
    configured = read;
    configured_epoch = epoch;
    configured_known = true;
  }
  nd4c_routing *current = chosen != NULL ? chosen : configured;
  *routing = current != NULL ? nd4c_routing_retain(current) : NULL;
  nd4c_lock_release(&lock);
  nd4c_routing_destroy(old);
  return ND4C_OK;
}

void nd4c_routing_tell_absent(nd4c_text *text) {
  nd4c_lock_acquire(&lock);
  if (configured != NULL && configured->absent[0] != '\0' && !configured->absent_told) {
    nd4c_text_print(text, "%s", configured->absent);
    configured->absent_told = true;
  }
  nd4c_lock_release(&lock);
}

nd4c_status nd4c_routing_set_default(nd4c_routing *routing) {
  if (routing != NULL) {
    ND4C_TRY(nd4c_routing_check(routing, "nd4c_routing_set_default"));
    (void)nd4c_routing_retain(routing);
  }
  nd4c_lock_acquire(&lock);
  nd4c_routing *old = chosen;
  chosen = routing;
  nd4c_lock_release(&lock);
  nd4c_routing_release(old);
  atomic_fetch_add(&nd4c_config_epoch, 1); /* every thread looks again */
  return ND4C_OK;
}

nd4c_status nd4c_routing_place(const nd4c_context *context, int64_t bytes, nd4c_device **device) {
  const nd4c_routing *routing = context->routing;
  *device = context->device;
  if (routing == NULL || routing->creation == ND4C_CREATE_ON_CONTEXT) {
    return ND4C_OK;
  }
  if (routing->creation == ND4C_CREATE_ON_HOST) {
    return nd4c_device_host(device);
  }
  if (routing->creation == ND4C_CREATE_ON_DEVICE) {
    *device = routing->creation_device;
    return ND4C_OK;
  }
  nd4c_ballot ballot;
  nd4c_routing_vote(routing, NULL, NULL, 0, bytes, &ballot);
  *device = ballot.votes[0].device;
  return ND4C_OK;
}
