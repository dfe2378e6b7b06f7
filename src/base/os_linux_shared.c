/* Implements os.h for Linux: memory behind file descriptors. device/memory/host.c offers it to backends, which import
 * and export such memory. */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC and others beyond C17 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/os.h"
#include "base/status.h"

/* Bytes behind the descriptor: the size of a file, or the offset after seeking to the end of a dma-buf. */
static nd4c_status find_size(int32_t descriptor, int64_t *size) {
  struct stat info;
  if (fstat(descriptor, &info) != 0) {
    return nd4c_fail(errno == EBADF ? ND4C_ARGUMENT : ND4C_IO, "descriptor %d: %s", (int)descriptor, strerror(errno));
  }
  *size = (int64_t)info.st_size;
  if (!S_ISREG(info.st_mode)) {
    *size = (int64_t)lseek(descriptor, 0, SEEK_END);
  }
  return *size >= 0 ? ND4C_OK
                    : nd4c_fail(ND4C_ARGUMENT, "descriptor %d is of no memory: %s", (int)descriptor, strerror(errno));
}

/* Offset of an address, or of a file offset, within its page. */
static int64_t within_page(uint64_t place) {
  return (int64_t)(place % nd4c_os_page_size());
}

nd4c_status nd4c_os_shared_map(int32_t descriptor, int64_t offset, int64_t bytes, bool writes, void **address) {
  int64_t size = 0, end = 0;
  ND4C_TRY(find_size(descriptor, &size));
  if (offset < 0 || bytes <= 0 || !nd4c_checked_add(offset, bytes, &end) || end > size) {
    return nd4c_fail(ND4C_ARGUMENT, "descriptor %d: %lld bytes from %lld on, of the %lld that it has", (int)descriptor,
                     (long long)bytes, (long long)offset, (long long)size);
  }
  const int64_t before = within_page((uint64_t)offset); /* mappings begin at a page */
  void *memory = mmap(NULL, (size_t)(bytes + before), PROT_READ | (writes ? PROT_WRITE : 0), MAP_SHARED, descriptor,
                      (off_t)(offset - before));
  if (memory == MAP_FAILED) {
    return nd4c_fail(ND4C_IO, "descriptor %d: could not map %lld bytes for %s: %s", (int)descriptor, (long long)bytes,
                     writes ? "writing" : "reading", strerror(errno));
  }
  *address = (char *)memory + before;
  return ND4C_OK;
}

void nd4c_os_shared_unmap(void *address, int64_t bytes) {
  const int64_t before = within_page((uint64_t)(uintptr_t)address);
  (void)munmap((char *)address - before, (size_t)(bytes + before));
}

nd4c_status nd4c_os_descriptor_duplicate(int32_t descriptor, int32_t *duplicate) {
  const int made = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (made < 0) {
    return nd4c_fail(errno == EBADF ? ND4C_ARGUMENT : ND4C_IO, "descriptor %d: %s", (int)descriptor, strerror(errno));
  }
  *duplicate = made;
  return ND4C_OK;
}

void nd4c_os_descriptor_close(int32_t descriptor) {
  (void)close(descriptor);
}
