# Warnings that are enabled for all C files of this project, which compile without any.
set(CORVO_WARNINGS
    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
    -Wpointer-arith -Wcast-qual -Wcast-align -Wwrite-strings -Wformat=2 -Wundef -Wvla -Walloca
    -Wimplicit-fallthrough -Wswitch-enum -Wconversion -Wsign-conversion -Wdouble-promotion
    -Wnull-dereference -Wdate-time -Wfloat-equal -Wredundant-decls -Wnested-externs -Winit-self
    -Wframe-larger-than=16384)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    list(APPEND CORVO_WARNINGS
        -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init
        -Wcast-align=strict -Wformat-signedness -Wstringop-overflow=4 -Wtrampolines)
else()
    list(APPEND CORVO_WARNINGS
        -Wcomma -Wassign-enum -Wmissing-variable-declarations -Wunreachable-code-aggressive
        -Wthread-safety)
endif()
list(TRANSFORM CORVO_WARNINGS REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:C>:\\1>")
