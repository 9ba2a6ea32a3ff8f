# SPDX-License-Identifier: Apache-2.0
# Turn small files into a C source: cmake -DFOLDER=... -DOUT=... -P embed.cmake
# Each *.jpg of FOLDER becomes an entry of fby_jpeg_probes[], each *.png one of
# fby_png_probes[],
# each *.webp one of fby_webp_probes[], in the order of their names.
set(arrays "")
function(embed pattern table)
    file(GLOB files ${FOLDER}/*.${pattern})
    list(SORT files)
    list(LENGTH files n)
    set(rows "")
    foreach(file ${files})
        cmake_path(GET file STEM name)
        file(READ ${file} hex HEX)
        string(REGEX REPLACE "(................................)" "\\1\n"
            hex "${hex}")
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
        string(APPEND arrays
            "static const uint8_t ${name}[] = {\n${hex}};\n\n")
        string(APPEND rows "    {${name}, sizeof(${name})},\n")
    endforeach()
    string(APPEND arrays "const struct fby_picture_file fby_${table}[] = {
${rows}};
const size_t fby_n_${table} = ${n};\n\n")
    set(arrays "${arrays}" PARENT_SCOPE)
endfunction()
embed(jpg jpeg_probes)
embed(png png_probes)
embed(webp webp_probes)
file(WRITE ${OUT} "/* Made by worker/transform/embed.cmake. */
#include \"worker/transform/self_check/probes.h\"

${arrays}")
