package org.cloister.ctl.authority;

import java.io.IOException;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.bouncycastle.cert.X509CertificateHolder;
import org.cloister.base.encoding.BinaryText;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificationRefusedException;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.IdentityClause;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.SubjectPublicKey;

/** Enrols hosts and relays under a site's CA; persists each step before it acts on it. */
public final class RegistrationAuthority {
    private final CertificateAuthority site;
    private final EnrolmentStore store;

    public RegistrationAuthority(CertificateAuthority site, EnrolmentStore store) {
        this.site = site;
        this.store = store;
    }

    /**
     * Opens a name for the token and invalidates an earlier token for it, whose token certificate is then revoked.
     *
     * @param lifetime the token's lifetime, and the token certificate's
     * @return the token certificate in DER: it proves to a relay that its holder has the token
     */
    public byte[] open(CertificateName name, VerificationKey token, Instant now, Duration lifetime) throws IOException {
        if (lifetime.compareTo(EnrolmentDecision.SHORTEST) < 0 || lifetime.compareTo(EnrolmentDecision.LONGEST) > 0) {
            throw new CertificationRefusedException(
                    "token for " + name,
                    "a lifetime of " + EnrolmentDecision.SHORTEST.toMinutes() + " min to "
                            + EnrolmentDecision.LONGEST.toDays() + " days",
                    lifetime.toMinutes() + " min",
                    "choose another lifetime");
        }
        Optional<EnrolmentState> known = store.find(name);
        if (known.isPresent() && known.get() instanceof EnrolmentState.Used used) {
            throw new CertificationRefusedException(
                    "token for " + name, "a name that is free", "one enrolled by " + used.key(), "revoke it first");
        }
        List<EnrolmentState.Issued> withdrawn = new ArrayList<>();
        if (known.isPresent()) {
            EnrolmentState before = known.get().at(now);
            withdrawn.addAll(before.withdrawn());
            before.tokenCertificate().ifPresent(withdrawn::add);
        }
        if (withdrawn.size() + EnrolmentState.REVOKED_AT_ONCE > EnrolmentState.MAX_WITHDRAWN) {
            throw new CertificationRefusedException(
                    "token for " + name,
                    "fewer than " + EnrolmentState.MAX_WITHDRAWN + " certificates on the revocation list",
                    String.valueOf(withdrawn.size()),
                    "wait until they have expired");
        }
        byte[] tokenCertificate = site.issue(name.forJoining(), SubjectPublicKey.of(token), now, lifetime);
        store.store(new EnrolmentState.Open(
                name, token, now.plus(lifetime), Optional.of(issued(tokenCertificate)), withdrawn));
        return tokenCertificate;
    }

    /**
     * Issues a certificate with the lifetime {@link CertificateAuthority#LEAF}.
     *
     * @return the certificate in DER
     * @throws IdentityRefusedException with {@link IdentityClause#COPIED} after the name was revoked: sign a new list
     *     and raise the alarm
     */
    public byte[] answer(EnrolmentRequest request, Instant now) throws IOException {
        CertificateName name = request.request().name();
        EnrolmentDecision decision = EnrolmentDecision.of(store.find(name), request, now);
        if (decision instanceof EnrolmentDecision.Issue issue) {
            if (issue.next().issued().isEmpty()) {
                requireNew(name, request.request().key(), now);
            }
            store.store(issue.next());
            byte[] certificate =
                    site.issue(name, SubjectPublicKey.of(request.request().key()), now, CertificateAuthority.LEAF);
            store.store(issue.next().with(issued(certificate)));
            return certificate;
        }
        if (decision instanceof EnrolmentDecision.Repeat repeat) {
            return BinaryText.fromBase64(repeat.certificate().certificate(), CertificateChain.MAX_CERTIFICATE);
        }
        if (decision instanceof EnrolmentDecision.Revoke revoke) {
            store.store(revoke.next());
            throw revoke.refusal();
        }
        throw ((EnrolmentDecision.Refuse) decision).refusal();
    }

    /**
     * Answers a request that a relay forwarded, as {@link #answer} does, unless the name's newest certificate expired
     * too long ago.
     */
    public byte[] renew(EnrolmentRequest request, Instant now) throws IOException {
        CertificateName name = request.request().name();
        Optional<IdentityRefusedException> refusal = EnrolmentDecision.refuseAge(store.find(name), name, now);
        if (refusal.isPresent()) {
            throw refusal.get();
        }
        return answer(request, now);
    }

    /**
     * Rejects a revoked key: lists contain it, so a party that identifies a machine by its key would reject this
     * machine.
     */
    private void requireNew(CertificateName name, VerificationKey key, Instant now) throws IOException {
        for (EnrolmentState each : store.all()) {
            if (each.at(now).hasRevoked(key)) {
                throw new IdentityRefusedException(
                        IdentityClause.REVOKED,
                        "enrolment of " + name,
                        "a key that was never revoked",
                        key.id() + ", once of " + each.name(),
                        "move the machine's key file away and make a new request");
            }
        }
    }

    /** Revokes a name on an administrator's request; {@link #list} then has its certificates. */
    public void revoke(CertificateName name, String why, Instant now) throws IOException {
        Optional<EnrolmentState> known = store.find(name);
        if (known.isEmpty()) {
            throw new CertificationRefusedException(
                    "revocation of " + name, "a name that was enrolled", "none", "check the list of names");
        }
        store.store(known.get().revoke(now, why));
    }

    /**
     * Signs the site's revocation list with everything that was revoked.
     *
     * @return the list in DER
     */
    public byte[] list(BigInteger number, Instant now, Duration lifetime) throws IOException {
        List<CertificateAuthority.Revocation> revoked = withdrawn(now).stream()
                .map(serial -> new CertificateAuthority.Revocation(serial, now))
                .toList();
        return site.revoke(revoked, number, now, lifetime);
    }

    /** Returns the serial numbers that a list signed now contains. */
    public Set<BigInteger> withdrawn(Instant now) throws IOException {
        Set<BigInteger> serials = new LinkedHashSet<>();
        for (EnrolmentState each : store.all()) {
            each.at(now).withdrawn().forEach(issued -> serials.add(issued.serial()));
        }
        return serials;
    }

    private static EnrolmentState.Issued issued(byte[] certificate) throws IOException {
        X509CertificateHolder holder = new X509CertificateHolder(certificate);
        return new EnrolmentState.Issued(
                holder.getSerialNumber(),
                holder.getNotBefore().toInstant(),
                holder.getNotAfter().toInstant(),
                BinaryText.base64(certificate));
    }
}
