package org.cloister.preflight;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The first two numbers of a version; further ones never decide here. */
record Version(int major, int minor) implements Comparable<Version> {
    private static final Pattern NUMBERS = Pattern.compile("(?<![0-9.])([0-9]{1,4})\\.([0-9]{1,4})(?![0-9])");
    private static final Comparator<Version> ORDER =
            Comparator.comparingInt(Version::major).thenComparingInt(Version::minor);

    /** The first version that a text names. */
    static Optional<Version> in(String text) {
        Matcher numbers = NUMBERS.matcher(text);
        return numbers.find()
                ? Optional.of(new Version(Integer.parseInt(numbers.group(1)), Integer.parseInt(numbers.group(2))))
                : Optional.empty();
    }

    @Override
    public int compareTo(Version other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return major + "." + minor;
    }
}
