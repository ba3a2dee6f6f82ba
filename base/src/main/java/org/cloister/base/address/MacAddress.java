package org.cloister.base.address;

import java.util.HexFormat;
import java.util.regex.Pattern;

/** A station's Ethernet address: unicast and not zero. */
public record MacAddress(String text) implements Comparable<MacAddress> {
    private static final Pattern FORM = Pattern.compile("[0-9a-f]{2}(:[0-9a-f]{2}){5}");

    private static final HexFormat FORMAT = HexFormat.ofDelimiter(":");

    public MacAddress {
        if (!FORM.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "MAC address: want six lower-case hex pairs joined by colons, have \"" + text + "\"");
        }
        if ((Integer.parseInt(text, 0, 2, 16) & 1) != 0 || text.equals("00:00:00:00:00:00")) {
            throw new IllegalArgumentException("MAC address: want a single station's, have " + text);
        }
    }

    public byte[] bytes() {
        return FORMAT.parseHex(text);
    }

    @Override
    public int compareTo(MacAddress other) {
        return text.compareTo(other.text);
    }

    @Override
    public String toString() {
        return text;
    }
}
