package org.cloister.daemon;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Standard error of a daemon whose standard error is the journal: each line begins with its priority, which systemd
 * takes off (sd-daemon(3)), so that {@code journalctl -p warning} finds warnings. A line that names no level, such as
 * one of a stack trace, has that of the line before.
 */
final class JournalErrors extends OutputStream {
    /** Variable that systemd sets in a process whose output it connects to the journal; systemd.exec(5). */
    private static final String VARIABLE = "JOURNAL_STREAM";

    /** A longer line is written in parts. */
    private static final int MAX_LINE = 16 * 1024;

    private static final Pattern LEVEL =
            Pattern.compile("(?:\\[[^\\]]*\\] )?(TRACE|DEBUG|INFO|WARN|ERROR) |[a-z-]+: error: |Exception in ");

    private static final int ERROR = 3;
    private static final int WARNING = 4;
    private static final int INFO = 6;
    private static final int DEBUG = 7;

    private final OutputStream journal;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private int priority = INFO;

    JournalErrors(OutputStream journal) {
        this.journal = journal;
    }

    /** Replaces {@code System.err}, if it is the journal; the first logger must come later. */
    static void install() {
        if (System.getenv(VARIABLE) != null) {
            System.setErr(new PrintStream(new JournalErrors(System.err), true, StandardCharsets.UTF_8));
        }
    }

    @Override
    public synchronized void write(int next) throws IOException {
        line.write(next);
        if (next == '\n' || line.size() >= MAX_LINE) {
            writeLine();
        }
    }

    @Override
    public synchronized void write(byte[] bytes, int from, int length) throws IOException {
        for (int i = from; i < from + length; i++) {
            write(bytes[i]);
        }
    }

    @Override
    public void flush() throws IOException {
        journal.flush();
    }

    private void writeLine() throws IOException {
        // Byte for byte, also where a long line was cut.
        String text = line.toString(StandardCharsets.ISO_8859_1);
        Matcher level = LEVEL.matcher(text);
        if (level.lookingAt()) {
            priority = level.group(1) == null ? ERROR : priority(level.group(1));
        }
        journal.write(("<" + priority + ">" + text).getBytes(StandardCharsets.ISO_8859_1));
        line.reset();
    }

    private static int priority(String level) {
        return switch (level) {
            case "ERROR" -> ERROR;
            case "WARN" -> WARNING;
            case "INFO" -> INFO;
            default -> DEBUG;
        };
    }

    @Override
    public synchronized void close() throws IOException {
        if (line.size() > 0) {
            writeLine();
        }
        journal.close();
    }
}
