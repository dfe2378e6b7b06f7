/* Implements os.h for Linux: binds functions that a loaded library imports to other addresses, in the tables of ELF
 * through which the library calls them. threads/openmp_library.c calls it for vendors' libraries. */
#define _GNU_SOURCE /* dlinfo, dl_iterate_phdr */

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"

#if defined(__x86_64__)
#define IS_POINTER(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_64)
#elif defined(__aarch64__)
#define IS_POINTER(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_ABS64)
#else
#define IS_POINTER(type) ((void)(type), false)
#endif

enum { MOST_IMAGES = 16 };

/* What is needed of one loaded library. */
typedef struct image {
  const struct link_map *map;
  const ElfW(Sym) * symbols;
  const char *names;
  const ElfW(Rela) * tables[2];
  size_t counts[2];
  char *sealed; /* what the loader made read-only when it had bound the imports */
  size_t sealed_bytes;
} image;

/* The C library replaces offsets in this section by addresses on some processors only. */
static const void *address_in(const struct link_map *map, ElfW(Addr) value) {
  return (const void *)(value < map->l_addr ? map->l_addr + value : value);  // NOLINT(performance-no-int-to-ptr)
}

static const char *names_of(const struct link_map *map) {
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_STRTAB) {
      return address_in(map, entry->d_un.d_ptr);
    }
  }
  return NULL;
}

/* Finds the part that is read-only by now, among the program headers of all libraries. */
static int find_sealed(struct dl_phdr_info *info, size_t size, void *user) {
  image *of = user;
  const ElfW(Phdr) *sealed = NULL;
  bool same = false;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    same = same || (header->p_type == PT_DYNAMIC && info->dlpi_addr + header->p_vaddr == (ElfW(Addr))of->map->l_ld);
    sealed = header->p_type == PT_GNU_RELRO ? header : sealed;
  }
  if (same && sealed != NULL) {
    const ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE), begin = info->dlpi_addr + sealed->p_vaddr;
    const ElfW(Addr) first = begin & ~(page - 1), end = (begin + sealed->p_memsz) & ~(page - 1);
    of->sealed = (char *)first;  // NOLINT(performance-no-int-to-ptr)
    of->sealed_bytes = end > first ? end - first : 0;
  }
  return same;
}

static bool image_read(image *of, const struct link_map *map) {
  size_t bytes[2] = {0}, relative = 0;
  *of = (image){.map = map, .names = names_of(map)};
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    switch (entry->d_tag) {
      case DT_SYMTAB:
        of->symbols = address_in(map, entry->d_un.d_ptr);
        break;
      case DT_RELA:
        of->tables[0] = address_in(map, entry->d_un.d_ptr);
        break;
      case DT_RELASZ:
        bytes[0] = entry->d_un.d_val;
        break;
      case DT_RELACOUNT:
        relative = entry->d_un.d_val;
        break;
      case DT_JMPREL:
        of->tables[1] = address_in(map, entry->d_un.d_ptr);
        break;
      case DT_PLTRELSZ:
        bytes[1] = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  for (int i = 0; i < 2; i++) {
    of->counts[i] = of->tables[i] != NULL ? bytes[i] / sizeof(ElfW(Rela)) : 0;
  }
  /* The first of them name no symbol, and are most of a large library's. */
  if (relative <= of->counts[0] && of->tables[0] != NULL) {
    of->tables[0] += relative;
    of->counts[0] -= relative;
  }
  (void)dl_iterate_phdr(find_sealed, of);
  return of->symbols != NULL && of->names != NULL;
}

static bool needs(const image *of, const struct link_map *other) {
  const char *slash = strrchr(other->l_name, '/'), *file = slash != NULL ? slash + 1 : other->l_name;
  const char *names = names_of(other);
  for (const ElfW(Dyn) *own = other->l_ld; names != NULL && own->d_tag != DT_NULL; own++) {
    file = own->d_tag == DT_SONAME ? names + own->d_un.d_val : file;
  }
  for (const ElfW(Dyn) *entry = of->map->l_ld; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_NEEDED && strcmp(of->names + entry->d_un.d_val, file) == 0) {
      return true;
    }
  }
  return false;
}

