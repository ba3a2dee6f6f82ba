package org.cloister.ipsec;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.ipsec.vici.IpsecException.PlanRefused;

/** An IPv4 address of one machine in the project's network. */
public record TunnelAddress(String text) implements Comparable<TunnelAddress> {
    private static final String OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
    private static final Pattern FORM = Pattern.compile(OCTET + "\\." + OCTET + "\\." + OCTET + "\\." + OCTET);

    public TunnelAddress {
        if (!FORM.matcher(text).matches() || text.matches("(0|127|22[4-9]|2[3-5][0-9])\\..*")) {
            throw new IllegalArgumentException("address: want IPv4 of one machine, have " + text);
        }
    }

    /** @throws PlanRefused for text that is not the address of one machine */
    public static TunnelAddress parse(String text) throws PlanRefused {
        try {
            return new TunnelAddress(text);
        } catch (IllegalArgumentException e) {
            throw new PlanRefused("address", "IPv4 of one machine", text, "correct it");
        }
    }

    long number() {
        Matcher octets = FORM.matcher(text);
        long number = 0;
        for (int i = 1; octets.matches() && i <= octets.groupCount(); i++) {
            number = number << 8 | Integer.parseInt(octets.group(i));
        }
        return number;
    }

    @Override
    public int compareTo(TunnelAddress other) {
        return Long.compare(number(), other.number());
    }

    @Override
    public String toString() {
        return text;
    }
}
