package org.cloister.ctl.project;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.policy.ProjectPolicy;

/** Reads and signs a project's documents as files. */
final class ProjectDocumentFiles {
    /** Types of documents that several owners sign. */
    static final List<String> TYPES = List.of(ProjectDocument.GENESIS, ProjectDocument.SUCCESSOR, ProjectPolicy.TYPE);

    /**
     * Lifetime of an owner's authority certificate. The authority is trusted for its key, so the certificate only needs
     * to outlive what it issues, and not by more than this.
     */
    private static final Duration AUTHORITY = Duration.ofDays(3660);

    private ProjectDocumentFiles() {}

    static ProjectHistory readHistory(List<Path> files) throws IOException {
        ProjectHistory history = read(files.get(0), ProjectHistory::fromGenesis);
        for (Path file : files.subList(1, files.size())) {
            history = read(file, history::with);
        }
        return history;
    }

    /** Reads a document. */
    interface Reader<T> {
        T read(byte[] document) throws IOException;
    }

    /** Reads a document; an error begins with the file's name. */
    static <T> T read(Path file, Reader<T> reader) throws IOException {
        byte[] document = Pem.readBounded(file, ProjectPolicy.MAX_BYTES);
        try {
            return reader.read(document);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    static VerificationKey readPublicKey(Path file) throws IOException {
        byte[] spki = Pem.read(file, Pem.PUBLIC_KEY);
        try {
            return VerificationKey.parse(spki);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    /**
     * Reads an owner's revocation list.
     *
     * @throws IOException if none of the keys signed it
     */
    static RevocationList readRevocationList(Path file, Collection<VerificationKey> owners) throws IOException {
        byte[] der = Pem.readBounded(file, RevocationList.MAX_BYTES);
        try {
            return RevocationList.read(der, owners);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    static ProjectPolicy parsePolicy(String file, byte[] payload) throws MalformedException {
        try {
            return ProjectPolicy.parse(payload);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    /**
     * Returns an owner's certificate authority.
     *
     * @throws MalformedException if the key is not one of the project's owners'
     */
    static CertificateAuthority authority(ProjectHistory project, SigningKey key) throws IOException {
        return authority(project.id(), project.ownerKeys(), key);
    }

    /**
     * Returns an owner's certificate authority.
     *
     * @throws MalformedException if the key is not one of the owners'
     */
    static CertificateAuthority authority(String project, Collection<VerificationKey> owners, SigningKey key)
            throws IOException {
        if (!owners.contains(key.verificationKey())) {
            throw new MalformedException("project " + project + ": want a key of an owner, " + owners + ", have "
                    + key.verificationKey() + "; name the right key, or give the newest documents");
        }
        return CertificateAuthority.ofProject(
                project,
                SubjectPublicKey.of(key.verificationKey()),
                key::sign,
                Instant.now(),
                AUTHORITY,
                new SecureRandom());
    }

    static DsseEnvelope sign(String type, byte[] payload, SigningKey key) throws IOException {
        try {
            return DsseEnvelope.sign(type, payload, key);
        } catch (GeneralSecurityException e) {
            throw new IOException("signature by " + key.verificationKey() + ": " + e.getMessage(), e);
        }
    }

    static DsseEnvelope countersign(DsseEnvelope envelope, SigningKey key) throws IOException {
        try {
            return envelope.countersign(key);
        } catch (GeneralSecurityException e) {
            throw new IOException("signature by " + key.verificationKey() + ": " + e.getMessage(), e);
        }
    }

    /** Returns the serial number of a certificate that the key issued. */
    static BigInteger readSerial(Path file, VerificationKey issuer) throws IOException {
        byte[] der = Pem.read(file, Pem.CERTIFICATE);
        try {
            X509Certificate certificate = (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
            certificate.verify(issuer.publicKey());
            return certificate.getSerialNumber();
        } catch (GeneralSecurityException e) {
            throw new MalformedException(
                    file + ": want a certificate that " + issuer + " issued, have another: " + e.getMessage(), e);
        }
    }
}
