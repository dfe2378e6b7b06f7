/* Hooks: what a part of the library offers to a part below it, which does not know it. The part below declares a list
 * and walks over it; parts above add entries, each in the file that has the functions:
 *
 *     typedef struct nd4c_fork_hook { void (*in_child)(void); } nd4c_fork_hook;
 *     ND4C_HOOK_LIST(fork_hooks, nd4c_fork_hook);                                  below, in a header
 *
 *     ND4C_HOOK_EACH(fork_hooks, nd4c_fork_hook, hook) { hook->in_child(); }       below, where they are called
 *
 *     static const nd4c_fork_hook locks = {forget_locks};                          above
 *     ND4C_HOOK(fork_hooks, nd4c_fork_hook, locks);
 *
 * The linker puts the entries of a list into one section, whose begin and end it names. So nothing registers at run
 * time, no call depends on another one having come first, and a list without entries is empty. Entries come in no
 * order; where an order matters, they have a number that says it. In a static library an entry is there if its file is:
 * keep it beside functions without which it would not be missed. */
#ifndef ND4C_BASE_HOOK_H
#define ND4C_BASE_HOOK_H

#define ND4C_HOOK_LIST(list, type)                                                            \
  extern const type *const __start_nd4c_##list[] __attribute__((weak, visibility("hidden"))); \
  extern const type *const __stop_nd4c_##list[] __attribute__((weak, visibility("hidden")))

/* retain: a linker that drops sections without references keeps this one. */
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
#define ND4C_HOOK_EACH(list, type, entry)                                                                    \
  for (const type *const *entry##_at = __start_nd4c_##list; entry##_at < __stop_nd4c_##list; ++entry##_at) \
    for (const type *entry = *entry##_at; entry != (const type *)0; entry = (const type *)0)

#endif
