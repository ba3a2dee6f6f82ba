package org.cloister.transport.link;

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
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.RenewalRequest;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.link.RenewalResult;
import org.cloister.transport.tls.PemCredentialFile;
import org.cloister.transport.tls.TlsCredential;

/**
 * Renews a host's or relay's certificate: decides when to send a request, creates it, and accepts a result only if it
 * is for the same key and name, from the site, and newer than the current certificate. The carrier of request and
 * result is not trusted. The key does not change. Thread-safe; {@link #get} returns the newest credential for the next
 * handshake.
 */
public final class RenewalClient implements Supplier<TlsCredential> {
    private final CertificateName name;
    private final CertificateRole role;
    private final SigningKey key;
    private final TrustAnchors site;
    private final CertificateStore store;
    private final RandomGenerator random;
    private final RenewalSchedule times;
    private volatile TlsCredential newest;

    /** Stores a new certificate before it is used. */
    @FunctionalInterface
    public interface CertificateStore {
        void store(X509Certificate certificate) throws IOException;
    }

    /**
     * @param own a certificate of the site, and its key
     * @param site anchors, of which only the site's keys are used
     * @throws IOException if the certificate is not a host's or relay's
     */
    public RenewalClient(TlsCredential own, TrustAnchors site, CertificateStore store, RandomGenerator random)
            throws IOException {
        this.name = CertificateChain.of(own.chain()).claimed();
        this.role = CertificateRole.of(name.role()).orElseThrow();
        X509Certificate leaf = own.chain().get(0);
        if (!role.isEnrolled() || own.chain().size() != 1) {
            throw new MalformedException("certificate of " + name + ": want one of a host or relay, have "
                    + own.chain().size() + " of another; name the one that the site issued");
        }
        this.key = SigningKey.of(new KeyPair(leaf.getPublicKey(), own.key()));
        this.site = site;
        this.store = store;
        this.random = random;
        this.newest = own;
        this.times = new RenewalSchedule(from(leaf), until(leaf), random.nextDouble());
    }

    public CertificateName name() {
        return name;
    }

    @Override
    public TlsCredential get() {
        return newest;
    }

    /** Returns whether the newest certificate has expired, so that a relay permits its renewal alone. */
    public boolean hasExpired(Instant now) {
        return now.isAfter(until(newest.chain().get(0)));
    }

    /** Returns the time at which {@link #nextRequest} has a request. */
    public synchronized Instant nextRequestTime() {
        return times.next();
    }

    /** Returns the request for the registration authority, if it is time. */
    public synchronized Optional<ByteString> nextRequest(Instant now) {
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
     * Processes a result, whether it was requested or not.
     *
     * @return the expiry of the new certificate
     * @throws IOException if there is no certificate, it is unusable, or it cannot be stored; the current one stays in
     *     use
     */
    public synchronized Instant acceptResult(RenewalResult outcome, Instant now) throws IOException {
        try {
            if (!outcome.isGranted()) {
                throw new IOException("renewal of " + name + ": refused (" + outcome.refused() + ")");
            }
            X509Certificate leaf = check(outcome.certificate().toByteArray(), now);
            store.store(leaf);
            newest = new TlsCredential(newest.key(), List.of(leaf));
            times.onRenewed(from(leaf), until(leaf), random.nextDouble());
            return until(leaf);
        } catch (IOException e) {
            times.onRefused(now, random.nextDouble());
            throw e;
        }
    }

    private X509Certificate check(byte[] der, Instant now) throws IOException {
        CertifiedIdentity fresh = CertificateChain.parse(List.of(der)).verifyUnlisted(Set.of(role), site, now);
        if (!fresh.name().equals(name)) {
            throw unwanted("the name " + name, fresh.name().toString());
        }
        if (!fresh.key().equals(key.verificationKey())) {
            throw unwanted("the key " + key.verificationKey(), fresh.key().toString());
        }
        Instant held = until(newest.chain().get(0));
        if (!fresh.notAfter().isAfter(held)) {
            throw unwanted("an end after " + held, fresh.notAfter().toString());
        }
        return PemCredentialFile.certificate(der);
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
