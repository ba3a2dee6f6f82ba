package org.cloister.protocol.policy;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;

/** With whom a VM may share its host while it lives. */
public enum Sharing {
    /** With no other VM. */
    NONE,
    /** With VMs of its own project. */
    PROJECT,
    /** With everybody. */
    ANY;

    private static final Pattern WORDS =
            Pattern.compile(Arrays.stream(values()).map(Sharing::toString).collect(Collectors.joining("|")));

    public static Sharing read(StrictJson json, String key) throws MalformedException {
        return valueOf(json.text(key, WORDS).toUpperCase(Locale.ROOT));
    }

    /** Whether who accepts {@code limit} accepts this. */
    public boolean within(Sharing limit) {
        return compareTo(limit) <= 0;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
