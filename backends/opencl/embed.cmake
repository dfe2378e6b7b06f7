# Writes OUTPUT, a C file with the bytes of FILES: the table nd4c_cl_sources of device.h.
set(arrays "")
set(rows "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char text_${name}[] = {${bytes}};\n")
  string(APPEND rows "    {\"${name}\", text_${name}, sizeof text_${name}},\n")
endforeach()
file(WRITE ${OUTPUT} "/* Made by embed.cmake from kernels/opencl. */
#include \"backends/opencl/runtime/device.h\"

${arrays}
const nd4c_cl_source nd4c_cl_sources[] = {
${rows}    {NULL, NULL, 0}};
")
