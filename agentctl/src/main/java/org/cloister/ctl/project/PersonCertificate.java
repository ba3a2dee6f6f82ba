package org.cloister.ctl.project;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.profile.NamedContents;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;

/**
 * Person's certificate from an owner, which signs the person's certificates of the day. Each instance was signed by an
 * owner of the project.
 *
 * @param id the person's id
 * @param roles the person's roles, without device
 */
record PersonCertificate(String id, Set<CertificateRole> roles, VerificationKey key, Instant notAfter) {
    PersonCertificate {
        roles = Set.copyOf(roles);
    }

    /**
     * Reads a certificate in DER.
     *
     * @throws MalformedException if no owner of the project signed it, or it is not a person's
     */
    static PersonCertificate read(ProjectHistory project, NamedContents file) throws IOException {
        byte[] der = file.bytes().toByteArray();
        requireOwner(project, file.name(), der);
        CertificateAuthority authority = CertificateAuthority.load(der, PersonCertificate::refuse, new SecureRandom());
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
            throw new MalformedException(file.name() + ": want a person's certificate, have one for "
                    + String.join(" and ", authority.permitted()));
        }
        return new PersonCertificate(id, roles, authority.key(), authority.notAfter());
    }

    private static byte[] refuse(byte[] message) throws GeneralSecurityException {
        throw new GeneralSecurityException("this certificate is only read");
    }

    private static void requireOwner(ProjectHistory project, String file, byte[] der) throws IOException {
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
