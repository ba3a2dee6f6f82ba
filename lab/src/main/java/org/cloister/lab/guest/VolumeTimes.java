package org.cloister.lab.guest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.luks.key.Crypto;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.SealedKeyContext;
import org.cloister.luks.key.SealingKey;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.Secrets;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.Derivation;
import org.cloister.luks.volume.Erasure;
import org.cloister.luks.volume.Format;
import org.cloister.luks.volume.Integrity;
import org.cloister.luks.volume.Key;
import org.cloister.luks.volume.MappingName;
import org.cloister.luks.volume.Volume;

/**
 * Measures, where it runs, ours beside the command {@code cryptsetup} on the same file or device with the same slot, in turns.
 * Prints {@code METRIC ours|peer VALUE} lines, in seconds or MB/s. The command's time is taken by a shell around it alone.
 */
public final class VolumeTimes {
    private static final MappingName NAME = new MappingName("bench");
    private static final byte[] CONTEXT = new SealedKeyContext("p", "t", 0, "vm", "0".repeat(96), "drive", 0).encode();
    private static final int WARMING = 10;
    private static final int PAIRS = 4;
    private static final int KEY = 64;
    private static final Pattern RATE = Pattern.compile("(\\d+) bytes .* copied, ([0-9.]+) s,");

    /** Where values go. */
    @FunctionalInterface
    public interface Sink {
        /** @param side {@code ours} or {@code peer} */
        void tell(String metric, String side, double value);
    }

    private final Sink sink;
    private final Secrets secrets;
    private final Cryptsetup cryptsetup;
    private final Hpke hpke;
    private final Path device;
    private final Path keyFile;
    private final Path volumeKeyFile;

    /** @param folder in memory, for the command's key */
    public VolumeTimes(Path device, Path folder, Sink sink) throws IOException {
        this.sink = sink;
        this.secrets = Secrets.open(Secrets.Locking.REQUIRED);
        this.cryptsetup = Cryptsetup.load();
        this.hpke = new Hpke(Crypto.load(secrets));
        this.device = device;
        this.keyFile = folder.resolve("key");
        this.volumeKeyFile = folder.resolve("volume-key");
        shell("head -c " + KEY + " /dev/urandom >" + keyFile + "; head -c " + KEY + " /dev/urandom >" + volumeKeyFile);
    }

