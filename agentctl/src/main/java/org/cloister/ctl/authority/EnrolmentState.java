package org.cloister.ctl.authority;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.encoding.BinaryText;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.ValidityPeriod;

/** What the CA's machine knows of one name; docs/protocol.md, section 6. Immutable. */
public sealed interface EnrolmentState {
    /** Valid certificates of one key: a new one comes after half a life, so there are two or three. */
    int MAX_ISSUED = 8;

    int MAX_WITHDRAWN = 256;

    /** A key that was taken back is named for longer than a job may last, so that no VM outlives its host's revocation. */
    Duration KEY_NAMED = Duration.ofDays(400);

    CertificateName name();

    /** What was issued and holds no more, as long as its time has not come: what revocation lists name. */
    List<Issued> withdrawn();

    /**
     * @param serial the certificate's; of a key that was taken back what lists name that by
     * @param certificate in DER, as base64; of a key that was taken back the key itself, SubjectPublicKeyInfo in base64
     */
    record Issued(BigInteger serial, Instant notBefore, Instant notAfter, String certificate) {}

    /**
     * A token was made and not yet used.
     *
     * @param token its public half
     */
    record Open(CertificateName name, VerificationKey token, Instant expires, List<Issued> withdrawn)
            implements EnrolmentState {
        public Open {
            withdrawn = List.copyOf(withdrawn);
        }
    }

    /**
     * @param key that used the token first
     * @param issued to that key, as far as it is valid; the newest last
     */
    record Used(
            CertificateName name,
            VerificationKey token,
            VerificationKey key,
            List<Issued> issued,
            List<Issued> withdrawn)
            implements EnrolmentState {
        public Used {
            issued = List.copyOf(issued);
            withdrawn = List.copyOf(withdrawn);
        }

        /** With one more certificate. */
        public Used with(Issued more) {
            List<Issued> all = new ArrayList<>(issued);
            all.add(more);
            return new Used(name, token, key, all, withdrawn);
        }
    }

    /** @param reason for people */
    record Revoked(CertificateName name, Instant at, String reason, List<Issued> withdrawn) implements EnrolmentState {
        public Revoked {
            withdrawn = List.copyOf(withdrawn);
        }
    }

    /** This without what has expired. */
    default EnrolmentState at(Instant now) {
        if (this instanceof Used used) {
            return new Used(used.name, used.token, used.key, valid(used.issued, now), valid(used.withdrawn, now));
        }
        if (this instanceof Open open) {
            return new Open(open.name, open.token, open.expires, valid(open.withdrawn, now));
        }
        Revoked revoked = (Revoked) this;
        return new Revoked(revoked.name, revoked.at, revoked.reason, valid(revoked.withdrawn, now));
    }

    /**
     * Ends the name, and withdraws what was issued and the key that used the token, whether or not a certificate of it is
     * still valid: peers keep a host's key for as long as a job may last.
     */
    default Revoked revoke(Instant now, String why) {
        List<Issued> all = new ArrayList<>(withdrawn());
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

    /** Whether the key was this name's, and was taken back. */
    default boolean hasRevoked(VerificationKey key) {
        BigInteger number = RevocationList.numberOf(key);
        return withdrawn().stream().anyMatch(each -> each.serial().equals(number));
    }

    private static List<Issued> valid(List<Issued> issued, Instant now) {
        return issued.stream()
                .filter(each -> now.isBefore(each.notAfter().plus(ValidityPeriod.SKEW)))
                .toList();
    }
}
