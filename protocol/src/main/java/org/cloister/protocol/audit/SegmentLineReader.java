package org.cloister.protocol.audit;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/** Cuts a segment into lines, and takes up no more memory than one may have. Not for several threads. */
public final class SegmentLineReader implements AutoCloseable {
    private static final int BUFFER = 1 << 16;

    private final BufferedInputStream in;
    private long at;

    /** A line without its end. */
    public static final class Line {
        private final byte[] bytes;
        private final long end;
        private final boolean whole;

        Line(byte[] bytes, long end, boolean whole) {
            this.bytes = bytes;
            this.end = end;
            this.whole = whole;
        }

        /** Of one that is too long, its beginning. */
        public byte[] bytes() {
            return bytes.clone();
        }

        /** The place after it in the file. */
        public long nextOffset() {
            return end;
        }

        /** It has its end, and is no longer than a line may be. */
        public boolean whole() {
            return whole;
        }
    }

    public SegmentLineReader(InputStream in) {
        this.in = new BufferedInputStream(in, BUFFER);
    }

    /** @return empty at the end of the file */
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
