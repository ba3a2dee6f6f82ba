package org.cloister.lab;

import java.io.IOException;
import java.time.Duration;

/** Polls a condition that sends no notification, always with a time limit. */
public final class Poll {
    private static final Duration PAUSE = Duration.ofMillis(25);

    private Poll() {}

    /** A condition whose evaluation may fail. */
    @FunctionalInterface
    public interface Question {
        boolean answer() throws IOException;
    }

    /** @param what completes the sentence "not within 5 s: " */
    public static void until(String what, Duration limit, String remedy, Question question) throws IOException {
        until(what, limit, remedy, PAUSE, question);
    }

    /** @param pause between two evaluations, where one is expensive */
    public static void until(String what, Duration limit, String remedy, Duration pause, Question question)
            throws IOException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!question.answer()) {
            if (System.nanoTime() >= deadline) {
                throw new LabException("not within " + limit.toSeconds() + " s: " + what, remedy);
            }
            try {
                Thread.sleep(pause.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new LabException("interrupted while waiting: " + what, "start again", e);
            }
        }
    }
}
