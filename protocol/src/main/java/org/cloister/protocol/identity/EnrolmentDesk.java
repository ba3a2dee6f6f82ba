package org.cloister.protocol.identity;

import java.io.IOException;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.bouncycastle.cert.X509CertificateHolder;
import org.cloister.protocol.BinaryText;
import org.cloister.protocol.dsse.VerificationKey;

/** Enrols hosts and relays under a site's authority: keeps each step before it acts on it. */
public final class EnrolmentDesk {
    private final Authority site;
    private final EnrolmentStore store;

    public EnrolmentDesk(Authority site, EnrolmentStore store) {
        this.site = site;
        this.store = store;
    }

    /**
     * Opens a name for the token; one that was made for it before holds no more.
     *
     * @param lifetime of the token
     */
    public void open(Name name, VerificationKey token, Instant now, Duration lifetime) throws IOException {
        if (lifetime.compareTo(EnrolmentDecision.SHORTEST) < 0 || lifetime.compareTo(EnrolmentDecision.LONGEST) > 0) {
            throw new RefusedException(
                    "token for " + name,
                    "a lifetime of " + EnrolmentDecision.SHORTEST.toMinutes() + " min to "
                            + EnrolmentDecision.LONGEST.toDays() + " days",
                    lifetime.toMinutes() + " min",
                    "ask for another");
        }
        Optional<Enrolment> known = store.find(name);
        if (known.isPresent() && known.get() instanceof Enrolment.Used used) {
            throw new RefusedException(
                    "token for " + name, "a name that is free", "one enrolled by " + used.key(), "revoke it first");
        }
        List<Enrolment.Issued> withdrawn =
                known.map(each -> each.at(now).withdrawn()).orElse(List.of());
        if (withdrawn.size() + Enrolment.MAX_ISSUED > Enrolment.MAX_WITHDRAWN) {
            throw new RefusedException(
                    "token for " + name,
                    "fewer than " + Enrolment.MAX_WITHDRAWN + " certificates on the revocation list",
                    String.valueOf(withdrawn.size()),
                    "wait until they have expired");
        }
        store.put(new Enrolment.Open(name, token, now.plus(lifetime), withdrawn));
    }

    /**
     * A certificate of {@link Authority#LEAF}, in DER.
     *
     * @throws IdentityRefused with {@link Clause#COPIED} after the name was revoked: sign a new list and raise the alarm
     */
    public byte[] answer(EnrolmentRequest request, Instant now) throws IOException {
        Name name = request.request().name();
        EnrolmentDecision decision = EnrolmentDecision.of(store.find(name), request, now);
        if (decision instanceof EnrolmentDecision.Issue issue) {
            if (issue.next().issued().isEmpty()) {
                requireNew(name, request.request().key(), now);
            }
            store.put(issue.next());
            byte[] certificate =
                    site.issue(name, SubjectKey.of(request.request().key()), now, Authority.LEAF);
            store.put(issue.next().with(issued(certificate)));
            return certificate;
        }
        if (decision instanceof EnrolmentDecision.Repeat repeat) {
            return BinaryText.fromBase64(repeat.certificate().certificate(), Chain.MAX_CERTIFICATE);
        }
        if (decision instanceof EnrolmentDecision.Revoke revoke) {
            store.put(revoke.next());
            throw revoke.refusal();
        }
        throw ((EnrolmentDecision.Refuse) decision).refusal();
    }

    /** Lists name it, so whoever knows a machine by its key would not take this one. */
    private void requireNew(Name name, VerificationKey key, Instant now) throws IOException {
        for (Enrolment each : store.all()) {
            if (each.at(now).hasTakenBack(key)) {
                throw new IdentityRefused(
                        Clause.REVOKED,
                        "enrolment of " + name,
                        "a key that was never taken back",
                        key.id() + ", once of " + each.name(),
                        "move the machine's key away and make the request anew, with another one");
            }
        }
    }

    /** Ends a name by hand; {@link #list} then has its certificates. */
    public void revoke(Name name, String why, Instant now) throws IOException {
        Optional<Enrolment> known = store.find(name);
        if (known.isEmpty()) {
            throw new RefusedException(
                    "revocation of " + name, "a name that was enrolled", "none", "look at the list of names");
        }
        store.put(known.get().revoke(now, why));
    }

    /** The site's list: everything that was withdrawn. */
    public byte[] list(BigInteger number, Instant now, Duration lifetime) throws IOException {
        List<Authority.Revocation> revoked = withdrawn(now).stream()
                .map(serial -> new Authority.Revocation(serial, now))
                .toList();
        return site.revoke(revoked, number, now, lifetime);
    }

    /** What a list that is signed now has. */
    public Set<BigInteger> withdrawn(Instant now) throws IOException {
        Set<BigInteger> serials = new LinkedHashSet<>();
        for (Enrolment each : store.all()) {
            each.at(now).withdrawn().forEach(issued -> serials.add(issued.serial()));
        }
        return serials;
    }

    private static Enrolment.Issued issued(byte[] certificate) throws IOException {
        X509CertificateHolder holder = new X509CertificateHolder(certificate);
        return new Enrolment.Issued(
                holder.getSerialNumber(),
                holder.getNotBefore().toInstant(),
                holder.getNotAfter().toInstant(),
                BinaryText.base64(certificate));
    }
}
