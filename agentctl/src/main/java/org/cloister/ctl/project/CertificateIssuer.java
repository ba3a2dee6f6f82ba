package org.cloister.ctl.project;

import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.profile.NamedContents;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectOwners;

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
     * @param certificate the person's certificate from an owner, in DER; empty for an owner
     * @param key the person's opened key
     */
    public static CertificateIssuer of(ProjectHistory project, Optional<NamedContents> certificate, SigningKey key)
            throws IOException {
        if (certificate.isPresent()) {
            return person(project, certificate.get(), key);
        }
        CertificateAuthority authority = ProjectDocumentFiles.authority(project, key);
        ProjectOwners.Owner owner = project.owners().owners().stream()
                .filter(each -> each.key().equals(key.verificationKey()))
                .findFirst()
                .orElseThrow();
        return new CertificateIssuer(owner.id(), Set.of(CertificateRole.OWNER), authority, List.of());
    }

    private static CertificateIssuer person(ProjectHistory project, NamedContents file, SigningKey key)
            throws IOException {
        PersonCertificate person = PersonCertificate.read(project, file);
        if (!person.key().equals(key.verificationKey())) {
            throw new MalformedException(file.name() + ": want a certificate of the key " + key.verificationKey()
                    + ", have " + person.key() + "; name the key that was certified");
        }
        byte[] der = file.bytes().toByteArray();
        CertificateAuthority authority = CertificateAuthority.load(der, key::sign, new SecureRandom());
        return new CertificateIssuer(person.id(), person.roles(), authority, List.of(der));
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
}
