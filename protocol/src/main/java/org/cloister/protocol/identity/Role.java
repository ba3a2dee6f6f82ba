package org.cloister.protocol.identity;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import org.cloister.protocol.dsse.Curve;

/** What a name says its holder is, with the curve of its key; docs/protocol.md, section 3. */
public enum Role {
    HOST(Curve.P256),
    RELAY(Curve.P256),
    /** Where the site's CA answers renewals. */
    DESK(Curve.P256),
    /** A person's device, on its link to the relay. */
    DEVICE(Curve.P256),
    OWNER(Curve.P384),
    OPENER(Curve.P384),
    MEMBER(Curve.P384),
    EXPORTER(Curve.P384),
    CONTROLLER(Curve.P384),
    WORKER(Curve.P384);

    private final Curve curve;

    Role(Curve curve) {
        this.curve = curve;
    }

    public Curve curve() {
        return curve;
    }

    /** The site certifies it, not a project. */
    public boolean isSite() {
        return this == HOST || this == RELAY || this == DESK;
    }

    /** A machine is enrolled for it with a token. */
    public boolean isEnrolled() {
        return this == HOST || this == RELAY;
    }

    /** An owner gives it to a person by certifying the person's key. */
    public boolean isGiven() {
        return this == OPENER || this == MEMBER || this == EXPORTER;
    }

    /** The label in names. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<Role> of(String label) {
        return Arrays.stream(values())
                .filter(role -> role.toString().equals(label))
                .findFirst();
    }
}
