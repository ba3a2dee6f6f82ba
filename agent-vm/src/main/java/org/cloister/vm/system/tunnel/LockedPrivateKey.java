package org.cloister.vm.system.tunnel;

import java.nio.ByteBuffer;
import jnr.ffi.Pointer;
import org.cloister.ipsec.vici.PrivateKeySource;
import org.cloister.luks.secret.SecretMemory;

/** A private key in locked memory, as charon is told it: from there into the packet, and never on the heap. */
public final class LockedPrivateKey implements PrivateKeySource {
    private final SecretMemory pkcs8;

    /** @param pkcs8 in DER; stays its owner's, and open for as long as tunnels are wanted */
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
            // jnr-ffi does not look at a buffer's position.
            Pointer sink = Pointer.wrap(loan.pointer().getRuntime(), target.slice());
            loan.pointer().transferTo(0, sink, 0, loan.length());
        }
        target.position(target.position() + pkcs8.length());
    }
}
