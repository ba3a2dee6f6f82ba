package org.cloister.ctl.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.file.WorldReadableFile;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.transport.tls.PemCredentialFile;

/**
 * Files of a host or relay while it joins its site. Each is complete or as before, and each step can be repeated.
 *
 * @param owner user of the daemon, who owns key and certificate
 * @param name of the machine, by its token
 * @param site key of the site's authority, by the token
 */
record JoinedMachine(DaemonCredentialFiles files, UserPrincipal owner, CertificateName name, VerificationKey site) {
    /** Two while one authority replaces the other. */
    private static final int MAX_SITE_CERTIFICATES = 2;

    private static final int MAX_KEY_FILE = 64 * 1024;

    /**
     * Puts the site's certificate in its place, unless it is there.
     *
     * @param force also where the machine trusts another site
     */
    void putSiteCertificate(byte[] der, boolean force) throws IOException {
        if (AtomicFile.exists(files.site())) {
            for (byte[] each : Pem.readAll(files.site(), Pem.CERTIFICATE, MAX_SITE_CERTIFICATES)) {
                if (Arrays.equals(each, der)) {
                    return;
                }
            }
            if (!force) {
                throw new IOException(files.site() + ": want the certificate of the token's site, have another site's; "
                        + "move it away if this machine changes its site, or use --force");
            }
        }
        WorldReadableFile.replace(files.site(), Pem.write(Pem.CERTIFICATE, der));
    }

    /**
     * Puts the site's revocation list beside the site's certificate, where a relay finds it at its start.
     *
     * @return the list's file; empty if the list has expired, so that the relay needs another
     */
    Optional<Path> putRevocationList(byte[] der, Instant now) throws IOException {
        if (!now.isBefore(RevocationList.read(der, List.of(site)).nextUpdate())) {
            return Optional.empty();
        }
        Path file = files.site().resolveSibling("revocations.crl");
        WorldReadableFile.replace(file, der);
        return Optional.of(file);
    }

    /**
     * Opens the machine's key, and makes it if there is none.
     *
     * @param fresh make a new one if a certificate of the present one is there; a key that waits for its certificate
     *     stays, so that a repeated step does not use the token for a second key
     * @param force also if that certificate is valid
     */
    SigningKey key(boolean fresh, boolean force, Instant now) throws IOException {
        if (!AtomicFile.exists(files.key(), LinkOption.NOFOLLOW_LINKS)) {
            return MachineKeyFile.create(files.key(), owner);
        }
        SigningKey present = MachineKeyFile.open(files.key());
        Optional<X509Certificate> certificate = certificate(present.verificationKey());
        if (fresh && certificate.isPresent()) {
            Instant until = certificate.get().getNotAfter().toInstant();
            if (now.isBefore(until) && !force) {
                throw new IOException(files.key() + ": its certificate is valid until " + until
                        + "; keep the key, or use --force to make another");
            }
            return MachineKeyFile.create(files.key(), owner);
        }
        if (!Files.getOwner(files.key(), LinkOption.NOFOLLOW_LINKS).equals(owner)) {
            byte[] content = AtomicFile.read(files.key(), MAX_KEY_FILE);
            try {
                AtomicFile.replace(files.key(), content, owner);
            } finally {
                Arrays.fill(content, (byte) 0);
            }
        }
        return present;
    }

    /** Returns the certificate in its place, if it is of that key. */
    private Optional<X509Certificate> certificate(VerificationKey key) throws IOException {
        if (!AtomicFile.exists(files.certificate())) {
            return Optional.empty();
        }
        X509Certificate leaf =
                PemCredentialFile.certificates(files.certificate()).get(0);
        boolean same = Arrays.equals(leaf.getPublicKey().getEncoded(), key.encoded());
        return same ? Optional.of(leaf) : Optional.empty();
    }

    /** Returns whether a file has a certificate that is not expired and of that key. */
    static boolean isAnswer(Path file, VerificationKey key, Instant now) throws IOException {
        X509Certificate leaf = PemCredentialFile.certificate(Pem.read(file, Pem.CERTIFICATE));
        return Arrays.equals(leaf.getPublicKey().getEncoded(), key.encoded())
                && now.isBefore(leaf.getNotAfter().toInstant());
    }

    /**
     * Verifies the site's answer and puts it in its place; a certificate that ends later stays.
     *
     * @return the end of the certificate that is now in place
     */
    Instant putCertificate(Path answer, VerificationKey key, Instant now) throws IOException {
        return putCertificate(Pem.read(answer, Pem.CERTIFICATE), answer.toString(), key, now);
    }

    /**
     * Verifies the site's answer and puts it in its place; a certificate that ends later stays.
     *
     * @param der may come from anyone
     * @param answer where it is from, for the message
     * @throws MalformedException if it is not this machine's
     * @throws IdentityRefusedException if it is not of the token's site
     */
    Instant putCertificate(byte[] der, String answer, VerificationKey key, Instant now) throws IOException {
        CertificateRole role = CertificateRole.of(name.role()).orElseThrow();
        CertifiedIdentity identity = CertificateChain.parse(List.of(der))
                .verifyUnlisted(Set.of(role), TrustAnchors.none().withSite(List.of(site)), now);
        if (!identity.name().equals(name)) {
            throw new MalformedException(
                    answer + ": want a certificate of " + name + ", have one of " + identity.name());
        }
        if (!identity.key().equals(key)) {
            throw new MalformedException(answer + ": want a certificate of the key " + key + ", have one of "
                    + identity.key() + "; have the newest request answered");
        }
        Optional<Instant> present =
                certificate(key).map(leaf -> leaf.getNotAfter().toInstant());
        if (present.isPresent() && !present.get().isBefore(identity.notAfter())) {
            return present.get();
        }
        AtomicFile.replace(files.certificate(), Pem.write(Pem.CERTIFICATE, der), owner);
        return identity.notAfter();
    }
}
