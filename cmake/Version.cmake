# The version (VERSION), commit and date that the program reports, in one small file that is made
# anew after each commit. The program alone is linked with it: tests and benches get one without a
# commit, so that a commit does not link all of them again.
set(CORVO_VERSION_STAMPED ${CMAKE_BINARY_DIR}/gen/build_stamped.gen.c)
set(version_plain ${CMAKE_BINARY_DIR}/gen/build_plain.gen.c)
set(version_tool ${CMAKE_SOURCE_DIR}/tools/version.py)

# What git writes at each commit and checkout; its place differs in a worktree.
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
