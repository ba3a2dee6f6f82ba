package org.cloister.luks.key;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.cloister.luks.key.LibCryptoCalls.Native;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.SecretMemory.Loan;
import org.jspecify.annotations.Nullable;

/** HKDF (RFC 5869) in libcrypto and its labelled forms (RFC 9180, section 4), for one hash. */
final class Hkdf {
    private static final byte[] VERSION = ascii("HPKE-v1");

    private final LibCryptoCalls crypto;
    private final LibCrypto lib;
    private final String hash;
    private final int hashLength;
    private final byte[] suiteId;

    /** @param suiteId what the labelled forms name: the KEM or the whole suite */
    Hkdf(LibCryptoCalls crypto, String hash, int hashLength, byte[] suiteId) {
        this.crypto = crypto;
        this.lib = crypto.lib();
        this.hash = hash;
        this.hashLength = hashLength;
        this.suiteId = suiteId.clone();
    }

    SecretMemory extract(@Nullable SecretMemory salt, SecretMemory ikm) throws KeyException, SecretException {
        try (Loan key = ikm.lend();
                Loan saltLoan = (salt == null ? ikm : salt).lend()) {
            OsslParameters parameters = parameters("EXTRACT_ONLY").octets("key", key.pointer(), key.length());
            if (salt != null) {
                parameters.octets("salt", saltLoan.pointer(), saltLoan.length());
            }
            return derive(parameters, hashLength);
        }
    }

    SecretMemory expand(SecretMemory prk, byte[] info, int length) throws KeyException, SecretException {
        try (Loan key = prk.lend()) {
            OsslParameters parameters = parameters("EXPAND_ONLY").octets("key", key.pointer(), key.length());
            if (info.length > 0) {
                parameters.octets("info", crypto.publicBytes(info), info.length);
            }
            return derive(parameters, length);
        }
    }

    /** Performs LabeledExtract on a secret, without salt. */
    SecretMemory labeledExtract(String label, SecretMemory ikm) throws KeyException, SecretException {
        byte[] prefix = prefix(label);
        try (SecretMemory labeled = crypto.secrets().allocate(prefix.length + ikm.length())) {
            fill(labeled, prefix);
            ikm.copyTo(labeled, 0, prefix.length, ikm.length());
            return extract(null, labeled);
        }
    }

    /** Performs LabeledExtract on public bytes. */
    SecretMemory labeledExtract(@Nullable SecretMemory salt, String label, byte[] ikm)
            throws KeyException, SecretException {
        byte[] all = join(prefix(label), ikm);
        try (SecretMemory labeled = crypto.secrets().allocate(all.length)) {
            fill(labeled, all);
            return extract(salt, labeled);
        }
    }

    SecretMemory labeledExpand(SecretMemory prk, String label, byte[] info, int length)
            throws KeyException, SecretException {
        byte[] lengthBytes = {(byte) (length >> 8), (byte) length};
        return expand(prk, join(lengthBytes, prefix(label), info), length);
    }

    static byte[] join(byte[]... parts) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            joined.writeBytes(part);
        }
        return joined.toByteArray();
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private byte[] prefix(String label) {
        return join(VERSION, suiteId, ascii(label));
    }

    private static void fill(SecretMemory target, byte[] publicBytes) {
        try (Loan loan = target.lend()) {
            loan.pointer().put(0, publicBytes, 0, publicBytes.length);
        }
    }

    private OsslParameters parameters(String mode) {
        return new OsslParameters(crypto.runtime()).text("mode", mode).text("digest", hash);
    }

    private SecretMemory derive(OsslParameters parameters, int length) throws KeyException, SecretException {
        SecretMemory derived = crypto.secrets().allocate(length);
        try (Native kdf = crypto.own("EVP_KDF_fetch", lib.EVP_KDF_fetch(null, "HKDF", null), lib::EVP_KDF_free);
                Native context =
                        crypto.own("EVP_KDF_CTX_new", lib.EVP_KDF_CTX_new(kdf.pointer()), lib::EVP_KDF_CTX_free);
                Loan target = derived.lend()) {
            int result = parameters.callWith(
                    array -> lib.EVP_KDF_derive(context.pointer(), target.pointer(), target.length(), array));
            crypto.check("EVP_KDF_derive", result);
            return derived;
        } catch (KeyException e) {
            derived.close();
            throw e;
        }
    }
}
