package org.cloister.slurm;

/** Makes other programs' text fit for a log line. */
public final class LogText {
    private static final int MAX = 400;

    private LogText() {}

    /** Returns one line of printable ASCII of at most 400 characters. */
    public static String printable(String text) {
        String clean = text.strip().replaceAll("\\s+", " ").replaceAll("[^ -~]", "?");
        return clean.length() <= MAX ? clean : clean.substring(0, MAX - 3) + "...";
    }
}
