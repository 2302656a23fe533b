# Flags of the release build that limit the harm of undiscovered bugs. Flags in the loop are used only if the compiler
# supports them.
include(CheckCCompilerFlag)
set(CORVO_HARDENING -fno-common -fno-delete-null-pointer-checks -fno-omit-frame-pointer)
foreach(flag
        -fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero
        -fcf-protection=full -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "HAS${flag}" known)
    check_c_compiler_flag(${flag} ${known})
    if(${known})
        list(APPEND CORVO_HARDENING ${flag})
    endif()
endforeach()
set(CORVO_HARDENING_LINK -pie -Wl,-z,relro,-z,now,-z,noexecstack,--as-needed)
