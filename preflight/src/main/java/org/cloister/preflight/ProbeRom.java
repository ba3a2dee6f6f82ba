package org.cloister.preflight;

import java.util.HexFormat;

/**
 * A ROM of 64 KiB that takes a processor from reset to long mode and reports the result on port 0xf4, where QEMU's
 * isa-debug-exit ends the process with a status of our choice. It needs the first 20 KiB of memory and nothing else: no
 * BIOS, no disk, no interrupt. It covers what guests failed at on machines whose {@code /dev/kvm} only looks right:
 * instructions in real mode, CPUID, reading and writing a model-specific register, paging, memory, SSE2.
 *
 * <p>Every processor with long mode has SSE2, and KVM on VT-x or AMD-V lets it run these instructions itself. Where KVM
 * has neither (kvm-pvm), it emulates each instruction of an ordinary guest's kernel, without SSE2's arithmetic, x87 and
 * {@code popcnt}, and a guest stops with "KVM internal error, emulation failure".
 */
final class ProbeRom {
    /** Value written to port 0xf4 at the end. */
    static final int REACHED = 0x2a;
    /** Value written there if the processor has no long mode, or memory does not retain what is written to it. */
    static final int FAILED = 0x2b;

    private static final int BYTES = 0x10000;
    private static final int RESET_VECTOR = 0xfff0;

    /**
     * The ROM is mapped at 0xf0000 as well as below 4 GiB; far jumps and the descriptor table use the lower place. The
     * descriptors are marked as accessed: a processor would write the mark to the ROM otherwise, which never ends where
     * QEMU emulates that processor.
     */
    private static final String CODE = """
            fa              # 000 real:  cli
            b8 00 f0        # 001        mov   ax, 0xf000
            8e d8           # 004        mov   ds, ax
            66 0f 01 16 00 01 # 006      lgdt  [gdtr]
            0f 20 c0        # 00c        mov   eax, cr0
            0c 01           # 00f        or    al, 1                ; PE
            0f 22 c0        # 011        mov   cr0, eax
            66 ea 1c 00 0f 00 08 00 # 014 jmp  0x08:0xf001c
            66 b8 10 00     # 01c prot:  mov   ax, 0x10
            8e d8           # 020        mov   ds, ax
            b8 01 00 00 80  # 022        mov   eax, 0x80000001
            0f a2           # 027        cpuid
            f7 c2 00 00 00 20 # 029      test  edx, 1 << 29         ; long mode
            74 4f           # 02f        jz    fail
            c7 05 00 10 00 00 03 20 00 00 # 031 mov dword [0x1000], 0x2003 ; PML4[0]
            c7 05 00 20 00 00 03 30 00 00 # 03b mov dword [0x2000], 0x3003 ; PDPT[0]
            c7 05 00 30 00 00 83 00 00 00 # 045 mov dword [0x3000], 0x83   ; PD[0], 2 MiB page
            b8 00 10 00 00  # 04f        mov   eax, 0x1000
            0f 22 d8        # 054        mov   cr3, eax
            0f 20 e0        # 057        mov   eax, cr4
            83 c8 20        # 05a        or    eax, 0x20            ; PAE
            0f 22 e0        # 05d        mov   cr4, eax
            b9 80 00 00 c0  # 060        mov   ecx, 0xc0000080      ; EFER
            0f 32           # 065        rdmsr
            0d 00 01 00 00  # 067        or    eax, 0x100           ; LME
            0f 30           # 06c        wrmsr
            0f 20 c0        # 06e        mov   eax, cr0
            0d 00 00 00 80  # 071        or    eax, 0x80000000      ; PG
            0f 22 c0        # 076        mov   cr0, eax
            ea 87 00 0f 00 18 00 # 079   jmp   0x18:0xf0087
            b0 2b           # 080 fail:  mov   al, FAILED
            e6 f4           # 082        out   0xf4, al
            f4              # 084 stop:  hlt
            eb fd           # 085        jmp   stop
            0f 32           # 087 long:  rdmsr
            a9 00 04 00 00  # 089        test  eax, 0x400           ; LMA
            74 f0           # 08e        jz    fail
            48 b8 ef cd ab 89 67 45 23 01 # 090 mov rax, 0x0123456789abcdef
            48 89 04 25 00 40 00 00 # 09a mov  [0x4000], rax
            48 3b 04 25 00 40 00 00 # 0a2 cmp  rax, [0x4000]
            75 d4           # 0aa        jne   fail
            0f 20 c0        # 0ac        mov   rax, cr0
            24 fb           # 0af        and   al, 0xfb             ; no EM
            0c 02           # 0b1        or    al, 2                ; MP
            0f 22 c0        # 0b3        mov   cr0, rax
            0f 20 e0        # 0b6        mov   rax, cr4
            66 0d 00 06     # 0b9        or    ax, 0x600            ; OSFXSR, OSXMMEXCPT
            0f 22 e0        # 0bd        mov   cr4, rax
            b8 07 00 00 00  # 0c0        mov   eax, 7
            66 0f 6e c0     # 0c5        movd  xmm0, eax
            66 0f d4 c0     # 0c9        paddq xmm0, xmm0
            66 0f 7e c0     # 0cd        movd  eax, xmm0
            3c 0e           # 0d1        cmp   al, 14
            75 ab           # 0d3        jne   fail
            b0 2a           # 0d5        mov   al, REACHED
            e6 f4           # 0d7        out   0xf4, al
            f4              # 0d9 done:  hlt
            eb fd           # 0da        jmp   done
            00 00 00 00     # 0dc        ; to a multiple of 8
            00 00 00 00 00 00 00 00 # 0e0 gdt: none
            ff ff 00 00 00 9b cf 00 # 0e8 0x08: code, 32 bits
            ff ff 00 00 00 93 cf 00 # 0f0 0x10: data
            ff ff 00 00 00 9b af 00 # 0f8 0x18: code, 64 bits
            1f 00 e0 00 0f 00 # 100 gdtr: 31, 0xf00e0
            """;

    /** Code where every x86 processor starts: jmp to offset 0. */
    private static final String RESET = "e9 0d 00";

    private ProbeRom() {}

    static byte[] image() {
        byte[] image = new byte[BYTES];
        place(image, 0, CODE);
        place(image, RESET_VECTOR, RESET);
        return image;
    }

    /** Returns the exit status that isa-debug-exit makes of a value. */
    static int exitStatus(int value) {
        return value << 1 | 1;
    }

    private static void place(byte[] image, int offset, String listing) {
        byte[] code = HexFormat.of().parseHex(listing.replaceAll("#.*", "").replaceAll("\\s", ""));
        System.arraycopy(code, 0, image, offset, code.length);
    }
}
