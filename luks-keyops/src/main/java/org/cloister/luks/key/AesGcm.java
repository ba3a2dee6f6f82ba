package org.cloister.luks.key;

import java.lang.ref.Reference;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.byref.IntByReference;
import org.cloister.luks.key.LibCryptoCalls.Native;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.SecretMemory.Loan;

/** AES-GCM in libcrypto with a nonce of 12 bytes and a tag of 16 bytes, which follows the ciphertext. */
final class AesGcm {
    static final int NONCE = 12;
    static final int TAG = 16;

    private static final int GET_TAG = 0x10;
    private static final int SET_TAG = 0x11;
    private static final int AES_128_KEY = 16;

    private final LibCryptoCalls crypto;
    private final LibCrypto lib;

    AesGcm(LibCryptoCalls crypto) {
        this.crypto = crypto;
        this.lib = crypto.lib();
    }

    byte[] seal(SecretMemory key, SecretMemory nonce, byte[] aad, SecretMemory plain) throws KeyException {
        int length = plain.length();
        Pointer out = Memory.allocateDirect(crypto.runtime(), length + TAG);
        Pointer associated = crypto.publicBytes(aad);
        IntByReference written = new IntByReference();
        try (Native context = context();
                Loan keyLoan = key.lend();
                Loan nonceLoan = nonce.lend();
                Loan in = plain.lend()) {
            Pointer cipher = cipher(key);
            crypto.check(
                    "EVP_EncryptInit_ex",
                    lib.EVP_EncryptInit_ex(context.pointer(), cipher, null, keyLoan.pointer(), nonceLoan.pointer()));
            crypto.check(
                    "EVP_EncryptUpdate",
                    lib.EVP_EncryptUpdate(context.pointer(), null, written, associated, aad.length));
            crypto.check(
                    "EVP_EncryptUpdate", lib.EVP_EncryptUpdate(context.pointer(), out, written, in.pointer(), length));
            crypto.check("EVP_EncryptFinal_ex", lib.EVP_EncryptFinal_ex(context.pointer(), out.slice(length), written));
            crypto.check(
                    "EVP_CIPHER_CTX_ctrl", lib.EVP_CIPHER_CTX_ctrl(context.pointer(), GET_TAG, TAG, out.slice(length)));
            byte[] sealed = new byte[length + TAG];
            out.get(0, sealed, 0, sealed.length);
            return sealed;
        } finally {
            Reference.reachabilityFence(associated);
        }
    }

    /**
     * @param sealed at least one byte, and the tag
     * @throws KeyException.Refused when the tag does not match these bytes under this key, nonce and {@code aad}
     */
    SecretMemory open(SecretMemory key, SecretMemory nonce, byte[] aad, byte[] sealed, KeyException.Refused refusal)
            throws KeyException, SecretException {
        int length = sealed.length - TAG;
        Pointer in = crypto.publicBytes(sealed);
        Pointer associated = crypto.publicBytes(aad);
        IntByReference written = new IntByReference();
        SecretMemory plain = crypto.secrets().allocate(length);
        try (Native context = context();
                Loan keyLoan = key.lend();
                Loan nonceLoan = nonce.lend();
                Loan out = plain.lend()) {
            Pointer cipher = cipher(key);
            crypto.check(
                    "EVP_DecryptInit_ex",
                    lib.EVP_DecryptInit_ex(context.pointer(), cipher, null, keyLoan.pointer(), nonceLoan.pointer()));
            crypto.check(
                    "EVP_DecryptUpdate",
                    lib.EVP_DecryptUpdate(context.pointer(), null, written, associated, aad.length));
            crypto.check(
                    "EVP_DecryptUpdate", lib.EVP_DecryptUpdate(context.pointer(), out.pointer(), written, in, length));
            crypto.check(
                    "EVP_CIPHER_CTX_ctrl", lib.EVP_CIPHER_CTX_ctrl(context.pointer(), SET_TAG, TAG, in.slice(length)));
            // GCM writes nothing here; the pointer only has to be non-null.
            if (lib.EVP_DecryptFinal_ex(context.pointer(), in, written) <= 0) {
                crypto.forgetErrors();
                throw refusal;
            }
            return plain;
        } catch (KeyException e) {
            plain.close();
            throw e;
        } finally {
            Reference.reachabilityFence(associated);
            Reference.reachabilityFence(in);
        }
    }

    private Native context() throws KeyException {
        return crypto.own("EVP_CIPHER_CTX_new", lib.EVP_CIPHER_CTX_new(), lib::EVP_CIPHER_CTX_free);
    }

    private Pointer cipher(SecretMemory key) {
        return key.length() == AES_128_KEY ? lib.EVP_aes_128_gcm() : lib.EVP_aes_256_gcm();
    }
}
