package org.cloister.protocol.link;

import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;

/** Versions of the protocol that a program speaks: its own and the one before; docs/protocol.md, section 17. */
public record ProtocolVersions(int lowest, int highest) {
    /** Versions that this code speaks. */
    public static final ProtocolVersions OURS = new ProtocolVersions(1, 1);

    private static final Pattern RANGE = Pattern.compile("([1-9][0-9]{0,4})-([1-9][0-9]{0,4})");

    public ProtocolVersions {
        if (lowest < 1 || highest < lowest || highest > 99_999) {
            throw new IllegalArgumentException(
                    "versions: want 1 <= lowest <= highest <= 99999, have " + lowest + "-" + highest);
        }
    }

    /**
     * Parses a range of versions.
     *
     * @param range such as {@code 1-2}
     */
    public static ProtocolVersions parse(CharSequence range) throws MalformedException {
        Matcher matcher = RANGE.matcher(range);
        if (range.length() > 11 || !matcher.matches()) {
            throw new MalformedException(
                    "version: want LOWEST-HIGHEST, have " + range.length() + " characters of another form");
        }
        int lowest = Integer.parseInt(matcher.group(1));
        int highest = Integer.parseInt(matcher.group(2));
        if (highest < lowest) {
            throw new MalformedException("version: want LOWEST-HIGHEST, have " + lowest + "-" + highest);
        }
        return new ProtocolVersions(lowest, highest);
    }

    /** Returns the highest version that both speak; empty if there is none. */
    public OptionalInt choose(ProtocolVersions other) {
        int chosen = Math.min(highest, other.highest);
        return chosen < Math.max(lowest, other.lowest) ? OptionalInt.empty() : OptionalInt.of(chosen);
    }

    public boolean contains(int version) {
        return lowest <= version && version <= highest;
    }

    @Override
    public String toString() {
        return lowest + "-" + highest;
    }
}
