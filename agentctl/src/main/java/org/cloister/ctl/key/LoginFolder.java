package org.cloister.ctl.key;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.cloister.base.file.AtomicFile;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.transport.tls.PemCredentialFile;
import org.cloister.transport.tls.TlsCredential;
import org.jspecify.annotations.Nullable;

/**
 * A person's certificates and keys of the day, as agentctl project login writes them: for each role {@code ROLE.pem},
 * the leaf first and then the authorities above it without the self-signed one, and {@code ROLE.key}, its private key
 * in PKCS#8; both in PEM. The folder is in memory (tmpfs), and only its owner can read it.
 */
public final class LoginFolder {
    private static final Set<String> IN_MEMORY = Set.of("tmpfs", "ramfs");
    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rwx------");
    private static final byte[] PROBE = "cloister login".getBytes(StandardCharsets.US_ASCII);

    private final Path folder;

    public LoginFolder(Path folder) {
        this.folder = folder;
    }

    /**
     * Returns the folder that login writes and circuit reads by default.
     *
     * @param runtime value of XDG_RUNTIME_DIR, which systemd sets for each session
     */
    public static LoginFolder defaultFolder(@Nullable String runtime, String project) throws IOException {
        if (runtime == null || !runtime.startsWith("/")) {
            throw new IOException("login folder: XDG_RUNTIME_DIR names no folder; name one in memory with --folder, "
                    + "such as /dev/shm/" + System.getProperty("user.name"));
        }
        return new LoginFolder(Path.of(runtime, "cloister", project));
    }

    public Path path() {
        return folder;
    }

    /** Creates the folder, or checks that it is private and in memory. */
    public void prepare() throws IOException {
        Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(PRIVATE));
        PosixFileAttributes attributes = Files.readAttributes(folder, PosixFileAttributes.class);
        String owner = attributes.owner().getName();
        String user = System.getProperty("user.name");
        if (!PRIVATE.containsAll(attributes.permissions()) || !owner.equals(user)) {
            throw new IOException(folder + ": want a folder that only " + user + " can use, have one of " + owner
                    + " with " + PosixFilePermissions.toString(attributes.permissions())
                    + "; chmod 700 it, or name another");
        }
        String kind = Files.getFileStore(folder).type();
        if (!IN_MEMORY.contains(kind)) {
            throw new IOException(folder + ": want a folder in memory (tmpfs), have one on " + kind
                    + "; name another with --folder, for it holds private keys");
        }
    }

    /**
     * Writes a role's key and certificates.
     *
     * @param chain in DER, the leaf first, without the self-signed one
     */
    public void write(CertificateRole role, PrivateKey key, List<byte[]> chain) throws IOException {
        ByteArrayOutputStream certificates = new ByteArrayOutputStream();
        chain.forEach(each -> certificates.writeBytes(Pem.write(Pem.CERTIFICATE, each)));
        byte[] pkcs8 = key.getEncoded();
        byte[] pem = Pem.write(Pem.PRIVATE_KEY, pkcs8);
        try {
            AtomicFile.replace(key(role), pem);
        } finally {
            Arrays.fill(pkcs8, (byte) 0);
            Arrays.fill(pem, (byte) 0);
        }
        AtomicFile.replace(certificate(role), certificates.toByteArray());
    }

    /**
     * Reads a role's credential and checks that the key matches the certificate.
     *
     * @throws IOException if there is no credential, or a login was interrupted
     */
    public TlsCredential read(CertificateRole role) throws IOException {
        TlsCredential read = PemCredentialFile.read(certificate(role), key(role));
        try {
            SigningKey key = SigningKey.of(new KeyPair(read.chain().get(0).getPublicKey(), read.key()));
            if (VerificationKey.of(read.chain().get(0).getPublicKey()).verifies(PROBE, key.sign(PROBE))) {
                return read;
            }
        } catch (GeneralSecurityException e) {
            throw new IOException(key(role) + ": cannot sign: " + e.getMessage(), e);
        }
        throw new IOException(
                key(role) + ": want the key of " + certificate(role) + ", have another; agentctl project login");
    }

    /** Returns whether the device's certificate is there and valid; each login writes all roles' with one lifetime. */
    public boolean isCurrent(Instant now) throws IOException {
        Path file = certificate(CertificateRole.DEVICE);
        return AtomicFile.exists(file)
                && PemCredentialFile.certificates(file).stream()
                        .allMatch(each -> now.isBefore(each.getNotAfter().toInstant()));
    }

    private Path certificate(CertificateRole role) {
        return folder.resolve(role + ".pem");
    }

    /** Returns the key file, which ssh accepts as an identity too. */
    public Path key(CertificateRole role) {
        return folder.resolve(role + ".key");
    }
}
