package org.cloister.ctl.project;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRequest;
import org.cloister.protocol.identity.CertificateRole;

/**
 * Person's request to an owner: a PKCS#10 request (docs/protocol.md, section 6) for each role, in one PEM file, all of
 * one person, key and project. Each instance was signed by that key.
 */
record PersonCertificateRequest(String id, String project, VerificationKey key, Set<CertificateRole> roles) {
    /** The roles opener, member and exporter. */
    private static final int MAX_ROLES = 3;

    PersonCertificateRequest {
        roles = Set.copyOf(roles);
    }

    /** Returns the file's text. */
    static byte[] write(String id, String project, Collection<CertificateRole> roles, SigningKey key)
            throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        for (CertificateRole role : EnumSet.copyOf(roles)) {
            requireGiven(role);
            byte[] der = CertificateRequest.make(new CertificateName(id, role.toString(), project), key)
                    .bytes();
            text.writeBytes(Pem.write(Pem.CERTIFICATE_REQUEST, der));
        }
        return text.toByteArray();
    }

    static PersonCertificateRequest read(Path file) throws IOException {
        try {
            PersonCertificateRequest all = null;
            for (byte[] der : Pem.readAll(file, Pem.CERTIFICATE_REQUEST, MAX_ROLES)) {
                PersonCertificateRequest one = of(CertificateRequest.parse(der));
                all = all == null ? one : all.and(one);
            }
            if (all == null) {
                throw new IllegalStateException("readAll lets no empty file through");
            }
            return all;
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    /**
     * Checks the request against the owner's command.
     *
     * @throws MalformedException if it is for another project, or requests other roles than those given
     */
    void requireFor(String expectedProject, Set<CertificateRole> permitted) throws MalformedException {
        if (!project.equals(expectedProject)) {
            throw new MalformedException(
                    "request of " + id + ": want one for project " + expectedProject + ", have " + project);
        }
        if (!roles.equals(permitted)) {
            throw new MalformedException("request of " + id + ": it asks for " + EnumSet.copyOf(roles)
                    + ", --role gives " + EnumSet.copyOf(permitted) + "; agree with the person on the roles");
        }
    }

    private static PersonCertificateRequest of(CertificateRequest request) throws MalformedException {
        CertificateName name = request.name();
        CertificateRole role = CertificateRole.of(name.role()).orElseThrow();
        requireGiven(role);
        return new PersonCertificateRequest(name.id(), name.project(), request.key(), Set.of(role));
    }

    private PersonCertificateRequest and(PersonCertificateRequest more) throws MalformedException {
        if (!id.equals(more.id) || !project.equals(more.project) || !key.equals(more.key)) {
            throw new MalformedException("want requests of one person, project and key, have " + id + " with " + key
                    + " and " + more.id + " with " + more.key);
        }
        Set<CertificateRole> both = EnumSet.copyOf(roles);
        if (!both.addAll(more.roles)) {
            throw new MalformedException("want each role once, have " + more.roles + " twice");
        }
        return new PersonCertificateRequest(id, project, key, both);
    }

    private static void requireGiven(CertificateRole role) throws MalformedException {
        if (!role.isGiven()) {
            throw new MalformedException("want the role opener, member or exporter, have " + role);
        }
    }
}
