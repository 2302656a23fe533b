# The version (VERSION), commit and date that the program reports, in one small file that is written again after each
# commit. Only the program is linked with it. Tests and benches use a file without a commit, so that they are not
# relinked after each commit.
set(CORVO_VERSION_STAMPED ${CMAKE_BINARY_DIR}/gen/build_stamped.gen.c)
set(version_plain ${CMAKE_BINARY_DIR}/gen/build_plain.gen.c)
set(version_tool ${CMAKE_SOURCE_DIR}/tools/version.py)

# git writes this file at each commit and checkout. Its path differs in a worktree.
set(version_git)
execute_process(COMMAND git rev-parse --path-format=absolute --git-path logs/HEAD
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE git_log
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(git_log AND EXISTS "${git_log}")
    set(version_git "${git_log}")
endif()

add_custom_command(OUTPUT ${CORVO_VERSION_STAMPED}
    COMMAND python3 ${version_tool} ${CORVO_VERSION_STAMPED}
    DEPENDS ${version_tool} ${CMAKE_SOURCE_DIR}/VERSION ${version_git}
    COMMENT "Stamping the version" VERBATIM)
add_custom_command(OUTPUT ${version_plain}
    COMMAND python3 ${version_tool} --plain ${version_plain}
    DEPENDS ${version_tool} ${CMAKE_SOURCE_DIR}/VERSION
    COMMENT "Writing the version without a commit" VERBATIM)
add_library(corvo_plain_version OBJECT ${version_plain})
target_include_directories(corvo_plain_version PUBLIC src)
target_link_libraries(corvo_plain_version PRIVATE corvo_flags)
