package org.cloister.ctl.key;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.InvalidParameterException;
import java.security.Key;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.Security;
import java.security.Signature;
import java.security.cert.Certificate;
import java.util.Arrays;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;

/** Private key on a PKCS#11 token, which signs without exporting the key. */
final class Pkcs11Key implements SigningKey {
    private final Provider provider;
    private final PrivateKey key;
    private final VerificationKey verificationKey;

    private Pkcs11Key(Provider provider, PrivateKey key, VerificationKey verificationKey) {
        this.provider = provider;
        this.key = key;
        this.verificationKey = verificationKey;
    }

    /**
     * Opens a key on a token.
     *
     * @param module absolute path of the token's library
     * @param slot index in the library's list of slots
     * @param alias alias of a private key that has a certificate on the token, as keytool creates them
     */
    static Pkcs11Key open(String module, int slot, String alias, Passphrase pin) throws IOException {
        String subject = "token key " + alias + " of " + module;
        if (module.isEmpty() || module.charAt(0) != '/' || module.chars().anyMatch(c -> c < ' ' || c == '"')) {
            throw new IOException(subject + ": want the library's absolute path; name it with --module");
        }
        char[] characters = pin.characters();
        try {
            Provider provider = Security.getProvider("SunPKCS11")
                    .configure("--name=cloister\nlibrary=\"" + module + "\"\nslotListIndex=" + slot);
            KeyStore store = KeyStore.getInstance("PKCS11", provider);
            store.load(null, characters);
            Key key = store.getKey(alias, null);
            Certificate certificate = store.getCertificate(alias);
            if (!(key instanceof PrivateKey privateKey) || certificate == null) {
                throw new IOException(subject + ": want a private key with a certificate, have none; keytool -list"
                        + " -storetype PKCS11 shows what is there");
            }
            return new Pkcs11Key(provider, privateKey, VerificationKey.of(certificate.getPublicKey()));
        } catch (GeneralSecurityException | InvalidParameterException | UnsupportedOperationException e) {
            throw new IOException(
                    subject + ": cannot be opened: " + e.getMessage() + "; check the library, the slot and the PIN", e);
        } finally {
            Arrays.fill(characters, '\0');
        }
    }

    @Override
    public VerificationKey verificationKey() {
        return verificationKey;
    }

    @Override
    public byte[] sign(byte[] message) throws GeneralSecurityException {
        Signature signer = Signature.getInstance(
                switch (verificationKey.curve()) {
                    case P384 -> "SHA384withECDSA";
                    case P256 -> "SHA256withECDSA";
                },
                provider);
        signer.initSign(key);
        signer.update(message);
        return signer.sign();
    }
}
