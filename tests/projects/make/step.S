#define STEP 1
    .text
    .globl step
    .type step, @function
step:
    movl $STEP, %eax
    ret
    .size step, .-step
    .section .note.GNU-stack, "", @progbits
