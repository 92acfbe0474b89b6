//! The lamp on RISC-V with 32 bits: QEMU's `virt`, over its UART.
#![no_std]
#![no_main]

use core::arch::{asm, global_asm};
use core::ptr;

// The stack is set and painted, `.data` and `.bss` are filled.
global_asm!(
    r#"
    .section .text.reset, "ax"
    .global reset
    reset:
        la sp, stack_start
        la t0, data_start
        la t1, data_end
        la t2, data_load
    1:  bgeu t0, t1, 2f
        lw t3, 0(t2)
        sw t3, 0(t0)
        addi t0, t0, 4
        addi t2, t2, 4
        j 1b
    2:  la t0, bss_start
        la t1, bss_end
    3:  bgeu t0, t1, 4f
        sw zero, 0(t0)
        addi t0, t0, 4
        j 3b
    4:  la t0, stack_end
        li t3, 0x5AA55AA5
    5:  bgeu t0, sp, 6f
        sw t3, 0(t0)
        addi t0, t0, 4
        j 5b
    6:  call start
    "#
);

const PAINT: u32 = 0x5AA5_5AA5;

unsafe extern "C" {
    static stack_end: u32;
    static stack_start: u32;
}

/// A 16550, a byte for each register.
const UART: *mut u8 = 0x1000_0000 as *mut u8;
const LINE_STATUS: usize = 5;
/// Ends the machine.
const TEST: *mut u32 = 0x10_0000 as *mut u32;

struct Virt;

impl lamp::Board for Virt {
    fn read(&mut self) -> u8 {
        // SAFETY: the UART's registers, which nothing else uses.
        unsafe {
            while ptr::read_volatile(UART.add(LINE_STATUS)) & 1 == 0 {}
            ptr::read_volatile(UART)
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            // SAFETY: the UART's registers, which nothing else uses.
            unsafe {
                while ptr::read_volatile(UART.add(LINE_STATUS)) & 0x20 == 0 {}
                ptr::write_volatile(UART, byte);
            }
        }
    }

    fn instructions(&mut self) -> u32 {
        let low: u32;
        // SAFETY: reading a counter.
        unsafe { asm!("csrr {}, minstret", out(reg) low, options(nomem, nostack)) };
        low
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
    lamp::run(&mut Virt)
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        // SAFETY: it ends the machine with an error.
        unsafe { ptr::write_volatile(TEST, 0x1_3333) };
    }
}
