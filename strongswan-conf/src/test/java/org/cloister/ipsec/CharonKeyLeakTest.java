package org.cloister.ipsec;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.vici.PrivateKeySource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Searches the process that had charon load a private key for traces of the key. */
class CharonKeyLeakTest {
    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
    private static final Pattern WRITABLE = Pattern.compile("([0-9a-f]+)-([0-9a-f]+) rw.*");
    /** Before the 48 bytes of a P-384 key, RFC 5915: version 1, an octet string of that length. */
    private static final byte[] BEFORE_KEY = {0x02, 0x01, 0x01, 0x04, 0x30};

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void nothing_of_the_key_stays_in_memory_and_a_copy_on_the_heap_would_be_found() throws Exception {
        new TestCa(folder, "a").issue(TunnelIdentity.worker("w1", "a"));
        byte[] key = key(Files.readAllBytes(folder.resolve("a/leaf1.key")));
        try (CharonHost host = CharonHost.make()) {
            host.startCharon();
            assertThat(hitsAfterLoading(host, key, "forget")).isZero();
            assertThat(host.log()).contains("loaded ANY private key");
            assertThat(hitsAfterLoading(host, key, "keep")).isPositive();
        }
    }

    private int hitsAfterLoading(CharonHost host, byte[] key, String what) throws Exception {
        Process process = new ProcessBuilder(
                        JAVA.toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Loader.class.getName(),
                        host.socket().toString(),
                        folder.resolve("a").toString(),
                        what)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output = process.inputReader()) {
            assertThat(output.readLine()).isEqualTo("loaded");
            return hits(process.pid(), key);
        } finally {
            process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
    }

    private static int hits(long pid, byte[] needle) throws IOException {
        int hits = 0;
        try (RandomAccessFile memory = new RandomAccessFile("/proc/" + pid + "/mem", "r")) {
            for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "maps"))) {
                Matcher region = WRITABLE.matcher(line);
                if (region.matches()) {
                    long from = Long.parseUnsignedLong(region.group(1), 16);
                    long length = Long.parseUnsignedLong(region.group(2), 16) - from;
                    hits += count(read(memory, from, Math.toIntExact(length)), needle);
                }
            }
        }
        return hits;
    }

    /** What was never touched reads as an error or as nothing. */
    private static byte[] read(RandomAccessFile memory, long from, int length) throws IOException {
        byte[] bytes = new byte[length];
        memory.seek(from);
        int have = 0;
        while (have < length) {
            int more;
            try {
                more = memory.read(bytes, have, Math.min(1 << 20, length - have));
            } catch (IOException e) {
                break;
            }
            if (more <= 0) {
                break;
            }
            have += more;
        }
        return Arrays.copyOf(bytes, have);
    }

    private static int count(byte[] text, byte[] needle) {
        int found = 0;
        for (int i = 0; i + needle.length <= text.length; i++) {
            if (text[i] == needle[0] && Arrays.equals(text, i, i + needle.length, needle, 0, needle.length)) {
                found++;
            }
        }
        return found;
    }

    private static byte[] key(byte[] der) {
        for (int i = 0; i + BEFORE_KEY.length + 48 <= der.length; i++) {
            if (Arrays.equals(der, i, i + BEFORE_KEY.length, BEFORE_KEY, 0, BEFORE_KEY.length)) {
                return Arrays.copyOfRange(der, i + BEFORE_KEY.length, i + BEFORE_KEY.length + 48);
            }
        }
        throw new AssertionError("no P-384 key in " + der.length + " bytes");
    }

    /** The process that is searched. */
    static final class Loader {
        private static final List<byte[]> KEPT = new ArrayList<>();

        private Loader() {}

        public static void main(String[] args) throws Exception {
            Path folder = Path.of(args[1]);
            TunnelPlan plan = TunnelPlan.of(
                    TunnelIdentity.worker("w1", "a"),
                    new Ipv4Address("10.70.0.2"),
                    new TunnelCredential(certificate(folder.resolve("leaf1.crt")), file(folder.resolve("leaf1.key"))),
                    List.of(certificate(folder.resolve("ca.crt"))),
                    EspMode.USERSPACE);
            try (Tunnels tunnels = Tunnels.open(Path.of(args[0]), event -> {})) {
                load(tunnels, plan);
                if (args[2].equals("keep")) {
                    KEPT.add(Files.readAllBytes(folder.resolve("leaf1.key")));
                }
                System.out.println("loaded");
                TimeUnit.MINUTES.sleep(1);
            }
        }

        /** The connection to charon takes a moment. */
        private static void load(Tunnels tunnels, TunnelPlan plan) throws Exception {
            for (int i = 0; ; i++) {
                try {
                    tunnels.replace(plan).get(5, TimeUnit.SECONDS);
                    return;
                } catch (ExecutionException e) {
                    if (i == 100) {
                        throw e;
                    }
                    TimeUnit.MILLISECONDS.sleep(50);
                }
            }
        }

        private static DerCertificate certificate(Path file) throws IOException {
            return DerCertificate.parse(Files.readAllBytes(file));
        }

        /** From the file into the packet, by nothing of this process's besides. */
        private static PrivateKeySource file(Path file) throws IOException {
            int length = Math.toIntExact(Files.size(file));
            return new PrivateKeySource() {
                @Override
                public int length() {
                    return length;
                }

                @Override
                public void writeTo(ByteBuffer target) {
                    try (FileChannel channel = FileChannel.open(file)) {
                        while (target.hasRemaining() && channel.read(target) >= 0) {
                            // until all is there
                        }
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                }
            };
        }
    }
}
