package org.cloister.protocol.policy;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/** Projects with which a VM may share its host while it runs. */
public enum HostSharing {
    /** Shares with no other VM. */
    NONE,
    /** Shares with VMs of its own project. */
    PROJECT,
    /** Shares with VMs of any project. */
    ANY;

    private static final Pattern WORDS =
            Pattern.compile(Arrays.stream(values()).map(HostSharing::toString).collect(Collectors.joining("|")));

    public static HostSharing read(StrictJson json, String key) throws MalformedException {
        return valueOf(json.text(key, WORDS).toUpperCase(Locale.ROOT));
    }

    /** Returns whether a party that accepts {@code limit} also accepts this. */
    public boolean within(HostSharing limit) {
        return compareTo(limit) <= 0;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
