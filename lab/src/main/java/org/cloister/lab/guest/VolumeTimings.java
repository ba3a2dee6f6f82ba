package org.cloister.lab.guest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.LibCryptoCalls;
import org.cloister.luks.key.SealingKey;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.DeviceErasure;
import org.cloister.luks.volume.KeySlotDerivation;
import org.cloister.luks.volume.LuksVolume;
import org.cloister.luks.volume.MappingName;
import org.cloister.luks.volume.VolumeFormat;
import org.cloister.luks.volume.VolumeIntegrity;
import org.cloister.luks.volume.VolumeKey;

/**
 * Measures ours and the command {@code cryptsetup} alternately, on the same file or device with the same slot. Prints
 * {@code METRIC ours|peer VALUE} lines, in seconds or MB/s. A shell that runs only the command measures its time.
 */
public final class VolumeTimings {
    private static final MappingName NAME = new MappingName("bench");
    private static final byte[] INFO = "bench".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NO_DATA = {};
    private static final int WARMING = 10;
    private static final int PAIRS = 4;
    private static final int KEY = 64;
    private static final Pattern RATE = Pattern.compile("(\\d+) bytes .* copied, ([0-9.]+) s,");

    /** Receiver of measured values. */
    @FunctionalInterface
    public interface Sink {
        /** @param side {@code ours} or {@code peer} */
        void record(String metric, String side, double value);
    }

    private final Sink sink;
    private final SecretAllocator secrets;
    private final Cryptsetup cryptsetup;
    private final Hpke hpke;
    private final Path device;
    private final Path keyFile;
    private final Path volumeKeyFile;

    /** @param folder in memory, for the command's key */
    public VolumeTimings(Path device, Path folder, Sink sink) throws IOException {
        this.sink = sink;
        this.secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
        this.cryptsetup = Cryptsetup.load();
        this.hpke = new Hpke(LibCryptoCalls.load(secrets));
        this.device = device;
        this.keyFile = folder.resolve("key");
        this.volumeKeyFile = folder.resolve("volume-key");
        shell("head -c " + KEY + " /dev/urandom >" + keyFile + "; head -c " + KEY + " /dev/urandom >" + volumeKeyFile);
    }

