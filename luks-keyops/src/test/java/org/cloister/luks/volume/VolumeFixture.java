package org.cloister.luks.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;

/** Files to be volumes, keys both as files (for the command) and as secrets, and the command {@code cryptsetup}. */
final class VolumeFixture {
    static final long FILE_LENGTH = 24 << 20;

    final SecretAllocator secrets;
    final Cryptsetup cryptsetup;
    final Path folder;

    VolumeFixture(Path folder) throws IOException {
        this.secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
        this.cryptsetup = Cryptsetup.load();
        this.folder = folder;
    }

    Path file(String name) throws IOException {
        return file(name, FILE_LENGTH);
    }

    Path file(String name, long length) throws IOException {
        Path file = folder.resolve(name);
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(length);
        }
        return file;
    }

    /** A key for tests: every byte is {@code digit}. */
    Path keyFile(char digit, int length) throws IOException {
        byte[] key = new byte[length];
        Arrays.fill(key, (byte) digit);
        return Files.write(folder.resolve("key-" + digit + "-" + length), key);
    }

    SecretMemory key(char digit, int length) throws IOException {
        return secrets.readFile(keyFile(digit, length), length);
    }

    /** A volume with {@code key} in slot 0, made and closed. */
    Path volume(String name, SecretMemory key) throws IOException {
        Path file = file(name);
        try (SecretMemory volumeKey = secrets.random(64);
                LuksVolume volume = cryptsetup.create(file, VolumeFormat.labelled("test:" + name), volumeKey)) {
            volume.addSlot(VolumeKey.ofVolume(volumeKey), key, KeySlotDerivation.RANDOM_KEY);
        }
        return file;
    }

    record Output(int exit, String text) {}

    static Output command(Object... argv) throws IOException {
        List<String> words = new ArrayList<>();
        for (Object word : argv) {
            words.add(word.toString());
        }
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            return new Output(process.waitFor(), text);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    static String succeed(Object... argv) throws IOException {
        Output output = command(argv);
        assertThat(output.exit())
                .as("%s: %s", Arrays.toString(argv), output.text())
                .isZero();
        return output.text();
    }

    static void overwrite(Path file, long at, int count, int value) throws IOException {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, (byte) value);
        try (RandomAccessFile out = new RandomAccessFile(file.toFile(), "rw")) {
            out.seek(at);
            out.write(bytes);
        }
    }
}
