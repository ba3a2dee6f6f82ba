package org.cloister.protocol.identity;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.security.interfaces.ECPrivateKey;
import java.util.Arrays;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.bouncycastle.crypto.generators.Argon2BytesGenerator;
import org.bouncycastle.crypto.params.Argon2Parameters;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Private signing key in a file, encrypted with a passphrase; docs/protocol.md, section 3.
 *
 * <p>An opened key is in the Java heap. This class zeroes its own copies; those of the runtime's cryptography
 * (BigInteger, its own key object) cannot be zeroed, and the collector may have left copies. So open it in a program
 * that ends soon, such as agentctl, not in a daemon; or keep the key on a token, which never exports it.
 */
public final class SigningKeyFile {
    public static final int MAX_BYTES = 4096;
    /** Minimum length of a passphrase, in characters. */
    public static final int MIN_PASSPHRASE = 12;

    public static final int MAX_PASSPHRASE = 1024;

    private static final String FORMAT = "cloister-signing-key-v1";
    private static final String KDF = "argon2id";
    private static final int SALT = 16;
    private static final int WRAP_KEY = 32;
    private static final int NONCE = 12;
    private static final int TAG = 16;
    private static final int MAX_KEY = 256;
    private static final Cost COST = new Cost(3, 1 << 16, 4);

    private final VerificationKey publicKey;
    private final Cost cost;
    private final byte[] salt;
    private final byte[] sealed;

    /**
     * Cost of a guess. It is bounded when it is read: a file from someone else must not take the machine's memory.
     *
     * @param memory KiB
     */
    record Cost(int passes, int memory, int lanes) {
        static final int MAX_PASSES = 16;
        static final int MIN_MEMORY = 1 << 13;
        static final int MAX_MEMORY = 1 << 20;
        static final int MAX_LANES = 8;
    }

    private SigningKeyFile(VerificationKey publicKey, Cost cost, byte[] salt, byte[] sealed) {
        this.publicKey = publicKey;
        this.cost = cost;
        this.salt = salt;
        this.sealed = sealed;
    }

    /**
     * Encrypts a key under a new salt, so the same key and passphrase never make the same file twice.
     *
     * @param passphrase in UTF-8; the caller zeroes it
     */
    public static SigningKeyFile seal(KeyPair pair, byte[] passphrase, SecureRandom random)
            throws CertificationRefusedException {
        if (passphrase.length < MIN_PASSPHRASE || passphrase.length > MAX_PASSPHRASE) {
            throw new CertificationRefusedException(
                    "passphrase",
                    MIN_PASSPHRASE + " to " + MAX_PASSPHRASE + " bytes",
                    String.valueOf(passphrase.length),
                    "take some words");
        }
        if (!(pair.getPrivate() instanceof ECPrivateKey key)) {
            throw new IllegalArgumentException("key file: want a private key that is at hand, have one that is not");
        }
        byte[] salt = new byte[SALT];
        random.nextBytes(salt);
        try {
            VerificationKey publicKey = VerificationKey.of(pair.getPublic());
            byte[] scalar = PrivateScalar.bytes(key.getS(), length(publicKey.curve()));
            try {
                return new SigningKeyFile(
                        publicKey, COST, salt, gcm(Cipher.ENCRYPT_MODE, publicKey, COST, salt, passphrase, scalar));
            } finally {
                Arrays.fill(scalar, (byte) 0);
            }
        } catch (MalformedException | GeneralSecurityException e) {
            throw new IllegalStateException("a key of ours is sealed with algorithms of every JRE", e);
        }
    }

