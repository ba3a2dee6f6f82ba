package org.cloister.luks.key;

import jnr.ffi.Pointer;
import jnr.ffi.byref.NativeLongByReference;
import org.cloister.base.encoding.LengthPrefixedFields;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.SecretMemory.Loan;

/**
 * A private key as text on paper, for a safe: hex digits of the key and of a checksum, in groups of eight. It has no
 * passphrase: the holder of the paper holds the key. luks-keyops/FORMAT.md describes it.
 */
public final class RecoveryKey {
    /** Maximum length of the typed text in bytes, including blanks and line ends. */
    private static final int MAX_TEXT = 512;

    private static final String SUBJECT = "recovery key";
    private static final byte[] CHECK_LABEL = LengthPrefixedFields.text("cloister recovery key 1");
    private static final int SCALAR = HpkeSuite.P384.scalarLength();
    private static final int CHECK = 4;
    private static final int DIGITS = 2 * (SCALAR + CHECK);
    private static final int GROUP = 8;
    private static final int GROUPS = DIGITS / GROUP;
    private static final int SHA384 = 48;
    private static final byte NO_SEPARATOR = 0;

    private final LibCryptoCalls crypto;
    private final LibCrypto lib;

    public RecoveryKey(LibCryptoCalls crypto) {
        this.crypto = crypto;
        this.lib = crypto.lib();
    }

    /** Returns the text in ASCII: 116 bytes without line end. */
    public SecretMemory print(SealingKey key) throws KeyException, SecretException {
        // libcrypto ends its text with a zero byte.
        try (SecretMemory bytes = crypto.secrets().allocate(SCALAR + CHECK);
                SecretMemory check = check(key.scalar());
                SecretMemory digits = crypto.secrets().allocate(DIGITS + 1)) {
            key.scalar().copyTo(bytes, 0, 0, SCALAR);
            check.copyTo(bytes, 0, SCALAR, CHECK);
            try (Loan in = bytes.lend();
                    Loan out = digits.lend()) {
                crypto.check(
                        "OPENSSL_buf2hexstr_ex",
                        lib.OPENSSL_buf2hexstr_ex(
                                out.pointer(), out.length(), null, in.pointer(), in.length(), NO_SEPARATOR));
            }
            SecretMemory text = crypto.secrets().allocate(DIGITS + GROUPS - 1);
            for (int group = 0; group < GROUPS; group++) {
                digits.copyTo(text, group * GROUP, group * (GROUP + 1), GROUP);
            }
            try (Loan loan = text.lend()) {
                for (int group = 1; group < GROUPS; group++) {
                    loan.pointer().putByte(group * (GROUP + 1) - 1, (byte) '-');
                }
            }
            return text;
        }
    }

    /**
     * Parses what a person typed: digits in either case; dashes, blanks and line ends anywhere.
     *
     * @throws KeyException.Malformed when there are more or fewer digits, or the checksum does not match
     */
    public SealingKey read(SecretMemory text) throws KeyException, SecretException {
        if (text.length() > MAX_TEXT) {
            throw new KeyException.Malformed(
                    SUBJECT, "at most " + MAX_TEXT + " characters", String.valueOf(text.length()));
        }
        try (SecretMemory digits = digits(text);
                SecretMemory bytes = crypto.secrets().allocate(SCALAR + CHECK)) {
            try (Loan in = digits.lend();
                    Loan out = bytes.lend()) {
                NativeLongByReference length = new NativeLongByReference();
                int result = lib.OPENSSL_hexstr2buf_ex(out.pointer(), out.length(), length, in.pointer(), NO_SEPARATOR);
                if (result != 1 || length.intValue() != SCALAR + CHECK) {
                    crypto.forgetErrors();
                    throw new KeyException.Malformed(SUBJECT, "hex digits", "other characters");
                }
            }
            SecretMemory scalar = crypto.secrets().part(bytes, 0, SCALAR);
            try (SecretMemory entered = crypto.secrets().part(bytes, SCALAR, CHECK);
                    SecretMemory check = check(scalar)) {
                if (!entered.sameAs(check)) {
                    throw new KeyException.Malformed(SUBJECT, "digits that fit their check", "a wrong digit");
                }
                return new Hpke(crypto).key(scalar);
            } catch (KeyException | SecretException e) {
                scalar.close();
                throw e;
            }
        }
    }

    /** Returns the digits alone and a terminating zero byte, which libcrypto requires. */
    private SecretMemory digits(SecretMemory text) throws KeyException, SecretException {
        SecretMemory digits = crypto.secrets().allocate(DIGITS + 1);
        int count = 0;
        try (Loan in = text.lend();
                Loan out = digits.lend()) {
            Pointer from = in.pointer();
            for (int i = 0; i < in.length(); i++) {
                byte character = from.getByte(i);
                if (character != '-' && character > ' ') {
                    if (count < DIGITS) {
                        out.pointer().putByte(count, character);
                    }
                    count++;
                }
            }
        }
        if (count != DIGITS) {
            digits.close();
            throw new KeyException.Malformed(SUBJECT, DIGITS + " hex digits", String.valueOf(count));
        }
        return digits;
    }

    /** Returns the checksum: the first bytes of SHA-384 of a label and the key. */
    private SecretMemory check(SecretMemory scalar) throws KeyException, SecretException {
        try (SecretMemory labeled = crypto.secrets().allocate(CHECK_LABEL.length + SCALAR);
                SecretMemory digest = crypto.secrets().allocate(SHA384)) {
            scalar.copyTo(labeled, 0, CHECK_LABEL.length, SCALAR);
            try (Loan in = labeled.lend();
                    Loan out = digest.lend()) {
                in.pointer().put(0, CHECK_LABEL, 0, CHECK_LABEL.length);
                crypto.check(
                        "EVP_Digest",
                        lib.EVP_Digest(in.pointer(), in.length(), out.pointer(), null, lib.EVP_sha384(), null));
            }
            return crypto.secrets().part(digest, 0, CHECK);
        }
    }
}
