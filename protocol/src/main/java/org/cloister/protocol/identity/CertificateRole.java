package org.cloister.protocol.identity;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import org.cloister.protocol.dsse.SignatureCurve;

/** Role of a certificate's holder, with the curve of its key; docs/protocol.md, section 3. */
public enum CertificateRole {
    HOST(SignatureCurve.P256),
    RELAY(SignatureCurve.P256),
    /** The site's registration authority, which answers renewals. */
    DESK(SignatureCurve.P256),
    /** A machine that has an enrolment token and no certificate yet; a relay permits it its enrolment alone. */
    JOIN(SignatureCurve.P256),
    /** A person's device, on its link to the relay. */
    DEVICE(SignatureCurve.P256),
    OWNER(SignatureCurve.P384),
    OPENER(SignatureCurve.P384),
    MEMBER(SignatureCurve.P384),
    EXPORTER(SignatureCurve.P384),
    CONTROLLER(SignatureCurve.P384),
    WORKER(SignatureCurve.P384);

    private final SignatureCurve curve;

    CertificateRole(SignatureCurve curve) {
        this.curve = curve;
    }

    public SignatureCurve curve() {
        return curve;
    }

    /** Returns whether the site certifies the role, not a project. */
    public boolean isSite() {
        return this == HOST || this == RELAY || this == DESK || this == JOIN;
    }

    /** Returns the longest lifetime of the role's certificates. */
    public Duration longestLife() {
        return this == JOIN ? ValidityPeriod.TOKEN : ValidityPeriod.LEAF;
    }

    /** Returns whether a machine is enrolled for the role with a token. */
    public boolean isEnrolled() {
        return this == HOST || this == RELAY;
    }

    /** Returns whether an owner grants the role to a person by certifying the person's key. */
    public boolean isGiven() {
        return this == OPENER || this == MEMBER || this == EXPORTER;
    }

    /** Returns the role's label in names. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<CertificateRole> of(String label) {
        return Arrays.stream(values())
                .filter(role -> role.toString().equals(label))
                .findFirst();
    }
}
