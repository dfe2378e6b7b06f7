/* The contexts to which a routed context sends its calls: one for each device, with its own stream. dispatch and graph
 * ask for them. They need no lock, because only the routed context uses them, on one thread at a time. */
#include "base/status.h"
#include "device/context/routing.h"

/* True if every call goes to the same device and behaves like an unrouted one. */
static bool has_no_choice(const nd4c_routing *routing) {
  bool plain = !routing->wait || nd4c_device_is_immediate(routing->devices.devices[0]);
  bool none = routing->devices.count == 1 && routing->op_count == 0 && routing->transfer && plain;
  for (int i = 0; i < ND4C_ROUTING_CATEGORIES; i++) {
    none = none && routing->categories[i].count == 0;
  }
  return none;
}

void nd4c_context_route(nd4c_context *context, nd4c_routing *routing) {
  nd4c_routing *old = context->routing;
  context->routing = routing;
  context->only_route = NULL;
  if (routing != NULL && has_no_choice(routing)) {
    nd4c_context *only = NULL;
    bool here = routing->devices.devices[0] == context->device;
    if (here || nd4c_routing_context(context, routing->devices.devices[0], &only) == ND4C_OK) {
      context->only_route = here ? context : only;
    } /* otherwise each call tries again and reports it */
  }
  nd4c_routing_release(old);
}

nd4c_status nd4c_context_set_routing(nd4c_context *context, nd4c_routing *routing) {
  if (context == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_context_set_routing: context is NULL");
  }
  ND4C_TRY(nd4c_context_check(context, "nd4c_context_set_routing"));
  if (routing != NULL) {
    ND4C_TRY(nd4c_routing_check(routing, "nd4c_context_set_routing"));
  }
  context->routing_chosen = routing != NULL;
  nd4c_context_route(context, routing != NULL ? nd4c_routing_retain(routing) : NULL);
  return ND4C_OK;
}

nd4c_status nd4c_routing_context(nd4c_context *context, nd4c_device *device, nd4c_context **routed) {
  nd4c_context *route = context->routes;
  while (route != NULL && route->device != device) {
    route = route->next_route;
  }
  if (route == NULL) {
    ND4C_TRY(nd4c_context_make(device, 1, context->deterministic, context->strict, &route));
    route->routed = true;
    route->next_route = context->routes;
    context->routes = route;
  }
  /* In each call, because the thread's default context follows the configuration. */
  route->width = device == context->device ? context->width : nd4c_context_default_width(device);
  route->deterministic = context->deterministic;
  route->strict = context->strict;
  route->transfer = context->transfer;
  *routed = route;
  return ND4C_OK;
}

nd4c_status nd4c_routing_synchronize(nd4c_context *context) {
  nd4c_status first = ND4C_OK;
  for (nd4c_context *route = context->routes; route != NULL; route = route->next_route) {
    nd4c_status status = nd4c_context_synchronize(route);
    first = first == ND4C_OK ? status : first;
  }
  return first;
}

void nd4c_routing_forget(nd4c_context *context) {
  nd4c_routing_release(context->routing);
  context->routing = NULL;
  context->only_route = NULL;
  while (context->routes != NULL) {
    nd4c_context *route = context->routes;
    context->routes = route->next_route;
    nd4c_context_drop(route);
  }
}
