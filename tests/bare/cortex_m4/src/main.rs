//! The lamp on a Cortex-M4: QEMU's `mps2-an386`, over its first UART.
#![no_std]
#![no_main]

use core::arch::global_asm;
use core::ptr;

// The vector table, and what is to be done before the first function of Rust: the FPU is switched on, because the
// hard-float ABI uses it, `.data` and `.bss` are filled, and the rest of the RAM, which is the stack, is painted.
global_asm!(
    r#"
    .section .vectors, "a"
    .word stack_start
    .word reset
    .rept 14
    .word fault
    .endr

    .section .text.reset, "ax"
    .thumb
    .global reset
    .type reset, %function
    reset:
        ldr r0, =0xE000ED88
        ldr r1, [r0]
        orr r1, r1, #(0xF << 20)
        str r1, [r0]
        dsb
        isb
        ldr r0, =data_start
        ldr r1, =data_end
        ldr r2, =data_load
    1:  cmp r0, r1
        bhs 2f
        ldr r3, [r2], #4
        str r3, [r0], #4
        b 1b
    2:  ldr r0, =bss_start
        ldr r1, =bss_end
        movs r3, #0
    3:  cmp r0, r1
        bhs 4f
        str r3, [r0], #4
        b 3b
    4:  ldr r0, =stack_end
        mov r1, sp
        ldr r3, =0x5AA55AA5
    5:  cmp r0, r1
        bhs 6f
        str r3, [r0], #4
        b 5b
    6:  bl start
        b fault

    .global fault
    .type fault, %function
    fault:
        movs r0, #0x18
        ldr r1, =0x20023
        bkpt #0xAB
        b fault
    "#
);

const PAINT: u32 = 0x5AA5_5AA5;

unsafe extern "C" {
    static stack_end: u32;
    static stack_start: u32;
}

/// The registers of the CMSDK UART.
const DATA: *mut u32 = 0x4000_4000 as *mut u32;
const STATE: *mut u32 = 0x4000_4004 as *mut u32;
const CONTROL: *mut u32 = 0x4000_4008 as *mut u32;
const DIVIDER: *mut u32 = 0x4000_4010 as *mut u32;

/// The registers of the system timer, which counts 24 bits down.
const TICK_CONTROL: *mut u32 = 0xE000_E010 as *mut u32;
const TICK_RELOAD: *mut u32 = 0xE000_E014 as *mut u32;
const TICK_VALUE: *mut u32 = 0xE000_E018 as *mut u32;
const TICKS: u32 = 1 << 24;
/// `-icount shift=0` is one instruction in a nanosecond, and the timer runs at 25 MHz.
const INSTRUCTIONS_PER_TICK: u32 = 40;

struct Mps2 {
    last: u32,
    ticks: u32,
}

impl lamp::Board for Mps2 {
    fn read(&mut self) -> u8 {
        // SAFETY: the UART's registers, which nothing else uses; reading has no effect but on the UART.
        unsafe {
            while ptr::read_volatile(STATE) & 2 == 0 {}
            ptr::read_volatile(DATA) as u8
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            // SAFETY: the UART's registers, which nothing else uses.
            unsafe {
                while ptr::read_volatile(STATE) & 1 != 0 {}
                ptr::write_volatile(DATA, u32::from(byte));
            }
        }
    }

    fn instructions(&mut self) -> u32 {
        // SAFETY: the timer's register, which nothing else uses.
        let now = unsafe { ptr::read_volatile(TICK_VALUE) };
        self.ticks = self.ticks.wrapping_add(self.last.wrapping_sub(now) % TICKS);
        self.last = now;
        self.ticks.wrapping_mul(INSTRUCTIONS_PER_TICK)
    }

    fn stack_used(&mut self) -> usize {
        let (mut at, start) = (&raw const stack_end, &raw const stack_start);
        // SAFETY: between the two is RAM that is nothing but the stack; it is only read, each word as it may be.
        unsafe {
            while at < start && ptr::read_volatile(at) == PAINT {
                at = at.add(1);
            }
            start.byte_offset_from(at) as usize
        }
    }
}

/// Called by `reset`.
#[unsafe(no_mangle)]
extern "C" fn start() -> ! {
    // SAFETY: the registers of the UART and the timer, before anything uses them.
    unsafe {
        ptr::write_volatile(DIVIDER, 16);
        ptr::write_volatile(CONTROL, 3);
        ptr::write_volatile(TICK_RELOAD, TICKS - 1);
        ptr::write_volatile(TICK_VALUE, 0);
        ptr::write_volatile(TICK_CONTROL, 5);
    }
    lamp::run(&mut Mps2 { last: 0, ticks: 0 })
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        fn fault() -> !;
    }
    // SAFETY: it ends the machine.
    unsafe { fault() }
}
