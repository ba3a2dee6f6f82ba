package org.cloister.host.step;

/** Names that others chose, for messages. */
final class Printable {
    private static final int MAX_CHARS = 120;

    private Printable() {}

    static String of(String text) {
        String cut = text.length() > MAX_CHARS ? text.substring(0, MAX_CHARS) + "..." : text;
        return cut.replaceAll("[^ -~]", "?");
    }
}
