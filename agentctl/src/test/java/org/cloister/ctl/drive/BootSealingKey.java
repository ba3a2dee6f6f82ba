package org.cloister.ctl.drive;

import java.io.IOException;
import org.cloister.base.encoding.Digest;
import org.cloister.luks.key.SealingKey;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.dsse.VerificationKey;

/** A VM's sealing key of one boot, and what is opened with it. */
public final class BootSealingKey implements AutoCloseable {
    private final DriveKeyMemory vault = DriveKeyMemory.open();
    private final SealingKey key = vault.hpke().generate();

    public BootSealingKey() throws IOException {}

    public VerificationKey shown() throws IOException {
        return SealingKeyEncoding.toVerificationKey(key.publicKey());
    }

    /** Of the key that was sealed, SHA-256: what only a test may do. */
    public Digest opened(byte[] info, byte[] sealed) throws IOException {
        try (SecretMemory secret = vault.hpke().open(key, info, new byte[0], sealed);
                SecretMemory.Loan loan = secret.lend()) {
            byte[] bytes = new byte[secret.length()];
            loan.pointer().get(0, bytes, 0, bytes.length);
            return Digest.sha256(bytes);
        }
    }

    @Override
    public void close() {
        key.close();
    }
}
