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

    /**
     * Opens the private key that the options select.
     *
     * @param usual the default key file
     */
    public SigningKey open(@Nullable Path usual) throws IOException {
        Path from = file == null ? usual : file;
        if (module != null && alias != null && file == null) {
            try (Passphrase pin = secret("PIN of the token")) {
                return Pkcs11Key.open(module, slot, alias, pin);
            }
        }
        if (module != null || alias != null || from == null) {
            throw new IOException("private key: want --key, or --module and --alias of a token");
        }
        SigningKeyFile key;
        try {
            key = SigningKeyFile.parse(Pem.readBounded(from, SigningKeyFile.MAX_BYTES));
        } catch (MalformedException e) {
            throw new MalformedException(from + ": " + e.getMessage(), e);
        }
        try (Passphrase passphrase = secret("passphrase of " + from)) {
            return key.open(passphrase.bytes());
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
