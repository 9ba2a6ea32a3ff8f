# SPDX-License-Identifier: Apache-2.0
# `cmake --install BUILD --prefix DIR`: the program, the library to link with
# all that finds it, and the manual. docs/library.md says how it is used. All
# files may be moved together: none has the prefix in it.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Forebay)
install(TARGETS forebay)
install(TARGETS forebay_shared forebay_static EXPORT ForebayTargets)
install(EXPORT ForebayTargets NAMESPACE Forebay:: DESTINATION ${package_dir})
install(DIRECTORY trainer_client/include/forebay TYPE INCLUDE)

# Any library of the same SONAME has all that an older one had.
configure_package_config_file(cmake/ForebayConfig.cmake.in ForebayConfig.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(ForebayConfigVersion.cmake
    COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/ForebayConfig.cmake
    ${CMAKE_BINARY_DIR}/ForebayConfigVersion.cmake DESTINATION ${package_dir})

# From the folder of forebay.pc up to the prefix.
file(RELATIVE_PATH pc_prefix
    /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
get_target_property(needs forebay_static INTERFACE_LINK_LIBRARIES)
list(JOIN needs " " pc_needs)
configure_file(cmake/forebay.pc.in forebay.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/forebay.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES docs/man/forebay.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES docs/man/forebay.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(FILES examples/trainer.c examples/trainer.cu
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

install(FILES LICENSE docs/third-party.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES deploy/systemd/forebay-server.service
    deploy/systemd/forebay-worker.service DESTINATION lib/systemd/system)
install(PROGRAMS deploy/slurm/train.sbatch deploy/slurm/scale
    DESTINATION ${CMAKE_INSTALL_DATADIR}/forebay/slurm)
install(PROGRAMS deploy/ray/workers.py
    DESTINATION ${CMAKE_INSTALL_DATADIR}/forebay/ray)
install(DIRECTORY deploy/kubernetes DESTINATION ${CMAKE_INSTALL_DATADIR}/forebay)

if(SKBUILD) # a wheel, to which scikit-build-core adds the .py files
    install(TARGETS forebay_python DESTINATION forebay COMPONENT python)
    install(TARGETS forebay DESTINATION forebay/bin COMPONENT python)
endif()
