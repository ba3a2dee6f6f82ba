package org.cloister.lab.site;

import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.cloister.lab.LabCommand;

/** Searches this machine for a marker: in files, and in the memory of processes. */
public final class MarkerSearch {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final int PIECE = 1 << 20;
    private static final int OVERLAP = 64;
    private static final int PAGE = 4096;
    private static final Pattern WRITABLE = Pattern.compile("([0-9a-f]+)-([0-9a-f]+) rw.*");

    private final String marker;

    /** @param marker letters, digits and dashes; further such characters after a match are reported with it */
    public MarkerSearch(String marker) {
        this.marker = marker;
    }

    /**
     * Searches files, including the contents of disk images.
     *
     * @param without names of files that are not searched
     * @return each file with the matches
     */
    public Set<String> files(List<Path> folders, String... without) throws IOException {
        List<String> argv = new ArrayList<>(List.of("grep", "-r", "-a", "-o", "-s", "-e", marker + "[a-z-]*"));
        Stream.of(without).map(name -> "--exclude=" + name).forEach(argv::add);
        folders.forEach(folder -> argv.add(folder.toString()));
        return new TreeSet<>(
                LabCommand.of(argv).within(LIMIT).run().out().lines().toList());
    }

    /** @param programs beginnings of command lines, or words in them */
    public Set<String> memory(List<String> programs) throws IOException {
        Set<String> found = new TreeSet<>();
        try (Stream<Path> all = Files.list(Path.of("/proc"))) {
            for (Path process : all.filter(each -> each.getFileName().toString().matches("\\d+"))
                    .toList()) {
                String line = line(process);
                for (String program : programs) {
                    if (Stream.of(line.split("\0"))
                            .anyMatch(word -> word.endsWith(program) || word.startsWith(program + ": "))) {
                        found.addAll(of(process, program));
                    }
                }
            }
        }
        return found;
    }

    private static String line(Path process) throws IOException {
        try {
            return Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            return "";
        }
    }

    private Set<String> of(Path process, String program) throws IOException {
        Pattern pattern = Pattern.compile(Pattern.quote(marker) + "[a-z-]*");
        Set<String> found = new TreeSet<>();
        try (RandomAccessFile memory =
                        new RandomAccessFile(process.resolve("mem").toFile(), "r");
                RandomAccessFile pages =
                        new RandomAccessFile(process.resolve("pagemap").toFile(), "r")) {
            byte[] piece = new byte[PIECE + OVERLAP];
            for (Range range : ranges(process, pages)) {
                for (long at = range.from; at < range.end; at += PIECE) {
                    int read = read(memory, at, piece, (int) Math.min(piece.length, range.end - at));
                    Matcher match = pattern.matcher(new String(piece, 0, read, StandardCharsets.ISO_8859_1));
                    while (match.find()) {
                        found.add(program + ": " + match.group());
                    }
                }
            }
        }
        return found;
    }

    private record Range(long from, long end) {}

    /**
     * Returns the ranges that have pages: reading the rest would allocate some, and end a VM that has as much memory as
     * its job.
     */
    private static List<Range> ranges(Path process, RandomAccessFile pages) throws IOException {
        List<Range> ranges = new ArrayList<>();
        for (String line : Files.readAllLines(process.resolve("maps"))) {
            Matcher map = WRITABLE.matcher(line);
            if (map.matches()) {
                add(pages, Long.parseLong(map.group(1), 16), Long.parseLong(map.group(2), 16), ranges);
            }
        }
        return ranges;
    }

    private static void add(RandomAccessFile pages, long from, long end, List<Range> ranges) throws IOException {
        byte[] entries = new byte[(int) ((end - from) / PAGE * Long.BYTES)];
        pages.seek(from / PAGE * Long.BYTES);
        try {
            pages.readFully(entries);
        } catch (EOFException e) {
            // The process has ended.
            return;
        }
        LongBuffer each =
                ByteBuffer.wrap(entries).order(ByteOrder.nativeOrder()).asLongBuffer();
        long begin = from;
        for (long at = from; at < end; at += PAGE) {
            // Bit 63: present (the kernel's Documentation/admin-guide/mm/pagemap.rst).
            if (each.get() >= 0) {
                if (begin < at) {
                    ranges.add(new Range(begin, at));
                }
                begin = at + PAGE;
            }
        }
        if (begin < end) {
            ranges.add(new Range(begin, end));
        }
    }

    /** Reads memory; returns 0 bytes for an address without memory. */
    private static int read(RandomAccessFile memory, long at, byte[] piece, int length) {
        try {
            memory.seek(at);
            return Math.max(0, memory.read(piece, 0, length));
        } catch (IOException e) {
            return 0;
        }
    }
}
