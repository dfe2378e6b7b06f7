# Toolchain: 64-bit Arm Linux from any other machine, with Debian's and Ubuntu's gcc-aarch64-linux-gnu. Programs run under
# qemu-user, with the C library that came with the compiler.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)

set(nd4c_arm64_root /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${nd4c_arm64_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(ND4C_QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static DOC "Emulator that runs programs for arm64")
if(ND4C_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${ND4C_QEMU_AARCH64};-L;${nd4c_arm64_root})
endif()
