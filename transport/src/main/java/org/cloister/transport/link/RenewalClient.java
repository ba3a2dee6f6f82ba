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
 * Keeps a host's or relay's certificate fresh: says when to ask and with what, and takes an answer only if it is for the same
 * key and name, from the site, and newer than what is held. What carries request and answer is believed nothing. The key
 * stays. From any thread; {@link #get} has the newest credential for the next handshake.
 */
public final class RenewalClient implements Supplier<TlsCredential> {
    private final CertificateName name;
    private final CertificateRole role;
    private final SigningKey key;
    private final TrustAnchors site;
    private final CertificateStore keeper;
    private final RandomGenerator random;
    private final RenewalSchedule times;
    private volatile TlsCredential newest;

    /** Where a new certificate is kept before it is used. */
    @FunctionalInterface
    public interface CertificateStore {
        void store(X509Certificate certificate) throws IOException;
    }

    /**
     * @param own one certificate of the site, and its key
     * @param site with the site's keys, all others are ignored
     * @throws IOException if the certificate is none of a host or relay
     */
    public RenewalClient(TlsCredential own, TrustAnchors site, CertificateStore keeper, RandomGenerator random)
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
        this.keeper = keeper;
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

    /** When {@link #nextRequest} has something to send. */
    public synchronized Instant nextRequestTime() {
        return times.next();
    }

    /** What to send to the desk, if it is time. */
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
     * Takes what came back, whether it was asked for or not.
     *
     * @return until when the new certificate holds
     * @throws IOException if there is none, or none to be used, or it cannot be kept; what was held stays
     */
    public synchronized Instant acceptResult(RenewalResult outcome, Instant now) throws IOException {
        try {
            if (!outcome.isGranted()) {
                throw new IOException("renewal of " + name + ": refused (" + outcome.refused() + ")");
            }
            X509Certificate leaf = check(outcome.certificate().toByteArray(), now);
            keeper.store(leaf);
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
