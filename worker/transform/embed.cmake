# Turn small files into a C source: cmake -DFOLDER=... -DOUT=... -P embed.cmake
# Every *.jpg of FOLDER, in order of names, becomes one of fby_probes[].
file(GLOB files ${FOLDER}/*.jpg)
list(SORT files)
list(LENGTH files n)
set(arrays "")
set(table "")
foreach(file ${files})
    cmake_path(GET file STEM name)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
    string(APPEND arrays "static const uint8_t ${name}[] = {\n${hex}};\n\n")
    string(APPEND table "    {${name}, sizeof(${name})},\n")
endforeach()
file(WRITE ${OUT} "/* Made by worker/transform/embed.cmake. */
#include \"worker/transform/probes.h\"

${arrays}const struct fby_jpeg_file fby_probes[] = {
${table}};
const size_t fby_n_probes = ${n};
")
