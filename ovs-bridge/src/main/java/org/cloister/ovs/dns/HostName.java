package org.cloister.ovs.dns;

import java.util.regex.Pattern;

/**
 * A host name as in RFC 1123, section 2.1, in lower case and without the last dot. It is never a disguised address: the
 * last label begins with a letter, so that no resolver reads {@code 127.1} or {@code 0x7f000001} as one.
 */
public record HostName(String text) implements Comparable<HostName> {
    private static final int MAX_LENGTH = 253;
    private static final String LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
    private static final String LAST = "[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?";
    private static final Pattern FORM = Pattern.compile("(?:" + LABEL + "\\.)*" + LAST);
    private static final Pattern SELF =
            Pattern.compile("(?:.*\\.)?localhost(?:\\.localdomain)?|.*\\.?ip6-(?:localhost|loopback)");

    public HostName {
        if (text.length() > MAX_LENGTH
                || !FORM.matcher(text).matches()
                || SELF.matcher(text).matches()) {
            throw new IllegalArgumentException("name: want labels of at most 63 lower case letters, digits and inner"
                    + " hyphens joined by dots, at most " + MAX_LENGTH + " characters, the last label beginning with a"
                    + " letter and not localhost, have \"" + shortened(text) + "\"");
        }
    }

    /** Returns whether this is the domain or a name in it. */
    boolean isIn(HostName domain) {
        return text.equals(domain.text) || text.endsWith("." + domain.text);
    }

    @Override
    public int compareTo(HostName other) {
        return text.compareTo(other.text);
    }

    @Override
    public String toString() {
        return text;
    }

    private static String shortened(String text) {
        return text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH) + "...";
    }
}
