/* The configuration table: the properties of nd4c itself. config.h includes it for the keys;
 * docs/reference/configuration.md is generated from it and from the properties that backends and plug-ins declare in
 * their own folders (nd4c/plugin/property.h). */
#ifndef ND4C_BASE_CONFIG_CONFIG_TABLE_H
#define ND4C_BASE_CONFIG_CONFIG_TABLE_H

/* X(KEY, property, environment variable, type, default, meaning); types: bool, int, bytes, fraction, string, list,
 * directory (absolute, or off), directories, file. A property with <TYPE> and <INDEX> has a member for each device, see
 * config_family.h. */
#define ND4C_CONFIG_TABLE(X)                                                                                           \
  X(BACKEND_TYPE, "backend.type", "BACKEND_TYPE", string, "",                                                          \
    "Backend to use (cpu, cuda, tpu, hexagon, opencl, or a plug-in's name); empty: the usable one of highest "         \
    "priority")                                                                                                        \
  X(BACKEND_PLUGINS, "nd4c.backend.plugins", "ND4C_BACKEND_PLUGINS", list, "",                                         \
    "Plug-ins to load at start: paths, absolute or with a '/', separated by commas")                                   \
  X(BACKEND_DISABLE, "nd4c.backend.disable", "ND4C_BACKEND_DISABLE", list, "",                                         \
    "Backends and plug-ins that are neither probed nor opened, by name; a plug-in named by its path is not loaded "    \
    "either; read when backends are first looked for")                                                                 \
  X(FORCE_ENGINE, "SD_KERNEL_FORCE_ENGINE", "SD_KERNEL_FORCE_ENGINE", string, "",                                      \
    "Engine to use for every op that it has; cpu stands for reference, simd, openblas, fftw; cuda for cuda, "          \
    "cublas, cudnn")                                                                                                   \
  X(DISABLE_ENGINES, "SD_KERNEL_DISABLE_ENGINES", "SD_KERNEL_DISABLE_ENGINES", list, "",                               \
    "Engines not to use (the same names and groups); reference cannot be disabled")                                    \
  X(STRICT, "nd4c.strict", "ND4C_STRICT", bool, "false",                                                               \
    "A request that cannot be applied is an error instead of an entry in the report")                                  \
  X(DETERMINISTIC, "nd4c.deterministic", "ND4C_DETERMINISTIC", bool, "false",                                          \
    "Only kernels whose result does not depend on the parallel width")                                                 \
  X(WIDTH, "nd4c.width", "ND4C_WIDTH", int, "0",                                                                       \
    "Parallel width of the pool; 0: from hwloc, affinity, the cgroup's cpu.max and OMP_NUM_THREADS")                   \
  X(POOL, "nd4c.pool", "ND4C_POOL", string, "auto",                                                                    \
    "Threads of loops: auto or threads (nd4c's pool, on which regions of OpenBLAS and oneDNN run, too), openmp (the "  \
    "pool, but those libraries keep their own runtime of OpenMP; read when they are opened), or serial (the caller "   \
    "alone)")                                                                                                          \
  X(CPU_LEVEL, "nd4c.cpu.level", "ND4C_CPU_LEVEL", string, "",                                                         \
    "Highest instruction-set level of nd4c's own kernels: base, avx2, avx512; on arm64 neon, dotprod; base: the "      \
    "lowest level on any processor; empty: what the machine allows")                                                   \
  X(LIBRARY_PATH, "nd4c.library.path", "ND4C_LIBRARY_PATH", directories, "",                                           \
    "Directories searched first for OpenBLAS, oneDNN and other run-time libraries; absolute, separated by commas")     \
  X(MEMORY_CAP, "org.bytedeco.javacpp.maxbytes", "ND4C_MEMORY_MAX_BYTES", bytes, "0",                                  \
    "Limit of the host device's live and cached memory (512m, 2g, ...); 0: none")                                      \
  X(DEVICE_MEMORY_CAP, "nd4j.device.memory.cap.<TYPE>.<INDEX>", "ND4J_DEVICE_MEMORY_CAP_<TYPE>_<INDEX>", bytes, "0",   \
    "Limit of one device's live and cached memory; OPENCL.0 is opencl:0; TYPE is CPU, CUDA, ROCM, TPU, HEXAGON, "      \
    "OPENCL, METAL, VULKAN or OTHER, INDEX 0 to 31; 0: none")                                                          \
  X(GPU_MEMORY_CAP_FRACTION, "gpuMemoryCapFraction", "ND4J_GPU_MEMORY_CAP_FRACTION", fraction, "0",                    \
    "Limit of the live and cached memory of each device except the host, as a fraction of the device's memory; a cap " \
    "for one device takes precedence; 0: none")                                                                        \
  X(DEVICE_SPILL, "nd4c.device.memory.spill", "ND4C_DEVICE_MEMORY_SPILL", bool, "false",                               \
    "If a device's memory or cap is exhausted, make room: first free copies of arrays that are current elsewhere, "    \
    "then move idle arrays to the host")                                                                               \
  X(DEVICE_SCRATCH, "nd4c.device.scratch", "ND4C_DEVICE_SCRATCH", bytes, "0",                                          \
    "Largest scratch of one call on a device, if the call can also work with less; 0: as much as there is room for")   \
  X(DEVICE_TRANSFER, "nd4c.device.transfer", "ND4C_DEVICE_TRANSFER", string, "on_demand",                              \
    "What happens when an operation needs an array that is on another device: on_demand copies it; eager also "        \
    "updates, after each write, the copies on other devices that were current; none refuses the operation")            \
  X(DEVICE_EXIT_WAIT, "nd4c.device.exit.wait", "ND4C_DEVICE_EXIT_WAIT", int, "30",                                     \
    "Seconds that a process waits at most, when it ends, for work in flight on asynchronous devices; 0: not at all")   \
  X(MEMORY_CACHE, "nd4c.memory.cache", "ND4C_MEMORY_CACHE", bytes, "1g",                                               \
    "Most freed memory that is kept for reuse: for arrays, on each device; for the working memory of kernels on the "  \
    "CPU, but at most 256m")                                                                                           \
  X(MEMORY_ORIGINS, "nd4c.memory.origins", "ND4C_MEMORY_ORIGINS", bool, "false",                                       \
    "Record which op or call allocated each block, for the leak report")                                               \
  X(HUGE_PAGES, "nd4c.memory.hugepages", "ND4C_MEMORY_HUGEPAGES", bool, "true",                                        \
    "Ask the system for huge pages behind large arrays")                                                               \
  X(LOG, "nd4j.log.initialization", "ND4J_LOG_INITIALIZATION", bool, "false",                                          \
    "Write messages about start-up, choices and fallbacks to stderr when no log callback is set")                      \
  X(COMPILE_CACHE, "nd4c.compile.cache", "ND4C_COMPILE_CACHE", directory, "",                                          \
    "Directory, absolute, for executables of compilers that can write them, which later processes load; empty: "       \
    "OV_CACHE_DIR; off: none")                                                                                         \
  X(COMPILE_LIMIT, "nd4c.compile.limit", "ND4C_COMPILE_LIMIT", bytes, "1g",                                            \
    "Largest file of executables that is written or read")                                                             \
  X(OV_CACHE_DIR, "OV_CACHE_DIR", "OV_CACHE_DIR", directory, "",                                                       \
    "OpenVINO's name for nd4c.compile.cache, used if nd4c.compile.cache is empty; empty or off: no cache")             \
  X(PLAN_CACHE, "nd4c.model.plans", "ND4C_MODEL_PLANS", int, "8",                                                      \
    "Plans a model keeps: of a graph with dims one for all input shapes, else one for each combination of them")       \
  X(MODEL_DIMS, "nd4c.model.dims", "ND4C_MODEL_DIMS", string, "declared",                                              \
    "Extents of a model's inputs that become dims, so that the model is imported once for all of them: declared "      \
    "(those that the file leaves free), all, or none")                                                                 \
  X(PLAN_ARENA, "nd4c.plan.arena", "ND4C_PLAN_ARENA", bytes, "0",                                                      \
    "What values between the nodes of a plan should take at most: beyond that, cheap values are computed again "       \
    "instead of being kept; 0: no limit; the options of a plan take precedence")                                       \
  X(PLAN_BINDINGS, "nd4c.plan.bindings", "ND4C_PLAN_BINDINGS", bytes, "0",                                             \
    "Memory of the bindings that a plan of a graph with dims keeps, one for each combination of sizes that it ran; "   \
    "0: "                                                                                                              \
    "as much as its constants take, but from 20m to 256m; the options of a plan take precedence")                      \
  X(PLAN_BUCKETS, "nd4c.plan.buckets", "ND4C_PLAN_BUCKETS", string, "none",                                            \
    "Sizes of a graph with dims that share a binding: those with the same next power of two (powers) or the same "     \
    "next multiple of a number; none; or by dim (time=64,batch=powers); the options of a plan take precedence")        \
  X(PLAN_CAPTURE, "nd4c.plan.capture", "ND4C_PLAN_CAPTURE", bool, "true",                                              \
    "Plans record their steps, if the device can, and launch them as one; a plan that is made while this is false "    \
    "enqueues step by step")                                                                                           \
  X(PLAN_PASSES, "nd4c.plan.passes", "ND4C_PLAN_PASSES", list, "",                                                     \
    "Passes that optimise plans, by name (nd4c graph passes lists them): with a '-' before each name all but these, "  \
    "without it only these; empty: all; the options of a plan or model take precedence")                               \
  X(PLAN_PRECISION, "nd4c.plan.precision", "ND4C_PLAN_PRECISION", string, "",                                          \
    "The dtype in which plans compute nodes of float32: bfloat16, float16 or int8; empty: float32; the options of a "  \
    "plan or model take precedence")                                                                                   \
  X(PLAN_PROFILE, "nd4c.plan.profile", "ND4C_PLAN_PROFILE", bool, "false",                                             \
    "Plans made while this is true begin with a profile: they measure each step, and their report shows the shortest " \
    "time of each")                                                                                                    \
  X(PROCESS_RANK, "nd4c.process.rank", "ND4C_PROCESS_RANK", int, "0",                                                  \
    "Number of this process among those that work together, from 0; read when a device is opened")                     \
  X(PROCESS_COUNT, "nd4c.process.count", "ND4C_PROCESS_COUNT", int, "1",                                               \
    "How many processes work together; above 1, reports name a device with its process: 2/cpu:0")                      \
  X(ROUTING, "nd4c.routing", "ND4C_ROUTING", string, "off",                                                            \
    "Which of several devices an op runs on: off (the context's), vote, prefer_gpu, prefer_cpu, follow_data, memory")  \
  X(ROUTING_DEVICES, "nd4c.routing.devices", "ND4C_ROUTING_DEVICES", list, "",                                         \
    "Devices that ops are routed to, the preferred one first (opencl:0,cpu:0); empty: the default device and cpu:0")   \
  X(ROUTING_TRANSFER, "nd4c.routing.transfer", "ND4C_ROUTING_TRANSFER", bool, "true",                                  \
    "Routed ops may copy their inputs to another device; false: they run on the device of their inputs, or are "       \
    "refused")                                                                                                         \
  X(ROUTING_CREATION, "nd4c.routing.creation", "ND4C_ROUTING_CREATION", string, "",                                    \
    "Where an array is made if the call names no device and ops are routed: a device, or routed; empty: the "          \
    "context's")                                                                                                       \
  X(ROUTING_WAIT, "nd4c.routing.wait", "ND4C_ROUTING_WAIT", bool, "false",                                             \
    "A routed op returns only when its device has finished, so that another device can compute the op if it fails in " \
    "flight")                                                                                                          \
  X(TRACE, "nd4j.multibackend.trace", "ND4J_MULTIBACKEND_TRACE", file, "",                                             \
    "Record what runs and moves between devices: true prints a table when the process "                                \
    "ends or this is turned off, a path (with a '/') also writes a Chrome trace there")

/* X(KEY, words): string properties that accept only these words (comma-separated; an empty value is always accepted) */
#define ND4C_CONFIG_WORDS_TABLE(X)                                \
  X(ROUTING, "off,vote,prefer_gpu,prefer_cpu,follow_data,memory") \
  X(POOL, "auto,openmp,threads,serial")                           \
  X(DEVICE_TRANSFER, "on_demand,eager,none")                      \
  X(MODEL_DIMS, "declared,all,none")                              \
  X(CPU_LEVEL, "base,avx2,avx512,neon,dotprod")

#endif
