package org.cloister.ctl.authority;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.BinaryText;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.ValidityPeriod;

/** State of one name in the registration authority; docs/protocol.md, section 6. Immutable. */
public sealed interface EnrolmentState {
    /**
     * Maximum number of valid certificates of one key: each is renewed after half of its lifetime, so there are two or
     * three.
     */
    int MAX_ISSUED = 8;

    int MAX_WITHDRAWN = 256;

    /** Entries that the revocation of one name adds at most: its certificates, its key and its token's certificate. */
    int REVOKED_AT_ONCE = MAX_ISSUED + 2;

    /**
     * Time for which a revoked key stays on the list: longer than a job may last, so that no VM outlives its host's
     * revocation.
     */
    Duration KEY_NAMED = Duration.ofDays(400);

    CertificateName name();

    /** Returns the certificates and keys that were revoked and have not expired; revocation lists contain them. */
    List<Issued> withdrawn();

    /** Returns the certificate with which the holder of the name's token joins, if there is one. */
    default Optional<Issued> tokenCertificate() {
        return Optional.empty();
    }

    /**
     * Certificate that was issued, or a key that was revoked.
     *
     * @param serial the certificate's serial number; for a revoked key the number by which lists name it
     * @param certificate the certificate in DER, as base64; for a revoked key its SubjectPublicKeyInfo in base64
     */
    record Issued(BigInteger serial, Instant notBefore, Instant notAfter, String certificate) {
        /** Returns whether a list signed at that time must name it, once it is revoked. */
        boolean isListedAt(Instant now) {
            return now.isBefore(notAfter.plus(ValidityPeriod.SKEW));
        }
    }

    /**
     * Name whose token was created and not used yet.
     *
     * @param token the token's public key
     * @param tokenCertificate the certificate with which the token's holder joins; empty if it was made without one
     */
    record Open(
            CertificateName name,
            VerificationKey token,
            Instant expires,
            Optional<Issued> tokenCertificate,
            List<Issued> withdrawn)
            implements EnrolmentState {
        public Open {
            withdrawn = List.copyOf(withdrawn);
        }
    }

    /**
     * Name whose token was used.
     *
     * @param key the key that used the token first
     * @param tokenCertificate the certificate with which the token's holder joins, until it expires: a repeated step
     *     needs it
     * @param issued valid certificates of that key, the newest last
     */
    record Used(
            CertificateName name,
            VerificationKey token,
            VerificationKey key,
            Optional<Issued> tokenCertificate,
            List<Issued> issued,
            List<Issued> withdrawn)
            implements EnrolmentState {
        public Used {
            issued = List.copyOf(issued);
            withdrawn = List.copyOf(withdrawn);
        }

        /** Returns the state with one more certificate. */
        public Used with(Issued more) {
            List<Issued> all = new ArrayList<>(issued);
            all.add(more);
            return new Used(name, token, key, tokenCertificate, all, withdrawn);
        }
    }

    /**
     * Revoked name.
     *
     * @param reason text for people
     */
    record Revoked(CertificateName name, Instant at, String reason, List<Issued> withdrawn) implements EnrolmentState {
        public Revoked {
            withdrawn = List.copyOf(withdrawn);
        }
    }

    /** Returns the state without expired certificates. */
    default EnrolmentState at(Instant now) {
        if (this instanceof Used used) {
            return new Used(
                    used.name,
                    used.token,
                    used.key,
                    used.tokenCertificate.filter(each -> each.isListedAt(now)),
                    valid(used.issued, now),
                    valid(used.withdrawn, now));
        }
        if (this instanceof Open open) {
            return new Open(
                    open.name,
                    open.token,
                    open.expires,
                    open.tokenCertificate.filter(each -> each.isListedAt(now)),
                    valid(open.withdrawn, now));
        }
        Revoked revoked = (Revoked) this;
        return new Revoked(revoked.name, revoked.at, revoked.reason, valid(revoked.withdrawn, now));
    }

    /**
     * Revokes the name, its certificates, the token's certificate, and the key that used the token, whether or
     * not a certificate of it is still valid: peers keep a host's key for as long as a job may last.
     */
    default Revoked revoke(Instant now, String why) {
        List<Issued> all = new ArrayList<>(withdrawn());
        tokenCertificate().ifPresent(all::add);
        if (this instanceof Used used) {
            all.addAll(used.issued);
            all.add(new Issued(
                    RevocationList.numberOf(used.key),
                    now,
                    now.plus(KEY_NAMED),
                    BinaryText.base64(used.key.encoded())));
        }
        return new Revoked(name(), now, why, valid(all, now));
    }

    /** Returns whether the key was this name's and was revoked. */
    default boolean hasRevoked(VerificationKey key) {
        BigInteger number = RevocationList.numberOf(key);
        return withdrawn().stream().anyMatch(each -> each.serial().equals(number));
    }

    private static List<Issued> valid(List<Issued> issued, Instant now) {
        return issued.stream().filter(each -> each.isListedAt(now)).toList();
    }
}
