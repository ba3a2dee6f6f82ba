package org.cloister.lab.guest;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.DeviceErasure;
import org.cloister.luks.volume.KeySlotDerivation;
import org.cloister.luks.volume.LuksVolume;
import org.cloister.luks.volume.MappingName;
import org.cloister.luks.volume.VolumeException;
import org.cloister.luks.volume.VolumeFormat;
import org.cloister.luks.volume.VolumeIntegrity;
import org.cloister.luks.volume.VolumeKey;

/**
 * Performs the volume operations in its standard input, one step on each line, and prints a line for each: {@code ok},
 * or the error's name and text. A key is {@code volume:FILE} or {@code slot:FILE}. One JVM runs many steps, because its
 * start takes longest in a guest.
 */
public final class VolumeScript {
    private static final int LONGEST_KEY = 512;

    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
    private final Cryptsetup cryptsetup = Cryptsetup.load();

    private VolumeScript() throws IOException {}

    public static void main(String[] args) throws IOException {
        VolumeScript script = new VolumeScript();
        BufferedReader steps = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = steps.readLine(); line != null; line = steps.readLine()) {
            try {
                System.out.println(("ok " + script.step(line.split(" ", -1))).strip());
            } catch (VolumeException e) {
                System.out.println(e.getClass().getSimpleName() + " " + e.getMessage());
            }
        }
        System.out.println("live secrets: " + script.secrets.liveCount());
    }

    private String step(String[] words) throws IOException {
        switch (words[0]) {
            case "create" -> create(words);
            case "slot" -> slot(words);
            case "map" -> map(words);
            case "check" -> {
                try (SecretMemory secret = secret(words[2]);
                        LuksVolume volume = cryptsetup.open(Path.of(words[1]))) {
                    return "slot " + volume.check(key(words[2], secret));
                }
            }
            case "status" -> {
                return cryptsetup
                        .status(new MappingName(words[1]))
                        .map(Object::toString)
                        .orElse("none");
            }
            case "close" -> {
                return cryptsetup.close(new MappingName(words[1])) ? "closed" : "none";
            }
            case "erase" -> cryptsetup.erase(Path.of(words[1]), DeviceErasure.Scope.valueOf(words[2]));
            case "run" -> {
                return run(words);
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
        return "";
    }

    /** Performs {@code create DEVICE INTEGRITY KEY}. */
    private void create(String[] words) throws IOException {
        VolumeFormat format = VolumeFormat.labelled("lab").withIntegrity(VolumeIntegrity.valueOf(words[2]));
        try (SecretMemory secret = secret(words[3])) {
            cryptsetup.create(Path.of(words[1]), format, secret).close();
        }
    }

    /** Performs {@code slot DEVICE KEY FILE}: adds a slot. */
    private void slot(String[] words) throws IOException {
        try (SecretMemory by = secret(words[2]);
                SecretMemory added = secrets.readFile(Path.of(words[3]), LONGEST_KEY);
                LuksVolume volume = cryptsetup.open(Path.of(words[1]))) {
            volume.addSlot(key(words[2], by), added, KeySlotDerivation.RANDOM_KEY);
        }
    }

    /**
     * Performs {@code map DEVICE NAME KEY OPTION...}, of a volume that has integrity if KEY has the length of such a
     * key.
     */
    private void map(String[] words) throws IOException {
        Set<LuksVolume.Option> options =
                Stream.of(words).skip(4).map(LuksVolume.Option::valueOf).collect(Collectors.toSet());
        try (SecretMemory secret = secret(words[3]);
                LuksVolume volume = cryptsetup.open(Path.of(words[1]), integrity(words[3], secret))) {
            volume.map(new MappingName(words[2]), key(words[3], secret), options);
        }
    }

    /** Performs {@code run COMMAND...} with the shell. */
    private static String run(String[] words) throws IOException {
        String command = Stream.of(words).skip(1).collect(Collectors.joining(" "));
        Process process = new ProcessBuilder("sh", "-c", command)
                .redirectErrorStream(true)
                .start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        try {
            return "exit " + process.waitFor() + " " + text.replace('\n', ' ');
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    private SecretMemory secret(String key) throws IOException {
        return secrets.readFile(Path.of(key.substring(key.indexOf(':') + 1)), LONGEST_KEY);
    }

    private static VolumeIntegrity integrity(String text, SecretMemory secret) {
        return text.startsWith("volume:") && secret.length() == VolumeIntegrity.HMAC_SHA256.volumeKeyLength()
                ? VolumeIntegrity.HMAC_SHA256
                : VolumeIntegrity.NONE;
    }

    private static VolumeKey key(String text, SecretMemory secret) {
        return text.startsWith("volume:") ? VolumeKey.ofVolume(secret) : VolumeKey.ofSlot(secret);
    }
}
