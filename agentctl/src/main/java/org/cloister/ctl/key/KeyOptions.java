package org.cloister.ctl.key;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.KeyFile;
import org.cloister.protocol.identity.WholeFile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Whose private key signs, and where it is. */
public final class KeyOptions {
    public static final String SECRET_FD = "--secret-fd";

    @Option(
            names = "--key",
            paramLabel = "FILE",
            description = "The private key under a passphrase, as agentctl writes it.")
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
            description = "The token's place in the library's list; default: ${DEFAULT-VALUE}.")
    private int slot;

    @Option(names = "--alias", paramLabel = "NAME", description = "The key on the token; it has a certificate there.")
    private @Nullable String alias;

    @Option(
            names = SECRET_FD,
            paramLabel = "NUMBER",
            description = "Read the passphrase or PIN from this file descriptor; asked at the terminal by default.")
    private @Nullable Integer descriptor;

    /** @param usual the key file where none was named */
    public SigningKey open(@Nullable Path usual) throws IOException {
        Path from = file == null ? usual : file;
        if (module != null && alias != null && file == null) {
            try (Secret pin = secret("PIN of the token")) {
                return TokenKey.open(module, slot, alias, pin);
            }
        }
        if (module != null || alias != null || from == null) {
            throw new IOException("private key: want --key, or --module and --alias of a token");
        }
        KeyFile key;
        try {
            key = KeyFile.parse(Pem.bytes(from, KeyFile.MAX_BYTES));
        } catch (MalformedException e) {
            throw new MalformedException(from + ": " + e.getMessage(), e);
        }
        try (Secret passphrase = secret("passphrase of " + from)) {
            return key.open(passphrase.bytes());
        }
    }

    /** Whether the key is one that a token already has. */
    public boolean isOnToken() {
        return module != null;
    }

    /** A new key under a new passphrase, in a file that must not be there yet. */
    public SigningKey make(@Nullable Path usual, Curve curve) throws IOException {
        Path to = file == null ? usual : file;
        if (to == null) {
            throw new IOException("private key: want --key with the name of a new file");
        }
        try (Secret passphrase = chosen(to)) {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            KeyPair pair = generator.generateKeyPair();
            WholeFile.create(
                    to,
                    KeyFile.seal(pair, passphrase.bytes(), new SecureRandom()).json());
            return SigningKey.of(pair);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no " + curve.standardName(), e);
        }
    }

    private Secret chosen(Path file) throws IOException {
        String what = "new passphrase for " + file;
        return descriptor == null ? Secret.askTwice(what, SECRET_FD) : Secret.read(descriptor, what);
    }

    private Secret secret(String what) throws IOException {
        return descriptor == null ? Secret.ask(what, SECRET_FD) : Secret.read(descriptor, what);
    }
}
