/* Implements block_cache.h: a list of all free blocks by the time of freeing, and a bin for each size class. */
#include "device/memory/block_cache.h"

#include "device/memory/memory_body.h"

/* In granted bytes. A gap between two uses that is longer than LEARNT_MOST times the usual age is not learnt. */
enum { KEPT_LEAST = 64 << 20, LIVE_SHARE = 4, LEARNT_MOST = 64, SWEEP_EVERY = 8 << 20 };

void nd4c_block_list_push(struct nd4c_block_list *list, struct nd4c_block_node *node) {
  node->newer = NULL;
  node->older = list->newest;
  if (list->newest != NULL) {
    list->newest->newer = node;
  } else {
    list->oldest = node;
  }
  list->newest = node;
}

void nd4c_block_list_remove(struct nd4c_block_list *list, struct nd4c_block_node *node) {
  *(node->older != NULL ? &node->older->newer : &list->oldest) = node->newer;
  *(node->newer != NULL ? &node->newer->older : &list->newest) = node->older;
}

void nd4c_block_cache_put(struct nd4c_memory_manager *manager, struct nd4c_block_node *node) {
  nd4c_block_bin *bin = &manager->bins[node->size_class];
  node->freed_at = manager->granted_bytes;
  node->bin_before = NULL;
  node->bin_next = bin->newest;
  *(bin->newest != NULL ? &bin->newest->bin_before : &bin->oldest) = node;
  bin->newest = node;
  nd4c_block_list_push(&manager->cached, node);
  manager->cached_bytes += node->bytes;
}

static void remove_node(struct nd4c_memory_manager *manager, nd4c_block_node *node) {
  nd4c_block_bin *bin = &manager->bins[node->size_class];
  *(node->bin_before != NULL ? &node->bin_before->bin_next : &bin->newest) = node->bin_next;
  *(node->bin_next != NULL ? &node->bin_next->bin_before : &bin->oldest) = node->bin_before;
  nd4c_block_list_remove(&manager->cached, node);
  manager->cached_bytes -= node->bytes;
}

/* The age that a block of any class may reach. */
static int64_t usual_age(const struct nd4c_memory_manager *manager) {
  const int64_t share = manager->live_bytes / LIVE_SHARE;
  return share > KEPT_LEAST ? share : KEPT_LEAST;
}

static void learn(const struct nd4c_memory_manager *manager, nd4c_block_bin *bin, int64_t freed_at) {
  const int64_t gap = manager->granted_bytes - freed_at;
  if (2 * gap > bin->kept && gap <= LEARNT_MOST * usual_age(manager)) {
    bin->kept = 2 * gap;
  }
}

struct nd4c_block_node *nd4c_block_cache_take(struct nd4c_memory_manager *manager, int32_t size_class) {
  nd4c_block_bin *bin = &manager->bins[size_class];
  nd4c_block_node *node = bin->newest;
  if (node != NULL) {
    learn(manager, bin, node->freed_at);
    remove_node(manager, node);
  }
  return node;
}

void nd4c_block_cache_miss(struct nd4c_memory_manager *manager, int32_t size_class) {
  nd4c_block_bin *bin = &manager->bins[size_class];
  if (bin->has_released) {
    learn(manager, bin, bin->released_from);
    bin->has_released = false; /* a second miss may as well be a loop that needs more blocks than before */
  }
}

struct nd4c_block_node *nd4c_block_cache_take_oldest(struct nd4c_memory_manager *manager) {
  nd4c_block_node *node = manager->cached.oldest;
  if (node != NULL) {
    remove_node(manager, node);
  }
  return node;
}

struct nd4c_block_node *nd4c_block_cache_take_old(struct nd4c_memory_manager *manager, bool is_late) {
  const int64_t late = is_late ? SWEEP_EVERY : 0;
  if (!manager->releases_old || manager->granted_bytes - late < manager->sweep_at) {
    return NULL;
  }
  manager->sweep_at = manager->granted_bytes + SWEEP_EVERY;
  const int64_t usual = usual_age(manager);
  nd4c_block_node *old = NULL;
  for (nd4c_block_bin *bin = manager->bins; bin < manager->bins + CLASS_COUNT; bin++) {
    const int64_t kept = bin->kept > usual ? bin->kept : usual;
    for (nd4c_block_node *node; (node = bin->oldest) != NULL && manager->granted_bytes - node->freed_at > kept;) {
      bin->has_released = true;
      bin->released_from = node->freed_at;
      remove_node(manager, node);
      node->bin_next = old;
      old = node;
    }
  }
  return old;
}