    /** @param args device, unlock rounds, throughput rounds, MiB to write and read */
    public static void main(String[] args) throws IOException {
        VolumeTimings times = new VolumeTimings(Path.of(args[0]), Path.of("/run"), VolumeTimings::print);
        times.create(VolumeIntegrity.NONE);
        times.unlock("unlock", "--key-file", times.keyFile, VolumeKey::ofSlot, Integer.parseInt(args[1]));
        times.unlock(
                "unlock_by_volume_key",
                "--volume-key-file",
                times.volumeKeyFile,
                VolumeKey::ofVolume,
                Integer.parseInt(args[1]));
        for (int i = 0; i < PAIRS * Integer.parseInt(args[2]); i++) {
            times.throughput(args[3], i % 2 == 0);
        }
        times.cryptsetup.erase(times.device, DeviceErasure.Scope.HEADER);
        times.create(VolumeIntegrity.HMAC_SHA256);
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
            times.copied("integrity", "ours", args[3], () -> times.map(VolumeIntegrity.HMAC_SHA256, Set.of()));
            times.copied(
                    "integrity_no_journal",
                    "ours",
                    args[3],
                    () -> times.map(VolumeIntegrity.HMAC_SHA256, Set.of(LuksVolume.Option.NO_JOURNAL)));
        }
        times.cryptsetup.erase(times.device, DeviceErasure.Scope.HEADER);
    }

    /** Measures the creation of a volume with one slot on a file, and a check of the slot. */
    public void createAndUnlock(int repetitions) throws IOException {
        for (int i = -WARMING; i < repetitions; i++) {
            long from = System.nanoTime();
            create(VolumeIntegrity.NONE);
            try (SecretMemory key = secrets.readFile(keyFile, KEY);
                    LuksVolume volume = cryptsetup.open(device)) {
                volume.check(VolumeKey.ofSlot(key));
            }
            if (i >= 0) {
                sink.record("create_unlock", "ours", (System.nanoTime() - from) / 1e9);
            }
            cryptsetup.erase(device, DeviceErasure.Scope.HEADER);
            double peer = timed(
                    "cryptsetup luksFormat -q --type luks2 --cipher aes-xts-plain64 --key-size 512 --sector-size 4096"
                            + " --pbkdf pbkdf2 --pbkdf-force-iterations 1000 " + device + " " + keyFile
                            + " && cryptsetup open --test-passphrase --key-file " + keyFile + " " + device);
            if (i >= 0) {
                sink.record("create_unlock", "peer", peer);
            }
            cryptsetup.erase(device, DeviceErasure.Scope.HEADER);
        }
    }

    private void create(VolumeIntegrity integrity) throws IOException {
        try (SecretMemory volumeKey = integrity == VolumeIntegrity.NONE
                        ? secrets.readFile(volumeKeyFile, KEY)
                        : secrets.random(integrity.volumeKeyLength());
                SecretMemory key = secrets.readFile(keyFile, KEY);
                LuksVolume volume =
                        cryptsetup.create(device, VolumeFormat.labelled("bench").withIntegrity(integrity), volumeKey)) {
            volume.addSlot(VolumeKey.ofVolume(volumeKey), key, KeySlotDerivation.RANDOM_KEY);
        }
    }

    /** Measures the time from the sealed bytes to a mapped device. */
    private void unlock(
            String metric, String option, Path file, Function<SecretMemory, VolumeKey> kind, int repetitions)
            throws IOException {
        try (SealingKey receiver = hpke.generate()) {
            for (int i = -WARMING; i < repetitions; i++) {
                byte[] sealed;
                try (SecretMemory key = secrets.readFile(file, KEY)) {
                    sealed = hpke.seal(receiver.publicKey(), INFO, NO_DATA, key);
                }
                long from = System.nanoTime();
                long opened;
                long read;
                try (SecretMemory key = hpke.open(receiver, INFO, NO_DATA, sealed)) {
                    opened = System.nanoTime();
                    try (LuksVolume volume = cryptsetup.open(device)) {
                        read = System.nanoTime();
                        volume.map(NAME, kind.apply(key), Set.of());
                    }
                }
                long mapped = System.nanoTime();
                cryptsetup.close(NAME);
                double peer = timed("cryptsetup open " + option + " " + file + " " + device + " " + NAME.text());
                cryptsetup.close(NAME);
                if (i >= 0) {
                    sink.record(metric, "ours", (mapped - from) / 1e9);
                    sink.record(metric, "peer", peer);
                    sink.record(metric + "_key", "ours", (opened - from) / 1e9);
                    sink.record(metric + "_header", "ours", (read - opened) / 1e9);
                    sink.record(metric + "_map", "ours", (mapped - read) / 1e9);
                }
            }
        }
    }

    /** Measures alternately and in short pieces, because the machine's other load changes from second to second. */
    private void throughput(String mib, boolean oursFirst) throws IOException {
        for (boolean ours : List.of(oursFirst, !oursFirst)) {
            copied("throughput", ours ? "ours" : "peer", mib, () -> {
                if (ours) {
                    map(VolumeIntegrity.NONE, Set.of());
                } else {
                    timed("cryptsetup open --key-file " + keyFile + " " + device + " " + NAME.text());
                }
            });
        }
    }

    @FunctionalInterface
    private interface OpenAction {
        void run() throws IOException;
    }

    private void copied(String metric, String side, String mib, OpenAction opening) throws IOException {
        opening.run();
        String to = " bs=1M count=" + mib + " ";
        sink.record(
                metric + "_write",
                side,
                rate(shell("dd if=/dev/zero of=" + NAME.path() + to + "oflag=direct conv=fsync 2>&1")));
        sink.record(
                metric + "_read",
                side,
                rate(shell("dd if=" + NAME.path() + " of=/dev/null" + to + "iflag=direct 2>&1")));
        cryptsetup.close(NAME);
    }

    private void map(VolumeIntegrity integrity, Set<LuksVolume.Option> options) throws IOException {
        try (SecretMemory key = secrets.readFile(keyFile, KEY);
                LuksVolume volume = cryptsetup.open(device, integrity)) {
            volume.map(NAME, VolumeKey.ofSlot(key), options);
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
