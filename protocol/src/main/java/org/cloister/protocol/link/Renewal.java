package org.cloister.protocol.link;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RenewalRequest;
import org.cloister.protocol.identity.Role;

/**
 * Keeps a host's or relay's certificate fresh: says when to ask and with what, and takes an answer only if it is for the same
 * key and name, from the site, and newer than what is held. What carries request and answer is believed nothing. The key
 * stays. From any thread; {@link #get} has the newest credential for the next handshake.
 */
public final class Renewal implements Supplier<Credential> {
    private final Name name;
    private final Role role;
    private final SigningKey key;
    private final Anchors site;
    private final Keeper keeper;
    private final RandomGenerator random;
    private final RenewalTimes times;
    private volatile Credential newest;

    /** Where a new certificate is kept before it is used. */
    @FunctionalInterface
    public interface Keeper {
        void keep(X509Certificate certificate) throws IOException;
    }

    /**
     * @param own one certificate of the site, and its key
     * @param site with the site's keys, all others are ignored
     * @throws IOException if the certificate is none of a host or relay
     */
    public Renewal(Credential own, Anchors site, Keeper keeper, RandomGenerator random) throws IOException {
        this.name = Chain.of(own.chain()).claimed();
        this.role = Role.of(name.role()).orElseThrow();
        X509Certificate leaf = own.chain().get(0);
        if (!role.isEnrolled() || own.chain().size() != 1) {
            throw new MalformedException("certificate of " + name + ": want one of a host or relay, have "
                    + own.chain().size() + " of another; name the one that the site issued");
        }
        this.key = SigningKey.of(new KeyPair(leaf.getPublicKey(), own.key()));
        this.site = site;
        this.keeper = keeper;
        this.random = random;
        this.newest = own;
        this.times = new RenewalTimes(from(leaf), until(leaf), random.nextDouble());
    }

    public Name name() {
        return name;
    }

    @Override
    public Credential get() {
        return newest;
    }

    /** When {@link #ask} has something to send. */
    public synchronized Instant next() {
        return times.next();
    }

    /** What to send to the desk, if it is time. */
    public synchronized Optional<ByteString> ask(Instant now) {
        if (now.isBefore(times.next())) {
            return Optional.empty();
        }
        times.onAsked(now);
        try {
            return Optional.of(ByteString.copyFrom(RenewalRequest.make(name, key)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a key that makes handshakes signs", e);
        }
    }

    /**
     * Takes what came back, whether it was asked for or not.
     *
     * @return until when the new certificate holds
     * @throws IOException if there is none, or none to be used, or it cannot be kept; what was held stays
     */
    public synchronized Instant answered(RenewalOutcome outcome, Instant now) throws IOException {
        try {
            if (!outcome.isGranted()) {
                throw new IOException("renewal of " + name + ": refused (" + outcome.refused() + ")");
            }
            X509Certificate leaf = check(outcome.certificate().toByteArray(), now);
            keeper.keep(leaf);
            newest = new Credential(newest.key(), List.of(leaf));
            times.onRenewed(from(leaf), until(leaf), random.nextDouble());
            return until(leaf);
        } catch (IOException e) {
            times.onRefused(now, random.nextDouble());
            throw e;
        }
    }

    private X509Certificate check(byte[] der, Instant now) throws IOException {
        Identity fresh = Chain.parse(List.of(der)).verifyUnlisted(Set.of(role), site, now);
        if (!fresh.name().equals(name)) {
            throw unwanted("the name " + name, fresh.name().toString());
        }
        if (!fresh.key().equals(key.verificationKey())) {
            throw unwanted("the key " + key.verificationKey(), fresh.key().toString());
        }
        Instant held = until(newest.chain().get(0));
        if (!fresh.until().isAfter(held)) {
            throw unwanted("an end after " + held, fresh.until().toString());
        }
        return PemCredential.certificate(der);
    }

    private MalformedException unwanted(String want, String have) {
        return new MalformedException("renewal of " + name + ": want " + want + ", have " + have);
    }

    private static Instant from(X509Certificate certificate) {
        return certificate.getNotBefore().toInstant();
    }

    private static Instant until(X509Certificate certificate) {
        return certificate.getNotAfter().toInstant();
    }
}
