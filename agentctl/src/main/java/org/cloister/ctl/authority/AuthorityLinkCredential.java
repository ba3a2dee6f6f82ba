package org.cloister.ctl.authority;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Supplier;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.transport.tls.PemCredentialFile;
import org.cloister.transport.tls.TlsCredential;
import org.jspecify.annotations.Nullable;

/**
 * Credential of the site's registration authority on its links. The CA issues it to itself, with a new key that exists
 * in memory only, whenever half of the previous one's lifetime is over.
 */
public final class AuthorityLinkCredential implements Supplier<TlsCredential> {
    /** Name of the site's only registration authority on links. */
    public static final CertificateName NAME =
            new CertificateName("ca", CertificateRole.DESK.toString(), CertificateName.SITE);

    private final CertificateAuthority site;
    private final InstantSource clock;
    private @Nullable TlsCredential newest;
    private Instant good = Instant.MIN;

    public AuthorityLinkCredential(CertificateAuthority site, InstantSource clock) {
        this.site = site;
        this.clock = clock;
    }

    /**
     * Returns the newest credential. If a new one is due and cannot be issued, it returns the previous one, which is
     * still valid for some time.
     *
     * @throws UncheckedIOException if not even the first one can be issued: the CA expires within a day, or its key
     *     cannot be used
     */
    @Override
    public synchronized TlsCredential get() {
        Instant now = clock.instant();
        TlsCredential held = newest;
        if (held != null && now.isBefore(good)) {
            return held;
        }
        try {
            TlsCredential fresh = make(now);
            newest = fresh;
            good = now.plus(CertificateAuthority.LEAF.dividedBy(2));
            return fresh;
        } catch (IOException e) {
            if (held != null) {
                return held;
            }
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    private TlsCredential make(Instant now) throws IOException {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(SignatureCurve.P256.standardName()));
            KeyPair pair = generator.generateKeyPair();
            SubjectPublicKey key = SubjectPublicKey.of(VerificationKey.of(pair.getPublic()));
            byte[] der = site.issue(NAME, key, now, CertificateAuthority.LEAF);
            return new TlsCredential(pair.getPrivate(), List.of(PemCredentialFile.certificate(der)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no " + SignatureCurve.P256.standardName(), e);
        }
    }
}
