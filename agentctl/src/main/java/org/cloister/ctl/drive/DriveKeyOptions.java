package org.cloister.ctl.drive;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.key.Pem;
import org.cloister.luks.key.Argon2;
import org.cloister.luks.key.DriveEnvelope;
import org.cloister.luks.key.KeyException;
import org.cloister.luks.key.RecoveryKey;
import org.cloister.luks.key.SealingKey;
import org.cloister.luks.key.SealingKeyFile;
import org.cloister.luks.key.SealingPublicKey;
import org.cloister.luks.secret.SecretMemory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that select a drive's key, the key that opens it, and the recipients to whom a new one is sealed. */
public final class DriveKeyOptions {
    static final String SECRET_FD = "--drive-secret-fd";
    private static final int MAX_FILE = 64 * 1024;
    /**
     * Number of letters of a project's id in the label: the whole id is nearly as long as a name in an envelope may be.
     */
    private static final int PROJECT_LETTERS = 24;

    @Option(
            names = "--drive-key",
            paramLabel = "FILE",
            description =
                    "File of the opener's private drive key, written by agentctl project drive-key; default: that "
                            + "of the drive's first opening on this device. With --create a missing file is created, "
                            + "by default drive.key in the folder of the profile.")
    private @Nullable Path key;

    @Option(
            names = "--recovery-key",
            description = "Open the drive with the text of the recovery key, instead of --drive-key.")
    private boolean recovery;

    @Option(
            names = SECRET_FD,
            paramLabel = "NUMBER",
            description =
                    "Read the passphrase of --drive-key, or the recovery key, from this file descriptor; asked at "
                            + "the terminal by default.")
    private @Nullable Integer descriptor;

    @Option(
            names = "--envelope",
            paramLabel = "FILE",
            description = "File of the drive key, sealed to the drive's openers; default: "
                    + "drives/DRIVE/envelope in the folder of --state.")
    private @Nullable Path envelope;

    @Option(
            names = "--create",
            description = "Create a new drive: makes the drive key, unless the envelope exists, and has the "
                    + "VM format the drive. The VM refuses a drive that contains anything.")
    private boolean create;

    @Option(
            names = "--recipient",
            paramLabel = "NAME=FILE",
            description = "With --create: another opener and the file of that opener's public drive key.")
    private Map<String, Path> recipients = new LinkedHashMap<>();

    @Option(
            names = "--recovery",
            paramLabel = "FILE",
            description = "With --create: file of the recovery key's public half.")
    private @Nullable Path safe;

    @Option(
            names = "--recovery-fd",
            paramLabel = "NUMBER",
            description = "With --create: make a recovery key, and write its text to this file descriptor, unless the "
                    + "envelope exists. Print it and keep it in a safe.")
    private @Nullable Integer printer;

    public boolean isNewDrive() {
        return create;
    }

    /**
     * Returns the opener's key file: that of the option, or the usual one unless the recovery key is to open the drive.
     */
    public Optional<Path> keyFile(Optional<Path> usual) {
        if (key != null) {
            return Optional.of(key.toAbsolutePath().normalize());
        }
        return recovery ? Optional.empty() : usual;
    }

    /**
     * Reads the secret, and opens or creates the drive's key, so that an error appears before a VM waits for the key.
     *
     * @param person the opener's id
     * @param folder the drive's folder on this device
     * @param keyFile the opener's key file; empty for the recovery key
     */
    public DriveKeySealer openSealer(String project, String drive, String person, Path folder, Optional<Path> keyFile)
            throws IOException {
        Path file = envelope == null ? folder.resolve("envelope") : envelope;
        requireOptions(file, keyFile);
        DriveKeyMemory vault = DriveKeyMemory.open();
        String label = project.substring(0, PROJECT_LETTERS) + "." + drive;
        SealingKey own = keyFile.isPresent() && create && !AtomicFile.exists(keyFile.get()) && !AtomicFile.exists(file)
                ? newKey(vault, keyFile.get())
                : own(vault, keyFile);
        boolean done = false;
        try {
            if (create) {
                make(vault, label, person, own, file);
            }
            DriveKeySealer lock = new DriveKeySealer(vault, own, read(file, label));
            lock.requireOpens(file);
            done = true;
            return lock;
        } finally {
            if (!done) {
                own.close();
            }
        }
    }

    private void requireOptions(Path file, Optional<Path> keyFile) throws IOException {
        if (keyFile.isPresent() == recovery || (create && recovery)) {
            throw new IOException("drive: want --drive-key" + (create ? "" : ", or --recovery-key instead of it")
                    + "; agentctl project drive-key makes one");
        }
        if (!create && !(recipients.isEmpty() && safe == null && printer == null)) {
            throw new IOException("drive: --recipient, --recovery and --recovery-fd need --create: an existing drive "
                    + "has its envelope");
        }
        if (safe != null && printer != null) {
            throw new IOException("drive: want --recovery or --recovery-fd, have both; a drive has one recovery key");
        }
        if (!create && !Files.exists(file)) {
            throw new IOException(
                    file + ": no envelope of the drive key; get it from another opener of the project, or "
                            + "make a new drive with --create");
        }
    }

