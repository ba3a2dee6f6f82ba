package org.cloister.luks.secret;

/** Secrets of known bytes, and their bytes again: what only a test may do. */
public final class KnownSecrets {
    private KnownSecrets() {}

    public static SecretMemory secret(SecretAllocator secrets, byte[] bytes) throws SecretException {
        SecretMemory secret = secrets.allocate(bytes.length);
        try (SecretMemory.Loan loan = secret.lend()) {
            loan.pointer().put(0, bytes, 0, bytes.length);
        }
        return secret;
    }

    /** As on a kernel without memfd_secret. */
    public static SecretAllocator withoutSecretFiles() throws SecretException {
        return SecretAllocator.of(GuardedPages.Kind.LOCKED);
    }

    public static byte[] bytes(SecretMemory secret) {
        byte[] bytes = new byte[secret.length()];
        try (SecretMemory.Loan loan = secret.lend()) {
            loan.pointer().get(0, bytes, 0, bytes.length);
        }
        return bytes;
    }
}
