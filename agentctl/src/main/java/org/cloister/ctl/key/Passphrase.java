package org.cloister.ctl.key;

import java.io.Console;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.identity.SigningKeyFile;

/**
 * Passphrase or PIN from the terminal or a file descriptor, never from arguments or the environment. It is zeroed on
 * close.
 */
public final class Passphrase implements AutoCloseable {
    /** Maximum number of bytes of a character. */
    private static final int MAX_UTF8 = 4;

    private final byte[] utf8;

    private Passphrase(byte[] utf8) {
        this.utf8 = utf8;
    }

    /**
     * Prompts at the terminal.
     *
     * @param what name of the secret, for people
     * @param option the option that accepts a descriptor
     */
    @SuppressWarnings("SystemConsoleNull") // never null from JDK 22 on; then only the check of /dev/tty decides
    public static Passphrase prompt(String what, String option) throws IOException {
        Console console = hasTerminal() ? System.console() : null;
        if (console == null) {
            throw new IOException(what + ": there is no terminal to ask at; give it with " + option);
        }
        char[] typed = console.readPassword("%s: ", what);
        if (typed == null) {
            throw new IOException(what + ": the terminal was closed; type it, or give it with " + option);
        }
        return of(typed);
    }

    /** Prompts for a new passphrase, typed twice. */
    public static Passphrase promptTwice(String what, String option) throws IOException {
        return readTwice(what, each -> prompt(each, option));
    }

    static Passphrase readTwice(String what, Prompt prompt) throws IOException {
        Passphrase first = prompt.read(what);
        boolean same = false;
        try (Passphrase again = prompt.read("repeat the passphrase")) {
            same = first.sameAs(again);
            if (!same) {
                throw new IOException(what + ": the two entries differ; run the command again");
            }
            return first;
        } finally {
            if (!same) {
                first.close();
            }
        }
    }

    @FunctionalInterface
    interface Prompt {
        Passphrase read(String what) throws IOException;
    }

    static boolean hasTerminal() {
        try (InputStream terminal = Files.newInputStream(Path.of("/dev/tty"))) {
            return terminal != null;
        } catch (IOException e) {
            return false;
        }
    }

    /** Reads up to the descriptor's end, without a trailing newline. */
    static Passphrase read(int descriptor, String what) throws IOException {
        byte[] read = new byte[0];
        try (InputStream in = Files.newInputStream(Path.of("/proc/self/fd/" + descriptor))) {
            read = Pem.upTo(in, SigningKeyFile.MAX_PASSPHRASE + 2);
            int length = read.length > 0 && read[read.length - 1] == '\n' ? read.length - 1 : read.length;
            if (length == 0 || length > SigningKeyFile.MAX_PASSPHRASE) {
                throw new MalformedException(what + ": want 1 to " + SigningKeyFile.MAX_PASSPHRASE
                        + " bytes on descriptor " + descriptor + ", have " + (length == 0 ? "none" : "more"));
            }
            return new Passphrase(Arrays.copyOf(read, length));
        } finally {
            Arrays.fill(read, (byte) 0);
        }
    }

    /** Encodes the characters, and zeroes the array that it is given. */
    static Passphrase of(char[] typed) {
        ByteBuffer encoded = ByteBuffer.allocate(typed.length * MAX_UTF8);
        StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(typed), encoded, true);
        byte[] utf8 = Arrays.copyOf(encoded.array(), encoded.position());
        Arrays.fill(encoded.array(), (byte) 0);
        Arrays.fill(typed, '\0');
        return new Passphrase(utf8);
    }

    /** Returns the bytes, which are zeroed when this is closed. */
    public byte[] bytes() {
        return utf8;
    }

    /** Returns the characters of a token's PIN; the caller zeroes them. */
    char[] characters() {
        CharBuffer decoded = StandardCharsets.UTF_8.decode(ByteBuffer.wrap(utf8));
        char[] characters = new char[decoded.remaining()];
        decoded.get(characters);
        Arrays.fill(decoded.array(), '\0');
        return characters;
    }

    boolean sameAs(Passphrase other) {
        return Arrays.equals(utf8, other.utf8);
    }

    @Override
    public void close() {
        Arrays.fill(utf8, (byte) 0);
    }

    @Override
    public String toString() {
        return "secret";
    }
}
