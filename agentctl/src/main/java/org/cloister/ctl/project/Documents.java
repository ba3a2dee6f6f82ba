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
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.policy.Policy;

/** A project's documents as files. */
final class Documents {
    /** What owners sign together. */
    static final List<String> TYPES = List.of(ProjectDocument.GENESIS, ProjectDocument.SUCCESSOR, Policy.TYPE);

    /** An owner's authority is believed for its key: the certificate need not outlive what it issues by more than this. */
    private static final Duration AUTHORITY = Duration.ofDays(3660);

    private Documents() {}

    static ProjectHistory history(List<Path> files) throws IOException {
        ProjectHistory history = read(files.get(0), ProjectHistory::begin);
        for (Path file : files.subList(1, files.size())) {
            history = read(file, history::with);
        }
        return history;
    }

    /** What reads a document. */
    interface Reader<T> {
        T read(byte[] document) throws IOException;
    }

    /** With the file's name before what is wrong with it. */
    static <T> T read(Path file, Reader<T> reader) throws IOException {
        byte[] document = Pem.bytes(file, Policy.MAX_BYTES);
        try {
            return reader.read(document);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    static VerificationKey publicKey(Path file) throws IOException {
        byte[] spki = Pem.read(file, Pem.PUBLIC_KEY);
        try {
            return VerificationKey.parse(spki);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    /** @throws IOException if none of the keys signed it */
    static RevocationList list(Path file, Collection<VerificationKey> owners) throws IOException {
        byte[] der = Pem.bytes(file, RevocationList.MAX_BYTES);
        try {
            return RevocationList.read(der, owners);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    static Policy policy(Path file, byte[] payload) throws MalformedException {
        try {
            return Policy.parse(payload);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    /** @throws MalformedException if the key is none of the project's owners' */
    static Authority authority(ProjectHistory project, SigningKey key) throws IOException {
        if (!project.ownerKeys().contains(key.verificationKey())) {
            throw new MalformedException("project " + project.id() + ": want a key of an owner, " + project.ownerKeys()
                    + ", have " + key.verificationKey() + "; name the right key, or give the newest documents");
        }
        return Authority.ofProject(
                project.id(),
                SubjectKey.of(key.verificationKey()),
                key::sign,
                Instant.now(),
                AUTHORITY,
                new SecureRandom());
    }

    static Envelope sign(String type, byte[] payload, SigningKey key) throws IOException {
        try {
            return Envelope.sign(type, payload, key);
        } catch (GeneralSecurityException e) {
            throw new IOException("signature by " + key.verificationKey() + ": " + e.getMessage(), e);
        }
    }

    static Envelope countersign(Envelope envelope, SigningKey key) throws IOException {
        try {
            return envelope.countersign(key);
        } catch (GeneralSecurityException e) {
            throw new IOException("signature by " + key.verificationKey() + ": " + e.getMessage(), e);
        }
    }

    /** Of a certificate that the key issued. */
    static BigInteger serial(Path file, VerificationKey issuer) throws IOException {
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
