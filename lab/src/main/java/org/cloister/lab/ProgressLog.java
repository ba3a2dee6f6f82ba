package org.cloister.lab;

import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;

/** Prints each step while it runs, and how long it took. */
public final class ProgressLog {
    private final PrintStream out;
    private final long start = System.nanoTime();

    public ProgressLog(PrintStream out) {
        this.out = out;
    }

    /** A step with a result. */
    @FunctionalInterface
    public interface Computation<T> {
        T run() throws IOException;
    }

    /** A step without a result. */
    @FunctionalInterface
    public interface Action {
        void run() throws IOException;
    }

    public <T> T step(String name, Computation<T> work) throws IOException {
        out.printf("  %-58s ", name);
        out.flush();
        long from = System.nanoTime();
        try {
            T result = work.run();
            Duration time = Duration.ofNanos(System.nanoTime() - from);
            out.printf("%8s%n", seconds(time));
            return result;
        } catch (IOException | RuntimeException e) {
            out.println("failed");
            throw e;
        }
    }

    public void runStep(String name, Action action) throws IOException {
        step(name, () -> {
            action.run();
            return true;
        });
    }

    /** Prints a remark on the previous step. */
    public void remark(String remark) {
        out.println("    " + remark);
    }

    public Duration total() {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    public static String seconds(Duration time) {
        return String.format(Locale.ROOT, "%.2f s", time.toNanos() / 1e9);
    }
}