    /** @param args device, unlock rounds, throughput rounds, MiB to write and read */
    public static void main(String[] args) throws IOException {
        VolumeTimes times = new VolumeTimes(Path.of(args[0]), Path.of("/run"), VolumeTimes::print);
        times.create(Integrity.NONE);
        times.unlock("unlock", "--key-file", times.keyFile, Key::ofSlot, Integer.parseInt(args[1]));
        times.unlock(
                "unlock_by_volume_key",
                "--volume-key-file",
                times.volumeKeyFile,
                Key::ofVolume,
                Integer.parseInt(args[1]));
        for (int i = 0; i < PAIRS * Integer.parseInt(args[2]); i++) {
            times.throughput(args[3], i % 2 == 0);
        }
        times.cryptsetup.erase(times.device, Erasure.Scope.HEADER);
        times.create(Integrity.HMAC_SHA256);
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
            times.copied("integrity", "ours", args[3], () -> times.map(Integrity.HMAC_SHA256, Set.of()));
            times.copied(
                    "integrity_no_journal",
                    "ours",
                    args[3],
                    () -> times.map(Integrity.HMAC_SHA256, Set.of(Volume.Option.NO_JOURNAL)));
        }
        times.cryptsetup.erase(times.device, Erasure.Scope.HEADER);
    }

    /** Making a volume with one slot on a file, and trying the slot. */
    public void createAndUnlock(int rounds) throws IOException {
        for (int i = -WARMING; i < rounds; i++) {
            long from = System.nanoTime();
            create(Integrity.NONE);
            try (SecretMemory key = secrets.readFile(keyFile, KEY);
                    Volume volume = cryptsetup.open(device)) {
                volume.check(Key.ofSlot(key));
            }
            if (i >= 0) {
                sink.tell("create_unlock", "ours", (System.nanoTime() - from) / 1e9);
            }
            cryptsetup.erase(device, Erasure.Scope.HEADER);
            double peer = timed(
                    "cryptsetup luksFormat -q --type luks2 --cipher aes-xts-plain64 --key-size 512 --sector-size 4096"
                            + " --pbkdf pbkdf2 --pbkdf-force-iterations 1000 " + device + " " + keyFile
                            + " && cryptsetup open --test-passphrase --key-file " + keyFile + " " + device);
            if (i >= 0) {
                sink.tell("create_unlock", "peer", peer);
            }
            cryptsetup.erase(device, Erasure.Scope.HEADER);
        }
    }

    private void create(Integrity integrity) throws IOException {
        try (SecretMemory volumeKey = integrity == Integrity.NONE
                        ? secrets.readFile(volumeKeyFile, KEY)
                        : secrets.random(integrity.volumeKeyLength());
                SecretMemory key = secrets.readFile(keyFile, KEY);
                Volume volume =
                        cryptsetup.create(device, Format.labelled("bench").withIntegrity(integrity), volumeKey)) {
            volume.addSlot(Key.ofVolume(volumeKey), key, Derivation.RANDOM_KEY);
        }
    }

    /** From the bytes that came sealed to a mapped device. */
    private void unlock(String metric, String option, Path file, Function<SecretMemory, Key> kind, int rounds)
            throws IOException {
        try (SealingKey receiver = hpke.generate()) {
            for (int i = -WARMING; i < rounds; i++) {
                byte[] sealed;
                try (SecretMemory key = secrets.readFile(file, KEY)) {
                    sealed = hpke.seal(receiver.publicKey(), SealedKeyContext.info(), CONTEXT, key);
                }
                long from = System.nanoTime();
                long opened;
                long read;
                try (SecretMemory key = hpke.open(receiver, SealedKeyContext.info(), CONTEXT, sealed)) {
                    opened = System.nanoTime();
                    try (Volume volume = cryptsetup.open(device)) {
                        read = System.nanoTime();
                        volume.map(NAME, kind.apply(key), Set.of());
                    }
                }
                long mapped = System.nanoTime();
                cryptsetup.close(NAME);
                double peer = timed("cryptsetup open " + option + " " + file + " " + device + " " + NAME.text());
                cryptsetup.close(NAME);
                if (i >= 0) {
                    sink.tell(metric, "ours", (mapped - from) / 1e9);
                    sink.tell(metric, "peer", peer);
                    sink.tell(metric + "_key", "ours", (opened - from) / 1e9);
                    sink.tell(metric + "_header", "ours", (read - opened) / 1e9);
                    sink.tell(metric + "_map", "ours", (mapped - read) / 1e9);
                }
            }
        }
    }

    /** In turns, and in short pieces: what else the machine does changes from second to second. */
    private void throughput(String mib, boolean oursFirst) throws IOException {
        for (boolean ours : List.of(oursFirst, !oursFirst)) {
            copied("throughput", ours ? "ours" : "peer", mib, () -> {
                if (ours) {
                    map(Integrity.NONE, Set.of());
                } else {
                    timed("cryptsetup open --key-file " + keyFile + " " + device + " " + NAME.text());
                }
            });
        }
    }

    @FunctionalInterface
    private interface Opening {
        void run() throws IOException;
    }

    private void copied(String metric, String side, String mib, Opening opening) throws IOException {
        opening.run();
        String to = " bs=1M count=" + mib + " ";
        sink.tell(
                metric + "_write",
                side,
                rate(shell("dd if=/dev/zero of=" + NAME.path() + to + "oflag=direct conv=fsync 2>&1")));
        sink.tell(
                metric + "_read",
                side,
                rate(shell("dd if=" + NAME.path() + " of=/dev/null" + to + "iflag=direct 2>&1")));
        cryptsetup.close(NAME);
    }

    private void map(Integrity integrity, Set<Volume.Option> options) throws IOException {
        try (SecretMemory key = secrets.readFile(keyFile, KEY);
                Volume volume = cryptsetup.open(device, integrity)) {
            volume.map(NAME, Key.ofSlot(key), options);
        }
    }

    private static void print(String metric, String side, double value) {
        System.out.println(metric + " " + side + " " + value);
    }

    private static double timed(String command) throws IOException {
        String[] times = shell("a=$EPOCHREALTIME; " + command + " || exit 1; b=$EPOCHREALTIME; echo $a $b")
                .strip()
                .split(" ", -1);
        return Double.parseDouble(times[1]) - Double.parseDouble(times[0]);
    }

    private static double rate(String output) throws IOException {
        Matcher rate = RATE.matcher(output);
        if (!rate.find()) {
            throw new IOException("dd said " + output);
        }
        return Double.parseDouble(rate.group(1)) / Double.parseDouble(rate.group(2)) / 1e6;
    }

    private static String shell(String command) throws IOException {
        Process process = new ProcessBuilder("bash", "-c", command)
                .redirectErrorStream(false)
                .start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (process.waitFor() != 0) {
                throw new IOException(command + ": exit " + process.exitValue() + " " + text);
            }
            return text;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }
}
