package org.cloister.ctl.drive;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.luks.key.DriveEnvelope;
import org.cloister.luks.key.KeyException;
import org.cloister.luks.key.SealingKey;
import org.cloister.luks.key.SealingPublicKey;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Seals a drive's key to VMs. It holds the drive's envelope and a private key that opens it; the drive's key itself
 * exists unsealed only during a call.
 */
public final class DriveKeySealer implements AutoCloseable {
    private static final byte[] NO_DATA = {};

    private final DriveKeyMemory vault;
    private final SealingKey own;
    private final DriveEnvelope envelope;

    DriveKeySealer(DriveKeyMemory vault, SealingKey own, DriveEnvelope envelope) {
        this.vault = vault;
        this.own = own;
        this.envelope = envelope;
    }

    /**
     * Checks that the private key opens the envelope.
     *
     * @throws IOException if the key is not one of the envelope's recipients, or the envelope was changed
     */
    void requireOpens(Path file) throws IOException {
        try {
            envelope.open(vault.hpke(), own).close();
        } catch (KeyException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    /**
     * Seals the drive's key again, to a VM.
     *
     * @param boot the VM's sealing key, from its evidence
     * @param info context of the sealed key: docs/protocol.md, section 11
     */
    public byte[] sealTo(VerificationKey boot, byte[] info) throws IOException {
        SealingPublicKey to = SealingKeyEncoding.toSealingKey(boot);
        try (SecretMemory key = envelope.open(vault.hpke(), own)) {
            return vault.hpke().seal(to, info, NO_DATA, key);
        }
    }

    @Override
    public void close() {
        own.close();
    }

    @Override
    public String toString() {
        return "DriveLock[" + envelope.drive() + "]";
    }
}
