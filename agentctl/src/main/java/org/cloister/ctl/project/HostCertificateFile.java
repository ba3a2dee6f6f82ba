package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.transport.tls.PemCredentialFile;

/** Reads the name and the key of a host from its certificate. */
final class HostCertificateFile {
    /**
     * Limit of a certificate's age. It may have expired, for it is valid for a day only and owners take their time, and
     * the renewed ones have the same key: a VM is appraised by the host's certificate of its own day.
     */
    private static final Duration MAX_AGE = Duration.ofDays(31);

    private HostCertificateFile() {}

    /**
     * Verifies a host's certificate as it was when it was issued.
     *
     * @throws IOException if the site did not issue it, it is no host's, or it is too old
     */
    static AcceptedHost read(Path file, Collection<VerificationKey> site, Instant now) throws IOException {
        try {
            CertificateChain chain = CertificateChain.of(PemCredentialFile.certificates(file));
            CertifiedIdentity host = chain.verifyUnlisted(
                    Set.of(CertificateRole.HOST), TrustAnchors.none().withSite(site), chain.from());
            if (chain.from().isBefore(now.minus(MAX_AGE))) {
                throw new MalformedException("want a certificate of the last " + MAX_AGE.toDays()
                        + " days, have one of " + chain.from() + "; ask the site for the host's newest one");
            }
            return new AcceptedHost(host.name().id(), host.key());
        } catch (IdentityRefusedException | MalformedException | IllegalArgumentException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }
}
