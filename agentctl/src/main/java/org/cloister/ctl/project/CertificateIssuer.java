package org.cloister.ctl.project;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectOwners;
import org.jspecify.annotations.Nullable;

/**
 * Person who issues certificates: an owner with its key alone, any other person with a certificate from an owner.
 *
 * @param id the person's id
 * @param roles the person's roles, without device
 * @param above the authorities above the issued certificates, in DER, without the self-signed one
 */
public record CertificateIssuer(
        String id, Set<CertificateRole> roles, CertificateAuthority authority, List<byte[]> above) {
    public CertificateIssuer {
        roles = Set.copyOf(roles);
        above = List.copyOf(above);
    }

    /**
     * Returns the person that a key and a certificate identify.
     *
     * @param certificate the person's certificate from an owner; null for an owner
     * @param key the person's opened key
     */
    public static CertificateIssuer of(ProjectHistory project, @Nullable Path certificate, SigningKey key)
            throws IOException {
        if (certificate != null) {
            return person(project, certificate, key);
        }
        CertificateAuthority authority = ProjectDocumentFiles.authority(project, key);
        ProjectOwners.Owner owner = project.owners().owners().stream()
                .filter(each -> each.key().equals(key.verificationKey()))
                .findFirst()
                .orElseThrow();
        return new CertificateIssuer(owner.id(), Set.of(CertificateRole.OWNER), authority, List.of());
    }

    private static CertificateIssuer person(ProjectHistory project, Path file, SigningKey key) throws IOException {
        byte[] der = Pem.read(file, Pem.CERTIFICATE);
        requireOwners(project, file, der);
        CertificateAuthority authority = CertificateAuthority.load(der, key::sign, new SecureRandom());
        if (!authority.key().equals(key.verificationKey())) {
            throw new MalformedException(file + ": want a certificate of the key " + key.verificationKey() + ", have "
                    + authority.key() + "; name the key that was certified");
        }
        String id = "";
        Set<CertificateRole> roles = EnumSet.noneOf(CertificateRole.class);
        for (String permitted : authority.permitted()) {
            // An opener's certificate also permits the roles of VMs, which are not whole names.
            if (!permitted.equals(CertificateName.ofRole(CertificateRole.CONTROLLER.toString(), project.id()))
                    && !permitted.equals(CertificateName.ofRole(CertificateRole.WORKER.toString(), project.id()))) {
                CertificateName name = CertificateName.parse(permitted);
                id = name.id();
                CertificateRole.of(name.role()).filter(CertificateRole::isGiven).ifPresent(roles::add);
            }
        }
        if (roles.isEmpty()) {
            throw new MalformedException(file + ": want a person's certificate, have one for "
                    + String.join(" and ", authority.permitted()));
        }
        return new CertificateIssuer(id, roles, authority, List.of(der));
    }

    /**
     * Returns the lifetime of a new certificate in whole seconds: at most {@code longest}, and not beyond the issuer's
     * own expiry.
     */
    public Duration limitLifetime(Duration longest, Instant now) throws MalformedException {
        Duration left = Duration.between(now, authority.notAfter());
        if (left.compareTo(Duration.ofMinutes(1)) < 0) {
            throw new MalformedException("certificate of " + id + ": want one that is valid, have one until "
                    + authority.notAfter() + "; ask an owner for the next one");
        }
        return left.compareTo(longest) < 0 ? Duration.ofSeconds(left.toSeconds()) : longest;
    }

    private static void requireOwners(ProjectHistory project, Path file, byte[] der) throws IOException {
        try {
            X509Certificate certificate = (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
            for (VerificationKey owner : project.ownerKeys()) {
                if (isSignedBy(certificate, owner)) {
                    return;
                }
            }
        } catch (GeneralSecurityException e) {
            throw new MalformedException(file + ": want X.509 in PEM, have something else", e);
        }
        throw new MalformedException(file + ": want a certificate by an owner of project " + project.id()
                + ", have another; give the newest documents, or ask an owner for one");
    }

    private static boolean isSignedBy(X509Certificate certificate, VerificationKey owner) {
        try {
            certificate.verify(owner.publicKey());
            return true;
        } catch (GeneralSecurityException e) {
            return false;
        }
    }
}
