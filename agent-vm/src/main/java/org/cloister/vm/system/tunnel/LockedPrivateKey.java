package org.cloister.vm.system.tunnel;

import java.nio.ByteBuffer;
import jnr.ffi.Pointer;
import org.cloister.ipsec.vici.PrivateKeySource;
import org.cloister.luks.secret.SecretMemory;

/** A private key in locked memory, loaded into charon: copied from there into the packet, never onto the heap. */
public final class LockedPrivateKey implements PrivateKeySource {
    private final SecretMemory pkcs8;

    /**
     * Wraps a key.
     *
     * @param pkcs8 in DER; remains the caller's, and must stay open for as long as tunnels are needed
     */
    public LockedPrivateKey(SecretMemory pkcs8) {
        this.pkcs8 = pkcs8;
    }

    @Override
    public int length() {
        return pkcs8.length();
    }

    @Override
    public void writeTo(ByteBuffer target) {
        if (!target.isDirect() || target.remaining() < pkcs8.length()) {
            throw new IllegalArgumentException(
                    "private key: want " + pkcs8.length() + " bytes of native memory, have " + target);
        }
        try (SecretMemory.Loan loan = pkcs8.lend()) {
            // jnr-ffi ignores a buffer's position.
            Pointer sink = Pointer.wrap(loan.pointer().getRuntime(), target.slice());
            loan.pointer().transferTo(0, sink, 0, loan.length());
        }
        target.position(target.position() + pkcs8.length());
    }
}
