package org.cloister.vm.controller.drive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** File systems of the real mkfs.ext4 in a file, damaged, and repaired by the real e2fsck under its own uid. */
class DriveFileSystemTest {
    private static final int BLOCK = 1024;
    private static final int AT_MAGIC = Ext4Superblock.AT + 0x38;
    private static final int AT_STATE = Ext4Superblock.AT + 0x3a;
    private static final int GROUP_DESCRIPTORS = 2 * BLOCK;
    /** Near the end of the last group, where nothing is allocated. */
    private static final int FREE_BLOCK = 131_000;

    private static final String REMEDY =
            "; restore the drive from a copy, or run e2fsck by hand on a copy of it; except"
                    + " for its epoch and what e2fsck repaired, the drive is unchanged";

    private final ProcessRunner programs = ProcessRunner.local();

    @TempDir
    private Path folder;

    private Path image;
    private DriveFileSystem fileSystem;

    @BeforeEach
    void create() throws IOException {
        assumeTrue("root".equals(System.getProperty("user.name")), "another uid needs root");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        image = folder.resolve("image");
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength(128 << 20);
        }
        // Only its owner, which e2fsck's uid must become, can open it.
        Files.setPosixFilePermissions(image, PosixFilePermissions.fromString("rw-------"));
        fileSystem = new DriveFileSystem(programs, image);
        fileSystem.create();
        assertThat(programs.runChecked("dumpe2fs", "-h", image.toString()))
                .containsPattern("Block size: +" + BLOCK + "\n")
                .containsPattern("Block count: +131072\n");
    }

    @Test
    void a_sound_file_system_passes_and_is_root_s_again() throws IOException {
        byte[] before = beyondSuperblock();
        fileSystem.repair();
        assertThat(Arrays.mismatch(beyondSuperblock(), before)).isNegative();
        assertThat(Files.getAttribute(image, "unix:uid")).isEqualTo(0);
    }

    @Test
    void a_journal_is_replayed() throws IOException {
        byte[] marker = new byte[BLOCK];
        Arrays.fill(marker, (byte) 'r');
        Path block = Files.write(folder.resolve("block"), marker);
        debugfs("jo\njw -b " + FREE_BLOCK + " " + block + "\njc\n");
        assertThat(Ext4Superblock.difference(read(Ext4Superblock.AT, Ext4Superblock.LENGTH)))
                .contains("superblock: want incompatible features 0x2c2, have 0x2c6");
        assertThat(read(FREE_BLOCK * BLOCK, BLOCK)).containsOnly(0);

        fileSystem.repair();
        assertThat(read(FREE_BLOCK * BLOCK, BLOCK)).isEqualTo(marker);
    }

    @Test
    void a_file_system_that_was_not_unmounted_is_repaired() throws IOException {
        debugfs("ssv state 0\nfreei <11>\n");
        assertThat(read(AT_STATE, 1)).containsExactly(0);

        fileSystem.repair();
        assertThat(read(AT_STATE, 1)).containsExactly(1);
    }

    @Test
    void a_superblock_without_its_magic_number_is_refused() throws IOException {
        write(AT_MAGIC, new byte[2]);
        refused("exit status 8, operational error: e2fsck: Bad magic number in super-block while trying to open "
                + image + " / The superblock could not be read or does not describe a valid ext2/ext3/ext4 / ");
    }

    @Test
    void damaged_group_descriptors_are_refused() throws IOException {
        write(GROUP_DESCRIPTORS, filled(BLOCK));
        refused("exit status 4, errors left uncorrected: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY. / ");
    }

    @Test
    void a_damaged_inode_table_is_refused() throws IOException {
        debugfs("ssv state 0\n");
        write(inodeTable(), filled(BLOCK));
        refused("exit status 4, errors left uncorrected: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY. / ");
    }

    /** e2fsck reads inodes only if the file system is not marked as clean, or what it reads first is damaged. */
    @Test
    void a_damaged_inode_table_of_a_clean_file_system_is_left_to_the_kernel() throws IOException {
        write(inodeTable(), filled(BLOCK));
        fileSystem.repair();
        assertThat(read(inodeTable(), BLOCK)).isEqualTo(filled(BLOCK));
    }

    @Test
    void a_damaged_journal_inode_has_all_inodes_checked() throws IOException {
        write(inodeTable(), filled(4 * BLOCK));
        refused("exit status 4, errors left uncorrected: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY. / ");
    }

    /** e2fsck prints the label instead of the device. */
    @Test
    void a_label_cannot_put_control_characters_into_the_error() throws IOException {
        programs.runChecked("tune2fs", "-L", "a\u001b[31mb", image.toString());
        debugfs("ssv state 0\n");
        write(inodeTable(), filled(BLOCK));
        refused(" / a?[31mb");
    }

    @Test
    void a_sound_file_system_with_mount_options_is_refused() throws IOException {
        programs.runChecked("tune2fs", "-E", "mount_opts=dax", image.toString());
        assertThatThrownBy(fileSystem::repair)
                .isInstanceOf(IOException.class)
                .hasMessage(
                        image + ": superblock: want no mount options, have some; it was changed with the drive's key:"
                                + " see which host opened it last");
    }

    private void refused(String why) throws IOException {
        assertThatThrownBy(fileSystem::repair)
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("e2fsck did not repair the file system on " + image + ": exit status ")
                .hasMessageContaining(why)
                .hasMessageEndingWith(REMEDY)
                .hasMessageMatching("[ -~]{1,1000}");
        assertThat(Files.getAttribute(image, "unix:uid")).isEqualTo(0);
    }

    private int inodeTable() throws IOException {
        Matcher first =
                Pattern.compile("Inode table at (\\d+)-").matcher(programs.runChecked("dumpe2fs", image.toString()));
        assertThat(first.find()).isTrue();
        return Integer.parseInt(first.group(1)) * BLOCK;
    }

    private void debugfs(String commands) throws IOException {
        Path script = Files.writeString(folder.resolve("commands"), commands, StandardCharsets.US_ASCII);
        programs.runChecked("debugfs", "-w", "-f", script.toString(), image.toString());
    }

    private byte[] beyondSuperblock() throws IOException {
        byte[] all = Files.readAllBytes(image);
        return Arrays.copyOfRange(all, Ext4Superblock.AT + Ext4Superblock.LENGTH, all.length);
    }

    private static byte[] filled(int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) 0xa5);
        return bytes;
    }

    private byte[] read(int at, int length) throws IOException {
        byte[] bytes = new byte[length];
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "r")) {
            file.seek(at);
            file.readFully(bytes);
        }
        return bytes;
    }

    private void write(int at, byte[] bytes) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.seek(at);
            file.write(bytes);
        }
    }
}
