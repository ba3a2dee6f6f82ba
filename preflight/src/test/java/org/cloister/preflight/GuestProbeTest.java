package org.cloister.preflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.preflight.machine.LiveMachine;
import org.junit.jupiter.api.Test;

class GuestProbeTest {
    @Test
    void reaches_long_mode_under_emulation() throws Exception {
        try (LiveMachine machine = new LiveMachine()) {
            assumeTrue(GuestProbe.emulator(machine).isPresent(), "needs QEMU: apt-get install qemu-system-x86");
            assertThat(new GuestProbe("tcg").run(machine))
                    .isEqualTo(new GuestProbe.Outcome(true, "real, protected and long mode"));
        }
    }

    /** Such a KVM emulates a guest's kernel: only what its emulator lacks tells it from one that runs guests. */
    @Test
    void does_not_reach_its_end_where_kvm_emulates_the_guests_kernel() throws Exception {
        assumeTrue(Files.exists(Path.of("/sys/module/kvm_pvm")), "needs a machine with kvm-pvm");
        try (LiveMachine machine = new LiveMachine()) {
            assumeTrue(GuestProbe.emulator(machine).isPresent(), "needs QEMU: apt-get install qemu-system-x86");
            assertThat(new GuestProbe("kvm").run(machine).reachedLongMode()).isFalse();
        }
    }

    /** A processor that loads a descriptor writes this bit, and in a VM whose processor is emulated it never ends. */
    @Test
    void no_descriptor_in_the_rom_has_to_be_written() {
        byte[] image = ProbeRom.image();
        int register = (image[0x0a] & 0xff) | (image[0x0b] & 0xff) << 8;
        assertThat(image[register]).as("bytes of the table, less one").isEqualTo((byte) 31);
        int table = (image[register + 2] & 0xff) | (image[register + 3] & 0xff) << 8;
        for (int descriptor = 1; descriptor < 4; descriptor++) {
            assertThat(image[table + 8 * descriptor + 5] & 0x91)
                    .as("present, of code or data, accessed")
                    .isEqualTo(0x91);
        }
    }

    @Test
    void says_what_qemu_says_of_an_accelerator_it_has_not() throws Exception {
        try (LiveMachine machine = new LiveMachine()) {
            assumeTrue(GuestProbe.emulator(machine).isPresent(), "needs QEMU: apt-get install qemu-system-x86");
            GuestProbe.Outcome outcome = new GuestProbe("abacus").run(machine);
            assertThat(outcome.reachedLongMode()).isFalse();
            assertThat(outcome.text()).contains("abacus");
        }
    }

    @Test
    void starts_at_the_reset_vector_of_a_rom_of_64_kib() {
        byte[] image = ProbeRom.image();
        assertThat(image).hasSize(65536);
        assertThat(image).startsWith(0xfa, 0xb8, 0x00, 0xf0);
        // jmp rel16 from 0xfff3, modulo 64 KiB, is offset 0.
        assertThat(image[0xfff0] & 0xff).isEqualTo(0xe9);
        assertThat((0xfff3 + (image[0xfff1] & 0xff) + ((image[0xfff2] & 0xff) << 8)) & 0xffff)
                .isZero();
    }
}
