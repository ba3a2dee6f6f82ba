package org.cloister.protocol.receipt;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/** Treatment of a VM's scratch disk by its host after the VM ended. The VM had encrypted the disk's content. */
public enum ScratchDisposal {
    /** The VM had no scratch disk. */
    NONE,
    /** The disk's blocks were returned to the file system. */
    DISCARDED,
    /** The disk was overwritten with zeros, and then its blocks were returned. */
    OVERWRITTEN;

    private static final Pattern WORDS = Pattern.compile(
            Arrays.stream(values()).map(ScratchDisposal::toString).collect(Collectors.joining("|")));

    public static ScratchDisposal read(StrictJson json, String key) throws MalformedException {
        return valueOf(json.text(key, WORDS).toUpperCase(Locale.ROOT));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
