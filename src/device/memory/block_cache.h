/* The free blocks that a device's memory manager keeps for reuse, and which of them go back to the system. memory.c
 * calls these functions under the manager's lock; they free nothing themselves.
 *
 * On the host, a block goes back when it was not reused for long. Time is the sum of the bytes that the manager
 * has granted, so an idle program keeps its blocks, and blocks that a warm loop uses are never old. A block may
 * reach the age KEPT_LEAST, or a quarter of the live bytes if that is more. That alone would take the blocks of a loop
 * that goes through more bytes than this. So each size class learns: the time that passed between the free of a block
 * and the next request for its class is measured, also if the block was released meanwhile, and the class keeps its
 * blocks twice that long from then on. A loop loses blocks in its first rounds only, until its classes know its length.
 */
#ifndef ND4C_DEVICE_MEMORY_BLOCK_CACHE_H
#define ND4C_DEVICE_MEMORY_BLOCK_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct nd4c_memory_manager;
struct nd4c_block_node;
struct nd4c_block_list;

void nd4c_block_list_push(struct nd4c_block_list *list, struct nd4c_block_node *node);
void nd4c_block_list_remove(struct nd4c_block_list *list, struct nd4c_block_node *node);

/* Keeps a free block. */
void nd4c_block_cache_put(struct nd4c_memory_manager *manager, struct nd4c_block_node *node);
/* Removes the block of the class that was freed last, and learns from its age. NULL: there is none. */
struct nd4c_block_node *nd4c_block_cache_take(struct nd4c_memory_manager *manager, int32_t size_class);
/* Learns from a request for the class that the cache did not serve. */
void nd4c_block_cache_miss(struct nd4c_memory_manager *manager, int32_t size_class);
/* Removes the block that was freed first. NULL: there is none. */
struct nd4c_block_node *nd4c_block_cache_take_oldest(struct nd4c_memory_manager *manager);
/* Removes the blocks that have become too old, linked by bin_next, if the time of the next look has come, and is_late:
 * passed by as many granted bytes again as lie between two looks. NULL: there are none. The caller frees them without
 * the lock. */
struct nd4c_block_node *nd4c_block_cache_take_old(struct nd4c_memory_manager *manager, bool is_late);

#endif
