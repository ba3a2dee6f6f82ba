package org.cloister.ctl.site;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.file.ExclusiveLock;
import org.cloister.ctl.authority.EnrolmentFileStore;
import org.cloister.ctl.authority.RegistrationAuthority;
import org.cloister.ctl.key.KeyLocation;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.SubjectPublicKey;

/** Folder of the site CA, on a machine that is not a relay; one process at a time holds its lock. */
final class SiteCaFolder implements AutoCloseable {
    private static final Duration LOCK_WAIT = Duration.ofSeconds(5);
    private static final Duration LOCK_POLL = Duration.ofMillis(50);
    private static final String KEY = "key.json";
    private static final String AUTHORITY = "authority.pem";
    private static final String LIST = "revocations.crl";
    private static final String ENROLMENTS = "enrolments";

    private final Path folder;
    private final ExclusiveLock lock;
    private final SigningKey key;
    private final CertificateAuthority authority;

    private SiteCaFolder(Path folder, ExclusiveLock lock, SigningKey key, CertificateAuthority authority) {
        this.folder = folder;
        this.lock = lock;
        this.key = key;
        this.authority = authority;
    }

    /** Creates a CA. Its key is created in the folder unless a token has it. */
    static SiteCaFolder create(Path folder, SigningKeyOptions keys, Duration lifetime, Instant now) throws IOException {
        createFolder(folder);
        ExclusiveLock lock = lock(folder);
        try {
            if (Files.exists(folder.resolve(AUTHORITY))) {
                throw new IOException(
                        folder.resolve(AUTHORITY) + ": want a folder without a CA, have one; name another");
            }
            SigningKey key = keys.isOnToken() ? keys.open() : keys.create(folder.resolve(KEY), SignatureCurve.P256);
            CertificateAuthority authority = CertificateAuthority.ofSite(
                    SubjectPublicKey.of(key.verificationKey()), key::sign, now, lifetime, new SecureRandom());
            Files.createDirectories(folder.resolve(ENROLMENTS));
            AtomicFile.create(folder.resolve(AUTHORITY), Pem.write(Pem.CERTIFICATE, authority.certificate()));
            return new SiteCaFolder(folder, lock, key, authority);
        } catch (IOException e) {
            lock.close();
            throw e;
        }
    }

    /** Creates the folder for its owner alone. Folders above it, which other state may share, can be read by all. */
    private static void createFolder(Path folder) throws IOException {
        Path parent = folder.toAbsolutePath().getParent();
        if (parent != null) {
            Files.createDirectories(
                    parent, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        }
        Files.createDirectories(
                folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    static SiteCaFolder open(Path folder, SigningKeyOptions keys) throws IOException {
        byte[] certificate = certificate(folder);
        // Opened before the lock is acquired, so that no other process waits while a person types.
        return open(folder, certificate, keys.open(() -> keyFile(folder)));
    }

    /** Opens a CA with its key, which is open already. */
    static SiteCaFolder open(Path folder, SigningKey key) throws IOException {
        return open(folder, certificate(folder), key);
    }

    /** Returns the location of the CA's key if no token has it. */
    static KeyLocation.File keyFile(Path folder) {
        return new KeyLocation.File(folder.resolve(KEY));
    }

    private static byte[] certificate(Path folder) throws IOException {
        try {
            return Pem.read(folder.resolve(AUTHORITY), Pem.CERTIFICATE);
        } catch (NoSuchFileException e) {
            throw new IOException(
                    folder + ": there is no site's CA, for it has no " + AUTHORITY
                            + "; name the CA's folder with --site, or make one with agentctl site init",
                    e);
        }
    }

    private static SiteCaFolder open(Path folder, byte[] certificate, SigningKey key) throws IOException {
        CertificateAuthority authority = CertificateAuthority.load(certificate, key::sign, new SecureRandom());
        if (!authority.key().equals(key.verificationKey())) {
            throw new IOException("site CA in " + folder + ": want the key " + authority.key() + ", have "
                    + key.verificationKey() + "; name the right key");
        }
        return new SiteCaFolder(folder, lock(folder), key, authority);
    }

    /** Opens the same folder again, after this one was closed. */
    SiteCaFolder reopen() throws IOException {
        return new SiteCaFolder(folder, lock(folder), key, authority);
    }

    CertificateAuthority authority() {
        return authority;
    }

    SigningKey key() {
        return key;
    }

    RegistrationAuthority registrationAuthority() {
        return new RegistrationAuthority(authority, new EnrolmentFileStore(folder.resolve(ENROLMENTS)));
    }

    /** Signs the next list and replaces the previous one. */
    RevocationList signRevocationList(Instant now) throws IOException {
        BigInteger number = newestRevocationList()
                .map(before -> before.number().add(BigInteger.ONE))
                .orElse(BigInteger.ONE);
        byte[] der = registrationAuthority().list(number, now, CertificateAuthority.LEAF);
        AtomicFile.replace(revocationListFile(), der);
        return parseRevocationList(der);
    }

    /** Returns whether the newest list lacks a revocation, because a list could not be signed at that time. */
    boolean hasUnlistedRevocations(Instant now) throws IOException {
        Set<BigInteger> listed =
                newestRevocationList().map(RevocationList::serials).orElse(Set.of());
        return !listed.containsAll(registrationAuthority().withdrawn(now));
    }

    /**
     * Returns the list that was signed last. It may be called without the lock, because the file is replaced as a
     * whole.
     */
    Optional<RevocationList> newestRevocationList() throws IOException {
        return AtomicFile.exists(revocationListFile())
                ? Optional.of(parseRevocationList(Pem.readBounded(revocationListFile(), RevocationList.MAX_BYTES)))
                : Optional.empty();
    }

    RevocationList parseRevocationList(byte[] der) throws IOException {
        return RevocationList.read(der, List.of(key.verificationKey()));
    }

    Path revocationListFile() {
        return folder.resolve(LIST);
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }

    /**
     * Acquires the lock: two processes at one time could both find a token unused. The registration authority holds it
     * only for moments, so this waits for up to {@link #LOCK_WAIT}.
     */
    private static ExclusiveLock lock(Path folder) throws IOException {
        long endNs = System.nanoTime() + LOCK_WAIT.toNanos();
        while (true) {
            Optional<ExclusiveLock> lock = ExclusiveLock.tryAcquire(folder.resolve("lock"));
            if (lock.isPresent()) {
                return lock.get();
            }
            if (System.nanoTime() - endNs >= 0) {
                throw new IOException(folder + ": another agentctl works in it; wait until it has ended");
            }
            LockSupport.parkNanos(LOCK_POLL.toNanos());
        }
    }
}
