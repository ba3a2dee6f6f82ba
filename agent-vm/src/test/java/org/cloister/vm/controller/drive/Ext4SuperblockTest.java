package org.cloister.vm.controller.drive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Superblocks by the real mkfs.ext4 and tune2fs. */
class Ext4SuperblockTest {
    @TempDir
    private Path folder;

    private byte[] head(String... tune) throws IOException {
        Path disk = folder.resolve("disk");
        try (RandomAccessFile file = new RandomAccessFile(disk.toFile(), "rw")) {
            file.setLength(64 << 20);
        }
        run(List.of(
                "mkfs.ext4", "-q", "-F", "-O", "none," + String.join(",", Ext4Superblock.FEATURES), disk.toString()));
        if (tune.length > 0) {
            List<String> command = new ArrayList<>(List.of("tune2fs"));
            command.addAll(List.of(tune));
            command.add(disk.toString());
            run(command);
        }
        byte[] head = new byte[Ext4Superblock.LENGTH];
        try (RandomAccessFile file = new RandomAccessFile(disk.toFile(), "r")) {
            file.seek(Ext4Superblock.AT);
            file.readFully(head);
        }
        return head;
    }

    private static void run(List<String> command) throws IOException {
        ProcessRunner.Output output = ProcessRunner.local().run("", command, Duration.ofMinutes(1));
        assertThat(output.exit()).as("%s", output).isZero();
    }

    @Test
    void what_mkfs_makes_is_taken_whatever_its_configuration_says() throws IOException {
        assertThat(Ext4Superblock.difference(head())).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            -e panic                             | behaviour after errors 0x1, have 0x3
            -o debug,journal_data_writeback      | default mount options 0xc, have 0x6d
            -E mount_opts=dax                    | want no mount options, have some
            -O quota                             | read-only compatible features 0x46b, have 0x56b
            -O encrypt                           | incompatible features 0x2c2, have 0x102c2
            -O verity                            | read-only compatible features 0x46b, have 0x846b
            -O ^has_journal                      | compatible features 0x3c, have 0x38
            """)
    void what_asks_the_kernel_for_something_else_is_named_with_both_values(String options, String named)
            throws IOException {
        assertThat(Ext4Superblock.difference(head(options.split(" ", -1))))
                .hasValueSatisfying(difference -> assertThat(difference).contains(named));
    }

    @Test
    void a_journal_on_another_device_is_named() throws IOException {
        byte[] head = head();
        ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).putInt(0xe4, 0xfe10);
        assertThat(Ext4Superblock.difference(head)).contains("superblock: want journal device 0x0, have 0xfe10");
        byte[] uuid = head();
        uuid[0xd0] = 1;
        assertThat(Ext4Superblock.difference(uuid))
                .contains("superblock: want no UUID of a journal elsewhere, have some");
    }

    @Test
    void noise_is_no_file_system() {
        assertThat(Ext4Superblock.difference(new byte[Ext4Superblock.LENGTH]))
                .contains("superblock: want magic 0xef53, have 0x0");
    }
}
