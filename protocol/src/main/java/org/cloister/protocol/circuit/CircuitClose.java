package org.cloister.protocol.circuit;

import java.util.Locale;
import org.cloister.base.encoding.MalformedException;

/** Who ended a circuit, and why, as the field {@code cloister-close} says it. The relay can write here what it likes. */
public record CircuitClose(Side side, CloseReason reason) {
    /** The three that can end a circuit. */
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

    /** @param value such as {@code relay idle} */
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
