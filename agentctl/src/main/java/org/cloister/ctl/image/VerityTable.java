package org.cloister.ctl.image;

import java.util.Optional;

/**
 * Line of {@code dmsetup table} for one dm-verity device, as the kernel's device-mapper/verity.rst defines it: start,
 * sectors, "verity", version, data device, hash device, data block size, hash block size, data blocks, hash start,
 * algorithm, root digest, salt, options.
 */
record VerityTable(long dataBlocks, String algorithm, String rootHash) {
    private static final int BLOCKS = 8;
    private static final int ALGORITHM = 10;
    private static final int ROOT_DIGEST = 11;
    private static final int SALT = 12;

    /** Parses a line; empty unless the device is one verity target over its whole length. */
    static Optional<VerityTable> parse(String text) {
        String[] fields = text.strip().split("[ \t]+", -1);
        if (text.strip().lines().count() != 1
                || fields.length <= SALT
                || !fields[0].equals("0")
                || !fields[2].equals("verity")
                || !fields[BLOCKS].matches("[0-9]{1,18}")) {
            return Optional.empty();
        }
        return Optional.of(new VerityTable(Long.parseLong(fields[BLOCKS]), fields[ALGORITHM], fields[ROOT_DIGEST]));
    }
}
