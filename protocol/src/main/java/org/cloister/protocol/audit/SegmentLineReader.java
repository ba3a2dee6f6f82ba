package org.cloister.protocol.audit;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/** Splits a segment into lines, with no more memory than one line may have. Not thread-safe. */
public final class SegmentLineReader implements AutoCloseable {
    private static final int BUFFER = 1 << 16;

    private final BufferedInputStream in;
    private long at;

    /** A line without its line feed. */
    public static final class Line {
        private final byte[] bytes;
        private final long end;
        private final boolean whole;

        Line(byte[] bytes, long end, boolean whole) {
            this.bytes = bytes;
            this.end = end;
            this.whole = whole;
        }

        /** Returns the line; only its beginning if it is too long. */
        public byte[] bytes() {
            return bytes.clone();
        }

        /** Returns the offset after the line in the file. */
        public long nextOffset() {
            return end;
        }

        /** Returns whether the line ends with a line feed and is within the limit of length. */
        public boolean whole() {
            return whole;
        }
    }

    public SegmentLineReader(InputStream in) {
        this.in = new BufferedInputStream(in, BUFFER);
    }

    /**
     * Reads the next line.
     *
     * @return the next line; empty at the end of the file
     */
    public Optional<Line> next() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream(512);
        boolean fits = true;
        for (int read = in.read(); read >= 0; read = in.read()) {
            at++;
            if (read == '\n') {
                return Optional.of(new Line(line.toByteArray(), at, fits));
            }
            if (line.size() < AuditRecord.MAX_LINE) {
                line.write(read);
            } else {
                fits = false;
            }
        }
        return line.size() == 0 ? Optional.empty() : Optional.of(new Line(line.toByteArray(), at, false));
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
