package org.cloister.ctl.key;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.SigningKeyFile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that select the private key that signs. */
public final class SigningKeyOptions {
    public static final String SECRET_FD = "--secret-fd";

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "File of the private key, encrypted under a passphrase, as agentctl writes it.")
    private @Nullable Path file;

    @Option(
            names = "--module",
            paramLabel = "LIBRARY",
            description = "The library of a PKCS#11 token, instead of --key; an absolute path.")
    private @Nullable String module;

    @Option(
            names = "--slot",
            paramLabel = "NUMBER",
            defaultValue = "0",
            description = "The token's index in the library's list of slots; default: ${DEFAULT-VALUE}.")
    private int slot;

    @Option(
            names = "--alias",
            paramLabel = "NAME",
            description = "Alias of the key on the token; the token also holds its certificate.")
    private @Nullable String alias;

    @Option(
            names = SECRET_FD,
            paramLabel = "NUMBER",
            description = "Read the passphrase or PIN from this file descriptor; asked at the terminal by default.")
    private @Nullable Integer descriptor;

    /** Default location of the key, which is determined only if no option names another. */
    @FunctionalInterface
    public interface DefaultLocation {
        /** Returns the location; null if there is none. */
        @Nullable
        KeyLocation get() throws IOException;
    }

    /**
     * Private key with the passphrase or PIN that opened it.
     *
     * @param secret zeroed on close
     */
    public record OpenedKey(SigningKey key, Passphrase secret) implements AutoCloseable {
        @Override
        public void close() {
            secret.close();
        }
    }

    /**
     * Opens the private key that the options select, which have no default.
     *
     * @throws IOException also if no option selects one
     */
    public SigningKey open() throws IOException {
        return open(() -> null);
    }

    /** Opens the private key that the options select. */
    public SigningKey open(DefaultLocation usual) throws IOException {
        try (OpenedKey opened = openWithSecret(usual)) {
            return opened.key();
        }
    }

    /** Opens the private key that the options select, and keeps the secret that opened it. */
    public OpenedKey openWithSecret(DefaultLocation usual) throws IOException {
        KeyLocation location = location(usual);
        if (location instanceof KeyLocation.Token token) {
            return opened(
                    secret("PIN of the token"),
                    pin -> Pkcs11Key.open(token.module(), token.slot(), token.alias(), pin));
        }
        Path from = ((KeyLocation.File) location).path();
        SigningKeyFile key = read(from);
        return opened(secret("passphrase of " + from), passphrase -> key.open(passphrase.bytes()));
    }

    @FunctionalInterface
    private interface KeyOpening {
        SigningKey open(Passphrase secret) throws IOException;
    }

    private static OpenedKey opened(Passphrase secret, KeyOpening opening) throws IOException {
        OpenedKey opened = null;
        try {
            opened = new OpenedKey(opening.open(secret), secret);
            return opened;
        } finally {
            if (opened == null) {
                secret.close();
            }
        }
    }

    /** Returns the location of the key that the options select. */
    public KeyLocation location(DefaultLocation usual) throws IOException {
        if (module != null && alias != null && file == null) {
            return new KeyLocation.Token(module, slot, alias);
        }
        KeyLocation location = file == null ? usual.get() : new KeyLocation.File(file);
        if (module != null || alias != null || location == null) {
            throw new IOException("private key: want --key, or --module and --alias of a token");
        }
        return location;
    }

    /** Returns the public half of the key that the options select; asks for the PIN of a token, and nothing else. */
    public VerificationKey readPublicKey(DefaultLocation usual) throws IOException {
        return location(usual) instanceof KeyLocation.File file
                ? read(file.path()).publicKey()
                : open(usual).verificationKey();
    }

    private static SigningKeyFile read(Path file) throws IOException {
        try {
            return SigningKeyFile.parse(Pem.readBounded(file, SigningKeyFile.MAX_BYTES));
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    /** Returns whether the options select an existing key on a token. */
    public boolean isOnToken() {
        return module != null;
    }

    /** Creates a key under a new passphrase, in a file that must not exist yet. */
    public SigningKey create(@Nullable Path usual, SignatureCurve curve) throws IOException {
        Path to = file == null ? usual : file;
        if (to == null) {
            throw new IOException("private key: want --key with the name of a new file");
        }
        try (Passphrase passphrase = chosen(to)) {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            KeyPair pair = generator.generateKeyPair();
            AtomicFile.create(
                    to,
                    SigningKeyFile.seal(pair, passphrase.bytes(), new SecureRandom())
                            .json());
            return SigningKey.of(pair);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no " + curve.standardName(), e);
        }
    }

    private Passphrase chosen(Path file) throws IOException {
        String what = "new passphrase for " + file;
        return descriptor == null ? Passphrase.promptTwice(what, SECRET_FD) : Passphrase.read(descriptor, what);
    }

    private Passphrase secret(String what) throws IOException {
        return descriptor == null ? Passphrase.prompt(what, SECRET_FD) : Passphrase.read(descriptor, what);
    }
}
