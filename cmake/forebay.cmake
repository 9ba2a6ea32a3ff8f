# SPDX-License-Identifier: Apache-2.0
# What every folder needs: the dependencies, the flags, and the verbs
# fby_library, fby_test, fby_one_thread, fby_test_levels, fby_unwatched,
# fby_fuzz.

option(FBY_HTTP "--http of server and worker (libmicrohttpd)" ON)

find_package(PkgConfig REQUIRED)
if(FBY_HTTP)
    set(http microhttpd:libmicrohttpd)
endif()
foreach(dependency zmq:libzmq protobuf_c:libprotobuf-c lz4:liblz4
        jpeg:libjpeg spng:spng webp:libwebp zlib:zlib yaml:yaml-0.1 xxhash:libxxhash
        sodium:libsodium crypto:libcrypto archive:libarchive minizip:minizip
        "jansson:jansson>=2.11" cmocka:cmocka ${http})
    string(REPLACE ":" ";" pair ${dependency})
    list(GET pair 0 name)
    list(GET pair 1 module)
    # Ask again each time: what is cached has "-isystem DIR" among the options,
    # a first run among the directories, and all would be compiled again.
    unset(${name}_FOUND CACHE)
    pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${module})
endforeach()
find_package(Threads REQUIRED)

# Only tests run Python: the distribution's, which python3-pil belongs to. It
# is not looked for here, since the programs build without it.
set(FBY_PYTHON /usr/bin/python3 CACHE FILEPATH "the tests' interpreter")

# Everything hand-written links this; generated code does not.
add_library(fby_flags INTERFACE)
target_include_directories(fby_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(fby_flags INTERFACE
    _GNU_SOURCE FBY_VERSION="${PROJECT_VERSION}")
# Values must not depend on the compiler's freedom: see docs/design.md.
target_compile_options(fby_flags INTERFACE
    -Wall -Wextra -Wshadow -Wundef -Wcast-qual -Wconversion -Wpointer-arith
    -Wstrict-prototypes -Wold-style-definition -Wmissing-prototypes
    -Wswitch-enum -Wwrite-strings -Wvla -Wformat=2 -Wimplicit-fallthrough
    -Wnull-dereference -fno-omit-frame-pointer -ffp-contract=off)
if(FBY_WERROR)
    target_compile_options(fby_flags INTERFACE -Werror)
endif()
if(FBY_SANITIZE)
    add_compile_options(-fsanitize=${FBY_SANITIZE} -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${FBY_SANITIZE})
    # Hundreds of tests are linked, which lld does in a third of the CPU time.
    find_program(FBY_LLD ld.lld)
    if(FBY_LLD)
        add_link_options(-fuse-ld=lld)
    endif()
    if(FBY_SANITIZE STREQUAL "thread")
        target_compile_definitions(fby_flags INTERFACE FBY_TSAN_BUILD=1)
    endif()
endif()
if(FBY_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link,address,undefined
        -fno-sanitize-recover=all)
    add_link_options(-fsanitize=address,undefined)
endif()

# For sources of FBY_SIMD_AVX512 (common/simd.h).
set(fby_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi
    -mavx512vnni -O3)

# fby_library(fby_plan SOURCES a.c b.c LINK fby_common ...)
function(fby_library name)
    cmake_parse_arguments(lib "" "" "SOURCES;LINK" ${ARGN})
    add_library(${name} STATIC ${lib_SOURCES})
    target_link_libraries(${name} PUBLIC fby_flags ${lib_LINK})
endfunction()

# fby_test(common/queue fby_common ...): tests/common/test_queue.c is the
# CTest `common.queue`.
function(fby_test path)
    string(REPLACE "/" "." name ${path})
    string(REPLACE "/" "_" target ${path})
    cmake_path(GET path PARENT_PATH dir)
    cmake_path(GET path FILENAME file)
    add_executable(test_${target}
        ${CMAKE_SOURCE_DIR}/tests/${dir}/test_${file}.c)
    target_link_libraries(test_${target}
        PRIVATE fby_flags ${ARGN} PkgConfig::cmocka)
    # Tests take longer to compile than to run.
    target_compile_options(test_${target} PRIVATE
        $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
    target_compile_definitions(test_${target} PRIVATE
        FBY_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/golden")
    add_test(NAME ${name} COMMAND test_${target})
    set(timeout 120)
    if(FBY_SANITIZE)
        set(timeout 600)
    endif()
    set(known suppressions=${CMAKE_SOURCE_DIR}/tests/tsan.supp)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} LABELS unit
        ENVIRONMENT
        "TSAN_OPTIONS=${known};FOREBAY_CACHE_DIR=${CMAKE_BINARY_DIR}/test-cache")
endfunction()

# fby_one_thread(codec/photo ...): these tests take long under
# ThreadSanitizer and are left out there, because they start no thread.
function(fby_one_thread)
    foreach(path ${ARGN})
        string(REPLACE "/" "." name ${path})
        string(REPLACE "/" "_" target ${path})
        if(FBY_SANITIZE STREQUAL "thread")
            set_tests_properties(${name} PROPERTIES DISABLED ON)
        else()
            target_sources(test_${target}
                PRIVATE ${CMAKE_SOURCE_DIR}/tests/one_thread.c)
            target_link_options(test_${target}
                PRIVATE -Wl,--wrap=pthread_create)
        endif()
    endforeach()
endfunction()

# fby_test_levels(codec/photo): the same test again as NAME_portable and
# NAME_avx2, with vector code held back to that level. Threads do the same at
# each level, so ThreadSanitizer sees the test once.
function(fby_test_levels path)
    if(FBY_SANITIZE STREQUAL "thread")
        return()
    endif()
    string(REPLACE "/" "." name ${path})
    string(REPLACE "/" "_" target ${path})
    get_test_property(${name} ENVIRONMENT environment)
    get_test_property(${name} TIMEOUT timeout)
    foreach(level portable avx2)
        add_test(NAME ${name}_${level} COMMAND test_${target})
        set_tests_properties(${name}_${level} PROPERTIES
            TIMEOUT ${timeout} LABELS unit
            ENVIRONMENT "${environment};FOREBAY_SIMD=${level}")
    endforeach()
endfunction()

# fby_unwatched(forebay): ThreadSanitizer does not watch what this program checks
# of itself as it starts (tests/unwatched.c).
function(fby_unwatched target)
    if(FBY_SANITIZE STREQUAL "thread")
        target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/unwatched.c)
        target_link_options(${target} PRIVATE
            -Wl,--wrap=fby_codec_self_test,--wrap=fby_jpeg_parts_check
            -Wl,--wrap=fby_decoder_hashes_compute)
    endif()
endfunction()

# fby_fuzz(tar fby_source ...): tests/fuzz/fuzz_tar.c, seeds in
# tests/fuzz/corpus/tar; only in the fuzz build.
if(FBY_FUZZ)
    add_custom_target(fuzzers)
endif()
function(fby_fuzz name)
    if(FBY_FUZZ)
        add_executable(fuzz_${name}
            ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_${name}.c)
        target_link_libraries(fuzz_${name} PRIVATE fby_flags ${ARGN})
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        add_dependencies(fuzzers fuzz_${name})
    endif()
endfunction()
