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

/** The desk's own credential, which it issues to itself: a new key, in memory alone, whenever half of the last one's life is over. */
public final class AuthorityLinkCredential implements Supplier<TlsCredential> {
    /** A site has one desk. */
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
     * The newest; if there is to be another one and none can be made, the last one, which holds for some time yet.
     *
     * @throws UncheckedIOException if not even the first one can be made: the authority ends within a day, or its key cannot be
     *     used
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