    public static SigningKeyFile parse(byte[] document) throws MalformedException {
        StrictJson json = StrictJson.read(document, MAX_BYTES);
        json.requireFormat(FORMAT);
        VerificationKey publicKey = VerificationKey.parse(json.base64("public", MAX_KEY));
        StrictJson kdf = json.object("kdf");
        String type = kdf.text("type");
        if (!type.equals(KDF)) {
            throw new MalformedException("kdf.type: want " + KDF + ", have " + StrictJson.quoted(type));
        }
        Cost cost = new Cost(
                (int) kdf.number("passes", 1, Cost.MAX_PASSES),
                (int) kdf.number("memory", Cost.MIN_MEMORY, Cost.MAX_MEMORY),
                (int) kdf.number("lanes", 1, Cost.MAX_LANES));
        byte[] salt = kdf.base64("salt", SALT);
        kdf.requireNothingElse();
        int want = length(publicKey.curve()) + TAG;
        byte[] sealed = json.base64("sealed", want);
        json.requireNothingElse();
        if (salt.length != SALT || sealed.length != want) {
            throw new MalformedException("key file: want " + SALT + " bytes of salt and " + want + " sealed, have "
                    + salt.length + " and " + sealed.length);
        }
        return new SigningKeyFile(publicKey, cost, salt, sealed);
    }

    public VerificationKey publicKey() {
        return publicKey;
    }

    /**
     * Decrypts the key.
     *
     * @param passphrase in UTF-8; the caller zeroes it
     * @throws CertificationRefusedException if the passphrase is wrong, or the file was changed
     */
    public SigningKey open(byte[] passphrase) throws CertificationRefusedException {
        try {
            byte[] scalar = gcm(Cipher.DECRYPT_MODE, publicKey, cost, salt, passphrase, sealed);
            try {
                return SigningKey.of(
                        new KeyPair(publicKey.publicKey(), PrivateScalar.privateKey(publicKey.curve(), scalar)));
            } finally {
                Arrays.fill(scalar, (byte) 0);
            }
        } catch (AEADBadTagException e) {
            throw new CertificationRefusedException(
                    "key file of " + publicKey,
                    "its passphrase and its own bytes",
                    "others",
                    "type the passphrase again");
        } catch (MalformedException | GeneralSecurityException e) {
            throw new IllegalStateException("a key of ours is opened with algorithms of every JRE", e);
        }
    }

    /** Returns the file's content, which {@link #parse} reads. */
    public byte[] json() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("public", BinaryText.base64(publicKey.encoded()));
        json.putObject("kdf")
                .put("type", KDF)
                .put("passes", cost.passes)
                .put("memory", cost.memory)
                .put("lanes", cost.lanes)
                .put("salt", BinaryText.base64(salt));
        return json.put("sealed", BinaryText.base64(sealed)).toString().getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] gcm(int mode, VerificationKey publicKey, Cost cost, byte[] salt, byte[] passphrase, byte[] in)
            throws GeneralSecurityException {
        byte[] wrap = new byte[WRAP_KEY];
        try {
            Argon2BytesGenerator argon2 = new Argon2BytesGenerator();
            argon2.init(new Argon2Parameters.Builder(Argon2Parameters.ARGON2_id)
                    .withVersion(Argon2Parameters.ARGON2_VERSION_13)
                    .withIterations(cost.passes)
                    .withMemoryAsKB(cost.memory)
                    .withParallelism(cost.lanes)
                    .withSalt(salt)
                    .build());
            argon2.generateBytes(passphrase, wrap);
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            // The nonce is zero: the salt is new each time, so this key wraps only once.
            cipher.init(mode, new SecretKeySpec(wrap, "AES"), new GCMParameterSpec(8 * TAG, new byte[NONCE]));
            cipher.updateAAD(additionalData(publicKey, cost, salt));
            return cipher.doFinal(in);
        } finally {
            Arrays.fill(wrap, (byte) 0);
        }
    }

    private static byte[] additionalData(VerificationKey publicKey, Cost cost, byte[] salt) {
        byte[] format = FORMAT.getBytes(StandardCharsets.US_ASCII);
        byte[] spki = publicKey.encoded();
        return ByteBuffer.allocate(format.length + 1 + spki.length + 3 * Integer.BYTES + salt.length)
                .put(format)
                .put((byte) 0)
                .put(spki)
                .putInt(cost.passes)
                .putInt(cost.memory)
                .putInt(cost.lanes)
                .put(salt)
                .array();
    }

    private static int length(SignatureCurve curve) {
        return switch (curve) {
            case P384 -> 48;
            case P256 -> 32;
        };
    }
}
