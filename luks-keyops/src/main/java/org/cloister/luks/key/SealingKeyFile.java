package org.cloister.luks.key;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.cloister.base.encoding.LengthPrefixedFields;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.SecretMemory.Loan;

/** A person's private key as a file encrypted with a passphrase; luks-keyops/FORMAT.md describes it. Immutable. */
public final class SealingKeyFile {
    private static final String SUBJECT = "key file";
    private static final String TYPE = "cloister-key";
    private static final String KDF = "argon2id";
    private static final int VERSION = 1;
    private static final int SALT = 16;
    private static final int WRAP_KEY = 32;
    private static final int SEALED = HpkeSuite.P384.scalarLength() + AesGcm.TAG;

    private final SealingPublicKey publicKey;
    private final Argon2.Cost cost;
    private final byte[] salt;
    private final byte[] sealed;

    private SealingKeyFile(SealingPublicKey publicKey, Argon2.Cost cost, byte[] salt, byte[] sealed) {
        this.publicKey = publicKey;
        this.cost = cost;
        this.salt = salt;
        this.sealed = sealed;
    }

    /** Encrypts under a new salt, so that the same key and passphrase never make the same file twice. */
    public static SealingKeyFile seal(
            LibCryptoCalls crypto, Argon2 argon2, Argon2.Cost cost, SealingKey key, SecretMemory passphrase)
            throws KeyException, SecretException {
        byte[] salt = new byte[SALT];
        try (SecretMemory random = crypto.secrets().random(SALT);
                Loan loan = random.lend()) {
            loan.pointer().get(0, salt, 0, SALT);
        }
        try (SecretMemory wrap = argon2.derive(passphrase, salt, cost, WRAP_KEY);
                SecretMemory nonce = crypto.secrets().allocate(AesGcm.NONCE)) {
            // A nonce of zeroes is safe: the salt is new each time, so this key wraps once.
            byte[] aad = additionalData(key.publicKey(), cost, salt);
            return new SealingKeyFile(
                    key.publicKey(), cost, salt, new AesGcm(crypto).seal(wrap, nonce, aad, key.scalar()));
        }
    }

    public static SealingKeyFile read(byte[] json) throws KeyException.Malformed {
        KeyFormatJson file = KeyFormatJson.read(SUBJECT, json).object("type", "version", "public", "kdf", "sealed");
        file.member("type").requireText(TYPE);
        if (file.member("version").number() != VERSION) {
            throw file.malformed("version " + VERSION, "another one");
        }
        KeyFormatJson kdf = file.member("kdf").object("type", "passes", "memory", "lanes", "salt");
        kdf.member("type").requireText(KDF);
        Argon2.Cost cost;
        try {
            cost = new Argon2.Cost(
                    kdf.member("passes").number(),
                    kdf.member("memory").number(),
                    kdf.member("lanes").number());
        } catch (IllegalArgumentException e) {
            throw kdf.malformed("costs in their ranges", String.valueOf(e.getMessage()));
        }
        return new SealingKeyFile(
                SealingPublicKey.of(file.member("public").bytes(SealingPublicKey.LENGTH)),
                cost,
                kdf.member("salt").bytes(SALT),
                file.member("sealed").bytes(SEALED));
    }

    public SealingPublicKey publicKey() {
        return publicKey;
    }

    /** @throws KeyException.Refused when the passphrase is wrong, or the file was changed */
    public SealingKey open(LibCryptoCalls crypto, Argon2 argon2, SecretMemory passphrase)
            throws KeyException, SecretException {
        KeyException.Refused refusal = new KeyException.Refused(
                SUBJECT + " of " + publicKey, "its passphrase and its own bytes", "type the passphrase again");
        try (SecretMemory wrap = argon2.derive(passphrase, salt, cost, WRAP_KEY);
                SecretMemory nonce = crypto.secrets().allocate(AesGcm.NONCE)) {
            byte[] aad = additionalData(publicKey, cost, salt);
            SealingKey key = new Hpke(crypto).key(new AesGcm(crypto).open(wrap, nonce, aad, sealed, refusal));
            if (!key.publicKey().equals(publicKey)) {
                key.close();
                throw refusal;
            }
            return key;
        }
    }

    /** Returns the JSON that {@link #read} parses. */
    public byte[] json() {
        ObjectNode file = KeyFormatJson.MAPPER
                .createObjectNode()
                .put("type", TYPE)
                .put("version", VERSION)
                .put("public", base64(publicKey.bytes()));
        file.putObject("kdf")
                .put("type", KDF)
                .put("passes", cost.passes())
                .put("memory", cost.memory())
                .put("lanes", cost.lanes())
                .put("salt", base64(salt));
        return file.put("sealed", base64(sealed)).toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] additionalData(SealingPublicKey key, Argon2.Cost cost, byte[] salt) {
        return LengthPrefixedFields.encode(
                LengthPrefixedFields.text("cloister key file 1"),
                key.bytes(),
                LengthPrefixedFields.number(cost.passes()),
                LengthPrefixedFields.number(cost.memory()),
                LengthPrefixedFields.number(cost.lanes()),
                salt);
    }

    private static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }
}
