# SPDX-License-Identifier: Apache-2.0
# `cpack` (make package): what cmake/install.cmake installs, as a .deb for the
# distribution on which it is built, and as a .tar.gz whose tree may lie
# anywhere.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME forebay)
set(CPACK_PACKAGE_CONTACT "The Forebay developers")
set(CPACK_PACKAGE_VENDOR Forebay)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "Workers that feed GPUs from CPU machines, and the trainer's library")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_SOURCE_DIR}/dist)
set(CPACK_STRIP_FILES ON)
set(CPACK_SYSTEM_NAME ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# The packages of the libraries, as the linked files say them.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Its own shared library is found by its SONAME.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)
include(CPack)
