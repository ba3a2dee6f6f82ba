package org.cloister.luks.leak;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A child process that has handed-over keys behind it, and all that can be read of it from outside. */
final class SearchedProcess implements AutoCloseable {
    private static final Pattern MAPPING = Pattern.compile("([0-9a-f]+)-([0-9a-f]+) (\\S{4}) .*");
    private static final List<String> PROC = List.of(
            "auxv", "cmdline", "environ", "limits", "maps", "mountinfo", "smaps", "stack", "stat", "status", "wchan");

    private final Process process;
    private final BufferedReader output;
    private final StringBuilder transcript = new StringBuilder();

    private SearchedProcess(Process process) {
        this.process = process;
        this.output = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Returns when the child has done its hand-overs and stands still. */
    static SearchedProcess start(Path folder, int count, String keeping, HandoverProgram.Leak leak) throws IOException {
        SearchedProcess searched = new SearchedProcess(new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx48m",
                        "-XX:ReservedCodeCacheSize=16m",
                        "-XX:CompressedClassSpaceSize=16m",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=trace",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HandoverProgram.class.getName(),
                        folder.toString(),
                        String.valueOf(count),
                        keeping,
                        leak.name()))
                .redirectErrorStream(true)
                .start());
        searched.await("ready");
        return searched;
    }

    /** Each mapping that can be read, whatever it was told about dumps. */
    Set<String> memory(SecretTraces traces) throws IOException {
        Set<String> found = new TreeSet<>();
        long read = 0;
        try (RandomAccessFile memory = new RandomAccessFile("/proc/" + process.pid() + "/mem", "r")) {
            for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/maps"))) {
                Matcher mapping = MAPPING.matcher(line);
                if (mapping.matches()
                        && mapping.group(3).startsWith("r")
                        && !line.endsWith("[vvar]")
                        && !line.endsWith("[vsyscall]")) {
                    Region region = new Region(
                            memory, Long.parseLong(mapping.group(1), 16), Long.parseLong(mapping.group(2), 16));
                    found.addAll(traces.in(region));
                    read += region.count;
                }
            }
        }
        if (read < 20_000_000) {
            throw new IllegalStateException("memory of the child: want all of it, have " + read + " bytes");
        }
        return found;
    }

    Set<String> files(SecretTraces traces) throws IOException {
        Set<String> found = new TreeSet<>();
        for (String name : PROC) {
            found.addAll(traces.in(Files.readAllBytes(Path.of("/proc/" + process.pid(), name))));
        }
        return found;
    }

    /** What /proc says is in swap, such as {@code 0 kB}. */
    String swapped() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/status"))) {
            if (line.startsWith("VmSwap:")) {
                return line.substring(7).trim();
            }
        }
        throw new IllegalStateException("no VmSwap in the child's status");
    }

    /** With what madvise(2) asked to leave out, too. */
    Set<String> coreDump(SecretTraces traces, Path folder) throws IOException, InterruptedException {
        Process gcore = new ProcessBuilder(
                        "gcore", "-a", "-o", folder.resolve("core").toString(), String.valueOf(process.pid()))
                .redirectErrorStream(true)
                .start();
        gcore.getOutputStream().close();
        String output = new String(gcore.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!gcore.waitFor(60, TimeUnit.SECONDS) || gcore.exitValue() != 0) {
            throw new IllegalStateException("gcore: " + output);
        }
        Path core = folder.resolve("core." + process.pid());
        try (InputStream in = Files.newInputStream(core)) {
            return traces.in(in);
        } finally {
            Files.delete(core);
        }
    }

    Set<String> heapDump(SecretTraces traces, Path folder) throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        await("dumped");
        Path heap = folder.resolve("heap.hprof");
        try (InputStream in = Files.newInputStream(heap)) {
            return traces.in(in);
        } finally {
            Files.delete(heap);
        }
    }

    Set<String> output(SecretTraces traces) {
        return traces.in(transcript.toString().getBytes(StandardCharsets.UTF_8));
    }

    String processOutput() {
        return transcript.toString();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    private void await(String word) throws IOException {
        for (String line; (line = output.readLine()) != null; ) {
            transcript.append(line).append('\n');
            if (line.equals(word)) {
                return;
            }
        }
        throw new IllegalStateException("the child ended before it was " + word + ": " + transcript);
    }

    private static final class Region extends InputStream {
        private final RandomAccessFile memory;
        private long at;
        private final long end;
        private long count;

        Region(RandomAccessFile memory, long from, long end) {
            this.memory = memory;
            this.at = from;
            this.end = end;
        }

        @Override
        public int read() {
            throw new UnsupportedOperationException("one byte at a time");
        }

        /** What cannot be read is at an end: pages of memfd_secret, and what lies past a file's end. */
        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int expected = (int) Math.min(length, end - at);
            if (expected == 0) {
                return -1;
            }
            memory.seek(at);
            int n;
            try {
                n = memory.read(bytes, offset, expected);
            } catch (IOException e) {
                return -1;
            }
            if (n > 0) {
                at += n;
                count += n;
            }
            return n;
        }
    }
}
