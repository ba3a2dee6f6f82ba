package org.cloister.protocol.receipt;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/** Reason why a worker VM's process ended, as its host observed it. */
public enum VmEndReason {
    /** The VM powered off. */
    POWERED_OFF,
    /** The host stopped it, because its Global job's step had ended. */
    STOPPED,
    /** The VM did not register in time. */
    UNREGISTERED,
    /** The process died. */
    DIED,
    /** The process was gone at the host's next check. */
    GONE,
    /** The host stopped it, because a part of it or of the host had failed. */
    FAILED;

    private static final Pattern WORDS =
            Pattern.compile(Arrays.stream(values()).map(VmEndReason::toString).collect(Collectors.joining("|")));

    public static VmEndReason read(StrictJson json, String key) throws MalformedException {
        return valueOf(json.text(key, WORDS).toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
