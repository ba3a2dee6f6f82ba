package org.cloister.protocol.ticket;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.json.StrictJson;

/**
 * IPv4 address in a project's network, in its one spelling.
 *
 * @param bits as an unsigned number
 */
public record ProjectAddress(int bits) implements Comparable<ProjectAddress> {
    private static final String OCTET = "(0|[1-9][0-9]{0,2})";
    private static final Pattern TEXT = Pattern.compile(OCTET + "\\." + OCTET + "\\." + OCTET + "\\." + OCTET);

    /**
     * Parses an address.
     *
     * @throws IllegalArgumentException if the text is not an address
     */
    public static ProjectAddress parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        int bits = 0;
        for (int i = 1; i <= 4; i++) {
            int octet = matcher.matches() ? Integer.parseInt(matcher.group(i)) : -1;
            if (octet < 0 || octet > 0xff) {
                throw new IllegalArgumentException(
                        "address: want four numbers from 0 to 255 with dots, have " + StrictJson.quoted(text));
            }
            bits = bits << 8 | octet;
        }
        return new ProjectAddress(bits);
    }

    @Override
    public int compareTo(ProjectAddress other) {
        return Integer.compareUnsigned(bits, other.bits);
    }

    @Override
    public String toString() {
        return (bits >>> 24) + "." + (bits >>> 16 & 0xff) + "." + (bits >>> 8 & 0xff) + "." + (bits & 0xff);
    }
}
