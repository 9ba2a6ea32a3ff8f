# SPDX-License-Identifier: Apache-2.0
# FBY_CUDA=auto|on|off: the CUDA device where there is nvcc (12.8 or newer), or
# the host device only. CMake's own CUDA language is not used: one object, with
# flags that decide values, is all there is.
set(FBY_CUDA auto CACHE STRING "the CUDA device: auto | on | off")
set(FBY_CUDA_ARCHS 75-real 80-real 90-real 90-virtual 100-real 120-real
    CACHE STRING "GPUs that kernels are compiled for")
set(FBY_HAS_CUDA OFF)

function(fby_find_cuda)
    find_program(FBY_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH
        /usr/local/cuda PATH_SUFFIXES bin)
    if(NOT FBY_NVCC)
        set(why "there is no nvcc" PARENT_SCOPE)
        return()
    endif()
    execute_process(COMMAND ${FBY_NVCC} --version OUTPUT_VARIABLE said
        ERROR_QUIET RESULT_VARIABLE failed)
    string(REGEX MATCH "release ([0-9]+\\.[0-9]+)" found "${said}")
    set(version "${CMAKE_MATCH_1}")
    if(failed OR version VERSION_LESS 12.8)
        set(why "${FBY_NVCC} is CUDA ${version}, and 12.8 is needed"
            PARENT_SCOPE)
        return()
    endif()
    find_program(FBY_CUDA_HOST c++)
    file(REAL_PATH ${FBY_NVCC} real)
    cmake_path(GET real PARENT_PATH bin)
    find_library(FBY_CUDART libcudart_static.a PATHS ${bin}/..
        PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib targets/sbsa-linux/lib
            ../cuda_runtime/lib NO_DEFAULT_PATH)
    find_library(FBY_CUDART libcudart_static.a)
    if(NOT FBY_CUDA_HOST OR NOT FBY_CUDART)
        set(why "nvcc needs a C++ compiler and libcudart_static.a"
            PARENT_SCOPE)
        return()
    endif()
    set(FBY_HAS_CUDA ON PARENT_SCOPE)
    set(why "CUDA ${version}" PARENT_SCOPE)
endfunction()

if(FBY_CUDA STREQUAL "auto" AND (FBY_SANITIZE OR FBY_FUZZ))
    set(why "it is left out with sanitizers")
elseif(FBY_CUDA STREQUAL "off")
    set(why "FBY_CUDA is off")
elseif(FBY_CUDA MATCHES "^(auto|on)$")
    fby_find_cuda()
else()
    message(FATAL_ERROR "FBY_CUDA is ${FBY_CUDA}: auto, on or off")
endif()
if(FBY_CUDA STREQUAL "on" AND NOT FBY_HAS_CUDA)
    message(FATAL_ERROR "FBY_CUDA is on, but ${why}")
endif()
if(FBY_HAS_CUDA)
    message(STATUS "Devices: host and cuda (${why})")
else()
    message(STATUS "Devices: host only: ${why}")
endif()

# fby_cuda_object(trainer_client/gpu/cuda.cu out [flags]): the object's path.
function(fby_cuda_object source out)
    set(codes "")
    foreach(arch ${FBY_CUDA_ARCHS})
        string(REGEX MATCH "^([0-9]+)-(real|virtual)$" known ${arch})
        set(code $<IF:$<STREQUAL:${CMAKE_MATCH_2},real>,sm,compute>)
        set(number ${CMAKE_MATCH_1})
        list(APPEND codes
            -gencode arch=compute_${number},code=${code}_${number})
    endforeach()
    set(flags -fPIC,-fvisibility=hidden,-ffp-contract=off,-fno-strict-aliasing)
    string(APPEND flags ,-fno-exceptions,-fno-threadsafe-statics) # no libstdc++
    execute_process(COMMAND ${FBY_CUDA_HOST} -fno-gnu-unique -E -x c++ /dev/null
        RESULT_VARIABLE unknown OUTPUT_QUIET ERROR_QUIET)
    if(NOT unknown) # gcc: such names could not be hidden
        string(APPEND flags ,-fno-gnu-unique)
    endif()
    cmake_path(GET source STEM name)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.cu.o)
    add_custom_command(OUTPUT ${object}
        COMMAND ${FBY_NVCC} -ccbin ${FBY_CUDA_HOST} -std=c++17 -O3 -fmad=false
            ${codes} -Xcompiler ${flags} -I ${CMAKE_SOURCE_DIR} ${ARGN}
            $<$<BOOL:${FBY_WERROR}>:-Werror=all-warnings>
            -MD -MF ${object}.d -c ${CMAKE_SOURCE_DIR}/${source} -o ${object}
        DEPENDS ${CMAKE_SOURCE_DIR}/${source}
        DEPFILE ${object}.d
        COMMENT "Compiling ${source} for the GPUs of FBY_CUDA_ARCHS")
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON
        GENERATED ON)
    set(${out} ${object} PARENT_SCOPE)
endfunction()
