package org.cloister.protocol.policy;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/** With whom a VM may share its host while it lives. */
public enum HostSharing {
    /** With no other VM. */
    NONE,
    /** With VMs of its own project. */
    PROJECT,
    /** With everybody. */
    ANY;

    private static final Pattern WORDS =
            Pattern.compile(Arrays.stream(values()).map(HostSharing::toString).collect(Collectors.joining("|")));

    public static HostSharing read(StrictJson json, String key) throws MalformedException {
        return valueOf(json.text(key, WORDS).toUpperCase(Locale.ROOT));
    }

    /** Whether who accepts {@code limit} accepts this. */
    public boolean within(HostSharing limit) {
        return compareTo(limit) <= 0;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
