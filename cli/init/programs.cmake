# SPDX-License-Identifier: Apache-2.0
# Write OUT, a C file with each program FOLDER/NAME.py as the text fby_program_NAME,
# which is one line: comments are left out, a line that begins with blanks goes on with
# the one before it, and others are separated by "; ". Programs have no double quotes,
# dollars and backquotes, which a shell would change.
file(GLOB programs ${FOLDER}/*.py)
set(text "/* Generated from ${FOLDER}. */\n#include \"cli/init/programs.h\"\n")
foreach(path IN LISTS programs)
    file(READ ${path} program)
    if(program MATCHES "[\"$`]")
        message(FATAL_ERROR "${path}: a shell would change \" $ or `")
    endif()
    get_filename_component(name ${path} NAME_WE)
    string(REGEX REPLACE "(^|\n)(#[^\n]*\n)+" "\\1" program "${program}")
    string(STRIP "${program}" program)
    string(REGEX REPLACE "([[({])\n +" "\\1" program "${program}")
    string(REGEX REPLACE "\n +" " " program "${program}")
    string(REGEX REPLACE "\n+" "; " program "${program}")
    string(REPLACE "\\" "\\\\" program "${program}")
    string(APPEND text "\nconst char fby_program_${name}[] =\n    \"${program}\";\n")
endforeach()
file(WRITE ${OUT} "${text}")
