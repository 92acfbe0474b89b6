//! The lamp on x86-64 without an operating system: QEMU starts it by its PVH note, and it serves on COM1.
//!
//! For the target of Linux, because that needs no other toolchain; of Linux there is nothing in it. There are no
//! interrupts: code for Linux uses the red zone below the stack.
#![no_std]
#![no_main]

use core::arch::{asm, global_asm, x86_64::_rdtsc};
use core::ptr;

// 32-bit entry: memory is cleared and the stack painted, the first GiB mapped as it is, SSE and long mode switched on.
// Then the functions that the compiler may call for memory: they must not be written in Rust, or they may call themselves.
global_asm!(
    r#"
    .section .note.pvh, "a", @note
    .align 4
    .long 4, 4, 18
    .asciz "Xen"
    .long start32

    .section .text.start, "ax"
    .code32
    .global start32
    start32:
        cli
        cld
        mov esp, offset stack_start
        mov edi, offset bss_start
        mov ecx, offset tables_end
        sub ecx, edi
        xor eax, eax
        rep stosb
        mov edi, offset stack_end
        mov ecx, offset stack_start
        sub ecx, edi
        mov al, 0x5A
        rep stosb
        mov edi, offset page_tables
        lea eax, [edi + 0x1003]
        mov [edi], eax
        lea eax, [edi + 0x2003]
        mov [edi + 0x1000], eax
        lea edx, [edi + 0x2000]
        mov eax, 0x83
        mov ecx, 512
    1:  mov [edx], eax
        add eax, 0x200000
        add edx, 8
        dec ecx
        jnz 1b
        mov cr3, edi
        mov eax, cr4
        or eax, 0x620
        mov cr4, eax
        mov ecx, 0xC0000080
        rdmsr
        or eax, 0x100
        wrmsr
        mov eax, cr0
        and eax, 0xFFFFFFFB
        or eax, 0x80000002
        mov cr0, eax
        lgdt [gdt_pointer]
        mov eax, offset start64
        push 8
        push eax
        retf

    .align 8
    gdt:
        .quad 0
        .quad 0x00209A0000000000
        .quad 0x0000920000000000
    gdt_pointer:
        .word gdt_pointer - gdt - 1
        .long gdt

    .code64
    start64:
        mov ax, 16
        mov ds, ax
        mov es, ax
        mov ss, ax
        call start
    2:  hlt
        jmp 2b

    .global memcpy
    memcpy:
        mov rax, rdi
        mov rcx, rdx
        rep movsb
        ret
    .global memmove
    memmove:
        mov rax, rdi
        mov rcx, rdx
        mov r8, rdi
        sub r8, rsi
        cmp r8, rdx
        jb 3f
        rep movsb
        ret
    3:  lea rdi, [rdi + rdx - 1]
        lea rsi, [rsi + rdx - 1]
        std
        rep movsb
        cld
        ret
    .global memset
    memset:
        mov r8, rdi
        mov eax, esi
        mov rcx, rdx
        rep stosb
        mov rax, r8
        ret
    .global memcmp
    .global bcmp
    memcmp:
    bcmp:
        xor eax, eax
        mov rcx, rdx
        test rcx, rcx
        jz 5f
        repe cmpsb
        je 5f
        movzx eax, byte ptr [rdi - 1]
        movzx ecx, byte ptr [rsi - 1]
        sub ecx, eax
        mov eax, ecx
    5:  ret
    "#
);

const COM1: u16 = 0x3F8;
const LINE_STATUS: u16 = COM1 + 5;

unsafe extern "C" {
    static stack_end: u8;
    static stack_start: u8;
}

fn read_port(port: u16) -> u8 {
    let value;
    // SAFETY: reading a port of the UART touches no memory.
    unsafe { asm!("in al, dx", in("dx") port, out("al") value, options(nomem, nostack)) };
    value
}

fn write_port(port: u16, value: u8) {
    // SAFETY: writing to a port of the UART touches no memory.
    unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nomem, nostack)) };
}

struct Pc;

impl lamp::Board for Pc {
    fn read(&mut self) -> u8 {
        while read_port(LINE_STATUS) & 1 == 0 {}
        read_port(COM1)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            while read_port(LINE_STATUS) & 0x20 == 0 {}
            write_port(COM1, byte);
        }
    }

    /// With `-icount shift=0`, an instruction is a nanosecond, and the counter counts them.
    fn instructions(&mut self) -> u32 {
        // SAFETY: every x86-64 has it.
        unsafe { _rdtsc() as u32 }
    }

    fn stack_used(&mut self) -> usize {
        let (mut at, start) = (&raw const stack_end, &raw const stack_start);
        // SAFETY: between the two is nothing but the stack; it is only read, each byte as it may be.
        unsafe {
            while at < start && ptr::read_volatile(at) == 0x5A {
                at = at.add(1);
            }
            start.offset_from(at) as usize
        }
    }
}

/// Called by `start64`. The UART is left as it is: to switch its FIFO on would lose what has come already.
#[unsafe(no_mangle)]
extern "C" fn start() -> ! {
    lamp::run(&mut Pc)
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // The port of `isa-debug-exit`: the machine ends, with an error.
    write_port(0xF4, 1);
    loop {
        // SAFETY: it waits.
        unsafe { asm!("hlt") };
    }
}

/// What the library for Linux refers to, and a program that does not unwind never calls.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// The same.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    loop {}
}
