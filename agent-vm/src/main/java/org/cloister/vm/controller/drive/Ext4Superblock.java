package org.cloister.vm.controller.drive;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The parts of an ext4 superblock that control how the kernel mounts it: features, an external journal device,
 * behaviour after errors, mount options. Only a holder of the drive's key can have written it. It is compared
 * nevertheless, so that the kernel mounts what {@link DriveFileSystem} creates, and not what a disk requests. Offsets
 * are those of Linux's fs/ext4/ext4.h.
 */
final class Ext4Superblock {
    static final int AT = 1024;
    static final int LENGTH = 1024;

    /** The features passed to mkfs.ext4, independent of its configuration. */
    static final List<String> FEATURES = List.of(
            "has_journal",
            "ext_attr",
            "resize_inode",
            "dir_index",
            "filetype",
            "extent",
            "64bit",
            "flex_bg",
            "sparse_super",
            "large_file",
            "huge_file",
            "dir_nlink",
            "extra_isize",
            "metadata_csum");

    private static final int MAGIC = 0xef53;
    /** has_journal, ext_attr, resize_inode, dir_index. */
    private static final int COMPATIBLE = 0x4 | 0x8 | 0x10 | 0x20;
    /** filetype, extent, 64bit, flex_bg. */
    private static final int INCOMPATIBLE = 0x2 | 0x40 | 0x80 | 0x200;
    /** sparse_super, large_file, huge_file, dir_nlink, extra_isize, metadata_csum. */
    private static final int READ_ONLY_COMPATIBLE = 0x1 | 0x2 | 0x8 | 0x20 | 0x40 | 0x400;
    /** user_xattr, acl. */
    private static final int DEFAULT_OPTIONS = 0x4 | 0x8;

    private static final int ERRORS_CONTINUE = 1;
    private static final int JOURNAL_INODE = 8;
    private static final int CRC32C = 1;

    private static final int AT_MAGIC = 0x38;
    private static final int AT_ERRORS = 0x3c;
    private static final int AT_COMPATIBLE = 0x5c;
    private static final int AT_INCOMPATIBLE = 0x60;
    private static final int AT_READ_ONLY_COMPATIBLE = 0x64;
    private static final int AT_JOURNAL_UUID = 0xd0;
    private static final int UUID_LENGTH = 16;
    private static final int AT_JOURNAL_INODE = 0xe0;
    private static final int AT_JOURNAL_DEVICE = 0xe4;
    private static final int AT_DEFAULT_OPTIONS = 0x100;
    private static final int AT_CHECKSUM_TYPE = 0x175;
    private static final int AT_MOUNT_OPTIONS = 0x200;
    private static final int MOUNT_OPTIONS_LENGTH = 64;

    private final ByteBuffer bytes;
    private final List<String> differences = new ArrayList<>();

    private Ext4Superblock(byte[] bytes) {
        this.bytes = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Compares a superblock.
     *
     * @param block the {@value #LENGTH} bytes at offset {@value #AT}
     * @return the first difference from what is created, with both values; empty if there is none
     */
    static Optional<String> difference(byte[] block) {
        if (block.length != LENGTH) {
            throw new IllegalArgumentException("superblock: want " + LENGTH + " bytes, have " + block.length);
        }
        Ext4Superblock superblock = new Ext4Superblock(block);
        superblock.compare();
        return superblock.differences.stream().findFirst();
    }

    private void compare() {
        require("magic", MAGIC, bytes.getShort(AT_MAGIC) & 0xffff);
        require("compatible features", COMPATIBLE, bytes.getInt(AT_COMPATIBLE));
        require("incompatible features", INCOMPATIBLE, bytes.getInt(AT_INCOMPATIBLE));
        require("read-only compatible features", READ_ONLY_COMPATIBLE, bytes.getInt(AT_READ_ONLY_COMPATIBLE));
        require("checksum type", CRC32C, bytes.get(AT_CHECKSUM_TYPE) & 0xff);
        require("journal inode", JOURNAL_INODE, bytes.getInt(AT_JOURNAL_INODE));
        require("journal device", 0, bytes.getInt(AT_JOURNAL_DEVICE));
        requireZeros("UUID of a journal elsewhere", AT_JOURNAL_UUID, UUID_LENGTH);
        require("default mount options", DEFAULT_OPTIONS, bytes.getInt(AT_DEFAULT_OPTIONS));
        require("behaviour after errors", ERRORS_CONTINUE, bytes.getShort(AT_ERRORS) & 0xffff);
        requireZeros("mount options", AT_MOUNT_OPTIONS, MOUNT_OPTIONS_LENGTH);
    }

    private void require(String field, int expected, int actual) {
        if (expected != actual) {
            differences.add("superblock: want %s 0x%x, have 0x%x".formatted(field, expected, actual));
        }
    }

    private void requireZeros(String field, int at, int length) {
        byte[] zeros = new byte[length];
        byte[] actual = Arrays.copyOfRange(bytes.array(), at, at + length);
        if (!Arrays.equals(zeros, actual)) {
            differences.add("superblock: want no %s, have some".formatted(field));
        }
    }
}
