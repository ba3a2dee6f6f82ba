package org.cloister.protocol.circuit;

import java.util.Locale;
import org.cloister.base.encoding.MalformedException;

/**
 * Side that ended a circuit and its reason, as in the header field {@code cloister-close}. The relay can forge both.
 */
public record CircuitClose(Side side, CloseReason reason) {
    /** The three sides that can end a circuit. */
    public enum Side {
        OPENER,
        TARGET,
        RELAY;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public static CircuitClose byRelay(CloseReason why) {
        return new CircuitClose(Side.RELAY, why);
    }

    /**
     * Parses the header field.
     *
     * @param value such as {@code relay idle}
     */
    public static CircuitClose parse(CharSequence value) throws MalformedException {
        String text = value.length() > 64 ? "" : value.toString();
        int blank = text.indexOf(' ');
        for (Side side : Side.values()) {
            if (blank > 0 && side.toString().equals(text.substring(0, blank))) {
                return new CircuitClose(side, CloseReason.parse(text.substring(blank + 1)));
            }
        }
        throw new MalformedException("close: want WHO REASON, have " + value.length() + " characters of another form");
    }

    @Override
    public String toString() {
        return side + " " + reason;
    }
}