typedef struct reading {
  const struct link_map *library;
  image *images;
  int count; /* 0: they cannot be read */
} reading;

/* The library, and those loaded after it that it or another of these needs. The loader lists libraries as they were
 * loaded, so one that the process had before comes earlier. dl_iterate_phdr calls this with the loader's lock held, so
 * no other thread loads or unloads a library during the walk; those in `images` stay as long as the library. Returns 1:
 * one call is enough. */
static int read_images(struct dl_phdr_info *info, size_t size, void *user) {
  reading *r = user;
  (void)info;
  (void)size;
  r->count = image_read(&r->images[0], r->library);
  const struct link_map *other = r->count > 0 ? r->library->l_next : NULL;
  for (; other != NULL; other = other->l_next) {
    bool needed = false;
    for (int i = 0; i < r->count && !needed; i++) {
      needed = needs(&r->images[i], other);
    }
    if (needed && (r->count == MOST_IMAGES || !image_read(&r->images[r->count], other))) {
      r->count = 0;
      break;
    }
    r->count += needed;
  }
  return 1;
}

/* Returns the number of images, 0 if they cannot be read. */
static int images_read(void *library, image *images) {
  struct link_map *map = NULL;
  if (dlinfo(library, RTLD_DI_LINKMAP, (void *)&map) != 0 || map == NULL) {
    return 0;
  }
  reading r = {.library = map, .images = images};
  (void)dl_iterate_phdr(read_images, &r);
  return r.count;
}

typedef struct binding {
  nd4c_os_import_choice choose;
  void *user;
  bool writes;
  char refused[128]; /* why nothing is to be done */
} binding;

static void bind_one(const image *of, const ElfW(Rela) * relocation, binding *b) {
  const ElfW(Sym) *symbol = &of->symbols[ELF64_R_SYM(relocation->r_info)];
  const char *name = of->names + symbol->st_name;
  void *address = NULL;
  if (symbol->st_shndx != SHN_UNDEF || b->refused[0] != '\0') {
    return;
  }
  if (!b->choose(b->user, name, &address)) {
    (void)snprintf(b->refused, sizeof b->refused, "%.100s was refused", name);
  } else if (address != NULL && (!IS_POINTER(ELF64_R_TYPE(relocation->r_info)) || relocation->r_addend != 0)) {
    (void)snprintf(b->refused, sizeof b->refused, "%.64s is imported other than by a pointer", name);
  } else if (address != NULL && b->writes) {
    const ElfW(Addr) slot = of->map->l_addr + relocation->r_offset;
    *(void *volatile *)slot = address;  // NOLINT(performance-no-int-to-ptr)
  }
}

static void bind_all(const image *images, int count, binding *b) {
  for (int i = 0; i < count; i++) {
    for (size_t k = 0; k < images[i].counts[0] + images[i].counts[1]; k++) {
      const int table = k >= images[i].counts[0];
      const ElfW(Rela) *relocation = &images[i].tables[table][table ? k - images[i].counts[0] : k];
      if (ELF64_R_SYM(relocation->r_info) != 0) {
        bind_one(&images[i], relocation, b);
      }
    }
  }
}

/* Makes what the loader sealed writable, or seals it again. */
static bool protect(const image *images, int count, int protection) {
  bool done = true;
  for (int i = 0; i < count; i++) {
    done = (images[i].sealed_bytes == 0 || mprotect(images[i].sealed, images[i].sealed_bytes, protection) == 0) && done;
  }
  return done;
}

nd4c_status nd4c_os_library_rebind(void *library, nd4c_os_import_choice choose, void *user) {
  image images[MOST_IMAGES];
  const int count = images_read(library, images);
  binding b = {.choose = choose, .user = user};
  if (count == 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the library's tables cannot be read");
  }
  bind_all(images, count, &b);
  if (b.refused[0] != '\0') {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s", b.refused);
  }
  nd4c_status status = ND4C_OK;
  if (protect(images, count, PROT_READ | PROT_WRITE)) {
    b.writes = true;
    bind_all(images, count, &b);
  } else {
    status = nd4c_fail(ND4C_LIBRARY, "the system keeps the library's tables read-only");
  }
  (void)protect(images, count, PROT_READ);
  return status;
}
