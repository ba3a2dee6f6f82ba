package org.cloister.luks.secret;

/** Secrets of known bytes, and their bytes again: what only a test may do. */
public final class Known {
    private Known() {}

    public static SecretMemory secret(Secrets secrets, byte[] bytes) throws SecretException {
        SecretMemory secret = secrets.allocate(bytes.length);
        try (SecretMemory.Loan loan = secret.lend()) {
            loan.pointer().put(0, bytes, 0, bytes.length);
        }
        return secret;
    }

    /** As on a kernel without memfd_secret. */
    public static Secrets withoutSecretFiles() throws SecretException {
        return Secrets.of(GuardedPages.Kind.LOCKED);
    }

    public static byte[] bytes(SecretMemory secret) {
        byte[] bytes = new byte[secret.length()];
        try (SecretMemory.Loan loan = secret.lend()) {
            loan.pointer().get(0, bytes, 0, bytes.length);
        }
        return bytes;
    }
}
