/* nd4c_plan_move: moves a plan to another context. A model's plans serve all contexts with equal settings:
 * import/model_run.c moves one before and after each run. */
#include "base/status.h"
#include "device/context/routing.h"
#include "graph/control.h"
#include "graph/dynamic.h"
#include "graph/plan.h"

/* Runs on another stream do not check the fences of constants that were copied or packed when the plan was created, so
 * these are waited for once. A failure is the plan's. */
static nd4c_status finish_making(const nd4c_plan_place *place) {
  if (!place->device->description.asynchronous) {
    return ND4C_OK;
  }
  nd4c_shared_fence *fence = NULL;
  ND4C_TRY(nd4c_fence_place(place->context->timeline, "plan", &fence));
  nd4c_status status = nd4c_fence_wait(fence);
  nd4c_fence_release(fence);
  return status;
}

static nd4c_status leave(nd4c_plan *plan) {
  nd4c_status first = plan->dynamic != NULL ? nd4c_dynamic_leave(plan) : ND4C_OK;
  for (int32_t i = 0; i < plan->place_count; i++) {
    nd4c_plan_place *place = &plan->places[i];
    if (place->context != NULL) {
      nd4c_status status = plan->moved ? ND4C_OK : finish_making(place);
      first = first == ND4C_OK ? status : first;
      nd4c_context_drop(place->context);
      place->context = NULL;
    }
  }
  /* Later, each run of a body moves what it uses (control_run.c), and other threads may be running bodies. */
  for (int32_t i = 0; !plan->moved && plan->family_is_own && i < plan->family->count; i++) {
    nd4c_status status = leave(plan->family->plans[i]);
    first = first == ND4C_OK ? status : first;
  }
  plan->moved = true;
  nd4c_context_drop(plan->context);
  plan->context = NULL;
  return first;
}

static nd4c_status enter_place(nd4c_plan_place *place, nd4c_context *context) {
  nd4c_context *route = context;
  if (place->device != context->device) {
    ND4C_TRY(nd4c_routing_context(context, place->device, &route));
  }
  place->context = nd4c_context_retain(route);
  return ND4C_OK;
}

nd4c_status nd4c_plan_move(nd4c_plan *plan, nd4c_context *context) {
  if (plan->context == context) {
    return ND4C_OK;
  }
  if (plan->context != NULL) {
    ND4C_TRY(leave(plan));
  }
  if (context == NULL) {
    return ND4C_OK;
  }
  nd4c_context *own = context;
  if (plan->device != context->device) { /* a placement put the whole plan on another device */
    ND4C_TRY(nd4c_routing_context(context, plan->device, &own));
  }
  plan->context = nd4c_context_retain(own);
  for (int32_t i = 0; i < plan->place_count; i++) {
    nd4c_status status = enter_place(&plan->places[i], context);
    if (status != ND4C_OK) {
      (void)leave(plan);
      return status;
    }
  }
  return ND4C_OK;
}