    /** Creates the opener's key; it is on disk when this returns. */
    private SealingKey newKey(DriveKeyMemory vault, Path file) throws IOException {
        SealingKey key = vault.hpke().generate();
        boolean done = false;
        try {
            NewDriveKey.write(vault, key, file, descriptor, SECRET_FD);
            done = true;
            return key;
        } finally {
            if (!done) {
                key.close();
            }
        }
    }

    private SealingKey own(DriveKeyMemory vault, Optional<Path> keyFile) throws IOException {
        if (keyFile.isEmpty()) {
            try (SecretMemory text = vault.readSecret(descriptor, "recovery key")) {
                return new RecoveryKey(vault.crypto()).read(text);
            }
        }
        Path file = keyFile.get();
        try (SecretMemory passphrase = vault.readSecret(descriptor, "passphrase of " + file)) {
            return SealingKeyFile.read(Pem.readBounded(file, MAX_FILE))
                    .open(vault.crypto(), Argon2.load(vault.crypto()), passphrase);
        } catch (KeyException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    /**
     * Creates the drive's key, unless its envelope exists. A new key is on disk before a VM receives it, and is never
     * created again.
     */
    private void make(DriveKeyMemory vault, String label, String person, SealingKey own, Path file) throws IOException {
        List<DriveEnvelope.Recipient> all = new ArrayList<>();
        all.add(new DriveEnvelope.Recipient(person, DriveEnvelope.Role.OPENER, own.publicKey()));
        try {
            for (Map.Entry<String, Path> each : recipients.entrySet()) {
                all.add(new DriveEnvelope.Recipient(
                        each.getKey(), DriveEnvelope.Role.OPENER, SealingKeyEncoding.read(each.getValue())));
            }
            if (safe != null) {
                all.add(recovery(SealingKeyEncoding.read(safe)));
            }
            if (Files.exists(file)) {
                List<DriveEnvelope.Recipient> have = read(file, label).recipients();
                if (printer != null) {
                    all.add(printed(file, have));
                }
                requireSame(file, have, all);
                return;
            }
            if (printer != null) {
                // Printed before a drive can depend on it.
                try (SealingKey key = vault.hpke().generate()) {
                    NewDriveKey.print(vault, key, printer);
                    all.add(recovery(key.publicKey()));
                }
            }
            if (all.size() < DriveEnvelope.MIN_RECIPIENTS) {
                throw new IllegalArgumentException("drive: want " + DriveEnvelope.MIN_RECIPIENTS
                        + " or more who can open it, have only this opener; add --recovery-fd, --recovery or "
                        + "--recipient, for a lost key must not mean a lost drive");
            }
            Files.createDirectories(file.toAbsolutePath().getParent());
            try (SecretMemory drive = vault.secrets().random(DriveEnvelope.KEY_LENGTH)) {
                AtomicFile.create(
                        file,
                        DriveEnvelope.seal(vault.hpke(), label, all, drive).json());
            }
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private static DriveEnvelope.Recipient recovery(SealingPublicKey key) {
        return new DriveEnvelope.Recipient("safe", DriveEnvelope.Role.RECOVERY, key);
    }

    /** Returns the recovery key that an earlier attempt printed. */
    private static DriveEnvelope.Recipient printed(Path file, List<DriveEnvelope.Recipient> have) throws IOException {
        return have.stream()
                .filter(each -> each.role() == DriveEnvelope.Role.RECOVERY)
                .findFirst()
                .orElseThrow(() -> new IOException(file + ": want an envelope with a recovery key, have one of an "
                        + "earlier attempt without; omit --recovery-fd, or delete the file if no drive has this key"));
    }

    private static void requireSame(Path file, List<DriveEnvelope.Recipient> have, List<DriveEnvelope.Recipient> want)
            throws IOException {
        if (!new HashSet<>(have).equals(new HashSet<>(want))) {
            throw new IOException(file + ": want an envelope for " + names(want) + ", have one for " + names(have)
                    + " of an earlier attempt; give the same recipients, or delete the file if no drive "
                    + "has this key");
        }
    }

    private static List<String> names(List<DriveEnvelope.Recipient> recipients) {
        return recipients.stream().map(DriveEnvelope.Recipient::name).toList();
    }

    private static DriveEnvelope read(Path file, String label) throws IOException {
        try {
            DriveEnvelope read = DriveEnvelope.read(Pem.readBounded(file, MAX_FILE));
            if (!read.drive().equals(label)) {
                throw new IOException(
                        file + ": want the envelope of drive " + label + ", have that of " + read.drive());
            }
            return read;
        } catch (KeyException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }
}
