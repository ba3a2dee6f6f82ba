package org.cloister.ctl.authority;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.IdentityClause;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.ValidityPeriod;

/** Decision on a request for a certificate: the table of docs/protocol.md, section 6, without I/O or clock. */
public sealed interface EnrolmentDecision {
    /** Shortest lifetime of a token; the usual and the longest one follow. */
    Duration SHORTEST = Duration.ofMinutes(15);

    Duration USUAL = Duration.ofHours(1);
    Duration LONGEST = ValidityPeriod.TOKEN;

    /** Store {@code next}, then issue, then store the certificate, then answer. */
    record Issue(EnrolmentState.Used next) implements EnrolmentDecision {}

    /** Send the previous answer again. */
    record Repeat(EnrolmentState.Issued certificate) implements EnrolmentDecision {}

    /** Store {@code next}, revoke the certificates that it lists, and raise an alarm. */
    record Revoke(EnrolmentState.Revoked next, IdentityRefusedException refusal) implements EnrolmentDecision {}

    record Refuse(IdentityRefusedException refusal) implements EnrolmentDecision {}

    static EnrolmentDecision of(Optional<EnrolmentState> state, EnrolmentRequest request, Instant now) {
        CertificateName name = request.request().name();
        if (state.isEmpty()) {
            return refuse(IdentityClause.UNKNOWN, name, "a name that a token was made for", "none");
        }
        EnrolmentState known = state.get().at(now);
        if (!known.name().equals(name)) {
            throw new IllegalArgumentException("enrolment of " + known.name() + ": asked for " + name);
        }
        if (known instanceof EnrolmentState.Open open) {
            return ofOpen(open, request, now);
        }
        if (known instanceof EnrolmentState.Used used) {
            return ofUsed(used, request, now);
        }
        EnrolmentState.Revoked revoked = (EnrolmentState.Revoked) known;
        return refuse(
                IdentityClause.REVOKED,
                name,
                "a name that is not revoked",
                "one revoked at " + revoked.at() + ": " + revoked.reason());
    }

    /**
     * Returns the refusal of a request that a relay forwards, if the name's newest certificate has expired for too
     * long; an administrator may still answer such a request from a file.
     */
    static Optional<IdentityRefusedException> refuseAge(
            Optional<EnrolmentState> state, CertificateName name, Instant now) {
        if (state.isEmpty()
                || !(state.get() instanceof EnrolmentState.Used used)
                || used.issued().isEmpty()) {
            return Optional.empty();
        }
        Instant last = used.issued().get(used.issued().size() - 1).notAfter().plus(ValidityPeriod.RENEWABLE);
        return now.isAfter(last)
                ? Optional.of(new IdentityRefusedException(
                        IdentityClause.EXPIRED,
                        "renewal of " + name,
                        "a time to " + last + ", " + ValidityPeriod.RENEWABLE.toDays() + " days after its certificate",
                        now.toString(),
                        "answer its request from a file, with agentctl site issue"))
                : Optional.empty();
    }

    private static EnrolmentDecision ofOpen(EnrolmentState.Open open, EnrolmentRequest request, Instant now) {
        if (!request.isProvenBy(open.token())) {
            return refuse(IdentityClause.PROOF, open.name(), "a proof by its token", "none or another");
        }
        if (!now.isBefore(open.expires())) {
            return refuse(
                    IdentityClause.EXPIRED,
                    open.name(),
                    "a token that is valid, until " + open.expires(),
                    now.toString());
        }
        VerificationKey key = request.request().key();
        return new Issue(new EnrolmentState.Used(
                open.name(), open.token(), key, open.tokenCertificate(), List.of(), open.withdrawn()));
    }

    private static EnrolmentDecision ofUsed(EnrolmentState.Used used, EnrolmentRequest request, Instant now) {
        VerificationKey key = request.request().key();
        if (key.equals(used.key())) {
            Optional<EnrolmentState.Issued> newest = used.issued().isEmpty()
                    ? Optional.empty()
                    : Optional.of(used.issued().get(used.issued().size() - 1));
            if (newest.isPresent() && now.isBefore(half(newest.get()))) {
                return new Repeat(newest.get());
            }
            if (used.issued().size() >= EnrolmentState.MAX_ISSUED) {
                return refuse(
                        IdentityClause.NUMBER,
                        used.name(),
                        "fewer than " + EnrolmentState.MAX_ISSUED + " certificates that are valid",
                        String.valueOf(used.issued().size()));
            }
            return new Issue(used);
        }
        if (!request.isProvenBy(used.token())) {
            return refuse(IdentityClause.PROOF, used.name(), "the key that was enrolled, " + used.key(), key.id());
        }
        String why = "its token was used by two keys, " + used.key() + " and " + key;
        return new Revoke(
                used.revoke(now, why),
                new IdentityRefusedException(
                        IdentityClause.COPIED,
                        "enrolment of " + used.name(),
                        "the key that used the token first, " + used.key(),
                        key.id(),
                        "the token was copied and the name is revoked: find out by whom, then make another token"));
    }

    private static Instant half(EnrolmentState.Issued certificate) {
        return certificate
                .notBefore()
                .plus(Duration.between(certificate.notBefore(), certificate.notAfter())
                        .dividedBy(2));
    }

    private static Refuse refuse(IdentityClause clause, CertificateName name, String expected, String actual) {
        return new Refuse(new IdentityRefusedException(
                clause, "enrolment of " + name, expected, actual, "have the site's administrator make a token for it"));
    }
}
