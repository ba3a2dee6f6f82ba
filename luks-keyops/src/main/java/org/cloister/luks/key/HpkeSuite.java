package org.cloister.luks.key;

/**
 * Algorithms of one HPKE suite (RFC 9180, section 7). Sealed keys use {@link #P384} alone; the other suites run the
 * RFC's test vectors, of which none exist for P-384, through the same code.
 *
 * @param curve libcrypto's name
 * @param scalarLength Nsk, also the length of an ECDH result
 * @param highestByte mask for the first byte of a candidate scalar, section 7.1.3
 * @param secretLength Nsecret, the KEM hash's length
 * @param keyLength Nk, of AES-GCM
 */
record HpkeSuite(
        int kem,
        String curve,
        int scalarLength,
        int highestByte,
        String kemHash,
        int secretLength,
        int kdf,
        String hash,
        int hashLength,
        int aead,
        int keyLength) {
    static final HpkeSuite P384 = new HpkeSuite(0x11, "secp384r1", 48, 0xff, "SHA384", 48, 2, "SHA384", 48, 2, 32);

    /** Returns the length of an uncompressed point in bytes: 4, x, y. */
    int pointLength() {
        return 2 * scalarLength + 1;
    }
}
