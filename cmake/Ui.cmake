# The web interface: built by Node.js in a separate folder, then embedded in the program as a table. Without Node.js, or
# if its packages cannot be installed, the program contains a page that says so.
option(CORVO_UI_REQUIRED "Fail when the web interface cannot be built" OFF)
set(CORVO_UI_WORK ${CMAKE_BINARY_DIR}/ui CACHE PATH "Where the web interface is built")

find_program(CORVO_NODE NAMES node nodejs)
find_program(CORVO_NPM npm)
file(GLOB_RECURSE ui_sources CONFIGURE_DEPENDS ui/src/* ui/public/* ui/scripts/*)
file(GLOB ui_settings CONFIGURE_DEPENDS ui/*.json ui/*.ts ui/*.js ui/*.html ui/.npmrc)

set(ui_table ${CMAKE_BINARY_DIR}/gen/ui_table.gen.c)
set(ui_build)
if(CORVO_NODE AND CORVO_NPM)
    set(ui_build COMMAND python3 ${CMAKE_SOURCE_DIR}/tools/ui.py build
        "$<$<BOOL:${CORVO_UI_REQUIRED}>:--required>" ${CORVO_UI_WORK})
elseif(CORVO_UI_REQUIRED)
    message(FATAL_ERROR "the web interface needs node and npm")
else()
    message(STATUS "node or npm is missing: the program is built without the web interface")
endif()
add_custom_command(OUTPUT ${ui_table}
    ${ui_build}
    COMMAND python3 ${CMAKE_SOURCE_DIR}/tools/embed_assets.py ${CORVO_UI_WORK}/dist
        ${CMAKE_SOURCE_DIR}/src/ui/absent.html ${ui_table}
    DEPENDS ${ui_sources} ${ui_settings} src/ui/absent.html tools/ui.py tools/embed_assets.py
    COMMENT "Building the web interface" COMMAND_EXPAND_LISTS VERBATIM)
target_sources(corvo_ui PRIVATE ${ui_table})
