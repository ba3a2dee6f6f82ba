package org.cloister.preflight;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The first two numbers of a version; further ones are never relevant here. */
record MajorMinorVersion(int major, int minor) implements Comparable<MajorMinorVersion> {
    private static final Pattern NUMBERS = Pattern.compile("(?<![0-9.])([0-9]{1,4})\\.([0-9]{1,4})(?![0-9])");
    private static final Comparator<MajorMinorVersion> ORDER =
            Comparator.comparingInt(MajorMinorVersion::major).thenComparingInt(MajorMinorVersion::minor);

    /** Returns the first version in a text. */
    static Optional<MajorMinorVersion> parseFirst(String text) {
        Matcher numbers = NUMBERS.matcher(text);
        return numbers.find()
                ? Optional.of(
                        new MajorMinorVersion(Integer.parseInt(numbers.group(1)), Integer.parseInt(numbers.group(2))))
                : Optional.empty();
    }

    @Override
    public int compareTo(MajorMinorVersion other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return major + "." + minor;
    }
}
