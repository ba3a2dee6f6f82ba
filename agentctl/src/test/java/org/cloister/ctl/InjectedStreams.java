package org.cloister.ctl;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Standard input and output of commands that run in one process at a time: a thread has those of the command that began it, and
 * the process's output otherwise.
 */
final class InjectedStreams implements AutoCloseable {
    private static final InheritableThreadLocal<@Nullable Ends> OWN = new InheritableThreadLocal<>();

    private final InputStream in = System.in;
    private final PrintStream out = System.out;

    private record Ends(InputStream in, PrintStream out) {}

    InjectedStreams() {
        System.setIn(new In());
        System.setOut(new Out(out));
    }

    /** Runs it on a thread of its own. */
    <T> T with(InputStream in, OutputStream out, Callable<T> command) throws Exception {
        Ends before = OWN.get();
        OWN.set(new Ends(in, new PrintStream(out)));
        try {
            return command.call();
        } finally {
            OWN.set(before);
        }
    }

    @Override
    public void close() {
        System.setIn(in);
        System.setOut(out);
    }

    private static final class In extends InputStream {
        private InputStream its() {
            Ends ends = OWN.get();
            if (ends == null) {
                throw new IllegalStateException("standard input: this thread is no command's");
            }
            return ends.in;
        }

        @Override
        public int read() throws IOException {
            return its().read();
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            return its().read(bytes, from, length);
        }
    }

    private static final class Out extends PrintStream {
        Out(OutputStream out) {
            super(out, true);
        }

        private @Nullable PrintStream its() {
            Ends ends = OWN.get();
            return ends == null ? null : ends.out;
        }

        @Override
        public void write(byte[] bytes, int from, int length) {
            PrintStream its = its();
            if (its == null) {
                super.write(bytes, from, length);
            } else {
                its.write(bytes, from, length);
            }
        }

        @Override
        public void flush() {
            PrintStream its = its();
            if (its == null) {
                super.flush();
            } else {
                its.flush();
            }
        }
    }
}
