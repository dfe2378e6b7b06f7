# Functions with which the folders add their parts.

# nd4c_uncovered(SOURCES...): kernels and backends in a build of the fuzzers. The sanitizers watch them, but only the core's
# branches tell a fuzzer where an input leads, and compilers take their time to count branches.
function(nd4c_uncovered)
  if(ND4C_FUZZ) # as options of the sources these follow those of nd4c_flags
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=fuzzer-no-link)
  endif()
endfunction()

# nd4c_add_kernels(FAMILY_FOLDER SOURCES...): compiles every source once per instruction-set level of the target
# processor. A source sees ND4C_LEVEL (base, avx2, avx512; neon, dotprod) and ND4C_LEVEL_<NAME>=1.
function(nd4c_add_kernels folder)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(levels base avx2 avx512)
    set(flags_base -march=x86-64-v2)
    set(flags_avx2 -march=x86-64-v3)
    set(flags_avx512 -march=x86-64-v4 -mprefer-vector-width=512)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(levels neon dotprod)
    set(flags_neon -march=armv8-a)
    set(flags_dotprod -march=armv8.2-a+dotprod+fp16)
  else()
    set(levels base)
    set(flags_base)
  endif()
  foreach(level ${ND4C_LEVELS})
    if(NOT level MATCHES "^(base|avx2|avx512|neon|dotprod)$")
      message(FATAL_ERROR "ND4C_LEVELS names '${level}'; expected some of base, avx2, avx512, neon, dotprod")
    endif()
  endforeach()
  if(ND4C_LEVELS)
    list(GET levels 0 lowest)
    string(REPLACE ";" "|" wanted "${lowest};${ND4C_LEVELS}")
    list(FILTER levels INCLUDE REGEX "^(${wanted})$")
  endif()
  set_property(GLOBAL PROPERTY ND4C_KERNEL_LEVELS ${levels})
  if(NOT ARGN)
    return()
  endif()
  nd4c_uncovered(${ARGN})
  foreach(level ${levels})
    string(TOUPPER ${level} upper)
    add_library(nd4c_kernels_${folder}_${level} OBJECT ${ARGN})
    target_link_libraries(nd4c_kernels_${folder}_${level} PRIVATE nd4c_flags)
    target_include_directories(nd4c_kernels_${folder}_${level} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(nd4c_kernels_${folder}_${level} PRIVATE ${flags_${level}}
      $<$<CONFIG:Release>:-O3> -fno-trapping-math
      $<$<AND:$<CONFIG:Debug>,$<BOOL:${ND4C_WERROR}>>:-O1> # at -O0 GCC warns that it ignores what is said about loops
      $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>) # ND4C_INDEPENDENT only permits vectorisation, it does not demand it
    target_compile_definitions(nd4c_kernels_${folder}_${level} PRIVATE ND4C_LEVEL=${level} ND4C_LEVEL_${upper}=1)
    set_property(GLOBAL APPEND PROPERTY ND4C_OBJECTS nd4c_kernels_${folder}_${level})
  endforeach()
endfunction()

# nd4c_add_builtin_provider(NAME SOURCES...): a provider inside libnd4c, registered through nd4c_provider_<name>_entry. It
# reaches the core through nd4c/plugin.h alone.
function(nd4c_add_builtin_provider name)
  add_library(nd4c_backend_${name} OBJECT ${ARGN})
  target_link_libraries(nd4c_backend_${name} PRIVATE nd4c_flags)
  nd4c_uncovered(${ARGN})
  target_include_directories(nd4c_backend_${name} PRIVATE ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set_property(GLOBAL APPEND PROPERTY ND4C_OBJECTS nd4c_backend_${name})
  set_property(GLOBAL APPEND PROPERTY ND4C_BUILTIN_PROVIDERS ${name})
endfunction()

# nd4c_gather(HEADER LIST MARK ROW FILES...): makes HEADER with the macro LIST of what the files define (gather.cmake). The
# header is in the folder lists of the current build folder.
function(nd4c_gather header list mark row)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/lists/${header})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lists)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DLIST=${list}" "-DMARK=${mark}" "-DROW=${row}" "-DFILES=${ARGN}"
      -P ${PROJECT_SOURCE_DIR}/cmake/gather.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/gather.cmake COMMENT "Listing ${list}" VERBATIM)
endfunction()

# nd4c_list_families(PROVIDER PREFIX SOURCES...): makes families.h of a builtin provider, which lists the arrays
# PREFIX_<family>_kernels of the sources.
function(nd4c_list_families provider prefix)
  nd4c_gather(families.h "ND4C_FAMILIES(X)" "^const nd4c_kernel [*]const ${prefix}_" "${prefix}_([a-z0-9_]+)_kernels[[]] ="
    ${ARGN})
  target_sources(nd4c_backend_${provider} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/lists/families.h)
  target_include_directories(nd4c_backend_${provider} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/lists)
endfunction()

# nd4c_add_plugin_backend(NAME SOURCES...): a backend as a shared object that links no library of nd4c.
function(nd4c_add_plugin_backend name)
  add_library(nd4c_plugin_${name} MODULE ${ARGN})
  target_link_libraries(nd4c_plugin_${name} PRIVATE nd4c_flags)
  target_include_directories(nd4c_plugin_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  set_target_properties(nd4c_plugin_${name} PROPERTIES PREFIX lib OUTPUT_NAME nd4c_${name})
endfunction()
