package org.cloister.luks.volume;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.cloister.luks.volume.LuksHeaderForm.Difference;
import org.cloister.luks.volume.VolumeException.Fault;

/**
 * Expected mapping of a volume in the kernel, word for word. The header was compared before. This comparison does not
 * depend on libcryptsetup, and the mapping cannot change afterwards.
 *
 * @param device the block device that the volume is on
 * @param flags of the call that mapped it
 */
record ExpectedMapping(String uuid, VolumeIntegrity integrity, Path device, int flags) {
    private static final int SECTOR = 512;
    private static final int IN_A_SECTOR = VolumeCreation.SECTOR_SIZE / SECTOR;
    private static final long OFFSET = VolumeCreation.LAYOUT.length() / SECTOR;
    /** Suffix that libcryptsetup appends to the volume's name for the mapping between disk and volume. */
    private static final String BETWEEN = "_dif";

    private static final String AUTHENTICATED = "capi:authenc(hmac(sha256),xts(aes))-plain64";
    /** Length of an HMAC with SHA-256 in bytes. */
    private static final int TAG = 32;
    /** Index of the first option in a line of dm-crypt. */
    private static final int OPTIONS = 5;

    /**
     * Compares the expectation with the kernel's table.
     *
     * @throws VolumeException.UnexpectedMapping naming the first word that differs, and both values
     */
    void require(CryptsetupLibrary library, MappingName name) throws VolumeException {
        try {
            String disk = number(device);
            String below = disk;
            if (integrity != VolumeIntegrity.NONE) {
                String between = name.text() + BETWEEN;
                require(between, integrityDifference(DeviceMapperTable.read(library, between), disk));
                below = number(Path.of("/dev/mapper", between));
            }
            require(name.text(), difference(DeviceMapperTable.read(library, name.text()), below, sectors(below)));
        } catch (VolumeException e) {
            throw e;
        } catch (IOException | UnsupportedOperationException e) {
            require(name.text(), Optional.of(new Difference("a block device below", String.valueOf(e.getMessage()))));
        }
    }

    private static void require(String name, Optional<Difference> difference) throws VolumeException {
        if (difference.isPresent()) {
            throw new VolumeException.UnexpectedMapping(
                    Fault.own("DM_TABLE_STATUS", name),
                    difference.get().expected(),
                    difference.get().actual());
        }
    }

    /** Returns the major and minor number of a block device, such as {@code 254:16}. */
    private static String number(Path device) throws IOException {
        long rdev = ((Number) Files.getAttribute(device, "unix:rdev")).longValue();
        long major = (rdev >> 8 & 0xfff) | (rdev >> 32 & ~0xfffL);
        long minor = (rdev & 0xff) | (rdev >> 12 & ~0xffL);
        return major + ":" + minor;
    }

    private static long sectors(String number) throws IOException {
        String size =
                Files.readString(Path.of("/sys/dev/block", number, "size")).strip();
        if (!size.matches("[0-9]{1,18}")) {
            throw new IOException(number + " of " + size + " sectors");
        }
        return Long.parseLong(size);
    }

    /**
     * Compares one line of dm-crypt.
     *
     * @param below major and minor number of the device below
     * @param sectors of the device below, of 512 bytes
     */
    Optional<Difference> difference(DeviceMapperTable table, String below, long sectors) {
        boolean sealed = integrity != VolumeIntegrity.NONE;
        long offset = sealed ? 0 : OFFSET;
        Set<String> options = new HashSet<>(Set.of("sector_size:" + VolumeCreation.SECTOR_SIZE));
        if (sealed) {
            options.add("integrity:" + TAG + ":aead");
        }
        if ((flags & LibCryptsetup.CRYPT_ACTIVATE_ALLOW_DISCARDS) != 0) {
            options.add("allow_discards");
        }
        boolean readOnly = (flags & LibCryptsetup.CRYPT_ACTIVATE_READONLY) != 0;
        return first(
                want("targets", 1, table.targets()),
                want("target", "crypt", table.target()),
                want("read-only", readOnly, table.readOnly()),
                want("start", 0L, table.start()),
                want("sectors", (sectors - offset) / IN_A_SECTOR * IN_A_SECTOR, table.length()),
                word(table, 0, sealed ? AUTHENTICATED : VolumeCreation.CIPHER),
                word(table, 1, ":" + integrity.volumeKeyLength() + ":logon:cryptsetup:" + uuid + "-d0"),
                word(table, 2, "0"),
                word(table, 3, below),
                word(table, 4, Long.toString(offset)),
                want("options", options, table.options(OPTIONS)));
    }

    private static Optional<Difference> integrityDifference(DeviceMapperTable table, String below) {
        return first(
                want("targets", 1, table.targets()),
                want("target", "integrity", table.target()),
                word(table, 0, below),
                word(table, 1, Long.toString(OFFSET)),
                word(table, 2, Integer.toString(TAG)));
    }

    private static Optional<Difference> word(DeviceMapperTable table, int index, String expected) {
        String actual = index < table.words().size() ? table.words().get(index) : "nothing";
        return want("word " + index, expected, actual);
    }

    private static Optional<Difference> want(String what, Object expected, Object actual) {
        return expected.equals(actual)
                ? Optional.empty()
                : Optional.of(new Difference(
                        "a mapping with " + what + " " + expected, LuksHeaderForm.printable(actual.toString())));
    }

    @SafeVarargs
    private static Optional<Difference> first(Optional<Difference>... differences) {
        for (Optional<Difference> difference : differences) {
            if (difference.isPresent()) {
                return difference;
            }
        }
        return Optional.empty();
    }
}
