package org.cloister.luks.key;

import java.security.Provider;
import java.security.Security;
import org.jspecify.annotations.Nullable;

/**
 * Provider of signatures with P-384 for Java's cryptography by libcrypto, whose private keys are not on Java's heap. It
 * refuses every other curve and every private key that is not its own, which Java then passes to its next provider.
 */
@SuppressWarnings("serial") // providers are never written
public final class P384Provider extends Provider {
    private static final String NAME = "Cloister-P384";
    private static final String VERSION = "1";

    private P384Provider(P384Calls calls) {
        super(NAME, VERSION, "ECDSA of P-384 by libcrypto");
        putService(new SignatureService(this, calls));
    }

    /** Has Java use it before its own provider, from now on; further calls have no effect. */
    public static void install(LibCryptoCalls crypto) {
        // Returns -1 if a provider of this name is there.
        Security.insertProviderAt(new P384Provider(new P384Calls(crypto)), 1);
    }

    private static final class SignatureService extends Service {
        private final P384Calls calls;

        SignatureService(Provider provider, P384Calls calls) {
            super(provider, "Signature", "SHA384withECDSA", P384Signature.class.getName(), null, null);
            this.calls = calls;
        }

        @Override
        public Object newInstance(@Nullable Object parameter) {
            return new P384Signature(calls);
        }

        /** Returns true: the signature checks its key itself. */
        @Override
        public boolean supportsParameter(@Nullable Object key) {
            return true;
        }
    }
}
