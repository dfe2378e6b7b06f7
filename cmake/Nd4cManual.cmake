# Writes the manual pages nd4c.1 and nd4c-COMMAND.1 with the program that was just built, which makes them from its own
# texts. Run by the build: cmake -DPROGRAM=nd4c -DFOLDER=man -P Nd4cManual.cmake

function(write_page name)
  execute_process(COMMAND ${PROGRAM} --manual ${ARGN} OUTPUT_FILE ${FOLDER}/${name}.1 COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
write_page(nd4c)
execute_process(COMMAND ${PROGRAM} --help OUTPUT_VARIABLE overview COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n  [a-z-]+ " commands "${overview}")
foreach(command ${commands})
  string(STRIP "${command}" command)
  write_page(nd4c-${command} ${command})
endforeach()
