package org.cloister.base.address;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * IPv4 address of one host, in its only accepted spelling: four decimal numbers without leading zeros. Addresses are
 * ordered as numbers.
 */
public record Ipv4Address(String text) implements Comparable<Ipv4Address> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})");

    public Ipv4Address {
        byte[] bytes = bytes(text);
        int first = bytes[0] & 0xff;
        // 0 names no host, 127 is loopback, 224 and above are groups.
        if (first == 0 || first == 127 || first >= 224) {
            throw new IllegalArgumentException("IPv4 address: want a single host's, have " + text);
        }
    }

    public byte[] bytes() {
        byte[] bytes = new byte[4];
        int at = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '.') {
                at++;
            } else {
                bytes[at] = (byte) (10 * bytes[at] + c - '0');
            }
        }
        return bytes;
    }

    /** Returns the address as an unsigned number. */
    long number() {
        long number = 0;
        for (byte each : bytes()) {
            number = number << 8 | (each & 0xff);
        }
        return number;
    }

    @Override
    public int compareTo(Ipv4Address other) {
        return Long.compare(number(), other.number());
    }

    @Override
    public String toString() {
        return text;
    }

    private static byte[] bytes(String text) {
        Matcher form = FORM.matcher(text);
        if (form.matches()) {
            byte[] bytes = new byte[4];
            StringBuilder again = new StringBuilder();
            boolean inRange = true;
            for (int i = 0; i < 4; i++) {
                int number = Integer.parseInt(form.group(i + 1));
                inRange &= number <= 255;
                bytes[i] = (byte) number;
                again.append(i == 0 ? "" : ".").append(number);
            }
            if (inRange && again.toString().equals(text)) {
                return bytes;
            }
        }
        throw new IllegalArgumentException(
                "IPv4 address: want four numbers from 0 to 255 joined by dots, have \"" + text + "\"");
    }
}
