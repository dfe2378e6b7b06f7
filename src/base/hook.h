/* Hooks let a layer call functions of layers above it. The lower layer declares a list and walks over it; upper layers
 * add entries, each in the file that has the functions. Lists are declared in device/memory, device/provider,
 * device/storage and device/stream:
 *
 *     typedef struct nd4c_fork_hook { void (*in_child)(void); } nd4c_fork_hook;
 *     ND4C_HOOK_LIST(fork_hooks, nd4c_fork_hook);                                  below, in a header
 *
 *     ND4C_HOOK_EACH(fork_hooks, nd4c_fork_hook, hook) { hook->in_child(); }       below, where they are called
 *
 *     static const nd4c_fork_hook locks = {forget_locks};                          above
 *     ND4C_HOOK(fork_hooks, nd4c_fork_hook, locks);
 *
 * The linker puts the entries of a list into one section, whose begin and end it names. So there is no registration at
 * run time, and no call depends on an earlier one. A list may be empty. Entries have no order; if order matters, an
 * entry has a number. In a static library an entry is linked only if its file is: put it beside functions that every
 * user of the hook needs. */
#ifndef ND4C_BASE_HOOK_H
#define ND4C_BASE_HOOK_H

#define ND4C_HOOK_LIST(list, type)                                                            \
  extern const type *const __start_nd4c_##list[] __attribute__((weak, visibility("hidden"))); \
  extern const type *const __stop_nd4c_##list[] __attribute__((weak, visibility("hidden")))

/* retain: keeps the section in linkers that drop unreferenced ones. */
#if defined(__has_attribute)
#if __has_attribute(retain)
#define ND4C_HOOK_KEEP __attribute__((used, retain))
#endif
#endif
#ifndef ND4C_HOOK_KEEP
#define ND4C_HOOK_KEEP __attribute__((used))
#endif

#define ND4C_HOOK(list, type, entry) \
  static const type *const entry##_hook ND4C_HOOK_KEEP __attribute__((section("nd4c_" #list))) = &(entry)

/* A loop over the entries; `entry` is a pointer to one. */
#define ND4C_HOOK_EACH(list, type, entry)                                                                  \
  for (const type *const *entry##_at = __start_nd4c_##list; entry##_at < __stop_nd4c_##list; ++entry##_at) \
    for (const type *entry = *entry##_at; entry != (const type *)0; entry = (const type *)0)

#endif
