package org.cloister.protocol.receipt;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/** What a host did with a VM's scratch disk when it had ended. What lay on it was encrypted by the VM. */
public enum ScratchDisposal {
    /** There was none. */
    NONE,
    /** Its blocks were given back to the file system. */
    DISCARDED,
    /** Zeros were written over it, and then its blocks given back. */
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
